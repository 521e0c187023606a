// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>

#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"
#include "tests/data/published.h"
#include "tests/predict/value_of.h"

namespace parallelarium {
namespace {

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

// Percent of the peak that our A100 is described by.
class PercentOfPeak : public testing::TestWithParam<PublishedRow> {};
TEST_P(PercentOfPeak, IsOfThePublishedMachine) {
  const PublishedRow& row = GetParam();
  const Machine a100 = *find_machine("dgx-a100-80g");
  EXPECT_NEAR(100 * row.input("tflops") * 1e12 / a100.half_flops_per_second.value, row.value,
              row.bound);
}
INSTANTIATE_TEST_SUITE_P(Narayanan, PercentOfPeak, testing::ValuesIn(published("megatron_peak")));

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
  for (const char* schedule :
       {"interleaved", "zb-h1", "zb-h2", "zb-1p", "zb-2p", "zb-v", "dualpipe", "dualpipe-v"}) {
    for (const int p : {1, 2, 3, 4, 8}) {
      for (const int m : {2, 3, 4, 8, 16, 24, 32}) {
        parallelarium::Setup setup = default_setup();
        setup.model.layers = 24;
        setup.schedule = schedule;
        setup.chunks = std::string(schedule) == "interleaved" ? 3 : 1;
        setup.mesh.pp = p;
        setup.microbatches = m;
        const auto order = make_order(setup.schedule, p, m, setup.chunks);
        const std::vector<Formula> formulas = formulas_of(setup, kMachine);
        const auto has_form = [&] {
          return std::any_of(formulas.begin(), formulas.end(), [](const Formula& f) {
            return f.name.text == "bubble over ideal time";
          });
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

TEST(ControlledMemory, HoldsWhatTheFormulasSay) {
  for (const char* schedule : {"v-half", "v-min"}) {
    for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}) {
      for (const int m : {1, 2, 3, 5, 8, 16, 48}) {
        parallelarium::Setup setup = default_setup();
        setup.model.layers = 2 * p;
        setup.schedule = schedule;
        setup.mesh.pp = p;
        setup.microbatches = m;
        EXPECT_EQ(value_of(formulas_of(setup, kMachine), "micro-batches held by the first stage"),
                  time_order(*make_order(setup), Durations{}).peak_in_flight[0])
            << schedule << " " << p << " " << m;
      }
    }
  }
}

// The papers' figures, from the formulas that a prediction shows.
class ShownFirstStage : public testing::TestWithParam<PublishedRow> {};
TEST_P(ShownFirstStage, IsThePublishedOne) {
  const PublishedRow& row = GetParam();
  parallelarium::Setup setup = setup_of(row);
  setup.mesh.pp = row.whole("pp");
  setup.mesh.tp = row.whole("tp");
  setup.micro_batch = row.whole("micro_batch");
  setup.chunks = row.whole("chunks");
  setup.schedule = setup.chunks > 1 ? "interleaved" : "1f1b";
  setup.microbatches = 4 * setup.mesh.pp;
  setup.sequence_parallel = row.inputs.at("sp_selective").get<bool>();
  if (setup.sequence_parallel) setup.recompute = Recompute::kSelective;
  setup.precision = precision_recipes().front();
  setup.dropout = 0.1;
  const std::vector<Formula> formulas = formulas_of(setup, kMachine);
  EXPECT_NEAR(value_of(formulas, "layers' activations held by the first stage") / (1 << 30),
              row.value, row.bound);
}
INSTANTIATE_TEST_SUITE_P(Korthikanti, ShownFirstStage,
                         testing::ValuesIn(published("first_stage_activations")));

// 80 GB, N 8, mixed precision: 5 B parameters without ZeRO, 40 B with ZeRO 3.
TEST(ShownStates, SayWhatFillsADevice) {
  parallelarium::Setup setup = default_setup();
  setup.mesh = {8, 1, 1, 1, 1};
  setup.precision = precision_recipes().front();
  const Machine a100 = *find_machine("dgx-a100-80g");
  const double memory = a100.memory_bytes.value;
  for (const auto& [zero, bytes] : {std::pair{0, 16.0}, {1, 5.5}, {2, 3.75}, {3, 2.0}}) {
    setup.zero = zero;
    EXPECT_NEAR(
        value_of(formulas_of(setup, a100), "parameters of a rank whose model states fill a device"),
        memory / bytes, 1)
        << zero;
  }
  const double P = static_cast<double>(count_parameters(setup.model).total);
  EXPECT_NEAR(value_of(formulas_of(setup, a100), "model states, DeepSpeed's ZeRO-3 estimator"),
              18 * P / 8 + 4 * 49'984.0, 1);
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
        return f.name.text == "activations of one layer and micro-batch";
      });
      ASSERT_NE(found, formulas.end());
      EXPECT_EQ(found->note.text.find("fp32") != std::string::npos, wide) << found->note.text;
      EXPECT_EQ(found->note.text.find("16-bit") != std::string::npos, wide) << found->note.text;
      EXPECT_EQ(found->note.text.find("dropout") != std::string::npos, !dropout)
          << found->note.text;
      EXPECT_EQ(found->note.text.find("norms' statistics, 16 s b more") != std::string::npos,
                !wide && dropout)
          << found->note.text;
    }
  }
}

// What "3.322·10⁹" says.
double read_power(const std::string& text) {
  const std::size_t at = text.find("·10");
  if (at == std::string::npos) return std::stod(text);
  const std::string digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string raised = text.substr(at + std::string("·10").size()), plain;
  if (raised.rfind("⁻", 0) == 0) plain = "-", raised = raised.substr(std::string("⁻").size());
  while (!raised.empty())
    for (int digit = 0; digit <= 10; ++digit) {
      if (digit == 10) return NAN;
      if (raised.rfind(digits[digit], 0) != 0) continue;
      plain += std::to_string(digit);
      raised = raised.substr(digits[digit].size());
      break;
    }
  return std::stod(text.substr(0, at)) * std::pow(10, std::stoi(plain));
}

TEST(LargeNumbers, StandAsPowersOfTenWhichGiveTheResult) {
  for (const char* model : {"gpt-tiny", "llama3-8b", "gpt3-175b"}) {
    parallelarium::Setup setup = default_setup();
    setup.model = *find_model(model);
    setup.mesh = {2, 4, 1, 1, 1};
    bool peak = false, slots = false;
    for (const Formula& formula : formulas_of(setup, kMachine)) {
      EXPECT_FALSE(std::regex_search(formula.values, std::regex("[0-9]e[+-]?[0-9]")))
          << formula.values;
      std::smatch parts;
      if (std::regex_match(formula.values, parts, std::regex("(\\S+) / \\((\\d+) · (\\S+)\\)")) &&
          formula.name.id == "time.peak") {
        peak = true;
        EXPECT_NEAR(
            read_power(parts[1]) / (std::stod(parts[2]) * read_power(parts[3])) / formula.value, 1,
            1e-3)
            << formula.values;
      }
      if (std::regex_match(formula.values, parts,
                           std::regex("\\((\\d+) \\+ (\\d+) − 1\\) · (\\S+)")) &&
          formula.name.id == "time.without-communication") {
        slots = true;
        EXPECT_NEAR(
            (std::stod(parts[1]) + std::stod(parts[2]) - 1) * read_power(parts[3]) / formula.value,
            1, 1e-3)
            << formula.values;
      }
    }
    EXPECT_TRUE(peak && slots) << model;
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
          EXPECT_FALSE(formula.source.text.empty()) << formula.name.text;
          EXPECT_FALSE(formula.expression.text.empty()) << formula.name.text;
          EXPECT_FALSE(formula.values.empty()) << formula.name.text;
          EXPECT_TRUE(std::isfinite(formula.value)) << formula.name.text;
          EXPECT_GE(formula.value, 0) << formula.name.text;
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
      return formula.name.text == "model states per parameter";
    });
    ASSERT_NE(states, formulas.end());
    const Message& source = states->source;
    ASSERT_FALSE(source.arguments.empty()) << source.text;
    EXPECT_TRUE((source.id == "cited-section" &&
                 source.arguments[0].text.find("arXiv") != std::string::npos) ||
                (source.id == "cited-documentation" && source.arguments[0].text == "Megatron-LM"))
        << recipe.name << ": " << source.text;
  }
}

TEST(KorthikantiFormula, SaysWhyOursDiffers) {
  const parallelarium::Setup setup = default_setup();
  for (const Formula& formula : formulas_of(setup, kMachine)) {
    if (formula.name.text != "activations of one layer and micro-batch") continue;
    EXPECT_NE(formula.note.text.find("fp32"), std::string::npos);
    EXPECT_NE(formula.note.text.find("no dropout"), std::string::npos);
    return;
  }
  FAIL() << "the formula is missing";
}

}  // namespace
}  // namespace parallelarium
