// SPDX-License-Identifier: Apache-2.0
// An unfinished order that the user builds: how far it runs, what each rank waits for, and what may
// come next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/order/order.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// An action that could come next at the end of a rank's line.
struct NextAction {
  Action action;
  double begin = 0, end = 0;  // its times if it were placed now
  double held = 0;            // micro-batches that the rank holds after it
};

// What the first action that cannot run waits for.
struct DraftWait {
  std::size_t index = 0;  // index of the action in its rank's line
  Action needs;           // F, B (whole or, in an order that splits, its input part) or I
  int rank = -1;          // the rank that has to do this
  int position = -1;      // its index in that rank's line; -1: it is not placed
  bool for_ever = false;  // no action that is added to the lines could end this wait
};

// An action of a draft by its place: rank, and index in the rank's line. -1: none.
struct DraftPlace {
  int rank = -1, index = -1;
  bool operator==(const DraftPlace&) const = default;
};

// Why an action began when it did.
struct DraftBegin {
  // The action that it waited for and that ended last: the one before it on its rank, or one that
  // it needs. If a transfer passes in between, that is on another rank. None: it began at 0.
  DraftPlace after;
  double transfer = 0;
  double ready = 0;          // time when everything that it needs was there
  DraftPlace sender;         // the action on another rank that it needs
  double sent_transfer = 0;  // duration of that transfer
};

struct DraftRank {
  std::vector<TimedAction> ran;   // the front of its line
  std::vector<DraftBegin> began;  // for each of `ran`
  std::optional<DraftWait> wait;  // set if the line does not run to its end
  // In the order F, B or I, W, by chunk; each with its lowest micro-batch. Empty while the rank
  // waits.
  std::vector<NextAction> next;
  int wanted = 0;   // actions that a whole order has on this rank
  double held = 0;  // most micro-batches held, as TimedOrder::peak_in_flight counts
};

struct DraftTimes {
  std::vector<DraftRank> ranks;
  double makespan = 0;  // of the actions that run
  double busy = 0;      // of all ranks together
  bool runs = true;     // every line runs to its end
  int placed = 0, wanted = 0;
  bool whole() const { return runs && placed == wanted; }
  // The idle share of a step of this length with this work: idle / (ranks * length).
  double bubble_in(double length) const;
};

// Runs every line as far as it goes. `split`: whether the backwards of which nothing is placed yet
// are to be placed in two parts. Actions that are there twice, or that name no stage of the order,
// do not run. stages.size() must be draft.stages.
DraftTimes time_draft(const Order& draft, const std::vector<Durations>& stages, bool split);

// The actions that determine the makespan. Each begins when the one before, or its transfer, has
// ended; the first begins at 0, and the last ends last. If an action waited equally long for two,
// the one on the same rank counts. Empty if nothing runs.
std::vector<DraftPlace> critical_path(const DraftTimes& times);

// A time in which a rank is idle although a later action of its line could begin: the order chose
// to wait.
struct ChosenWait {
  int rank = -1;
  double begin = 0, end = 0;
};
// The waits, sorted by rank and time. A wait for a forward that the rank's limit forbids is not
// chosen. `limits`: micro-batches that each rank may hold, as DraftRank::held counts; empty: no
// limits.
std::vector<ChosenWait> chosen_waits(const Order& draft, const DraftTimes& times,
                                     const std::vector<double>& limits);

// Continues the pattern of the draft. Each rank's line goes on by repeating its last actions, each
// time some micro-batches later, as far as what it needs runs. Actions that do not exist are left
// out.
Order repeated_to_the_end(Order draft, const std::vector<Durations>& stages, bool split);

// The draft with every action that it lacks behind its lines, one micro-batch after another. What
// waits for ever in the draft does so in this order, too. No action may stand twice.
Order filled_up(Order draft, bool split);

// An order of the same size and placement without any action; and one that does all the work, one
// micro-batch after another, so that it is legal with any placement.
Order without_actions(const Order& like);
Order one_after_another(const Order& like, bool split);

}  // namespace parallelarium
