// SPDX-License-Identifier: GPL-3.0-or-later
// Small pipelines, predicted by the engine, and runs made up from them: the same order, everything
// a little later.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <algorithm>
#include <memory>

#include "app/state/session.h"
#include "app/views/timeline/picture/lanes.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "app/views/timeline/picture_source.h"

namespace parallelarium {

// gtest keeps the plain name for itself inside fixtures.
using PlanSetup = Setup;

inline Setup pipeline_setup(int stages, int microbatches, const char* schedule = "1f1b",
                            int replicas = 1) {
  Setup setup = default_setup();
  setup.mesh.pp = stages;
  setup.mesh.dp = replicas;
  setup.model.layers = 2 * stages;
  setup.model.name = "custom";
  setup.microbatches = microbatches;
  setup.schedule = schedule;
  return setup;
}

inline std::shared_ptr<const Prediction> predicted(const Setup& setup) {
  Result<Prediction> result = predict(setup, uncalibrated_local_machine(), true);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text);
  return std::make_shared<const Prediction>(std::move(*result));
}

// Every span of `timeline` times `factor`: still a possible timeline of its Program.
inline Timeline stretched(Timeline timeline, double factor, Source source) {
  const auto scale = [&](Nanoseconds& time) {
    time = Nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * factor));
  };
  for (RankTimeline& rank : timeline.ranks) {
    rank.shortest.clear();
    rank.longest.clear();
    for (Span& span : rank.spans) {
      scale(span.begin);
      scale(span.end);
      rank.shortest.push_back((span.end - span.begin) / 2);
      rank.longest.push_back((span.end - span.begin) * 2);
    }
  }
  scale(timeline.duration);
  timeline.source = source;
  timeline.step = 3;
  timeline.steps = 5;
  return timeline;
}

// What a run counts of each op of a rank, as long as all ops send what they should.
inline std::vector<std::int64_t> sent_by_ops(const Program& program, std::size_t rank) {
  std::vector<std::int64_t> sent;
  for (const Op& op : program.ranks[rank].ops) {
    std::int64_t& bytes = sent.emplace_back(op.kind == OpKind::kSend ? op.bytes : 0);
    if (op.kind != OpKind::kCollective) continue;
    const std::vector<int>& ranks = program.groups[static_cast<std::size_t>(op.group)].ranks;
    const auto place = std::find(ranks.begin(), ranks.end(), program.ranks[rank].rank);
    bytes = collective_volume(op.collective, op.type, op.bytes, static_cast<int>(ranks.size()),
                              static_cast<int>(place - ranks.begin()))
                .sent;
  }
  return sent;
}

inline RunRecord made_up_run(const Setup& setup, double factor, Source source = Source::kPaced) {
  RunRecord record;
  record.prediction = predicted(resolve(setup, uncalibrated_local_machine()));
  record.observation.setup = record.prediction->setup;
  record.observation.source = source;
  if (source == Source::kPaced) record.observation.stretch = 10;
  record.observation.timeline = stretched(record.prediction->timeline, factor, source);
  record.observation.memory = memory_of(record.prediction->program);
  for (std::size_t rank = 0; rank < record.prediction->program.ranks.size(); ++rank) {
    record.observation.traffic.push_back(
        traffic_of(record.prediction->program, static_cast<int>(rank)));
    record.observation.sent_bytes.push_back(sent_by_ops(record.prediction->program, rank));
  }
  record.observation.bubble = record.prediction->bubble;
  record.observation.step = record.prediction->step;
  record.observation.losses = {5.5, 5.4, 5.3};
  record.observation.date = "2026-11-21T08:00:00Z";
  return record;
}

inline std::shared_ptr<const LaneRows> rows_of(const std::shared_ptr<const Prediction>& prediction,
                                               double factor = 1) {
  return make_rows(prediction, std::make_shared<const Timeline>(
                                   stretched(prediction->timeline, factor,
                                             factor == 1 ? Source::kPredicted : Source::kPaced)));
}

// Predicted above observed, over the whole step.
inline Picture two_lanes(const Setup& setup, double factor = 1.1) {
  const auto prediction = predicted(setup);
  Picture picture;
  for (const double scale : {1.0, factor}) {
    PictureLane lane;
    lane.rows = rows_of(prediction, scale);
    lane.style = scale == 1 ? LaneStyle::kPredicted : LaneStyle::kObserved;
    lane.title =
        scale == 1 ? "PREDICTED \u00b7 for this engine" : "REHEARSAL \u00b7 durations set, 1:10";
    lane.short_title = scale == 1 ? "predicted" : "rehearsed";
    lane.fills = scale != 1;
    picture.range.end = std::max(picture.range.end, lane.rows->end);
    picture.lanes.push_back(lane);
  }
  return picture;
}

// Pairs of painted texts that lie on each other by more than a hair.
inline std::string overlapping(const TextLog& texts) {
  std::string found;
  for (std::size_t a = 0; a < texts.size(); ++a)
    for (std::size_t b = a + 1; b < texts.size(); ++b)
      if (texts[a]
              .rect.adjusted(0.5, 0.5, -0.5, -0.5)
              .intersects(texts[b].rect.adjusted(0.5, 0.5, -0.5, -0.5)))
        found += texts[a].text.toStdString() + " | " + texts[b].text.toStdString() + "\n";
  return found;
}

}  // namespace parallelarium
