// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/network/flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "engine/plan/program/matching.h"
#include "engine/predict/network/routes.h"
#include "engine/predict/network/transfer_table.h"

namespace parallelarium {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Ends this close together are one moment: what should end together differs by rounding alone.
constexpr double kSame = 1e-13;

struct Flow {
  std::vector<int> links;
  double latency = 0, remaining = 0, rate = 0, combine = 0;
  double begin = 0;
  double bytes = 0;
  int arrived = 0;
  bool combines = false, fresh = false;
};

struct Event {
  double time = 0;
  enum Kind : std::uint8_t { kLatencyOver, kArrived, kComputed } kind = kLatencyOver;
  std::int32_t subject = 0;  // a flow, or a rank
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : subject > other.subject;
  }
};

// One walk. Every rank has one lane, whose next unit (a compute op, or the messages of a step)
// starts when the one before has ended.
class FlowWalk {
 public:
  FlowWalk(const Collective& collective, const Network& network)
      : collective_(collective),
        network_(network),
        matching_(match(collective.program)),
        routes_(network, collective.spec.ranks),
        table_(network.topology == Topology::kMemory ? network.transfers
                                                     : std::vector<TransferPoint>{}),
        fresh_(table_.empty() ? std::vector<std::vector<bool>>{} : fresh_sends(collective.program)),
        flows_(matching_.meetings.size()),
        ranks_(collective.program.ranks.size()),
        carried_(routes_.bandwidths().size(), 0),
        used_(carried_.size(), 0) {
    cost_.step_seconds.assign(collective.steps.size(), 0);
    for (const RankProgram& rank : collective.program.ranks)
      cost_.timeline.ranks.emplace_back().spans.resize(rank.ops.size());
  }

