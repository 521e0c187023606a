// SPDX-License-Identifier: GPL-3.0-or-later
// Published training runs beside their predictions: a table, the same as points, and what is known
// of the chosen row, which opens as a Setup. A thread predicts while the sheet is open.
#pragma once

#include <QThreadPool>
#include <atomic>

#include "app/sheets/cases/case_table.h"
#include "app/sheets/sheet.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace parallelarium {

class CaseScatter;

class CasesSheet : public Sheet {
  Q_OBJECT

 public:
  explicit CasesSheet(std::vector<Case> cases, QWidget* parent = nullptr);
  ~CasesSheet() override;
  // The line of the chosen row of the table, or null.
  const CaseLine* chosen() const;
  void choose(const CaseLine* line);
  // Shows the rows of the model of this title alone, or all where there are none.
  void show_model(const QString& title);
  // Until every row is predicted (for tests and pictures).
  void wait();
  const CaseTable& table() const { return *model_; }

 Q_SIGNALS:
  // The row is to be opened.
  void setup_chosen(const parallelarium::Setup& setup);

 private:
  void build_table();
  QWidget* build_filters();
  void predict_all();
  void refresh();       // after a filter or a prediction
  void show_details();  // of the chosen row
  void open_chosen();

  CaseTable* model_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_;
  CaseScatter* scatter_;
  QComboBox *source_, *model_box_, *metric_;
  QLabel *summary_, *details_;
  QPushButton* open_;
  std::size_t left_ = 0;  // rows to be predicted
  std::atomic<bool> stop_ = false;
  QThreadPool worker_;  // last: its destructor waits
};

}  // namespace parallelarium
