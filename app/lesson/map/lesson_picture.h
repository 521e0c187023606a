// SPDX-License-Identifier: GPL-3.0-or-later
// What a lesson is about, drawn from its own settings: the order of a pipeline, which ranks send
// in each step of a collective, or what each rank holds of the model.
#pragma once

#include <QWidget>
#include <variant>
#include <vector>

#include "engine/collectives/collective.h"
#include "engine/lesson/lesson.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// A rank holds this part of the model: a share of its layers (depth) and of their width.
struct PicturedPart {
  int stage = 0;
  double depth_begin = 0, depth_end = 1, width_begin = 0, width_end = 1;
};
// Ranks by copy (data parallelism) and within it.
using HeldParts = std::vector<std::vector<PicturedPart>>;

// Nothing: the lesson's settings cannot be drawn.
using LessonDrawing = std::variant<std::monostate, TimedOrder, Collective, HeldParts>;

// Of the first part of the lesson that has several ranks, or of its start. Durations are not those
// of a machine: a backward is twice a forward.
LessonDrawing drawing_of(const Lesson& lesson);

class LessonPicture : public QWidget {
  Q_OBJECT

 public:
  explicit LessonPicture(QWidget* parent = nullptr);
  // Is hidden if there is nothing to draw.
  void show_drawing(LessonDrawing drawing);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paint(QPainter& painter, const TimedOrder& order) const;
  void paint(QPainter& painter, const Collective& collective) const;
  void paint(QPainter& painter, const HeldParts& parts) const;

  LessonDrawing drawing_;
};

}  // namespace parallelarium
