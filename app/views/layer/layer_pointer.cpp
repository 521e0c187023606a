// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keys of the Layer view.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>

#include "app/state/step/training_step.h"
#include "app/views/layer/layer_state.h"
#include "app/views/layer/picture/layer_values.h"
#include "app/views/shared/view_keys.h"

namespace parallelarium {
namespace {

constexpr int kAllSteps = 1'000'000;  // more than a layer has

// Embedding, layers and head stand one behind the other.
LayerChoice neighbour_of(const Setup& setup, LayerChoice choice, int by) {
  const int layers = int(setup.model.layers);
  const int now = choice.place == LayerPlace::kEmbedding ? -1
                  : choice.place == LayerPlace::kHead    ? layers
                                                         : choice.layer;
  const int next = std::clamp(now + by, -1, layers);
  choice.place = next < 0         ? LayerPlace::kEmbedding
                 : next == layers ? LayerPlace::kHead
                                  : LayerPlace::kLayer;
  if (choice.place == LayerPlace::kLayer) choice.layer = next;
  return choice;
}

}  // namespace

void LayerView::select(int step, int rank) {
  State& s = *state_;
  s.look.step = step;
  s.look.rank = rank;
  s.tells_inside = false;
  const LayerPicture now = picture();
  if (now.drawn() && step >= 0) {
    // What sends nothing has no op that another view could show.
    const LayerRankStep& part =
        now.layer->steps[std::size_t(step)].ranks[std::size_t(now.look.rank)];
    if (part.first_op >= 0)
      s.session.subject().select(
          {now.layer->ranks[std::size_t(now.look.rank)].built, part.first_op}, false);
  }
  tell_shown();
  s.canvas->update();
  Q_EMIT described(chosen_text());
  Q_EMIT quantities_changed();
}

// To the step before or behind, which is opened with its half.
void LayerView::walk(int by) {
  State& s = *state_;
  const LayerPicture now = picture();
  if (!now.drawn() || now.layer->steps.empty()) return;
  const bool context = now.shows_context();
  const int first = context ? now.layer->context.first_step : 0;
  const int last = context ? now.layer->context.last_step : int(now.layer->steps.size()) - 1;
  const int from = s.look.step;
  const bool chosen = from >= first && from <= last;
  const int to = chosen ? std::clamp(from + by, first, last) : by > 1 ? last : first;
  if (to == from)
    return s.canvas->setAccessibleDescription(
        s.look.choice.backward
            ? by < 0 ? tr("This step is the first: the backward goes on to the left.")
                     : tr("This step is the last: the backward came from the right.")
        : by < 0 ? tr("This step is the first.")
                 : tr("This step is the last."));
  const bool attention = now.layer->steps[std::size_t(to)].attention;
  LayerLook next = s.look;
  if (!context && !(attention ? next.attention_open : next.mlp_open)) {
    next.attention_open = attention;
    next.mlp_open = !attention;
    show_look(next);
  }
  select(to, s.look.rank);
}

bool LayerView::press_key(QKeyEvent& event) {
  State& s = *state_;
  LayerLook next = s.look;
  const bool shift = event.modifiers() & Qt::ShiftModifier;
  switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      // The backward runs from right to left.
      const int by = event.key() == Qt::Key_Left ? -1 : 1;
      if (!shift) return walk(s.look.choice.backward ? -by : by), true;
      next.choice = neighbour_of(s.session.subject().prediction()->setup, next.choice, by);
      if (next.choice.place != s.look.choice.place) next.step = -1;
      return show_look(next), true;
    }
    case Qt::Key_Home:
      return walk(-kAllSteps), true;
    case Qt::Key_End:
      return walk(kAllSteps), true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      select(s.look.step, s.look.rank + (event.key() == Qt::Key_Up ? -1 : 1));
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: {
      if (shift) return toggle_ranks(), true;
      // The half of the selected step, else the other than what is open.
      const bool both = next.attention_open == next.mlp_open;
      if (both)
        next.attention_open = !next.attention_open;
      else
        next.attention_open = next.mlp_open = true;
      return show_look(next), true;
    }
    case Qt::Key_Escape:
      return select(-1, s.look.rank), true;
    default:
      break;
  }
  const auto key = view_key_of(event);
  if (!key) return false;
  switch (*key) {
    case ViewKey::kPlay:
      s.session.playback().set_playing(!s.session.playback().playing());
      return true;
    case ViewKey::kStepBack:
    case ViewKey::kStepOn:
      s.session.playback().set_playing(false);
      s.session.playback().set_playhead(
          next_event(s.session, s.session.playback().playhead(), *key == ViewKey::kStepOn));
      return true;
    default:
      return false;
  }
}

