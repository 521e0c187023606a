// SPDX-License-Identifier: GPL-3.0-or-later
// Keys on a TimelineView: zoom, walk from op to op, follow what waited for what.
#include <QKeyEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <set>

#include "app/state/step/training_step.h"
#include "app/views/shared/time_axis.h"
#include "app/views/timeline/op_search.h"
#include "app/views/timeline/timeline_state.h"

namespace parallelarium {
namespace {

constexpr double kZoomPerKey = 0.7, kPanPerKey = 0.15, kFocusMargin = 1.0;
constexpr int kMostHops = 256;

// The bar after `index` whose middle is nearest to `time`.
int nearest_bar(const BarList& list, Nanoseconds time) {
  if (list.bars.empty()) return -1;
  const int at = list.at(time, Nanoseconds::max() - Nanoseconds(1));
  return at < 0 ? static_cast<int>(list.bars.size()) - 1 : at;
}

Nanoseconds middle(const Bar& bar) { return bar.span.begin + (bar.span.end - bar.span.begin) / 2; }

// The compute op of another bar that waits for `op`, through transfers; of several the first to
// begin, and one of another rank before one of the same.
OpRef first_waiting(const LaneRows& rows, OpRef op, const Bar& bar) {
  const Program& program = rows.program();
  std::vector<OpRef> frontier;
  for (auto index = bar.first_op; index <= bar.last_op; ++index)
    frontier.push_back({op.rank, index});
  std::set<std::pair<int, int>> seen;
  OpRef best;
  const auto begin_of = [&](OpRef at) {
    return rows.timeline->ranks[static_cast<std::size_t>(at.rank)]
        .spans[static_cast<std::size_t>(at.op)]
        .begin;
  };
  for (std::size_t hop = 0; hop < frontier.size() && hop < kMostHops; ++hop) {
    for (const OpRef next : enabled_by(program, frontier[hop])) {
      if (next.rank < 0 || !seen.insert({next.rank, next.op}).second) continue;
      if (next.rank == op.rank && bar.first_op <= next.op && next.op <= bar.last_op) continue;
      const Op& target =
          program.ranks[static_cast<std::size_t>(next.rank)].ops[static_cast<std::size_t>(next.op)];
      if (target.lane != Lane::kCompute || target.kind != OpKind::kCompute) {
        frontier.push_back(next);
        continue;
      }
      const bool other = next.rank != op.rank, best_other = best.rank >= 0 && best.rank != op.rank;
      if (best.rank < 0 || (other && !best_other) ||
          (other == best_other && begin_of(next) < begin_of(best)))
        best = next;
    }
  }
  return best;
}

}  // namespace

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (const auto key = view_key_of(*event)) {
    state_->ring = true;  // whoever uses keys sees where they go
    act(*key);
    state_->last_key = key;
    viewport()->update();
    event->accept();
    return;
  }
  state_->last_key.reset();
  event->ignore();  // not the scroll area's: arrows and pages belong to the window
}

Nanoseconds TimelineView::anchor() const {
  const State& s = *state_;
  const TimeAxis axis = s.layout.axis(s.picture.range);
  const auto inside = [&](Nanoseconds time) {
    return time >= s.picture.range.begin && time <= s.picture.range.end;
  };
  if (s.pointer && s.pointer->x() >= axis.left && s.pointer->x() <= axis.left + axis.width)
    return axis.time_at(s.pointer->x());
  if (const Bar* bar = s.selected_bar(); bar && inside(middle(*bar))) return middle(*bar);
  if (inside(s.session.playback().playhead())) return s.session.playback().playhead();
  return s.picture.range.begin + s.picture.range.length() / 2;
}

