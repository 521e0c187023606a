// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <numeric>
#include <random>

#include "engine/run/calibrate/memory_probe.h"
#include "kernels/memory/memory.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kLine = 64;  // bytes of a cache line
// In floats: a load whose address has the last 12 bits of a store under way waits for it.
constexpr std::size_t kHalfPage = 512;

// Where nothing keeps what was computed, it would be left out.
template <class Value>
void keep(const Value& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

// Seconds of one call, repeated for at least so long; the best of three rounds.
template <class Call>
double best_seconds(double least, const Call& call) {
  using ClockOfCalls = std::chrono::steady_clock;
  double best = 1e30;
  for (int round = 0; round < 3; ++round) {
    std::int64_t calls = 0;
    const auto begin = ClockOfCalls::now();
    double seconds = 0;
    do {
      call();
      ++calls;
      seconds = std::chrono::duration<double>(ClockOfCalls::now() - begin).count();
    } while (seconds < least);
    best = std::min(best, seconds / static_cast<double>(calls));
  }
  return best;
}

Message core_memory_short(std::int64_t bytes) {
  return message("memory-short", "There is no room for a working set of {} MiB; free memory.",
                 bytes >> 20);
}

// c += a b of one tile.
void add_tile(const float* a, const float* b, float* c, std::size_t n, std::size_t rows,
              std::size_t inner, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k) {
      const float factor = a[i * n + k];
      const float* __restrict from = b + k * n;
      float* __restrict to = c + i * n;
      for (std::size_t j = 0; j < columns; ++j) to[j] += factor * from[j];
    }
}

class CoreProbe final : public MemoryProbe {
 public:
  explicit CoreProbe(double least) : least_(least) {}

  std::string device() const override {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (const auto colon = line.find(": "); line.starts_with("model name") && colon < line.size())
        return line.substr(colon + 2);
    return {};
  }

  std::vector<CacheLevel> caches() const override {
    std::vector<CacheLevel> levels;
    for (int index = 0; index < 8; ++index) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
      std::string level, type, size;
      std::ifstream(folder + "level") >> level;
      std::ifstream(folder + "type") >> type;
      std::ifstream(folder + "size") >> size;
      if (level.empty() || type == "Instruction" || size.empty()) continue;
      std::int64_t bytes = std::atoll(size.c_str());
      if (size.back() == 'K') bytes <<= 10;
      if (size.back() == 'M') bytes <<= 20;
      levels.push_back({"L" + level, bytes});
    }
    return levels;
  }
  CacheLevel shared() const override { return {}; }

  Result<StepTime> multiply_add() override {
    constexpr std::int64_t kSteps = 1 << 12;
    float value = 1;
    const double seconds = best_seconds(least_, [&] {
      value = multiply_add_chain_cpu(value, 0.5F, 0.5F, kSteps).value;
      keep(value);
    });
    return StepTime{seconds / kSteps, 0};
  }

  Result<StepTime> load(std::int64_t bytes) override {
    struct alignas(kLine) Step {
      Step* next = nullptr;
    };
    try {
      std::vector<Step> steps(static_cast<std::size_t>(bytes / kLine));
      std::vector<std::uint32_t> order(steps.size());
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), std::mt19937(1));
      for (std::size_t at = 0; at < order.size(); ++at)
        steps[order[at]].next = &steps[order[(at + 1) % order.size()]];
      constexpr int kLoads = 1 << 12;
      const Step* step = steps.data();
      for (std::size_t at = 0; at < steps.size(); ++at) step = step->next;  // into the caches
      const double seconds = best_seconds(least_, [&] {
        for (int load = 0; load < kLoads; ++load) step = step->next;
        keep(step);
      });
      return StepTime{seconds / kLoads, 0};
    } catch (const std::bad_alloc&) {
      return core_memory_short(bytes);
    }
  }
  Result<StepTime> load_shared() override { return StepTime{}; }

  Result<double> copy(std::int64_t bytes, std::int64_t stride_bytes) override {
    const auto count = static_cast<std::size_t>(bytes / 2 / 4);
    const auto stride = static_cast<std::size_t>(stride_bytes / 4);
    try {
      std::vector<float> both(2 * count + kHalfPage, 1.0F);
      float* const target = both.data() + count + kHalfPage;
      return best_seconds(least_, [&] {
        if (stride == 1)
          std::memcpy(target, both.data(), count * sizeof(float));
        else
          copy_strided_cpu(target, both.data(), count, stride);
        keep(target);
      });
    } catch (const std::bad_alloc&) {
      return core_memory_short(bytes);
    }
  }

  Result<double> product(std::int64_t size, std::int64_t tile) override {
    const auto n = static_cast<std::size_t>(size), t = static_cast<std::size_t>(tile);
    std::vector<float> a(n * n, 0.5F), b(n * n, 0.25F), c(n * n, 0.0F);
    const auto length = [&](std::size_t begin) { return std::min(t, n - begin); };
    return best_seconds(least_, [&] {
      for (std::size_t i = 0; i < n; i += t)
        for (std::size_t k = 0; k < n; k += t)
          for (std::size_t j = 0; j < n; j += t)
            add_tile(&a[i * n + k], &b[k * n + j], &c[i * n + j], n, length(i), length(k),
                     length(j));
      keep(c.data());
    });
  }
  // For each of (n/t)^3 products of tiles: both factors, and the sum read and written.
  double product_bytes(std::int64_t size, std::int64_t tile) const override {
    const auto n = static_cast<double>(size), t = static_cast<double>(tile);
    return 4 * 4 * n * n * n / t;
  }

 private:
  const double least_;
};

}  // namespace

std::unique_ptr<MemoryProbe> make_core_probe(double least_seconds) {
  return std::make_unique<CoreProbe>(least_seconds);
}

}  // namespace parallelarium
