// SPDX-License-Identifier: Apache-2.0
// FLOPs, bytes sent and bytes kept of a layer are those of the Program's ops and buffers, for every
// model and every way to cut it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/plan/layer/layer_steps.h"
#include "tests/plan/layer/layer_setups.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

const char* kind_of(ContextParallel kind) {
  return kind == ContextParallel::kRing        ? "ring"
         : kind == ContextParallel::kAllGather ? "all-gather"
                                               : "ulysses";
}

// Every kind of attention and of MLP that a layer may have, with every way to cut it.
std::vector<Setup> models_and_axes() {
  std::vector<Setup> all = axis_setups();
  const auto add = [&](const char* model, bool latent, Setup setup) {
    setup.model = *find_model(model);
    setup.model.layers = 2;
    if (latent) setup.model.latent = {24, 16, 16, 8, 16};
    const bool by_heads = setup.context_parallel == ContextParallel::kUlysses;
    // Without latents heads are as wide as hidden has room for; Ulysses cuts them by CP and TP.
    if (setup.mesh.cp > 1 && by_heads) setup.model.heads = setup.model.kv_heads = 8;
    if (!validate(setup).empty()) return;
    all.push_back(setup);
    if (setup.model.experts.count == 0) return;
    setup.mesh.dp = setup.mesh.ep = 2;
    if (validate(setup).empty()) all.push_back(setup);
  };
  for (const auto& [model, latent] : {std::pair("gpt-tiny", false),
                                      {"llama-tiny", false},
                                      {"moe-tiny", false},
                                      {"gpt-tiny", true},
                                      {"moe-tiny", true}})
    for (const auto& [tp, sequence_parallel] :
         {std::pair(1, false), {2, false}, {2, true}, {4, true}}) {
      add(model, latent, setup_of(tp, 1, sequence_parallel));
      for (const ContextParallel kind :
           {ContextParallel::kRing, ContextParallel::kAllGather, ContextParallel::kUlysses})
        add(model, latent, setup_of(tp, 2, sequence_parallel, kind));
    }
  return all;
}

TEST(LayerSteps, AreTriedWithEveryModelAndWayToCut) {
  std::set<std::string> seen;
  for (const auto& setup : models_and_axes()) {
    const Mesh& mesh = setup.mesh;
    seen.insert(fmt::format(
        "{} {} tp {} sp {} cp {} ep {}", setup.model.experts.count > 0 ? "experts" : "dense",
        setup.model.latent.kv_rank > 0 ? "latent" : "heads", mesh.tp, setup.sequence_parallel,
        mesh.cp == 1 ? "1" : std::string(kind_of(setup.context_parallel)), mesh.ep));
  }
  for (const char* mlp : {"dense", "experts"})
    for (const char* attention : {"heads", "latent"})
      for (const char* tp : {"1 sp false", "2 sp false", "2 sp true", "4 sp true"})
        for (const char* cp : {"1", "ring", "all-gather", "ulysses"})
          for (const int ep : {1, 2}) {
            if (ep == 2 && mlp == std::string("dense")) continue;
            const std::string wanted =
                fmt::format("{} {} tp {} cp {} ep {}", mlp, attention, tp, cp, ep);
            EXPECT_EQ(seen.count(wanted), 1u) << wanted;
          }
}

TEST(LayerSteps, FlopsOfBothDirectionsAreThoseOfTheLayersOps) {
  for (const auto& setup : models_and_axes()) {
    const Program program = built(setup);
    const RankProgram& rank = program.ranks.front();
    double expected = 0, found = 0;
    for (const Op& op : rank.ops)
      if (op.kind == OpKind::kCompute && op.layer == 1 && op.microbatch == 1)
        for (const Work& work : program.works[std::size_t(op.work)]) expected += work.flops;
    for (const bool backward : {false, true})
      found += layer_total(layer_steps(setup, program, {1, 1, backward}), 0).flops;
    EXPECT_GT(found, 0);
    EXPECT_DOUBLE_EQ(found, expected);
  }
}

TEST(LayerSteps, BytesOfAllLayersAreThoseThatTheirOpsSend) {
  for (const auto& setup : models_and_axes()) {
    const Program program = built(setup);
    const RankProgram& rank = program.ranks.front();
    std::int64_t expected = 0, found = 0;
    for (const Op& op : rank.ops) {
      // Rings of TP stand in the lane of data where there are stages.
      const bool tensor = op.group >= 0 && program.groups[std::size_t(op.group)].axis == Axis::kTp;
      if (op.layer < 0 || op.microbatch < 0 || (op.lane == Lane::kData && !tensor)) continue;
      if (op.kind == OpKind::kSend) expected += op.bytes;
      if (op.kind != OpKind::kCollective) continue;
      const Group& group = program.groups[std::size_t(op.group)];
      const auto at = std::find(group.ranks.begin(), group.ranks.end(), rank.rank);
      expected += collective_volume(op.collective, op.type, op.bytes, int(group.ranks.size()),
                                    int(at - group.ranks.begin()))
                      .sent;
    }
    for (int layer = 0; layer < setup.model.layers / setup.mesh.pp; ++layer)
      for (int microbatch = 0; microbatch < setup.microbatches; ++microbatch)
        for (const bool backward : {false, true})
          found +=
              layer_total(layer_steps(setup, program, {layer, microbatch, backward}), 0).sent_bytes;
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found > 0, setup.mesh.ranks() > 1);
  }
}

// Buffers of the layer that are open between its forward and its backward.
TEST(LayerSteps, KeptBytesAreThoseThatTheBufferTableHoldsForTheBackward) {
  for (const auto& setup : models_and_axes()) {
    const Program program = built(setup);
    const RankProgram& rank = program.ranks.front();
    int last_forward = -1;
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      if (op.layer == 1 && op.microbatch == 0 && op.phase == Phase::kForward)
        last_forward = int(at);
    }
    std::int64_t expected = 0;
    for (const Buffer& buffer : rank.buffers)
      if (buffer.layer == 1 && buffer.microbatch == 0 && buffer.opened_by >= 0 &&
          buffer.category == Category::kActivations && buffer.opened_by <= last_forward &&
          buffer.closed_by > last_forward)
        expected += buffer.bytes;
    EXPECT_EQ(layer_total(layer_steps(setup, program, {1, 0, false}), 0).kept_bytes, expected);
  }
}

}  // namespace
}  // namespace parallelarium
