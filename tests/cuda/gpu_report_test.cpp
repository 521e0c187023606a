// SPDX-License-Identifier: Apache-2.0
// What a run on GPUs reports of itself, on stand-ins for a GPU and its driver: memory part by part,
// and how long devices waited for their host.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "engine/run/gpu/extra_memory.h"
#include "engine/run/gpu/memory.h"
#include "tests/cuda/queued_device.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kGranularity = 1 << 21, kWorkspace = 32 << 20, kCode = 5 << 20;
constexpr std::int64_t kPooled = 6 << 20, kHidden = 4 << 20;  // a device's, which it does not tell

// Counts free bytes as a driver does: in whole blocks.
struct Driver {
  std::atomic<std::int64_t> free{std::int64_t{8} << 30}, pooled{0};
  static std::int64_t blocks(std::int64_t bytes) {
    return (bytes + kGranularity - 1) / kGranularity * kGranularity;
  }
  void take(std::int64_t bytes) { free -= blocks(bytes); }
  void give(std::int64_t bytes) { free += blocks(bytes); }
};

class CountedDevice final : public QueuedDevice {
 public:
  CountedDevice(Driver& driver, Lane lane)
      : QueuedDevice(std::chrono::microseconds(0)),
        driver_(driver),
        own_(lane == Lane::kCompute ? kWorkspace : 0) {
    driver_.take(own_ + kHidden);
    driver_.take(kPooled);
    driver_.pooled += kPooled;
  }
  ~CountedDevice() override {
    driver_.give(own_ + kHidden);
    driver_.give(kPooled);
    driver_.pooled -= kPooled;
  }
  std::int64_t workspace_bytes() const override { return own_; }
  Result<std::byte*> allocate(std::int64_t bytes) override {
    Result<std::byte*> address = QueuedDevice::allocate(bytes);
    if (address) driver_.take(sizes_[*address] = bytes);
    return address;
  }
  void release(std::byte* address) override {
    driver_.give(sizes_[address]);
    QueuedDevice::release(address);
  }

 private:
  Driver& driver_;
  const std::int64_t own_;
  std::map<std::byte*, std::int64_t> sizes_;
};

TEST(GpuMemory, OfARunIsArenasWorkspacesAndCode) {
  Driver drivers[2];
  LaunchOptions options;
  options.gpus = {1, 0, 1, 0};
  options.make_device = [&](int rank, Lane lane) -> std::unique_ptr<Device> {
    Driver& driver = drivers[options.gpus[static_cast<std::size_t>(rank)]];
    if (rank >= 2 && lane == Lane::kData) driver.take(kCode);  // loaded on the way, and stays
    return std::make_unique<CountedDevice>(driver, lane);
  };
  options.gpu_bytes = [&](int gpu) {
    return GpuBytes{drivers[gpu].free.load(), drivers[gpu].pooled.load()};
  };
  const parallelarium::Setup setup = small_setup(2, 2, 2);
  const Program program = built(setup);
  const std::int64_t before = drivers[0].free;
  const Result<RunResult> run = run_now(setup, program, {}, options);
  ASSERT_TRUE(run.ok()) << run.error().text;
  const std::vector<GpuMemory>& rows = run->observation.gpu_memory;
  ASSERT_EQ(rows.size(), 2u);
  for (const GpuMemory& row : rows) {
    std::int64_t arenas = 0, given = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      if (options.gpus[rank] != row.gpu) continue;
      const std::int64_t bytes = program.ranks[rank].arena_bytes;
      arenas += bytes;
      given += Driver::blocks(bytes);
    }
    EXPECT_EQ(row.arena_bytes, arenas);
    EXPECT_EQ(row.workspace_bytes, 2 * kWorkspace + 2 * kLanes * kPooled);
    EXPECT_EQ(row.rank, row.gpu == 1 ? 0 : 1);
    EXPECT_EQ(row.communicator_bytes, 0);
    EXPECT_NEAR(static_cast<double>(row.context_bytes), kCode, 2.0 * kGranularity);
    EXPECT_EQ(row.unexplained_bytes(), given - arenas + 2 * kLanes * kHidden)
        << "what the driver rounds up, and what devices did not tell";
    EXPECT_EQ(before - drivers[row.gpu].free, row.context_bytes) << "all else was given back";
  }
  EXPECT_NE(rows[0].gpu, rows[1].gpu);
}

