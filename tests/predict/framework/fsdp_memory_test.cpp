// SPDX-License-Identifier: Apache-2.0
// What PyTorch has reserved is held to published runs in cases_test.cpp; here, to what must hold of
// any run.
#include "engine/predict/framework/fsdp_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/passes/build.h"
#include "engine/passes/fold/lone_stages.h"
#include "engine/plan/machine/presets.h"
#include "engine/plan/model/model_presets.h"
#include "engine/predict/framework/fsdp_actions.h"
#include "engine/predict/memory.h"
#include "engine/predict/predict.h"
#include "engine/predict/repeats/step_prediction.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

constexpr double kGib = 1 << 30;

parallelarium::Setup fsdp_setup() {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("llama3-8b");
  setup.model.layers = 4;
  setup.mesh = Mesh();
  setup.mesh.dp = 16;
  setup.zero = 3;
  setup.microbatches = 1;
  setup.attention = Attention::kFused;
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.loss_copies = LossCopies::kFp32;
  setup.recompute = Recompute::kFull;
  return setup;
}

std::vector<std::int64_t> reserved(const parallelarium::Setup& setup,
                                   const char* machine = "dgx-h100") {
  const std::vector<Message> wrong = validate(setup);
  EXPECT_TRUE(wrong.empty()) << wrong.front().text;
  const Result<Order> order = make_order(setup);
  EXPECT_TRUE(order.ok());
  return fsdp_reserved_bytes(setup, *find_machine(machine), *order);
}

TEST(FsdpMemory, IsForRunsThatPyTorchShards) {
  const Machine machine = *find_machine("dgx-h100");
  parallelarium::Setup setup = fsdp_setup();
  EXPECT_TRUE(trains_by_fsdp(setup, machine));
  EXPECT_FALSE(trains_by_fsdp(setup, *find_machine("local")));
  setup.zero = 1;
  EXPECT_FALSE(trains_by_fsdp(setup, machine));
  setup.zero = 3;
  setup.loss_copies = LossCopies::kNone;
  EXPECT_FALSE(trains_by_fsdp(setup, machine));
  setup = fsdp_setup();
  setup.offload_activations = true;
  EXPECT_FALSE(trains_by_fsdp(setup, machine));
  setup.offload_activations = false;
  setup.offload_optimizer = true;
  EXPECT_FALSE(trains_by_fsdp(setup, machine));
}

// A search decides by the closed form; a prediction by itself says both.
TEST(FsdpMemory, IsInPredictionsAndNotInSearches) {
  const Machine machine = *find_machine("dgx-h100");
  const parallelarium::Setup setup = fsdp_setup();
  const Result<Prediction> prediction = predict(setup, machine);
  const Result<StepPrediction> searched = predict_step(setup, machine);
  ASSERT_TRUE(prediction.ok() && searched.ok());
  const MemoryRow& row = prediction->memory.front();
  const MemoryRow& in_search = searched->prediction.memory.front();
  EXPECT_EQ(row.reserved_bytes, reserved(setup).front());
  EXPECT_EQ(row.bytes_with_framework(), row.reserved_bytes);
  EXPECT_EQ(in_search.reserved_bytes, 0);
  EXPECT_EQ(in_search.framework_bytes, framework_bytes_of(setup, machine, 0));
  EXPECT_EQ(in_search.bytes_with_framework(), row.peak_bytes + row.framework_bytes);
}

// At the loss a rank has its share of parameters and moments (4 + 8 bytes), the root gathered, and
// three copies of the logits in fp32. Above that there are the root once more in another stream,
// its gradients in fp32, and free blocks: a copy of logits and 2 GiB.
TEST(FsdpMemory, HoldsWhatTheLossNeedsAndLittleMore) {
  for (const int dp : {16, 32, 128}) {
    parallelarium::Setup setup = fsdp_setup();
    setup.mesh.dp = dp;
    const double all = static_cast<double>(count_parameters(setup.model).total);
    const double table = 4096.0 * 128'256, logits = 4.0 * 8192 * 128'256;
    const double least = 12 * all / dp + 2 * 2 * table + 3 * logits;
    const double found = static_cast<double>(reserved(setup).front());
    EXPECT_GT(found, least);
    EXPECT_LT(found, least + (2 + 4) * 2 * table + logits + 2 * kGib);
  }
}

// Without a pipeline a micro-batch leaves nothing behind. Only its tokens and targets are there
// for the whole run. Of 40 not all are replayed.
TEST(FsdpMemory, IsTheSameForAnyNumberOfMicrobatchesOnOneStage) {
  for (const bool accumulate : {false, true})
    for (const int dp : {8, 16}) {  // expandable segments, and fixed ones
      parallelarium::Setup setup = fsdp_setup();
      setup.mesh.dp = dp;
      setup.zero = 2;
      setup.zero_accumulate = accumulate;
      setup.microbatches = 4;
      const std::int64_t few = reserved(setup).front();
      for (const int many : {16, 40}) {
        setup.microbatches = many;
        const std::int64_t tokens = (many - 4) * 2 * 4 * 8192, page = 2 << 20;
        EXPECT_NEAR(reserved(setup).front(), few, tokens + page);
      }
    }
}

