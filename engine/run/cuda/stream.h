// SPDX-License-Identifier: Apache-2.0
// The part of a Device that has no kernels: memory, order and time of a CUDA stream. vocabulary.h,
// experts.h and device.cpp add the kernels.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/train/device.h"

namespace parallelarium {

class CudaStream : public Device {
 public:
  CudaStream(int gpu, int rank, Lane lane);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  Result<std::byte*> allocate(std::int64_t bytes) override;
  void release(std::byte* address) override;
  void zero(std::byte* address, std::int64_t bytes) override;
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) override;
  void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) override;
  Result<void> finish() override;

  bool runs_behind() const override { return true; }
  Result<void> launched() override;
  void reserve_marks(std::int32_t count) override;
  void mark(std::int32_t index) override;
  void wait(const DeviceStream& other, std::int32_t index) override;
  bool passed(std::int32_t index) const override;
  Result<std::chrono::nanoseconds> align(const DeviceStream* like) override;
  Result<std::chrono::steady_clock::time_point> time_of(std::int32_t index) override;

  bool names_ops() const override { return true; }
  void enter_op(const char* name) override;
  void leave_op() override;

  cudaStream_t stream() const { return stream_; }
  int gpu() const { return gpu_; }

 protected:
  static std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }
  bool good() const { return !failure_.has_value(); }
  // Makes this GPU the calling thread's. Two threads may use a lane's object, one after the other.
  bool use();
  // The first failure stays.
  void note(cudaError_t status, const char* doing);
  void note(cublasStatus_t status, const char* doing);
  // Puts a kernel on the stream whose storage is that of `values`.
  template <class Byte, class Launch>
  void typed(const TypedAddress<Byte>& values, const char* name, const Launch& launch) {
    with_type(values, [&]<class T>(T*) {
      if (use()) note(launch.template operator()<std::remove_const_t<T>>(), name);
    });
  }
  // Grows in the stream's order: users of the smaller one end first, and nothing waits for them.
  void* scratch(std::size_t bytes);

  cudaStream_t stream_ = nullptr;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Bracket {
    TimePoint before{}, after = TimePoint::max();
    std::chrono::nanoseconds width() const { return after - before; }
    TimePoint middle() const { return before + width() / 2; }
  };
  std::byte* staging_half(unsigned half) const;
  static Message memory_short(std::size_t bytes);
  void free_scratch();
  Result<TimePoint> time_of_event(cudaEvent_t event);

  const int gpu_, rank_;
  void* staging_ = nullptr;  // pinned
  cudaEvent_t staged_[2] = {nullptr, nullptr};
  unsigned half_ = 0;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  bool pools_ = false;              // the GPU allocates in the stream's order
  std::vector<cudaEvent_t> marks_;  // made by their first use
  const CudaStream* clock_ = this;  // times count from its base
  cudaEvent_t base_ = nullptr;
  TimePoint base_time_{};
  bool aligned_ = false;
  std::optional<Message> failure_;
  const char* last_ = "nothing";
};

}  // namespace parallelarium
