// SPDX-License-Identifier: GPL-3.0-or-later
// "Change devices …": the figures of the Machine that is set, live. What is changed makes a Machine
// of one's own that belongs to the Setup; each figure says where it comes from, and goes back
// alone.
#pragma once

#include <functional>
#include <vector>

#include "app/settings/controls.h"
#include "app/sheets/sheet.h"
#include "app/state/session.h"

class QFormLayout;
class QLabel;
class QVBoxLayout;

namespace parallelarium {

class MachineSheet : public Sheet {
  Q_OBJECT

 public:
  explicit MachineSheet(Session& session, QWidget* parent = nullptr);

 private:
  struct Figure;
  StepBox* add_box(const QString& name, const Figure& figure);
  Segments* add_choice(const QString& name, const Figure& figure);
  void add_figure(QFormLayout* form, const QString& section, const Figure& figure);
  double value_of(const Figure& figure) const;
  // Sets the figure to `value`, or without one back to the preset's.
  void change(const Figure& figure, std::optional<double> value);
  void refresh();

  Session& session_;
  QVBoxLayout* column_;
  QLabel *problem_, *title_;
  QToolButton* back_;
  int label_width_ = 0;  // of all sections, so that their boxes stand in one column
  std::vector<std::function<void()>> refreshers_;
};

}  // namespace parallelarium
