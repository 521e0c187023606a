// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/case_table.h"

#include <QCoreApplication>
#include <cmath>

#include "app/look/figures.h"

namespace parallelarium {

namespace {

struct Metrics {
  Q_DECLARE_TR_FUNCTIONS(cases)
};

QString value_with_unit(const CaseFigure& figure, double value) {
  return number_text(value) + QChar(0x00a0) + QLatin1String(metric_of(figure).unit);
}

}  // namespace

QString metric_text(const std::string& metric) {
  const std::pair<const char*, QString> words[] = {
      {"step_seconds", Metrics::tr("step")},
      {"tokens_per_second_per_rank", Metrics::tr("tokens per GPU")},
      {"mfu_causal_percent", Metrics::tr("MFU, causal")},
      {"layer_forward_ms", Metrics::tr("forward of a layer")},
      {"layer_backward_ms", Metrics::tr("backward of a layer")},
      {"peak_gib", Metrics::tr("peak memory")},
      {"framework_peak_gib", Metrics::tr("peak memory with framework")},
      {"states_gib", Metrics::tr("model states")},
      {"first_stage_activations_gib", Metrics::tr("activations of stage 0")},
      {"layer_activations_mib", Metrics::tr("activations of a layer")}};
  for (const auto& [name, word] : words)
    if (metric == name) return word;
  return QString::fromStdString(metric);
}

QString case_text(const std::string& words) {
  return QCoreApplication::translate("published", words.c_str());
}

QString error_text(double error) {
  const double tenths = std::round(1000 * error);
  const QString sign = tenths == 0  ? QString()
                       : tenths < 0 ? QString(QChar(0x2212))
                                    : QStringLiteral("+");
  return sign + QLocale().toString(std::abs(tenths) / 10, 'f', 1) + QChar(0x00a0) +
         QLatin1Char('%');
}

CaseTable::CaseTable(std::vector<Case> cases, QObject* parent)
    : QAbstractTableModel(parent), cases_(std::move(cases)) {
  for (const Case& of : cases_)
    for (const CaseRow& row : of.rows)
      for (std::size_t figure = 0; figure < row.figures.size(); ++figure)
        lines_.push_back({&of, &row, figure});
}

void CaseTable::set_predicted(const CaseRow* row, const std::vector<double>& values) {
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    CaseLine& line = lines_[at];
    if (line.row != row) continue;
    line.failed = values.empty();
    if (line.figure < values.size()) line.predicted = values[line.figure];
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
      return sorts ? QVariant(figure.published) : value_with_unit(figure, figure.published);
    case kPredicted:
      if (!line.predicted) return sorts ? QVariant(-1.0) : QVariant(QStringLiteral("–"));
      return sorts ? QVariant(*line.predicted) : value_with_unit(figure, *line.predicted);
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
