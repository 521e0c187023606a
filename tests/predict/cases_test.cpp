// SPDX-License-Identifier: Apache-2.0
// Predictions beside published training runs: within the errors that the project promises, with one
// set of rates for a machine.
#include "engine/predict/cases/cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

#include "engine/plan/text/units.h"
#include "engine/predict/memory.h"
#include "engine/predict/predict.h"
#include "engine/predict/repeats/step_prediction.h"

namespace parallelarium {
namespace {

struct Goal {
  const char* name;    // of the case
  const char* metric;  // of its figures
  const char* rows;    // those whose names hold this; "" for all
  double mean, worst;
};

// Each row is predicted once, however many goals it has.
const std::vector<double>& predicted(const Case& of, const CaseRow& row) {
  static std::map<std::pair<std::string, std::string>, std::vector<double>> known;
  const auto [entry, fresh] = known.try_emplace({of.name, row.name});
  if (!fresh) return entry->second;
  const Result<CasePrediction> made = predict_case(row);
  EXPECT_TRUE(made.ok()) << of.name << ", " << row.name << ": " << made.error().text;
  if (made) entry->second = made->values;
  EXPECT_EQ(entry->second.size(), row.figures.size());
  entry->second.resize(row.figures.size());
  return entry->second;
}

class Cases : public testing::TestWithParam<Goal> {};

TEST_P(Cases, ArePredictedWithinTheirGoals) {
  const Goal& goal = GetParam();
  const Result<Case> found = find_case(goal.name);
  ASSERT_TRUE(found.ok()) << found.error().text;
  double sum = 0;
  int figures = 0;
  for (const CaseRow& row : found->rows) {
    if (!row.impossible.empty() || row.name.find(goal.rows) == std::string::npos) continue;
    const std::vector<double>& values = predicted(*found, row);
    for (std::size_t at = 0; at < row.figures.size(); ++at) {
      if (row.figures[at].metric != goal.metric) continue;
      const double error = std::abs(values[at] / row.figures[at].published - 1);
      EXPECT_LE(error, goal.worst) << row.name;
      sum += error;
      ++figures;
    }
  }
  ASSERT_GT(figures, 0);
  EXPECT_LE(sum / figures, goal.mean);
}

// "Author et al. YEAR, Table N" of papers; of what an organisation publishes without authors, its
// name.
TEST(Sources, BeginWithAuthorYearAndTable) {
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok());
  const std::regex begins(
      "[A-Z][A-Za-z -]*( et al\\.)? 20[0-9][0-9], (Table|Figure|section) .*|"
      "torchtitan 20[0-9][0-9], Table .*");
  for (const Case& each : *cases) {
    EXPECT_TRUE(std::regex_match(each.source, begins)) << each.name << ": " << each.source;
    if (each.url.find("arxiv.org") != std::string::npos) {
      EXPECT_NE(each.source.find(" et al. "), std::string::npos) << each.source;
    }
  }
}

// Rows that miss a goal stand in a goal of their own, with the reason, so that they get no worse.
INSTANTIATE_TEST_SUITE_P(
    Published, Cases,
    testing::Values(
        Goal{"korthikanti-2022-table-5", "step_seconds", "", 0.025, 0.06},
        Goal{"korthikanti-2022-figure-1", "first_stage_activations_gib", "", 0.004, 0.014},
        Goal{"korthikanti-2022-figure-7", "layer_activations_mib", "", 0.005, 0.012},
        Goal{"korthikanti-2022-table-4", "layer_forward_ms", "", 0.04, 0.05},
        Goal{"korthikanti-2022-table-4", "layer_backward_ms", "", 0.03, 0.04},
        Goal{"narayanan-2021-table-1", "step_seconds", "", 0.04, 0.10},
        Goal{"narayanan-2021-table-2", "step_seconds", "", 0.06, 0.095},
        Goal{"narayanan-2021-table-2", "step_seconds", "PTD", 0.06, 0.07},
        Goal{"narayanan-2021-table-2", "step_seconds", "ZeRO-3", 0.05, 0.095},
        Goal{"qi-2023-table-4", "peak_gib", "", 0.035, 0.04},
        // A rank's work is that of the paper's table 9 within 5 %, but a micro-batch more takes 8 %
        // more than that work in the paper, 17 % where it is interleaved.
        Goal{"qi-2023-table-4", "tokens_per_second_per_rank", "", 0.06, 0.115},
        Goal{"qi-2023-table-4", "tokens_per_second_per_rank", "1F1B, ", 0.02, 0.035},
        Goal{"qi-2023-table-4", "tokens_per_second_per_rank", "ZB-2p", 0.025, 0.055},
        Goal{"qi-2023-table-4", "tokens_per_second_per_rank", "ZB-1p", 0.08, 0.095},
        Goal{"qi-2023-table-4", "tokens_per_second_per_rank", "1F1B-I", 0.095, 0.115},
        Goal{"simumax-2026-b200", "framework_peak_gib", "", 0.035, 0.035},
        // 6 and 13.5 % are promised: by 13.5 % SimuMax itself misses a row of these.
        Goal{"simumax-2026-b200", "step_seconds", "", 0.04, 0.115},
        Goal{"deepseek-v3-2024", "step_seconds", "", 0.15, 0.15},
        // Megatron-Bridge in BF16 and FP8. Rows of FSDP keep on the GPU what their recipes move to
        // the host; those of DeepSeek-V3 over several nodes overlap exchanges of tokens there.
        Goal{"megatron-bridge-25.09", "tokens_per_second_per_rank", "LLAMA", 0.118, 0.2},
        Goal{"megatron-bridge-25.09", "tokens_per_second_per_rank", "tokens dropped", 0.2, 0.345},
        Goal{"megatron-bridge-25.11", "tokens_per_second_per_rank", "DeepSeekV3 (w/o MTP)", 0.05,
             0.115},
        Goal{"megatron-bridge-25.11", "tokens_per_second_per_rank", "BF16", 0.16, 0.655},
        Goal{"megatron-bridge-25.11", "tokens_per_second_per_rank", "LLAMA3_8B", 0.0435, 0.105},
        Goal{"megatron-bridge-25.11", "tokens_per_second_per_rank", "LLAMA3_70B", 0.105, 0.19},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "LLAMA3_70B", 0.05, 0.13},
        Goal{"megatron-bridge-25.11", "tokens_per_second_per_rank", "LLAMA3.1_405B", 0.075, 0.17},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "LLAMA3.1_405B", 0.065,
             0.105},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "DeepSeekV3, DGX-GB", 0.03,
             0.055},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "DeepSeekV3", 0.165, 0.4},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "Qwen3_30B", 0.15, 0.41},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "Qwen3_235B_a22B, DGX-GB",
             0.025, 0.03},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "Qwen3_235B_a22B, DGX-B",
             0.165, 0.29},
        // Whole experts beside TP 2. The later recipes hide exchanges behind another micro-batch.
        Goal{"megatron-bridge-25.09", "tokens_per_second_per_rank", "DeepSeekV3, DGX-H100", 0.07,
             0.07},
        Goal{"megatron-bridge-25.11", "tokens_per_second_per_rank", "Qwen3_235B_a22B, DGX-H100",
             0.24, 0.24},
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "Qwen3_235B_a22B, DGX-H100",
             0.315, 0.315},
        // Its gathers of experts take the cards that exchanges of tokens take, which nothing
        // counts.
        Goal{"megatron-bridge-26.04.01", "tokens_per_second_per_rank", "GPT OSS", 0.285, 0.44},
        Goal{"liu-2025-table-4", "mfu_causal_percent", "FSDP + EP", 0.045, 0.115},
        Goal{"liu-2025-table-3", "mfu_causal_percent", "MCore", 0.11, 0.12},
        Goal{"liu-2025-table-4", "mfu_causal_percent", "MCore,", 0.115, 0.24},
        Goal{"liu-2025-table-4", "mfu_causal_percent", "MCore with folding", 0.095, 0.22},
        // With CP its attention is a kernel for each block and adds up results between them.
        Goal{"torchtitan-2024-table-1", "tokens_per_second_per_rank", "", 0.036, 0.065},
        Goal{"torchtitan-2024-table-2", "tokens_per_second_per_rank", "", 0.11, 0.16},
        Goal{"torchtitan-2024-table-3", "tokens_per_second_per_rank", "", 0.066, 0.092},
        Goal{"torchtitan-2025-async-tp", "tokens_per_second_per_rank", "70B", 0.03, 0.062},
        Goal{"torchtitan-2025-async-tp", "tokens_per_second_per_rank", "8B", 0.135, 0.172},
        Goal{"torchtitan-2024-table-4", "tokens_per_second_per_rank", "", 0.036, 0.06},
        Goal{"torchtitan-2024-table-5", "tokens_per_second_per_rank", "", 0.069, 0.079},
        Goal{"torchtitan-2024-table-6", "tokens_per_second_per_rank", "", 0.104, 0.192},
        // What PyTorch reserves. A tenth is not explained of plain TP (Table 4), of 1F1B in Table
        // 5, which Table 6 has with equal bytes and less memory, and of CP 8.
        Goal{"torchtitan-2024-table-1", "framework_peak_gib", "compiled", 0.004, 0.006},
        Goal{"torchtitan-2024-table-1", "framework_peak_gib", "", 0.009, 0.019},
        Goal{"torchtitan-2024-table-2", "framework_peak_gib", "", 0.004, 0.007},
        Goal{"torchtitan-2024-table-3", "framework_peak_gib", "", 0.012, 0.0135},
        Goal{"torchtitan-2024-table-4", "framework_peak_gib", "asynchronous", 0.0245, 0.0245},
        Goal{"torchtitan-2024-table-4", "framework_peak_gib", "", 0.057, 0.09},
        Goal{"torchtitan-2024-table-5", "framework_peak_gib", "Interleaved", 0.0145, 0.0145},
        Goal{"torchtitan-2024-table-5", "framework_peak_gib", "", 0.051, 0.0875},
        Goal{"torchtitan-2024-table-6", "framework_peak_gib", "CP 1, ", 0.002, 0.002},
        Goal{"torchtitan-2024-table-6", "framework_peak_gib", "CP 2, ", 0.011, 0.011},
        Goal{"torchtitan-2024-table-6", "framework_peak_gib", "CP 4, ", 0.022, 0.022},
        Goal{"torchtitan-2024-table-6", "framework_peak_gib", "", 0.035, 0.1045},
        Goal{"trainy-2025-h200", "framework_peak_gib", "", 0.013, 0.013},
        Goal{"trainy-2025-h200", "tokens_per_second_per_rank", "", 0.243, 0.254},
        // A point of utilisation of some 40: its stages' messages and its gradients share cards.
        Goal{"llama-3-2024-table-4", "mfu_causal_percent", "", 0.0125, 0.034}));

