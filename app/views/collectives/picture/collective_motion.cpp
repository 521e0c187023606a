// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/collectives/picture/collective_motion.h"

#include <algorithm>

namespace parallelarium {
namespace {

// How much of a span has passed.
double share_of(const Span& span, Nanoseconds time) {
  if (time >= span.end) return 1;
  if (time <= span.begin) return 0;
  return double((time - span.begin).count()) / double((span.end - span.begin).count());
}

// By rank and step: when the last op of the step, with what is combined after it, has ended, and
// when the op before its first one had.
struct Edges {
  Nanoseconds begin{-1}, end{0}, ready{0};
};

std::vector<Edges> edges_of(const CollectivePlan& plan, const Timeline& timeline) {
  const int ranks = plan.ranks();
  std::vector<Edges> edges(std::size_t(plan.steps() * ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& ops = plan.collective.program.ranks[std::size_t(rank)].ops;
    const auto& spans = timeline.ranks[std::size_t(rank)].spans;
    int step = -1;
    Nanoseconds free{0};  // the latest end so far
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (ops[op].batch >= 0 && ops[op].batch < plan.steps() && ops[op].batch != step) {
        step = ops[op].batch;
        edges[std::size_t(step * ranks + rank)].ready = free;
      }
      free = std::max(free, spans[op].end);
      if (step < 0) continue;
      Edges& edge = edges[std::size_t(step * ranks + rank)];
      edge.begin = edge.begin.count() < 0 ? spans[op].begin : std::min(edge.begin, spans[op].begin);
      edge.end = std::max(edge.end, spans[op].end);
    }
  }
  return edges;
}

}  // namespace

CollectiveMotion::CollectiveMotion(std::shared_ptr<const CollectivePlan> plan,
                                   const Timeline& timeline)
    : plan_(std::move(plan)),
      source_(timeline.source),
      duration_(timeline.duration),
      ranks_(plan_->ranks()) {
  const Collective& collective = plan_->collective;
  const std::vector<Edges> edges = edges_of(*plan_, timeline);
  const auto edge = [&](int step, int rank) -> const Edges& {
    return edges[std::size_t(step * ranks_ + rank)];
  };
  for (int step = 0; step < plan_->steps(); ++step) {
    Span whole{Nanoseconds(-1), Nanoseconds(0)};
    for (int rank = 0; rank < ranks_; ++rank) {
      const Edges& one = edge(step, rank);
      rank_spans_.push_back(one.begin.count() < 0 ? Span{} : Span{one.begin, one.end});
      if (one.begin.count() < 0) continue;
      whole.begin = whole.begin.count() < 0 ? one.begin : std::min(whole.begin, one.begin);
      whole.end = std::max(whole.end, one.end);
    }
    if (whole.begin.count() < 0) whole.begin = Nanoseconds(0);
    step_spans_.push_back(whole);
    auto& spans = moves_.emplace_back();
    auto& ready = ready_.emplace_back();
    for (const Move& move : collective.steps[std::size_t(step)]) {
      const Span& send = timeline.ranks[std::size_t(move.from)].spans[std::size_t(move.send)];
      const Span& recv = timeline.ranks[std::size_t(move.to)].spans[std::size_t(move.recv)];
      // It has arrived when the receiver has it: the sender's span lasts until its whole step has
      // ended, what it receives itself included.
      const Nanoseconds begin = std::max(send.begin, recv.begin);
      spans.push_back({begin, std::max(begin, recv.end)});
      ready.push_back(std::min(edge(step, move.to).ready, spans.back().begin));
    }
  }
  changes_.resize(std::size_t(ranks_ * collective.chunks));
  for (int step = 0; step < plan_->steps(); ++step) {
    const auto& before = plan_->holdings[std::size_t(step)].sets;
    const auto& after = plan_->holdings[std::size_t(step) + 1].sets;
    std::vector<Nanoseconds> arrived(changes_.size(), Nanoseconds(-1));
    const auto& moves = collective.steps[std::size_t(step)];
    for (std::size_t at = 0; at < moves.size(); ++at) {
      auto& last = arrived[std::size_t(moves[at].to * collective.chunks + moves[at].chunk)];
      last = std::max(last, moves_[std::size_t(step)][at].end);
    }
    for (int rank = 0; rank < ranks_; ++rank)
      for (int chunk = 0; chunk < collective.chunks; ++chunk) {
        const auto at = std::size_t(rank * collective.chunks + chunk);
        if (before[at] == after[at] && arrived[at].count() < 0) continue;
        const Nanoseconds time = arrived[at].count() < 0 ? edge(step, rank).end : arrived[at];
        changes_[at].push_back({time, step + 1});
      }
  }
}

int CollectiveMotion::step_at(Nanoseconds time) const {
  int found = steps() > 0 ? 0 : -1;
  for (int step = 0; step < steps(); ++step)
    if (step_spans_[std::size_t(step)].begin <= time) found = step;
  return found;
}

int CollectiveMotion::settled_step(int rank, int chunk, Nanoseconds time) const {
  int after = 0;
  for (const Change& change : changes_[std::size_t(rank * plan_->collective.chunks + chunk)])
    if (change.time <= time) after = change.after;
  return after;
}

RankSet CollectiveMotion::held(int rank, int chunk, Nanoseconds time) const {
  const auto at = std::size_t(rank * plan_->collective.chunks + chunk);
  return plan_->holdings[std::size_t(settled_step(rank, chunk, time))].sets[at];
}

std::vector<Flight> CollectiveMotion::flights(Nanoseconds time) const {
  std::vector<Flight> flights;
  const int now = step_at(time);
  for (int step = 0; step < steps(); ++step) {
    const Span& whole = step_spans_[std::size_t(step)];
    if (step != now && (time <= whole.begin || time >= whole.end)) continue;
    const auto& spans = moves_[std::size_t(step)];
    for (std::size_t at = 0; at < spans.size(); ++at) {
      const double share = share_of(spans[at], time);
      if (step == now || (share > 0 && share < 1)) flights.push_back({{step, int(at)}, share});
    }
  }
  return flights;
}

Span CollectiveMotion::span_of(MoveRef ref) const {
  return moves_[std::size_t(ref.step)][std::size_t(ref.move)];
}

Nanoseconds CollectiveMotion::waited(MoveRef ref) const {
  return span_of(ref).begin - ready_[std::size_t(ref.step)][std::size_t(ref.move)];
}

std::int64_t CollectiveMotion::sent_until(int rank, Nanoseconds time) const {
  double sent = 0;
  for (std::size_t step = 0; step < moves_.size(); ++step) {
    if (step_spans_[step].begin > time) continue;
    const auto& moves = plan_->collective.steps[step];
    for (std::size_t at = 0; at < moves.size(); ++at)
      if (moves[at].from == rank)
        sent += double(moves[at].bytes) * share_of(moves_[step][at], time);
  }
  return std::int64_t(sent);
}

}  // namespace parallelarium
