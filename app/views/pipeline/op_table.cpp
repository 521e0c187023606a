// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/op_table.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture/range_readout.h"

namespace parallelarium {
namespace {

const Bar& bar_at(const LaneRows& rows, int row, Lane lane, Zoom zoom, int bar) {
  const Row& of_rank = rows.rows[static_cast<std::size_t>(row)];
  return of_rank.lane(lane, zoom).bars[static_cast<std::size_t>(bar)];
}

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

QString figure(double value) { return QLocale().toString(value, 'f', 3); }

}  // namespace

void OpModel::show(std::shared_ptr<const LaneRows> predicted,
                   std::shared_ptr<const LaneRows> observed, Zoom zoom, const HiddenOfOps& hides) {
  beginResetModel();
  zoom_ = zoom;
  hides_ = hides;
  predicted_ = std::move(predicted);
  observed_ = std::move(observed);
  lines_.clear();
  const LaneRows* first = predicted_ ? predicted_.get() : observed_.get();
  for (int row = 0; first && row < static_cast<int>(first->rows.size()); ++row)
    for (int lane = 0; lane < kLanes; ++lane) {
      const Row& of_rank = first->rows[static_cast<std::size_t>(row)];
      const auto& bars = of_rank.lane(static_cast<Lane>(lane), zoom).bars;
      for (int bar = 0; bar < static_cast<int>(bars.size()); ++bar) {
        Line line{row, static_cast<Lane>(lane), bar, nullptr};
        if (observed_)
          line.observed = observed_->bar_of(
              {of_rank.rank_index, bars[static_cast<std::size_t>(bar)].first_op}, zoom);
        lines_.push_back(line);
      }
    }
  endResetModel();
}

int OpModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int OpModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

OpRef OpModel::op_of(int row) const {
  const LaneRows* rows = predicted_ ? predicted_.get() : observed_.get();
  if (!rows || row < 0 || row >= static_cast<int>(lines_.size())) return {};
  const Line& line = lines_[static_cast<std::size_t>(row)];
  return {rows->rows[static_cast<std::size_t>(line.row)].rank_index,
          bar_at(*rows, line.row, line.lane, zoom_, line.bar).first_op};
}

int OpModel::row_of(OpRef op) const {
  for (int row = 0; row < static_cast<int>(lines_.size()); ++row)
    if (op_of(row) == op) return row;
  return -1;
}

QVariant OpModel::data(const QModelIndex& index, int role) const {
  if (role == Qt::AccessibleTextRole) {  // "Begin, ms predicted: 3.2"
    const QString head = headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString();
    const QString shown = data(index, Qt::DisplayRole).toString();
    return QString(head).replace(QLatin1Char('\n'), QLatin1Char(' ')) + QStringLiteral(": ") +
           (shown.isEmpty() ? tr("none") : shown);
  }
  // A sentence that is cut off is whole in the tooltip.
  if (role == Qt::ToolTipRole && index.column() == kOp) role = Qt::DisplayRole;
  if (role != Qt::DisplayRole && role != kSortRole && role != Qt::TextAlignmentRole) return {};
  if (role == Qt::TextAlignmentRole)
    return index.column() == kOp ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
  const LaneRows* rows = predicted_ ? predicted_.get() : observed_.get();
  if (!rows || index.row() >= static_cast<int>(lines_.size())) return {};
  const Line& line = lines_[static_cast<std::size_t>(index.row())];
  const Row& row = rows->rows[static_cast<std::size_t>(line.row)];
  const Bar& bar = bar_at(*rows, line.row, line.lane, zoom_, line.bar);
  const Bar* ours = predicted_ ? &bar : nullptr;
  const Bar* theirs = predicted_ ? line.observed : &bar;
  const auto number = [&](bool there, double value) -> QVariant {
    if (!there) return {};
    if (hides_.times) return kHidden;
    return role == kSortRole ? QVariant(value) : QVariant(figure(value));
  };
  const auto begin = [](const Bar* of) { return of ? milliseconds(of->span.begin) : 0; };
  const auto length = [](const Bar* of) {
    return of ? milliseconds(of->span.end - of->span.begin) : 0;
  };
  switch (index.column()) {
    case kRank:
      return row.rank;
    case kStage:
      return row.stage;
    case kOp:
      return bar_sentence(rows->program(), row.rank_index, bar);
    case kPredictedBegin:
      return number(ours, begin(ours));
    case kPredictedDuration:
      return number(ours, length(ours));
    case kObservedBegin:
      return number(theirs, begin(theirs));
    case kObservedDuration:
      return number(theirs, length(theirs));
    case kSpread: {
      if (!theirs || !observed_) return {};
      const RankTimeline& rank =
          observed_->timeline->ranks[static_cast<std::size_t>(row.rank_index)];
      Nanoseconds spread{0};
      for (auto op = static_cast<std::size_t>(theirs->first_op);
           op <= static_cast<std::size_t>(theirs->last_op) && op < rank.longest.size(); ++op)
        if (rows->program().ranks[static_cast<std::size_t>(row.rank_index)].ops[op].lane ==
            bar.lane)
          spread += rank.longest[op] - rank.shortest[op];
      return number(!rank.longest.empty(), milliseconds(spread));
    }
    case kBytes: {
      const std::int64_t bytes = sent_bytes_of(rows->program(), row.rank_index, bar);
      if (bar.kind == OpKind::kCompute) return {};
      if (hides_.bytes) return kHidden;
      return role == kSortRole ? QVariant(static_cast<qlonglong>(bytes))
                               : QVariant(count_text(bytes));
    }
    default:
      return {};
  }
}

QVariant OpModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString predicted =
      predicted_ ? prediction_source_text(predicted_->prediction->word) : tr("predicted");
  const QString observed = observed_ ? source_text(observed_->timeline->source) : tr("not run yet");
  switch (section) {
    case kRank:
      return tr("Rank");
    case kStage:
      return tr("Stage");
    case kOp:
      return tr("Op");
    case kPredictedBegin:
      return tr("Begin, ms\n%1").arg(predicted);
    case kPredictedDuration:
      return tr("Duration, ms\n%1").arg(predicted);
    case kObservedBegin:
      return tr("Begin, ms\n%1").arg(observed);
    case kObservedDuration:
      return tr("Duration, ms\n%1").arg(observed);
    case kSpread:
      return tr("Spread, ms\n%1").arg(observed);
    case kBytes:
      return tr("Sent, bytes\nby plan");
    default:
      return {};
  }
}

