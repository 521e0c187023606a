// SPDX-License-Identifier: Apache-2.0
// The ops that are under way if lanes share a processor (a rank's lanes its core, all ranks one
// GPU) or if ops share a link. Their durations then depend on what else is active.
//
// An item progresses at 1 / (the number of workers on the busiest of its processors). On a core the
// workers are its lanes. On a GPU they are every rank's part of every item; of a message only the
// receiver works, since it copies. If computing is merely slower beside communication, the workers
// are what communicates in lanes other than the computing one. The links of its ranks also slow a
// message or collective.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "engine/plan/program/matching.h"
#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

// An op of a meeting: its lane, numbered through all ranks, and its flat number.
struct MemberLane {
  int lane = 0;
  std::int32_t op = 0;
  bool works = false;  // it keeps the lane's processor busy
};

class SharedItems {
 public:
  // An item is a compute op (its flat number) or a meeting (numbered after all ops). `members`: as
  // Matching::members. All arguments must outlive this.
  SharedItems(const Program& program, const Matching& matching,
              const std::vector<MemberLane>& members, Sharing sharing, double slowdown)
      : program_(program),
        matching_(matching),
        members_(members),
        sharing_(sharing),
        slowdown_(slowdown) {}

  // Starts over with nothing under way. `links`: what ops ask for. `timeline` receives what links
  // have slowed. Both must outlive this.
  void clear(const LinkDemand& links, Timeline& timeline);
  // Whether the item goes at its full speed, whatever else is active.
  bool goes_alone(std::int32_t item) const {
    return sharing_ == Sharing::kNone &&
           (item < ops() || !asks_[static_cast<std::size_t>(item - ops())]);
  }
  // Puts an item under way, now or later. `lane` is set for a compute op. goes_alone(item)
  // must not hold.
  void start(std::int32_t item, int lane, std::int64_t begin, std::int64_t duration,
             std::int64_t now);
  // The next time at which an item begins or ends; none: nothing is under way.
  std::optional<std::int64_t> next_time() const;
  // Ends one item that ends at `now`. None: there are no more.
  struct Ended {
    std::int32_t item = 0;
    int lane = 0;
    std::int64_t begin = 0;
  };
  std::optional<Ended> end_one(std::int64_t now);
  // Call this after all that begins or ends at `now` has done so.
  void update_rates(std::int64_t now);

  // Calls visit(lane, flat number of the op, whether the item keeps the lane's processor busy).
  template <class Visit>
  void for_lanes_of(std::int32_t item, int lane, const Visit& visit) const {
    if (item < ops()) {
      visit(lane, item, sharing_ != Sharing::kOverlap);
      return;
    }
    const Meeting& meeting = matching_.meetings[static_cast<std::size_t>(item - ops())];
    for (std::int32_t member = meeting.first; member < meeting.first + meeting.count; ++member) {
      const MemberLane& at = members_[static_cast<std::size_t>(member)];
      visit(at.lane, at.op, at.works);
    }
  }

 private:
  struct Item {
    double remaining = 0, rate = 1;
    std::int64_t begin = 0, updated = 0, duration = 0;
    std::int32_t version = 0;
    int lane = -1;
    bool is_to_come = false;  // it begins with its next event
    std::int64_t looked = 0;  // at which change it was looked at
  };
  struct Event {
    std::int64_t time;
    std::int32_t item, version;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : item > other.item;
    }
  };
  struct Active {
    std::int32_t item, op;  // the item, and the flat number of its op on the processor
  };
  struct Processor {
    int working = 0;
    std::vector<Active> active;
    LinkShares asked = {};  // by what is active
  };

  std::int32_t ops() const { return matching_.base.back(); }
  // Compute ops that go alone have no Item.
  Item& item_of(std::int32_t number) {
    return items_[static_cast<std::size_t>(number - (sharing_ == Sharing::kNone ? ops() : 0))];
  }
  Processor& processor_of(int lane) {
    return processors_[static_cast<std::size_t>(number_of(lane))];
  }
  int number_of(int lane) const { return sharing_ == Sharing::kGpu ? 0 : lane / kLanes; }
  void activate(std::int32_t number, int lane, std::int64_t begin, std::int64_t duration);
  void deactivate(std::int32_t number, std::int64_t now);
  double rate_beside(const Item& item, int busiest) const;
  void ask_links(Processor& processor) const;

  const Program& program_;
  const Matching& matching_;
  const std::vector<MemberLane>& members_;
  const Sharing sharing_;
  const double slowdown_;  // of kOverlap
  const LinkDemand* links_ = nullptr;
  Timeline* timeline_ = nullptr;
  std::vector<bool> asks_;  // by meeting: whether it asks for a link
  std::vector<Item> items_;
  std::vector<std::int32_t> working_on_lane_;  // items
  std::vector<Processor> processors_;
  bool each_item_ = false;
  std::int64_t looks_ = 0;
  std::int64_t copies_ = 1;   // ranks that each built rank stands for
  std::vector<int> changed_;  // processors
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace parallelarium