void TimelineView::act(ViewKey key) {
  State& s = *state_;
  Session& session = s.session;
  const TimeRange range = session.subject().visible();
  const Nanoseconds step(std::llround(static_cast<double>(range.length().count()) * kPanPerKey));
  switch (key) {
    case ViewKey::kZoomIn:
      return session.subject().set_visible(
          zoomed(range, anchor(), kZoomPerKey, session.subject().horizon()));
    case ViewKey::kZoomOut:
      return session.subject().set_visible(
          zoomed(range, anchor(), 1 / kZoomPerKey, session.subject().horizon()));
    case ViewKey::kPanLeft:
      return session.subject().set_visible(panned(range, -step, session.subject().horizon()));
    case ViewKey::kPanRight:
      return session.subject().set_visible(panned(range, step, session.subject().horizon()));
    case ViewKey::kPrevious:
      return walk(0, -1);
    case ViewKey::kNext:
      return walk(0, 1);
    case ViewKey::kUp:
      return walk(-1, 0);
    case ViewKey::kDown:
      return walk(1, 0);
    case ViewKey::kFollowBack:
      return follow(true);
    case ViewKey::kFollowOn:
      return follow(false);
    case ViewKey::kFocus:
      if (s.last_key == ViewKey::kFocus || !s.selected_bar()) return session.subject().fit_all();
      return focus_on_selection();
    case ViewKey::kFitAll:
      return session.subject().fit_all();
    case ViewKey::kMark:
      return toggle_mark(s.pointer ? snap(anchor(), true) : session.playback().playhead());
    case ViewKey::kSelect:
      if (const Bar* bar = s.selected_bar())
        return session.subject().set_range(TimeRange{bar->span.begin, bar->span.end});
      return walk(0, 0);
    case ViewKey::kClear:
      session.subject().set_range(std::nullopt);
      s.arrow_from = s.arrow_to = OpRef{};
      session.subject().select({}, false);
      return;
    case ViewKey::kPlay:
      return session.playback().set_playing(!session.playback().playing());
    case ViewKey::kStepBack:
    case ViewKey::kStepOn:
      session.playback().set_playing(false);
      return session.playback().set_playhead(
          next_event(session, session.playback().playhead(), key == ViewKey::kStepOn));
  }
}

void TimelineView::walk(int rows, int bars) {
  State& s = *state_;
  // The rows that can be walked, top to bottom.
  std::vector<const RowBox*> boxes;
  for (const RowBox& box : s.layout.rows) {
    const PictureLane& lane = s.picture.lanes[static_cast<std::size_t>(box.lane)];
    if (box.row >= 0 && !lane.hidden && lane.style != LaneStyle::kPinned) boxes.push_back(&box);
  }
  if (boxes.empty()) return;
  const auto row_of = [&](const RowBox& box) -> const Row& {
    return s.picture.lanes[static_cast<std::size_t>(box.lane)]
        .rows->rows[static_cast<std::size_t>(box.row)];
  };
  const auto rows_at = [&](const RowBox& box) -> const LaneRows& {
    return *s.picture.lanes[static_cast<std::size_t>(box.lane)].rows;
  };
  const Zoom zoom = zoom_of(s.picture, s.layout);
  const auto list_of = [&](const RowBox& box, Lane lane) -> const BarList& {
    return row_of(box).lane(lane, zoom);
  };
  const auto select = [&](const RowBox& box, const Bar& bar) {
    const bool in_run =
        s.picture.lanes[static_cast<std::size_t>(box.lane)].style == LaneStyle::kObserved;
    const OpRef op{row_of(box).rank_index, bar.first_op};
    s.session.subject().select(op, in_run, zoom);
    reveal(op, in_run);
  };
  const Bar* current = s.selected_bar();
  std::size_t index = 0;
  bool found = false;
  for (std::size_t i = 0; current && i < boxes.size(); ++i)
    if (boxes[i]->lane == s.selected_lane() &&
        row_of(*boxes[i]).rank_index == s.session.subject().selected().rank) {
      index = i;
      found = true;
    }
  if (!found) {  // nothing selected yet: the op at the playhead, in the first row that shows one
    const BarList& list = list_of(*boxes.front(), Lane::kCompute);
    const Nanoseconds time =
        std::clamp(s.session.playback().playhead(), s.picture.range.begin, s.picture.range.end);
    if (const int at = nearest_bar(list, time); at >= 0)
      select(*boxes.front(), list.bars[static_cast<std::size_t>(at)]);
    return;
  }
  if (rows != 0) {
    const int target = static_cast<int>(index) + rows;
    if (target < 0 || target >= static_cast<int>(boxes.size())) return;
    const RowBox& box = *boxes[static_cast<std::size_t>(target)];
    const BarList& same = list_of(box, current->lane);
    const BarList& list = same.bars.empty() ? list_of(box, Lane::kCompute) : same;
    if (const int at = nearest_bar(list, middle(*current)); at >= 0)
      select(box, list.bars[static_cast<std::size_t>(at)]);
    return;
  }
  // The selection may have been made from farther or nearer than the rows are shown now.
  const BarList& list = list_of(*boxes[index], current->lane);
  const Bar* at = rows_at(*boxes[index]).bar_of(s.session.subject().selected(), zoom);
  if (!at) return;
  const int place = static_cast<int>(at - list.bars.data()) + bars;
  if (place >= 0 && place < static_cast<int>(list.bars.size()))
    select(*boxes[index], list.bars[static_cast<std::size_t>(place)]);
}

