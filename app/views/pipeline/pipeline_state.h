// SPDX-License-Identifier: GPL-3.0-or-later
// What the Pipeline view keeps; for pipeline_view.cpp and pipeline_layout.cpp only.
#pragma once

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "app/views/pipeline/editor/order_editor.h"
#include "app/views/pipeline/held_plot.h"
#include "app/views/pipeline/op_table.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/pipeline/stage_strip.h"
#include "app/views/timeline/timeline_view.h"

namespace parallelarium {

struct PipelineView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  StageStrip* strip = nullptr;
  TimelineView* timeline = nullptr;
  HeldPlot* plot = nullptr;
  OpTable* table = nullptr;
  QLabel* one_stage = nullptr;
  OrderEditor* editor = nullptr;  // in place of all other parts, while it is open
  QToolButton* edit_button = nullptr;
  QToolButton* turns = nullptr;  // where there is no room for both: shows the plot
  QLineEdit* find = nullptr;     // while something is searched
  int header_right = 0, legend_lines = 0;
  bool aligning = false, align_again = false;
  QAction *pairs = nullptr, *show_table = nullptr, *one_rank = nullptr, *unmark = nullptr,
          *edit = nullptr;
};

}  // namespace parallelarium
