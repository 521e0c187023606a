// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a layer with experts: tokens on their home ranks, what travels, how full the
// experts are, and the layer in time. One set of functions serves screen, PNG, SVG and PDF.
#pragma once

#include "app/selection_panel.h"
#include "app/views/expert_data.h"
#include "app/views/timeline_paint.h"

namespace parallelarium {

// What can be chosen in the picture: an expert, or a cell of the matrix.
struct ExpertRef {
  int expert = -1;
  int home = -1, rank = -1;
  bool operator==(const ExpertRef&) const = default;
};

struct ExpertPicture {
  std::shared_ptr<const RoutedLayer>
      routed;  // null: there is nothing to show, and `empty` says why
  QString empty;
  bool dimmed = false;
  bool hidden = false;                                    // a lesson asks for what would be seen
  std::shared_ptr<const LayerTimes> predicted, observed;  // null: no such times
  QString predicted_word, no_prediction, no_run;          // sources, or why there are no times
  std::optional<Nanoseconds> playhead;                    // on the step; none: all has happened
  bool tweened = true;
  ExpertRef selected;

  // What is animated; null: nothing.
  const LayerTimes* shown() const { return observed ? observed.get() : predicted.get(); }
  // Shares of the dispatch, and of the combine, that are done at the playhead.
  double arrived() const, returned() const;
};

struct ExpertLayout {
  QSizeF size;
  QRectF title;
  // Tokens: a block for each shown home.
  QRectF tokens_head, tokens;
  int homes = 0, per_row = 0, rows = 0;
  double token_pitch = 0, cell = 0, line = 0, home_pitch = 0;
  // All-to-all.
  QRectF matrix_head, matrix, matrix_note;
  double matrix_cell = 0;
  // Experts.
  QRectF experts_head, experts;
  int expert_rows = 0, expert_columns = 1;
  double expert_pitch = 0, bar_left = 0, bar_width = 0;
  std::vector<int> order;  // experts as they stand: by the rank that holds them
  // The layer in time.
  QRectF lanes_head, lanes, figures;
  int lane_count = 0;
  double lane_left = 0, lane_width = 0, lane_pitch = 0;

  int shown_tokens() const { return per_row * rows; }
  QRectF token_cell(int home, int token, int choice) const;
  QRectF matrix_at(int home, int rank) const;
  QRectF expert_row(int place) const;  // of order[place]
  QRectF lane(int home, bool observed) const;
  double x_of(Nanoseconds time, const LayerTimes& times, Nanoseconds longest) const;
};

// The least height at which nothing is squeezed.
double expert_height(const ExpertPicture& picture, double width);
ExpertLayout expert_layout(const ExpertPicture& picture, QSizeF size);
void paint_experts(QPainter& painter, const ExpertPicture& picture, const ExpertLayout& layout,
                   const Theme& theme, TextLog* texts);

// The layer in time, sources and what a lesson hides, of the Session as it is now.
void add_times(ExpertPicture& picture, const Session& session);

// The colour of an expert: its rank's hue, lighter from one to the next.
QColor expert_color(const RoutedLayer& layer, int expert, const Theme& theme);
ExpertRef expert_at_point(const ExpertPicture& picture, const ExpertLayout& layout, QPointF point);

// "Expert routing · 8 experts on 4 ranks · top-2 of 128 tokens ..."
QString expert_title(const RoutedLayer& layer);
// An expert or a cell with its figures.
SelectionText describe_expert(const RoutedLayer& layer, ExpertRef ref);
// "Rank 0 receives 94 of 256, 1.47 times the mean: it sets the pace."
QString pace_sentence(const RoutedLayer& layer);
// Everything about the frame, for screen readers.
QString expert_sentence(const ExpertPicture& picture);

}  // namespace parallelarium
