// SPDX-License-Identifier: Apache-2.0
// What probes tell: the tensors of all ranks, put together as their descriptions say, are those of
// one rank; and a training is the same with probes and without.
#include "engine/run/train/probe/probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// A Setup before the name means a test's.
using RunSetup = parallelarium::Setup;

// Every probe that the Program answers, of one micro-batch and of the first and the last layer.
std::vector<Probe> all_probes(const RunSetup& setup, const Program& program, int microbatch) {
  std::vector<Probe> probes;
  std::set<std::tuple<int, Piece, Phase>> seen;
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) {
      if (op.microbatch != microbatch || (op.layer > 0 && op.layer + 1 < setup.model.layers))
        continue;
      if (!seen.insert({op.layer, op.piece, op.phase}).second) continue;
      if (!is_probed(setup, program.shape, rank, op)) continue;
      probes.push_back({op.layer, op.piece, microbatch, op.phase, 1});
    }
  }
  return probes;
}

std::vector<std::int64_t> indices_of(const TensorDimension& dimension) {
  std::vector<std::int64_t> indices;
  for (const ChunkRange& range : dimension.held())
    for (std::int64_t i = range.begin; i < range.end; ++i) indices.push_back(i);
  return indices;
}

// A whole tensor, and how many ranks brought each of its elements.
struct Whole {
  std::vector<double> values;
  std::vector<int> brought;
};

// Adds what a rank had, as its ranges say; partial sums add up.
void put(const ProbedTensor& tensor, Whole& whole) {
  std::int64_t elements = 1;
  std::vector<std::vector<std::int64_t>> held;
  for (const TensorDimension& dimension : tensor.what.dimensions) {
    elements *= dimension.whole;
    held.push_back(indices_of(dimension));
    ASSERT_EQ(static_cast<std::int64_t>(held.back().size()), dimension.size) << tensor.what.name;
  }
  whole.values.resize(static_cast<std::size_t>(elements), 0);
  whole.brought.resize(whole.values.size(), 0);
  std::vector<std::size_t> at(held.size(), 0);
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      place = place * tensor.what.dimensions[d].whole + held[d][at[d]];
    double& value = whole.values[static_cast<std::size_t>(place)];
    value = tensor.what.partial.empty() ? tensor.value(i) : value + tensor.value(i);
    ++whole.brought[static_cast<std::size_t>(place)];
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < held[d].size()) break;
      at[d] = 0;
    }
  }
}

int along(const Coordinates& at, Axis axis) {
  return axis == Axis::kTp ? at.tp : axis == Axis::kCp ? at.cp : at.dp;
}

bool is_cut_by(const ProbedTensor& tensor, Axis axis) {
  for (const TensorDimension& dimension : tensor.what.dimensions)
    for (const TensorCut& cut : dimension.cuts)
      if (cut.axis == axis) return true;
  return false;
}

// By probe and name. Of copies the first one's; a tensor that is of each rank alone is left out.
std::map<std::pair<std::string, std::string>, Whole> put_together(const RunSetup& setup,
                                                                  const RunResult& result) {
  std::map<std::pair<std::string, std::string>, Whole> wholes;
  for (const ProbedRank& rank : result.probes) {
    const Coordinates at = coordinates_of(setup.mesh, rank.rank);
    std::set<std::string> names;
    EXPECT_EQ(rank.replica, at.dp);
    if (rank.replica > 0) continue;  // of other text
    for (const ProbedTensor& tensor : rank.tensors) {
      EXPECT_TRUE(names.insert(tensor.what.name).second) << tensor.what.name;
      // Rows and experts of other ranks: probe_rows_test.cpp.
      if (is_cut_by(tensor, Axis::kEp)) continue;
      if (tensor.what.name == "max" && rank.probe.piece == Piece::kLossMax) continue;
      // ZeRO 2 and 3 have the gradients of one micro-batch.
      const std::vector<Axis>&copies = tensor.what.replicated, &partial = tensor.what.partial;
      if (setup.zero > 1 && std::find(partial.begin(), partial.end(), Axis::kDp) != partial.end())
        continue;
      if (std::any_of(copies.begin(), copies.end(), [&](Axis axis) { return along(at, axis) > 0; }))
        continue;
      put(tensor, wholes[{text_of(rank.probe), tensor.what.name}]);
    }
  }
  return wholes;
}

