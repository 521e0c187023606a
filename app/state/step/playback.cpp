// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/playback.h"

#include <algorithm>
#include <cmath>

namespace parallelarium {

namespace {

constexpr int kFrameMs = 16, kReducedFrameMs = 250;

}  // namespace

Playback::Playback(QObject* parent) : QObject(parent) {
  frames_.setTimerType(Qt::PreciseTimer);
  connect(&frames_, &QTimer::timeout, this, [this] {
    const double elapsed = double(since_frame_.nsecsElapsed()) / 1e9;
    since_frame_.restart();
    Q_EMIT frame(elapsed / seconds_per_step_);
  });
}

void Playback::set_playhead(Nanoseconds time) {
  time = std::clamp(time, Nanoseconds(0), std::max(Nanoseconds(0), horizon_));
  if (time == playhead_) return;
  playhead_ = time;
  Q_EMIT playhead_changed();
}

Nanoseconds Playback::next(Nanoseconds now, TimeRange range, double share) {
  const auto whole = double(range.length().count());
  if (whole <= 0) return now;
  if (now < range.begin) return range.begin;
  const double moved = double((now - range.begin).count()) + whole * share;
  if (moved <= whole) return range.begin + Nanoseconds(std::llround(moved));
  if (loops_) return range.begin;
  set_playing(false);
  return range.end;
}

void Playback::start_frames() { frames_.start(reduced_motion_ ? kReducedFrameMs : kFrameMs); }

void Playback::set_playing(bool playing) {
  if (playing == playing_) return;
  playing_ = playing;
  if (playing) {
    since_frame_.restart();
    start_frames();
  } else {
    frames_.stop();
  }
  Q_EMIT playing_changed();
}

void Playback::set_reduced_motion(bool reduced) {
  if (reduced == reduced_motion_) return;
  reduced_motion_ = reduced;
  if (playing_) start_frames();
  Q_EMIT motion_changed();
}

void Playback::set_seconds_per_step(double seconds) {
  seconds = std::clamp(seconds, 0.5, 600.0);
  if (seconds == seconds_per_step_) return;
  seconds_per_step_ = seconds;
  Q_EMIT speed_changed();
}

TimeRange Playback::played() const {
  const bool fits = part_ && part_->end <= horizon_;
  return fits ? *part_ : TimeRange{Nanoseconds(0), horizon_};
}

void Playback::set_played(std::optional<TimeRange> part) {
  if (part == part_) return;
  part_ = part;
  Q_EMIT played_changed();
}

}  // namespace parallelarium
