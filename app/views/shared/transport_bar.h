// SPDX-License-Identifier: GPL-3.0-or-later
// The controls for the topic in front: play, previous and next event, speed, scrub and time. The
// Session advances the playhead; this only shows it and asks for changes.
#pragma once

#include <QWidget>

#include "app/state/session.h"

class QAction;
class QLabel;
class QSlider;
class QToolButton;

namespace parallelarium {

// "140\u00d7 slower": screen time over step time, for a step of length `horizon`.
QString slowness_text(Nanoseconds horizon, double seconds_per_step);

class TransportBar : public QWidget {
  Q_OBJECT

 public:
  explicit TransportBar(Session& session, QWidget* parent = nullptr);
  // For the menu and the shortcut sheet: previous event, play or pause, next event, slower, faster,
  // loop and reduced motion (checkable).
  QList<QAction*> transport_actions() const;
  QAction& step_back() const { return *previous_; }
  QAction& play() const { return *play_; }
  QAction& step_on() const { return *next_; }
  // The least width at which it also shows the moment in the step.
  int width_with_moment() const;

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void make_actions();
  void make_controls();
  void refresh();
  void refresh_time();
  void refresh_icons();
  bool hides_length() const;
  void follow_topic();
  Nanoseconds playhead() const;
  TimeRange played() const;
  void set_playhead(Nanoseconds time);
  void jump(bool forward);
  Session& session_;
  std::vector<QMetaObject::Connection> of_topic_;
  QAction *previous_, *play_, *next_, *slower_, *faster_, *loop_, *reduced_;
  QToolButton *previous_button_, *play_button_, *next_button_, *speed_;
  QSlider* scrub_;
  QLabel* time_;
};

}  // namespace parallelarium
