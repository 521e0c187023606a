// SPDX-License-Identifier: Apache-2.0
// Closed forms of what a rank holds and sends, beside the Program's; and what a prediction remarks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/plan/machine/presets.h"
#include "engine/plan/model/routing.h"
#include "engine/predict/predict.h"
#include "tests/predict/value_of.h"

namespace parallelarium {
namespace {

const Machine kHere = uncalibrated_local_machine();

// States and data traffic of the first rank: closed forms beside what the Program holds and sends,
// for every schedule, with a tied table and without.
class FirstRank : public testing::TestWithParam<std::tuple<const char*, bool, int>> {};

TEST_P(FirstRank, HoldsAndSendsWhatTheFormulasSay) {
  const auto& [schedule, tied, tp] = GetParam();
  for (const int choice : {0, 1, 2, 3, 4, 5, 6, 7}) {
    for (const int group : {0, 2}) {
      const int zero = choice % 4;
      if (zero == 0 && group > 0) continue;
      parallelarium::Setup setup = default_setup();
      // The second four: other types on the wire than in memory, and what ZeRO 3 gathers kept.
      if (choice >= 4) {
        setup.precision = precision_recipes().front();
        setup.gradient_reduction = GradientReduction::kFp32;
        setup.zero_reshard = false;
      }
      setup.mesh = {4, tp, 2, 1, 1};
      setup.model.tied = tied;
      setup.model.kv_heads = 2;
      setup.microbatches = 4;
      setup.schedule = schedule;
      if (setup.schedule == "interleaved") setup.chunks = 4;
      setup.zero = zero;
      setup.zero_group = group;
      const Result<Prediction> prediction = predict(setup, kHere);
      ASSERT_TRUE(prediction.ok()) << prediction.error().text;
      double sent = 0;
      const Program& program = prediction->program;
      // Chunks of a bucket differ by an element: over the group they are whole.
      int ranks = 0;
      for (std::size_t at = 0; at < program.ranks.size(); ++at) {
        if (program.ranks[at].stage != 0 || program.ranks[at].at.tp > 0) continue;
        ++ranks;
        for (const TrafficRow& row : traffic_of(program, static_cast<int>(at)))
          if (row.axis == Axis::kDp &&
              (row.purpose == Purpose::kGradients || row.purpose == Purpose::kParameters))
            sent += static_cast<double>(row.sent_bytes);
      }
      ASSERT_EQ(ranks, 4);
      const double form = value_of(prediction->formulas,
                                   "data-parallel traffic sent by a first-stage rank, per step");
      EXPECT_NEAR(sent / ranks / form, 1, 1e-12) << schedule << " ZeRO " << zero << " " << group;
      double held = 0;
      for (const Buffer& buffer : program.ranks[0].buffers)
        if (buffer.opened_by < 0 &&
            (buffer.category == Category::kParameters || buffer.category == Category::kGradients ||
             buffer.category == Category::kOptimizer))
          held += static_cast<double>(buffer.bytes);
      EXPECT_NEAR(held / value_of(prediction->formulas, "model states of a first-stage rank"), 1,
                  1e-3)
          << schedule << " ZeRO " << zero << " " << group;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, FirstRank,
                         testing::Combine(testing::Values("gpipe", "1f1b", "interleaved", "zb-h1",
                                                          "zb-v", "dualpipe", "dualpipe-v"),
                                          testing::Bool(), testing::Values(1, 4)));

TEST(ContextTraffic, IsThatOfTheProgram) {
  for (const char* method : {"ring", "all-gather", "ulysses"}) {
    for (const char* recompute : {"none", "selective", "full"}) {
      for (const auto& [cp, tp, kv_heads] :
           {std::array{2, 1, 4}, {4, 1, 2}, {2, 2, 2}, {4, 1, 4}}) {
        parallelarium::Setup setup = default_setup();
        setup.mesh = {1, tp, 1, cp, 1};
        setup.model.kv_heads = kv_heads;
        for (const auto& [field, value] : {std::pair{"attention", "fused"},
                                           {"context-parallel", method},
                                           {"recompute", recompute}})
          ASSERT_TRUE(set_field(setup, field, value).ok());
        const Result<Prediction> prediction = predict(setup, kHere);
        ASSERT_TRUE(prediction.ok()) << prediction.error().text;
        double sent = 0;
        for (const TrafficRow& row : prediction->traffic)
          if (row.purpose == Purpose::kKeysValues) sent += static_cast<double>(row.sent_bytes);
        const double each = value_of(
            prediction->formulas,
            "context traffic sent by a rank, per layer and micro-batch, forward and backward");
        EXPECT_DOUBLE_EQ(sent, each * setup.model.layers * setup.microbatches)
            << method << " " << recompute << " CP " << cp << " TP " << tp;
      }
    }
  }
}

// With sequence parallelism what goes between stages is cut already, and with one stage nothing
// goes.
TEST(PipelineTraffic, OfSharesIsThatOfTheProgram) {
  for (const char* schedule : {"gpipe", "1f1b", "interleaved"}) {
    for (const auto& [tp, micro_batch, sequence] : {std::array{2, 1, 129}, {4, 3, 96}, {4, 1, 7}}) {
      parallelarium::Setup setup = default_setup();
      setup.mesh = {2, tp, 3, 1, 1};
      setup.model.layers = 6;
      setup.model.sequence = sequence;
      setup.micro_batch = micro_batch;
      setup.microbatches = 6;
      setup.schedule = schedule;
      if (setup.schedule == "interleaved") setup.chunks = 2;
      const auto sent = [&](Axis axis) {
        const Result<Prediction> prediction = predict(setup, kHere);
        EXPECT_TRUE(prediction.ok()) << prediction.error().text;
        std::pair<double, double> result{
            0, value_of(prediction->formulas,
                        axis == Axis::kPp
                            ? "pipeline traffic of one boundary, one direction, per step"
                            : "tensor traffic of one boundary sent by a rank, one direction, per "
                              "step: what came from another stage, gathered")};
        for (const RankProgram& rank : prediction->program.ranks) {
          if (rank.stage != 1 || rank.at.tp > 0 || rank.at.dp > 0) continue;
          for (const TrafficRow& row : traffic_of(prediction->program, rank.rank))
            if (row.axis == axis && row.purpose == Purpose::kActivations)
              result.first += static_cast<double>(row.sent_bytes);
        }
        return result;
      };
      const double whole = sent(Axis::kTp).first;
      setup.scatter_gather = true;
      const auto [between, boundary] = sent(Axis::kPp);
      const auto [tensor, gathered] = sent(Axis::kTp);
      EXPECT_DOUBLE_EQ(between, boundary) << schedule << " TP " << tp;
      EXPECT_DOUBLE_EQ(tensor - whole, gathered) << schedule << " TP " << tp;
      setup.sequence_parallel = sequence == 96;
      if (setup.sequence_parallel) {
        EXPECT_EQ(sent(Axis::kTp).second, -1);
      }
    }
  }
}

TEST(Remarks, SayWhatThePredictionDoesOtherThanTheSetup) {
  const auto remarks = [](std::initializer_list<std::pair<const char*, const char*>> fields) {
    parallelarium::Setup setup = default_setup();
    for (const auto& [field, value] : fields) EXPECT_TRUE(set_field(setup, field, value).ok());
    const Result<Prediction> prediction = predict(setup, kHere);
    EXPECT_TRUE(prediction.ok());
    std::string all;
    for (const Message& remark : remarks_of(*prediction)) all += remark.text + "\n";
    return all;
  };
  using testing::HasSubstr;
  EXPECT_EQ(remarks({}), "");
  EXPECT_EQ(remarks({{"cp", "2"}, {"attention", "fused"}}), "");
  EXPECT_THAT(remarks({{"cp", "2"}, {"attention", "unfused"}}),
              testing::AllOf(HasSubstr("gathered here before attention, not passed round: unfused"),
                             HasSubstr("predicted, but not run: CP by ring")));
  EXPECT_THAT(remarks({{"zero", "2"}}), HasSubstr("ZeRO 2 has nothing to shard: DP and CP are 1"));
  EXPECT_THAT(remarks({{"dp", "2"}, {"zero", "1"}, {"zero-group", "1"}}),
              HasSubstr("nothing to shard in groups of one"));
  EXPECT_THAT(remarks({{"dp", "2"}, {"zero-group", "2"}}), HasSubstr("does nothing without ZeRO"));
  EXPECT_THAT(remarks({{"scatter-gather", "true"}}), HasSubstr("without PP and TP above 1"));
  EXPECT_THAT(remarks({{"scatter-gather", "true"}, {"tp", "2"}, {"sequence-parallel", "true"}}),
              HasSubstr("cuts what stages send already"));
  EXPECT_EQ(remarks({{"scatter-gather", "true"}, {"tp", "2"}}), "");
  EXPECT_THAT(remarks({{"zero-prefetch", "2"}}), HasSubstr("does nothing without ZeRO 3"));
  EXPECT_EQ(remarks({{"dp", "2"}, {"zero", "3"}, {"zero-prefetch", "2"}}), "");
  EXPECT_THAT(remarks({{"schedule", "dualpipe"}}), HasSubstr("holds every stage on two ranks"));
  EXPECT_THAT(remarks({{"dp", "64"}}), HasSubstr("for all 256: the others do the same"));
}

TEST(DataTraffic, IsTwoOrThreeTimesTheParameters) {
  parallelarium::Setup setup = default_setup();
  setup.mesh = {4, 1, 1, 1, 1};
  const char* name = "data-parallel traffic sent by a first-stage rank, per step";
  const double P = static_cast<double>(count_parameters(setup.model).total);
  for (const int m : {1, 8}) {
    setup.microbatches = m;
    for (const auto& [zero, times] : {std::pair{0, 2.0}, {1, 2.0}, {2, m + 1.0}, {3, 3.0 * m}}) {
      setup.zero = zero;
      EXPECT_DOUBLE_EQ(value_of(formulas_of(setup, kHere), name), times * P * 4 * 3 / 4) << zero;
    }
  }
}

// DeepSeek-V3's EP 64 of DP 128: each routed expert has two replicas, all else 128.
TEST(RoutedExperts, AreShardedAndSentAmongTheirReplicasOnly) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh = {8, 1, 1, 1, 4};
  setup.zero = 1;
  const std::vector<Formula> formulas = formulas_of(setup, kHere);
  const ParameterCounts counts = count_parameters(setup.model);
  const double all = 8.0 * 8 * 3 * 64 * 96;  // layers, experts, matrices, hidden, inner width
  const double shared = static_cast<double>(counts.total) - all;
  const std::string states = "model states of a first-stage rank";
  EXPECT_DOUBLE_EQ(value_of(formulas, states + ", without routed experts"), shared * (8 + 8.0 / 8));
  EXPECT_DOUBLE_EQ(value_of(formulas, states + ", routed experts"), all / 4 * (8 + 8.0 / 2));
  EXPECT_DOUBLE_EQ(
      value_of(formulas,
               "data-parallel traffic sent by a first-stage rank, per step, routed experts"),
      all / 4 * 0.5 * 8);
}

// Two all-to-alls of a layer's forward, as the Program counts them.
TEST(RoutedExperts, SendTheClosedFormAndTakeThePublishedCapacity) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  for (const int ep : {2, 4, 8}) {
    setup.mesh = {8, 1, 1, 1, ep};
    setup.expert_gates = ep == 8 ? ExpertGates::kActivations : ExpertGates::kResults;
    const std::vector<Formula> formulas = formulas_of(setup, kHere);
    const double one =
        value_of(formulas, "expert traffic sent by a rank, per layer and micro-batch, forward");
    const Result<Prediction> prediction = predict(setup, kHere);
    ASSERT_TRUE(prediction.ok());
    double sent = 0;
    for (const TrafficRow& row : prediction->traffic)
      if (row.purpose == Purpose::kTokens) sent += static_cast<double>(row.sent_bytes);
    EXPECT_DOUBLE_EQ(sent, one * 2 * 8 * 8) << ep;  // and backward; layers, micro-batches
    EXPECT_EQ(value_of(formulas, "capacity of an expert, per replica and micro-batch"), 40);
  }
}

// Whole experts over TP 4 and DP 2: each rank holds E / EP of them and sends its share of the
// tokens over the EP group, and nothing goes over TP between a router and its layer's end.
TEST(WholeExperts, AreHeldAndSentAsTheClosedFormsSay) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.model.experts.capacity = 0;
  setup.mesh = {2, 4, 1, 1, 1};
  setup.mesh.expert_tensor = false;
  setup.sequence_parallel = true;
  const double tokens = static_cast<double>(setup.model.sequence), k = setup.model.experts.top_k;
  const std::string states = "model states of a first-stage rank, routed experts";
  const double all = 8.0 * 8 * 3 * 64 * 96;  // layers, experts, matrices, hidden, inner width
  for (const int ep : {2, 4, 8}) {
    for (const int zero : {0, 1, 3}) {
      setup.mesh.ep = ep;
      setup.zero = zero;
      const Result<Prediction> prediction = predict(setup, kHere);
      ASSERT_TRUE(prediction.ok()) << prediction.error().text;
      const double replicas = 8.0 / ep, held = all / ep;
      std::int64_t own = 0, tensor = 0;
      const RankProgram& rank = prediction->program.ranks[0];
      for (const ParameterSlice& slice : rank.parameters)
        if (slice.parameter == Parameter::kExpertWeights) own += slice.count;
      EXPECT_EQ(static_cast<double>(own), held);
      double sent = 0, reduced = 0;
      for (const Op& op : rank.ops)
        if (op.kind == OpKind::kCollective && op.layer >= 0 && op.group >= 0 &&
            prediction->program.groups[static_cast<std::size_t>(op.group)].axis == Axis::kTp)
          ++tensor;
      for (const TrafficRow& row : prediction->traffic) {
        if (row.purpose == Purpose::kTokens) sent += static_cast<double>(row.sent_bytes);
        if (row.axis == Axis::kDp && row.purpose == Purpose::kGradients)
          reduced += static_cast<double>(row.sent_bytes);
      }
      // Dispatch and combine, forward and backward, of 8 layers and 8 micro-batches.
      EXPECT_DOUBLE_EQ(sent, 4 * 8 * 8 * tokens / 4 * k * 64 * 4 * (ep - 1) / ep) << ep;
      EXPECT_DOUBLE_EQ(
          value_of(prediction->formulas,
                   "expert traffic sent by a rank, per layer and micro-batch, forward") *
              2 * 8 * 8,
          sent);
      const bool apart = replicas != 2;  // else all has as many
      if (zero == 0) {
        const double dense = static_cast<double>(rank.parameters.back().offset) +
                             static_cast<double>(rank.parameters.back().count) - held;
        EXPECT_NEAR(reduced / (2 * 4 * (dense / 2 + held * (replicas - 1) / replicas)), 1, 1e-12);
        if (apart) {
          EXPECT_DOUBLE_EQ(value_of(prediction->formulas, states), held * 16);
        }
      }
      if (zero == 1 && apart) {
        EXPECT_DOUBLE_EQ(value_of(prediction->formulas, states), held * (8 + 8 / replicas));
      }
      // Of a layer: attention gathers and scatters, forward and backward, and once more for its
      // weights; routers' and norms' gradients are added up. An MLP that is cut would double it.
      parallelarium::Setup cut = setup;
      cut.mesh.expert_tensor = true;
      cut.mesh.ep = 2;
      std::int64_t more = 0;
      const Result<Prediction> other = predict(cut, kHere);
      ASSERT_TRUE(other.ok());
      for (const Op& op : other->program.ranks[0].ops)
        if (op.kind == OpKind::kCollective && op.layer >= 0 && op.group >= 0 &&
            other->program.groups[static_cast<std::size_t>(op.group)].axis == Axis::kTp)
          ++more;
      EXPECT_LT(tensor, more);
    }
  }
}

// A skew fills the first rank; what it sends and receives follows, and the step waits for it.
TEST(RoutedExperts, TakeLongerTheMoreTheyAreSkewed) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.model.experts.capacity = 0;
  setup.mesh = {4, 1, 1, 1, 4};
  const Machine machine = *find_machine("dgx-h100");
  double last = 0;
  for (const double skew : {0.0, 0.2, 0.5, 1.0}) {
    setup.skew = skew;
    const Result<Prediction> prediction = predict(setup, machine, true);
    ASSERT_TRUE(prediction.ok());
    EXPECT_GT(prediction->step.seconds, last) << skew;
    last = prediction->step.seconds;
    const RoutedLayer routed = *route_layer(setup, 0, 0, 0);
    // With every row to the experts goes its gate, and with its gradient back that of the gate.
    parallelarium::Setup travelling = setup;
    travelling.expert_gates = ExpertGates::kActivations;
    const Prediction gates = *predict(travelling, machine, true);
    for (int rank = 0; rank < 4; ++rank) {
      for (const TrafficRow& row : expected_traffic(gates, rank)) {
        if (row.purpose != Purpose::kTokens) continue;
        const std::int64_t both = routed.sent_bytes(rank) + routed.received_bytes(rank);
        EXPECT_EQ(row.sent_bytes, (both + both / routed.row_bytes * 2) * 2 * 8 * 8) << skew;
      }
      for (const TrafficRow& row : expected_traffic(*prediction, rank)) {
        if (row.purpose != Purpose::kTokens) continue;
        const std::int64_t both = routed.sent_bytes(rank) + routed.received_bytes(rank);
        EXPECT_EQ(row.sent_bytes, both * 2 * 8 * 8) << skew << " " << rank;
        EXPECT_EQ(row.received_bytes, both * 2 * 8 * 8) << skew << " " << rank;
      }
    }
  }
}

