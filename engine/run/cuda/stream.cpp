// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/stream.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "engine/run/gpu/faults.h"

namespace parallelarium {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::size_t kStaging = std::size_t{1} << 20;  // of pinned memory, each way
constexpr int kAlignTries = 5;
constexpr auto kPoll = std::chrono::microseconds{20};

}  // namespace

CudaStream::CudaStream(int gpu, int rank) : gpu_(gpu), rank_(rank) {
  note(cudaSetDevice(gpu_), "cudaSetDevice");
  if (good()) note(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  if (good()) note(cudaMallocHost(&staging_, 2 * kStaging), "cudaMallocHost");
  for (cudaEvent_t* event : {&base_, &staged_[0], &staged_[1]})
    if (good()) note(cudaEventCreate(event), "cudaEventCreate");
}

CudaStream::~CudaStream() {
  // What fails here failed before, and has been told.
  static_cast<void>(cudaSetDevice(gpu_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
  for (cudaEvent_t event : marks_)
    if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  for (cudaEvent_t event : {base_, staged_[0], staged_[1]})
    if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  static_cast<void>(cudaFreeHost(staging_));
  static_cast<void>(cudaFree(scratch_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

Result<std::byte*> CudaStream::allocate(std::int64_t bytes) {
  if (!use()) return *failure_;
  void* address = nullptr;
  const cudaError_t status = cudaMalloc(&address, std::max(size(bytes), std::size_t{1}));
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    std::size_t free = 0, all = 0;
    static_cast<void>(cudaMemGetInfo(&free, &all));
    return gpu_memory_short(bytes, static_cast<std::int64_t>(free));
  }
  note(status, "cudaMalloc");
  if (!good()) return *failure_;
  return static_cast<std::byte*>(address);
}
void CudaStream::release(std::byte* address) {
  static_cast<void>(cudaSetDevice(gpu_));
  static_cast<void>(cudaFree(address));
}
void CudaStream::zero(std::byte* address, std::int64_t bytes) {
  if (use()) note(cudaMemsetAsync(address, 0, size(bytes), stream_), "cudaMemset");
}
void CudaStream::copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (use())
    note(cudaMemcpyAsync(to, from, size(bytes), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpy");
}
// Through two halves of pinned memory, one filled while the other travels.
void CudaStream::copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) {
  const auto* from = static_cast<const std::byte*>(from_host);
  for (std::size_t done = 0; done < size(bytes) && use(); done += kStaging, half_ ^= 1U) {
    const std::size_t part = std::min(kStaging, size(bytes) - done);
    note(cudaEventSynchronize(staged_[half_]), "cudaMemcpy");
    if (!good()) return;
    std::byte* pinned = staging_half(half_);
    std::memcpy(pinned, from + done, part);
    note(cudaMemcpyAsync(to + done, pinned, part, cudaMemcpyHostToDevice, stream_), "cudaMemcpy");
    if (good()) note(cudaEventRecord(staged_[half_], stream_), "cudaEventRecord");
  }
}
// Waits, since the bytes have to be taken out of pinned memory.
void CudaStream::copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) {
  for (std::size_t done = 0; done < size(bytes) && use(); done += kStaging) {
    const std::size_t part = std::min(kStaging, size(bytes) - done);
    for (const cudaEvent_t staged : staged_) note(cudaEventSynchronize(staged), "cudaMemcpy");
    std::byte* pinned = staging_half(0);
    if (good())
      note(cudaMemcpyAsync(pinned, from + done, part, cudaMemcpyDeviceToHost, stream_),
           "cudaMemcpy");
    if (good()) note(cudaStreamSynchronize(stream_), "cudaMemcpy");
    if (good()) std::memcpy(static_cast<std::byte*>(to_host) + done, pinned, part);
  }
}

// Looks now and then instead of spinning, since ranks may share cores.
Result<void> CudaStream::finish() {
  while (use()) {
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaSuccess) return {};
    if (status == cudaErrorNotReady) {
      std::this_thread::sleep_for(kPoll);
    } else {
      note(status, last_);
    }
  }
  return *failure_;
}

Result<void> CudaStream::launched() {
  if (!good()) return *failure_;
  return {};
}
void CudaStream::reserve_marks(std::int32_t count) {
  for (std::size_t i = marks_.size(); i < size(count) && use(); ++i) {
    note(cudaEventCreate(&marks_.emplace_back(nullptr)), "cudaEventCreate");
  }
}
void CudaStream::mark(std::int32_t index) {
  if (use()) note(cudaEventRecord(marks_[size(index)], stream_), "cudaEventRecord");
}
void CudaStream::wait(const Device& other, std::int32_t index) {
  const auto& there = static_cast<const CudaStream&>(other);
  if (size(index) >= there.marks_.size()) return;  // it failed, and tells so itself
  if (use())
    note(cudaStreamWaitEvent(stream_, there.marks_[size(index)], 0), "cudaStreamWaitEvent");
}

// An event between two looks at the clock; the narrowest pair of several is kept. Looked at again
// here, before the next step: how far the event clock has gone astray since counts too.
Result<nanoseconds> CudaStream::align() {
  const Result<void> idle = finish();
  if (!idle) return idle.error();
  nanoseconds drift{0};
  Bracket best;
  for (int i = 0; i < kAlignTries && use(); ++i) {
    cudaEvent_t event = staged_[0];  // idle: nothing travels
    Bracket now;
    now.before = Clock::now();
    note(cudaEventRecord(event, stream_), "cudaEventRecord");
    if (good()) note(cudaEventSynchronize(event), "cudaEventSynchronize");
    now.after = Clock::now();
    if (!good() || now.width() >= best.width()) continue;
    best = now;
    if (aligned_) {
      const Result<TimePoint> told = time_of_event(event);
      if (told) drift = std::max(told.value(), now.middle()) - std::min(told.value(), now.middle());
    }
  }
  Bracket kept;
  for (int i = 0; i < kAlignTries && use(); ++i) {
    Bracket now;
    now.before = Clock::now();
    note(cudaEventRecord(base_, stream_), "cudaEventRecord");
    if (good()) note(cudaEventSynchronize(base_), "cudaEventSynchronize");
    now.after = Clock::now();
    kept = now;
    if (now.width() <= best.width() * 2) break;  // as good as this computer does it
  }
  if (!good()) return *failure_;
  aligned_ = true;
  base_time_ = kept.middle();
  return kept.width() / 2 + drift;
}
Result<std::chrono::steady_clock::time_point> CudaStream::time_of(std::int32_t index) {
  if (!use()) return *failure_;
  return time_of_event(marks_[size(index)]);
}

// The event of a mark that was never set counts as passed, as for CUDA.
bool CudaStream::passed(std::int32_t index) const {
  if (size(index) >= marks_.size()) return true;
  return cudaEventQuery(marks_[size(index)]) != cudaErrorNotReady;
}

// Nsight Systems shows them above what was launched inside.
void CudaStream::enter_op(const char* name) { nvtxRangePushA(name); }
void CudaStream::leave_op() { nvtxRangePop(); }

bool CudaStream::use() {
  if (good()) note(cudaSetDevice(gpu_), "cudaSetDevice");
  return good();
}
// The first failure stays.
void CudaStream::note(cudaError_t status, const char* doing) {
  if (good()) last_ = doing;
  if (status == cudaSuccess || !good()) return;
  static_cast<void>(cudaGetLastError());
  failure_ = cuda_failure(static_cast<int>(status), cudaGetErrorString(status), doing);
}
void CudaStream::note(cublasStatus_t status, const char* doing) {
  if (good()) last_ = doing;
  if (status == CUBLAS_STATUS_SUCCESS || !good()) return;
  failure_ = message("cuda-failed", "cuBLASLt failed in {} (status {}) on rank {}.", doing,
                     static_cast<int>(status), rank_);
}

std::byte* CudaStream::staging_half(unsigned half) const {
  return static_cast<std::byte*>(staging_) + half * kStaging;
}
// Grows by waiting for what still uses the smaller one.
void* CudaStream::scratch(std::size_t bytes) {
  if (!use() || bytes <= scratch_bytes_) return scratch_;
  note(cudaStreamSynchronize(stream_), last_);
  static_cast<void>(cudaFree(scratch_));
  scratch_ = nullptr;
  scratch_bytes_ = 0;
  if (good()) note(cudaMalloc(&scratch_, bytes), "cudaMalloc");
  if (good()) scratch_bytes_ = bytes;
  return scratch_;
}

Result<std::chrono::steady_clock::time_point> CudaStream::time_of_event(cudaEvent_t event) {
  float milliseconds = 0;
  note(cudaEventElapsedTime(&milliseconds, base_, event), "cudaEventElapsedTime");
  if (!good()) return *failure_;
  return base_time_ + nanoseconds{static_cast<std::int64_t>(double{milliseconds} * 1e6)};
}

}  // namespace parallelarium
