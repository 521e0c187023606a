// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of the Pipeline view stand, its title and its legend.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/state/step/order_edit.h"
#include "app/views/pipeline/pipeline_state.h"
#include "app/views/shared/paint/legend.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/timeline/picture_source.h"

namespace parallelarium {
namespace {

constexpr int kHeader = 38, kMostPlot = 240, kLeastPlot = 92;
// Below this height timeline and plot take turns.
constexpr int kPlotFrom = 360;
constexpr int kFindWidth = 200;

}  // namespace

// Places the parts: fixed header and strip, as much timeline as its rows want, the rest for the
// plot.
void PipelineView::align() {
  // A part that gets another size may ask for another place of its neighbours.
  state_->align_again = true;
  if (state_->aligning) return;
  state_->aligning = true;
  for (int round = 0; state_->align_again && round < 4; ++round) {
    state_->align_again = false;
    place_parts();
  }
  state_->aligning = false;
}

void PipelineView::place_parts() {
  State& s = *state_;
  const bool editing = s.session.order_edit().open();
  s.editor->setVisible(editing);
  s.edit_button->setVisible(!editing && s.edit->isEnabled());
  s.timeline->setVisible(!editing && !s.show_table->isChecked());
  s.table->setVisible(!editing && s.show_table->isChecked());
  setFocusProxy(editing ? static_cast<QWidget*>(s.editor) : s.timeline);
  if (editing) {
    s.strip->hide();
    s.plot->hide();
    s.editor->setGeometry(rect());
    s.editor->raise();
    return;
  }
  const bool one_stage = s.one_stage->isVisibleTo(this);
  const bool has_plot = !one_stage && !s.show_table->isChecked();
  const int strip_height = s.strip->sizeHint().height();
  const double beside_plot =
      height() - kHeader - s.legend_lines * kLegendLine - strip_height - kLeastPlot;
  // Rows come first.
  const bool with_plot =
      has_plot && height() >= kPlotFrom && beside_plot >= least_height(s.timeline->picture());
  const bool takes_turns = has_plot && !with_plot;
  s.turns->setVisible(takes_turns);
  int right = width() - 16;
  for (auto [part, wide] : {std::pair<QWidget*, int>(s.turns, s.turns->sizeHint().width()),
                            {s.edit_button, s.edit_button->sizeHint().width()},
                            {s.find, kFindWidth}}) {
    if (part->isHidden()) continue;
    part->setGeometry(right - wide, 5, wide, kHeader - 10);
    right -= wide + 8;
  }
  s.header_right = right;
  // The room beside the plot was reckoned with the lines before.
  const int lines = paint_legend(nullptr);
  s.align_again |= lines != s.legend_lines;
  s.legend_lines = lines;
  int y = kHeader + s.legend_lines * static_cast<int>(kLegendLine);
  s.strip->setVisible(!one_stage);
  if (one_stage) {
    const int inner = width() - 32;
    const int needed = std::max(40, s.one_stage->heightForWidth(inner));
    s.one_stage->setGeometry(16, y, inner, needed);
    y += needed;
  } else {
    s.strip->setGeometry(0, y, width(), strip_height);
    y += strip_height;
  }
  const int room = height() - y;
  if (s.show_table->isChecked()) {
    s.plot->hide();
    s.table->setGeometry(0, y, width(), std::max(0, room));
    return;
  }
  const int wanted = s.timeline->sizeHint().height();
  int plot = 0;
  if (with_plot) {
    const int rows = static_cast<int>(std::ceil(least_height(s.timeline->picture())));
    const int least = std::clamp(std::min(room * 26 / 100, room - rows), kLeastPlot, 190);
    plot = std::clamp(room - wanted, least, kMostPlot);
  }
  int timeline = room - plot;
  timeline = std::min(timeline, wanted + 24);  // no rows would fill more
  s.timeline->setGeometry(0, y, width(), std::max(60, timeline));
  const bool in_turn = takes_turns && s.turns->isChecked();
  s.plot->setVisible(with_plot || in_turn);
  if (with_plot) s.plot->setGeometry(0, y + timeline, width(), plot);
  // The rows' place, under the times. The timeline stays, so that its keys still move through time.
  if (in_turn) {
    const int below = s.timeline->y() + static_cast<int>(kTickBand);
    s.plot->setGeometry(0, below, width(), height() - below);
    s.plot->raise();
  }
  const int left = s.timeline->axis_left(), axis = s.timeline->axis_width();
  s.strip->set_axis(left, axis);
  s.plot->set_axis(left, axis);
}

void PipelineView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = theme_for(palette());
  painter.fillRect(rect(), theme.surface);
  const QString title = picture_title(state_->session.subject().prediction()->setup);
  const QRectF line(16, 8, state_->header_right - 16, 22);
  put_elided(painter, line, Qt::AlignVCenter, title, theme.font(13, true), theme.text, nullptr);
  // Who zooms sees other kinds, and a longer or shorter legend. The editor covers it.
  if (!state_->session.order_edit().open() && paint_legend(&painter) != state_->legend_lines)
    QMetaObject::invokeMethod(this, &PipelineView::refresh, Qt::QueuedConnection);
}

// Between the title and the buttons, or under both. Returns how many lines it takes there.
int PipelineView::paint_legend(QPainter* painter) const {
  const QString title = picture_title(state_->session.subject().prediction()->setup);
  const double from =
      16 + QFontMetricsF(theme_for(palette()).font(13, true)).horizontalAdvance(title) + 24;
  const LegendPlace place{QRectF(from, 8, state_->header_right - from, 22),
                          QRectF(16, kHeader - 4, width() - 32, kLegendLine)};
  const Picture& picture = state_->timeline->picture();
  return parallelarium::paint_legend(painter, place, picture,
                                     zoom_of(picture, state_->timeline->layout_of_rows()),
                                     theme_for(palette()), nullptr);
}

void PipelineView::resizeEvent(QResizeEvent*) { align(); }

}  // namespace parallelarium
