// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture_source.h"

#include "app/look/figures.h"
#include "app/state/run/run_advice.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

const QString kDot = QStringLiteral(" \u00b7 ");

// What stands where the run will be.
QString before_run_text(const Session& session) {
  switch (session.jobs().state()) {
    case RunState::kStarting:
      return QObject::tr("Starting the ranks");
    case RunState::kCalibrating:
      return job_text(session);
    case RunState::kRunning:
      return session.jobs().live_losses().empty()
                 ? QObject::tr("Running")
                 : QObject::tr("Running, %1: loss %2")
                       .arg(session.jobs().live_step_text(),
                            QLocale().toString(session.jobs().live_losses().back(), 'f', 3));
    case RunState::kCancelling:
      return QObject::tr("Cancelling");
    case RunState::kIdle:
      break;
  }
  if (machine_is_elsewhere(session))
    return QObject::tr("Run a small copy here to see ranks do it on this computer");
  const QString refusal = run_refusal(session);
  if (!refusal.isEmpty()) return refusal;
  const QString first = measuring_note(session);
  const QString press = expected_source(session) == Source::kPaced
                            ? QObject::tr("Press Rehearse to see your ranks do it")
                            : QObject::tr("Press Run to see your ranks do it");
  return first.isEmpty() ? press : press + QStringLiteral(". ") + first;
}

void add_ends(Picture& picture) {
  PictureLane *shorter = nullptr, *longer = nullptr;
  for (PictureLane& lane : picture.lanes) {
    if (!lane.rows || lane.hidden || lane.style == LaneStyle::kPinned) continue;
    (shorter ? longer : shorter) = &lane;
  }
  if (!shorter || !longer) return;
  if (longer->rows->end < shorter->rows->end) std::swap(shorter, longer);
  const Nanoseconds by = longer->rows->end - shorter->rows->end;
  if (by.count() <= 0) return;
  const PictureLane& run = shorter->style == LaneStyle::kObserved ? *shorter : *longer;
  const bool run_ends = &run == shorter;
  switch (run.rows->timeline->source) {  // how long a step took says something, or not
    case Source::kPaced:
      shorter->end_text =
          run_ends ? QObject::tr("length is set") : QObject::tr("the rehearsal's length is set");
      break;
    case Source::kOversubscribed:
    case Source::kSharedGpu:
      shorter->end_text = run_ends ? QObject::tr("length is not evidence of speed")
                                   : QObject::tr("the run's length is not evidence of speed");
      break;
    case Source::kPredicted:
    case Source::kMeasured:
      shorter->end_text = QObject::tr("ends %1 sooner").arg(shown_time(by, picture.hides.times));
      break;
  }
}

}  // namespace

std::shared_ptr<const LaneRows> PictureSource::predicted_rows(
    std::shared_ptr<const Prediction> prediction) {
  if (!predicted_ || predicted_->prediction != prediction) {
    const std::shared_ptr<const Timeline> timeline(prediction, &prediction->timeline);
    predicted_ = make_rows(std::move(prediction), timeline);
  }
  return predicted_;
}

std::shared_ptr<const LaneRows> PictureSource::rows_of(const RunRecord& record,
                                                       std::shared_ptr<const LaneRows>& kept) {
  const Timeline& timeline =
      record.observed() ? record.observation.timeline : record.prediction->timeline;
  // Every run brings its own prediction, so that tells runs apart; a pin may be run or prediction.
  if (!kept || kept->prediction != record.prediction || kept->timeline->source != timeline.source)
    kept = make_rows(record.prediction, std::make_shared<const Timeline>(timeline));
  return kept;
}

