// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a layer with experts: tokens on their home ranks, what travels, how full the
// experts are, and the layer in time. One set of functions serves screen, PNG, SVG and PDF.
#pragma once

#include "app/selection/selection_panel.h"
#include "app/views/experts/expert_data.h"
#include "app/views/shared/paint/recorded_plot.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// What can be chosen in the picture: an expert, or a cell of the matrix.
struct ExpertRef {
  int expert = -1;
  int home = -1, rank = -1;
  bool operator==(const ExpertRef&) const = default;
};

// How full the fullest expert was in each training step of a run.
struct BalanceCurve {
  QString name;  // "run" or "pinned", and what differs between the two
  bool pinned = false;
  std::vector<LayerBalance> steps;
};

struct ExpertPicture {
  // As predicted, by the skew; null: there is nothing to show, and `empty` says why.
  std::shared_ptr<const RoutedLayer> routed;
  // As the run of these settings counted it in training step `step`, from 0; null: there is none.
  std::shared_ptr<const RoutedLayer> counted;
  bool prefers_predicted = false;
  int step = 0, steps = 0, timed_step = 0;  // of the run; that whose times are drawn
  std::shared_ptr<const std::vector<BalanceCurve>> curves;  // the run's, then the pinned run's
  std::shared_ptr<PlotCache> plot_cache;                    // may be null
  QString empty;
  bool dimmed = false;
  bool hidden = false;                                    // a lesson asks for what would be seen
  bool hides_times = false;                               // or for times alone
  std::shared_ptr<const LayerTimes> predicted, observed;  // null: no such times
  QString predicted_word, no_prediction, no_run;          // sources, or why there are no times
  bool by_its_routing = false;          // predicted by what the run's routers did, not by the skew
  std::optional<Nanoseconds> playhead;  // on the step; none: all has happened
  bool tweened = true;
  ExpertRef selected;

  // The routing that is drawn, and whether it is the run's; null: none.
  const RoutedLayer* drawn() const { return shows_run() ? counted.get() : routed.get(); }
  bool shows_run() const { return counted && !prefers_predicted; }
  bool knows_balance() const { return drawn() == nullptr || drawn()->knows_balance(); }
  // What is animated; null: nothing.
  const LayerTimes* shown() const { return observed ? observed.get() : predicted.get(); }
  // Shares of the dispatch, and of the combine, that are done at the playhead.
  double arrived() const, returned() const;
};

struct ExpertLayout {
  QSizeF size;
  QRectF title;
  // Tokens: a block for each shown home; of a run, which counts tokens and does not list them, a
  // bar, and below the bars how even its training steps were.
  QRectF tokens_head, tokens, plot_head, plot;
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
  QRectF home_bar(int home) const;
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

// What the run counted, the layer in time, sources and what a lesson hides, of the Session as it is
// now.
void add_run(ExpertPicture& picture, const Session& session, ExpertChoice choice);
// The curves of the run and of the pinned run; null: nothing is to be drawn.
std::shared_ptr<const std::vector<BalanceCurve>> balance_curves(const Session& session,
                                                                ExpertChoice choice);

// The choices of one home in the order of their experts, as parts of its bar.
struct HomePart {
  int expert = -1;
  QRectF kept, dropped;  // empty where there are none
};
std::vector<HomePart> home_parts(const RoutedLayer& layer, const ExpertLayout& layout, int home);

// How even the training steps were. Nothing is drawn where there is no room.
void paint_balance_plot(QPainter& painter, const ExpertPicture& picture, const ExpertLayout& layout,
                        const Theme& theme, TextLog* texts);
// The training step under a point of the plot; -1: none.
int step_at_point(const ExpertPicture& picture, const ExpertLayout& layout, QPointF point);

// The colour of an expert: its rank's hue, lighter from one to the next.
QColor expert_color(const RoutedLayer& layer, int expert, const Theme& theme);
ExpertRef expert_at_point(const ExpertPicture& picture, const ExpertLayout& layout, QPointF point);

// "71 dropped": behind an expert's bar.
QString dropped_words(std::int64_t count);
// "Expert routing · 8 experts on 4 ranks · top-2 of 128 tokens ..."
QString expert_title(const ExpertPicture& picture);
// The same without what is the least needed, as far as `width` asks for it.
QString expert_title_in(const ExpertPicture& picture, const QFont& font, double width);
// An expert or a cell with its figures.
SelectionText describe_expert(const RoutedLayer& layer, ExpertRef ref);
// "By tokens, rank 0 is the fullest: it receives 94 of 256, 1.47 times the mean." It tells of no
// waiting: a rank with fewer tokens may end later.
QString pace_sentence(const RoutedLayer& layer);
// "By time, rank 0's experts end last; the others wait up to 1.9 ms, 41 % of the layer
// (rehearsed)." Empty where nobody waits or nothing is known of the time.
QString waiting_sentence(const ExpertPicture& picture);
// "Fullest expert over the mean in 6 training steps: run 1.8 to 1.2, pinned 1.8 to 2.4"; or empty.
QString balance_sentence(const ExpertPicture& picture);
// Everything about the frame, for screen readers.
QString expert_sentence(const ExpertPicture& picture);

}  // namespace parallelarium
