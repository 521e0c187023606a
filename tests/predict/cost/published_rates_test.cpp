// SPDX-License-Identifier: Apache-2.0
// Rates of machines that are not here: cards of a node, what attention does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/setup/setup.h"
#include "engine/predict/cases/fit.h"
#include "engine/predict/cost/pieces/work_seconds.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

Setup setup_with(const char* machine,
                 const std::vector<std::pair<std::string, std::string>>& fields) {
  Setup setup = default_setup();
  setup.mesh = Mesh();
  setup.machine = machine;
  setup.precision = *find_precision("mixed-16");
  setup.attention = Attention::kFused;
  EXPECT_TRUE(set_fields(setup, fields).ok());
  return setup;
}

double step_of(const Setup& setup, const Machine& machine) {
  const Result<Prediction> prediction = predict(setup, machine);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  return prediction->step.seconds;
}

// Milliseconds of causal forwards of 64 heads, 8 of them of keys, that ai-dynamo/aiconfigurator
// 095f58a measured: of heads of 64 they take far more than half of what heads of 128 do.
TEST(AttentionOfNarrowHeads, TakesWhatWasMeasured) {
  struct Call {
    const char* machine;
    std::int64_t B, T, D;
    double milliseconds;
  };
  for (const Call& call :
       {Call{"dgx-h100", 4, 4096, 64, 1.29282}, Call{"dgx-h100", 4, 4096, 128, 1.90219},
        Call{"dgx-h100", 1, 8192, 64, 1.13521}, Call{"dgx-b200", 4, 4096, 64, 0.89955},
        Call{"dgx-b200", 1, 8192, 64, 0.80429}}) {
    Machine machine = *find_machine(call.machine);
    machine.sustained.value = 1;  // short calls
    Shape shape;
    shape.B = call.B, shape.T = shape.sequence = call.T, shape.D = call.D;
    shape.H = 64, shape.K = 8, shape.C = 64 * call.D;
    shape.fused = true;
    Work work{Piece::kAttention, Phase::kForward, call.T, call.T, call.D};
    work.flops = 4.0 * static_cast<double>(call.B * shape.H * call.T * call.T * call.D);
    const double seconds = work_seconds(work, shape, machine, DataType::kBf16);
    EXPECT_NEAR(1000 * seconds / call.milliseconds, 1, 0.15) << call.machine << " " << call.D;
    // What the table of wider heads would say.
    machine.narrow_attention = {};
    if (call.D == 64) {
      EXPECT_LT(1000 * work_seconds(work, shape, machine, DataType::kBf16),
                0.85 * call.milliseconds);
    }
    // Between both sizes no head makes a jump.
    machine = *find_machine(call.machine);
    double before = 0;
    for (shape.D = 32; shape.D <= 160; ++shape.D) {
      work.flops = 4.0 * static_cast<double>(call.B * shape.H * call.T * call.T * shape.D);
      const double now = work_seconds(work, shape, machine, DataType::kBf16);
      if (before > 0) {
        EXPECT_NEAR(now / before, 1, 0.05) << shape.D;
      }
      before = now;
    }
  }
}

// Every device of a node has a card: a group of whole nodes leaves each by all of them.
TEST(Cards, OfANodeAllCarryAGroupThatHasAllOfIt) {
  Machine machine = *find_machine("dgx-b200");
  machine.launch_seconds.value = machine.inter_node.latency_seconds.value =
      machine.intra_node.latency_seconds.value = 0;
  machine.matmul_efficiency.value = 1;
  machine.products = {};
  machine.half_flops_per_second.value = 1e25;  // so that communication is all there is
  machine.memory_bytes_per_second.value = 1e25;
  const parallelarium::Setup whole = setup_with("dgx-b200", {{"model", "llama3-8b"}, {"dp", "32"}});
  parallelarium::Setup one =
      setup_with("dgx-b200", {{"model", "llama3-8b"}, {"tp", "8"}, {"dp", "4"}});
  // The same ring over 4 nodes: with 8 ranks on each, and with one.
  const auto gradients = [&](const parallelarium::Setup& setup) {
    const Result<Prediction> prediction = predict(setup, machine);
    double seconds = 0;
    const RankProgram& rank = prediction->program.ranks.front();
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      if (op.kind != OpKind::kCollective || op.lane != Lane::kData ||
          op.purpose != Purpose::kGradients)
        continue;
      const Span& span = prediction->timeline.ranks.front().spans[at];
      seconds += std::chrono::duration<double>(span.end - span.begin).count();
    }
    return seconds;
  };
  const double bytes =
      whole.precision.gradient_bytes * static_cast<double>(count_parameters(whole.model).total);
  const double card =
      machine.inter_node.bytes_per_second.value * machine.inter_node.sustained.value;
  EXPECT_NEAR(gradients(whole) / (2 * bytes * 31 / 32 / (8 * card)), 1, 0.01);
  EXPECT_NEAR(gradients(one) / (2 * bytes / 8 * 3 / 4 / card), 1, 0.02) << "norms are not cut";
  // One ring through the same 32 ranks leaves each node by one card.
  parallelarium::Setup ring = whole;
  ring.collectives = "one-ring";
  EXPECT_NEAR(gradients(ring) / (2 * bytes * 31 / 32 / card), 1, 0.01);
}

