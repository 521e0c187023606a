// SPDX-License-Identifier: GPL-3.0-or-later
// What the Layer view keeps; for layer_view.cpp, layer_controls.cpp and layer_pointer.cpp only.
#pragma once

#include <QCheckBox>
#include <QScrollArea>
#include <QToolButton>

#include "app/settings/controls.h"
#include "app/views/layer/layer_view.h"

namespace parallelarium {

struct LayerView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  LayerLook look;
  bool tells_inside = false;  // what a run established, until a step is chosen
  StepBox *layer = nullptr, *microbatch = nullptr;
  QLabel *layer_label = nullptr, *microbatch_label = nullptr;
  Segments *part = nullptr, *direction = nullptr, *shown = nullptr, *split = nullptr;
  QCheckBox* figures = nullptr;
  QWidget* head = nullptr;
  QScrollArea* scroll = nullptr;
  QWidget* canvas = nullptr;
  QToolButton* inside = nullptr;
  QToolButton *tensor = nullptr, *context = nullptr;  // where nothing is split
  // Kept between frames, for as long as what they are of is shown.
  std::shared_ptr<const LayerSteps> steps;
  std::shared_ptr<const Prediction> of;
};

}  // namespace parallelarium
