// SPDX-License-Identifier: GPL-3.0-or-later
// The left column of the Search view: what is searched, and every axis free or fixed.
#pragma once

#include <QFrame>
#include <map>

#include "app/settings/controls.h"
#include "app/state/plan/plan_search.h"
#include "app/views/search/column/search_axes.h"

class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace parallelarium {

class SearchColumn : public QFrame {
  Q_OBJECT

 public:
  explicit SearchColumn(PlanSearch& search, QWidget* parent = nullptr);
  void take_focus();  // its first control
  // A config.json becomes the model, a launch line what is trained today. False: it is neither.
  bool take_file(const QString& path);

 private:
  void add_head(const QString& title);
  void add_row(const QString& label, QWidget* control);
  QLabel* add_note();
  QComboBox* choice(const QString& name, const QString& tip = {});
  StepBox* number(const QString& name, const StepBox::Step& step);
  void add_model();
  void add_cluster();
  void add_batch();
  void add_limits();
  void add_today();
  void add_training();
  void add_axes();
  void choose_model_file();
  void read_model(const QString& path);
  void read_today(const QString& path);  // empty: none, the text is pasted
  void add_axis(const SearchAxis& axis);
  void take_values(const QString& axis, const QString& values);  // "0,1"; empty: it is free
  void ask_values(const QString& axis);
  void show_values(const SearchAxis& axis, const QString& values);
  void change(const std::function<void(PlanWish&)>& turn);
  void take_number(StepBox* box, const QString& text, std::int64_t PlanWish::*member);
  void take_memory(const QString& text);
  void read_cluster_text();
  void show_own(QComboBox* box, QString& own, const QString& wished,
                const std::function<QString()>& title);
  void refresh();

  PlanSearch& search_;
  // Titles of what is no preset, as they stand in the lists; empty where nothing is.
  QString own_model_, own_machine_;
  QWidget* content_;  // what scrolls; the button below it does not
  QVBoxLayout* column_;
  QComboBox *model_ = nullptr, *machine_ = nullptr, *framework_ = nullptr, *objective_ = nullptr;
  StepBox *gpus_ = nullptr, *batch_ = nullptr, *sequence_ = nullptr, *memory_ = nullptr;
  StepBox *tokens_ = nullptr, *price_ = nullptr;
  QLabel *model_note_ = nullptr, *today_note_ = nullptr;
  QPushButton *today_ = nullptr, *forget_ = nullptr;
  QLabel *memory_note_ = nullptr, *no_experts_ = nullptr;
  QLabel *batch_note_ = nullptr, *free_ = nullptr, *progress_text_ = nullptr;
  std::map<QString, QComboBox*> axes_;
  QPushButton* go_ = nullptr;
  QProgressBar* progress_ = nullptr;
};

}  // namespace parallelarium
