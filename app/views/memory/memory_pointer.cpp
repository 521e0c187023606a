// SPDX-License-Identifier: GPL-3.0-or-later
// What pointer and keys do in the Memory view, and what it says in words.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/memory_state.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

int group_at(const BarLayout& layout, QPointF point) {
  for (std::size_t at = 0; at < layout.boxes.size(); ++at)
    if (layout.boxes[at].group.contains(point)) return int(at);
  return -1;
}

}  // namespace

// A bar, or the category of it that lies under a point.
void MemoryView::choose_group(int group, const QPointF* point) {
  State& s = *state_;
  s.cursor = group;
  s.part.reset();
  s.point.reset();
  const BarChart* chart = s.chart();
  if (point && chart && group >= 0) {
    const BarGroup& one = chart->groups[std::size_t(group)];
    const BarLayout layout = bar_layout(*chart, s.chart_rect(), theme_for(palette()));
    const BarBox& boxes = layout.boxes[std::size_t(group)];
    if (const auto category = category_at(one, layout, boxes, *point))
      s.part = {*category, boxes.counted.contains(*point)};
  }
  Q_EMIT described(chosen_text());
  update();
}

SelectionText MemoryView::group_text() const {
  const State& s = *state_;
  const BarChart* chart = s.chart();
  if (!chart || s.cursor < 0 || s.cursor >= int(chart->groups.size())) return {};
  const BarGroup& one = chart->groups[std::size_t(s.cursor)];
  SelectionText text;
  QStringList lines = bar_lines(one);
  text.headline = lines.takeFirst();
  if (s.part && one.planned) {
    const bool counted = one.counted && s.part->counted;
    const std::int64_t bytes =
        (counted ? one.counted->parts : one.planned->parts)[std::size_t(s.part->category)];
    text.headline += QStringLiteral(" \u00b7 ") + category_text(s.part->category);
    text.facts.push_back({counted ? tr("counted") : tr("predicted"), bytes_text(bytes)});
    text.facts.push_back({tr("exactly"), exact_bytes_text(bytes)});
  }
  for (const QString& line : lines) text.facts.push_back({QString(), line});
  return text;
}

SelectionText MemoryView::chosen_text() const {
  const State& s = *state_;
  if (s.shown.hidden) return {};
  return s.point ? point_text() : group_text();
}

void MemoryView::retell() {
  if (state_->pane == Pane::kHolders) return state_->holders->retell();
  Q_EMIT retold(chosen_text());
}

// A group chosen with Enter or a double click becomes the Setup's, or the rank shown.
void MemoryView::apply_group(int group) {
  State& s = *state_;
  if (s.chart() == &s.shown.ranks) {
    if (group >= 0 && group < int(s.shown.rank_of_group.size()))
      show_rank(s.shown.rank_of_group[std::size_t(group)]);
    return;
  }
  if (group < 0 || group >= int(s.shown.zero_of_group.size()) ||
      !s.session.locks().allowed(QStringLiteral("zero")))
    return;
  Setup next = s.session.setup();
  next.zero = s.shown.zero_of_group[std::size_t(group)];
  s.session.history().change(next, tr("ZeRO %1").arg(next.zero));
}

// What lies under a point of the curve.
void MemoryView::choose_point(QPointF point) {
  State& s = *state_;
  const TimeAxis axis = s.axis(width());
  if (point.x() < kCurveAxis || s.shown.hidden) return;
  const Nanoseconds time = std::clamp(axis.time_at(point.x()), Nanoseconds(0),
                                      std::max(Nanoseconds(0), s.shown.curve.end));
  s.session.playback().set_playhead(time);
  s.point = {time, s.plot->yAxis->pixelToCoord(point.y() - s.plot->y())};
  const auto part = s.part_at_point();
  if (part && part->opened_by >= 0)
    s.session.subject().select({s.shown.timeline_rank, part->opened_by}, s.shown.run != nullptr);
  Q_EMIT described(chosen_text());
}

std::optional<HeldPart> MemoryView::State::part_at_point() const {
  if (!point) return std::nullopt;
  const auto level = level_at(held_at(shown.curve, point->time), point->bytes);
  if (!level) return std::nullopt;
  return part_at(*shown.program, *shown.timeline, shown.timeline_rank, point->time, level->category,
                 level->above);
}

SelectionText MemoryView::point_text() const {
  const State& s = *state_;
  const auto part = s.part_at_point();
  if (!part) return {};
  return {part->what,
          {{tr("holds"), bytes_text(part->bytes)},
           {tr("exactly"), exact_bytes_text(part->bytes)},
           {tr("is"), part->detail},
           {QString(), s.session.locks().hidden_of_ops().times ? kHidden : part->how_long}}};
}

void MemoryView::mousePressEvent(QMouseEvent* event) {
  State& s = *state_;
  setFocus(Qt::MouseFocusReason);
  if (event->button() != Qt::LeftButton) return;
  const QPointF point = event->position();
  if (s.curve_rect.contains(point)) return choose_point(point);
  const BarChart* chart = s.chart();
  if (!chart || !s.chart_rect().contains(point)) return;
  const int group = group_at(bar_layout(*chart, s.chart_rect(), theme_for(palette())), point);
  if (s.pane == Pane::kRanks) apply_group(group);
  choose_group(group, &point);
}