  CollectiveCost run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) post(static_cast<int>(rank));
    while (true) {
      share_links();
      const double next = std::min(events_.empty() ? kNever : events_.top().time, next_end());
      if (next == kNever) break;
      advance(next);
    }
    cost_.seconds = now_;
    cost_.timeline.duration = to_nanoseconds(now_);
    for (std::size_t link = 0; link < carried_.size(); ++link) {
      if (carried_[link] == 0) continue;
      // Measured messages have no one bandwidth: then the share of time with any under way.
      const double full = table_.empty()
                              ? static_cast<double>(carried_[link]) / routes_.bandwidths()[link]
                              : used_[link];
      const double busy = now_ > 0 ? full / now_ : 0;
      cost_.links.push_back({routes_.name_of_link(static_cast<int>(link)), carried_[link], busy});
    }
    std::stable_sort(cost_.links.begin(), cost_.links.end(),
                     [](const LinkUse& a, const LinkUse& b) { return a.busy > b.busy; });
    return std::move(cost_);
  }

 private:
  struct Rank {
    std::size_t next = 0, end = 0;  // the unit under way
    int pending = 0;
    double begin = 0;
  };

  static Nanoseconds to_nanoseconds(double seconds) {
    return Nanoseconds{std::llround(seconds * 1e9)};
  }
  const std::vector<Op>& ops(int rank) const {
    return collective_.program.ranks[static_cast<std::size_t>(rank)].ops;
  }

  // Starts the rank's next unit.
  void post(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const std::vector<Op>& all = ops(number);
    if (rank.next == all.size()) return;
    const Op& first = all[rank.next];
    rank.end = rank.next + 1;
    if (first.kind == OpKind::kCompute) {
      rank.begin = now_;
      rank.pending = 1;
      events_.push({now_ + compute_seconds(first), Event::kComputed, number});
      return;
    }
    while (first.batch >= 0 && rank.end < all.size() && all[rank.end].batch == first.batch)
      ++rank.end;
    rank.begin = kNever;
    rank.pending = static_cast<int>(rank.end - rank.next);
    for (std::size_t op = rank.next; op < rank.end; ++op) {
      const std::int32_t meeting =
          matching_.meeting_of[static_cast<std::size_t>(matching_.base[number]) + op];
      Flow& flow = flows_[static_cast<std::size_t>(meeting)];
      if (++flow.arrived == 2) start(meeting, number, all[op]);
    }
  }

  // Bytes of all parts that a combine takes but the first, which it starts from.
  std::int64_t work_bytes(const Op& op) const {
    if (op.work < 0) return 0;
    const Work& work = collective_.program.works[static_cast<std::size_t>(op.work)].front();
    return work.elements * size_of(op.type) * (op.operand_count - 2) /
           std::max(1, op.operand_count - 1);
  }
  // From measured points a copy takes time too.
  double compute_seconds(const Op& op) const {
    if (table_.empty() || op.work < 0) return combine_seconds(work_bytes(op));
    const Work& work = collective_.program.works[static_cast<std::size_t>(op.work)].front();
    const std::int64_t parts = std::max(1, op.operand_count - 1);
    if (op.reduction == Reduction::kNone)
      return table_.copy_seconds(static_cast<double>(work.elements * size_of(op.type)));
    return static_cast<double>(std::max<std::int64_t>(1, parts - 1)) *
           table_.combine_seconds(static_cast<double>(work.elements / parts * size_of(op.type)));
  }
  double combine_seconds(std::int64_t bytes) const {
    return network_.combine_bytes_per_second > 0
               ? static_cast<double>(bytes) / network_.combine_bytes_per_second
               : 0;
  }

  void start(std::int32_t meeting, int number, const Op& op) {
    Flow& flow = flows_[static_cast<std::size_t>(meeting)];
    const bool sends = op.kind == OpKind::kSend;
    Routes::Way way = routes_.way(sends ? number : op.peer, sends ? op.peer : number);
    flow.links = std::move(way.links);
    flow.bytes = static_cast<double>(op.bytes);
    flow.remaining = static_cast<double>(op.bytes);
    flow.begin = now_;
    for (const int link : flow.links) carried_[static_cast<std::size_t>(link)] += op.bytes;
    bool crossing = true;
    for (const Place place : members(meeting)) {
      Rank& rank = ranks_[static_cast<std::size_t>(place.rank)];
      rank.begin = std::min(rank.begin, now_);
      crossing = crossing && rank.end - rank.next > 1;
      const Op& member = ops(place.rank)[static_cast<std::size_t>(place.op)];
      if (member.kind == OpKind::kRecv && member.reduction != Reduction::kNone) {
        flow.combines = true;
        if (table_.empty()) flow.combine = combine_seconds(op.bytes);
      }
      if (!table_.empty() && member.kind == OpKind::kSend)
        flow.fresh =
            fresh_[static_cast<std::size_t>(place.rank)][static_cast<std::size_t>(place.op)];
    }
    flow.latency =
        table_.empty() ? way.latency : table_.latency(flow.combines, flow.fresh, crossing);
    events_.push({now_ + flow.latency, Event::kLatencyOver, meeting});
  }

  std::span<const Place> members(std::int32_t meeting) const {
    const Meeting& found = matching_.meetings[static_cast<std::size_t>(meeting)];
    return {matching_.members.data() + found.first, static_cast<std::size_t>(found.count)};
  }

  double next_end() const {
    double next = kNever;
    for (const std::int32_t index : active_) {
      const Flow& flow = flows_[static_cast<std::size_t>(index)];
      next = std::min(next, now_ + flow.remaining / flow.rate);
    }
    return next;
  }

  // Goes to `next` and does everything that is due then.
  void advance(double next) {
    const double due = next * (1 + kSame);
    if (!table_.empty()) note_use(next - now_);
    std::vector<std::int32_t> over;
    for (const std::int32_t index : active_) {
      Flow& flow = flows_[static_cast<std::size_t>(index)];
      if (now_ + flow.remaining / flow.rate <= due) {
        over.push_back(index);
      } else {
        flow.remaining = std::max(0.0, flow.remaining - (next - now_) * flow.rate);
      }
    }
    now_ = next;
    for (const std::int32_t index : over) end_of_bytes(index);
    while (!events_.empty() && events_.top().time <= due) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Event::kComputed) {
        end_of_op(event.subject);
      } else if (event.kind == Event::kArrived) {
        arrive(event.subject);
      } else {
        Flow& flow = flows_[static_cast<std::size_t>(event.subject)];
        if (flow.remaining > 0) {
          active_.push_back(event.subject);
          changed_ = true;
        } else {
          arrive(event.subject);
        }
      }
    }
  }

  void note_use(double seconds) {
    std::vector<bool> used(used_.size());
    for (const std::int32_t index : active_) {
      for (const int link : flows_[static_cast<std::size_t>(index)].links)
        used[static_cast<std::size_t>(link)] = true;
    }
    for (std::size_t link = 0; link < used.size(); ++link)
      if (used[link]) used_[link] += seconds;
  }

  void end_of_bytes(std::int32_t index) {
    active_.erase(std::find(active_.begin(), active_.end(), index));
    changed_ = true;
    const Flow& flow = flows_[static_cast<std::size_t>(index)];
    if (flow.combine > 0) {
      events_.push({now_ + flow.combine, Event::kArrived, index});
    } else {
      arrive(index);
    }
  }

  void arrive(std::int32_t index) {
    for (const Place place : members(index)) {
      const Op& op = ops(place.rank)[static_cast<std::size_t>(place.op)];
      if (op.batch >= 0) {
        double& step = cost_.step_seconds[static_cast<std::size_t>(op.batch)];
        step = std::max(step, now_);
      }
    }
    for (const Place place : members(index)) end_of_op(place.rank);
  }

  void end_of_op(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (--rank.pending > 0) return;
    auto& spans = cost_.timeline.ranks[static_cast<std::size_t>(number)].spans;
    for (; rank.next < rank.end; ++rank.next)
      spans[rank.next] = {to_nanoseconds(rank.begin), to_nanoseconds(now_)};
    post(number);
  }

  // Max-min: the link that can give the least to each of its flows decides for them first.
  void share_links() {
    if (!changed_) return;
    changed_ = false;
    if (!table_.empty()) {
      for (const std::int32_t index : active_) {
        Flow& flow = flows_[static_cast<std::size_t>(index)];
        flow.rate = table_.rate(flow.bytes, flow.combines, flow.fresh, active_.size());
      }
      return;
    }
    std::vector<double> left = routes_.bandwidths();
    std::vector<int> users(left.size(), 0);
    for (const std::int32_t index : active_) {
      Flow& flow = flows_[static_cast<std::size_t>(index)];
      flow.rate = 0;
      for (const int link : flow.links) ++users[static_cast<std::size_t>(link)];
    }
    std::size_t open = active_.size();
    while (open > 0) {
      double least = kNever;
      for (std::size_t link = 0; link < left.size(); ++link) {
        if (users[link] > 0) least = std::min(least, left[link] / users[link]);
      }
      std::vector<bool> full(left.size(), false);
      for (std::size_t link = 0; link < left.size(); ++link)
        full[link] = users[link] > 0 && left[link] / users[link] <= least * (1 + kSame);
      for (const std::int32_t index : active_) {
        Flow& flow = flows_[static_cast<std::size_t>(index)];
        if (flow.rate > 0) continue;
        const bool decided = std::any_of(flow.links.begin(), flow.links.end(), [&](int link) {
          return full[static_cast<std::size_t>(link)];
        });
        if (!decided) continue;
        flow.rate = least;
        --open;
        for (const int link : flow.links) {
          left[static_cast<std::size_t>(link)] =
              std::max(0.0, left[static_cast<std::size_t>(link)] - least);
          --users[static_cast<std::size_t>(link)];
        }
      }
    }
  }

  const Collective& collective_;
  const Network network_;
  const Matching matching_;
  const Routes routes_;
  const TransferTable table_;
  const std::vector<std::vector<bool>> fresh_;  // sends by rank and op; of a table alone
  std::vector<Flow> flows_;                     // by meeting
  std::vector<Rank> ranks_;
  std::vector<std::int64_t> carried_;  // by link
  std::vector<double> used_;           // by link: seconds with a message under way; of a table
  std::vector<std::int32_t> active_;   // flows whose bytes are under way
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  CollectiveCost cost_;
  double now_ = 0;
  bool changed_ = false;
};

}  // namespace

CollectiveCost simulate_flows(const Collective& collective, const Network& network) {
  return FlowWalk(collective, network).run();
}

}  // namespace parallelarium
