// SPDX-License-Identifier: GPL-3.0-or-later
// What the Compare view sets side by side: up to four predictions or runs as lettered columns, what
// the engine says of them (engine/planner/reasons/comparison.h), and their lanes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/state/session.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "engine/planner/reasons/comparison.h"

namespace parallelarium {

inline constexpr std::size_t kMostCompared = 4;

// What stands in a column.
struct CompareEntry {
  QString title;  // "PREDICTED · for this engine, calibrated"
  RunRecord record;
  LaneStyle style = LaneStyle::kPredicted;
  std::vector<PublishedFigure> published = {};  // of a case
};

struct ComparedEntries {
  QString whose;          // plans of the search, or what is set
  bool waiting = false;   // for a plan that is being predicted
  bool outdated = false;  // the plans are of other settings than the search's
  std::vector<CompareEntry> entries;
  std::vector<std::shared_ptr<const LaneRows>> rows;  // of each entry
  SideBySide beside;
  // Why the step of the column `chosen` differs from that of the first; of one column nothing.
  std::size_t chosen = 1;
  Explained explained;
  // What a lesson hides: columns, rows of the table, and the causes.
  std::vector<bool> hidden_columns, hidden_rows;
  bool hidden_causes = false;
  // Lanes on one time axis, each from the beginning of its step.
  Picture lanes;
};

// 'A' for the first.
QString letter_of(std::size_t column);

// What the Session has to compare: the plan that is selected in Search beside the best and beside
// what is trained today; or the pin, what is set, and its run.
std::vector<CompareEntry> entries_of(const Session& session);

// Keeps the figures and rows that it made, so that only what is new costs something.
class CompareSource {
 public:
  // `added` stand behind the Session's own. `chosen` must be 1 or more.
  ComparedEntries compare(const Session& session, const std::vector<CompareEntry>& added,
                          std::size_t chosen);

 private:
  struct Kept {
    std::shared_ptr<const Prediction> prediction;
    bool observed = false;
    Column column;
    std::shared_ptr<const LaneRows> rows;
  };
  const Kept& kept_of(const CompareEntry& entry, std::vector<Kept>& now);
  std::vector<Kept> kept_;
};

// One action of one stage, to be followed through all columns.
struct FollowedAction {
  int stage = 0;
  std::int32_t microbatch = 0;
  std::int16_t chunk = 0;
  ActionKind action = ActionKind::kForward;
};
// It is the bar of a lane of the picture, or null; `rank_index` says of which rank.
const Bar* bar_of(const PictureLane& lane, const FollowedAction& action, int* rank_index);
// What was hit; none where that is no action of a micro-batch.
std::optional<FollowedAction> action_at(const Picture& picture, const Hit& hit);

}  // namespace parallelarium
