// SPDX-License-Identifier: GPL-3.0-or-later
// Published figures as a table, each beside its prediction as soon as that is there.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

#include "app/views/shared/words/case_words.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {

// One figure of one row of a source.
struct CaseLine {
  const Case* of = nullptr;
  const CaseRow* row = nullptr;
  std::size_t figure = 0;  // in the row
  std::optional<double> predicted = {};
  bool failed = false;                    // its Setup could not be predicted
  std::optional<Message> too_large = {};  // as CasePrediction says
  const CaseFigure& published() const { return row->figures[figure]; }
  std::optional<double> error() const {
    return predicted ? std::optional(*predicted / published().published - 1) : std::nullopt;
  }
};

class CaseTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kSource, kRow, kMetric, kPublished, kPredicted, kError, kRates, kCaseColumns };
  // Sorting compares this role: numbers as numbers.
  static constexpr int kSortRole = Qt::UserRole;
  // In any column the title of the row's model; empty: the row cannot be said as a Setup.
  static constexpr int kModelRole = Qt::UserRole + 1;

  explicit CaseTable(std::vector<Case> cases, QObject* parent = nullptr);
  const std::vector<Case>& cases() const { return cases_; }
  const std::vector<CaseLine>& lines() const { return lines_; }
  // What predict_case() gave; without values it failed.
  void set_predicted(const CaseRow* row, const CasePrediction& predicted);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const std::vector<Case> cases_;
  std::vector<CaseLine> lines_;
};

}  // namespace parallelarium
