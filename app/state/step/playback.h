// SPDX-License-Identifier: GPL-3.0-or-later
// The playhead and how it moves: playing, speed, loop, reduced motion.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <optional>

#include "app/state/step/time_range.h"

namespace parallelarium {

class Playback : public QObject {
  Q_OBJECT

 public:
  explicit Playback(QObject* parent = nullptr);

  // Sets the length of the step that plays, which is how far the playhead can go.
  void set_horizon(Nanoseconds horizon) { horizon_ = horizon; }

  Nanoseconds playhead() const { return playhead_; }
  void set_playhead(Nanoseconds time);  // clamped to between 0 and the horizon
  // Returns `now` moved on by `share` of `range`. At the end it begins again or, without loop,
  // stops playing.
  Nanoseconds next(Nanoseconds now, TimeRange range, double share);

  bool playing() const { return playing_; }
  void set_playing(bool playing);
  bool loops() const { return loops_; }
  void set_loops(bool loops) { loops_ = loops; }
  // Reduced motion: the playhead goes in steps of a quarter of a second and nothing is tweened.
  bool reduced_motion() const { return reduced_motion_; }
  void set_reduced_motion(bool reduced);
  double seconds_per_step() const { return seconds_per_step_; }  // screen seconds for one step
  void set_seconds_per_step(double seconds);
  // The range that plays: the whole step, or the part of it that the view in front is about.
  TimeRange played() const;
  void set_played(std::optional<TimeRange> part);

 Q_SIGNALS:
  void playhead_changed();
  void playing_changed();
  void speed_changed();
  void motion_changed();  // reduced_motion()
  void played_changed();
  // Sent once a frame while playing. `share` of what plays has passed since the last frame; the
  // owner of what plays moves its playhead by that.
  void frame(double share);

 private:
  void start_frames();
  Nanoseconds playhead_{0}, horizon_{0};
  bool playing_ = false, loops_ = true, reduced_motion_ = false;
  double seconds_per_step_ = 12;
  std::optional<TimeRange> part_;
  QTimer frames_;
  QElapsedTimer since_frame_;
};

}  // namespace parallelarium
