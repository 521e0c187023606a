// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/held_plot.h"

#include <QGraphicsOpacityEffect>
#include <QHelpEvent>
#include <QToolTip>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/views/pipeline/held_figure.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {

struct HeldPlot::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  std::shared_ptr<const LaneRows> rows;
  bool hidden = false, filled = false;  // filled: the plot has these lines
  QString source;
  std::vector<HeldLine> lines;
  int left = 86, width = 100;
  QCustomPlot* plot = nullptr;
  QCPItemLine* playhead = nullptr;
  QGraphicsOpacityEffect* faint = nullptr;

  TimeAxis axis() const {
    return {session.subject().visible(), static_cast<double>(left), static_cast<double>(width)};
  }
  void move_playhead() {
    const double x = axis().x_of(session.playback().playhead());
    const bool shown = rows && !hidden && x >= left - 0.5 && x <= left + width + 0.5;
    playhead->setVisible(shown);
    playhead->start->setCoords(x, 0);
    playhead->end->setCoords(x, plot->height());
  }
};

HeldPlot::HeldPlot(Session& session, QWidget* parent)
    : QWidget(parent), state_(std::make_unique<State>(session)) {
  speak_as(*this, {QAccessible::Graphic});
  setAccessibleName(tr("Micro-batches held per stage"));
  setMinimumHeight(84);
  QCustomPlot* plot = state_->plot = new QCustomPlot(this);
  plot->setFocusPolicy(Qt::NoFocus);
  plot->setAttribute(Qt::WA_TransparentForMouseEvents);
  plot->setNoAntialiasingOnDrag(true);
  state_->faint = new QGraphicsOpacityEffect(plot);
  state_->faint->setOpacity(kDimmed);
  state_->faint->setEnabled(false);
  plot->setGraphicsEffect(state_->faint);
  // The cursor moves at every frame; on a layer of its own the lines are not drawn again for it.
  plot->addLayer(QStringLiteral("playhead"), nullptr, QCustomPlot::limAbove);
  plot->layer(QStringLiteral("playhead"))->setMode(QCPLayer::lmBuffered);
  state_->playhead = new QCPItemLine(plot);
  state_->playhead->setLayer(QStringLiteral("playhead"));
  state_->playhead->setClipToAxisRect(false);
  state_->playhead->start->setType(QCPItemPosition::ptAbsolute);
  state_->playhead->end->setType(QCPItemPosition::ptAbsolute);
  connect(&session.playback(), &Playback::playhead_changed, this, [this] {
    if (!isVisible()) return;
    state_->move_playhead();
    state_->plot->layer(QStringLiteral("playhead"))->replot();
    update(QRect(0, 0, this->width(), static_cast<int>(kHeldHeader)));
  });
  connect(&session.subject(), &Subject::visible_changed, this, [this] {
    if (!isVisible()) return;
    set_held_range(*state_->plot, state_->axis(), this->width());
    state_->move_playhead();
    state_->plot->replot(QCustomPlot::rpQueuedReplot);
    update();
  });
}

HeldPlot::~HeldPlot() = default;

void HeldPlot::show_rows(std::shared_ptr<const LaneRows> rows, bool hidden, const QString& source) {
  State& s = *state_;
  s.rows = std::move(rows);
  s.hidden = hidden;
  s.source = source;
  s.filled = false;
  s.lines = s.rows && !hidden ? held_lines(*s.rows) : std::vector<HeldLine>();
  s.faint->setEnabled(!s.session.problems().empty());  // the last valid picture, dimmed
  s.plot->setVisible(s.rows && !hidden);               // its axes would tell times
  setAccessibleDescription(description());
  if (isVisible()) fill();
  update();
}

// Draws the lines anew. What nobody sees waits until it is shown.
void HeldPlot::fill() {
  State& s = *state_;
  const Theme& theme = theme_for(palette());
  s.filled = true;
  s.playhead->setPen(QPen(theme.mark, 1.5));
  fill_held_plot(*s.plot, s.lines, s.rows ? s.rows->end : Nanoseconds(0), theme, s.axis(), width());
  s.move_playhead();
  s.plot->replot(QCustomPlot::rpQueuedReplot);
}

void HeldPlot::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!state_->filled) return fill();
  set_axis(state_->left, state_->width);
}

void HeldPlot::set_axis(int left, int width) {
  const bool other_width = width != state_->width;
  state_->left = left;
  state_->width = width;
  if (!isVisible()) return;
  if (other_width) return fill();  // labels stand elsewhere
  set_held_range(*state_->plot, state_->axis(), this->width());
  state_->move_playhead();
  state_->plot->replot(QCustomPlot::rpQueuedReplot);
  update();
}

QString HeldPlot::description() const {
  const State& s = *state_;
  if (s.hidden || !s.rows) return tr("Hidden until you answer.");
  QStringList parts;
  for (const HeldLine& line : s.lines)
    parts << tr("stage %1 at most %2").arg(line.stage).arg(number_text(line.most));
  return tr("Micro-batches held, %1: %2.").arg(s.source, parts.join(QStringLiteral(", ")));
}

void HeldPlot::paintEvent(QPaintEvent*) {
  const State& s = *state_;
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.fillRect(rect(), theme.surface);
  paint_held_header(painter, QRectF(16, 0, s.left + s.width - 16, kHeldHeader), s.lines, s.source,
                    theme, nullptr);
  if (s.hidden)
    put_text(painter, QRectF(rect()), Qt::AlignCenter, kHidden, theme.font(15, true), theme.muted,
             nullptr);
}

void HeldPlot::resizeEvent(QResizeEvent*) {
  State& s = *state_;
  const auto top = static_cast<int>(kHeldHeader);
  s.plot->setGeometry(0, top, width(), std::max(20, height() - top));
  if (!isVisible()) return;
  set_held_range(*s.plot, s.axis(), width());
  s.move_playhead();
  s.plot->replot(QCustomPlot::rpQueuedReplot);
}

// The pointer scrubs here too, and a tooltip reads the lines.
void HeldPlot::mousePressEvent(QMouseEvent* event) { mouseMoveEvent(event); }

void HeldPlot::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x();
  if (!(event->buttons() & Qt::LeftButton) || x < state_->left) return;
  state_->session.playback().set_playhead(state_->axis().time_at(x));
}

bool HeldPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && state_->rows && !state_->hidden) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Nanoseconds time = state_->axis().time_at(help->pos().x());
    const bool hides = state_->session.locks().hidden_of_ops().times;
    QStringList lines{tr("Held at %1, %2").arg(shown_time(time, hides), state_->source)};
    for (const HeldLine& line : state_->lines) {
      double held = 0;
      for (const HeldPoint& point : line.points)
        if (point.time <= time) held = point.held;
      lines << tr("stage %1: %2").arg(line.stage).arg(number_text(held));
    }
    QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace parallelarium
