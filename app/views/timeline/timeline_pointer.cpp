// SPDX-License-Identifier: GPL-3.0-or-later
// The pointer on a TimelineView: hover, click, drag, wheel, menu.
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "app/views/timeline/timeline_state.h"

namespace parallelarium {
namespace {

constexpr double kZoomPerNotch = 0.8;

// Plain text with its first line bold, as tooltips show it.
QString tip_html(const QString& text) {
  const QString escaped = text.toHtmlEscaped();
  const qsizetype end = escaped.indexOf(QLatin1Char('\n'));
  if (end < 0) return QStringLiteral("<span>%1</span>").arg(escaped);
  QString rest = escaped.mid(end + 1);
  return QStringLiteral("<b>%1</b><br>%2")
      .arg(escaped.left(end), rest.replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

}  // namespace

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = tip_at(help->pos());
    if (text.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), tip_html(text), viewport());
    return true;
  }
  if (event->type() == QEvent::Leave) {
    state_->pointer.reset();
    state_->hover.reset();
    Q_EMIT hovered(QString());
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  State& s = *state_;
  const TimeAxis axis = s.layout.axis(s.picture.range);
  s.press = event->position();
  s.press_time = axis.time_at(s.press.x());
  s.press_visible = s.session.subject().visible();
  if (event->button() == Qt::MiddleButton) {
    s.drag = Drag::kPan;
    viewport()->setCursor(Qt::ClosedHandCursor);
    return;
  }
  if (event->button() != Qt::LeftButton) return;
  if (s.press.y() < s.layout.tick_band && s.press.x() >= axis.left) {
    s.drag = Drag::kScrub;
    s.session.playback().set_playhead(axis.time_at(s.press.x()));
    return;
  }
  if (s.press.x() < axis.left) {  // a label: open or close its stage
    const double y = s.press.y() - s.layout.tick_band + verticalScrollBar()->value();
    for (const RowBox& box : s.layout.rows) {
      if (!box.group_start || y < box.bar.top() || y > box.bar.bottom()) continue;
      const int stage = s.picture.lanes[static_cast<std::size_t>(box.lane)]
                            .rows->rows[static_cast<std::size_t>(box.row)]
                            .stage;
      if (s.collapsed.count(stage))
        s.collapsed.erase(stage);
      else
        s.collapsed.insert(stage);
      rebuild();
      return;
    }
    return;
  }
  s.drag = Drag::kPressed;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  State& s = *state_;
  const TimeAxis axis = s.layout.axis(s.picture.range);
  s.pointer = event->position();
  s.snapping = !(event->modifiers() & Qt::AltModifier);
  if (s.drag == Drag::kPressed &&
      (event->position() - s.press).manhattanLength() >= QApplication::startDragDistance())
    s.drag = Drag::kRange;
  if (s.drag == Drag::kRange) {
    const Nanoseconds a = snap(s.press_time, s.snapping);
    const Nanoseconds b = snap(axis.time_at(s.pointer->x()), s.snapping);
    const auto inside = [&](Nanoseconds time) {
      return std::clamp(time, s.picture.range.begin, s.picture.range.end);
    };
    s.session.subject().set_range(TimeRange{inside(std::min(a, b)), inside(std::max(a, b))});
  } else if (s.drag == Drag::kPan) {
    const TimeAxis before{s.press_visible, axis.left, axis.width};
    const Nanoseconds by = before.length_of(s.press.x() - s.pointer->x());
    s.session.subject().set_visible(panned(s.press_visible, by, s.session.subject().horizon()));
  } else if (s.drag == Drag::kScrub) {
    s.session.playback().set_playhead(snap(axis.time_at(s.pointer->x()), s.snapping));
  }
  s.hover = hit_at(s.picture, s.layout, *s.pointer, verticalScrollBar()->value());
  const bool on_label = s.pointer->x() < axis.left;
  viewport()->setCursor(s.drag == Drag::kPan           ? Qt::ClosedHandCursor
                        : offers_other_run(*s.pointer) ? Qt::PointingHandCursor
                        : on_label                     ? Qt::ArrowCursor
                                                       : Qt::CrossCursor);
  Q_EMIT hovered(tip_at(*s.pointer).section(QLatin1Char('\n'), 0, 1));
  viewport()->update();
}

// Whether a click there pins the run of other settings.
bool TimelineView::offers_other_run(QPointF at) const {
  const State& s = *state_;
  const double y = at.y() - s.layout.tick_band + verticalScrollBar()->value();
  return std::any_of(s.layout.rows.begin(), s.layout.rows.end(), [&](const RowBox& box) {
    const PictureLane& lane = s.picture.lanes[static_cast<std::size_t>(box.lane)];
    return box.row < 0 && other_line(lane, box, theme_for(palette())).contains(QPointF(at.x(), y));
  });
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  State& s = *state_;
  const Drag drag = s.drag;
  s.drag = Drag::kNone;
  viewport()->unsetCursor();
  if (drag != Drag::kPressed || event->button() != Qt::LeftButton) return;
  // A click: the op there, or nothing.
  s.session.subject().set_range(std::nullopt);
  const RunRecord* other = run_of_other_settings(s.session);
  if (other && offers_other_run(event->position())) return s.session.runs().pin(*other);
  const auto hit = hit_at(s.picture, s.layout, event->position(), verticalScrollBar()->value());
  if (!hit || hit->bar < 0) {
    s.session.subject().select({}, false);
    return;
  }
  const PictureLane& lane = s.picture.lanes[static_cast<std::size_t>(hit->lane)];
  if (lane.style == LaneStyle::kPinned) return;
  if (const auto op = op_at(event->position()))
    s.session.subject().select(*op, lane.style == LaneStyle::kObserved, hit->zoom);
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && op_at(event->position())) focus_on_selection();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  State& s = *state_;
  const TimeAxis axis = s.layout.axis(s.picture.range);
  const double notches = static_cast<double>(event->angleDelta().y()) / 120;
  const double sideways = static_cast<double>(event->angleDelta().x()) / 120;
  if (event->modifiers() & Qt::ControlModifier) {
    const double x = std::clamp(event->position().x(), axis.left, axis.left + axis.width);
    s.session.subject().set_visible(zoomed(s.session.subject().visible(), axis.time_at(x),
                                           std::pow(kZoomPerNotch, notches),
                                           s.session.subject().horizon()));
  } else if ((event->modifiers() & Qt::ShiftModifier) || sideways != 0) {
    const double by = -(sideways != 0 ? sideways : notches) * axis.width / 10;
    s.session.subject().set_visible(
        panned(s.session.subject().visible(), axis.length_of(by), s.session.subject().horizon()));
  } else {
    verticalScrollBar()->setValue(verticalScrollBar()->value() -
                                  static_cast<int>(std::lround(notches * 2 * s.layout.pitch)));
  }
  event->accept();
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  State& s = *state_;
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const TimeAxis axis = s.layout.axis(s.picture.range);
  const QPointF at = event->pos();
  const Nanoseconds time =
      by_key || at.x() < axis.left ? anchor() : snap(axis.time_at(at.x()), true);
  const auto op = by_key ? std::optional<OpRef>() : op_at(at);
  if (op) {
    const auto hit = hit_at(s.picture, s.layout, at, verticalScrollBar()->value());
    const LaneStyle style = s.picture.lanes[static_cast<std::size_t>(hit->lane)].style;
    if (style != LaneStyle::kPinned)
      s.session.subject().select(*op, style == LaneStyle::kObserved, hit->zoom);
  }
  const bool chosen = s.selected_bar() != nullptr;
  QMenu menu(this);
  const auto add = [&](ViewKey key, bool enabled) {
    for (std::size_t index = 0; index < view_keys().size(); ++index)
      if (view_keys()[index].key == key) {
        auto* entry = menu.addAction(s.actions[static_cast<int>(index)]->text());
        entry->setShortcut(s.actions[static_cast<int>(index)]->shortcut());
        entry->setEnabled(enabled);
        connect(entry, &QAction::triggered, this, [this, key] { act(key); });
      }
  };
  add(ViewKey::kFollowBack, chosen);
  add(ViewKey::kFollowOn, chosen);
  add(ViewKey::kFocus, chosen);
  menu.addSeparator();
  connect(menu.addAction(tr("Move the playhead here")), &QAction::triggered, this,
          [this, time] { state_->session.playback().set_playhead(time); });
  connect(menu.addAction(tr("Set or remove a mark here")), &QAction::triggered, this,
          [this, time] { toggle_mark(time); });
  auto* unmark = menu.addAction(tr("Remove all marks"));
  unmark->setEnabled(!s.session.subject().marks().empty());
  connect(unmark, &QAction::triggered, this, [this] { state_->session.subject().set_marks({}); });
  menu.addSeparator();
  add(ViewKey::kFitAll, true);
  auto* pairs = menu.addAction(tr("Predicted and run in pairs"));
  pairs->setCheckable(true);
  pairs->setChecked(s.arrangement == Arrangement::kPairs);
  connect(pairs, &QAction::toggled, this,
          [this](bool on) { set_arrangement(on ? Arrangement::kPairs : Arrangement::kBlocks); });
  const bool groups = std::any_of(s.layout.rows.begin(), s.layout.rows.end(),
                                  [](const RowBox& box) { return box.group_start; });
  if (groups) {
    connect(menu.addAction(tr("Show one rank per stage")), &QAction::triggered, this,
            [this] { set_collapsed(true); });
    connect(menu.addAction(tr("Show all ranks")), &QAction::triggered, this,
            [this] { set_collapsed(false); });
  }
  menu.addSeparator();
  const QString text = by_key ? description() : tip_at(at);
  auto* copy = menu.addAction(tr("Copy text"));
  copy->setEnabled(!text.isEmpty());
  connect(copy, &QAction::triggered, this, [text] { QGuiApplication::clipboard()->setText(text); });
  menu.exec(by_key ? mapToGlobal(rect().center()) : event->globalPos());
}

}  // namespace parallelarium
