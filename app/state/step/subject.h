// SPDX-License-Identifier: GPL-3.0-or-later
// What the views show together: the predicted Program and Timeline, the visible part of it, and
// what is selected and marked in it.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

#include "app/state/step/time_range.h"
#include "engine/predict/explain/explain.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// How near the timeline is seen. It decides what one bar of a compute lane is.
enum class Zoom : std::uint8_t { kActions, kLayers, kPieces };

class Subject : public QObject {
  Q_OBJECT

 public:
  explicit Subject(QObject* parent = nullptr) : QObject(parent) {}

  // prediction() is that of the latest valid Setup and never null. show() sends no signal, but
  // drops a selection that is not in the new one.
  std::shared_ptr<const Prediction> prediction() const { return prediction_; }
  void show(std::shared_ptr<const Prediction> prediction);

  // The length of what is shown. Lanes that a lesson hides do not count; 0: all are hidden.
  Nanoseconds horizon() const { return horizon_; }
  void set_horizon(Nanoseconds horizon) { horizon_ = horizon; }
  // Call it when what is shown has changed. If visible() showed all of the last one, it follows the
  // new length. The dragged range goes.
  void refit();

  TimeRange visible() const { return visible_; }  // shared by all lanes
  void set_visible(TimeRange range);
  // Makes visible() 0 to horizon(), and lets it follow.
  void fit_all();
  // Does what fit_all() does, from the next refit() on.
  void follow_lengths() { follows_ = true; }

  OpRef selected() const { return selected_; }  // rank index and op index; {-1,-1}: none
  bool selected_in_run() const { return selected_in_run_; }  // the click was in the observed lane
  // What the selected op stands for: its whole action (the forward of a micro-batch, with the
  // collectives inside), its layer in that action, or itself.
  Zoom selected_zoom() const { return selected_zoom_; }
  void select(OpRef op, bool in_run, Zoom zoom = Zoom::kPieces);
  std::optional<TimeRange> range() const { return range_; }  // dragged range
  void set_range(std::optional<TimeRange> range);
  const std::vector<Nanoseconds>& marks() const { return marks_; }  // ascending
  void set_marks(std::vector<Nanoseconds> marks);

 Q_SIGNALS:
  void visible_changed();
  void selection_changed();
  void range_changed();
  void marks_changed();

 private:
  std::shared_ptr<const Prediction> prediction_;
  Nanoseconds horizon_{0};
  TimeRange visible_;
  bool follows_ = true;
  OpRef selected_;
  bool selected_in_run_ = false;
  Zoom selected_zoom_ = Zoom::kPieces;
  std::optional<TimeRange> range_;
  std::vector<Nanoseconds> marks_;
};

}  // namespace parallelarium
