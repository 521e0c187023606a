// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/simulate.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "engine/plan/program/matching.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kNotYet = -1;

// One walk over a Program. A lane posts its next unit (an op, or the ops of a batch) when the lane
// is free and what the unit comes after has ended. A compute op starts at once; a meeting starts
// when every expected op is posted. A unit ends with its last op.
//
// Where nothing is shared, an end time is known when its beginning is, so that the walk needs no
// clock: it follows dependencies in any order. Where lanes share a processor (a rank its core, all
// ranks one GPU), or ops a link, durations depend on what else is active, and events are taken in
// the order of time. What asks for no link needs no event even then: its end is known.
class Walk {
 public:
  Walk(const Program& program, const std::vector<std::int64_t>& durations, Sharing sharing,
       double slowdown)
      : program_(program), matching_(match(program)), sharing_(sharing), slowdown_(slowdown) {
    const std::size_t ranks = program.ranks.size();
    fresh_lanes_.resize(ranks * kLanes);
    steps_.resize(durations.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto& ops = program.ranks[rank].ops;
      std::int32_t counts[kLanes] = {};
      for (const Op& op : ops) ++counts[static_cast<int>(op.lane)];
      std::int32_t first = matching_.base[rank];
      for (int lane = 0; lane < kLanes; ++lane) {
        LaneState& state = fresh_lanes_[rank * kLanes + static_cast<std::size_t>(lane)];
        state.next = state.end = first;
        first += counts[lane];
      }
      for (std::size_t index = 0; index < ops.size(); ++index) {
        const Op& op = ops[index];
        const std::size_t flat = static_cast<std::size_t>(matching_.base[rank]) + index;
        LaneState& state = fresh_lanes_[rank * kLanes + static_cast<std::size_t>(op.lane)];
        steps_[static_cast<std::size_t>(state.end++)] = {
            durations[flat], static_cast<std::int32_t>(index),
            op.batch,        matching_.meeting_of[flat],
            op.after_first,  op.after_count};
      }
    }
    member_lanes_.reserve(matching_.members.size());
    for (const Place place : matching_.members) {
      const Op& op = program.ranks[static_cast<std::size_t>(place.rank)]
                         .ops[static_cast<std::size_t>(place.op)];
      const bool works = sharing == Sharing::kOverlap
                             ? op.lane != Lane::kCompute
                             : sharing != Sharing::kGpu || op.kind != OpKind::kSend;
      member_lanes_.push_back(
          {place.rank * kLanes + static_cast<int>(op.lane), matching_.flat(place), works});
    }
  }