// It ran on devices of 80 GB (section 3.1), and would not have without what section 3.3.3 says.
TEST(Cases, DeepSeekV3FitsAsItWasPublished) {
  const Result<Case> found = find_case("deepseek-v3-2024");
  ASSERT_TRUE(found.ok()) << found.error().text;
  const CaseRow& row = found->rows.front();
  const auto fits = [&](parallelarium::Setup setup) {
    const Result<Prediction> prediction = predict(setup, row.machine);
    EXPECT_TRUE(prediction.ok()) << prediction.error().text;
    return prediction->fits();
  };
  EXPECT_TRUE(fits(row.setup));
  parallelarium::Setup setup = row.setup;
  setup.kept = KeptType::kSame;
  EXPECT_FALSE(fits(setup));
}

// It ran on devices of 80 GB (section 3.3.1), and would not have with all inputs of all ops.
TEST(Cases, Llama3FitsAsItWasPublished) {
  const Result<Case> found = find_case("llama-3-2024-table-4");
  ASSERT_TRUE(found.ok()) << found.error().text;
  EXPECT_EQ(found->rows.size(), 3u);
  for (const CaseRow& row : found->rows) {
    EXPECT_FALSE(predict_case(row)->too_large.has_value()) << row.name;
    CaseRow keeping = row;
    keeping.setup.recompute = Recompute::kNone;
    EXPECT_TRUE(predict_case(keeping)->too_large.has_value()) << row.name;
  }
}

