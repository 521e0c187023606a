// SPDX-License-Identifier: GPL-3.0-or-later
// The left panel: model, devices, degrees, batch and pipeline. It reads the Session and asks it to
// change; every field is one undo step.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <map>
#include <string>
#include <vector>

#include "app/settings/controls.h"
#include "app/state/session.h"
#include "engine/plan/setup/setup_settings.h"

class QBoxLayout;
class QProgressBar;

namespace parallelarium {

class SetupPanel : public QScrollArea {
  Q_OBJECT

 public:
  explicit SetupPanel(Session& session, QWidget* parent = nullptr);
  // The control of a field, by option ("pp"), for focus and tests; null if the panel has none.
  QWidget* control(const std::string& option) const;
  // Sections by name, for the menu: sets their fields to the defaults, or to what the open
  // lesson started with.
  const QStringList& section_names() const { return section_names_; }
  void reset_section(int section);
  bool section_changed(int section) const;

 Q_SIGNALS:
  void all_settings_requested();
  void devices_requested();
  // A sentence about what was typed ("'x' is not a whole number."), or empty when it is mended.
  void typed_wrong(const QString& sentence);

 private:
  struct Row {
    QWidget* control = nullptr;
    QLabel* reason = nullptr;  // shown instead of the control: "needs experts"
    QWidget* whole = nullptr;
  };
  int begin_section(const QString& title, const std::vector<std::string>& options);
  void add_model(QWidget* content);
  void add_devices(QWidget* content);
  void add_world(QWidget* content);
  void add_schedule(QWidget* content);
  void add_global_batch(QWidget* content);
  void add_row(const SetupSetting& row);
  QWidget* make_control(const SetupSetting& row, const QString& name);
  void add_freed();
  QWidget* labelled_row(const QString& label, const QString& short_name, QWidget* control,
                        QLabel* reason = nullptr);
  void change(const std::string& option, const QString& value);
  void refresh();
  void fill_models();
  void refresh_model();
  void refresh_machine();
  void refresh_rows();
  void refresh_world();
  void refresh_batch();

  Session& session_;
  QBoxLayout* column_;
  // What a part of a lesson frees and the panel does not have otherwise; null: nothing.
  QWidget* freed_ = nullptr;
  std::vector<std::string> freed_options_;
  QStringList section_names_;
  std::vector<SectionHead*> heads_;
  std::vector<std::vector<std::string>> section_options_;
  std::map<std::string, Row> rows_;
  QComboBox *model_, *machine_;
  ChoiceBox* schedule_;
  ElidedLabel* model_note_;
  QLabel* source_tag_;
  ElidedLabel *machine_note_, *machine_age_;
  QLabel* world_;
  QProgressBar* world_bar_;
  QLabel* global_batch_;
  QToolButton* lock_;
  bool refreshing_ = false;
};

}  // namespace parallelarium
