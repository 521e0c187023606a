// SPDX-License-Identifier: GPL-3.0-or-later
// Each way of sharing a step out over devices alone, in the numbers of what is set: a table, what
// the chosen row cuts, and how many devices. A row opens as a Setup.
#pragma once

#include "app/sheets/sheet.h"
#include "engine/planner/reasons/techniques.h"

class QLabel;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace parallelarium {

class TechniquesSheet : public Sheet {
  Q_OBJECT

 public:
  // `asked`: what is set, for `machine`. The sheet begins with the ranks of `asked`, or of one rank
  // with the devices of a node.
  TechniquesSheet(Setup asked, Machine machine, QWidget* parent = nullptr);
  // None where there is nothing to share out (for tests).
  const std::optional<Techniques>& techniques() const { return techniques_; }

 Q_SIGNALS:
  void setup_chosen(const parallelarium::Setup& setup);

 private:
  void build_table();
  void predict_all();
  void fill_row(int at, const Technique& row);
  void show_chosen();
  const Technique* chosen() const;

  const Setup asked_;
  const Machine machine_;
  std::optional<Techniques> techniques_;
  QSpinBox* devices_;
  QTableWidget* table_;
  QLabel *whose_, *details_;
  QPushButton* open_;
};

}  // namespace parallelarium