// 1F1B and DualPipe hold the activations of as many micro-batches however many there are. Only
// buffers between stages grow: what comes and what goes, forward and backward, 64 MiB each. What
// DualPipe frees is often larger, and the rest of a block too small for the next. Each of a rank's
// two chunks has half of the micro-batches there. Of 1,000 not all are replayed. The last stage of
// 1F1B holds all logits, too, and joins them.
TEST(FsdpMemory, HoldsWhatGoesBetweenStagesForEveryMicrobatch) {
  const auto check = [](const char* schedule, double most, bool joins) {
    parallelarium::Setup setup = fsdp_setup();
    setup.model.layers = 8;
    setup.mesh.pp = 4;
    setup.zero = 2;
    setup.zero_accumulate = true;
    setup.schedule = schedule;
    setup.microbatches = 16;
    const std::vector<std::int64_t> few = reserved(setup);
    ASSERT_EQ(few.size(), 4u);
    const double message = 2.0 * 8192 * 4096;
    for (const int more : {16, 984}) {
      setup.microbatches = 16 + more;
      const std::vector<std::int64_t> many = reserved(setup);
      for (const std::size_t middle : {1, 2}) {
        const double grown = static_cast<double>(many[middle] - few[middle]) / (more * message);
        EXPECT_GE(grown, 4) << schedule << " " << more;
        EXPECT_LE(grown, most) << schedule << " " << more;
      }
      if (!joins) continue;
      const double logits = 2.0 * 8192 * 128'256;
      const double grown = static_cast<double>(many.back() - few.back()) / more;
      EXPECT_NEAR(grown, 2 * logits + 2 * message, 0.1 * logits) << schedule << " " << more;
    }
  };
  check("1f1b", 4.25, true);
  check("dualpipe", 5.5, false);
}

// Sequence parallelism has an all-gather or a reduce-scatter in front of and behind each half of a
// layer, forward and backward; table and head have one each way.
TEST(FsdpMemory, CopiesTokensBesideCollectivesOfTp) {
  const auto copies = [](bool ring, int layers, ProductType products) {
    parallelarium::Setup setup = fsdp_setup();
    setup.model.layers = layers;
    setup.mesh.tp = 2;
    setup.sequence_parallel = true;
    setup.sequence_regather = false;
    setup.ring_tensor = ring;
    setup.products = products;
    setup.machine = "dgx-h100";
    setup.recompute = Recompute::kNone;
    setup.loss_copies = LossCopies::kGradient;  // those in fp32 have a norm's of the same size
    const std::vector<Message> wrong = validate(setup);
    EXPECT_TRUE(wrong.empty()) << wrong.front().text;
    parallelarium::Setup plain = setup;
    plain.zero = 0;
    plain.ring_tensor = false;
    const Result<Order> order = make_order(setup);
    const Chunk chunk = placed_chunks(setup, *order).front().front();
    const Program program = lone_stages(plain, local_sizes(plain), {{chunk, 0}});
    const RankProgram& lone = program.ranks.front();
    const FsdpActions actions = fsdp_actions(setup, program, lone, chunk, false);
    const auto begin =
        actions.slot_bytes.begin() + static_cast<std::ptrdiff_t>(lone.buffers.size());
    const std::int64_t tokens = 2 * 8192 * 4096;
    return std::pair(std::count(begin, actions.slot_bytes.end(), tokens),
                     std::count(begin, actions.slot_bytes.end(), tokens / 2));
  };
  for (const int layers : {1, 4}) {
    const auto halved = copies(true, layers, ProductType::kSame).second;  // other temporaries
    EXPECT_EQ(copies(false, layers, ProductType::kSame), std::pair(8L * layers + 4, halved));
    EXPECT_EQ(copies(true, layers, ProductType::kSame), std::pair(2L * layers + 4, halved));
    EXPECT_EQ(copies(false, layers, ProductType::kFp8),
              std::pair(4L * layers + 4, halved + 4L * layers));
  }
}

// Parts of a ring are not the allocator's, and whole sums need no copy (torchtitan's Table 4 of
// llama3_h100_202412: 67.6 GiB beside 71.9).
TEST(FsdpMemory, IsNoMoreForARingOfTp) {
  for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
    parallelarium::Setup setup = fsdp_setup();
    setup.mesh.tp = 4;
    setup.sequence_parallel = true;
    setup.recompute = recompute;
    const std::int64_t plain = reserved(setup).front();
    setup.ring_tensor = true;
    EXPECT_LE(reserved(setup).front(), plain);
  }
}

