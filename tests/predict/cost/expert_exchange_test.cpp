// SPDX-License-Identifier: Apache-2.0
// How tokens travel to experts: once to a node, in FP8, and behind the other half of a pair; and
// what products in FP8 take.
#include <gtest/gtest.h>

#include "engine/predict/memory.h"
#include "engine/predict/predict.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

// Four expert layers on two stages of two nodes each.
parallelarium::Setup experts(const char* schedule = "1f1b") {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("deepseek-v3");
  setup.model.layers = 4;
  setup.model.stage_layers.clear();
  setup.model.experts.first_dense = 0;
  setup.mesh = Mesh();
  setup.mesh.pp = 2;
  setup.mesh.dp = setup.mesh.ep = 16;
  setup.machine = "hgx-h800";
  setup.schedule = schedule;
  setup.microbatches = 8;
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  return setup;
}

Prediction checked(const parallelarium::Setup& setup) {
  EXPECT_TRUE(validate(setup).empty());
  Result<Prediction> prediction = predict(setup, *find_machine(setup.machine.name()));
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  for (const Message& fault : check(prediction->program)) ADD_FAILURE() << fault.text;
  return std::move(*prediction);
}

// Of one exchange of tokens, to the experts (0) or back (1).
double exchange_seconds(const Prediction& prediction, int block) {
  const CostModel cost(prediction.program, prediction.machine, prediction.setup);
  for (const Op& op : prediction.program.ranks.front().ops)
    if (op.purpose == Purpose::kTokens && op.block == block) return cost.seconds(op, 0);
  return 0;
}

// With 8 of 128 experts that a token may use on each of two nodes, a node holds none of its 8 with
// the probability of drawing 8 of 256 from the other 128: it nearly always goes to both, and a half
// of its copies used to leave.
TEST(TokensOncePerNode, LeaveFewerTimes) {
  parallelarium::Setup setup = experts();
  const double copies = exchange_seconds(checked(setup), 0);
  setup.expert_dispatch = ExpertDispatch::kOncePerNode;
  const Prediction once = checked(setup);
  double none = 1;
  for (int drawn = 0; drawn < 8; ++drawn) none *= (128.0 - drawn) / (256.0 - drawn);
  const double rows = 4096, row_bytes = 7168 * 2;
  const Machine& machine = once.machine;
  const double card =
      machine.inter_node.bytes_per_second.value * machine.inter_node.sustained.value;
  const double inside = machine.intra_node.bytes_per_second.value;
  const double latency = 2 * machine.inter_node.latency_seconds.value;
  EXPECT_NEAR(copies, latency + rows * 8 * row_bytes / 2 / card, 1e-6);
  // Two nodes at most, and half of the visits are to the own one; inside, seven of eight move on.
  const double leaving = rows * row_bytes * 2 * (1 - none) / 2 / card;
  const double passed_on = rows * 8 * row_bytes * 7 / 8 / inside;
  EXPECT_NEAR(exchange_seconds(once, 0), latency + std::max(leaving, passed_on), 1e-6);
  EXPECT_LT(once.step.seconds, checked(experts()).step.seconds);
  EXPECT_EQ(once.memory.front().peak_bytes, checked(experts()).memory.front().peak_bytes);
}

// Where a rank has several of the experts, rows are copied into their order and out of it.
TEST(RowsOfSeveralExperts, AreCopiedTwice) {
  Machine machine = *find_machine("hgx-h800");
  Work work;
  work.piece = Piece::kExpert;
  work.m = 64, work.n = 3072, work.k = 512, work.repeat = 4;
  work.elements = 4 * work.m * work.k;
  work.flops = 2.0 * static_cast<double>(work.m * work.n * work.k * work.repeat);
  Shape shape;
  shape.C = work.k;
  const auto seconds = [&](Phase phase) {
    work.phase = phase;
    return work_seconds(work, shape, machine, DataType::kBf16);
  };
  const double bandwidth = machine.memory_bytes_per_second.value * machine.memory_efficiency.value;
  const double copies =
      2 * (machine.launch_seconds.value + 2.0 * 2 * static_cast<double>(work.elements) / bandwidth);
  for (const Phase phase : {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad}) {
    shape.experts.ranks = 1;  // nothing travelled
    const double here = seconds(phase);
    shape.experts.ranks = 4;
    EXPECT_NEAR(seconds(phase) - here, phase == Phase::kWeightGrad ? 0 : copies, 1e-12);
  }
  work.repeat = 1;  // one expert a rank has no order
  const double one = seconds(Phase::kForward);
  shape.experts.ranks = 1;
  EXPECT_EQ(seconds(Phase::kForward), one);
}

