// SPDX-License-Identifier: GPL-3.0-or-later
// What the order editor says: its verdict, figures, what is selected, and the text for screen
// readers.
#pragma once

#include <QString>
#include <algorithm>
#include <functional>
#include <vector>

#include "app/selection/selection_panel.h"
#include "app/state/step/order_edit.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {

struct EditorVerdict {
  enum class Tone { kPlain, kGood, kWarning };
  Tone tone = Tone::kPlain;
  QString headline, detail;
  bool hangs = false;  // ranks would wait for ever
};
EditorVerdict verdict_of(const OrderEdit& edit);

// "this order 30 · your best 30 · par 30 · floor 27"
QString score_text(const OrderEdit& edit);
// What makes the length, and how long ranks wait though something else could begin; empty where
// nothing runs.
QString path_text(const OrderEdit& edit);
// A run of this order, and what was predicted for it; empty: none was made.
QString run_text(const Session& session);
// Whether stages may hold unlike many micro-batches.
inline bool limits_differ(const HeldLimits& limits) {
  return std::adjacent_find(limits.begin(), limits.end(), std::not_equal_to<>()) != limits.end();
}

std::vector<Quantity> editor_quantities(const OrderEdit& edit, const Session& session);
// An action of the order, or one that may come next.
SelectionText action_words(const OrderEdit& edit, Spot spot);
QString ghost_words(const OrderEdit& edit, Spot ghost);
// The whole state for screen readers.
QString editor_description(const OrderEdit& edit);
// When each rank works in the order that solves the lesson's step, in forwards.
QString goal_description(const OrderEdit& edit);
// Of the drawing in time: "Stage 0: F0 from 0 to 1, F1 from 1 to 2", a line for each row.
QString times_description(const OrderEdit& edit);
// "Stage 2, behind B1, 5 of 12": where the cursor is.
QString cursor_words(const OrderEdit& edit, Spot cursor);

}  // namespace parallelarium
