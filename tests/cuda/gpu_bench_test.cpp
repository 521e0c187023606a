// SPDX-License-Identifier: Apache-2.0
// What is measured on devices that run behind, at which sizes, and how a call is timed there.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "engine/run/calibrate/bench.h"
#include "engine/run/calibrate/bench_timing.h"
#include "engine/train/device.h"
#include "tests/cuda/queued_device.h"

namespace parallelarium {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A device that has no room for much at once.
class SmallDevice : public QueuedDevice {
 public:
  explicit SmallDevice(std::int64_t most_bytes)
      : QueuedDevice(microseconds{0}), most_bytes_(most_bytes) {}
  Result<std::byte*> allocate(std::int64_t bytes) override {
    if (bytes > most_bytes_) return message("memory-short", "There is no room.");
    return QueuedDevice::allocate(bytes);
  }

 private:
  const std::int64_t most_bytes_;
};

TEST(GpuBench, HoldsTheSizesOfPublishedModelsAndOfTinyOnes) {
  const BenchSizes sizes = gpu_bench_sizes();
  const std::vector<std::int64_t> updates = {1 << 16, 1 << 20, 1 << 22, 1 << 25};
  EXPECT_EQ(sizes.updated, updates);
  EXPECT_EQ(sizes.cleared, updates);
  EXPECT_GE(sizes.places_bytes, 256 << 20);
  ASSERT_FALSE(sizes.logits.empty());
  for (const BenchSizes::Logits& logits : sizes.logits) EXPECT_EQ(logits.V, 50257);
  const BenchSizes::Sequence& least = sizes.sequences.front();
  EXPECT_LE(least.T * least.C, 10'000);
  std::set<std::int64_t> scores;
  std::size_t attending = 0;
  for (const BenchSizes::Sequence& sequence : sizes.sequences) {
    if (sequence.H == 0) continue;
    ++attending;
    for (const std::int64_t B : sequence.batches)
      EXPECT_TRUE(scores.insert(B * sequence.H * sequence.T * sequence.T).second)
          << "two that share a rate";
  }
  EXPECT_GE(scores.size(), 2 * attending - 1) << "nearly all of one and of several sequences";
  EXPECT_EQ(sizes.sequences.back().H, 0) << "rows that no cache holds, and nothing of attention";
  EXPECT_GE(sizes.sequences.back().T * sizes.sequences.back().C * 2, 12 << 20);
}

TEST(GpuBench, CoresKeepTheirSizes) {
  const BenchSizes sizes = cpu_bench_sizes();
  EXPECT_EQ(sizes.updated, std::vector<std::int64_t>{1 << 16});
  EXPECT_EQ(sizes.cleared, (std::vector<std::int64_t>{1 << 16, 1 << 19, 1 << 22}));
  EXPECT_EQ(sizes.places_bytes, 4 << 20);
  EXPECT_TRUE(sizes.logits.empty());
  for (const BenchSizes::Width& width : sizes.widths) EXPECT_EQ(width.vocabulary, 0);
  for (const BenchSizes::Sequence& sequence : sizes.sequences)
    EXPECT_EQ(sequence.batches, std::vector<std::int64_t>{1});
}

TEST(GpuBench, MeasuresEachKernelAtEverySizeOfTheList) {
  QueuedDevice device(microseconds{0});
  BenchSizes sizes;
  sizes.sequences = {{32, 16, 2, {1, 3}}};
  sizes.logits = {{8, 300}};
  sizes.updated = sizes.cleared = {64, 4096};
  sizes.places_bytes = 1 << 16;
  const Stop stop;
  const std::vector<KernelTime> times = measure_kernels(device, sizes, stop);
  const auto sizes_of = [&](std::string_view kernel) {
    std::set<double> found;
    for (const KernelTime& time : times) {
      if (time.kernel != kernel) continue;
      found.insert(time.elements);
      EXPECT_GT(time.seconds, 0) << kernel;
      EXPECT_LT(time.seconds, 1) << kernel;
    }
    return found;
  };
  using Sizes = std::set<double>;
  for (const char* kernel : {"adamw", "grad_norm", "zero"})
    EXPECT_EQ(sizes_of(kernel), (Sizes{64, 4096})) << kernel;
  EXPECT_EQ(sizes_of("reduce"), (Sizes{32 * 64, 4096}));
  for (const char* kernel : {"loss_max", "loss_sum", "loss_max_sum", "loss_grad"})
    EXPECT_EQ(sizes_of(kernel), (Sizes{32 * 256, 8 * 300})) << kernel;
  EXPECT_EQ(sizes_of("loss"), (Sizes{8, 32}));
  EXPECT_EQ(sizes_of("attention"), Sizes{2 * 32 * 32}) << "sequence after sequence";
  for (const char* kernel : {"fused_attention", "fused_attention_grad"})
    EXPECT_EQ(sizes_of(kernel), (Sizes{2 * 32 * 32, 3 * 2 * 32 * 32})) << kernel;
  for (const char* kernel : {"block_attention", "block_attention_grad"})
    EXPECT_EQ(sizes_of(kernel), (Sizes{2 * 16 * 16, 3 * 2 * 16 * 16})) << kernel;
}

TEST(GpuBench, MeasuresALargeHeadWithItsTokens) {
  QueuedDevice device(microseconds{0});
  BenchSizes sizes;
  sizes.widths = {{16, {8, 32}, 300, {8}}};
  const Stop stop;
  const auto times = measure_products(device, sizes, Clock::now() + std::chrono::hours{1}, stop);
  const auto count = [&](std::int64_t tokens) {
    return std::count_if(times.begin(), times.end(), [&](const ProductTime& time) {
      return std::set{time.m, time.n, time.k} == std::set<std::int64_t>{tokens, 300, 16};
    });
  };
  EXPECT_EQ(count(8), 3) << "forward and both gradients";
  EXPECT_EQ(count(32), 0);
}

// What a GPU has no room for costs no other width.
TEST(GpuBench, GoesOnBehindAWidthThatThereIsNoRoomFor) {
  SmallDevice device(1 << 20);
  BenchSizes sizes;
  sizes.places_bytes = 0;
  sizes.widths = {{1024, {64}}, {16, {8}}};
  const Stop stop;
  const auto times = measure_products(device, sizes, Clock::now() + std::chrono::hours{1}, stop);
  ASSERT_FALSE(times.empty());
  std::set<std::string> phases;
  for (const ProductTime& time : times) {
    EXPECT_LE(std::max({time.m, time.n, time.k}), 256);
    phases.insert(time.phase);
  }
  EXPECT_EQ(phases.count(kWeightGradAlone), 1u);
}

TEST(GpuTimes, LeaveOutWhatAnIdleDeviceNeedsToBegin) {
  QueuedDevice device(microseconds{0});
  std::atomic<int> launched{0}, done{0};
  const CallTime time = typical_time(
      device,
      [&] {
        const bool idle = launched++ == done;
        device.enqueue([&done, idle] {
          std::this_thread::sleep_for(idle ? microseconds{8000} : microseconds{500});
          ++done;
        });
      },
      milliseconds{1});
  EXPECT_GE(time.seconds, 5e-4);
  EXPECT_LT(time.seconds, 5e-3);
}

TEST(GpuTimes, OfALongCallNeedNoSecondOne) {
  QueuedDevice device(microseconds{0});
  int calls = 0;
  const CallTime time = typical_time(
      device,
      [&] {
        ++calls;
        device.enqueue([] { std::this_thread::sleep_for(milliseconds{30}); });
      },
      milliseconds{1});
  EXPECT_EQ(calls, 2) << "the first finds its way";
  EXPECT_GE(time.seconds, 30e-3);
}

// Other work may have a core for longer than all that is measured: one call would be the only
// sample. A second is enough, since long calls are most of what a calibration takes.
TEST(CoreTimes, KnowACallThatLostItsCore) {
  const std::unique_ptr<Device> device = make_cpu_device();
  int calls = 0;
  const auto work = [&] {
    if (++calls == 2) std::this_thread::sleep_for(milliseconds{30});
  };
  EXPECT_LT(typical_time(*device, work, microseconds{700}).seconds, 10e-3);
  EXPECT_EQ(calls, 2);
}

TEST(GpuTimes, OfHostsAreThoseOfTheirLaunches) {
  QueuedDevice device(microseconds{0});
  const CallTime time = typical_time(
      device,
      [&] {
        std::this_thread::sleep_for(microseconds{300});
        for (int launch = 0; launch < 2; ++launch)
          device.enqueue([] { std::this_thread::sleep_for(milliseconds{1}); });
      },
      milliseconds{1});
  EXPECT_GE(time.seconds, 2e-3);
  EXPECT_GE(time.host_seconds, 300e-6);
  EXPECT_LT(time.host_seconds, 2e-3) << "it waits for no kernel";
}

std::set<const std::byte*> places(const DeviceNumbers& numbers, std::int64_t count) {
  std::set<const std::byte*> found;
  for (int i = 0; i < 10; ++i) found.insert(numbers.next(count).address());
  return found;
}

TEST(GpuNumbers, StandAtSeveralWholePlacesWhereThereIsRoom) {
  constexpr std::int64_t kCount = 3000, kBytes = kCount * 4;
  SmallDevice device(5 * kBytes);
  EXPECT_EQ(places(DeviceNumbers(device, DataType::kF32, kCount), kCount).size(), 1u);
  EXPECT_EQ(places(DeviceNumbers(device, DataType::kF32, kCount, 4 * kBytes), kCount).size(), 4u);
  EXPECT_EQ(places(DeviceNumbers(device, DataType::kF32, kCount, 3 * kBytes + 4), kCount).size(),
            4u);
  const DeviceNumbers fewer(device, DataType::kF32, kCount, 6 * kBytes);
  EXPECT_TRUE(fewer.is_there());
  EXPECT_EQ(places(fewer, kCount).size(), 1u) << "no room for six";
  const DeviceNumbers none(device, DataType::kF32, 6 * kCount);
  EXPECT_FALSE(none.is_there());
  EXPECT_FALSE(all_there(fewer, none));
}

TEST(GpuNumbers, AreRepeatedToTheirEnd) {
  constexpr std::int64_t kMade = 1 << 20, kCount = 5 * kMade / 2 + 7;
  QueuedDevice device(microseconds{0});
  const DeviceNumbers numbers(device, DataType::kF32, kCount);
  std::vector<float> values(kCount);
  device.copy_to_host(values.data(), numbers.get().address(), kCount * 4);
  ASSERT_TRUE(device.finish().ok());
  for (std::size_t i = kMade; i < values.size(); ++i) ASSERT_EQ(values[i], values[i % kMade]) << i;
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), 50u);
}

}  // namespace
}  // namespace parallelarium