// The same tensors in the order [B T ...], whatever the ranks called their tokens.
void expect_equal(const std::string& what, const Whole& many, const Whole& one) {
  ASSERT_EQ(many.values.size(), one.values.size()) << what;
  double squares = 0, norm = 0;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    EXPECT_GT(many.brought[i], 0) << what << " lacks element " << i;
    squares += (many.values[i] - one.values[i]) * (many.values[i] - one.values[i]);
    norm += one.values[i] * one.values[i];
  }
  EXPECT_LE(std::sqrt(squares), 1e-5 * std::sqrt(norm)) << what;
}

RunSetup probed_model(const std::string& words) {
  RunSetup setup = small_model("layers=2 steps=1 warmup=0 micro-batch=2 " + words);
  return setup;
}

void expect_those_of_one_rank(const std::string& words) {
  const RunSetup setup = probed_model(words);
  const Program program = built(setup);
  RunSetup alone = one_rank_setup(setup);
  alone.run.warmup = 0;
  alone.run.steps = 1;
  const Program single = built(alone);
  const std::vector<Probe> probes = all_probes(setup, program, 1);
  std::vector<Probe> there;
  for (const Probe& probe : probes)
    if (check_probe(alone, single, probe)) there.push_back(probe);
  EXPECT_GE(there.size(), 30u);
  const Result<RunResult> many = run_now(setup, program, {.probes = there});
  const Result<RunResult> one = run_now(alone, single, {.probes = there});
  ASSERT_TRUE(many.ok()) << many.error().text;
  ASSERT_TRUE(one.ok()) << one.error().text;
  const auto wholes = put_together(setup, *many), expected = put_together(alone, *one);
  std::size_t compared = 0;
  for (const auto& [name, whole] : wholes) {
    const auto found = expected.find(name);
    if (found == expected.end()) continue;  // a ring's blocks, turned gradients
    // What all keys of a head have in common changes no softmax: this gradient is 0 but for
    // rounding.
    if (name.second.starts_with("db-k")) continue;
    expect_equal(name.first + " " + name.second, whole, found->second);
    ++compared;
  }
  EXPECT_GE(compared, 100u);
}

class Probes : public testing::TestWithParam<const char*> {};

