// SPDX-License-Identifier: GPL-3.0-or-later
// Pointer and keys over the picture of a collective.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>

#include "app/views/collectives/collectives_state.h"
#include "app/views/shared/view_keys.h"

namespace parallelarium {

void CollectivesView::choose(MoveRef ref, bool go_there) {
  State& s = *state_;
  s.collectives.select(ref);
  if (ref.step >= 0 && go_there) {
    s.session.playback().set_playing(false);
    const Span span = picture().shown().span_of(ref);
    s.collectives.set_playhead(span.begin + (span.end - span.begin) / 2);
  }
  Q_EMIT described(chosen_text());
}

SelectionText CollectivesView::chosen_text() const {
  const CollectivePicture picture = this->picture();
  if (picture.selected.step < 0 || picture.hides_predicted()) return {};
  const bool seen = picture.observed && !picture.hides_run();
  return describe_move(*picture.predicted, seen ? picture.observed.get() : nullptr,
                       picture.selected);
}

void CollectivesView::retell() { Q_EMIT retold(chosen_text()); }

void CollectivesView::walk(int moves, int steps) {
  State& s = *state_;
  const auto& all = s.collectives.plan()->collective.steps;
  if (all.empty()) return;
  MoveRef at = s.collectives.selected();
  if (at.step < 0) {
    at = {std::max(0, s.collectives.motion().step_at(s.collectives.playhead())), 0};
  } else if (steps != 0) {
    at.step = std::clamp(at.step + steps, 0, int(all.size()) - 1);
    at.move = std::min(at.move, int(all[std::size_t(at.step)].size()) - 1);
  } else {
    at.move += moves;
    if (at.move < 0 && at.step > 0)
      at = {at.step - 1, int(all[std::size_t(at.step - 1)].size()) - 1};
    if (at.move >= int(all[std::size_t(at.step)].size()))
      at = at.step + 1 < int(all.size()) ? MoveRef{at.step + 1, 0} : MoveRef{at.step, at.move - 1};
    at.move = std::max(0, at.move);
  }
  if (at.move < 0 || all[std::size_t(at.step)].empty()) return;
  choose(at, true);
}

bool CollectivesView::press_key(QKeyEvent& event) {
  State& s = *state_;
  const auto key = view_key_of(event);
  if (!key) return false;
  const auto jump = [&](bool forward) {
    s.session.playback().set_playing(false);
    s.collectives.set_playhead(s.collectives.next_event(s.collectives.playhead(), forward));
  };
  switch (*key) {
    case ViewKey::kPlay:
      s.session.playback().set_playing(!s.session.playback().playing());
      return true;
    case ViewKey::kStepBack:
      jump(false);
      return true;
    case ViewKey::kStepOn:
      jump(true);
      return true;
    case ViewKey::kPrevious:
      walk(-1, 0);
      return true;
    case ViewKey::kNext:
      walk(1, 0);
      return true;
    case ViewKey::kUp:
      walk(0, -1);
      return true;
    case ViewKey::kDown:
      walk(0, 1);
      return true;
    case ViewKey::kClear:
      choose({}, false);
      return true;
    default:
      return false;
  }
}

void CollectivesView::show_tool_tip(const QPoint& at, const QPoint& global) {
  const CollectivePicture picture = this->picture();
  const CollectiveLayout layout = layout_now();
  QStringList lines = plot_lines_at(picture, layout, at);
  const int row = layout.cost_row_at(at);
  if (row >= 0) {
    const CostRow cost = cost_rows(picture)[std::size_t(row)];
    lines = QStringList{cost.what, cost.source};
    lines.removeAll(QString());
  }
  if (const MoveRef ref = move_at(picture, layout, at);
      ref.step >= 0 && !picture.hides_predicted()) {
    const bool seen = picture.observed && !picture.hides_run();
    const SelectionText text =
        describe_move(*picture.predicted, seen ? picture.observed.get() : nullptr, ref);
    lines = QStringList{text.headline};
    for (const FactLine& fact : text.facts) lines << fact.word + QLatin1Char(' ') + fact.value;
  }
  if (lines.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(global, lines.join(QLatin1Char('\n')), state_->canvas);
}

bool CollectivesView::eventFilter(QObject* watched, QEvent* event) {
  State& s = *state_;
  if (watched != s.canvas) return QWidget::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::Paint:
      paint_canvas(static_cast<QPaintEvent*>(event)->rect());
      return true;
    case QEvent::KeyPress:
      return press_key(*static_cast<QKeyEvent*>(event));
    case QEvent::FocusIn:
    case QEvent::FocusOut:
      s.canvas->update();
      return false;
    case QEvent::MouseMove: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      const CollectiveLayout layout = layout_now();
      if (!(mouse->buttons() & Qt::LeftButton) || !layout.lanes.contains(mouse->position()))
        return false;
      [[fallthrough]];
    }
    case QEvent::MouseButtonPress: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (event->type() == QEvent::MouseButtonPress && mouse->button() != Qt::LeftButton)
        return false;
      s.canvas->setFocus(Qt::MouseFocusReason);
      const CollectivePicture picture = this->picture();
      const CollectiveLayout layout = layout_now();
      if (event->type() == QEvent::MouseButtonPress)
        choose(move_at(picture, layout, mouse->position()), false);
      // A click or a drag over the steps in time scrubs.
      if (layout.lanes.contains(mouse->position()) && mouse->position().x() >= layout.lane_left) {
        const double share = (mouse->position().x() - layout.lane_left) / layout.lane_width;
        s.session.playback().set_playing(false);
        s.collectives.set_playhead(
            Nanoseconds(std::int64_t(share * double(picture.horizon().count()))));
      }
      return true;
    }
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      show_tool_tip(help->pos(), help->globalPos());
      return true;
    }
    default:
      return false;
  }
}

}  // namespace parallelarium
