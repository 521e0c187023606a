// SPDX-License-Identifier: Apache-2.0
// A step of many micro-batches, described by a Program of fewer micro-batches and by those of its
// ops that come again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/plan/program/report.h"
#include "engine/plan/program/timeline.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Ops [first, last) of each rank come `times` more times, right behind themselves and each time a
// period later. The ops behind them come later by all these periods.
struct Repeats {
  struct Body {
    std::int32_t first = 0, last = 0;
  };
  std::vector<Body> ranks;  // as Program::ranks; empty: the Program has all ops of the step
  std::int64_t times = 0;
  Nanoseconds period{0};
};

// Calls run(first, last, later) for ops of a rank that follow one another in its step; `later` is
// by how much they come later than in the Program. `index` is the rank's in the Program, where it
// has `ops` ops.
template <class Run>
void for_each_run(const Repeats& repeats, std::size_t index, std::size_t ops, const Run& run) {
  if (repeats.ranks.empty()) return run(std::size_t{0}, ops, Nanoseconds{0});
  const auto first = static_cast<std::size_t>(repeats.ranks[index].first),
             last = static_cast<std::size_t>(repeats.ranks[index].last);
  run(std::size_t{0}, last, Nanoseconds{0});
  for (std::int64_t time = 1; time <= repeats.times; ++time)
    run(first, last, time * repeats.period);
  run(last, ops, repeats.times * repeats.period);
}

// Like for_each_run, but reports repeated ops once, with how often they come: run(first, last,
// later, times). Each time is one period later.
template <class Run>
void for_each_run_once(const Repeats& repeats, std::size_t index, std::size_t ops, const Run& run) {
  if (repeats.ranks.empty()) return run(std::size_t{0}, ops, Nanoseconds{0}, std::int64_t{1});
  const auto first = static_cast<std::size_t>(repeats.ranks[index].first),
             last = static_cast<std::size_t>(repeats.ranks[index].last);
  run(std::size_t{0}, last, Nanoseconds{0}, std::int64_t{1});
  if (repeats.times > 0) run(first, last, repeats.period, repeats.times);
  run(last, ops, repeats.times * repeats.period, std::int64_t{1});
}

// Calls visit(op, span) for all ops of a rank's step, in issue order.
template <class Visit>
void for_each_op(const Program& program, const Timeline& timeline, const Repeats& repeats,
                 std::size_t index, const Visit& visit) {
  const std::vector<Op>& ops = program.ranks[index].ops;
  const std::vector<Span>& spans = timeline.ranks[index].spans;
  for_each_run(repeats, index, std::min(ops.size(), spans.size()),
               [&](std::size_t first, std::size_t last, Nanoseconds later) {
                 for (std::size_t at = first; at < last; ++at)
                   visit(ops[at], Span{spans[at].begin + later, spans[at].end + later});
               });
}

// How long the messages of the ring take that goes round inside a folded op. A Timeline has only
// what nothing hides of it.
using RingTimes = std::function<Nanoseconds(const RankProgram& rank, const Op& folded)>;

// The figures of timeline.h and report.h. They equal those of a Program with every op to the last
// bit. The timeline's duration must be that of the whole step.
Bubble bubble_of(const Program& program, const Timeline& timeline, const Repeats& repeats);
StepFigures step_figures(const Program& program, const Timeline& timeline, const Repeats& repeats,
                         const Setup& setup, const Machine& machine,
                         const RingTimes& ring_times = {});

}  // namespace parallelarium
