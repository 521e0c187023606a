// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/memory_probe.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "engine/run/cuda/device.h"
#include "engine/run/gpu/faults.h"
#include "kernels/memory/gpu_memory.h"

namespace parallelarium {
namespace {

constexpr int kTries = 3;                      // the best counts: other work only makes it longer
constexpr std::int64_t kMostWarmed = 1 << 21;  // lines, 256 MiB; more are in no cache
constexpr unsigned kBlocksOfProcessor = 4;     // of kCopyThreads, that all GPUs run at once
constexpr std::int64_t kMoreOfFast = 16;       // steps, where one takes few cycles
constexpr double kMostRounds = 1000;

// Memory of the device while it lives.
class GpuBuffer {
 public:
  GpuBuffer(Device& device, std::int64_t bytes)
      : device_(device), address_(device.allocate(bytes)) {}
  ~GpuBuffer() {
    if (address_) device_.release(*address_);
  }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
  bool is_there() const { return address_.ok(); }
  const Message& why() const { return address_.error(); }
  std::byte* bytes() const { return *address_; }
  template <class Value>
  Value* as() const {
    return reinterpret_cast<Value*>(*address_);
  }

 private:
  Device& device_;
  Result<std::byte*> address_;
};

class CudaMemoryProbe final : public MemoryProbe {
 public:
  CudaMemoryProbe(int gpu, const std::string& name, const GpuProbeEffort& effort)
      : gpu_(gpu), name_(name), effort_(effort), device_(make_cuda_device(gpu, 0, Lane::kCompute)) {
    device_->reserve_marks(2);
  }

  std::string device() const override { return name_; }

  // The first cache shares its memory with the shared one, and CUDA tells the size of that.
  std::vector<CacheLevel> caches() const override {
    std::vector<CacheLevel> levels;
    if (const int first = told(cudaDevAttrMaxSharedMemoryPerMultiprocessor); first > 0)
      levels.push_back({"L1", first});
    if (const int second = told(cudaDevAttrL2CacheSize); second > 0)
      levels.push_back({"L2", second});
    return levels;
  }
  CacheLevel shared() const override {
    return {"shared", told(cudaDevAttrMaxSharedMemoryPerMultiprocessor)};
  }

  Result<StepTime> multiply_add() override {
    const GpuBuffer end(*device_, sizeof(ChainEnd));
    if (!end.is_there()) return end.why();
    const auto chain = [&](std::int64_t steps) {
      return multiply_add_chain(end.as<ChainEnd>(), 1, 0.5F, 0.5F,
                                steps / kChainUnroll * kChainUnroll, stream());
    };
    using Now = std::chrono::steady_clock;
    const auto until = Now::now() + std::chrono::duration<double>(effort_.warm_seconds);
    do {
      const Result<double> warm = seconds_of("multiply_add_chain", [&] { return chain(1 << 20); });
      if (!warm) return warm.error();
    } while (Now::now() < until);
    return step_of("multiply_add_chain", kMoreOfFast * effort_.loads, end, chain,
                   [](std::int64_t) { return true; });
  }

  Result<StepTime> load_shared() override {
    const GpuBuffer end(*device_, sizeof(ChainEnd));
    if (!end.is_there()) return end.why();
    return step_of(
        "chase_shared", kMoreOfFast * effort_.loads, end,
        [&](std::int64_t loads) { return chase_shared(end.as<ChainEnd>(), loads, stream()); },
        [&](std::int64_t loads) {
          return read(end).place == place_of(static_cast<std::uint64_t>(loads), kSharedChainBits);
        });
  }

  // Goes on where it stopped, so that what was loaded last is not what is loaded next.
  Result<StepTime> load(std::int64_t bytes) override {
    const auto lines = bytes / static_cast<std::int64_t>(sizeof(ChaseLine));
    const int bits = std::countr_zero(static_cast<std::uint64_t>(lines));
    const GpuBuffer chain(*device_, bytes), end(*device_, sizeof(ChainEnd));
    for (const GpuBuffer* buffer : {&chain, &end})
      if (!buffer->is_there()) return buffer->why();
    std::uint64_t step = 0;
    const auto go = [&](std::int64_t loads) {
      const std::uint64_t first = step;
      step += static_cast<std::uint64_t>(loads);
      return chase(end.as<ChainEnd>(), chain.as<ChaseLine>(), bits, first, loads, stream());
    };
    Result<double> warm = seconds_of(
        "chain_lines", [&] { return chain_lines(chain.as<ChaseLine>(), bits, stream()); });
    if (warm) warm = seconds_of("chase", [&] { return go(std::min(lines, kMostWarmed)); });
    if (!warm) return warm.error();
    return step_of("chase", effort_.loads, end, go,
                   [&](std::int64_t) { return read(end).place == place_of(step, bits); });
  }