// What a source says stands in its file once: every row has figures that are known metrics.
TEST(Cases, SayTheirSourcesAndFigures) {
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok()) << cases.error().text;
  EXPECT_GE(cases->size(), 20u);
  for (const Case& one : *cases) {
    EXPECT_NE(one.source.find(" 20"), std::string::npos) << one.name;
    EXPECT_FALSE(one.rows.empty());
    const bool own = one.source.starts_with("Parallelarium ");  // this program's own runs
    EXPECT_EQ(one.url.empty(), own) << one.name;
    for (const CaseRow& row : one.rows) {
      EXPECT_FALSE(row.figures.empty()) << row.name;
      for (const CaseFigure& figure : row.figures) {
        EXPECT_EQ(metric_of(figure).name, figure.metric) << row.name;
        EXPECT_GT(figure.published, 0) << row.name;
      }
    }
  }
  EXPECT_EQ(find_case("nothing").error().id, "case-unknown");
}

// Every row that is not impossible is predicted.
TEST(Cases, AreAllPredicted) {
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok());
  for (const Case& one : *cases)
    for (const CaseRow& row : one.rows) {
      if (!row.impossible.empty()) continue;
      for (const double value : predicted(one, row))
        EXPECT_GT(value, 0) << one.name << ", " << row.name;
    }
}

