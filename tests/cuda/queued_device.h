// SPDX-License-Identifier: Apache-2.0
// A Device that runs behind, as a stream of a GPU does: launches go to a thread of their own, which
// takes them one after another, now and then a little late. Marks and waits are those of CUDA
// events: a wait is for the mark as it stood when the wait was called. The queue is finite.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/ranks/transport/forwarded_device.h"

namespace parallelarium {

class QueuedDevice : public ForwardedDevice<QueuedDevice> {
 public:
  // `before_linear` runs before every forward product, on the device's thread.
  explicit QueuedDevice(std::chrono::microseconds late,
                        std::function<void()> before_linear = nullptr)
      : late_(late), before_linear_(std::move(before_linear)) {
    worker_ = std::thread([this] { work(); });
  }
  ~QueuedDevice() override {
    launch({});
    worker_.join();
  }
  QueuedDevice(const QueuedDevice&) = delete;
  QueuedDevice& operator=(const QueuedDevice&) = delete;

  bool runs_behind() const override { return true; }
  void reserve_marks(std::int32_t count) override {
    marks_.resize(static_cast<std::size_t>(count));
  }
  void mark(std::int32_t index) override {
    auto point = std::make_shared<Point>();
    {
      const std::lock_guard lock(mutex_);
      marks_[static_cast<std::size_t>(index)] = point;
    }
    launch([point] {
      const std::lock_guard lock(point->mutex);
      point->passed = true;
      point->time = std::chrono::steady_clock::now();
      point->changed.notify_all();
    });
  }
  void wait(const DeviceStream& other, std::int32_t index) override {
    const std::shared_ptr<Point> point = static_cast<const QueuedDevice&>(other).point(index);
    if (point == nullptr) return;  // a CUDA event that was never recorded delays nobody
    launch([point] {
      std::unique_lock lock(point->mutex);
      point->changed.wait(lock, [&] { return point->passed; });
    });
  }
  bool passed(std::int32_t index) const override {
    const std::shared_ptr<Point> found = point(index);
    if (found == nullptr) return false;
    const std::lock_guard lock(found->mutex);
    return found->passed;
  }
  // Whether a launch had to wait for room.
  bool was_full() const {
    const std::lock_guard lock(mutex_);
    return was_full_;
  }
  // A kernel of the test's own.
  void enqueue(std::function<void()> kernel) { launch(std::move(kernel)); }
  Result<std::chrono::steady_clock::time_point> time_of(std::int32_t index) override {
    const std::shared_ptr<Point> found = point(index);
    if (found == nullptr) return message("mark-unknown", "Nobody set mark {}.", index);
    return found->time;
  }
  Result<void> finish() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return queue_.empty() && !busy_; });
    return {};
  }

  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    launch([=, this, all = std::vector<const std::byte*>(parts.begin(), parts.end())] {
      inner().combine(type, reduction, target, all, divisor, count);
    });
  }
  void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) override {
    // Taken at once, as into pinned memory.
    const auto* from = static_cast<const std::byte*>(from_host);
    launch([this, to, taken = std::vector<std::byte>(from, from + bytes)] {
      inner().copy_to_device(to, taken.data(), static_cast<std::int64_t>(taken.size()));
    });
  }
  template <class Launch>
  void forward(std::string_view name, std::initializer_list<Values>, const Launch& kernel) {
    const bool hooked = before_linear_ && name == "linear_forward";
    launch([this, hooked, kernel] {
      if (hooked) before_linear_();
      kernel(inner());
    });
  }

 private:
  struct Point {
    std::mutex mutex;
    std::condition_variable changed;
    bool passed = false;
    std::chrono::steady_clock::time_point time;
  };

  std::shared_ptr<Point> point(std::int32_t index) const {
    const std::lock_guard lock(mutex_);
    return marks_[static_cast<std::size_t>(index)];
  }
  // Nothing: the thread ends. Waits for room where a driver would.
  void launch(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    was_full_ = was_full_ || queue_.size() >= kRoom;
    room_.wait(lock, [&] { return queue_.size() < kRoom; });
    queue_.push_back(std::move(task));
    changed_.notify_one();
  }
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !queue_.empty(); });
      const std::function<void()> task = std::move(queue_.front());
      queue_.pop_front();
      room_.notify_all();
      if (!task) return;
      busy_ = true;
      lock.unlock();
      if (late_.count() > 0 && ++taken_ % 8 == 0) std::this_thread::sleep_for(late_);
      task();
      lock.lock();
      busy_ = false;
      if (queue_.empty()) idle_.notify_all();
    }
  }

  static constexpr std::size_t kRoom = 1000;
  const std::chrono::microseconds late_;
  const std::function<void()> before_linear_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, idle_, room_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false, was_full_ = false;
  unsigned taken_ = 0;
  std::vector<std::shared_ptr<Point>> marks_;
  std::thread worker_;
};

}  // namespace parallelarium