TEST_P(Probes, PutTogetherAreThoseOfOneRank) { expect_those_of_one_rank(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Meshes, Probes,
    testing::Values(
        "", "tp=2", "tp=4", "tp=2 sequence-parallel=true", "tp=4 sequence-parallel=true",
        "micro-batch=1 tp=2 sequence-parallel=true",
        "tp=2 sequence-parallel=true sequence-regather=false",
        "tp=2 sequence-parallel=true ring-tensor=true",
        "micro-batch=1 tp=4 sequence-parallel=true ring-tensor=true",
        "llama tp=4 sequence-parallel=true ring-tensor=true",
        "tp=2 sequence-parallel=true sequence-regather=false ring-tensor=true",
        "llama tp=2 cp=2 attention=fused sequence-parallel=true ring-tensor=true", "llama tp=2",
        "llama tp=4", "llama tp=2 sequence-parallel=true", "llama tp=4 sequence-parallel=true",
        "vocab=257 tp=2", "llama vocab=257 tp=4 sequence-parallel=true", "attention=fused tp=2",
        "cp=2 attention=fused", "llama cp=2 attention=fused",
        "cp=2 context-parallel=all-gather attention=fused",
        "llama cp=2 context-parallel=all-gather attention=fused", "cp=2 context-parallel=ulysses",
        "llama cp=2 context-parallel=ulysses", "cp=2 context-parallel=ulysses attention=fused",
        "llama pp=2 tp=2", "llama pp=2 schedule=zb-h1 tp=2", "tp=2 overlap-tensor=true",
        "tp=2 recompute=full dropout=0.1", "llama tp=2 recompute=second-products",
        "recompute=second-products", "dp=2 zero=3 tp=2", "experts=4 top-k=2 expert-ffn=12 tp=2",
        "experts=4 top-k=2 expert-ffn=12 dp=2 ep=2",
        "llama experts=4 top-k=2 expert-ffn=12 shared-experts=1 tp=2 sequence-parallel=true"),
    name_of_case);

// TP with and without SP, times the kinds of CP, times both shapes of a layer.
std::vector<std::string> tensor_and_context() {
  std::vector<std::string> all;
  for (const char* model : {"heads=8 kv-heads=8", "llama heads=8 kv-heads=4"})
    for (const char* tensor :
         {"tp=2", "tp=2 sequence-parallel=true", "tp=4", "tp=4 sequence-parallel=true"})
      for (const char* kind : {"ring", "ring cp-split=contiguous", "all-gather", "ulysses"})
        all.push_back(std::string(model) + " " + tensor +
                      " cp=2 attention=fused context-parallel=" + kind);
  return all;
}
class ProbesOfTensorAndContext : public testing::TestWithParam<std::string> {};

TEST_P(ProbesOfTensorAndContext, PutTogetherAreThoseOfOneRank) {
  expect_those_of_one_rank(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Meshes, ProbesOfTensorAndContext, testing::ValuesIn(tensor_and_context()),
                         [](const auto& info) { return test_name(info.param); });

void expect_same_run(const RunResult& with, const RunResult& without) {
  EXPECT_EQ(with.observation.losses, without.observation.losses);
  EXPECT_EQ(with.observation.gradient_norms, without.observation.gradient_norms);
  EXPECT_EQ(with.observation.ranks_state, without.observation.ranks_state);
  ASSERT_EQ(with.observation.memory.size(), without.observation.memory.size());
  for (std::size_t i = 0; i < with.observation.memory.size(); ++i)
    EXPECT_EQ(with.observation.memory[i].peak_bytes, without.observation.memory[i].peak_bytes);
}

void expect_same_probes(const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.probes.size(), b.probes.size());
  for (std::size_t i = 0; i < a.probes.size(); ++i) {
    ASSERT_EQ(a.probes[i].tensors.size(), b.probes[i].tensors.size());
    for (std::size_t t = 0; t < a.probes[i].tensors.size(); ++t) {
      const ProbedTensor &x = a.probes[i].tensors[t], &y = b.probes[i].tensors[t];
      EXPECT_EQ(x.what.name, y.what.name);
      EXPECT_EQ(x.bytes, y.bytes) << text_of(a.probes[i].probe) << " " << x.what.name;
    }
  }
}

TEST(ProbesLeave, ATrainingAsItIs) {
  for (const char* words :
       {"tp=2 sequence-parallel=true pp=2", "tp=4 sequence-parallel=true ring-tensor=true",
        "llama dp=2 zero=3 clip=0.05", "precision=mixed-16 tp=2", "cp=2 attention=fused",
        "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2"}) {
    RunSetup setup = small_model(words);
    setup.run.steps = 2;
    const Program program = built(setup);
    std::vector<Probe> probes = all_probes(setup, program, 1);
    for (std::size_t i = 0; i < probes.size(); i += 2) probes[i].step = 3;
    LaunchOptions poison;
    poison.poison = true;
    const Result<RunResult> without = run_now(setup, program, {.ranks_state = true});
    const Result<RunResult> with =
        run_now(setup, program, {.ranks_state = true, .probes = probes}, poison);
    ASSERT_TRUE(with.ok() && without.ok()) << words;
    expect_same_run(*with, *without);
    EXPECT_GT(with->probe_bytes, 0);
    EXPECT_GE(with->probes.size(), probes.size());
    EXPECT_EQ(without->probe_bytes, 0);
    EXPECT_TRUE(without->probes.empty());
    for (const ProbedRank& rank : with->probes)
      for (const ProbedTensor& tensor : rank.tensors)
        for (std::size_t i = 0; i < tensor.size(); ++i)
          ASSERT_TRUE(std::isfinite(tensor.value(i)))
              << words << " " << text_of(rank.probe) << " " << tensor.what.name;
  }
}

TEST(ProbesOfARehearsal, AreThoseOfARun) {
  RunSetup setup = small_model("tp=2 dp=2");
  setup.run.steps = 1;
  const Program program = built(setup);
  const std::vector<Probe> probes = all_probes(setup, program, 0);
  RunControl control;
  for (const RankProgram& rank : program.ranks)
    control.modelled.emplace_back(rank.ops.size(), std::chrono::microseconds{400});
  const Result<RunResult> rehearsed = launch(setup, program, {Backend::kPaced, Source::kPaced, {}},
                                             control, {.probes = probes}, {});
  const Result<RunResult> run = run_now(setup, program, {.probes = probes});
  ASSERT_TRUE(rehearsed.ok() && run.ok());
  expect_same_probes(*rehearsed, *run);
}

TEST(ProbesSee, AStepLaterWhatHasBeenTrained) {
  RunSetup setup = small_model("");
  const Program program = built(setup);
  Probe first{0, Piece::kMlpIn, 0, Phase::kForward, 1}, third = first;
  third.step = 3;
  const Result<RunResult> run = run_now(setup, program, {.probes = {first, third}});
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->probes.size(), 2u);
  const std::vector<ProbedTensor>&before = run->probes[0].tensors, &after = run->probes[1].tensors;
  ASSERT_EQ(before.size(), 4u);
  EXPECT_EQ(before[1].what.name, "w");
  EXPECT_NE(before[1].bytes, after[1].bytes);
}