// A byte for an element and a scale of four for 128 of them, one way only.
TEST(TokensInFp8, HalveTheWayThere) {
  parallelarium::Setup setup = experts();
  const Prediction before = checked(setup);
  setup.fp8_dispatch = true;
  const Prediction after = checked(setup);
  const double latency = 2 * before.machine.inter_node.latency_seconds.value;
  EXPECT_NEAR((exchange_seconds(after, 0) - latency) / (exchange_seconds(before, 0) - latency),
              0.5 * (1 + 4.0 / 128), 1e-6);
  EXPECT_EQ(exchange_seconds(after, 1), exchange_seconds(before, 1));
}

// Both halves of a pair have the same work as before, and their exchanges cost less of the step.
TEST(OverlapInsideAPair, HidesExchanges) {
  for (const char* schedule : {"dualpipe", "dualpipe-v"}) {
    parallelarium::Setup setup = experts(schedule);
    if (validate(setup).empty() == false) setup.chunks = 2;
    const Prediction before = checked(setup);
    setup.overlap_experts = true;
    const Prediction after = checked(setup);
    EXPECT_LT(after.step.seconds, 0.97 * before.step.seconds) << schedule;
    const auto work = [](const Prediction& of) {
      const CostModel cost(of.program, of.machine, of.setup);
      double seconds = 0;
      for (const Op& op : of.program.ranks.front().ops) seconds += cost.seconds(op, 0);
      return seconds;
    };
    EXPECT_NEAR(work(after) / work(before), 1, 1e-9) << schedule;
    EXPECT_EQ(after.program.op_count(), before.program.op_count()) << schedule;
  }
}

// Without pairs there is next to nothing that exchanges could hide behind.
TEST(OverlapInsideAPair, ChangesLittleElsewhere) {
  parallelarium::Setup setup = experts("1f1b");
  Machine machine = *find_machine("hgx-h800");
  machine.overlap_slowdown.value = 1;
  const double before = predict(setup, machine)->step.seconds;
  setup.overlap_experts = true;
  EXPECT_NEAR(predict(setup, machine)->step.seconds / before, 1, 0.01);
}

TEST(OverlapInsideAPair, IsEqualWhereItIsFolded) {
  for (const int zero : {0, 1}) {
    parallelarium::Setup setup = experts("dualpipe");
    setup.overlap_experts = true;
    setup.zero = zero;
    Machine machine = *find_machine("hgx-h800");
    machine.overlap_slowdown.value = 1;
    const Order order = *make_order(setup);
    const Program pieces = *build_program(setup, order);
    const Program folded = *build_program(setup, order, {.stage_level = true});
    for (const Message& fault : check(folded)) ADD_FAILURE() << fault.text;
    EXPECT_LT(folded.op_count(), pieces.op_count());
    EXPECT_EQ(simulate(folded, CostModel(folded, machine, setup)).duration,
              simulate(pieces, CostModel(pieces, machine, setup)).duration);
    const std::vector<MemoryRow> held = memory_of(pieces), held_folded = memory_of(folded);
    for (std::size_t rank = 0; rank < held.size(); ++rank)
      EXPECT_EQ(held_folded[rank].peak_bytes, held[rank].peak_bytes) << rank;
  }
}

