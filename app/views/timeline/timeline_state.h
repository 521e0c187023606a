// SPDX-License-Identifier: GPL-3.0-or-later
// What a TimelineView keeps; for timeline_*.cpp only.
#pragma once

#include <QAction>
#include <QPixmap>

#include "app/views/timeline/picture_source.h"
#include "app/views/timeline/timeline_overlay.h"
#include "app/views/timeline/timeline_view.h"

namespace parallelarium {

enum class Drag { kNone, kPressed, kRange, kPan, kScrub };

struct TimelineView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  PictureSource source;
  Picture picture;
  PictureLayout layout;
  Arrangement arrangement = Arrangement::kBlocks;
  std::set<int> collapsed;
  bool rests = false;
  std::size_t rows_seen = 0;  // when this changes, large pictures collapse by themselves

  QPixmap past, future;  // the static layer, as it happened and as it will be
  bool past_valid = false, future_valid = false;

  std::optional<Hit> hover;
  std::optional<QPointF> pointer;
  bool snapping = true;  // off while Alt is held

  Drag drag = Drag::kNone;
  QPointF press;
  Nanoseconds press_time{0};
  TimeRange press_visible;

  OpRef arrow_from, arrow_to;
  bool ring = false;       // the focus came by key, so it is shown
  bool following = false;  // a selection made by following keeps its arrow
  std::optional<ViewKey> last_key;
  QList<QAction*> actions;
  QString told_moment, told_selected;  // what was heard of them last

  int selected_lane() const {
    return lane_of(picture, session.subject().selected_in_run() ? LaneStyle::kObserved
                                                                : LaneStyle::kPredicted);
  }
  const LaneRows* rows_of_lane(int lane) const {
    return lane < 0 ? nullptr : picture.lanes[static_cast<std::size_t>(lane)].rows.get();
  }
  // Null where a lesson hides the lane.
  const Bar* selected_bar() const {
    const int lane = selected_lane();
    if (lane < 0 || picture.lanes[static_cast<std::size_t>(lane)].hidden) return nullptr;
    return rows_of_lane(lane)->bar_of(session.subject().selected(),
                                      session.subject().selected_zoom());
  }
};

}  // namespace parallelarium
