// SPDX-License-Identifier: Apache-2.0
#include "engine/run/arena.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>

#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

// Three ops; one buffer is opened by op 0 and used by 0, 1 (another lane) and 2, which closes it.
RankProgram three_ops() {
  RankProgram rank;
  Buffer held;
  held.tensor = Tensor::kParameters;
  held.category = Category::kParameters;
  held.bytes = 64;
  held.offset = 0;
  Buffer kept;
  kept.category = Category::kActivations;
  kept.bytes = 128;
  kept.offset = 64;
  kept.opened_by = 0;
  kept.closed_by = 2;
  rank.buffers = {held, kept};
  rank.arena_bytes = 192;
  for (int i = 0; i < 3; ++i) {
    Op op;
    op.lane = i == 1 ? Lane::kPipeline : Lane::kCompute;
    op.operand_first = i;
    op.operand_count = 1;
    rank.ops.push_back(op);
    rank.operands.push_back(
        {1, i == 0 ? Access::kWrite : Access::kRead, DataType::kF32, -1, 0, 32});
  }
  return rank;
}

TEST(Poison, FillsABufferWhenItsLastUserInTimeIsDone) {
  const RankProgram rank = three_ops();
  const std::unique_ptr<Device> device = make_cpu_device();
  Result<std::unique_ptr<Arena>> made = Arena::make(*device, rank, true);
  ASSERT_TRUE(made.ok());
  Arena& arena = **made;
  auto* values = reinterpret_cast<float*>(arena.address(rank.operands[0]));
  EXPECT_TRUE(std::isnan(values[0])) << "closed before it is opened";
  for (int step = 0; step < 2; ++step) {
    arena.begin(0);
    std::fill_n(values, 32, 1.0f);
    arena.end(0, *device);
    EXPECT_EQ(values[31], 1.0f);
    // Op 2 closes the buffer in the Program's order, but op 1 of the other lane ends later.
    arena.begin(1);
    arena.begin(2);
    arena.end(2, *device);
    EXPECT_EQ(values[31], 1.0f);
    arena.end(1, *device);
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(std::isnan(values[i]));
    const MemoryRow peaks = arena.take_peaks();
    EXPECT_EQ(peaks.bytes[static_cast<int>(Category::kParameters)], 64);
    EXPECT_EQ(peaks.bytes[static_cast<int>(Category::kActivations)], 128);
    EXPECT_EQ(peaks.peak_bytes, 192);
  }
  EXPECT_EQ(reinterpret_cast<float*>(arena.base())[15], 0.0f) << "held buffers stay";
}

TEST(Arena, CountsOnlyWhatRan) {
  const RankProgram rank = three_ops();
  const std::unique_ptr<Device> device = make_cpu_device();
  Result<std::unique_ptr<Arena>> made = Arena::make(*device, rank, false);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->take_peaks().peak_bytes, 64);
}

// What the process holds, counted by its allocator; 0 under sanitizers, which have their own.
std::int64_t allocated_bytes() {
  const struct mallinfo2 counts = mallinfo2();
  return static_cast<std::int64_t>(counts.uordblks + counts.hblkhd);
}

TEST(Arena, TotalAgreesWithTheAllocator) {
  // Large enough that threads, text and the matrix library's own memory do not matter.
  parallelarium::Setup setup = small_setup(1, 1, 2);
  setup.model.layers = 4;
  setup.model.hidden = 256;
  setup.model.heads = setup.model.kv_heads = 8;
  setup.model.ffn = 1024;
  setup.model.sequence = 256;
  setup.micro_batch = 8;
  setup.run.warmup = 0;
  setup.run.steps = 1;
  const Program program = built(setup);
  const std::int64_t counted = memory_of(program)[0].peak_bytes;
  ASSERT_GT(counted, 200'000'000);
  EXPECT_NEAR(static_cast<double>(program.ranks[0].arena_bytes), static_cast<double>(counted),
              0.02 * static_cast<double>(counted));
  // What a first run leaves allocated for good is no rank's.
  const parallelarium::Setup tiny = small_setup(1, 1, 2);
  ASSERT_TRUE(run_now(tiny, built(tiny)).ok());
  const std::int64_t before = allocated_bytes();
  if (before == 0) GTEST_SKIP() << "this allocator does not count";
  std::int64_t most = 0;
  RunControl control;
  control.progress = [&](double, const Message&) { most = std::max(most, allocated_bytes()); };
  const Result<RunResult> result = run_now(setup, program, {}, {}, control);
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(result->observation.memory[0].peak_bytes, counted);
  EXPECT_NEAR(static_cast<double>(most - before), static_cast<double>(counted),
              0.02 * static_cast<double>(counted));
}

}  // namespace
}  // namespace parallelarium
