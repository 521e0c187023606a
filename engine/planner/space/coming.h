// SPDX-License-Identifier: Apache-2.0
// Finds the looks at entries that a search may need soon, so that other threads take them ahead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "engine/plan/placement/parallel.h"
#include "engine/planner/entry.h"
#include "engine/planner/space/ahead.h"

namespace parallelarium {

// The next look at an entry, with what is known of the entry at that time.
struct NextLook {
  std::size_t at = 0;  // index of the entry
  Entry entry;
  std::size_t key() const { return at * (Entry::kWalks + 1) + entry.walks; }
};
using LooksAhead = Ahead<NextLook, Look>;

// A queue whose least place comes first.
template <class Place>
struct Places : std::priority_queue<Place, std::vector<Place>, std::greater<>> {
  using std::priority_queue<Place, std::vector<Place>, std::greater<>>::priority_queue;
  const std::vector<Place>& places() const { return this->c; }  // in any order
};

// The most actions of all simulations that run at once, so that they fit into memory.
inline constexpr std::int64_t kMostActionsAtOnce = 4 * kMostFrontActions;

// The looks that are taken ahead of one that the search waits for. Few of them are simulations,
// since one simulation may make others needless. An entry with more than kMostFrontActions actions
// is simulated only when the search waits for it, and no other simulation begins beside it.
class Coming {
 public:
  Coming(const Space& space, const Entry& first) : space_(space) { count_at_work(first); }
  std::vector<NextLook> looks;
  bool takes(const Entry& entry) const {
    if (looks.size() >= kMost) return false;
    if (!entry.walked()) return true;
    const std::int64_t actions = actions_of(entry, space_);
    return simulated_.size() <= 2 * parallel_bodies() && actions <= kMostFrontActions &&
           actions_ + actions <= kMostActionsAtOnce;
  }
  void add(NextLook look) {
    count_at_work(look.entry);
    looks.push_back(std::move(look));
  }
  void count_at_work(const Entry& entry) {
    if (!entry.walked()) return;
    const std::int64_t actions = actions_of(entry, space_);
    actions_ += actions > kMostFrontActions ? kMostActionsAtOnce : actions;
    count_simulated(entry);
  }
  void count_simulated(const Entry& entry) { simulated_.push_back(entry); }
  // Whether a simulation is under way or known whose bounds are smaller. It will most likely bound
  // this entry.
  bool may_bound(const Entry& entry) const {
    return std::any_of(simulated_.begin(), simulated_.end(), [&](const Entry& other) {
      return other.bytes <= entry.bytes && other.candidate.gpus() <= entry.candidate.gpus();
    });
  }

 private:
  static constexpr std::size_t kMost = 64;
  const Space& space_;
  std::vector<Entry> simulated_;  // their simulation is under way or done; bounds from before
  std::int64_t actions_ = 0;      // actions that are being simulated
};

// What a search does with an entry, as far as it is known.
enum class Foreseen : std::uint8_t {
  kLook,
  kSkip,  // it is not looked at now, but stays in the queue
  kDrop,  // it is decided
  kStop,  // the search ends
};

// Goes through a queue as the search will, with the bounds that are known by now. It leaves the
// queue as it was, except for what is dropped. `place_of(at, entry)` is the entry's place in the
// queue. `foresee(entry, of_queue, coming)` says what the search does with it; `of_queue`: the
// entry is the search's own, and not one that is known better by now.
template <class Place, class PlaceOf, class Foresee>
std::vector<NextLook> coming_looks(Places<Place>& queue, const std::vector<Entry>& entries,
                                   const std::optional<std::int64_t>& capacity, Coming coming,
                                   const LooksAhead::Known& known, const PlaceOf& place_of,
                                   const Foresee& foresee) {
  constexpr std::size_t kFar = 4096;
  using Better = std::pair<Place, std::size_t>;  // in `better`
  std::vector<NextLook> better;
  std::priority_queue<Better, std::vector<Better>, std::greater<>> again;
  std::vector<Place> seen;
  while (seen.size() < kFar && (!queue.empty() || !again.empty())) {
    const bool of_queue = again.empty() || (!queue.empty() && queue.top() < again.top().first);
    NextLook next;
    if (of_queue) {
      seen.push_back(queue.top());
      queue.pop();
      next.at = std::get<std::tuple_size_v<Place> - 1>(seen.back());
      next.entry = entries[next.at];
    } else {
      next = better[again.top().second];
      again.pop();
    }
    const Foreseen foreseen = foresee(next.entry, of_queue, coming);
    if (foreseen == Foreseen::kDrop && of_queue) seen.pop_back();
    if (foreseen == Foreseen::kStop) break;
    if (foreseen != Foreseen::kLook) continue;
    if (const Look* look = known.outcome(next)) {
      if (!look->bound) coming.count_simulated(next.entry);
      if (!look->bound || !*look->bound) continue;
      next.entry.raise(**look->bound, capacity);
      ++next.entry.walks;
      if (next.entry.out) continue;
      again.emplace(place_of(next.at, next.entry), better.size());
      better.push_back(std::move(next));
    } else if (known.is_at_work(next)) {
      coming.count_at_work(next.entry);
    } else if (coming.takes(next.entry)) {
      coming.add(std::move(next));
    } else {
      break;
    }
  }
  for (const Place& place : seen) queue.push(place);
  return std::move(coming.looks);
}

}  // namespace parallelarium
