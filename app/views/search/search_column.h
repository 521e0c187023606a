// SPDX-License-Identifier: GPL-3.0-or-later
// The left column of the Search view: what is searched, and every axis free or fixed.
#pragma once

#include <QFrame>
#include <map>

#include "app/settings/controls.h"
#include "app/state/plan/plan_search.h"

class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace parallelarium {

class SearchColumn : public QFrame {
  Q_OBJECT

 public:
  explicit SearchColumn(PlanSearch& search, QWidget* parent = nullptr);
  void take_focus();  // its first control

 private:
  void add_head(const QString& title);
  void add_row(const QString& label, QWidget* control);
  QLabel* add_note();
  QComboBox* choice(const QString& name, const QString& tip = {});
  StepBox* number(const QString& name, const StepBox::Step& step);
  void add_sizes();
  void add_axes();
  void add_axis(const QString& axis, const QString& label, const QStringList& values,
                const QStringList& words = {});
  void change(const std::function<void(PlanWish&)>& turn);
  void take_number(StepBox* box, const QString& text, std::int64_t PlanWish::*member);
  void refresh();

  PlanSearch& search_;
  QWidget* content_;  // what scrolls; the button below it does not
  QVBoxLayout* column_;
  QComboBox *model_ = nullptr, *machine_ = nullptr;
  StepBox *gpus_ = nullptr, *batch_ = nullptr, *sequence_ = nullptr, *memory_ = nullptr;
  QLabel *batch_note_ = nullptr, *free_ = nullptr, *progress_text_ = nullptr;
  std::map<QString, QComboBox*> axes_;
  QPushButton* go_ = nullptr;
  QProgressBar* progress_ = nullptr;
};

}  // namespace parallelarium
