// SPDX-License-Identifier: Apache-2.0
// Works on all cores at what a loop is about to need, while the loop takes one result after another
// in its own order. What the loop decides is then the same on any number of cores.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "engine/plan/placement/parallel.h"

namespace parallelarium {

template <class Outcome>
class Ahead {
 public:
  // `work` is called on any thread, for different items at once.
  explicit Ahead(std::function<Outcome(std::size_t item)> work) : work_(std::move(work)) {
    for (std::size_t thread = 1; thread < parallel_bodies(); ++thread)
      others_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
  ~Ahead() {
    const std::lock_guard lock(mutex_);  // none is about to wait
    for (std::jthread& other : others_) other.request_stop();
    changed_.notify_all();
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // The outcome of an item, which is not kept: the next time it is worked out anew. Where it is not
  // there yet, `coming` is asked for the items that may be wanted after it, soonest first.
  template <class Coming>
  Outcome take(std::size_t item, const Coming& coming) {
    std::unique_lock lock(mutex_);
    if (done_.find(item) == done_.end()) {
      wanted_.clear();
      for (const std::size_t other : coming())
        if (done_.find(other) == done_.end() && at_work_.count(other) == 0)
          wanted_.push_back(other);
      if (at_work_.count(item) == 0) wanted_.push_front(item);
      changed_.notify_all();
    }
    for (;;) {
      if (const auto found = done_.find(item); found != done_.end()) {
        Outcome outcome = std::move(found->second);
        done_.erase(found);
        return outcome;
      }
      if (!wanted_.empty())
        work_at_next(lock);
      else
        changed_.wait(lock);
    }
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (wanted_.empty())
        changed_.wait(lock);
      else
        work_at_next(lock);
    }
  }

  void work_at_next(std::unique_lock<std::mutex>& lock) {
    const std::size_t item = wanted_.front();
    wanted_.pop_front();
    at_work_.insert(item);
    lock.unlock();
    Outcome outcome = work_(item);
    lock.lock();
    at_work_.erase(item);
    done_.emplace(item, std::move(outcome));
    changed_.notify_all();
  }

  const std::function<Outcome(std::size_t)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> wanted_;
  std::set<std::size_t> at_work_;
  std::map<std::size_t, Outcome> done_;
  std::vector<std::jthread> others_;
};

}  // namespace parallelarium
