// SPDX-License-Identifier: Apache-2.0
// What the tests of CUDA kernels share: arrays on the device, fresh random inputs, and how far a
// kernel may be from its CPU twin.
//
// Every program draws a new seed, prints it, and takes PARALLELARIUM_SEED to repeat a failure.
// Inputs are rounded to the storage first, so both sides start from the same numbers. Bounds: fp32
// sums of a few hundred terms cost kFloatBound on either side (reference.h), and each rounding to
// bf16 on the way costs at most 2^-8 of what is rounded. The CPU twins themselves are held to
// definitions in double precision by tests/kernels.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/base/bf16.h"
#include "kernels/bf16_kernels.h"
#include "tests/kernels/reference.h"

namespace parallelarium::twin {

using reference::Floats;
using reference::relative_difference;

inline constexpr double kBf16Rounding = 1.0 / 256;
template <class T>
constexpr double bound(double roundings) {
  return 2 * reference::kFloatBound + (std::is_same_v<T, Bf16> ? roundings * kBf16Rounding : 0);
}

inline unsigned seed() {
  static const unsigned value = [] {
    const char* given = std::getenv("PARALLELARIUM_SEED");
    const unsigned drawn =
        given ? static_cast<unsigned>(std::atoll(given)) : std::random_device{}();
    std::cout << "PARALLELARIUM_SEED=" << drawn << " repeats these inputs\n";
    return drawn;
  }();
  return value;
}
// Never the same twice in one program.
inline Floats random(std::int64_t count) {
  static unsigned drawn = 0;
  return reference::random_floats(count, seed() + 7919 * ++drawn);
}
inline std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t rows) {
  static unsigned drawn = 0;
  std::mt19937 bits(seed() + 104729 * ++drawn);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(bits() % static_cast<std::uint32_t>(rows));
  return tokens;
}

// relative_difference, but relative to at least 0.05 for each number: few numbers of order one may
// happen to cancel, and their rounding errors do not.
inline double difference(const Floats& a, const Floats& b) {
  if (b.empty()) return 0;
  double apart = 0;
  double size = 0;
  for (std::size_t at = 0; at < b.size(); ++at) {
    apart += std::pow(double{a[at]} - double{b[at]}, 2);
    size += std::pow(double{b[at]}, 2);
  }
  return std::sqrt(apart) /
         std::max(std::sqrt(size), 0.05 * std::sqrt(static_cast<double>(b.size())));
}

template <class T>
std::vector<T> stored(const Floats& values) {
  if constexpr (std::is_same_v<T, float>) {
    return values;
  } else {
    std::vector<T> result(values.size());
    cast_cpu(result.data(), values.data(), values.size());
    return result;
  }
}
template <class T>
Floats widened(const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, float>) {
    return values;
  } else {
    Floats result(values.size());
    cast_cpu(result.data(), values.data(), values.size());
    return result;
  }
}
// Random numbers that the storage holds exactly.
template <class T>
Floats random_stored(std::int64_t count) {
  return widened(stored<T>(random(count)));
}

// An array on the device, `shift` elements past a multiple of 256 bytes. When it ends, it checks
// that nobody wrote before or behind it.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values, std::size_t shift = 0)
      : count_(values.size()), shift_(shift), all_(shift + values.size() + kGuard) {
    std::memset(static_cast<void*>(all_.data()), kPattern, all_.size() * sizeof(T));
    std::copy(values.begin(), values.end(), all_.begin() + static_cast<std::ptrdiff_t>(shift));
    void* address = nullptr;
    EXPECT_EQ(cudaMalloc(&address, all_.size() * sizeof(T)), cudaSuccess);
    base_ = static_cast<T*>(address);
    EXPECT_EQ(cudaMemcpy(base_, all_.data(), all_.size() * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() {
    const std::vector<T> now = fetch();
    const auto untouched = [&](std::size_t begin, std::size_t end) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(now.data());
      return std::all_of(bytes + begin * sizeof(T), bytes + end * sizeof(T),
                         [](unsigned char byte) { return byte == kPattern; });
    };
    EXPECT_TRUE(untouched(0, shift_)) << "written before the array";
    EXPECT_TRUE(untouched(shift_ + count_, now.size())) << "written behind the array";
    cudaFree(base_);
  }
  T* data() { return base_ + shift_; }
  std::vector<T> host() const {
    const std::vector<T> now = fetch();
    const auto begin = now.begin() + static_cast<std::ptrdiff_t>(shift_);
    return {begin, begin + static_cast<std::ptrdiff_t>(count_)};
  }
  Floats floats() const { return widened(host()); }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr unsigned char kPattern = 0x5A;
  std::vector<T> fetch() const {
    std::vector<T> values(all_.size());
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(values.data(), base_, values.size() * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }
  std::size_t count_;
  std::size_t shift_;
  std::vector<T> all_;
  T* base_ = nullptr;
};

// `values` as T on the device.
template <class T>
DeviceArray<T> on_device(const Floats& values, std::size_t shift = 0) {
  return DeviceArray<T>(stored<T>(values), shift);
}
inline DeviceArray<unsigned char> workspace(std::size_t bytes) {
  return DeviceArray<unsigned char>(std::vector<unsigned char>(bytes, 0xFF));
}
inline Floats filled(std::int64_t count, float value) {
  return Floats(static_cast<std::size_t>(count), value);
}

// Skips with the driver's reason where there is no GPU.
template <class Base>
class OnGpu : public Base {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no GPU: "
                   << (status == cudaSuccess ? "none found" : cudaGetErrorString(status));
  }
};

// The storages that kernels exist for.
using Storages = testing::Types<float, Bf16>;

// Whether attention whose operands begin `shift` elements off 16 bytes is worth the time on shapes
// of T tokens: without tensor cores, which fp32 never uses, it reads element by element anywhere.
template <class T>
bool shift_matters(std::size_t shift, std::int64_t tokens) {
  return shift == 0 || !std::is_same_v<T, float> || tokens <= 40;
}

}  // namespace parallelarium::twin
