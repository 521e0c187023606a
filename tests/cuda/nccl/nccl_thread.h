// SPDX-License-Identifier: Apache-2.0
// The thread on which NCCL's calls complete, each a little later than it returned.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace parallelarium {

class NcclThread {
 public:
  NcclThread() : thread_([this] { work(); }) {}
  ~NcclThread() {
    later({});
    thread_.join();
  }
  NcclThread(const NcclThread&) = delete;
  NcclThread& operator=(const NcclThread&) = delete;

  // In the order of the calls; an empty one ends the thread.
  void later(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    queued_.notify_one();
  }
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return queue_.empty() && !busy_; });
  }

 private:
  void work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        queued_.wait(lock, [&] { return !queue_.empty(); });
        task = std::move(queue_.front());
        queue_.pop_front();
        busy_ = static_cast<bool>(task);
      }
      if (!task) return;
      std::this_thread::sleep_for(std::chrono::microseconds{30});
      task();
      const std::lock_guard lock(mutex_);
      busy_ = false;
      idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable queued_, idle_;
  bool busy_ = false;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;  // begins when the others are there
};

}  // namespace parallelarium
