// SPDX-License-Identifier: GPL-3.0-or-later
// The Doctor page: what this computer has for training, what is missing, what to do. The facts are
// the engine's, so that the page also shows whether the engine starts.
#pragma once

#include <QDialog>
#include <nlohmann/json.hpp>

#include "app/engine_process.h"

class QLabel;
class QVBoxLayout;

namespace parallelarium {

class Doctor : public QDialog {
  Q_OBJECT

 public:
  explicit Doctor(EngineProcess& engine, QWidget* parent = nullptr);
  // The text of the page, for the clipboard.
  QString as_text() const { return text_; }

 private:
  void show_devices(const nlohmann::json& devices);
  void show_calibration_of_gpus(const nlohmann::json& devices);
  void add_line(const QString& state, const QString& title, const QString& found,
                const QString& advice);
  QVBoxLayout* facts_;
  QLabel* summary_;
  QString text_;
};

}  // namespace parallelarium