void LayerView::toggle_ranks() {
  LayerLook next = state_->look;
  next.all_ranks = !next.all_ranks;
  show_look(next);
}

void LayerView::scrub(const LayerPicture& now, const LayerLayout& layout, double x) {
  const LayerSpans* times = now.shown();
  if (!times) return;
  const auto length_of = [&](const LayerSpans& of) {
    return now.window_of(of).end - now.window_of(of).begin;
  };
  Nanoseconds longest = length_of(*times);
  if (now.predicted) longest = std::max(longest, length_of(*now.predicted));
  const double share = std::clamp((x - layout.lane_left) / layout.lane_width, 0.0, 1.0);
  state_->session.playback().set_playhead(
      now.window_of(*times).begin + Nanoseconds(std::int64_t(share * double(longest.count()))));
}

void LayerView::press(QPointF point) {
  const LayerPicture now = picture();
  const LayerLayout layout = layout_now();
  for (const LayerHalf& half : layout.halves) {
    if (half.fold.contains(point)) return toggle_ranks();
    if (now.shows_vocabulary() || !half.head.contains(point)) continue;
    LayerLook next = state_->look;
    (half.attention ? next.attention_open : next.mlp_open) = !half.open;
    return show_look(next);
  }
  if (now.drawn() && layout.in_lanes(point.y()) && point.x() >= layout.lane_left)
    return scrub(now, layout, point.x());
  const LayerHit hit = layer_hit(layout, point);
  select(hit.step, hit.step < 0 ? state_->look.rank : hit.rank);
}

// What the picture's step, the bar in time or the bar of kept bytes under a point is.
QString LayerView::tip_at(QPointF point) const {
  const LayerPicture now = picture();
  const LayerLayout layout = layout_now();
  LayerHit hit = layer_hit(layout, point);
  if (hit.step < 0) hit = layer_lane_hit(now, layout, point);
  if (hit.step < 0) return layer_kept_bar_text(now, layout, point);
  const SelectionText text = describe_layer_step(now, hit.step, hit.rank);
  QStringList lines{text.headline, layer_cell_text(now, layout, point)};
  lines.removeAll(QString());
  for (const FactLine& fact : text.facts)
    lines << (fact.word + QLatin1Char(' ') + fact.value).trimmed();
  return lines.join(QLatin1Char('\n'));
}

bool LayerView::eventFilter(QObject* watched, QEvent* event) {
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
    case QEvent::MouseButtonPress:
    case QEvent::MouseMove: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (!(mouse->buttons() & Qt::LeftButton)) return false;
      s.canvas->setFocus(Qt::MouseFocusReason);
      const LayerLayout layout = layout_now();
      if (event->type() == QEvent::MouseButtonPress)
        press(mouse->position());
      else if (layout.in_lanes(mouse->position().y()) && picture().drawn())
        scrub(picture(), layout, mouse->position().x());
      return true;
    }
    case QEvent::MouseButtonDblClick: {
      const auto& mouse = static_cast<const QMouseEvent&>(*event);
      const LayerPicture now = picture();
      const int step = layer_tensor_hit(layout_now(), mouse.position()).step;
      if (mouse.button() != Qt::LeftButton || step < 0 || now.look.inside ||
          !now.layer->steps[std::size_t(step)].probed || !s.inside->isEnabled())
        return false;
      s.inside->click();
      return true;
    }
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      // Without a text it hides the tip.
      // Plain text is not wrapped, however long a line is.
      QToolTip::showText(help->globalPos(),
                         Qt::convertFromPlainText(tip_at(help->pos()), Qt::WhiteSpaceNormal),
                         s.canvas);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace parallelarium
