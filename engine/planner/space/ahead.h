// SPDX-License-Identifier: Apache-2.0
// Works on all cores at what a loop will soon need, while the loop takes one result after another
// in its own order. So the loop decides the same on any number of cores.
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

// An Item has a key(), a std::size_t. Items with the same key have the same outcome.
template <class Item, class Outcome>
class Ahead {
 public:
  // The outcomes that are known while the loop waits.
  class Known {
   public:
    explicit Known(const Ahead& ahead) : ahead_(ahead) {}
    const Outcome* outcome(const Item& item) const {  // null: there is none yet
      const auto found = ahead_.done_.find(item.key());
      return found == ahead_.done_.end() ? nullptr : &found->second;
    }
    bool is_at_work(const Item& item) const { return ahead_.at_work_.count(item.key()) > 0; }

   private:
    const Ahead& ahead_;
  };
  // Items that the loop may want after the one that it waits for, soonest first. They must be
  // neither known nor at work.
  using Coming = std::function<std::vector<Item>(const Known&)>;

  // `work` is called on any thread, for different items at once.
  explicit Ahead(std::function<Outcome(const Item&)> work) : work_(std::move(work)) {
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

  // Returns the outcome of an item and does not keep it: the next time it is worked out again.
  // While the outcome is not there, idle threads ask `coming` for more items, until it has none.
  Outcome take(const Item& item, const Coming& coming) {
    std::unique_lock lock(mutex_);
    if (done_.count(item.key()) == 0) {
      wanted_.clear();
      if (at_work_.count(item.key()) == 0) wanted_.push_front(item);
      coming_ = others_.empty() ? nullptr : &coming;
      asked_ = false;
      changed_.notify_all();
    }
    for (;;) {
      if (const auto found = done_.find(item.key()); found != done_.end()) {
        Outcome outcome = std::move(found->second);
        done_.erase(found);
        coming_ = nullptr;
        return outcome;
      }
      if (!work_at_next(lock)) changed_.wait(lock);
    }
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested())
      if (!work_at_next(lock)) changed_.wait(lock);
  }

  // False: there is nothing to do until something changes.
  bool work_at_next(std::unique_lock<std::mutex>& lock) {
    if (wanted_.empty() && coming_ != nullptr && !asked_) {
      for (Item& item : (*coming_)(Known(*this))) wanted_.push_back(std::move(item));
      asked_ = wanted_.empty();
    }
    if (wanted_.empty()) return false;
    const Item item = std::move(wanted_.front());
    wanted_.pop_front();
    at_work_.insert(item.key());
    lock.unlock();
    Outcome outcome = work_(item);
    lock.lock();
    at_work_.erase(item.key());
    done_.emplace(item.key(), std::move(outcome));
    asked_ = false;
    changed_.notify_all();
    return true;
  }

  const std::function<Outcome(const Item&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> wanted_;
  const Coming* coming_ = nullptr;  // set while the loop waits
  bool asked_ = false;              // it was asked, and nothing was coming
  std::set<std::size_t> at_work_;
  std::map<std::size_t, Outcome> done_;
  std::vector<std::jthread> others_;
};

}  // namespace parallelarium