// A collective within a node takes what its table says; what a step's links sustain less of their
// bandwidth is added, and a link that somebody changes counts for the bytes.
TEST(CollectivesOfATable, TakeItsTimeAndWhatTheirLinksLack) {
  Machine machine = *find_machine("dgx-h100");
  machine.intra_node.sustained.value = 1;
  const parallelarium::Setup setup =
      setup_with("dgx-h100", {{"model", "llama3-8b"}, {"tp", "8"}, {"microbatches", "2"}});
  const auto first_sum = [&] {
    const Result<Prediction> prediction = predict(setup, machine);
    const CostModel cost(prediction->program, machine, setup);
    for (const Op& op : prediction->program.ranks.front().ops)
      if (op.purpose == Purpose::kActivations && op.kind == OpKind::kCollective)
        return std::pair(cost.seconds(op, 0), 2.0 * static_cast<double>(op.bytes) * 7 / 8);
    return std::pair(0.0, 0.0);
  };
  const auto [seconds, bytes] = first_sum();
  ASSERT_GT(bytes, 0);
  const auto table = std::find_if(
      machine.collective_times.begin(), machine.collective_times.end(),
      [](const auto& times) { return times.collective == "all_reduce" && times.ranks == 8; });
  ASSERT_NE(table, machine.collective_times.end());
  EXPECT_NEAR(seconds, table->at(bytes), 1e-12);
  machine.intra_node.sustained.value = 0.5;
  const double link = machine.intra_node.bytes_per_second.value;
  EXPECT_NEAR(first_sum().first, seconds + bytes / link, 1e-12);
  machine.intra_node = machine.inter_node;
  machine.intra_node.sustained.value = 1;
  EXPECT_NEAR(first_sum().first, seconds + bytes / 50e9 - bytes / link, 1e-12);
}

class Recipes : public testing::TestWithParam<std::string> {};

// The products that pieces are costed by are those that the model needs, no fewer and no more.
TEST_P(Recipes, ExecuteTheFlopsOfTheModel) {
  parallelarium::Setup setup =
      setup_with("dgx-b200", {{"model", GetParam()}, {"microbatches", "2"}});
  if (setup.model.layers > 8) setup.model.layers = 8;
  setup.model.stage_layers.clear();
  const Result<Prediction> prediction = predict(setup, *find_machine("dgx-b200"));
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  const StepFigures& step = prediction->step;
  EXPECT_NEAR(step.hfu / step.mfu, 1, 0.002) << setup.model.title;
  EXPECT_LT(step.mfu_causal, step.mfu);
  EXPECT_LT(step.mfu_6n, step.mfu_causal);
}