// A rank of DualPipe on two ranks has all layers, as one without a pipeline has. There, too,
// gradients that were added up are gone before the update. So adding up costs no more there.
TEST(FsdpMemory, ReducesWhatIsAddedUpWhereAStageStandsTwice) {
  const auto added = [](int pp, const char* schedule) {
    parallelarium::Setup setup = fsdp_setup();
    setup.model.layers = 32;
    setup.mesh.pp = pp;
    setup.zero = 2;
    setup.schedule = schedule;
    setup.microbatches = 4;
    const std::int64_t one_by_one = reserved(setup).front();
    setup.zero_accumulate = true;
    return reserved(setup).front() - one_by_one;
  };
  EXPECT_GT(added(2, "dualpipe"), 0);
  EXPECT_LT(added(2, "dualpipe"), added(1, "1f1b"));
}

// A micro-batch leaves nothing open: each slot is opened once, and then closed or held once.
TEST(FsdpMemory, ClosesWhatItOpens) {
  int slots = 0;
  const auto check = [&](const parallelarium::Setup& setup, bool op_by_op) {
    ASSERT_TRUE(validate(setup).empty()) << validate(setup).front().text;
    const Result<Order> order = make_order(setup);
    ASSERT_TRUE(order.ok());
    parallelarium::Setup plain = setup;
    plain.zero = 0;
    plain.zero_accumulate = false;
    const std::vector<std::vector<Chunk>> chunks = placed_chunks(setup, *order);
    for (std::size_t place = 0; place < chunks.size(); ++place)
      for (const Chunk& chunk : chunks[place]) {
        const Program program =
            lone_stages(plain, local_sizes(plain), {{chunk, static_cast<int>(place)}});
        for (const RankProgram& lone : program.ranks) {
          const FsdpActions actions = fsdp_actions(setup, program, lone, chunk, op_by_op);
          std::vector<int> opened(actions.slot_bytes.size()), closed(actions.slot_bytes.size());
          for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward,
                                        ActionKind::kInputGrad, ActionKind::kWeightGrad})
            for (const FsdpEvent& event : actions.events[static_cast<std::size_t>(kind)]) {
              const auto at = static_cast<std::size_t>(event.index);
              if (event.what == FsdpEvent::What::kOpen) ++opened[at];
              if (event.what != FsdpEvent::What::kClose && event.what != FsdpEvent::What::kHold)
                continue;
              ++closed[at];
              EXPECT_EQ(opened[at], 1);
            }
          EXPECT_EQ(opened, closed);
          slots += std::accumulate(opened.begin(), opened.end(), 0);
          std::int64_t elements = 0, parameters = 0;
          for (const auto& group : actions.groups)
            for (const FsdpTensor& tensor : group) elements += tensor.elements;
          for (const ParameterSlice& slice : lone.parameters) parameters += slice.count;
          EXPECT_EQ(elements, parameters);
          for (std::size_t group = 0; group < actions.groups.size(); ++group) {
            std::vector<std::int64_t> counts;
            for (const FsdpTensor& tensor : actions.groups[group])
              counts.push_back(tensor.elements);
            for (const std::int64_t count : counts) EXPECT_GT(count, 0);
            if (group == 0 || setup.model.experts.count > 0) continue;
            // Llama 3 8B has 8 heads of keys and of values, and 32 of queries and of the output.
            const std::int64_t head = 128 * 4096 / setup.mesh.tp;
            EXPECT_EQ(std::count(counts.begin(), counts.end(), 8 * head), 2);
            EXPECT_EQ(std::count(counts.begin(), counts.end(), 32 * head), 2);
          }
        }
      }
  };
  for (const LossCopies copies : {LossCopies::kGradient, LossCopies::kFp32})
    for (const char* precision : {"mixed-16", "fp32"})
      for (const int pp : {1, 2})
        for (const Recompute recompute :
             {Recompute::kNone, Recompute::kFull,
              Recompute::kNorms | Recompute::kActivation | Recompute::kSecondProducts}) {
          parallelarium::Setup setup = fsdp_setup();
          setup.loss_copies = copies;
          setup.precision = *find_precision(precision);
          setup.recompute = recompute;
          setup.mesh.pp = pp;
          setup.microbatches = 4;
          check(setup, false);
          check(setup, true);
          setup.mesh.tp = 2;
          setup.sequence_parallel = true;
          check(setup, false);
          setup.mesh.cp = 2;
          setup.context_parallel = ContextParallel::kAllGather;
          setup.schedule = pp > 1 ? "zb-h1" : "1f1b";
          check(setup, false);
        }
  parallelarium::Setup experts = fsdp_setup();
  experts.model = *find_model("mixtral-8x7b");
  experts.model.layers = 4;
  experts.mesh.ep = 2;
  check(experts, false);
  experts.mesh.pp = 2;
  experts.microbatches = 4;
  experts.schedule = "dualpipe";
  check(experts, true);
  EXPECT_GT(slots, 10'000);
}

}  // namespace
}  // namespace parallelarium
