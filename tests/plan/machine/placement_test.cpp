// SPDX-License-Identifier: Apache-2.0
// Where ranks go, as a table: computers, wishes, and what comes of them.
#include "engine/plan/placement/placement.h"

#include <gtest/gtest.h>

#include "tests/plan/machine/computers.h"

namespace parallelarium {
namespace {

struct Placed {
  const char* what;
  int ranks = 1;
  int cores = 2;
  std::vector<ComputerGpu> gpus = {};
  Backend wish = Backend::kAuto;
  const char* devices = "all";
  Backend backend = Backend::kCpu;
  Source source = Source::kMeasured;
  Gpus taken = {};
  const char* why = "";
  bool apart = false;
};

Computer computer_of(const Placed& one) {
  Computer computer;
  computer.cores = one.cores;
  computer.gpus = one.gpus;
  if (one.gpus.empty()) computer.no_gpus = message("cuda-missing", "No NVIDIA driver answers.");
  if (one.apart) computer.gpus_apart = message("nccl-missing", "There is no NCCL.");
  return computer;
}

RunSettings run_of(const Placed& one) {
  RunSettings run;
  run.backend = one.wish;
  run.devices = one.devices;
  return run;
}

constexpr Backend kAuto = Backend::kAuto, kCpu = Backend::kCpu, kPaced = Backend::kPaced,
                  kCuda = Backend::kCuda;

TEST(Placement, IsTheOneThatAnExpertWouldChoose) {
  const Placed cases[] = {
      {"cores alone, enough",
       2,
       2,
       {},
       kAuto,
       "all",
       kCpu,
       Source::kMeasured,
       {},
       "2 ranks on 2 cores: measured"},
      {"too few",
       4,
       2,
       {},
       kAuto,
       "all",
       kPaced,
       Source::kPaced,
       {},
       "4 ranks on 2 cores: rehearsed"},
      {"too few, unpaced",
       4,
       2,
       {},
       kCpu,
       "all",
       kCpu,
       Source::kOversubscribed,
       {},
       "4 ranks on 2 cores: oversubscribed"},
      {"enough, paced",
       1,
       2,
       {},
       kPaced,
       "all",
       kPaced,
       Source::kPaced,
       {},
       "1 rank on 2 cores: rehearsed"},
      {"a GPU for each",
       2,
       2,
       {h100(), h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {0, 1},
       "2 ranks on a H100 each: measured"},
      {"GPUs, cores wanted",
       2,
       2,
       {h100(), h100()},
       kCpu,
       "all",
       kCpu,
       Source::kMeasured,
       {},
       "2 ranks on 2 cores: measured"},
      {"one for one",
       1,
       2,
       {h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {0},
       "1 rank on H100: measured"},
      {"one for two",
       2,
       2,
       {h100()},
       kAuto,
       "all",
       kCpu,
       Source::kMeasured,
       {},
       "2 ranks on 2 cores: measured (all on the one GPU with --backend cuda)"},
      {"one for two, asked for",
       2,
       2,
       {h100()},
       kCuda,
       "all",
       kCuda,
       Source::kSharedGpu,
       {0, 0},
       "2 ranks on H100: shared GPU"},
      {"one named, asked for",
       2,
       2,
       {h100(), h100()},
       kCuda,
       "0",
       kCuda,
       Source::kSharedGpu,
       {0, 0},
       "2 ranks on H100: shared GPU"},
      {"one named",
       1,
       2,
       {h100(), h100()},
       kAuto,
       "1",
       kCuda,
       Source::kMeasured,
       {1},
       "1 rank on H100: measured"},
      {"named in their order",
       2,
       2,
       {h100(), h100(), h100()},
       kAuto,
       "2,0",
       kCuda,
       Source::kMeasured,
       {2, 0},
       "2 ranks on a H100 each: measured"},
      {"too few GPUs",
       3,
       2,
       {h100(), h100()},
       kAuto,
       "all",
       kPaced,
       Source::kPaced,
       {},
       "3 ranks on 2 cores: rehearsed (not on GPUs: 3 ranks are more than 2 GPUs, and ranks share "
       "a "
       "GPU only where all are on one; use --devices 0 for that, or 2 ranks)"},
      {"apart, and two ranks",
       2,
       2,
       {h100(), h100()},
       kAuto,
       "all",
       kCpu,
       Source::kMeasured,
       {},
       "2 ranks on 2 cores: measured (not on GPUs: There is no NCCL)",
       true},
      {"apart, and one rank",
       1,
       2,
       {h100(), h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {0},
       "1 rank on H100: measured",
       true},
      // Several kinds: those of one kind that are enough, with bf16 before those without.
      {"mixed, one rank",
       1,
       2,
       {v100(), h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {1},
       "1 rank on H100: measured"},
      {"mixed, two ranks",
       2,
       2,
       {v100(), h100(), v100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {0, 2},
       "2 ranks on a V100 each: measured"},
      {"mixed, all are needed",
       3,
       2,
       {v100(), h100(), v100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {1, 0, 2},
       "3 ranks on a H100 each: measured"},
      {"mixed, named",
       1,
       2,
       {v100(), h100()},
       kAuto,
       "0",
       kCuda,
       Source::kMeasured,
       {0},
       "1 rank on V100: measured"},
      // The one with the display comes last, and is taken where it must be.
      {"display",
       1,
       2,
       {display(), h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {1},
       "1 rank on H100: measured"},
      {"display needed",
       2,
       2,
       {display(), h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {1, 0},
       "2 ranks on a H100 each: measured"},
      {"display named",
       1,
       2,
       {display(), h100()},
       kAuto,
       "0",
       kCuda,
       Source::kMeasured,
       {0},
       "1 rank on H100: measured"},
      {"only a display",
       1,
       2,
       {display()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {0},
       "1 rank on H100: measured"},
      // One that cannot be used is no GPU.
      {"broken, another is there",
       1,
       2,
       {broken(), h100()},
       kAuto,
       "all",
       kCuda,
       Source::kMeasured,
       {1},
       "1 rank on H100: measured"},
      {"broken and needed",
       2,
       2,
       {broken(), h100()},
       kAuto,
       "all",
       kCpu,
       Source::kMeasured,
       {},
       "2 ranks on 2 cores: measured (not on GPUs: GPU 0 failed its check: one product is wrong)"},
      {"broken alone",
       1,
       2,
       {broken()},
       kAuto,
       "all",
       kCpu,
       Source::kMeasured,
       {},
       "1 rank on 2 cores: measured (not on GPUs: GPU 0 failed its check: one product is wrong)"},
  };
  for (const Placed& one : cases) {
    SCOPED_TRACE(one.what);
    const Result<Placement> placed = place(run_of(one), one.ranks, computer_of(one));
    ASSERT_TRUE(placed.ok()) << placed.error().text;
    EXPECT_EQ(placed->backend, one.backend);
    EXPECT_EQ(placed->source, one.source);
    EXPECT_EQ(placed->gpus, one.taken);
    EXPECT_EQ(placed->why.text, one.why);
    EXPECT_EQ(placed->paced(), one.source == Source::kPaced);
    EXPECT_EQ(placed->on_gpus(), !one.taken.empty());
    const bool a_core_each = one.backend == kCpu && one.source == Source::kMeasured;
    EXPECT_EQ(placed->cores.size(), a_core_each ? static_cast<std::size_t>(one.ranks) : 0U);
  }
}

TEST(Placement, KnowsWhetherItsGpusMultiplyBf16) {
  Computer computer;
  computer.gpus = {v100(), h100()};
  EXPECT_TRUE(place({}, 1, computer)->bf16);
  EXPECT_FALSE(place({}, 2, computer)->bf16) << "all wait for the V100";
}

TEST(Placement, IsRefusedWithWhatWouldDo) {
  struct Refusal {
    Placed one;
    const char* id;
    const char* field;
    std::vector<std::string> alternatives;
  };
  const std::vector<std::string> other_backends = {"auto", "cpu", "paced"};
  const Refusal refusals[] = {
      {{"no GPU", 1, 2, {}, kCuda}, "cuda-missing", "run.backend", other_backends},
      {{"too few", 3, 2, {h100(), h100()}, kCuda}, "gpus-few", "run.devices", {}},
      {{"absent", 1, 2, {h100()}, kAuto, "3"}, "devices-absent", "run.devices", {}},
      {{"no list", 1, 2, {h100()}, kCuda, "x"}, "devices-list", "run.devices", {"all", "0"}},
      {{"broken, named", 1, 2, {broken(), h100()}, kAuto, "0"}, "gpu-failed", "run.devices", {}},
      {{"broken, needed", 2, 2, {broken(), h100()}, kCuda},
       "gpu-failed",
       "run.backend",
       other_backends},
      {{"apart", 2, 2, {h100(), h100()}, kCuda, "all", kCuda, Source::kMeasured, {}, "", true},
       "nccl-missing",
       "run.backend",
       other_backends},
  };
  for (const Refusal& refusal : refusals) {
    const Placed& one = refusal.one;
    SCOPED_TRACE(one.what);
    const Result<Placement> placed = place(run_of(one), one.ranks, computer_of(one));
    ASSERT_FALSE(placed.ok());
    EXPECT_EQ(placed.error().kind, refusal.id);
    EXPECT_EQ(placed.error().field, refusal.field);
    EXPECT_EQ(placed.error().alternatives, refusal.alternatives);
  }
}

TEST(Placement, OfProcessesTakesTheGpuOfTheirLocalRank) {
  Computer computer;
  computer.cores = 4;
  computer.gpus = {h100(), h100()};
  computer.launched = Launched{"torchrun", 2, 1, 2};
  EXPECT_EQ(place({}, 2, computer)->gpus, (Gpus{1, 1}));
  computer.gpus.pop_back();
  EXPECT_EQ(place({}, 2, computer)->why.text,
            "2 ranks, each a process of torchrun, 2 on 4 cores here: measured");
  computer.gpus_given = true;  // srun --gpus-per-task=1
  EXPECT_EQ(place({}, 2, computer)->gpus, (Gpus{0, 0}));
  RunSettings paced;
  paced.backend = kPaced;
  EXPECT_EQ(place(paced, 2, computer).error().id, "processes-paced");
}

}  // namespace
}  // namespace parallelarium
