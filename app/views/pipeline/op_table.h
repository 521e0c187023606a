// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline as a table: one line for each bar, predicted and observed side by side. Sortable,
// copyable (with headers, tab-separated), and what a screen reader reads.
#pragma once

#include <QAbstractTableModel>
#include <QWidget>
#include <memory>

#include "app/state/session.h"
#include "app/views/timeline/picture/lanes.h"

class QSortFilterProxyModel;
class QTableView;

namespace parallelarium {

class OpModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kRank,
    kStage,
    kOp,
    kPredictedBegin,
    kPredictedDuration,
    kObservedBegin,
    kObservedDuration,
    kSpread,
    kBytes,
    kColumns
  };
  // Sorting compares this role: numbers as numbers.
  static constexpr int kSortRole = Qt::UserRole;

  using QAbstractTableModel::QAbstractTableModel;
  // Either side may be null. `fresh`: both are of one Setup and stand in one line.
  // A line for each bar of the compute lanes as `zoom` shows them, and of the other lanes.
  void show(std::shared_ptr<const LaneRows> predicted, std::shared_ptr<const LaneRows> observed,
            Zoom zoom = Zoom::kActions, const HiddenOfOps& hides = {});
  Zoom zoom() const { return zoom_; }
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  OpRef op_of(int row) const;
  int row_of(OpRef op) const;  // -1: none

 private:
  struct Line {
    int row = 0;  // in LaneRows::rows
    Lane lane = Lane::kCompute;
    int bar = 0;
    const Bar* observed = nullptr;
  };
  std::shared_ptr<const LaneRows> predicted_, observed_;
  std::vector<Line> lines_;
  Zoom zoom_ = Zoom::kActions;
  HiddenOfOps hides_;
};

class OpTable : public QWidget {
  Q_OBJECT

 public:
  explicit OpTable(Session& session, QWidget* parent = nullptr);
  void show_rows(std::shared_ptr<const LaneRows> predicted,
                 std::shared_ptr<const LaneRows> observed, Zoom zoom, const HiddenOfOps& hides);
  // The chosen lines, or all of them, as tab-separated text with headers.
  QString as_text() const;
  // What its keys do, for menus and the shortcut sheet.
  QList<QAction*> key_actions() const;
  QTableView& table() { return *table_; }

 private:
  Session& session_;
  OpModel* model_;
  QSortFilterProxyModel* sorted_;
  QTableView* table_;
};

}  // namespace parallelarium
