// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/explain/explain.h"

#include <algorithm>

#include "engine/plan/text/describe_op.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/explain/explainer.h"

namespace parallelarium {

namespace {

// "the gradient of micro-batch 0"
Message what_travels(const Op& op) {
  return of_microbatch(op.purpose == Purpose::kGradients
                           ? message("the-gradient", "the gradient")
                           : message("the-data", "the {}", word("purpose", name_of(op.purpose))),
                       op.microbatch);
}

// Global rank to stage, for built ranks.
int stage_of(const Program& program, int rank) {
  for (const RankProgram& built : program.ranks) {
    if (built.rank == rank) return built.stage;
  }
  return -1;
}

// "stage 3", or the rank where it is not built.
Message place_of(const Program& program, int rank) {
  const int stage = stage_of(program, rank);
  return stage >= 0 ? message("stage", "stage {}", stage) : message("rank", "rank {}", rank);
}

Message waits_for(const Message& what) { return message("idle-wait", "waits for {}", what); }

// "waits for the gradient of micro-batch 0 from stage 3"
Message waits_for(const Program& program, const Op& awaited) {
  switch (awaited.kind) {
    case OpKind::kRecv:
      return waits_for(message("data-from", "{} from {}", what_travels(awaited),
                               place_of(program, awaited.peer)));
    case OpKind::kSend:
      return message("idle-send", "waits until {} can take {}", place_of(program, awaited.peer),
                     what_travels(awaited));
    default:
      return waits_for(describe(awaited));
  }
}

// "waits while the link carries the gradient of micro-batch 0 from stage 3"
Message waits_for_link(const Program& program, const Op& awaited) {
  switch (awaited.kind) {
    case OpKind::kRecv:
      return message("idle-recv-link", "waits while the link carries {} from {}",
                     what_travels(awaited), place_of(program, awaited.peer));
    case OpKind::kSend:
      return message("idle-send-link", "waits while the link carries {} to {}",
                     what_travels(awaited), place_of(program, awaited.peer));
    default:
      return message("idle-link", "waits during {}", describe(awaited));
  }
}

class GapFinder {
 public:
  GapFinder(const Program& program, const Timeline& timeline, const Explainer& explainer, int rank)
      : program_(program), timeline_(timeline), explainer_(explainer), rank_(rank) {}

  std::vector<IdleGap> find() {
    const auto& ops = program_.ranks[static_cast<std::size_t>(rank_)].ops;
    const auto& spans = timeline_.ranks[static_cast<std::size_t>(rank_)].spans;
    std::int32_t first = -1, last = -1;  // of the actions
    for (std::size_t index = 0; index < ops.size(); ++index) {
      if (ops[index].lane != Lane::kCompute || ops[index].microbatch < 0) continue;
      if (first < 0) first = static_cast<std::int32_t>(index);
      last = static_cast<std::int32_t>(index);
    }
    Nanoseconds free{0};
    for (std::size_t index = 0; index < ops.size(); ++index) {
      if (ops[index].lane != Lane::kCompute) continue;
      const auto at = static_cast<std::int32_t>(index);
      const IdleKind kind = at <= first ? IdleKind::kWarmUp
                            : at > last ? IdleKind::kDrain
                                        : IdleKind::kWait;
      if (spans[index].begin > free) add(kind, {free, spans[index].begin}, {rank_, at});
      free = std::max(free, spans[index].end);
    }
    if (timeline_.duration > free) {
      gaps_.push_back({{free, timeline_.duration},
                       IdleKind::kDrain,
                       message("idle-done", "has nothing left to do in this step")});
    }
    return std::move(gaps_);
  }

 private:
  // The idle time before `next`: what it waited for, which may itself have waited, then the
  // transfer.
  void add(IdleKind kind, Span span, OpRef next) {
    const Op& op = explainer_.op_at(next);
    const OpRef awaited = explainer_.waited_for(next);
    if (awaited.op < 0) {
      gaps_.push_back({span, kind, message("idle-start", "has not been started yet")});
      return;
    }
    const Op& cause = explainer_.op_at(awaited);
    if (op.kind != OpKind::kCompute && awaited.rank != rank_) {
      gaps_.push_back({span, kind, waits_to_join(awaited.rank, op)});
      return;
    }
    if (cause.kind == OpKind::kCompute) {
      gaps_.push_back({span, kind, waits_for(describe(cause))});
      return;
    }
    const auto first = static_cast<std::ptrdiff_t>(gaps_.size());
    add_transfers(kind, span, awaited);
    std::reverse(gaps_.begin() + first, gaps_.end());
  }

  Message waits_to_join(int other, const Op& op) const {
    return waits_for(message("rank-joins", "rank {} to join {}",
                             program_.ranks[static_cast<std::size_t>(other)].rank, describe(op)));
  }

