// SPDX-License-Identifier: Apache-2.0
// An order that someone is building: how far it runs, what each rank waits for, and what may come
// next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/order/order.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// An action that could stand next at the end of a rank's line.
struct NextAction {
  Action action;
  double begin = 0, end = 0;  // if it were placed there now
  double held = 0;            // micro-batches that the rank holds after it
};

// What the first action that cannot run needs first.
struct DraftWait {
  std::size_t index = 0;  // of the action in its rank's line
  Action needs;           // F, B (whole or, in an order that splits, its input part) or I
  int rank = -1;          // whose work that is
  int position = -1;      // where it stands in that rank's line; -1: it is not placed
  bool for_ever = false;  // nothing that is added to the lines could end this wait
};

// An action of a draft by its place: rank, and index in the rank's line. -1: none.
struct DraftPlace {
  int rank = -1, index = -1;
  bool operator==(const DraftPlace&) const = default;
};

// Why an action began when it did.
struct DraftBegin {
  // What ended last of what it waited for: the action before it on its rank, or one that it needs,
  // which is on another rank where `transfer` passes in between. None: it began at 0.
  DraftPlace after;
  double transfer = 0;
  double ready = 0;          // when all that it needs was there
  DraftPlace sender;         // what it needs of another rank
  double sent_transfer = 0;  // how long that was under way
};

struct DraftRank {
  std::vector<TimedAction> ran;   // the front of its line
  std::vector<DraftBegin> began;  // of each of them
  std::optional<DraftWait> wait;  // where the line does not run to its end
  // In the order F, B or I, W, by chunk; the lowest micro-batch of each. None where it waits.
  std::vector<NextAction> next;
  int wanted = 0;   // actions that a whole order has on this rank
  double held = 0;  // micro-batches held at most, as TimedOrder::peak_in_flight counts them
};

struct DraftTimes {
  std::vector<DraftRank> ranks;
  double makespan = 0;  // of what runs
  double busy = 0;      // of all ranks together
  bool runs = true;     // every line runs to its end
  int placed = 0, wanted = 0;
  bool whole() const { return runs && placed == wanted; }
  // The idle share of a step of that length with this work: idle / (ranks * length).
  double bubble_in(double length) const;
};

// Runs every line as far as it goes. `split`: whether backwards are still to be placed in two
// parts, where nothing of a micro-batch is placed yet. Actions that stand twice or name no stage of
// the order do not run. stages.size() must be draft.stages.
DraftTimes time_draft(const Order& draft, const std::vector<Durations>& stages, bool split);

// What makes the makespan: actions of which each begins when the one before has ended, or its
// transfer; the first begins at 0, the last ends last. Where two were waited for alike, the one on
// the same rank. Empty where nothing runs.
std::vector<DraftPlace> critical_path(const DraftTimes& times);

// A stretch in which a rank is idle although an action that stands later in its line could begin:
// the order chose to wait.
struct ChosenWait {
  int rank = -1;
  double begin = 0, end = 0;
};
// By rank and time. A forward that the rank's limit forbids could not begin. `limits`:
// micro-batches that each rank may hold, as DraftRank::held counts them; empty: no limits.
std::vector<ChosenWait> chosen_waits(const Order& draft, const DraftTimes& times,
                                     const std::vector<double>& limits);

// The draft with its pattern continued: each rank's line goes on as its last actions repeat, each
// time some micro-batches later, as far as what it needs runs. What does not exist is left out.
Order repeated_to_the_end(Order draft, const std::vector<Durations>& stages, bool split);

// An order of the same size and placement without any action; and one that has all its work, one
// micro-batch after another, so that it is legal whatever the placement.
Order without_actions(const Order& like);
Order one_after_another(const Order& like, bool split);

}  // namespace parallelarium
