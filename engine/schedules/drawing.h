// SPDX-License-Identifier: Apache-2.0
// A schedule as people draw it: a row of slots for each stage, an action or nothing in each. An
// Order says what comes after what; a drawing also says when, so that it can show what no computer
// could do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/order/order.h"

namespace parallelarium {

struct Drawing {
  // [stage][slot]: a forward or a whole backward, each one slot long. Rows may differ in length.
  std::vector<std::vector<std::optional<Action>>> rows;
  std::size_t slots() const;  // of the longest row
  bool has(int stage, int slot) const;
};
// One line per stage: "F0 F1 .. B0". Errors name line and word: another word, an action that stands
// twice in its row, more than 32 rows or 128 slots.
Result<Drawing> drawing_from_lines(const std::vector<std::string>& lines);

// An action that begins before what it needs has ended.
struct DrawnFault {
  int stage = 0, slot = 0;
  Action action;
  Action needs;
  int needs_stage = 0;
  int needs_slot = -1;  // -1: it is not drawn at all
  Message sentence() const;
};
// By stage, then by slot; the first need of each action that is broken. A forward needs the one of
// the stage before; a backward needs its own forward and the backward of the stage after.
std::vector<DrawnFault> faults_of(const Drawing& drawing);

// That the action in this slot has all that it needs.
Message sound_sentence(const Drawing& drawing, int stage, int slot);

}  // namespace parallelarium
