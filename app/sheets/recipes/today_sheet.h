// SPDX-License-Identifier: GPL-3.0-or-later
// What is trained today, for the search: a launch line, or degrees that are typed, or both. What is
// typed changes what was read.
#pragma once

#include <vector>

#include "app/sheets/recipes/recipe_reader.h"
#include "app/state/plan/plan_wish.h"

namespace parallelarium {

class StepBox;

class TodaySheet : public RecipeReader {
  Q_OBJECT

 public:
  // The fields begin with the plainest Setup of what is searched for, which also says what a text
  // has no setting for.
  explicit TodaySheet(PlanWish searched, QWidget* parent = nullptr);
  // The sheet as it was accepted before.
  void show_again(const QString& text, const Setup& setup);

 protected:
  Reading read(const std::string& text) override;
  void nothing_read() override;
  void keyPressEvent(QKeyEvent* event) override;
  bool is_of_base() const override { return true; }
  QString consequence(const Setup& setup) const override;

 private:
  QWidget* make_field(const std::string& option);
  void change(const std::string& option, const QString& value);
  void show_fields();
  const Setup& shown() const { return setup() ? *setup() : base(); }
  const PlanWish searched_;
  std::vector<std::pair<std::string, StepBox*>> numbers_;
  QComboBox* recompute_ = nullptr;
};

}  // namespace parallelarium
