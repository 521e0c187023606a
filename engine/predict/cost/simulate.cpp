// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/simulate.h"

#include <algorithm>
#include <utility>

#include "engine/plan/program/matching.h"
#include "engine/predict/cost/shared_items.h"

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
       double slowdown, const FoldSteps& folds)
      : program_(program),
        folds_(folds),
        matching_(match(program)),
        sharing_(sharing),
        shared_(program_, matching_, member_lanes_, sharing, slowdown) {
    const std::size_t ranks = program.ranks.size();
    fresh_lanes_.resize(ranks * kLanes);
    ends_.resize(durations.size());
    add_steps(durations);
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
    keeps_time_ = sharing_ != Sharing::kNone || !links.empty();
    now_ = 0;
    lanes_ = fresh_lanes_;
    ends_.assign(ends_.size(), kNotYet);
    arrivals_.assign(matching_.meetings.size(), {});
    timeline_ = {};
    timeline_.ranks.resize(program_.ranks.size());
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank)
      timeline_.ranks[rank].spans.resize(program_.ranks[rank].ops.size());
    for (std::size_t lane = lanes_.size(); lane-- > 0;) ready_.push_back(static_cast<int>(lane));
    if (keeps_time_) {
      shared_.clear(links, timeline_);
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
    std::int32_t fold = -1;  // the op that begins the fold of which it is a part; -1: none
  };
  struct LaneState {
    std::int32_t next = 0, end = 0;     // in steps_
    std::int32_t unit_end = 0;          // of the posted unit
    std::int32_t pending = 0;           // ops of the posted unit that have not ended
    std::int32_t blocked_on = -1;       // flat number of the op that the next unit comes after
    std::int64_t free = 0;              // when the last unit ended
    std::int64_t begin = 0, until = 0;  // of the posted unit
    std::int64_t fold_begin = kNotYet;  // of the fold under way
    std::int32_t fold_last = 0;         // its last op so far
  };
  struct Arrival {
    std::int32_t arrived = 0;
    std::int64_t time = 0, duration = 0;
  };

  // visit(op, its duration, the op that begins its fold or -1), in issue order.
  template <class Visit>
  void for_steps(std::size_t rank, const std::vector<std::int64_t>& durations,
                 const Visit& visit) const {
    const auto base = static_cast<std::size_t>(matching_.base[rank]);
    const auto ops = static_cast<std::int32_t>(program_.ranks[rank].ops.size());
    for (std::int32_t op = 0; op < ops; ++op) {
      const std::size_t flat = base + static_cast<std::size_t>(op);
      if (folds_.first.empty() || folds_.first[flat] == folds_.first[flat + 1]) {
        visit(op, durations[flat], -1);
        continue;
      }
      const std::int32_t fold = op;
      for (std::int32_t at = folds_.first[flat]; at < folds_.first[flat + 1]; ++at) {
        const FoldSteps::Step& step = folds_.steps[static_cast<std::size_t>(at)];
        visit(step.op, step.nanoseconds, fold);
        op = std::max(op, step.op);
      }
    }
  }

  void add_steps(const std::vector<std::int64_t>& durations) {
    std::int32_t first = 0;
    steps_.reserve(durations.size() + folds_.steps.size());
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank) {
      const auto& ops = program_.ranks[rank].ops;
      LaneState* lanes = &fresh_lanes_[rank * kLanes];
      std::int32_t counts[kLanes] = {};
      for_steps(rank, durations, [&](std::int32_t op, std::int64_t, std::int32_t) {
        ++counts[static_cast<int>(ops[static_cast<std::size_t>(op)].lane)];
      });
      for (int lane = 0; lane < kLanes; ++lane) {
        lanes[lane].next = lanes[lane].end = first;
        first += counts[lane];
      }
      steps_.resize(static_cast<std::size_t>(first));
      std::int32_t known = -1;  // the fold of the step before
      for_steps(rank, durations, [&](std::int32_t at, std::int64_t duration, std::int32_t fold) {
        const Op& op = ops[static_cast<std::size_t>(at)];
        const std::size_t flat = static_cast<std::size_t>(matching_.base[rank] + at);
        // The op that begins a fold waits for all that any of its pieces does, whichever is first.
        const Op& begins = fold < 0 ? op : ops[static_cast<std::size_t>(fold)];
        const bool waits = fold < 0 || fold != known;
        known = fold;
        LaneState& state = lanes[static_cast<int>(op.lane)];
        steps_[static_cast<std::size_t>(state.end++)] = {duration,
                                                         at,
                                                         op.batch,
                                                         matching_.meeting_of[flat],
                                                         begins.after_first,
                                                         waits ? begins.after_count : 0,
                                                         fold};
      });
    }
  }

  void post_ready() {
    while (!ready_.empty()) {
      const int lane = ready_.back();
      ready_.pop_back();
      post(lane);
    }
  }

  void post(int lane_number) {
    LaneState& lane = lanes_[static_cast<std::size_t>(lane_number)];
    while (lane.pending == 0 && lane.next < lane.end && post_next(lane_number, lane)) {
    }
  }

  // Posts the next unit of a lane. Whether it has ended and was no meeting: then the lane goes on
  // at once.
  bool post_next(int lane_number, LaneState& lane) {
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
          return false;
        }
        time = std::max(time, ended);
      }
      ++unit_end;
    } while (batch >= 0 && unit_end < lane.end && step_at(unit_end).batch == batch);

    lane.blocked_on = -1;
    // Lanes take turns: more streams than a processor foresees.
    __builtin_prefetch(steps_.data() + unit_end + 2);
    const Step& first = step_at(lane.next);
    if (first.meeting < 0 && first.fold < 0 && unit_end == lane.next + 1 &&
        (!keeps_time_ || sharing_ == Sharing::kNone)) {
      lane.free = time + first.duration;
      timeline_.ranks[rank].spans[static_cast<std::size_t>(first.op)] = {Nanoseconds{time},
                                                                         Nanoseconds{lane.free}};
      end_op(rank, first.op, lane.free);
      lane.next = unit_end;
      return true;
    }
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
      if (++arrival.arrived < matching_.meetings[static_cast<std::size_t>(step.meeting)].expected)
        continue;
      const Arrival all = std::exchange(arrival, {});  // a collective of a fold may come again
      start(meeting_item(step.meeting), -1, all.time, all.duration);
    }
    return false;
  }
  const Step& step_at(std::int32_t at) const { return steps_[static_cast<std::size_t>(at)]; }

  // An item is a compute op (its flat number) or a meeting (numbered after all ops).
  std::int32_t meeting_item(std::int32_t meeting) const { return matching_.base.back() + meeting; }

  void start(std::int32_t item, int lane, std::int64_t begin, std::int64_t duration) {
    if (!keeps_time_ || shared_.goes_alone(item))
      finish(item, lane, begin, begin + duration);
    else
      shared_.start(item, lane, begin, duration, now_);
  }

  void finish(std::int32_t item, int item_lane, std::int64_t begin, std::int64_t end) {
    shared_.for_lanes_of(item, item_lane, [&](int number, std::int32_t, bool) {
      LaneState& lane = lanes_[static_cast<std::size_t>(number)];
      lane.begin = std::min(lane.begin, begin);
      lane.until = std::max(lane.until, end);
      if (--lane.pending == 0) finish_unit(number, lane);
    });
  }

  void finish_unit(int number, LaneState& lane) {
    const auto rank = static_cast<std::size_t>(number / kLanes);
    auto& spans = timeline_.ranks[rank].spans;
    for (std::int32_t at = lane.next; at < lane.unit_end; ++at) {
      const Step& step = step_at(at);
      Span& span = spans[static_cast<std::size_t>(step.op)];
      if (step.fold >= 0) {
        if (lane.fold_begin == kNotYet) lane.fold_begin = lane.begin;
        lane.fold_last = std::max(lane.fold_last, step.op);
        span.end += Nanoseconds{lane.until - lane.begin};  // how long it has been busy
        if (at + 1 == lane.end || step_at(at + 1).fold != step.fold)
          finish_fold(rank, lane, step.fold);
        continue;
      }
      span = {Nanoseconds{lane.begin}, Nanoseconds{lane.until}};
      end_op(rank, step.op, lane.until);
    }
    lane.free = lane.until;
    lane.next = lane.unit_end;
    if (lane.next < lane.end) ready_.push_back(number);
  }

  // What the fold computes is shown first, then what it waits for other ranks, then its
  // collectives.
  void finish_fold(std::size_t rank, LaneState& lane, std::int32_t first) {
    auto& spans = timeline_.ranks[rank].spans;
    Nanoseconds waits{lane.until - lane.fold_begin}, begin{lane.fold_begin};
    for (std::int32_t op = first; op <= lane.fold_last; ++op)
      waits -= spans[static_cast<std::size_t>(op)].end;
    for (std::int32_t op = first; op <= lane.fold_last; ++op) {
      Span& span = spans[static_cast<std::size_t>(op)];
      span = {begin, begin + span.end};
      begin = span.end + std::exchange(waits, Nanoseconds{0});
      end_op(rank, op, lane.until);
    }
    lane.fold_begin = kNotYet;
    lane.fold_last = 0;
  }

  void end_op(std::size_t rank, std::int32_t op, std::int64_t time) {
    const std::int32_t flat = matching_.base[rank] + op;
    ends_[static_cast<std::size_t>(flat)] = time;
    const int first = static_cast<int>(rank) * kLanes;
    for (int other = first; other < first + kLanes; ++other)
      if (lanes_[static_cast<std::size_t>(other)].blocked_on == flat) ready_.push_back(other);
  }

  void run_shared() {
    post_ready();
    shared_.update_rates(now_);
    while (const std::optional<std::int64_t> time = shared_.next_time()) {
      now_ = *time;
      while (const std::optional<SharedItems::Ended> ended = shared_.end_one(now_))
        finish(ended->item, ended->lane, ended->begin, now_);
      post_ready();
      shared_.update_rates(now_);
    }
  }

  const Program& program_;
  const FoldSteps& folds_;
  const Matching matching_;
  const Sharing sharing_;
  std::vector<MemberLane> member_lanes_;  // as Matching::members
  SharedItems shared_;
  bool keeps_time_ = false;                     // durations depend on what else is active
  std::vector<LaneState> lanes_, fresh_lanes_;  // now, and before the first op
  std::vector<Step> steps_;                     // of each rank, sorted by lane
  std::vector<std::int64_t> ends_;              // by flat number
  std::vector<Arrival> arrivals_;               // by meeting
  std::vector<int> ready_;                      // lanes to look at
  Timeline timeline_;
  std::int64_t now_ = 0;
};

}  // namespace

// Most steps ask for no more of a link than there is, and need no clock then.
Timeline simulate(const Program& program, const std::vector<std::int64_t>& durations,
                  Sharing sharing, double slowdown, const LinkDemand& links, const FoldSteps& folds,
                  const Enough& enough) {
  Walk walk(program, durations, sharing, slowdown, folds);
  Timeline timeline = walk.run(LinkDemand{});
  if (links.empty() || !exceeds_links(program, links, timeline)) return timeline;
  if (enough && sharing == Sharing::kNone && enough(timeline.duration)) return timeline;
  return walk.run(links);
}

}  // namespace parallelarium
