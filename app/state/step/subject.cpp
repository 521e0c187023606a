// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/subject.h"

#include <algorithm>

namespace parallelarium {

void Subject::show(std::shared_ptr<const Prediction> prediction) {
  prediction_ = std::move(prediction);
  const auto& ranks = prediction_->program.ranks;
  const bool there =
      selected_.rank < int(ranks.size()) &&
      (selected_.rank < 0 || selected_.op < int(ranks[std::size_t(selected_.rank)].ops.size()));
  if (!there) select({}, false);
}

void Subject::refit() {
  const Nanoseconds whole = std::max(horizon(), Nanoseconds(1));
  if (follows_)
    fit_all();
  else if (visible_.end > whole)
    set_visible(visible_);
  set_range(std::nullopt);
}

void Subject::set_visible(TimeRange range) {
  const Nanoseconds whole = std::max(horizon(), Nanoseconds(1));
  const Nanoseconds length = std::clamp(range.length(), Nanoseconds(1), whole);
  const Nanoseconds begin = std::clamp(range.begin, Nanoseconds(0), whole - length);
  const TimeRange next{begin, begin + length};
  follows_ = next == TimeRange{Nanoseconds(0), whole};
  if (next == visible_) return;
  visible_ = next;
  Q_EMIT visible_changed();
}

void Subject::fit_all() { set_visible({Nanoseconds(0), std::max(horizon(), Nanoseconds(1))}); }

void Subject::select(OpRef op, bool in_run, Zoom zoom) {
  if (op == selected_ && in_run == selected_in_run_ && zoom == selected_zoom_) return;
  selected_ = op;
  selected_in_run_ = in_run;
  selected_zoom_ = zoom;
  Q_EMIT selection_changed();
}

void Subject::set_range(std::optional<TimeRange> range) {
  if (range == range_) return;
  range_ = range;
  Q_EMIT range_changed();
}

void Subject::set_marks(std::vector<Nanoseconds> marks) {
  std::sort(marks.begin(), marks.end());
  if (marks == marks_) return;
  marks_ = std::move(marks);
  Q_EMIT marks_changed();
}

}  // namespace parallelarium
