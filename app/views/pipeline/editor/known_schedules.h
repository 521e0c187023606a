// SPDX-License-Identifier: GPL-3.0-or-later
// The schedules that have names, beside an order that the user built: the same work on the same
// ranks with the same durations.
#pragma once

#include <QString>
#include <vector>

#include "app/state/step/order_edit.h"

namespace parallelarium {

struct KnownSchedule {
  QString title;
  double makespan = 0, bubble = 0, held = 0;  // as OrderEdit's durations; share; micro-batches
  int over = -1;  // the first stage that holds more than it may, or none
  double held_there = 0;
  bool keeps_limits() const { return over < 0; }
};

// Those that have the order's stages on the same ranks and split backwards where it does; of two
// names for one order the first.
std::vector<KnownSchedule> known_schedules(const OrderEdit& edit);

// Whether the lesson's goal is met, so that they are no answer any more.
bool shows_known_schedules(const OrderEdit& edit);

// A table for a label. Empty: there are none.
QString known_schedules_table(const OrderEdit& edit);

}  // namespace parallelarium
