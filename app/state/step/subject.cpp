// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/subject.h"

#include <algorithm>
#include <utility>

namespace parallelarium {

namespace {

// Null: a Program has no such op.
const Op* find_op(const Program& program, OpRef ref) {
  if (ref.rank < 0 || ref.rank >= int(program.ranks.size())) return nullptr;
  const std::vector<Op>& ops = program.ranks[std::size_t(ref.rank)].ops;
  return ref.op >= 0 && ref.op < int(ops.size()) ? &ops[std::size_t(ref.op)] : nullptr;
}

// Whether both do the same, for whatever sizes.
bool alike(const Op& a, const Op& b) {
  return a.kind == b.kind && a.lane == b.lane && a.piece == b.piece && a.phase == b.phase &&
         a.collective == b.collective && a.purpose == b.purpose && a.layer == b.layer &&
         a.chunk == b.chunk && a.block == b.block && a.microbatch == b.microbatch &&
         a.peer == b.peer;
}

}  // namespace

// At the place of what is selected other settings may have another op, which nobody chose.
void Subject::show(std::shared_ptr<const Prediction> prediction) {
  const std::shared_ptr<const Prediction> before =
      std::exchange(prediction_, std::move(prediction));
  if (selected_.rank < 0) return;
  const Op* now = find_op(prediction_->program, selected_);
  const Op* chosen = before ? find_op(before->program, selected_) : nullptr;
  if (!now || (chosen && !alike(*now, *chosen))) select({}, false);
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