TEST(GpuMemory, CommunicatorsAreWhatGoesWithTheTransports) {
  std::int64_t free = 1000;
  std::int64_t pooled = 5;  // of what ran before
  GpuMemoryMeter meter([&](int) { return GpuBytes{free, pooled}; });
  meter.begin(0, 3);
  meter.holds(0, 600, 160);
  pooled = 25;
  free = 100;
  meter.end(0);
  using Gone = GpuMemoryMeter::Gone;
  for (const auto& [gone, left] :
       {std::pair{Gone::kCommunicators, 140}, std::pair{Gone::kTransports, 150},
        std::pair{Gone::kArenas, 760}, std::pair{Gone::kDevices, 960}}) {
    free = left;
    meter.look(gone);
  }
  const std::vector<GpuMemory> rows = meter.result();
  ASSERT_EQ(rows.size(), 1u);
  // 160 asked for, 20 pooled since, 10 of the transports.
  EXPECT_EQ(rows[0], (GpuMemory{0, 3, 900, 600, 190, 40, 40}));
  EXPECT_EQ(rows[0].unexplained_bytes(), 30);
}

TEST(GpuMemory, IsNotReportedWhereTheDriverDoesNotTell) {
  GpuMemoryMeter meter([](int) { return GpuBytes{}; });
  meter.begin(0, 0);
  meter.holds(0, 600, 0);
  meter.end(0);
  meter.look(GpuMemoryMeter::Gone::kArenas);
  EXPECT_TRUE(meter.result().empty());
}