void MemoryView::mouseMoveEvent(QMouseEvent* event) {
  State& s = *state_;
  const bool curve = s.curve_rect.contains(event->position());
  if (curve && (event->buttons() & Qt::LeftButton) && event->position().x() >= kCurveAxis)
    s.session.playback().set_playhead(s.axis(width()).time_at(event->position().x()));
}

void MemoryView::mouseDoubleClickEvent(QMouseEvent* event) {
  State& s = *state_;
  const BarChart* chart = s.chart();
  if (!chart || !s.chart_rect().contains(event->position())) return;
  apply_group(
      group_at(bar_layout(*chart, s.chart_rect(), theme_for(palette())), event->position()));
}

void MemoryView::keyPressEvent(QKeyEvent* event) {
  State& s = *state_;
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  const bool of_chart = enter && s.cursor >= 0;
  if (!of_chart && s.holders->isVisible() && s.holders->take_key(*event))
    return s.holders->setFocus(Qt::ShortcutFocusReason);  // where it is told what the key did
  const BarChart* chart = s.chart();
  const int count = chart ? int(chart->groups.size()) : 0;
  if (count > 0 && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
    const int by = event->key() == Qt::Key_Left ? -1 : 1;
    choose_group(s.cursor < 0 ? (by > 0 ? 0 : count - 1) : (s.cursor + by + count) % count,
                 nullptr);
    return;
  }
  if (of_chart) return apply_group(s.cursor);
  if (event->key() == Qt::Key_Escape) {
    choose_group(-1, nullptr);
    return;
  }
  QWidget::keyPressEvent(event);
}

bool MemoryView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  State& s = *state_;
  const auto* help = static_cast<QHelpEvent*>(event);
  const QPointF point = help->pos();
  QStringList lines;
  for (std::size_t at = 0; at < s.traffic_hits.size() && at < s.shown.traffic.size(); ++at) {
    if (!s.traffic_hits[at].contains(point)) continue;
    const TrafficTerm& term = s.shown.traffic[at];
    lines << term.name << exact_bytes_text(term.sent) << term.formula << term.explained;
    lines.removeAll(QString());
    if (term.counted) lines << tr("counted %1").arg(exact_bytes_text(*term.counted));
  }
  const BarChart* chart = s.chart();
  if (lines.isEmpty() && chart && !s.shown.hidden && s.chart_rect().contains(point)) {
    const int group = group_at(bar_layout(*chart, s.chart_rect(), theme_for(palette())), point);
    if (group >= 0) lines = bar_lines(chart->groups[std::size_t(group)]);
  }
  if (lines.isEmpty() && !s.shown.hidden && s.curve_rect.contains(point) &&
      point.x() >= kCurveAxis) {
    const Nanoseconds time = s.axis(width()).time_at(point.x());
    const CategoryBytes held = held_at(s.shown.curve, time);
    lines << tr("At %1").arg(shown_time(time, s.session.locks().hidden_of_ops().times));
    for (int category = kCategories - 1; category >= 0; --category)
      if (held[std::size_t(category)] > 0)
        lines << QStringLiteral("%1: %2").arg(category_text(Category(category)),
                                              bytes_text(held[std::size_t(category)]));
  }
  if (lines.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

QString MemoryView::moment() const {
  return state_->pane == Pane::kHolders ? state_->holders->moment() : description();
}

QString MemoryView::description() const {
  const State& s = *state_;
  if (s.pane == Pane::kHolders) return s.holders->description();
  if (s.shown.hidden) return tr("Hidden until you answer.");
  QStringList stages;
  for (const BarGroup& group : s.shown.stages.groups) {
    if (!group.planned) continue;
    QString text = tr("%1 %2 predicted").arg(group.label, bytes_text(group.planned->total));
    if (group.counted) text += tr(", %1 counted").arg(bytes_text(group.counted->total));
    if (group.pinned) text += tr(", %1 pinned").arg(bytes_text(group.pinned->total));
    stages << text;
  }
  const Nanoseconds now = std::clamp(s.session.playback().playhead(), Nanoseconds(0),
                                     std::max(Nanoseconds(0), s.shown.curve.end));
  const CategoryBytes held = held_at(s.shown.curve, now);
  QStringList parts;
  for (int category = 0; category < kCategories; ++category)
    if (held[std::size_t(category)] > 0)
      parts << QStringLiteral("%1 %2").arg(in_sentence(category_text(Category(category))),
                                           bytes_text(held[std::size_t(category)]));
  return tr("%1. %2. At %3 it holds %4. Peak %5 %6.")
      .arg(s.shown.title, stages.join(QStringLiteral("; ")),
           shown_time(now, s.session.locks().hidden_of_ops().times),
           parts.join(QStringLiteral(", ")), bytes_text(s.shown.curve.peak.bytes),
           sentence(s.shown.curve.peak.when));
}

}  // namespace parallelarium
