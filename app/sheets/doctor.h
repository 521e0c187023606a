// SPDX-License-Identifier: GPL-3.0-or-later
// The Doctor page: what this computer has for training, what is missing, what to do. The facts are
// the engine's, so that the page also shows whether the engine starts.
#pragma once

#include <nlohmann/json.hpp>

#include "app/sheets/sheet.h"
#include "app/state/run/engine_process.h"

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace parallelarium {

class GpuCheckRow;

class Doctor : public Sheet {
  Q_OBJECT

 public:
  explicit Doctor(EngineProcess& engine, QWidget* parent = nullptr);
  // The text of the page, for the clipboard.
  QString as_text() const { return text_ + report_; }

 private:
  void show_devices(const nlohmann::json& devices);
  void show_calibration_of_gpus(const nlohmann::json& devices);
  void show_check(const nlohmann::json& check);
  struct State {
    bool good = false;
    QString text;
  };
  void add_line(QVBoxLayout* to, const State& state, const QString& title, const QString& found,
                const QString& advice);
  void add_line(const State& state, const QString& title, const QString& found,
                const QString& advice);
  QVBoxLayout *check_, *facts_;  // what the last check found, above all else
  GpuCheckRow* row_;
  QScrollArea* area_;
  QLabel* summary_;
  QString text_, report_;
};

}  // namespace parallelarium