INSTANTIATE_TEST_SUITE_P(Models, Recipes, testing::ValuesIn(model_names()), [](const auto& model) {
  std::string name = model.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The table and the head are stages of their own; nothing but the split changes.
TEST(EmptyStages, HoldTheTableAndTheHead) {
  parallelarium::Setup setup = setup_with("dgx-a100-80g", {{"model", "gpt2-124m"}, {"pp", "4"}});
  setup.model.layers = 12;
  const Machine machine = *find_machine("dgx-a100-80g");
  for (const char* schedule : {"gpipe", "1f1b", "zb-h1"}) {
    ASSERT_TRUE(set_fields(setup, {{"schedule", schedule}, {"stage-layers", "0,6,6,0"}}).ok());
    const Result<Prediction> prediction = predict(setup, machine);
    ASSERT_TRUE(prediction.ok()) << schedule << ": " << prediction.error().text;
    EXPECT_NEAR(prediction->step.hfu / prediction->step.mfu, 1, 0.002) << schedule;
    std::int64_t parameters = 0;
    for (const RankProgram& rank : prediction->program.ranks)
      for (const ParameterSlice& slice : rank.parameters)
        parameters += slice.shared_copy ? 0 : slice.count;
    EXPECT_EQ(parameters, count_parameters(setup.model).total) << schedule;
  }
  EXPECT_FALSE(set_fields(setup, {{"stage-layers", "4,0,4,4"}}).ok() && validate(setup).empty())
      << "a stage between them needs a layer";
}

// Each layer more is a quarter more of the forward's FLOPs, and less memory.
TEST(RecomputedLayers, TradeFlopsForMemory) {
  parallelarium::Setup setup =
      setup_with("dgx-a100-80g", {{"model", "gpt2-124m"}, {"recompute", "full"}, {"pp", "2"}});
  const Machine machine = *find_machine("dgx-a100-80g");
  double flops = 0, step_flops = 0;
  std::int64_t memory = 0;
  for (int layers = 1; layers <= 6; ++layers) {
    setup.recompute_layers = layers;
    const Result<Prediction> prediction = predict(setup, machine);
    ASSERT_TRUE(prediction.ok()) << prediction.error().text;
    const double executed = prediction->step.hfu * prediction->step.seconds;
    if (layers > 1) {
      EXPECT_LT(prediction->memory.front().bytes[int(Category::kActivations)], memory);
      if (step_flops > 0) {
        EXPECT_NEAR((executed - flops) / step_flops, 1, 1e-6) << layers;
      }
      step_flops = executed - flops;
    }
    flops = executed;
    memory = prediction->memory.front().bytes[int(Category::kActivations)];
  }
  const std::int64_t all = predict(setup, machine)->needed_bytes;
  setup.recompute_layers = 0;
  EXPECT_EQ(predict(setup, machine)->needed_bytes, all) << "a stage has six layers";
}

// Gradients that wait for the backward's end take the whole of their reduction.
TEST(OverlapOfGradients, HidesTheirReductionBehindTheBackward) {
  parallelarium::Setup setup =
      setup_with("dgx-a100-80g", {{"model", "gpt2-124m"}, {"dp", "8"}, {"micro-batch", "8"}});
  const Machine machine = *find_machine("dgx-a100-80g");
  const double overlapped = step_of(setup, machine);
  setup.overlap_gradients = false;
  EXPECT_GT(step_of(setup, machine), overlapped);
  setup.mesh.dp = 1;
  const double alone = step_of(setup, machine);
  setup.overlap_gradients = true;
  EXPECT_EQ(step_of(setup, machine), alone) << "one replica reduces nothing";
}

// Products decide these steps, which were measured with an error of their own.
TEST(Fit, LeavesSharesAloneThatStepsTellNothingOf) {
  const Machine start = *find_machine("dgx-h100");
  Machine truth = start;
  truth.sustained.value = 0.7;
  std::vector<MeasuredStep> steps;
  double noise = 1.003;
  for (const char* tp : {"1", "4"}) {
    const parallelarium::Setup setup =
        setup_with("dgx-h100", {{"model", "llama3-8b"}, {"tp", tp}, {"dp", "16"}});
    steps.push_back({tp, setup, noise * step_of(setup, truth)});
    noise = 1 / noise;
  }
  const Result<Fit> fit = fit_machine(start, steps);
  ASSERT_TRUE(fit.ok()) << fit.error().text;
  EXPECT_NEAR(fit->machine.sustained.value, 0.7, 0.02);
  EXPECT_NEAR(fit->machine.memory_efficiency.value / start.memory_efficiency.value, 1, 0.1);
  EXPECT_NEAR(fit->machine.inter_node.sustained.value / start.inter_node.sustained.value, 1, 0.1);
}

// Steps that a Machine made are explained by that Machine's shares.
TEST(Fit, FindsTheSharesThatExplainSteps) {
  Machine start = *find_machine("dgx-a100-80g");
  start.sustained.value = start.memory_efficiency.value = start.inter_node.sustained.value = 1;
  Machine truth = start;
  truth.sustained.value = 0.7;
  truth.memory_efficiency.value = 0.6;
  truth.inter_node.sustained.value = 0.5;
  std::vector<MeasuredStep> steps;
  for (const char* model : {"gpt2-124m", "llama3-8b", "gpt3-175b"})
    for (const char* tp : {"1", "4"}) {
      const parallelarium::Setup setup = setup_with(
          "dgx-a100-80g", {{"model", model}, {"tp", tp}, {"dp", "16"}, {"microbatches", "2"}});
      steps.push_back({model, setup, step_of(setup, truth)});
    }
  const Result<Fit> fit = fit_machine(start, steps);
  ASSERT_TRUE(fit.ok()) << fit.error().text;
  EXPECT_LT(fit->worst_error, 0.02);
  EXPECT_NEAR(fit->machine.sustained.value, 0.7, 0.03);
  EXPECT_EQ(text_of(fit->machine.sustained.origin), "fitted (6 measured steps)");
  EXPECT_EQ(own_fit_of(fit->machine), fit->machine.sustained.origin);
  // An older version wrote it otherwise; and a person fits by other means.
  Machine other = start;
  EXPECT_EQ(own_fit_of(other), std::nullopt);
  other.sustained.origin = origin_of("fitted on 3 measured steps");
  EXPECT_EQ(own_fit_of(other), other.sustained.origin);
  for (const char* line :
       {"fitted", "fitted (by hand)", "fitted by hand", "fitted on a paper (3 measured steps)"}) {
    other.sustained.origin = origin_of(line);
    EXPECT_EQ(own_fit_of(other), std::nullopt) << line;
  }
  EXPECT_EQ(fit_machine(start, {}).error().id, "fit-empty");
  // A step that no GPU of this kind could take so long for, or so short.
  for (const double factor : {100.0, 0.01}) {
    MeasuredStep wrong = steps.front();
    wrong.seconds *= factor;
    const Result<Fit> none = fit_machine(start, {wrong});
    ASSERT_FALSE(none.ok()) << factor;
    EXPECT_EQ(none.error().id, "fit-fails");
  }
}

// Each is said where it is so, and not where it is not.
TEST(Unwise, IsSaidOfSettingsThatAreLegal) {
  struct Example {
    std::vector<std::pair<std::string, std::string>> fields;
    const char* said;
  };
  const std::vector<Example> examples = {
      {{{"model", "gpt3-175b"}, {"tp", "16"}}, "reaches over nodes of 8"},
      {{{"model", "gpt2-124m"}, {"tp", "6"}, {"dp", "4"}}, "reaches over nodes of 8"},
      {{{"model", "gpt2-124m"}, {"tp", "4"}}, "pads it to 50688"},
      {{{"model", "llama3-8b"},
        {"pp", "4"},
        {"schedule", "interleaved"},
        {"chunks", "2"},
        {"microbatches", "10"}},
       "no multiple of the 4 stages"},
      {{{"model", "llama3-8b"}, {"recompute", "selective"}}, "fused attention keeps no scores"},
      {{{"model", "llama3-8b"}, {"vocab", "1"}}, "nothing to learn"},
      {{{"model", "llama3-8b"}, {"dp", "8"}, {"nodes", "3"}}, "more than the 1 that 8 ranks need"},
      {{{"model", "mixtral-8x7b"}, {"capacity", "0.1"}}, "at least 90 % of the choices"}};
  const Machine machine = *find_machine("dgx-h100");
  const auto said = [&](const parallelarium::Setup& setup) {
    const Result<Prediction> prediction = predict(setup, machine);
    EXPECT_TRUE(prediction.ok()) << prediction.error().text;
    std::string all;
    for (const Message& remark : unwise(*prediction)) all += remark.text + "\n";
    return all;
  };
  for (const Example& example : examples) {
    const std::string text = said(setup_with("dgx-h100", example.fields));
    EXPECT_NE(text.find(example.said), std::string::npos) << example.said << ": " << text;
  }
  EXPECT_EQ(said(setup_with("dgx-h100", {{"model", "llama3-8b"}, {"dp", "8"}})), "");
}

TEST(UsableMemory, IsWhatFitsGoesBy) {
  Machine machine = *find_machine("dgx-h100");
  const parallelarium::Setup setup =
      setup_with("dgx-h100", {{"model", "llama3-8b"}, {"zero", "0"}});
  const std::int64_t whole = predict(setup, machine)->capacity_bytes;
  machine.usable_memory_share = 0.9;
  EXPECT_NEAR(static_cast<double>(predict(setup, machine)->capacity_bytes),
              0.9 * static_cast<double>(whole), 1);
  EXPECT_EQ(machine_from_json(to_json(machine))->usable_memory_share, 0.9);
}

}  // namespace
}  // namespace parallelarium