TEST(PipelineTraffic, IsThatOfEveryChunk) {
  for (const int v : {1, 2, 4}) {
    parallelarium::Setup setup = default_setup();
    setup.mesh.pp = 2;
    setup.chunks = v;
    setup.schedule = v > 1 ? "interleaved" : "1f1b";
    const Result<Prediction> prediction = predict(setup, kHere);
    ASSERT_TRUE(prediction.ok());
    const double form =
        value_of(prediction->formulas, "pipeline traffic of one boundary, one direction, per step");
    EXPECT_DOUBLE_EQ(form, v * 8 * 128 * 64 * 4);
    for (const TrafficRow& row : prediction->traffic) {
      if (row.axis == Axis::kPp && row.purpose == Purpose::kActivations) {
        EXPECT_DOUBLE_EQ(static_cast<double>(row.sent_bytes), form);
      }
    }
  }
}

TEST(Traffic, StandsOnlyWhereItsAxisDoes) {
  parallelarium::Setup setup = default_setup();
  setup.mesh = {1, 1, 1, 1, 1};
  for (const Formula& formula : formulas_of(setup, kHere))
    EXPECT_EQ(formula.name.text.find("traffic"), std::string::npos) << formula.name.text;
  setup.mesh = {2, 2, 2, 1, 1};
  const std::vector<Formula> formulas = formulas_of(setup, kHere);
  // 8 micro-batches of 128 tokens of 64 floats.
  EXPECT_DOUBLE_EQ(value_of(formulas, "pipeline traffic of one boundary, one direction, per step"),
                   8 * 128 * 64 * 4);
  // Four all-reduces of s b h, each 2 (t-1)/t.
  EXPECT_DOUBLE_EQ(
      value_of(formulas,
               "tensor traffic sent by a rank, per layer and micro-batch, forward and backward"),
      4 * 2 * 0.5 * 128 * 64 * 4);
}

}  // namespace
}  // namespace parallelarium
