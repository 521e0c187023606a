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

// Whether a query says that work is under way, which is no failure: forgotten, so that the check of
// a later launch on this thread cannot take it for its own.
bool is_pending(cudaError_t query) {
  if (query != cudaErrorNotReady) return false;
  static_cast<void>(cudaGetLastError());
  return true;
}

}  // namespace

// Communication goes first, so that it hides behind the compute lane's large kernels.
CudaStream::CudaStream(int gpu, int rank, Lane lane) : gpu_(gpu), rank_(rank) {
  note(cudaSetDevice(gpu_), "cudaSetDevice");
  int least = 0, greatest = 0, pools = 0;
  if (good())
    note(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  if (good())
    note(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, gpu_),
         "cudaDeviceGetAttribute");
  pools_ = pools != 0;
  if (good())
    note(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                      lane == Lane::kCompute ? least : greatest),
         "cudaStreamCreate");
  if (good()) note(cudaMallocHost(&staging_, 2 * kStaging), "cudaMallocHost");
  for (cudaEvent_t* event : {&base_, &staged_[0], &staged_[1]})
    if (good()) note(cudaEventCreate(event), "cudaEventCreate");
}

CudaStream::~CudaStream() {
  // What fails here failed before, and has been told.
  static_cast<void>(cudaSetDevice(gpu_));
  free_scratch();
  if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
  for (cudaEvent_t event : marks_)
    if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  for (cudaEvent_t event : {base_, staged_[0], staged_[1]})
    if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  static_cast<void>(cudaFreeHost(staging_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

Result<std::byte*> CudaStream::allocate(std::int64_t bytes) {
  if (!use()) return *failure_;
  void* address = nullptr;
  const cudaError_t status = cudaMalloc(&address, std::max(size(bytes), std::size_t{1}));
  if (status == cudaErrorMemoryAllocation) return memory_short(size(bytes));
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
    if (is_pending(status)) {
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
  if (marks_.size() < size(count)) marks_.resize(size(count), nullptr);
}
void CudaStream::mark(std::int32_t index) {
  cudaEvent_t& event = marks_[size(index)];
  if (use() && event == nullptr) note(cudaEventCreate(&event), "cudaEventCreate");
  if (good()) note(cudaEventRecord(event, stream_), "cudaEventRecord");
}
void CudaStream::wait(const DeviceStream& other, std::int32_t index) {
  const cudaEvent_t event = static_cast<const CudaStream&>(other).marks_[size(index)];
  if (event == nullptr) return;  // setting it failed, and `other` tells so itself
  if (use()) note(cudaStreamWaitEvent(stream_, event, 0), "cudaStreamWaitEvent");
}

// An event between two looks at the clock; the narrowest pair of several is kept. Looked at again
// here, before the next step: how far the event clock has gone astray since counts too. All streams
// of a GPU have one clock.
Result<nanoseconds> CudaStream::align(const DeviceStream* like) {
  const Result<void> idle = finish();
  if (!idle) return idle.error();
  clock_ = this;
  if (const auto* other = static_cast<const CudaStream*>(like);
      other != nullptr && other->gpu_ == gpu_) {
    clock_ = other->clock_;
    return nanoseconds{0};
  }
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
  if (!good()) return *failure_;
  const cudaEvent_t event = marks_[size(index)];
  if (event == nullptr) return message("mark-unknown.unset", "Nobody set mark {}.", index);
  return time_of_event(event);
}

// The event of a mark that was never set counts as passed, as for CUDA.
bool CudaStream::passed(std::int32_t index) const {
  const cudaEvent_t event = marks_[size(index)];
  return event == nullptr || !is_pending(cudaEventQuery(event));
}

// Nsight Systems shows them above what was launched inside.
void CudaStream::enter_op(const char* name) { nvtxRangePushA(name); }
void CudaStream::leave_op() { nvtxRangePop(); }

bool CudaStream::use() {
  if (!good()) return false;
  // Not through note(): what was launched before is what a later failure is told of.
  const cudaError_t status = cudaSetDevice(gpu_);
  if (status != cudaSuccess) note(status, "cudaSetDevice");
  return good();
}
// The first failure stays.
void CudaStream::note(cudaError_t status, const char* doing) {
  if (good()) last_ = doing;
  if (status == cudaSuccess || !good()) return;
  static_cast<void>(cudaGetLastError());
  failure_ =
      cuda_failure(static_cast<int>(status), cudaGetErrorString(status), doing, CUDART_VERSION);
}
Message CudaStream::memory_short(std::size_t bytes) {
  static_cast<void>(cudaGetLastError());
  std::size_t free = 0, all = 0;
  static_cast<void>(cudaMemGetInfo(&free, &all));
  return gpu_memory_short(static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(free));
}
void CudaStream::note(cublasStatus_t status, const char* doing) {
  if (good()) last_ = doing;
  if (status == CUBLAS_STATUS_SUCCESS || !good()) return;
  failure_ = cublas_failure(static_cast<int>(status), doing, rank_);
}

std::byte* CudaStream::staging_half(unsigned half) const {
  return static_cast<std::byte*>(staging_) + half * kStaging;
}
// cudaFree waits for the whole GPU, where a kernel of NCCL may be waiting for a rank whose thread
// waits here too (NVIDIA/nccl issue 744); memory in the stream's order waits for nothing.
void* CudaStream::scratch(std::size_t bytes) {
  if (!use() || bytes <= scratch_bytes_) return scratch_;
  free_scratch();
  const cudaError_t status =
      pools_ ? cudaMallocAsync(&scratch_, bytes, stream_) : cudaMalloc(&scratch_, bytes);
  if (status == cudaErrorMemoryAllocation) failure_ = memory_short(bytes);
  note(status, "cudaMalloc");
  if (good()) scratch_bytes_ = bytes;
  return scratch_;
}
void CudaStream::free_scratch() {
  if (scratch_ == nullptr) return;
  static_cast<void>(pools_ ? cudaFreeAsync(scratch_, stream_) : cudaFree(scratch_));
  scratch_ = nullptr;
  scratch_bytes_ = 0;
}

Result<std::chrono::steady_clock::time_point> CudaStream::time_of_event(cudaEvent_t event) {
  float milliseconds = 0;
  note(cudaEventElapsedTime(&milliseconds, clock_->base_, event), "cudaEventElapsedTime");
  if (!good()) return *failure_;
  return clock_->base_time_ + nanoseconds{static_cast<std::int64_t>(double{milliseconds} * 1e6)};
}

}  // namespace parallelarium