TEST(GpuMemory, ThatIsShortIsRefusedBeforeAnythingIsAllocated) {
  LaunchOptions options;
  options.gpus = {0, 0};
  options.make_device = [](int, Lane) -> std::unique_ptr<Device> {
    ADD_FAILURE() << "a device was made";
    return std::make_unique<QueuedDevice>(std::chrono::microseconds(0));
  };
  options.gpu_bytes = [](int) { return GpuBytes{1'000'000}; };
  parallelarium::Setup setup = small_setup(1, 2, 1);
  setup.model.hidden = 128;
  setup.model.ffn = 512;
  const Program program = built(setup);
  const std::int64_t needed = program.ranks[0].arena_bytes + program.ranks[1].arena_bytes;
  ASSERT_GT(needed, 1'000'000);
  const Result<RunResult> run = run_now(setup, program, {}, options);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, "memory-short");
  EXPECT_EQ(run.error().text,
            fmt::format("2 ranks need {} MB together on GPU 0 and 1 MB are free; a smaller model, "
                        "micro-batch or sequence needs less.",
                        (needed + 999'999) / 1'000'000));
}

// A card whose arena fits and whose libraries do not.
TEST(GpuMemory, IsRefusedWhereArenasFitAndLibrariesDoNot) {
  LaunchOptions options;
  options.gpus = {0, 1};
  options.make_device = [](int, Lane) -> std::unique_ptr<Device> {
    ADD_FAILURE() << "a device was made";
    return std::make_unique<QueuedDevice>(std::chrono::microseconds(0));
  };
  const parallelarium::Setup setup = small_setup(1, 2, 1);
  const Program program = built(setup);
  GpuFacts gpu;
  gpu.major = 8, gpu.peers = {1};
  options.gpu_extra = [&](const Program& whole, const RankProgram& rank) {
    return extra_memory(whole, rank, gpu, true).sum();
  };
  const std::int64_t extra = extra_memory(program, program.ranks[0], gpu, true).sum();
  const std::int64_t needed = program.ranks[0].arena_bytes + extra;
  options.gpu_bytes = [&](int) { return GpuBytes{needed - 1'000'000}; };
  const Result<RunResult> run = run_now(setup, program, {}, options);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().text,
            fmt::format("A rank needs {} MB on GPU 0 ({} MB of it for products, scratch and "
                        "communication) and {} MB are free; a smaller model, micro-batch or "
                        "sequence needs less.",
                        (needed + 999'999) / 1'000'000, (extra + 999'999) / 1'000'000,
                        (needed - 1'000'000) / 1'000'000));
  std::vector<std::int64_t> both(2, needed - extra);
  EXPECT_TRUE(
      check_gpu_memory({0, 1}, both, [&](int) { return GpuBytes{needed}; }, {extra, extra}));
  EXPECT_FALSE(
      check_gpu_memory({1, 1}, both, [&](int) { return GpuBytes{needed}; }, {extra, extra}));
}

TEST(ExtraMemory, IsWorkspacesScratchAndBuffersOfCommunicators) {
  GpuFacts gpu;
  gpu.major = 8;
  const auto of = [&](const char* settings, bool nccl = true) {
    const Program program = built(small_model(settings));
    return extra_memory(program, program.ranks[0], gpu, nccl);
  };
  const ExtraMemory alone = of("dp=2", false);
  EXPECT_EQ(alone.workspace, 32 << 20);
  EXPECT_EQ(alone.communicators, 0);
  EXPECT_GT(alone.scratch, 0) << "the sums of biases' gradients";
  EXPECT_GT(alone.code, 0);
  // QKV backward: gradients of 16 tokens and the weight, a byte a number, scales and their parts.
  const std::int64_t eighths =
      of("machine=dgx-h100 hidden=64 ffn=128 precision=mixed-16 products=fp8 micro-batch=2", false)
          .scratch;
  EXPECT_EQ(eighths, 256 + 2048 + 16 * 192 + 192 * 64);
  const std::int64_t through_host = of("dp=2").communicators;
  EXPECT_LT(through_host, 64 << 20) << "GPUs that reach no other keep buffers in the host";
  gpu.peers = {1};
  const std::int64_t one = of("dp=2").communicators, two = of("dp=2 tp=2").communicators;
  EXPECT_GT(one, through_host + (std::int64_t{200} << 20));
  EXPECT_GT(two, one + (std::int64_t{200} << 20)) << "a group more";
  EXPECT_GT(of("dp=2 pp=2 microbatches=2").communicators, one);
  // Ring and tree have two neighbours at most, however many ranks there are.
  EXPECT_EQ(nccl_buffer_bytes(gpu, 8, true, 0), nccl_buffer_bytes(gpu, 3, true, 0));
  EXPECT_EQ(nccl_buffer_bytes(gpu, 2, true, 0), std::int64_t{24} * 9'633'792);
  gpu.major = 9;
  EXPECT_GT(nccl_buffer_bytes(gpu, 8, true, 0), nccl_buffer_bytes(gpu, 3, true, 0)) << "NVLS";
  EXPECT_EQ(nccl_buffer_bytes(gpu, 1, true, 0), 0);
}

// One of both is slow: the host in handing over products, or the device in computing them.
class Lopsided final : public QueuedDevice {
 public:
  Lopsided(std::chrono::microseconds host, std::chrono::microseconds device)
      : QueuedDevice(std::chrono::microseconds(0),
                     [device] { std::this_thread::sleep_for(device); }),
        host_(host) {}
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    std::this_thread::sleep_for(host_);
    QueuedDevice::linear_forward(y, x, w, bias, N, M, K, y_pitch);
  }

 private:
  const std::chrono::microseconds host_;
};

TEST(HostTime, IsWhatDevicesWaitForTheirHost) {
  const auto host_share = [](int host, int device) {
    LaunchOptions options;
    options.make_device = [=](int, Lane) -> std::unique_ptr<Device> {
      return std::make_unique<Lopsided>(std::chrono::microseconds(host),
                                        std::chrono::microseconds(device));
    };
    const parallelarium::Setup setup = small_setup(1, 1, 4);
    const Result<RunResult> run = run_now(setup, built(setup), {}, options);
    EXPECT_TRUE(run.ok()) << run.error().text;
    const Observation& seen = run->observation;
    EXPECT_LE(seen.host_seconds, seen.step.seconds * 1.001);
    EXPECT_GE(seen.wall_seconds, seen.step.seconds * 0.999);
    return seen.host_seconds / seen.step.seconds;
  };
  EXPECT_GT(host_share(2000, 0), 0.8);
  EXPECT_LT(host_share(0, 2000), 0.2);
}

TEST(HostTime, OfCpuRanksIsNone) {
  const parallelarium::Setup setup = small_setup(1, 1, 1);
  const Result<RunResult> run = run_now(setup, built(setup));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->observation.host_seconds, 0);
  EXPECT_GE(run->observation.wall_seconds, run->observation.step.seconds);
  EXPECT_TRUE(run->observation.gpu_memory.empty());
}

}  // namespace
}  // namespace parallelarium
