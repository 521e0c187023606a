// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/recipe_reader.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/views/search/search_words.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

namespace {

constexpr int kReaderWidth = 720, kReaderHeight = 560, kNotesHeight = 118;
constexpr qint64 kMostRecipeBytes = 1 << 20;

}  // namespace

RecipeReader::RecipeReader(Setup base, const QString& use, QWidget* parent)
    : Sheet(parent), base_(std::move(base)) {
  setWindowTitle(tr("Read a launch line"));
  resize(kReaderWidth, kReaderHeight);
  auto* column = new QVBoxLayout(this);
  auto* head = new QHBoxLayout;
  framework_ = make_framework_box(this);
  framework_->insertItem(0, tr("the one whose settings it names"), QString());
  framework_->setCurrentIndex(0);
  head->addWidget(make_label(tr("Framework"), framework_));
  head->addWidget(framework_);
  head->addStretch();
  auto* open = new QPushButton(tr("&Open a file …"), this);
  head->addWidget(open);
  column->addLayout(head);
  text_ = make_recipe_field(this);
  text_->setAccessibleName(tr("Text of the launch line or configuration"));
  text_->setPlaceholderText(
      tr("Paste here what starts your training: a launch line of Megatron-LM, or the "
         "configuration of another framework."));
  column->addWidget(text_, 1);
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
  use_ = buttons->addButton(use, QDialogButtonBox::AcceptRole);
  use_->setProperty("primary", true);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(framework_, &QComboBox::currentIndexChanged, this, &RecipeReader::read);
  connect(text_, &QPlainTextEdit::textChanged, this, &RecipeReader::read);
  connect(open, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getOpenFileName(this, windowTitle());
    if (!path.isEmpty()) open_file(path);
  });
  read();
  text_->setFocus();
}

void RecipeReader::set_text(const QString& text) { text_->setPlainText(text); }

void RecipeReader::open_file(const QString& path) {
  QFile file(path);
  if (file.open(QIODevice::ReadOnly) && file.size() <= kMostRecipeBytes)
    return set_text(QString::fromUtf8(file.readAll()));
  read_.reset();
  use_->setEnabled(false);
  set_style_property(found_, "role", "warning");
  found_->setText(file.isOpen() ? tr("%1 is too large to be a launch line.").arg(path)
                                : tr("%1 cannot be opened: %2.").arg(path, file.errorString()));
}

void RecipeReader::read() {
  read_.reset();
  notes_->clear();
  const std::string text = text_->toPlainText().toStdString();
  std::string name = framework_->currentData().toString().toStdString();
  const bool empty = text_->toPlainText().trimmed().isEmpty();
  if (name.empty()) name = framework_of_text(text);
  QString found;
  bool wrong = false;
  if (empty) {
    found = tr("Nothing is read yet.");
  } else if (name.empty()) {
    wrong = true;
    found = tr("The text names no setting of a framework that is known here.");
  } else if (Result<FrameworkSetup> result = read_from_framework(name, text, base_); !result) {
    wrong = true;
    found = sentence(result.error());
  } else {
    QString title;
    for (const FrameworkInfo& info : framework_infos())
      if (info.name == name) title = QString::fromStdString(info.title);
    const Setup& setup = result->setup;
    found = tr("%1: %2 on %3 GPUs, %4; %5 sequences of %6 tokens a step.")
                .arg(title, sentence(title_of(setup.model)), count_text(setup.mesh.ranks()),
                     axes_text(setup), count_text(setup.global_batch()),
                     count_text(setup.model.sequence));
    notes_->setText(sentences_text(result->not_understood));
    read_ = std::move(result->setup);
  }
  set_style_property(found_, "role", wrong ? "warning" : "");
  found_->setText(found);
  use_->setEnabled(read_.has_value());
}

}  // namespace parallelarium