Picture PictureSource::picture(const Session& session, bool absolute_dates) {
  Picture picture;
  picture.hides_shares = session.locks().hidden(QStringLiteral("bubble.of_total"));
  picture.hides_held = session.locks().hidden(QStringLiteral("held.peak"));
  picture.hides = session.locks().hidden_of_ops();
  const RunRecord* run = session.runs().current();
  const bool fresh = run && !session.runs().current_is_stale();
  const std::shared_ptr<const Prediction> prediction = session.subject().prediction();

  PictureLane predicted;
  predicted.hidden = session.locks().hidden(QStringLiteral("lane.predicted"));
  predicted.style = LaneStyle::kPredicted;
  predicted.short_title = prediction_source_text(prediction->word);
  if (prediction->program.ranks.empty()) {
    predicted.title = QObject::tr("PREDICTED");
    predicted.empty_text = QObject::tr("No prediction yet");
  } else {
    predicted.rows = predicted_rows(prediction);
    predicted.title = predicted_title(*prediction);
    if (prediction->program.representatives)
      predicted.title +=
          kDot + QObject::tr("each row stands for %1 ranks")
                     .arg(prediction->program.world /
                          std::max<int>(1, static_cast<int>(prediction->program.ranks.size())));
    if (prediction->program.level == Level::kStage)
      predicted.title += kDot + QObject::tr("whole stages, not layers");
    if (gathers_instead_of_ring(*prediction))
      predicted.title += kDot + QObject::tr("keys and values gathered, no ring");
  }
  predicted.dimmed = !session.problems().empty();
  predicted.fills = true;
  picture.lanes.push_back(predicted);

  PictureLane observed;
  observed.style = LaneStyle::kObserved;
  observed.hidden = session.locks().hidden(QStringLiteral("lane.run"));
  if (fresh && run->observed()) {
    observed.rows = rows_of(*run, run_);
    observed.fills = true;
    observed.title = run_title(run->observation, absolute_dates);
    observed.title_tip = run_title_tip(run->observation);
    observed.short_title = source_text(run->observation.source);
  } else {
    observed.title = QObject::tr("YOUR RUN");
    observed.empty_text = before_run_text(session);
    observed.live_losses = session.jobs().live_losses();
    const RunRecord* other = run_of_other_settings(session);
    if (other && !observed.hidden && session.jobs().state() == RunState::kIdle)
      observed.other_text = QObject::tr("%1 \u00b7 click here to pin it below")
                                .arg(other_settings_title(other->observation, session.resolved()));
  }
  picture.lanes.push_back(observed);

  if (const RunRecord* pinned = session.runs().pinned()) {
    PictureLane pin;
    pin.style = LaneStyle::kPinned;
    pin.rows = rows_of(*pinned, pinned_);
    pin.title = pinned_title(*pinned, session.resolved());
    pin.short_title = QObject::tr("pinned");
    pin.hidden = session.locks().hidden(pinned->observed() ? QStringLiteral("lane.run")
                                                           : QStringLiteral("lane.predicted"));
    picture.lanes.push_back(pin);
  }
  add_ends(picture);
  return picture;
}

const RunRecord* run_of_other_settings(const Session& session) {
  const RunRecord* run = session.runs().current();
  const RunRecord* pinned = session.runs().pinned();
  if (!run || !run->observed() || !session.runs().current_is_stale()) return nullptr;
  const bool shown =
      pinned && pinned->observed() && pinned->observation.setup == run->observation.setup;
  return shown ? nullptr : run;
}

int lane_of(const Picture& picture, LaneStyle style) {
  for (std::size_t lane = 0; lane < picture.lanes.size(); ++lane)
    if (picture.lanes[lane].style == style && picture.lanes[lane].rows)
      return static_cast<int>(lane);
  return -1;
}

bool joins(const Picture& picture) {
  const int predicted = lane_of(picture, LaneStyle::kPredicted);
  const int observed = lane_of(picture, LaneStyle::kObserved);
  if (predicted < 0 || observed < 0) return false;
  const PictureLane& run = picture.lanes[static_cast<std::size_t>(observed)];
  const auto& ours = picture.lanes[static_cast<std::size_t>(predicted)].rows->program().ranks;
  const auto& theirs = run.rows->program().ranks;
  if (ours.size() != theirs.size()) return false;
  for (std::size_t rank = 0; rank < ours.size(); ++rank)
    if (ours[rank].ops.size() != theirs[rank].ops.size()) return false;
  return true;
}

const PictureLane* animated_lane(const Picture& picture) {
  const int observed = lane_of(picture, LaneStyle::kObserved);
  const int predicted = lane_of(picture, LaneStyle::kPredicted);
  for (const int lane : {observed, predicted}) {
    if (lane < 0) continue;
    const PictureLane& candidate = picture.lanes[static_cast<std::size_t>(lane)];
    if (!candidate.hidden) return &candidate;
  }
  return nullptr;
}

}  // namespace parallelarium
