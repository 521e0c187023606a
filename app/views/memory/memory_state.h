// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of the Memory view share.
#pragma once

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QTableWidget>
#include <QThreadPool>

#include "app/settings/controls.h"
#include "app/views/memory/holders/holders_pane.h"
#include "app/views/memory/memory_curve.h"
#include "app/views/memory/memory_paint.h"
#include "app/views/memory/memory_view.h"

class QCPItemLine;

namespace parallelarium {

// Title, source words and figures of the moment that screen and picture show alike.
struct MemoryShown {
  int rank_index = 0;
  bool hidden = false, hides_bytes = false, hides_traffic = false, stale = false;
  const RunRecord* run = nullptr;  // of the present Setup, or null
  const Program* program = nullptr;
  const Timeline* timeline = nullptr;  // of the run if there is one, else of the prediction
  int timeline_rank = 0;               // the same rank in that Program
  QString title, stages_title, curve_title, ranks_title;
  QString pinned;  // what the outlined bars and curve are; empty: nothing is pinned
  BarChart stages, ranks;
  std::vector<TrafficTerm> traffic;
  MemoryCurve curve;
  std::vector<SharedMessage> messages;  // of that rank
  std::vector<int> rank_of_group;       // built rank index of each group of `ranks`
  std::vector<int> zero_of_group;       // ZeRO stage of each group of `stages`
  // What a device holds, where a line in the picture's bars or curve stands for it; else 0.
  std::int64_t limit_in_sight() const;
};
MemoryShown memory_shown(const Session& session, const ZeroPlans& plans, int rank_index);

// By Pane, the values of the Segments.
inline constexpr const char* kPaneKeys[] = {"stages", "bytes",   "step",
                                            "ranks",  "tensors", "holders"};
inline constexpr int kPanesOfMemory = 6;

struct MemoryView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  ZeroPlans plans;
  MemoryShown shown;
  int chosen_rank = -1;  // global; -1: the fullest
  Pane pane = Pane::kStep;
  int cursor = -1;  // group under the keyboard
  // Of that group; none: all of it.
  struct BarPart {
    Category category;
    bool counted;
  };
  std::optional<BarPart> part;
  struct CurvePoint {
    Nanoseconds time;
    double bytes;
  };
  std::optional<CurvePoint> point;  // chosen in the curve, until that is another one
  bool split = true;                // both halves are to be seen
  int generation = 0;
  bool computing = false;
  QThreadPool worker;

  QComboBox *rank = nullptr, *recipe = nullptr;
  Segments* panes = nullptr;
  std::vector<StepBox*> bytes;
  QTableWidget* tensors = nullptr;
  HoldersPane* holders = nullptr;
  QLabel* tensor_note = nullptr;
  QCustomPlot* plot = nullptr;
  QCPItemLine* playhead = nullptr;
  std::vector<QAction*> actions;

  QRectF stages_rect, bytes_rect, traffic_rect, lower_rect, curve_rect;  // empty: not shown
  std::vector<QRectF> byte_values, traffic_hits;
  std::optional<HeldPart> part_at_point() const;
  bool shows(Pane which) const;
  const BarChart* chart() const;  // what the cursor walks over
  QRectF chart_rect() const;
  // What a device holds, where a line in what is shown now stands for it; else 0.
  std::int64_t limit_in_sight() const;
  TimeAxis axis(double width) const {
    return {session.subject().visible(), kCurveAxis, std::max(10.0, width - kCurveAxis - 16)};
  }
};

}  // namespace parallelarium
