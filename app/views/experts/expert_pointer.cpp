// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and pointer of the Experts view.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/state/step/training_step.h"
#include "app/views/experts/experts_state.h"
#include "app/views/shared/view_keys.h"

namespace parallelarium {

bool ExpertsView::press_key(QKeyEvent& event) {
  State& s = *state_;
  const auto key = view_key_of(event);
  if (!key) return false;
  const auto jump = [&](bool forward) {
    s.session.playback().set_playing(false);
    s.session.playback().set_playhead(
        next_event(s.session, s.session.playback().playhead(), forward));
  };
  // Along the experts as they stand, rank by rank.
  const auto walk = [&](int by) {
    const ExpertLayout layout = layout_now();
    if (layout.order.empty()) return;
    const auto at = std::find(layout.order.begin(), layout.order.end(), s.selected.expert);
    const int last = int(layout.order.size()) - 1;
    const int place =
        at == layout.order.end() ? 0 : std::clamp(int(at - layout.order.begin()) + by, 0, last);
    select({layout.order[std::size_t(place)], -1, -1});
  };
  const auto to_layer = [&](int by) {
    ExpertChoice next = s.choice;
    next.layer += by;
    choose(next);
  };
  const auto to_step = [&](int by) {
    if (!picture().shows_run()) return;
    ExpertChoice next = s.choice;
    next.step = std::clamp(picture().step + by, 0, picture().steps - 1);
    choose(next);
  };
  switch (*key) {
    case ViewKey::kPlay:
      s.session.playback().set_playing(!s.session.playback().playing());
      return true;
    case ViewKey::kStepBack:
    case ViewKey::kStepOn:
      jump(*key == ViewKey::kStepOn);
      return true;
    case ViewKey::kUp:
    case ViewKey::kDown:
      walk(*key == ViewKey::kUp ? -1 : 1);
      return true;
    case ViewKey::kPrevious:
    case ViewKey::kNext:
      to_layer(*key == ViewKey::kPrevious ? -1 : 1);
      return true;
    case ViewKey::kFollowBack:
    case ViewKey::kFollowOn:
      to_step(*key == ViewKey::kFollowBack ? -1 : 1);
      return true;
    case ViewKey::kClear:
      select({});
      return true;
    default:
      return false;
  }
}

bool ExpertsView::eventFilter(QObject* watched, QEvent* event) {
  State& s = *state_;
  if (watched != s.canvas) return QWidget::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::Paint:
      paint_canvas();
      return true;
    case QEvent::KeyPress:
      return press_key(*static_cast<QKeyEvent*>(event));
    case QEvent::FocusIn:
    case QEvent::FocusOut:
      s.canvas->update();
      return false;
    case QEvent::MouseMove:
    case QEvent::MouseButtonPress: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (!(mouse->buttons() & Qt::LeftButton)) return false;
      s.canvas->setFocus(Qt::MouseFocusReason);
      const ExpertPicture picture = this->picture();
      const ExpertLayout layout = layout_now();
      // A click or a drag over the plot goes to that training step.
      if (const int step = step_at_point(picture, layout, mouse->position()); step >= 0) {
        ExpertChoice next = s.choice;
        next.step = step;
        choose(next);
        return true;
      }
      // A click or a drag over the layer in time scrubs.
      const LayerTimes* times = picture.shown();
      if (times && layout.lanes.contains(mouse->position()) &&
          mouse->position().x() >= layout.lane_left) {
        Nanoseconds longest = times->length();
        if (picture.predicted) longest = std::max(longest, picture.predicted->length());
        const double share = (mouse->position().x() - layout.lane_left) / layout.lane_width;
        const auto by = Nanoseconds(std::llround(share * double(longest.count())));
        s.session.playback().set_playing(false);
        s.session.playback().set_playhead(std::min(times->window.begin + by, times->window.end));
      } else if (event->type() == QEvent::MouseButtonPress) {
        select(expert_at_point(picture, layout, mouse->position()));
      }
      return true;
    }
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      const ExpertPicture picture = this->picture();
      const ExpertLayout layout = layout_now();
      const ExpertRef ref = expert_at_point(picture, layout, help->pos());
      SelectionText text =
          picture.drawn() ? describe_expert(*picture.drawn(), ref) : SelectionText();
      if (picture.drawn() && layout.title.contains(help->pos()))
        text.headline = expert_title(picture);
      QStringList lines{text.headline};
      for (const FactLine& fact : text.facts) lines << fact.word + QLatin1Char(' ') + fact.value;
      if (text.headline.isEmpty())
        QToolTip::hideText();
      else
        QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), s.canvas);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace parallelarium
