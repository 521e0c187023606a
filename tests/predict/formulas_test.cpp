// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"
#include "tests/data/published.h"

namespace parallelarium {
namespace {

constexpr double kNone = -1;

double value_of(const std::vector<Formula>& formulas, const std::string& name) {
  for (const Formula& formula : formulas)
    if (formula.name == name) return formula.value;
  return kNone;
}

// A GPT of the papers' kind from a row's shape.
Setup setup_of(const PublishedRow& row) {
  parallelarium::Setup setup = default_setup();
  Model& model = setup.model;
  model.name = "custom";
  model.layers = row.whole("layers");
  model.hidden = row.inputs.at("hidden");
  model.heads = model.kv_heads = row.whole("heads");
  model.ffn = 4 * model.hidden;
  model.vocab = row.inputs.at("vocab");
  model.sequence = row.inputs.at("sequence");
  setup.mesh.pp = 1;
  setup.microbatches = row.inputs.value("global_batch", 1);
  return setup;
}

const Machine kMachine = uncalibrated_local_machine();

class PublishedParameters : public testing::TestWithParam<PublishedRow> {};
TEST_P(PublishedParameters, AreTheFormulasAndTheCounts) {
  const PublishedRow& row = GetParam();
  const parallelarium::Setup setup = setup_of(row);
  const double formula = value_of(formulas_of(setup, kMachine), "parameters");
  EXPECT_NEAR(formula / 1e9, row.value, row.bound);
  const ParameterCounts counts = count_parameters(setup.model);
  EXPECT_DOUBLE_EQ(static_cast<double>(counts.total),
                   formula + 2.0 * static_cast<double>(setup.model.hidden))
      << "all but the final norm";
}
INSTANTIATE_TEST_SUITE_P(Papers, PublishedParameters,
                         testing::ValuesIn(published("gpt_parameters")));

class IterationTimes : public testing::TestWithParam<PublishedRow> {};
TEST_P(IterationTimes, FollowFromEquation3) {
  const PublishedRow& row = GetParam();
  parallelarium::Setup setup = setup_of(row);
  setup.recompute = Recompute::kFull;
  const double flops =
      value_of(formulas_of(setup, kMachine), "hardware FLOPs of a step, full recompute");
  EXPECT_NEAR(flops / (row.input("gpus") * row.input("tflops_per_gpu") * 1e12), row.value,
              row.bound);
}
INSTANTIATE_TEST_SUITE_P(Narayanan, IterationTimes,
                         testing::ValuesIn(published("iteration_flops")));

class Utilisation : public testing::TestWithParam<PublishedRow> {};
TEST_P(Utilisation, FollowsFromTheFlopsOfAStep) {
  const PublishedRow& row = GetParam();
  parallelarium::Setup setup = setup_of(row);
  setup.recompute = Recompute::kSelective;
  const std::vector<Formula> formulas = formulas_of(setup, kMachine);
  const double flops = value_of(formulas, row.inputs.at("hardware").get<bool>()
                                              ? "hardware FLOPs of a step, selective recompute"
                                              : "model FLOPs of a step");
  EXPECT_NEAR(
      100 * flops / (row.input("gpus") * row.input("peak_tflops") * 1e12 * row.input("seconds")),
      row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Korthikanti, Utilisation,
                         testing::ValuesIn(published("model_flops_utilisation")));

// "2.7 % and 1.6 %" for GPT-3 and MT-NLG, section 5.
TEST(SelectiveRecompute, CostsThePublishedShareOfFlops) {
  for (const auto& [name, percent] : {std::pair{"megatron-175b", 2.7}, {"mt-nlg-530b", 1.6}}) {
    parallelarium::Setup setup = default_setup();
    setup.model = *find_model(name);
    setup.mesh.pp = 1;
    setup.recompute = Recompute::kSelective;
    const std::vector<Formula> formulas = formulas_of(setup, kMachine);
    const double hardware = value_of(formulas, "hardware FLOPs of a step, selective recompute");
    const double model = value_of(formulas, "model FLOPs of a step");
    EXPECT_NEAR(100 * (hardware / model - 1), percent, 0.2);
  }
}

// Two derivations: the papers' closed form, and our sum over matrix products.
TEST(ModelFlops, OfThePapersEqualTheSumOfProducts) {
  for (const char* name : {"gpt-tiny", "gpt-small", "gpt2-124m", "megatron-1t"}) {
    parallelarium::Setup setup = default_setup();
    setup.model = *find_model(name);
    setup.mesh.pp = 1;
    const double formula = value_of(formulas_of(setup, kMachine), "model FLOPs of a step");
    const double products = model_flops_per_sequence(setup.model) * 8;
    EXPECT_NEAR(formula / products, 1, 1e-12) << name;
  }
}

class Pipelines : public testing::TestWithParam<std::tuple<const char*, int, int>> {};
TEST_P(Pipelines, ShowBothBubblesAndTheyAgree) {
  const auto [schedule, p, m] = GetParam();
  parallelarium::Setup setup = default_setup();
  setup.schedule = schedule;
  setup.model.layers = 2 * p;
  setup.mesh.pp = p;
  setup.microbatches = m;
  const std::vector<Formula> formulas = formulas_of(setup, kMachine);
  const double over = value_of(formulas, "bubble over ideal time");
  const double of_total = value_of(formulas, "bubble of whole step");
  EXPECT_NEAR(of_total, over / (1 + over), 1e-15);
  // Idle slots counted in the picture: every rank is busy m slots of a makespan.
  const bool naive = std::string(schedule) == "naive";
  const double makespan = naive ? static_cast<double>(m) * p : m + p - 1.0;
  EXPECT_NEAR(over, (makespan - m) / m, 1e-12);
  const double lower = value_of(formulas, "step time at peak, a lower bound");
  const double step = value_of(formulas, "step time without communication");
  EXPECT_NEAR(step * kMachine.matmul_efficiency.value / lower, 1 + over, 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Sizes, Pipelines,
                         testing::Combine(testing::Values("naive", "gpipe", "1f1b"),
                                          testing::Values(1, 2, 3, 4, 7),
                                          testing::Values(1, 2, 3, 8, 9)));

// Closed forms of chunked, split and bidirectional schedules against the order's own times.
TEST(ChunkedPipelines, HaveTheBubblesAndHeldMicrobatchesOfTheirOrders) {
  int met = 0;
  for (const char* schedule : {"interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"}) {
    for (const int p : {1, 2, 3, 4, 8}) {
      for (const int m : {2, 3, 4, 8, 16, 24, 32}) {
        parallelarium::Setup setup = default_setup();
        setup.model.layers = 24;
        setup.schedule = schedule;
        setup.chunks = std::string(schedule) == "interleaved" ? 3 : 1;
        setup.mesh.pp = p;
        setup.microbatches = m;
        const auto order = make_order(setup);
        const std::vector<Formula> formulas = formulas_of(setup, kMachine);
        const auto has_form = [&] {
          return std::any_of(formulas.begin(), formulas.end(),
                             [](const Formula& f) { return f.name == "bubble over ideal time"; });
        };
        if (!order.ok() || !has_form()) continue;
        ++met;
        const TimedOrder timed = time_order(*order, Durations{});
        EXPECT_NEAR(value_of(formulas, "bubble over ideal time"), timed.bubble_over_ideal, 1e-12)
            << schedule << " " << p << " " << m;
        EXPECT_NEAR(value_of(formulas, "bubble of whole step"), timed.bubble_of_total, 1e-12);
        EXPECT_NEAR(value_of(formulas, "micro-batches held by the first stage"),
                    timed.peak_in_flight[0], 1e-12)
            << schedule << " " << p << " " << m;
      }
    }
  }
  EXPECT_GT(met, 100);
}

// States and data traffic of the first rank: closed forms beside what the Program holds and sends,
// for every schedule, with a tied table and without.
class FirstRank : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(FirstRank, HoldsAndSendsWhatTheFormulasSay) {
  const auto& [schedule, tied] = GetParam();
  for (const int zero : {0, 1, 2, 3}) {
    for (const int group : {0, 2}) {
      if (zero == 0 && group > 0) continue;
      parallelarium::Setup setup = default_setup();
      setup.mesh = {4, 1, 2, 1, 1};
      setup.model.tied = tied;
      setup.microbatches = 4;
      setup.schedule = schedule;
      if (setup.schedule == "interleaved") setup.chunks = 4;
      setup.zero = zero;
      setup.zero_group = group;
      const Result<Prediction> prediction = predict(setup, kMachine);
      ASSERT_TRUE(prediction.ok()) << prediction.error().text;
      double sent = 0;
      const Program& program = prediction->program;
      // Chunks of a bucket differ by an element: over the group they are whole.
      int ranks = 0;
      for (std::size_t at = 0; at < program.ranks.size(); ++at) {
        if (program.ranks[at].stage != 0) continue;
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
                                          testing::Bool()));

TEST(ContextTraffic, IsThatOfTheProgram) {
  for (const char* method : {"ring", "all-gather", "ulysses"}) {
    for (const char* recompute : {"none", "full"}) {
      for (const auto& [cp, tp, kv_heads] :
           {std::array{2, 1, 4}, {4, 1, 2}, {2, 2, 2}, {4, 1, 4}}) {
        parallelarium::Setup setup = default_setup();
        setup.mesh = {1, tp, 1, cp, 1};
        setup.model.kv_heads = kv_heads;
        for (const auto& [field, value] : {std::pair{"attention", "fused"},
                                           {"context-parallel", method},
                                           {"recompute", recompute}})
          ASSERT_TRUE(set_field(setup, field, value).ok());
        const Result<Prediction> prediction = predict(setup, kMachine);
        ASSERT_TRUE(prediction.ok()) << prediction.error().text;
        double sent = 0;
        for (const TrafficRow& row : prediction->traffic)
          if (row.purpose == Purpose::kKeysValues) sent += static_cast<double>(row.sent_bytes);
        const double each = value_of(prediction->formulas,
                                     "context traffic sent by a rank, per layer and micro-batch");
        EXPECT_DOUBLE_EQ(sent, each * setup.model.layers * setup.microbatches)
            << method << " " << recompute << " CP " << cp << " TP " << tp;
      }
    }
  }
}

TEST(Remarks, SayWhatThePredictionDoesOtherThanTheSetup) {
  const auto remarks = [](std::initializer_list<std::pair<const char*, const char*>> fields) {
    parallelarium::Setup setup = default_setup();
    for (const auto& [field, value] : fields) EXPECT_TRUE(set_field(setup, field, value).ok());
    const Result<Prediction> prediction = predict(setup, kMachine);
    EXPECT_TRUE(prediction.ok());
    std::string all;
    for (const std::string& remark : remarks_of(*prediction)) all += remark + "\n";
    return all;
  };
  using testing::HasSubstr;
  EXPECT_EQ(remarks({}), "");
  EXPECT_EQ(remarks({{"cp", "2"}, {"attention", "fused"}}), "");
  EXPECT_THAT(remarks({{"cp", "2"}}),
              testing::AllOf(HasSubstr("gathered here before attention, not passed round: unfused"),
                             HasSubstr("predicted, but not run: CP by ring")));
  EXPECT_THAT(remarks({{"zero", "2"}}), HasSubstr("ZeRO-2 has nothing to shard: DP and CP are 1"));
  EXPECT_THAT(remarks({{"dp", "2"}, {"zero", "1"}, {"zero-group", "1"}}),
              HasSubstr("nothing to shard in groups of one"));
  EXPECT_THAT(remarks({{"dp", "2"}, {"zero-group", "2"}}), HasSubstr("does nothing without ZeRO"));
  EXPECT_THAT(remarks({{"zero-prefetch", "2"}}), HasSubstr("does nothing without ZeRO-3"));
  EXPECT_EQ(remarks({{"dp", "2"}, {"zero", "3"}, {"zero-prefetch", "2"}}), "");
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
      EXPECT_DOUBLE_EQ(value_of(formulas_of(setup, kMachine), name), times * P * 4 * 3 / 4) << zero;
    }
  }
}

// DeepSeek-V3's EP 64 of DP 128: each routed expert has two replicas, all else 128.
TEST(RoutedExperts, AreShardedAndSentAmongTheirReplicasOnly) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh = {8, 1, 1, 1, 4};
  setup.zero = 1;
  const std::vector<Formula> formulas = formulas_of(setup, kMachine);
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
    const std::vector<Formula> formulas = formulas_of(setup, kMachine);
    const double one =
        value_of(formulas, "expert traffic sent by a rank, per layer and micro-batch, forward");
    const Result<Prediction> prediction = predict(setup, kMachine);
    ASSERT_TRUE(prediction.ok());
    double sent = 0;
    for (const TrafficRow& row : prediction->traffic)
      if (row.purpose == Purpose::kTokens) sent += static_cast<double>(row.sent_bytes);
    EXPECT_DOUBLE_EQ(sent, one * 2 * 8 * 8) << ep;  // and backward; layers, micro-batches
    EXPECT_EQ(value_of(formulas, "capacity of an expert, per replica and micro-batch"), 40);
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
    for (int rank = 0; rank < 4; ++rank) {
      for (const TrafficRow& row : expected_traffic(*prediction, rank)) {
        if (row.purpose != Purpose::kTokens) continue;
        const std::int64_t both = routed.sent_bytes(rank) + routed.received_bytes(rank);
        EXPECT_EQ(row.sent_bytes, both * 2 * 8 * 8) << skew << " " << rank;
        EXPECT_EQ(row.received_bytes, both * 2 * 8 * 8) << skew << " " << rank;
      }
    }
  }
}

TEST(Traffic, StandsOnlyWhereItsAxisDoes) {
  parallelarium::Setup setup = default_setup();
  setup.mesh = {1, 1, 1, 1, 1};
  for (const Formula& formula : formulas_of(setup, kMachine))
    EXPECT_EQ(formula.name.find("traffic"), std::string::npos) << formula.name;
  setup.mesh = {2, 2, 2, 1, 1};
  const std::vector<Formula> formulas = formulas_of(setup, kMachine);
  // 8 micro-batches of 128 tokens of 64 floats.
  EXPECT_DOUBLE_EQ(value_of(formulas, "pipeline traffic of one boundary, one direction, per step"),
                   8 * 128 * 64 * 4);
  // Four all-reduces of s b h, each 2 (t-1)/t.
  EXPECT_DOUBLE_EQ(value_of(formulas, "tensor traffic sent by a rank, per layer and micro-batch"),
                   4 * 2 * 0.5 * 128 * 64 * 4);
}

// A formula must not say that it differs in what it is counted for.
TEST(Activations, NameOnlyWhatDiffers) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("megatron-22b");
  setup.precision = precision_recipes().front();
  for (const bool wide : {false, true}) {
    for (const bool dropout : {false, true}) {
      setup.dropout = dropout ? 0.1 : 0;
      for (const Precision& recipe : precision_recipes())
        if (recipe.name == (wide ? "fp32" : "mixed-16")) setup.precision = recipe;
      const std::vector<Formula> formulas = formulas_of(setup, kMachine);
      const auto found = std::find_if(formulas.begin(), formulas.end(), [](const Formula& f) {
        return f.name == "activations of one layer and micro-batch";
      });
      ASSERT_NE(found, formulas.end());
      EXPECT_EQ(found->note.find("fp32") != std::string::npos, wide) << found->note;
      EXPECT_EQ(found->note.find("16-bit") != std::string::npos, wide) << found->note;
      EXPECT_EQ(found->note.find("dropout") != std::string::npos, !dropout) << found->note;
      EXPECT_EQ(found->note.empty(), !wide && dropout);
    }
  }
}

TEST(EveryFormula, HasASourceAndFiniteNumbersPutIn) {
  for (const std::string& name : model_names()) {
    for (const char* schedule : {"naive", "gpipe", "1f1b", "zb-h1", "dualpipe"}) {
      for (const Recompute recompute :
           {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
        parallelarium::Setup setup = default_setup();
        setup.model = *find_model(name);
        setup.mesh = {2, 4, 1, 1, 1};
        setup.schedule = schedule;
        setup.recompute = recompute;
        setup.zero = 2;
        for (const Formula& formula : formulas_of(setup, kMachine)) {
          EXPECT_FALSE(formula.source.empty()) << formula.name;
          EXPECT_FALSE(formula.expression.empty()) << formula.name;
          EXPECT_FALSE(formula.values.empty()) << formula.name;
          EXPECT_TRUE(std::isfinite(formula.value)) << formula.name;
          EXPECT_GE(formula.value, 0) << formula.name;
          EXPECT_TRUE(formula.unit == "1" || formula.unit == "bytes" || formula.unit == "seconds" ||
                      formula.unit == "flops")
              << formula.unit;
        }
      }
    }
  }
}

TEST(StatesOfEveryRecipe, NameTheirPaperOrProgram) {
  for (const Precision& recipe : precision_recipes()) {
    parallelarium::Setup setup = default_setup();
    setup.precision = recipe;
    const std::vector<Formula> formulas = formulas_of(setup, kMachine);
    const auto states = std::find_if(formulas.begin(), formulas.end(), [](const Formula& formula) {
      return formula.name == "model states per parameter";
    });
    ASSERT_NE(states, formulas.end());
    EXPECT_TRUE(states->source.find("arXiv") != std::string::npos ||
                states->source.find("Megatron-LM, docs") != std::string::npos)
        << recipe.name << ": " << states->source;
  }
}

TEST(KorthikantiFormula, SaysWhyOursDiffers) {
  const parallelarium::Setup setup = default_setup();
  for (const Formula& formula : formulas_of(setup, kMachine)) {
    if (formula.name != "activations of one layer and micro-batch") continue;
    EXPECT_NE(formula.note.find("fp32"), std::string::npos);
    EXPECT_NE(formula.note.find("no dropout"), std::string::npos);
    return;
  }
  FAIL() << "the formula is missing";
}

}  // namespace
}  // namespace parallelarium
