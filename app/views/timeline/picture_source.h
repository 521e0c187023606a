// SPDX-License-Identifier: GPL-3.0-or-later
// From the Session to the lanes of the picture. Keeps the rows it made, so that a change of zoom or
// of a title costs nothing.
#pragma once

#include <memory>

#include "app/state/session.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

class PictureSource {
 public:
  // The lanes that the Session shows now: predicted, run (or the words before it), pin. Range,
  // playhead and arrangement are left to the caller.
  Picture picture(const Session& session, bool absolute_dates);

 private:
  std::shared_ptr<const LaneRows> predicted_rows(std::shared_ptr<const Prediction> prediction);
  std::shared_ptr<const LaneRows> rows_of(const RunRecord& record,
                                          std::shared_ptr<const LaneRows>& kept);
  std::shared_ptr<const LaneRows> predicted_, run_, pinned_;
};

// The index of the lane of that style, or -1.
int lane_of(const Picture& picture, LaneStyle style);
// Whether prediction and run show the same ops, so that they join one by one.
bool joins(const Picture& picture);
// The latest run, if its settings are not the present ones and it is not pinned; else null.
const RunRecord* run_of_other_settings(const Session& session);
// What is animated and plotted: the run if it is of the present Setup, else the prediction; null
// if that lane is hidden.
const PictureLane* animated_lane(const Picture& picture);

}  // namespace parallelarium
