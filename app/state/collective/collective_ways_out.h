// SPDX-License-Identifier: GPL-3.0-or-later
// Changes that would make an invalid choice of a collective valid.
#pragma once

#include <QString>
#include <vector>

#include "app/state/collective/collective_plan.h"

namespace parallelarium {

struct WayOut {
  QString text;       // "2 ranks", "Ring"
  QString field;      // the setting that it sets, as LessonLocks::allowed() names it
  std::string value;  // the new value
  CollectiveChoice choice;
};

// The values that the problem's sentence offers, then the ring if the ranks are wrong for the
// algorithm. At most four choices, all of them valid.
std::vector<WayOut> ways_out(const CollectiveChoice& choice, const Message& problem);

}  // namespace parallelarium
