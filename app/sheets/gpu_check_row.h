// SPDX-License-Identifier: GPL-3.0-or-later
// The Doctor's button that checks the GPUs: what the check is doing while it does, and a way to
// cancel it. The check is the engine's (`devices --check`).
#pragma once

#include <QWidget>
#include <nlohmann/json.hpp>

#include "app/state/run/engine_process.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace parallelarium {

class GpuCheckRow : public QWidget {
  Q_OBJECT

 public:
  explicit GpuCheckRow(EngineProcess& engine, QWidget* parent = nullptr);
  ~GpuCheckRow() override;

  // Known once the engine has told its devices. Without GPUs the button says why it does nothing.
  void set_gpus(int count);

 Q_SIGNALS:
  // What `devices --check --json` prints.
  void answered(const nlohmann::json& check);

 private:
  void press();
  void show_idle(const QString& sentence);

  EngineProcess& engine_;
  int request_ = 0;  // under way; 0: none
  QPushButton* button_;
  QProgressBar* bar_;
  QLabel* doing_;
};

}  // namespace parallelarium
