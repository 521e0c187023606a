// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/export_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/state/topic.h"

namespace parallelarium {

ExportDialog::ExportDialog(bool dark, bool zoomed, ExportKind kind, const View& view,
                           const QString& whose, QWidget* parent)
    : Sheet(parent) {
  setWindowTitle(tr("Export"));
  auto* column = new QVBoxLayout(this);
  QLabel* of = add_whose(column, whose);
  auto* form = new QFormLayout;
  column->addLayout(form);
  format_ = new QComboBox(this);
  const Topic& topic = view.topic();
  const std::optional<ViewTable> table = view.table();
  const std::pair<ExportKind, QString> formats[] = {
      {ExportKind::kPng, tr("Picture: PNG, can be opened again here")},
      {ExportKind::kSvg, tr("Picture: SVG")},
      {ExportKind::kPdf, tr("Picture: PDF")},
      {ExportKind::kTrace, topic.trace_title()},
      {ExportKind::kCsv, table ? table->title : topic.table_title()}};
  for (const auto& [value, text] : formats) format_->addItem(text, int(value));
  format_->setCurrentIndex(format_->findData(int(kind)));
  form->addRow(tr("&Format"), format_);
  scale_ = new QComboBox(this);
  for (const int factor : {1, 2, 4}) scale_->addItem(tr("%1×").arg(factor), factor);
  scale_->setCurrentIndex(1);
  form->addRow(tr("Sca&le"), scale_);
  colours_ = new QComboBox(this);
  colours_->addItem(tr("light"), false);
  colours_->addItem(tr("dark"), true);
  colours_->setCurrentIndex(dark ? 1 : 0);
  form->addRow(tr("&Colours"), colours_);
  range_ = new QCheckBox(tr("Only the &visible time"), this);
  range_->setEnabled(zoomed);
  form->addRow(QString(), range_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
  buttons->button(QDialogButtonBox::Save)->setText(tr("&Save …"));
  buttons->button(QDialogButtonBox::Save)->setProperty("primary", true);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  const auto fit = [this, zoomed, of, of_all = table && table->of_all_plans] {
    const ExportOptions chosen = options();
    if (of) of->setVisible(!of_all || chosen.kind != ExportKind::kCsv);
    scale_->setEnabled(chosen.kind == ExportKind::kPng);
    colours_->setEnabled(!chosen.figures());
    range_->setEnabled(!chosen.figures() && zoomed);
  };
  connect(format_, &QComboBox::currentIndexChanged, this, fit);
  fit();
}

ExportOptions ExportDialog::options() const {
  ExportOptions options;
  options.kind = ExportKind(format_->currentData().toInt());
  options.scale = scale_->currentData().toInt();
  options.dark = colours_->currentData().toBool();
  options.whole_step = !(range_->isEnabled() && range_->isChecked());
  return options;
}

QString ExportDialog::ending_of(ExportKind kind) {
  switch (kind) {
    case ExportKind::kPng:
      return QStringLiteral(".png");
    case ExportKind::kSvg:
      return QStringLiteral(".svg");
    case ExportKind::kPdf:
      return QStringLiteral(".pdf");
    case ExportKind::kTrace:
      return QStringLiteral(".json");
    case ExportKind::kCsv:
      return QStringLiteral(".csv");
  }
  return {};
}

}  // namespace parallelarium