OpTable::OpTable(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new OpModel(this)),
      sorted_(new QSortFilterProxyModel(this)),
      table_(new QTableView(this)) {
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(OpModel::kSortRole);
  table_->setModel(sorted_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(OpModel::kPredictedBegin, Qt::AscendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(24);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table_->horizontalHeader()->setSectionResizeMode(OpModel::kOp, QHeaderView::Stretch);
  table_->horizontalHeader()->setMinimumSectionSize(44);
  table_->setAccessibleName(tr("Table of ops"));
  auto* copy = new QAction(tr("&Copy the table or its selected rows"), this);
  copy->setObjectName(QStringLiteral("table-copy"));
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(copy, &QAction::triggered, this,
          [this] { QGuiApplication::clipboard()->setText(as_text()); });
  table_->addAction(copy);
  table_->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 0, 16, 8);
  column->addWidget(table_);
  setFocusProxy(table_);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            const OpRef op = model_->op_of(sorted_->mapToSource(current).row());
            if (op.rank >= 0)
              session_.subject().select(op, session_.subject().selected_in_run(), model_->zoom());
          });
  connect(&session_.subject(), &Subject::selection_changed, this, [this] {
    if (!isVisible()) return;
    const int row = model_->row_of(session_.subject().selected());
    if (row < 0 || sorted_->mapToSource(table_->currentIndex()).row() == row) return;
    table_->setCurrentIndex(sorted_->mapFromSource(model_->index(row, 0)));
  });
}

void OpTable::show_rows(std::shared_ptr<const LaneRows> predicted,
                        std::shared_ptr<const LaneRows> observed, Zoom zoom,
                        const HiddenOfOps& hides) {
  model_->show(std::move(predicted), std::move(observed), zoom, hides);
  // As wide as numbers and source words need; the rest is for the sentence.
  const int least[OpModel::kColumns] = {46, 50, 0, 76, 76, 76, 76, 76, 76};
  const QFontMetrics metrics(table_->horizontalHeader()->font());
  for (int column = 0; column < OpModel::kColumns; ++column) {
    if (column == OpModel::kOp) continue;
    const QString head = model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    int words = 0;
    for (const QString& line : head.split(QLatin1Char('\n')))
      words = std::max(words, metrics.horizontalAdvance(line) + 22);
    table_->setColumnWidth(column, std::max(least[column], words));
  }
}

QList<QAction*> OpTable::key_actions() const { return table_->actions(); }

QString OpTable::as_text() const {
  std::vector<int> rows;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows())
    rows.push_back(index.row());
  std::sort(rows.begin(), rows.end());
  if (rows.empty())
    for (int row = 0; row < sorted_->rowCount(); ++row) rows.push_back(row);
  QStringList text;
  QStringList head;
  for (int column = 0; column < OpModel::kColumns; ++column)
    head << model_->headerData(column, Qt::Horizontal, Qt::DisplayRole)
                .toString()
                .replace(QLatin1Char('\n'), QStringLiteral(", "));
  text << head.join(QLatin1Char('\t'));
  for (const int row : rows) {
    QStringList cells;
    for (int column = 0; column < OpModel::kColumns; ++column)
      cells << sorted_->index(row, column).data().toString();
    text << cells.join(QLatin1Char('\t'));
  }
  return text.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace parallelarium
