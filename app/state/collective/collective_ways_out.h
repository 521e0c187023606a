// SPDX-License-Identifier: GPL-3.0-or-later
// What would mend an invalid choice of a collective.
#pragma once

#include <QString>
#include <vector>

#include "app/state/collective/collective_plan.h"

namespace parallelarium {

struct WayOut {
  QString text;       // "2 ranks", "Ring"
  QString field;      // what it sets, as LessonLocks::allowed() names it
  std::string value;  // to what
  CollectiveChoice choice;
};

// The values that the problem's sentence offers, then the ring where the ranks are wrong for the
// algorithm. Only choices that are valid, at most four.
std::vector<WayOut> ways_out(const CollectiveChoice& choice, const Message& problem);

}  // namespace parallelarium