TEST(ProbesOfNothing, AreRefusedWithWhatThereIs) {
  const RunSetup setup = small_model("tp=2");
  const Program program = built(setup);
  const auto refused = [&](const char* text) {
    const Result<Probe> probe = parse_probe(text);
    if (!probe) return probe.error().text;
    const Result<RunResult> run = run_now(setup, program, {.probes = {*probe}});
    EXPECT_FALSE(run.ok()) << text;
    if (run) return std::string();
    EXPECT_EQ(run.error().kind, "probe");
    return run.error().text;
  };
  EXPECT_EQ(refused("layer=0,piece=router"),
            "This model has no piece router to probe; it has embedding, norm-1, qkv, attention, "
            "projection, residual-1, norm-2, mlp-in, activation, mlp-out, residual-2, final-norm, "
            "head, loss-maximum, loss-sum or loss.");
  EXPECT_EQ(refused("layer=4,piece=mlp-in"),
            "The piece mlp-in is in the layers 0 to 3; say one of them.");
  EXPECT_EQ(refused("piece=mlp-in"), "The piece mlp-in is in the layers 0 to 3; say one of them.");
  EXPECT_EQ(refused("layer=0,piece=head"),
            "The piece head stands outside of the layers: leave layer out.");
  EXPECT_EQ(refused("layer=0,piece=mlp-in,phase=recompute"),
            "The piece mlp-in has no phase recompute here; it has forward, input-gradient or "
            "weight-gradient.");
  EXPECT_EQ(refused("layer=0,piece=mlp-in,microbatch=2"),
            "There is no micro-batch 2; each replica has 0 to 1.");
  EXPECT_EQ(refused("layer=0,piece=mlp-in,step=7"),
            "There is no step 7; the last step of this run is 6.");
  EXPECT_EQ(refused("layer=0,piece=mlp"),
            "There is no piece mlp; pieces are named mlp-in, qkv, norm-1 and so on, as they stand "
            "in the Program.");
  for (const char* text : {"", "layer=0", "layer=0,mlp-in", "layer=x,piece=mlp-in",
                           "layer=0,layer=1,piece=mlp-in", "layer=0,piece=mlp-in,rank=1"})
    EXPECT_TRUE(refused(text).starts_with("A probe is written")) << text;
}

TEST(ProbesRead, WhatTheyWrite) {
  for (const Probe& probe : {Probe{0, Piece::kMlpIn, 0, Phase::kForward, 1},
                             Probe{-1, Piece::kHead, 3, Phase::kWeightGrad, 4}})
    EXPECT_EQ(*parse_probe(text_of(probe)), probe);
}

}  // namespace
}  // namespace parallelarium
