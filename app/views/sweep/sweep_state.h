// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of the Sweep view share.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>

#include "app/state/plan/setting_sweep.h"
#include "app/views/sweep/sweep_paint.h"
#include "app/views/sweep/sweep_view.h"

namespace parallelarium {

constexpr int kSweepControls = 114;

struct SweepView::State {
  explicit State(Session& of) : session(of) {}
  Session& session;
  SettingSweep* sweep = nullptr;
  QWidget* controls = nullptr;
  QComboBox *first = nullptr, *second = nullptr, *figure = nullptr;
  QLineEdit *first_values = nullptr, *second_values = nullptr;
  QCheckBox* keeps = nullptr;  // GPUs and batch
  QPushButton *go = nullptr, *use = nullptr, *whose = nullptr;
  bool filling = false;
  QString proposed = SweepWish().first_values;  // for the first setting, before a sweep
  SweepHits hits;
  SweepPicture picture() const;
};

}  // namespace parallelarium