  // The same, last first, where messages or collectives end with `awaited`: a collective stands
  // behind others of its lane, each of which takes its own part of the time.
  void add_transfers(IdleKind kind, Span span, OpRef awaited) {
    while (true) {
      const Op& cause = explainer_.op_at(awaited);
      const auto add_part = [&](Nanoseconds begin, IdleKind of, Message why) {
        if (span.end <= begin) return;
        gaps_.push_back({{begin, span.end}, of, std::move(why)});
        span.end = begin;
      };
      add_part(std::clamp(explainer_.span_at(awaited).begin, span.begin, span.end),
               IdleKind::kTransfer, waits_for_link(program_, cause));
      if (span.end <= span.begin) return;
      const OpRef before = cause.kind == OpKind::kCollective ? before_of(awaited) : OpRef{};
      if (before.op < 0) {
        add_part(span.begin, kind, waits_for(program_, cause));
        return;
      }
      if (explainer_.op_at(before).kind == OpKind::kCompute) {
        add_part(span.begin, kind,
                 before.rank != rank_ ? waits_to_join(before.rank, cause)
                                      : waits_for(describe(explainer_.op_at(before))));
        return;
      }
      awaited = before;
    }
  }

  // What a collective waited for; of one that this rank takes part in, its own op.
  OpRef before_of(OpRef collective) const {
    const OpRef before = explainer_.waited_for(collective);
    if (before.op < 0 || before.rank == rank_) return before;
    for (const OpRef met : explainer_.met_by(before))
      if (met.rank == rank_) return met;
    return before;
  }

  const Program& program_;
  const Timeline& timeline_;
  const Explainer& explainer_;
  const int rank_;
  std::vector<IdleGap> gaps_;
};

}  // namespace

std::vector<IdleGap> idle_gaps(const Program& program, const Timeline& timeline, int rank) {
  return GapFinder(program, timeline, Explainer(program, timeline), rank).find();
}

std::vector<std::vector<IdleGap>> all_idle_gaps(const Program& program, const Timeline& timeline) {
  const Explainer explainer(program, timeline);
  std::vector<std::vector<IdleGap>> gaps;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    gaps.push_back(GapFinder(program, timeline, explainer, static_cast<int>(rank)).find());
  return gaps;
}

OpRef waited_for(const Program& program, const Timeline& timeline, OpRef op) {
  return Explainer(program, timeline).waited_for(op);
}

OpRef source_of(const Program& program, const Timeline& timeline, OpRef op) {
  return Explainer(program, timeline).source_of(op);
}

std::vector<OpRef> enabled_by(const Program& program, OpRef ref) {
  const Explainer explainer(program, Timeline{});
  std::vector<OpRef> enabled;
  const auto add_dependents = [&](OpRef of, auto&& follow) -> void {
    const auto& rank = program.ranks[static_cast<std::size_t>(of.rank)];
    for (std::size_t index = static_cast<std::size_t>(of.op) + 1; index < rank.ops.size();
         ++index) {
      const auto after = rank.after_of(rank.ops[index]);
      if (std::find(after.begin(), after.end(), of.op) == after.end()) continue;
      const OpRef dependent{of.rank, static_cast<std::int32_t>(index)};
      if (rank.ops[index].kind != OpKind::kSend) {
        enabled.push_back(dependent);
        continue;
      }
      follow(dependent, follow);
    }
  };
  // A send enables what comes after the receive that it meets.
  const auto follow_send = [&](OpRef send, auto&& follow) -> void {
    for (const OpRef met : explainer.met_by(send)) {
      if (met == send) continue;
      const std::size_t before = enabled.size();
      add_dependents(met, follow);
      if (enabled.size() == before) enabled.push_back(met);
    }
  };
  if (explainer.op_at(ref).kind == OpKind::kSend) {
    follow_send(ref, follow_send);
  } else if (explainer.op_at(ref).kind == OpKind::kCollective) {
    for (const OpRef met : explainer.met_by(ref)) add_dependents(met, follow_send);
  } else {
    add_dependents(ref, follow_send);
  }
  return enabled;
}

std::vector<OpRef> critical_path(const Program& program, const Timeline& timeline) {
  const Explainer explainer(program, timeline);
  OpRef at;
  for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    for (std::size_t op = 0; op < timeline.ranks[rank].spans.size(); ++op) {
      const OpRef candidate{static_cast<int>(rank), static_cast<int>(op)};
      if (at.op < 0 || explainer.span_at(candidate).end > explainer.span_at(at).end) at = candidate;
    }
  }
  std::vector<OpRef> path;
  while (at.op >= 0) {
    path.push_back(at);
    at = explainer.waited_for(at);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

IdleShares idle_shares(std::span<const std::vector<IdleGap>> gaps, Nanoseconds duration) {
  IdleShares shares;
  const double total = static_cast<double>(duration.count()) * static_cast<double>(gaps.size());
  if (total <= 0) return shares;
  for (const std::vector<IdleGap>& of_rank : gaps) {
    for (const IdleGap& gap : of_rank) {
      const double share = static_cast<double>((gap.span.end - gap.span.begin).count()) / total;
      switch (gap.kind) {
        case IdleKind::kWarmUp:
          shares.warm_up += share;
          break;
        case IdleKind::kWait:
          shares.wait += share;
          break;
        case IdleKind::kTransfer:
          shares.transfer += share;
          break;
        case IdleKind::kDrain:
          shares.drain += share;
          break;
      }
    }
  }
  shares.busy = 1 - shares.warm_up - shares.wait - shares.transfer - shares.drain;
  return shares;
}

IdleShares idle_shares(const Program& program, const Timeline& timeline) {
  return idle_shares(all_idle_gaps(program, timeline), timeline.duration);
}

}  // namespace parallelarium