// Rows that differ in what their prediction follows from are not taken for each other.
TEST(Cases, AsInASearchAreOfTheirOwnSetupMachineAndFigures) {
  const CaseRow row = find_case("llama-3-2024-table-4")->rows.front();
  const auto predicted = [](const CaseRow& of) {
    return predict_case_as_in_search(of)->values.front();
  };
  const double once = predicted(row);
  EXPECT_EQ(once, predict_case(row)->values.front());
  EXPECT_EQ(predicted(row), once);
  CaseRow longer = row, slower = row, of_time = row;
  longer.setup.microbatches *= 2;
  slower.machine.inter_node.bytes_per_second.value /= 4;
  of_time.figures = {{"step_seconds", 1}};
  for (const CaseRow& other : {longer, slower, of_time}) {
    EXPECT_NE(predicted(other), once);
    EXPECT_EQ(predicted(other), predict_case(other)->values.front());
  }
}

// Of every metric a row with few micro-batches and one with many: the figures of whole stages are
// those of the pieces that they consist of.
TEST(Cases, HaveTheFiguresOfTheirPieces) {
  std::map<std::string, std::pair<CaseRow, CaseRow>> rows;
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok());
  for (const Case& one : *cases)
    for (const CaseRow& row : one.rows) {
      if (!row.impossible.empty() || row.setup.mesh.ranks() > 64) continue;
      for (const CaseFigure& figure : row.figures) {
        auto& [few, many] = rows.try_emplace(figure.metric, row, row).first->second;
        if (row.setup.microbatches < few.setup.microbatches) few = row;
        if (row.setup.microbatches > many.setup.microbatches) many = row;
      }
    }
  int compared = 0;
  for (const auto& [metric, pair] : rows)
    for (CaseRow row : {pair.first, pair.second}) {
      SCOPED_TRACE(metric + " of " + row.name);
      const Result<Prediction> pieces = predict(row.setup, row.machine);
      ASSERT_TRUE(pieces.ok()) << pieces.error().text;
      const auto expect = [&](const char* name, double value) {
        row.figures = {{name, 1}};
        EXPECT_NEAR(predict_case(row)->values.front(), value, 1e-9 * value) << name;
        ++compared;
      };
      expect("step_seconds", pieces->step.seconds);
      expect("mfu_causal_percent", 100 * pieces->step.mfu_causal);
      expect("tokens_per_second_per_rank", pieces->step.tokens_per_second / row.setup.mesh.ranks());
      expect("peak_gib", static_cast<double>(pieces->needed_bytes) / (1 << 30));
    }
  EXPECT_GE(compared, 40);
}