  // From the beginning each time. `links`: what ops ask for; empty: they share none.
  Timeline run(const LinkDemand& links) {
    links_ = &links;
    keeps_time_ = sharing_ != Sharing::kNone || !links.empty();
    now_ = 0;
    lanes_ = fresh_lanes_;
    ends_.assign(steps_.size(), kNotYet);
    arrivals_.assign(matching_.meetings.size(), {});
    timeline_ = {};
    timeline_.ranks.resize(program_.ranks.size());
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank)
      timeline_.ranks[rank].spans.resize(program_.ranks[rank].ops.size());
    for (std::size_t lane = lanes_.size(); lane-- > 0;) ready_.push_back(static_cast<int>(lane));
    if (keeps_time_) {
      prepare_sharing();
      run_shared();
    } else {
      post_ready();
    }
    for (const RankTimeline& rank : timeline_.ranks)
      for (const Span& span : rank.spans)
        timeline_.duration = std::max(timeline_.duration, span.end);
    return std::move(timeline_);
  }

 private:
  // What the walk needs of an op, side by side in the order of its lane.
  struct Step {
    std::int64_t duration;
    std::int32_t op;  // index in the rank's ops
    std::int32_t batch, meeting;
    std::int32_t after_first, after_count;
  };
  struct LaneState {
    std::int32_t next = 0, end = 0;     // in steps_
    std::int32_t unit_end = 0;          // of the posted unit
    std::int32_t pending = 0;           // ops of the posted unit that have not ended
    std::int32_t blocked_on = -1;       // flat number of the op that the next unit comes after
    std::int64_t free = 0;              // when the last unit ended
    std::int64_t begin = 0, until = 0;  // of the posted unit
  };
  struct Arrival {
    std::int32_t arrived = 0;
    std::int64_t time = 0, duration = 0;
  };

  void post_ready() {
    while (!ready_.empty()) {
      const int lane = ready_.back();
      ready_.pop_back();
      post(lane);
    }
  }

  void post(int lane_number) {
    LaneState& lane = lanes_[static_cast<std::size_t>(lane_number)];
    if (lane.pending > 0 || lane.next == lane.end) return;
    const auto rank = static_cast<std::size_t>(lane_number / kLanes);
    const std::int32_t* after = program_.ranks[rank].after.data();
    const std::int32_t base = matching_.base[rank];
    std::int64_t time = std::max(lane.free, now_);
    std::int32_t unit_end = lane.next;
    const std::int32_t batch = step_at(lane.next).batch;
    do {
      const Step& step = step_at(unit_end);
      for (std::int32_t edge = step.after_first; edge < step.after_first + step.after_count;
           ++edge) {
        const std::int32_t before = base + after[edge];
        const std::int64_t ended = ends_[static_cast<std::size_t>(before)];
        if (ended == kNotYet) {
          lane.blocked_on = before;
          return;
        }
        time = std::max(time, ended);
      }
      ++unit_end;
    } while (batch >= 0 && unit_end < lane.end && step_at(unit_end).batch == batch);

    lane.blocked_on = -1;
    // Lanes take turns: more streams than a processor foresees.
    __builtin_prefetch(steps_.data() + unit_end + 2);
    lane.unit_end = unit_end;
    lane.pending = unit_end - lane.next;
    lane.begin = INT64_MAX;
    lane.until = time;
    for (std::int32_t at = lane.next; at < unit_end; ++at) {
      const Step& step = step_at(at);
      if (step.meeting < 0) {
        start(base + step.op, lane_number, time, step.duration);
        continue;
      }
      Arrival& arrival = arrivals_[static_cast<std::size_t>(step.meeting)];
      arrival.time = std::max(arrival.time, time);
      arrival.duration = std::max(arrival.duration, step.duration);
      if (++arrival.arrived == matching_.meetings[static_cast<std::size_t>(step.meeting)].expected)
        start(meeting_item(step.meeting), -1, arrival.time, arrival.duration);
    }
  }
  const Step& step_at(std::int32_t at) const { return steps_[static_cast<std::size_t>(at)]; }

  // An item is a compute op (its flat number) or a meeting (numbered after all ops).
  std::int32_t meeting_item(std::int32_t meeting) const { return matching_.base.back() + meeting; }

  void start(std::int32_t item, int lane, std::int64_t begin, std::int64_t duration) {
    if (!keeps_time_ || goes_alone(item, lane)) {
      finish(item, lane, begin, begin + duration);
    } else if (begin > now_) {
      Item& comes = items_[static_cast<std::size_t>(item)];
      comes.lane = lane;
      comes.duration = duration;
      comes.is_to_come = true;
      events_.push({begin, item, comes.version});
    } else {
      activate(item, lane, begin, duration);
    }
  }

  // Whether it goes at its own speed whatever else is active.
  bool goes_alone(std::int32_t item, int lane) {
    if (sharing_ != Sharing::kNone) return false;
    bool asks = false;
    for_lanes_of(item, lane, [&](int, std::int32_t op, bool) {
      asks = asks || (*links_)[static_cast<std::size_t>(op)] != LinkShares{};
    });
    return !asks;
  }

  // visit(lane, op by its flat number, whether the item keeps the lane's processor busy)
  template <class Visit>
  void for_lanes_of(std::int32_t item, int lane, const Visit& visit) {
    const std::int32_t ops = matching_.base.back();
    if (item < ops) {
      visit(lane, item, sharing_ != Sharing::kOverlap);
      return;
    }
    const Meeting& meeting = matching_.meetings[static_cast<std::size_t>(item - ops)];
    for (std::int32_t member = meeting.first; member < meeting.first + meeting.count; ++member) {
      const MemberLane& at = member_lanes_[static_cast<std::size_t>(member)];
      visit(at.lane, at.op, at.works);
    }
  }

  void finish(std::int32_t item, int item_lane, std::int64_t begin, std::int64_t end) {
    for_lanes_of(item, item_lane, [&](int number, std::int32_t, bool) {
      LaneState& lane = lanes_[static_cast<std::size_t>(number)];
      lane.begin = std::min(lane.begin, begin);
      lane.until = std::max(lane.until, end);
      if (--lane.pending == 0) finish_unit(number, lane);
    });
  }

  void finish_unit(int number, LaneState& lane) {
    const int rank = number / kLanes;
    const std::int32_t base = matching_.base[static_cast<std::size_t>(rank)];
    auto& spans = timeline_.ranks[static_cast<std::size_t>(rank)].spans;
    for (std::int32_t at = lane.next; at < lane.unit_end; ++at) {
      const std::int32_t op = step_at(at).op;
      spans[static_cast<std::size_t>(op)] = {Nanoseconds{lane.begin}, Nanoseconds{lane.until}};
      ends_[static_cast<std::size_t>(base + op)] = lane.until;
      for (int other = rank * kLanes; other < (rank + 1) * kLanes; ++other) {
        if (lanes_[static_cast<std::size_t>(other)].blocked_on == base + op)
          ready_.push_back(other);
      }
    }
    lane.free = lane.until;
    lane.next = lane.unit_end;
    if (lane.next < lane.end) ready_.push_back(number);
  }

  // An item progresses at 1 / (what works on the busiest of its processors): lanes of a core, on a
  // GPU every rank's part of every item, where only the receiver of a message works, which copies
  // it. Where computing only slows beside communication, what works is what communicates, in other
  // lanes than the computing one. A message or collective also goes as slowly as the links of its
  // ranks make it.
  struct Item {
    double remaining = 0, rate = 1;
    std::int64_t begin = 0, updated = 0, duration = 0;
    std::int32_t version = 0;
    int lane = -1;
    bool is_to_come = false;  // it begins with its next event
    std::int64_t looked = 0;  // at which change
  };
  struct Event {
    std::int64_t time;
    std::int32_t item, version;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : item > other.item;
    }
  };
  struct Active {
    std::int32_t item, op;  // and its op on the processor, by flat number
  };
  struct Processor {
    int working = 0;
    std::vector<Active> active;
    LinkShares asked = {};  // by what is active
  };

  void prepare_sharing() {
    items_.assign(static_cast<std::size_t>(matching_.base.back()) + matching_.meetings.size(), {});
    working_on_lane_.assign(lanes_.size(), 0);
    processors_.assign(sharing_ == Sharing::kGpu ? 1 : program_.ranks.size(), {});
    each_item_ = sharing_ == Sharing::kGpu;
    // Ranks that are not built do what those that stand for them do, at the same time.
    if (sharing_ == Sharing::kGpu)
      copies_ = std::max<std::int64_t>(
          1, program_.world / static_cast<std::int64_t>(program_.ranks.size()));
  }

  int processor_of(int lane) const { return sharing_ == Sharing::kGpu ? 0 : lane / kLanes; }

  void activate(std::int32_t number, int lane, std::int64_t begin, std::int64_t duration) {
    Item& item = items_[static_cast<std::size_t>(number)];
    item.remaining = static_cast<double>(duration);
    item.duration = duration;
    item.begin = item.updated = begin;
    item.lane = lane;
    item.rate = 0;  // set with the changed processors
    for_lanes_of(number, lane, [&](int at, std::int32_t op, bool works) {
      Processor& processor = processors_[static_cast<std::size_t>(processor_of(at))];
      if (works && (working_on_lane_[static_cast<std::size_t>(at)]++ == 0 || each_item_))
        ++processor.working;
      processor.active.push_back({number, op});
      changed_.push_back(processor_of(at));
    });
  }

  void deactivate(std::int32_t number) {
    Item& item = items_[static_cast<std::size_t>(number)];
    // Rounding makes a nanosecond.
    const std::int64_t lost = now_ - item.begin - item.duration;
    const bool slowed = !links_->empty() && number >= matching_.base.back() && lost > 1;
    for_lanes_of(number, item.lane, [&](int at, std::int32_t op, bool works) {
      Processor& processor = processors_[static_cast<std::size_t>(processor_of(at))];
      if (works && (--working_on_lane_[static_cast<std::size_t>(at)] == 0 || each_item_))
        --processor.working;
      processor.active.erase(
          std::find_if(processor.active.begin(), processor.active.end(),
                       [&](const Active& active) { return active.item == number; }));
      changed_.push_back(processor_of(at));
      if (!slowed) return;
      const auto rank = static_cast<std::size_t>(at / kLanes);
      timeline_.ranks[rank].slowed.push_back({op - matching_.base[rank], Nanoseconds{lost}});
    });
    ++item.version;
  }

  double rate_beside(const Item& item, int busiest) const {
    if (sharing_ == Sharing::kNone) return 1.0;
    if (sharing_ != Sharing::kOverlap)
      return 1.0 / (static_cast<double>(busiest) * static_cast<double>(copies_));
    const bool computes = item.lane >= 0 && item.lane % kLanes == static_cast<int>(Lane::kCompute);
    return computes && busiest > 0 ? 1.0 / slowdown_ : 1.0;
  }

  void update_rates() {
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    ++looks_;
    if (!links_->empty())
      for (const int changed : changed_) ask_links(processors_[static_cast<std::size_t>(changed)]);
    for (const int changed : changed_) {
      for (const Active& active : processors_[static_cast<std::size_t>(changed)].active) {
        const std::int32_t number = active.item;
        Item& item = items_[static_cast<std::size_t>(number)];
        if (std::exchange(item.looked, looks_) == looks_) continue;
        int busiest = sharing_ == Sharing::kOverlap ? 0 : 1;
        double slowdown = 1;
        for_lanes_of(number, item.lane, [&](int at, std::int32_t op, bool) {
          const Processor& one = processors_[static_cast<std::size_t>(processor_of(at))];
          busiest = std::max(busiest, one.working);
          if (!links_->empty())
            slowdown =
                std::max(slowdown, slowdown_of((*links_)[static_cast<std::size_t>(op)], one.asked));
        });
        const double rate = rate_beside(item, busiest) / slowdown;
        if (rate == item.rate) continue;
        item.remaining -= static_cast<double>(now_ - item.updated) * item.rate;
        item.remaining = std::max(item.remaining, 0.0);
        item.rate = rate;
        item.updated = now_;
        const auto left = static_cast<std::int64_t>(std::ceil(item.remaining / rate - 1e-6));
        events_.push({now_ + left, number, ++item.version});
      }
    }
    changed_.clear();
  }

  void ask_links(Processor& processor) const {
    processor.asked = {};
    for (const Active& active : processor.active)
      for (std::size_t link = 0; link < processor.asked.size(); ++link)
        processor.asked[link] += (*links_)[static_cast<std::size_t>(active.op)][link];
  }

  void run_shared() {
    post_ready();
    update_rates();
    while (!events_.empty()) {
      now_ = events_.top().time;
      while (!events_.empty() && events_.top().time == now_) {
        const Event event = events_.top();
        events_.pop();
        Item& item = items_[static_cast<std::size_t>(event.item)];
        if (event.version != item.version) continue;  // its rate has changed since
        if (std::exchange(item.is_to_come, false)) {
          activate(event.item, item.lane, now_, item.duration);
          continue;
        }
        deactivate(event.item);
        finish(event.item, item.lane, item.begin, now_);
      }
      post_ready();
      update_rates();
    }
  }

  const Program& program_;
  const Matching matching_;
  const Sharing sharing_;
  const double slowdown_;  // of kOverlap
  const LinkDemand* links_ = nullptr;
  bool keeps_time_ = false;  // durations depend on what else is active
  struct MemberLane {
    int lane;
    std::int32_t op;  // by flat number
    bool works;
  };
  std::vector<LaneState> lanes_, fresh_lanes_;  // now, and before the first op
  std::vector<Step> steps_;                     // of each rank, sorted by lane
  std::vector<MemberLane> member_lanes_;        // as Matching::members
  std::vector<std::int64_t> ends_;              // by flat number
  std::vector<Arrival> arrivals_;               // by meeting
  std::vector<int> ready_;                      // lanes to look at
  Timeline timeline_;
  std::int64_t now_ = 0;
  std::vector<Item> items_;
  std::vector<std::int32_t> working_on_lane_;  // items
  std::vector<Processor> processors_;
  bool each_item_ = false;
  std::int64_t looks_ = 0;
  std::int64_t copies_ = 1;   // ranks that each built one stands for
  std::vector<int> changed_;  // processors
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

// Most steps ask for no more of a link than there is, and need no clock then.
Timeline simulate(const Program& program, const std::vector<std::int64_t>& durations,
                  Sharing sharing, double slowdown, const LinkDemand& links, const Enough& enough) {
  Walk walk(program, durations, sharing, slowdown);
  Timeline timeline = walk.run(LinkDemand{});
  if (links.empty() || !exceeds_links(program, links, timeline)) return timeline;
  if (enough && sharing == Sharing::kNone && enough(timeline.duration)) return timeline;
  return walk.run(links);
}

}  // namespace parallelarium
