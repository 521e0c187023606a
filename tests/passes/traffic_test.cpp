// SPDX-License-Identifier: Apache-2.0
// Bytes that a layer costs under tensor, sequence and context parallelism, counted from the Program
// (a run's ledger equals it: tests/ranks) and compared with the closed forms of the papers.
#include <gtest/gtest.h>

#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

using Fields = std::initializer_list<std::pair<const char*, const char*>>;

// What rank 0 sends along `axis` in one step for one of `purposes`.
std::int64_t sent(const Setup& setup, Axis axis, std::initializer_list<Purpose> purposes) {
  const std::vector<Message> wrong = validate(setup);
  EXPECT_TRUE(wrong.empty()) << wrong.front().text;
  const Result<Order> order = make_order(setup);
  EXPECT_TRUE(order.ok());
  const Result<Program> program = build_program(setup, *order, {.all_ranks = true});
  EXPECT_TRUE(program.ok()) << program.error().text;
  std::int64_t bytes = 0;
  for (const TrafficRow& row : traffic_of(*program, 0)) {
    const bool counted = std::find(purposes.begin(), purposes.end(), row.purpose) != purposes.end();
    if (row.axis == axis && counted) bytes += row.sent_bytes;
  }
  return bytes;
}

struct Layer {
  std::int64_t per_layer = 0;  // elements for one layer and micro-batch
  std::int64_t bsh = 0;        // tokens of a rank times hidden
  Model model;
};
Layer layer_of(Fields fields, Axis axis, std::initializer_list<Purpose> purposes) {
  Setup setup = default_setup();
  setup.mesh.pp = 1;
  setup.microbatches = 3;
  setup.micro_batch = 2;
  for (const auto& [field, value] : fields) EXPECT_TRUE(set_field(setup, field, value).ok());
  const auto bytes = [&](int layers) {
    setup.model.layers = layers;
    return sent(setup, axis, purposes);
  };
  const std::int64_t two_layers = bytes(4) - bytes(2);
  return {two_layers / 2 / setup.microbatches / 4,
          setup.micro_batch * setup.model.sequence / setup.mesh.cp * setup.model.hidden,
          setup.model};
}

// Narayanan et al. 2021, section 3.2: four all-reduces of b s h, 2 (t-1)/t each; two more with full
// recompute.
TEST(TensorTraffic, IsEightBshPerLayer) {
  for (const int t : {2, 4}) {
    const std::string tp = std::to_string(t);
    const auto flow = {Purpose::kActivations, Purpose::kGradients};
    const Layer plain = layer_of({{"tp", tp.c_str()}}, Axis::kTp, flow);
    EXPECT_EQ(plain.per_layer * t, 8 * plain.bsh * (t - 1));
    const Layer full = layer_of({{"tp", tp.c_str()}, {"recompute", "full"}}, Axis::kTp, flow);
    EXPECT_EQ(full.per_layer * t, 12 * full.bsh * (t - 1));
  }
}

// Korthikanti et al. 2022, section 4.2.2: the same in all-gathers and reduce-scatters. The inputs
// of both column-parallel products are gathered once more for their weight gradients.
TEST(SequenceTraffic, IsThatOfTensorParallelismAndTheRegather) {
  for (const int t : {2, 4}) {
    const std::string tp = std::to_string(t);
    const Fields fields = {{"tp", tp.c_str()}, {"sequence-parallel", "true"}};
    const Layer flow = layer_of(fields, Axis::kTp, {Purpose::kActivations, Purpose::kGradients});
    EXPECT_EQ(flow.per_layer * t, 8 * flow.bsh * (t - 1));
    const Layer again = layer_of(fields, Axis::kTp, {Purpose::kRegather});
    EXPECT_EQ(again.per_layer * t, 2 * again.bsh * (t - 1));
  }
}

// What is kept is not gathered again: nothing but the papers' bytes is left, those of the four
// all-reduces without sequence parallelism, of all stages and of embedding and head too.
TEST(SequenceTraffic, IsThatOfTensorParallelismWhereInputsAreKept) {
  const auto bytes = [](const std::string& tp, const char* sp, const char* pp, bool llama) {
    auto setup = default_setup();
    if (llama) setup.model = *find_model("llama-tiny");
    setup.micro_batch = 2;
    setup.microbatches = 3;
    for (const auto& [field, value] : {std::pair("tp", tp.c_str()),
                                       {"pp", pp},
                                       {"sequence-parallel", sp},
                                       {"sequence-regather", "false"}})
      EXPECT_TRUE(set_field(setup, field, value).ok());
    return sent(
        setup, Axis::kTp,
        {Purpose::kActivations, Purpose::kGradients, Purpose::kEmbedding, Purpose::kRegather});
  };
  for (const char* tp : {"2", "4"})
    for (const char* pp : {"1", "2"})
      for (const bool llama : {false, true})
        EXPECT_EQ(bytes(tp, "true", pp, llama), bytes(tp, "false", pp, llama))
            << tp << " " << pp << " " << llama;
}

// Keys and values travel to all other ranks in the forward, again in the backward, and their
// gradients back: 3 (c-1) times those of a rank's tokens, by ring as by all-gather. Ulysses sends
// QKV and context and the gradients of both, (c-1)/c of 8 b s h.
TEST(ContextTraffic, IsThatOfKeysAndValuesOrOfAllHeads) {
  for (const int c : {2, 4}) {
    const std::string cp = std::to_string(c);
    for (const char* method : {"ring", "all-gather", "local"}) {
      for (const char* split : {"zigzag", "contiguous"}) {
        const Layer layer = layer_of({{"cp", cp.c_str()},
                                      {"attention", "fused"},
                                      {"context-parallel", method},
                                      {"cp-split", split}},
                                     Axis::kCp, {Purpose::kKeysValues});
        const bool sends = std::string_view(method) != "local";
        EXPECT_EQ(layer.per_layer, sends ? 3 * (c - 1) * 2 * layer.bsh : 0) << method << split;
      }
    }
    const Layer ulysses = layer_of({{"cp", cp.c_str()}, {"context-parallel", "ulysses"}}, Axis::kCp,
                                   {Purpose::kKeysValues});
    EXPECT_EQ(ulysses.per_layer * c, 8 * ulysses.bsh * (c - 1));
  }
}

}  // namespace
}  // namespace parallelarium
