// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/techniques_sheet.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>

#include "app/look/busy_note.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"

namespace parallelarium {

TechniquesSheet::TechniquesSheet(Setup asked, Machine machine, QWidget* parent)
    : Sheet(parent), asked_(std::move(asked)), machine_(std::move(machine)) {
  setWindowTitle(tr("Each technique alone"));
  const QSize wanted(880, 400);
  resize(parent ? wanted.boundedTo(parent->window()->size() - QSize(32, 48)) : wanted);
  auto* column = new QVBoxLayout(this);
  auto* top = new QHBoxLayout;
  auto* name = new QLabel(tr("&Devices"), this);
  devices_ = new QSpinBox(this);
  devices_->setRange(2, 1024);
  devices_->setKeyboardTracking(false);
  devices_->setFixedWidth(96);
  const int ranks = asked_.mesh.ranks();
  devices_->setValue(ranks > 1 ? ranks : std::max(2, machine_.devices_per_node));
  name->setBuddy(devices_);
  whose_ = new QLabel(this);
  whose_->setProperty("role", "muted");
  whose_->setWordWrap(true);
  top->addWidget(name);
  top->addWidget(devices_);
  top->addSpacing(8);
  top->addWidget(whose_, 1);
  column->addLayout(top);
  build_table();
  column->addWidget(table_, 1);
  details_ = new QLabel(this);
  details_->setWordWrap(true);
  details_->setMinimumHeight(2 * details_->fontMetrics().lineSpacing() + 4);
  details_->setAlignment(Qt::AlignTop);
  column->addWidget(details_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  open_ = buttons->addButton(tr("&Open as a setup"), QDialogButtonBox::ActionRole);
  column->addWidget(buttons);
  const auto open = [this] {
    const Technique* row = chosen();
    if (row && row->figures) Q_EMIT setup_chosen(row->setup);
  };
  connect(open_, &QPushButton::clicked, this, open);
  connect(table_, &QTableWidget::itemActivated, this, open);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(devices_, &QSpinBox::valueChanged, this, &TechniquesSheet::predict_all);
  connect(table_, &QTableWidget::currentCellChanged, this, &TechniquesSheet::show_chosen);
  predict_all();
}

void TechniquesSheet::build_table() {
  const QStringList titles = {tr("alone"),   tr("memory"), tr("sent a step"), tr("step"),
                              tr("exposed"), tr("bubble"), tr("efficiency")};
  const QStringList meanings = {
      QString(),
      tr("of the fullest device"),
      tr("by the rank that sends most"),
      tr("predicted"),
      tr("communication that no computing hides, on the busiest rank"),
      tr("of a pipeline: idle time over idle plus busy time of all ranks"),
      tr("what each of these devices does, as share of what one with room for all would do")};
  table_ = new QTableWidget(0, int(titles.size()), this);
  table_->setAccessibleName(windowTitle());
  table_->setHorizontalHeaderLabels(titles);
  for (int at = 0; at < titles.size(); ++at) {
    table_->horizontalHeaderItem(at)->setToolTip(meanings[at]);
    table_->horizontalHeaderItem(at)->setTextAlignment((at == 0 ? Qt::AlignLeft : Qt::AlignRight) |
                                                       Qt::AlignVCenter);
  }
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(26);
  QHeaderView* header = table_->horizontalHeader();
  header->setSectionResizeMode(QHeaderView::Stretch);
  header->setSectionResizeMode(0, QHeaderView::ResizeToContents);
}

void TechniquesSheet::predict_all() {
  const auto found = [this] {
    const BusyNote busy(this, tr("Predicting each technique alone …"));
    return techniques_of(asked_, machine_, devices_->value());
  }();
  techniques_ = found ? std::optional(*found) : std::nullopt;
  const int row = std::max(0, table_->currentRow());
  table_->clearContents();
  table_->setRowCount(found ? int(found->rows.size()) : 0);
  if (!found) {
    whose_->setText(sentence(found.error()));
    return show_chosen();
  }
  for (int at = 0; at < table_->rowCount(); ++at) fill_row(at, found->rows[std::size_t(at)]);
  whose_->setText(
      tr("%1 on %2, %n sequences a step, predicted. One device with room for all would take %3.",
         nullptr, int(found->global_batch))
          .arg(sentence(title_of(asked_.model)), sentence(title_of(machine_)),
               seconds_text(found->one_seconds)));
  table_->setCurrentCell(row, 0);
  show_chosen();
}

void TechniquesSheet::fill_row(int at, const Technique& row) {
  const auto put = [&](int column, const QString& text) {
    auto* item = new QTableWidgetItem(text);
    if (column > 0) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    table_->setItem(at, column, item);
  };
  put(0, sentence(row.title));
  if (!row.figures) {
    for (int column = 1; column < table_->columnCount(); ++column) put(column, QStringLiteral("–"));
    return;
  }
  const TechniqueFigures& of = *row.figures;
  const QString memory = bytes_text(of.memory_bytes);
  put(1, of.fits ? memory : tr("%1, too much").arg(memory));
  put(2, bytes_text(of.sent_bytes));
  put(3, seconds_text(of.seconds));
  put(4, seconds_text(of.exposed_seconds));
  put(5, row.setup.mesh.pp > 1 ? share_text(of.bubble) : QStringLiteral("–"));  // others wait
  put(6, share_text(of.efficiency));
}

const Technique* TechniquesSheet::chosen() const {
  const int row = table_->currentRow();
  return techniques_ && row >= 0 && row < int(techniques_->rows.size())
             ? &techniques_->rows[std::size_t(row)]
             : nullptr;
}

void TechniquesSheet::show_chosen() {
  const Technique* row = chosen();
  open_->setEnabled(row && row->figures);
  details_->setText(!row ? QString()
                    : row->figures
                        ? sentence(row->cut)
                        : sentence(row->cut) + QLatin1Char(' ') + sentence(*row->refused));
}

}  // namespace parallelarium
