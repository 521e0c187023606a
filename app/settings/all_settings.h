// SPDX-License-Identifier: GPL-3.0-or-later
// "All settings …": what the panel leaves out, live, in sections that can be reset.
#pragma once

#include <functional>
#include <vector>

#include "app/settings/controls.h"
#include "app/sheets/sheet.h"
#include "app/state/session.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup_settings.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QVBoxLayout;

namespace parallelarium {

class AllSettings : public Sheet {
  Q_OBJECT

 public:
  explicit AllSettings(Session& session, QWidget* parent = nullptr);

 private:
  QFormLayout* begin_section(const QString& title, const std::vector<std::string>& options);
  void add_row(QFormLayout* form, const QString& label, const SetupSetting& row);
  void add_step(QFormLayout* form, const QString& label, const SetupSetting& row,
                StepBox::Step step);
  QString next_gpus(int direction) const;
  void add_choice(QFormLayout* form, const QString& label, const SetupSetting& row);
  void name_auto(QComboBox& box, const std::string& option) const;
  bool is_compared(const std::string& option) const;
  bool is_enabled(const std::string& option) const;
  void add_text_file(QFormLayout* form, const QString& label);
  // How one kind of collective is done, out of Setup::collectives.
  void add_algorithm(QFormLayout* form, const QString& label, CollectiveKind kind);
  void change(const std::string& option, const QString& value);
  void refresh();
  Session& session_;
  QVBoxLayout* column_;
  QLabel* problem_;
  std::vector<std::function<void()>> refreshers_;
  bool refreshing_ = false;
};

}  // namespace parallelarium