  Result<double> copy(std::int64_t bytes, std::int64_t stride_bytes) override {
    const auto count = static_cast<std::size_t>(bytes / 2 / 4);
    const auto stride = static_cast<std::size_t>(stride_bytes / 4);
    const GpuBuffer from(*device_, bytes / 2), to(*device_, bytes / 2);
    for (const GpuBuffer* buffer : {&from, &to})
      if (!buffer->is_there()) return buffer->why();
    device_->zero(from.bytes(), bytes / 2);
    const unsigned blocks = kBlocksOfProcessor * static_cast<unsigned>(std::max(
                                                     1, told(cudaDevAttrMultiProcessorCount)));
    const auto seconds = [&](int rounds) {
      return least_of("copy_strided", [&] {
        return copy_strided(to.as<float>(), from.as<float>(), count, stride, rounds, blocks,
                            stream());
      });
    };
    const Result<double> once = seconds(1);
    if (!once) return once;
    const int rounds =
        static_cast<int>(std::clamp(std::ceil(effort_.copy_seconds / *once), 1.0, kMostRounds));
    const Result<double> some = seconds(rounds), twice = seconds(2 * rounds);
    if (!some || !twice) return some ? twice : some;
    return std::max(*twice - *some, 1e-9) / rounds;
  }

  Result<double> product(std::int64_t size, std::int64_t tile) override {
    const auto n = static_cast<std::size_t>(size);
    const std::vector<float> half(n * n, 0.5F);
    const auto bytes = static_cast<std::int64_t>(n * n * sizeof(float));
    const GpuBuffer a(*device_, bytes), b(*device_, bytes), c(*device_, bytes);
    for (const GpuBuffer* buffer : {&a, &b, &c})
      if (!buffer->is_there()) return buffer->why();
    for (const GpuBuffer* factor : {&a, &b})
      device_->copy_to_device(factor->bytes(), half.data(), bytes);
    return least_of("tiled_product", [&] {
      return tiled_product(c.as<float>(), a.as<float>(), b.as<float>(), n, static_cast<int>(tile),
                           stream());
    });
  }
  // Both factors once for each tile of the sum, which stays in registers and is stored once.
  double product_bytes(std::int64_t size, std::int64_t tile) const override {
    const auto n = static_cast<double>(size), t = static_cast<double>(tile);
    return 4 * (2 * n * n * n / t + n * n);
  }

 private:
  cudaStream_t stream() const { return stream_of(*device_); }

  int told(cudaDeviceAttr which) const {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, gpu_) == cudaSuccess ? value : 0;
  }

  ChainEnd read(const GpuBuffer& end) const {
    ChainEnd found;
    device_->copy_to_host(&found, end.bytes(), sizeof found);
    return found;
  }

  // Of what `launch` puts on the stream.
  template <class Launch>
  Result<double> seconds_of(const char* name, const Launch& launch) {
    if (!aligned_) {
      if (const auto width = device_->align(nullptr); !width) return width.error();
      aligned_ = true;
    }
    device_->mark(0);
    if (const cudaError_t status = launch(); status != cudaSuccess)
      return cuda_failure(static_cast<int>(status), cudaGetErrorString(status), name);
    device_->mark(1);
    if (const Result<void> ended = device_->finish(); !ended) return ended.error();
    const auto begin = device_->time_of(0), end = device_->time_of(1);
    if (!begin || !end) return begin ? end.error() : begin.error();
    return std::chrono::duration<double>(*end - *begin).count();
  }
  template <class Launch>
  Result<double> least_of(const char* name, const Launch& launch) {
    Result<double> least = seconds_of(name, launch);
    for (int attempt = 0; attempt < kTries && least; ++attempt) {
      const Result<double> again = seconds_of(name, launch);
      if (!again) return again;
      least = std::min(*least, *again);
    }
    return least;
  }

  // Times one step of a chain: runs `count` steps and twice as many, and divides the difference.
  // `ended_well` says whether the chain ended where so many steps lead.
  template <class Chain, class Ended>
  Result<StepTime> step_of(const char* name, std::int64_t count, const GpuBuffer& end,
                           const Chain& chain, const Ended& ended_well) {
    StepTime times[2] = {{1e30, 1e30}, {1e30, 1e30}};
    for (int attempt = 0; attempt < kTries; ++attempt)
      for (const int twice : {0, 1}) {
        const std::int64_t steps = count << twice;
        const Result<double> seconds = seconds_of(name, [&] { return chain(steps); });
        if (!seconds) return seconds.error();
        if (!ended_well(steps))
          return message("chain-broken",
                         "A chain of loads on {} ended in the wrong place: the GPU, its memory or "
                         "its driver is faulty.",
                         name_);
        StepTime& best = times[twice];
        best.seconds = std::min(best.seconds, *seconds);
        best.cycles = std::min(best.cycles, static_cast<double>(read(end).cycles));
      }
    const auto steps = static_cast<double>(count);
    return StepTime{std::max(times[1].seconds - times[0].seconds, 1e-12) / steps,
                    std::max(times[1].cycles - times[0].cycles, 0.0) / steps};
  }

  const int gpu_;
  const std::string name_;
  const GpuProbeEffort effort_;
  const std::unique_ptr<Device> device_;
  bool aligned_ = false;
};

}  // namespace

std::unique_ptr<MemoryProbe> make_cuda_memory_probe(int gpu, const std::string& name,
                                                    const GpuProbeEffort& effort) {
  return std::make_unique<CudaMemoryProbe>(gpu, name, effort);
}

}  // namespace parallelarium