// Each of two TP ranks sends its half of the tokens, which all of them used to send; what came to
// both is gathered before the experts' products and added up after them, each time T k h bytes of
// the rank's own group.
TEST(TokensOfTensorShares, AreSentOnce) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("mixtral-8x7b");
  setup.model.layers = 2;
  setup.mesh = {};
  setup.mesh.tp = 2;
  setup.mesh.dp = setup.mesh.ep = 8;
  setup.sequence_parallel = true;
  setup.machine = "dgx-h100";
  setup.microbatches = 2;
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  const auto tokens = static_cast<std::int64_t>(setup.model.sequence), k = std::int64_t{2};
  const std::int64_t row = setup.model.hidden * 2;
  const auto bytes_of = [&](const Prediction& prediction, CollectiveKind kind, Piece before) {
    std::vector<std::int64_t> bytes;
    const std::vector<Op>& ops = prediction.program.ranks.front().ops;
    for (std::size_t at = 1; at < ops.size(); ++at)
      if (ops[at].collective == kind && ops[at].kind == OpKind::kCollective && ops[at].layer == 0 &&
          ops[at].phase == Phase::kForward && ops[at].microbatch == 0 &&
          ops[at].purpose != Purpose::kCounts && ops[at - 1].piece == before)
        bytes.push_back(ops[at].bytes);
    return bytes;
  };
  using Bytes = std::vector<std::int64_t>;
  const Prediction all = checked(setup);
  setup.expert_dispatch = ExpertDispatch::kTensorShares;
  const Prediction shares = checked(setup);
  // From the experts, the all-to-all comes behind the sum.
  EXPECT_EQ(bytes_of(all, CollectiveKind::kAllToAll, Piece::kExpert), Bytes{tokens * k * row});
  EXPECT_EQ(bytes_of(shares, CollectiveKind::kReduceScatter, Piece::kExpert),
            Bytes{tokens * k * row});
  std::int64_t sent = 0, sent_once = 0;
  for (const TrafficRow& each : all.traffic)
    if (each.purpose == Purpose::kTokens) sent = each.sent_bytes;
  for (const TrafficRow& each : shares.traffic)
    if (each.purpose == Purpose::kTokens) sent_once = each.sent_bytes;
  EXPECT_EQ(2 * sent_once, sent);
  // Two layers, two micro-batches, to the experts and back, forward and backward.
  EXPECT_EQ(sent_once, 2 * 2 * 2 * 2 * (tokens / 2 * k * row) * 7 / 8);
  EXPECT_EQ(shares.parameters.total, all.parameters.total);
  // A router saw half of the tokens: its gradient is a part.
  EXPECT_LT(shares.memory.front().peak_bytes, all.memory.front().peak_bytes);
  for (const Formula& formula : shares.formulas)
    if (formula.name.id == "traffic.experts") {
      EXPECT_EQ(formula.value, 2.0 * static_cast<double>(tokens / 2 * k * row) * 7 / 8);
    }

  EXPECT_EQ(can_execute(setup).error().id, "run-dispatch-shares");
  setup.sequence_parallel = false;
  ASSERT_EQ(validate(setup).size(), 1u);
  EXPECT_EQ(validate(setup).front().id, "dispatch-shares");
}

// What is predicted only is refused for a run in a sentence, and FP8 where a machine has none.
TEST(ExpertExchange, IsPredictedOnly) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh.pp = 1;
  EXPECT_TRUE(can_execute(setup).ok());
  for (const auto& [field, value, id] :
       {std::tuple{"expert-dispatch", "once-per-node", "run-dispatch"},
        {"fp8-dispatch", "true", "run-fp8-dispatch"},
        {"overlap-experts", "true", "run-overlap-experts"},
        {"products", "fp8", "run-fp8-experts"}}) {
    parallelarium::Setup changed = setup;
    EXPECT_TRUE(set_field(changed, field, value).ok()) << field;
    EXPECT_EQ(can_execute(changed).error().id, id);
  }
  parallelarium::Setup fp8 = experts();
  fp8.products = ProductType::kFp8;
  EXPECT_TRUE(validate(fp8).empty());
  fp8.machine = "dgx-a100-80g";
  ASSERT_EQ(validate(fp8).size(), 1u);
  EXPECT_EQ(validate(fp8).front().id, "fp8-machine");
  fp8.machine = "hgx-h800";
  fp8.precision = *find_precision("fp32");
  ASSERT_EQ(validate(fp8).size(), 1u);
  EXPECT_EQ(validate(fp8).front().id, "fp8-precision");
}

}  // namespace
}  // namespace parallelarium