// One placeholder for each shape of a dense layer's weights and one for the head, by hand, and a
// workspace; none where gradients are not added to fp32 ones.
TEST(Framework, HoldsPlaceholdersOfWeights) {
  const Machine machine = *find_machine("dgx-b200");
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.mesh = Mesh();
  setup.mesh.tp = 2;
  setup.mesh.pp = 2;
  setup.precision = *find_precision("mixed-16-main-grads");
  const std::int64_t C = 4096, qkv = (4096 + 2 * 1024) / 2, F = 14336 / 2;
  const std::int64_t layer = 2 * (qkv * C + C / 2 * C + 2 * F * C + F * C);
  const std::int64_t workspace = 32 << 20, head = 2 * C * 128256 / 2;
  EXPECT_EQ(framework_bytes_of(setup, machine, 0), workspace + layer);
  EXPECT_EQ(framework_bytes_of(setup, machine, 1), workspace + layer + head);
  setup.precision = *find_precision("mixed-16");
  EXPECT_EQ(framework_bytes_of(setup, machine, 1), workspace);
  EXPECT_EQ(framework_bytes_of(setup, *find_machine("local"), 1), 0);
}

// FSDP's root leaves the table gathered where the loss is PyTorch's; no placeholders then. A tied
// head on the same rank is that table.
TEST(Framework, LeavesTheTableOfFsdpGathered) {
  const Machine machine = *find_machine("dgx-h100");
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.model.vocab = 128'257;  // which TP does not divide
  setup.mesh = Mesh();
  setup.mesh.dp = 4;
  setup.mesh.tp = 2;
  setup.mesh.pp = 2;
  setup.zero = 3;
  setup.precision = *find_precision("mixed-16-main-grads");
  const std::int64_t workspace = 32 << 20, table = std::int64_t{2} * 64'129 * 4096;
  for (const LossCopies copies : {LossCopies::kGradient, LossCopies::kFp32}) {
    setup.loss_copies = copies;
    EXPECT_EQ(framework_bytes_of(setup, machine, 0), workspace + table);
    EXPECT_EQ(framework_bytes_of(setup, machine, 1), workspace);
  }
  parallelarium::Setup tied = setup, whole = setup, alone = setup;
  tied.mesh.pp = 1;
  tied.model.tied = true;
  EXPECT_EQ(framework_bytes_of(tied, machine, 0), workspace);
  whole.zero = 2;
  EXPECT_EQ(framework_bytes_of(whole, machine, 0), workspace);
  alone.mesh.dp = 1;
  EXPECT_EQ(framework_bytes_of(alone, machine, 0), workspace);
}

// The three runs of Llama 3 need more than a device has; their source frees what it does not name.
TEST(CaseRows, SayWhatIsPredictedNotToFit) {
  int too_large = 0, fitting = 0;
  for (const char* name : {"megatron-bridge-25.09", "korthikanti-2022-table-5"}) {
    const Result<Case> of = find_case(name);
    ASSERT_TRUE(of.ok());
    for (const CaseRow& row : of->rows) {
      const Result<StepPrediction> whole = predict_step(row.setup, row.machine);
      ASSERT_TRUE(whole.ok()) << row.name;
      const std::optional<Message> said = predict_case(row)->too_large;
      ASSERT_EQ(said.has_value(), !whole->prediction.fits()) << row.name;
      if (said) {
        EXPECT_NE(said->text.find(bytes_text(double(whole->prediction.needed_bytes))),
                  std::string::npos);
      }
      ++(said ? too_large : fitting);
    }
  }
  EXPECT_GE(too_large, 3);
  EXPECT_GT(fitting, 0);
}

}  // namespace
}  // namespace parallelarium
