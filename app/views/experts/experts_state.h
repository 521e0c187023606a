// SPDX-License-Identifier: GPL-3.0-or-later
// What the Experts view keeps; for experts_view.cpp and expert_controls.cpp only.
#pragma once

#include <QHBoxLayout>
#include <QScrollArea>
#include <QSlider>
#include <QThreadPool>
#include <QToolButton>

#include "app/settings/controls.h"
#include "app/views/experts/experts_view.h"

namespace parallelarium {

// Whether a model with experts is wanted whose settings are not valid, and what is shown is the
// dense one of before.
inline bool no_valid_experts(const Session& session) {
  return !session.problems().empty() && session.setup().model.experts.count > 0 &&
         session.subject().prediction()->setup.model.experts.count == 0;
}

struct ExpertsView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  ExpertChoice choice;

  StepBox *layer = nullptr, *microbatch = nullptr, *group = nullptr, *step = nullptr;
  QLabel *layer_label = nullptr, *microbatch_label = nullptr, *group_label = nullptr,
         *placement_label = nullptr, *skew_label = nullptr, *skew_value = nullptr,
         *counts_label = nullptr, *step_label = nullptr, *step_value = nullptr;
  Segments *placement = nullptr, *counts = nullptr;
  QSlider* skew = nullptr;
  QWidget* head = nullptr;
  QScrollArea* scroll = nullptr;
  QWidget* canvas = nullptr;
  QWidget* models = nullptr;  // buttons of a dense model
  QHBoxLayout* models_row = nullptr;

  // Kept between frames, for as long as what they are of is shown.
  std::shared_ptr<const RoutedLayer> routed;
  std::optional<Message> why_none;
  std::shared_ptr<const std::vector<BalanceCurve>> curves;
  std::shared_ptr<PlotCache> plot_cache = std::make_shared<PlotCache>();
  Setup routed_of;
  ExpertChoice routed_choice;
  bool known = false, computing = false;
  ExpertRef selected;
  QThreadPool worker;  // last: its destructor waits
};

}  // namespace parallelarium
