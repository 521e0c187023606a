// SPDX-License-Identifier: Apache-2.0
// Remembers how much dynamic shared memory each kernel may use on each GPU, so that a launch asks
// CUDA only once. It is plain C++, so tests need no GPU.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

namespace parallelarium {

// Thread-safe. A known limit is found without a lock.
class SharedLimits {
 public:
  // Returns `good` if the kernel may use so many bytes on the device. If it may not yet, calls
  // raise(bytes) and returns its status. Threads raise one after another, and nobody lowers a
  // limit, since that could happen between another thread's question and its launch.
  template <class Status, class Raise>
  Status allow(const void* kernel, int device, std::size_t bytes, Status good, const Raise& raise) {
    if (known(kernel, device) >= bytes) return good;
    const std::lock_guard<std::mutex> lock(raising_);
    if (known(kernel, device) >= bytes) return good;
    const Status status = raise(bytes);
    if (status == good) remember(kernel, device, bytes);
    return status;
  }

 private:
  struct Limit {
    const void* kernel = nullptr;
    int device = 0;
    std::atomic<std::size_t> bytes{0};
    Limit* next = nullptr;
  };
  using Chain = std::atomic<Limit*>;

  Chain& chain_of(int device) { return chains_[static_cast<std::size_t>(device) % chains_.size()]; }
  Limit* find(const void* kernel, int device) {
    Limit* limit = chain_of(device).load(std::memory_order_acquire);
    while (limit != nullptr && (limit->kernel != kernel || limit->device != device))
      limit = limit->next;
    return limit;
  }
  std::size_t known(const void* kernel, int device) {
    const Limit* const limit = find(kernel, device);
    return limit != nullptr ? limit->bytes.load(std::memory_order_acquire) : 0;
  }
  // The caller must hold raising_.
  void remember(const void* kernel, int device, std::size_t bytes) {
    if (Limit* known = find(kernel, device)) return known->bytes.store(bytes);
    Limit& limit = limits_.emplace_back();
    limit.kernel = kernel;
    limit.device = device;
    limit.bytes.store(bytes);
    limit.next = chain_of(device).load();
    chain_of(device).store(&limit, std::memory_order_release);
  }

  std::mutex raising_;
  std::deque<Limit> limits_;  // stay where they are
  std::array<Chain, 16> chains_{};
};

}  // namespace parallelarium