QString TimelineView::find(const QString& name) {
  State& s = *state_;
  const int lane =
      s.selected_lane() >= 0 ? s.selected_lane() : lane_of(s.picture, LaneStyle::kPredicted);
  const LaneRows* rows = s.rows_of_lane(lane);
  if (!rows || s.picture.lanes[static_cast<std::size_t>(lane)].hidden)
    return tr("The ops are hidden until you answer.");
  const std::vector<OpRef> found = find_ops(*rows, name);
  if (found.empty())
    return tr("No op is called “%1”; try F3, backward 2, all-reduce, or stage 1.")
        .arg(name.trimmed());
  const auto now = std::find(found.begin(), found.end(), s.session.subject().selected());
  const auto next = now == found.end() || now + 1 == found.end() ? found.begin() : now + 1;
  const bool in_run = s.picture.lanes[static_cast<std::size_t>(lane)].style == LaneStyle::kObserved;
  s.session.subject().select(*next, in_run, Zoom::kActions);
  reveal(*next, in_run);
  return tr("%1 of %2").arg(next - found.begin() + 1).arg(found.size());
}

void TimelineView::follow(bool back) {
  State& s = *state_;
  const LaneRows* rows = s.rows_of_lane(s.selected_lane());
  const Bar* bar = s.selected_bar();
  if (!rows || !bar || s.picture.lanes[static_cast<std::size_t>(s.selected_lane())].hidden) return;
  const OpRef here{s.session.subject().selected().rank, bar->first_op};
  const OpRef there =
      back ? source_of(rows->program(), *rows->timeline, here) : first_waiting(*rows, here, *bar);
  const Zoom zoom = s.session.subject().selected_zoom();
  const Bar* other = rows->bar_of(there, zoom);
  if (!other) {
    Q_EMIT hovered(back ? tr("This op waited for no other.") : tr("No op waits for this one."));
    return;
  }
  s.arrow_from = back ? OpRef{there.rank, other->first_op} : here;
  s.arrow_to = back ? here : OpRef{there.rank, other->first_op};
  s.following = true;
  const bool in_run = s.session.subject().selected_in_run();
  s.session.subject().select({there.rank, other->first_op}, in_run, zoom);
  s.following = false;
  reveal(s.session.subject().selected(), in_run);
}

void TimelineView::focus_on_selection() {
  State& s = *state_;
  const Bar* bar = s.selected_bar();
  if (!bar) return;
  const auto length = static_cast<double>((bar->span.end - bar->span.begin).count());
  const Nanoseconds margin(std::llround(length * kFocusMargin));
  const TimeRange wanted{bar->span.begin - margin, bar->span.end + margin};
  s.session.subject().set_visible(panned(wanted, Nanoseconds(0), s.session.subject().horizon()));
  reveal(s.session.subject().selected(), s.session.subject().selected_in_run());
}

void TimelineView::toggle_mark(Nanoseconds time) {
  State& s = *state_;
  const TimeAxis axis = s.layout.axis(s.picture.range);
  std::vector<Nanoseconds> marks = s.session.subject().marks();
  const auto near = std::find_if(marks.begin(), marks.end(), [&](Nanoseconds mark) {
    return std::chrono::abs(mark - time) <= axis.length_of(5);
  });
  if (near != marks.end())
    marks.erase(near);
  else
    marks.push_back(time);
  s.session.subject().set_marks(std::move(marks));
}

// Moves time and rows so that the op is on screen.
void TimelineView::reveal(OpRef op, bool in_run) {
  State& s = *state_;
  const int lane = lane_of(s.picture, in_run ? LaneStyle::kObserved : LaneStyle::kPredicted);
  const LaneRows* rows = s.rows_of_lane(lane);
  const Bar* bar = rows ? rows->bar_of(op, s.session.subject().selected_zoom()) : nullptr;
  if (!bar) return;
  const TimeRange range = s.session.subject().visible();
  Nanoseconds by{0};
  if (bar->span.begin < range.begin)
    by = bar->span.begin - range.begin;
  else if (bar->span.end > range.end)
    by = std::min(bar->span.end - range.end, bar->span.begin - range.begin);
  if (by.count() != 0)
    s.session.subject().set_visible(panned(range, by, s.session.subject().horizon()));
  const double scroll = verticalScrollBar()->value();
  const QRectF rect = rect_of_bar(s.picture, s.layout, lane, *bar, op.rank, 0);
  if (rect.isEmpty()) return;
  const double top = rect.top() - s.layout.tick_band;
  const double room = viewport()->height() - s.layout.tick_band;
  if (top < scroll) verticalScrollBar()->setValue(static_cast<int>(top - 4));
  if (top + s.layout.pitch > scroll + room)
    verticalScrollBar()->setValue(static_cast<int>(top + s.layout.pitch - room + 4));
}

}  // namespace parallelarium
