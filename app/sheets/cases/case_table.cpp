// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/cases/case_table.h"

#include <cmath>

#include "app/look/sentence.h"

namespace parallelarium {

CaseTable::CaseTable(std::vector<Case> cases, QObject* parent)
    : QAbstractTableModel(parent), cases_(std::move(cases)) {
  for (const Case& of : cases_)
    for (const CaseRow& row : of.rows)
      for (std::size_t figure = 0; figure < row.figures.size(); ++figure)
        lines_.push_back({&of, &row, figure});
}

void CaseTable::set_predicted(const CaseRow* row, const CasePrediction& predicted) {
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    CaseLine& line = lines_[at];
    if (line.row != row) continue;
    line.failed = predicted.values.empty();
    line.too_large = predicted.too_large;
    if (line.figure < predicted.values.size()) line.predicted = predicted.values[line.figure];
    Q_EMIT dataChanged(index(int(at), kPredicted), index(int(at), kRates));
  }
}

int CaseTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : int(lines_.size());
}

int CaseTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kCaseColumns;
}

QVariant CaseTable::data(const QModelIndex& index, int role) const {
  const CaseLine& line = lines_[std::size_t(index.row())];
  const CaseFigure& figure = line.published();
  const bool impossible = !line.row->impossible.empty();
  if (role == kModelRole) return impossible ? QString() : sentence(title_of(line.row->setup.model));
  if (role == Qt::TextAlignmentRole && index.column() >= kPublished && index.column() <= kError)
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && index.column() == kRates && impossible)
    return case_text(line.row->impossible);
  const bool cut_off = index.column() == kSource || index.column() == kRow;
  if (role == Qt::ToolTipRole && cut_off) role = Qt::DisplayRole;
  if (role != Qt::DisplayRole && role != kSortRole) return {};
  const bool sorts = role == kSortRole;
  switch (index.column()) {
    case kSource:
      return QString::fromStdString(line.of->source);
    case kRow:
      return QString::fromStdString(line.row->name);
    case kMetric:
      return metric_text(figure.metric);
    case kPublished:
      return sorts ? QVariant(figure.published)
                   : metric_value_text(figure.metric, figure.published);
    case kPredicted:
      if (!line.predicted) return sorts ? QVariant(-1.0) : QVariant(QStringLiteral("–"));
      return sorts ? QVariant(*line.predicted) : metric_value_text(figure.metric, *line.predicted);
    case kError:
      if (!line.error()) return sorts ? QVariant(-1.0) : QVariant(QString());
      return sorts ? QVariant(std::abs(*line.error())) : error_text(*line.error());
    case kRates:
      if (impossible) return tr("cannot be said");
      if (line.failed) return tr("not predicted");
      return line.row->fitted ? tr("fitted on it") : tr("held out");
    default:
      return {};
  }
}

QVariant CaseTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((section >= kPublished && section <= kError ? Qt::AlignRight : Qt::AlignLeft) |
                    Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && section == kRates)
    return tr("Whether the rates of the machine were fitted on this row, or it was held out.");
  if (role != Qt::DisplayRole) return {};
  const QString heads[] = {tr("source"),    tr("row"),   tr("figure"), tr("published"),
                           tr("predicted"), tr("error"), tr("rates")};
  return heads[section];
}

}  // namespace parallelarium
