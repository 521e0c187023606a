// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/paste_sheet.h"

#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/settings/controls.h"
#include "app/sheets/recipes/recipe_sheet.h"

namespace parallelarium {

namespace {

constexpr int kPasteWidth = 720, kPasteHeight = 560, kNotesHeight = 118;
constexpr qint64 kMostPastedBytes = 1 << 20;

}  // namespace

PasteSheet::PasteSheet(const Words& words, QWidget* parent) : Sheet(parent) {
  setWindowTitle(words.title);
  resize(kPasteWidth, kPasteHeight);
  QVBoxLayout* column = add_framed_column(*this);
  auto* line = new QHBoxLayout;
  head_ = new QHBoxLayout;
  line->addLayout(head_);
  line->addStretch();
  auto* open = new QPushButton(tr("&Open a file …"), this);
  line->addWidget(open);
  column->addLayout(line);
  text_ = make_recipe_field(this);
  text_->setAccessibleName(words.field);
  text_->setPlaceholderText(words.placeholder);
  column->addWidget(text_, 1);
  under_ = new QVBoxLayout;
  column->addLayout(under_);
  found_ = new QLabel(this);
  found_->setTextFormat(Qt::PlainText);
  found_->setWordWrap(true);
  column->addWidget(found_);
  notes_ = new QLabel;
  notes_->setTextFormat(Qt::PlainText);
  notes_->setWordWrap(true);
  notes_->setAlignment(Qt::AlignTop);
  notes_->setProperty("role", "muted");
  auto* area = new QScrollArea(this);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setWidget(notes_);
  area->setFixedHeight(kNotesHeight);
  area->setAccessibleName(tr("What was not understood"));
  column->addWidget(area);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  use_ = buttons->addButton(words.use, QDialogButtonBox::AcceptRole);
  set_style_property(use_, "primary", true);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(text_, &QPlainTextEdit::textChanged, this, &PasteSheet::read_again);
  connect(open, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getOpenFileName(this, windowTitle());
    if (!path.isEmpty()) open_file(path);
  });
  show_reading({tr("Nothing is read yet."), {}, false, false});
  text_->setFocus();
}

void PasteSheet::set_text(const QString& text) { text_->setPlainText(text); }
QString PasteSheet::text() const { return text_->toPlainText(); }

void PasteSheet::open_file(const QString& path) {
  QFile file(path);
  if (file.open(QIODevice::ReadOnly) && file.size() <= kMostPastedBytes)
    return set_text(QString::fromUtf8(file.readAll()));
  show_reading({file.isOpen() ? tr("%1 is too large to be read here.").arg(path)
                              : tr("%1 cannot be opened: %2.").arg(path, file.errorString()),
                {},
                false,
                true});
}

void PasteSheet::read_again() {
  const QString text = text_->toPlainText();
  if (!text.trimmed().isEmpty()) return show_reading(read(text.toStdString()));
  nothing_read();
  show_reading({tr("Nothing is read yet."), {}, false, false});
}

void PasteSheet::show_reading(const Reading& reading) {
  set_style_property(found_, "role", reading.wrong ? "warning" : "");
  found_->setText(reading.found);
  notes_->setText(reading.notes);
  use_->setEnabled(reading.usable);
}

}  // namespace parallelarium
