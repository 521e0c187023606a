// SPDX-License-Identifier: Apache-2.0
// Stands for engine/run/cuda/stream.cpp: every launch has ended when it returns. The kernels of
// engine/run/cuda/device.cpp are the emulated ones.
#include "engine/run/cuda/stream.h"

#include <algorithm>
#include <cstring>

#include "kernels/products/gpu_matmul.h"
#include "tests/emulation/slow_memory.h"

cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  const auto& levels = parallelarium::emulation::slow_memory().levels;
  const auto bytes_of = [&](std::size_t level) {
    return level < levels.size() ? static_cast<int>(levels[level].lines * 128) : 0;
  };
  switch (which) {
    case cudaDevAttrMultiProcessorCount:
      *value = 1;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = bytes_of(0);
      break;
    case cudaDevAttrL2CacheSize:
      *value = bytes_of(1);
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    default:
      *value = 227 * 1024;  // as compute capability 9.0
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t rows,
                              cudaMemcpyKind, cudaStream_t) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                static_cast<const std::byte*>(from) + row * from_pitch, width);
  return cudaSuccess;
}

namespace parallelarium {

cudaError_t GpuMatmul::load(cudaStream_t) { return cudaSuccess; }

CudaStream::CudaStream(int gpu, int rank, Lane) : gpu_(gpu), rank_(rank) {}
CudaStream::~CudaStream() { static_cast<void>(cudaFree(scratch_)); }

Result<std::byte*> CudaStream::allocate(std::int64_t bytes) {
  void* address = nullptr;
  note(cudaMalloc(&address, std::max(size(bytes), std::size_t{1})), "cudaMalloc");
  if (!good()) return *failure_;
  return static_cast<std::byte*>(address);
}
void CudaStream::release(std::byte* address) { static_cast<void>(cudaFree(address)); }
void CudaStream::zero(std::byte* address, std::int64_t bytes) {
  std::memset(address, 0, size(bytes));
}
void CudaStream::copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, size(bytes));
}
void CudaStream::copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) {
  std::memcpy(to, from_host, size(bytes));
}
void CudaStream::copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to_host, from, size(bytes));
}
Result<void> CudaStream::finish() { return launched(); }
Result<void> CudaStream::launched() {
  if (!good()) return *failure_;
  return {};
}
// A mark is the clock of slow_memory.h, in the place of its event.
void CudaStream::reserve_marks(std::int32_t count) { marks_.resize(size(count)); }
void CudaStream::mark(std::int32_t index) {
  if (size(index) >= marks_.size()) marks_.resize(size(index) + 1);
  marks_[size(index)] = reinterpret_cast<cudaEvent_t>(emulation::slow_memory().clock);
}
void CudaStream::wait(const DeviceStream&, std::int32_t) {}
bool CudaStream::passed(std::int32_t) const { return true; }
Result<std::chrono::nanoseconds> CudaStream::align(const DeviceStream*) {
  return std::chrono::nanoseconds{0};
}
Result<std::chrono::steady_clock::time_point> CudaStream::time_of(std::int32_t index) {
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(reinterpret_cast<std::int64_t>(marks_[size(index)])));
}
void CudaStream::enter_op(const char*) {}
void CudaStream::leave_op() {}

bool CudaStream::use() { return good(); }
void CudaStream::note(cudaError_t status, const char* doing) {
  if (status != cudaSuccess && good()) failure_ = message("cuda-failed", "{} failed.", doing);
}
void CudaStream::note(cublasStatus_t status, const char* doing) {
  if (status != CUBLAS_STATUS_SUCCESS && good())
    failure_ = message("cuda-failed", "{} failed.", doing);
}
void* CudaStream::scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  static_cast<void>(cudaFree(scratch_));
  scratch_ = nullptr;
  note(cudaMalloc(&scratch_, bytes), "cudaMalloc");
  scratch_bytes_ = good() ? bytes : 0;
  return scratch_;
}

}  // namespace parallelarium
