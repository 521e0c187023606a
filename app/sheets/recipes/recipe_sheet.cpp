// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/recipe_sheet.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollArea>
#include <QTextOption>
#include <QVBoxLayout>

#include "app/look/figures.h"
#include "app/look/saved_files.h"
#include "app/look/sentence.h"
#include "app/look/theme/theme.h"
#include "app/settings/controls.h"
#include "engine/plan/placement/machine_choice.h"
#include "engine/predict/predict.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

namespace {

constexpr int kSheetWidth = 760, kSheetHeight = 560, kUnsaidHeight = 132;

// "megatron.sh", as the framework, or the shell, takes the text.
QString file_name(const QString& framework) {
  for (const FrameworkInfo& info : framework_infos())
    if (framework == QString::fromStdString(info.name))
      return framework + QString::fromStdString(info.ending);
  return framework;
}

}  // namespace

QVBoxLayout* add_framed_column(QDialog& dialog) {
  constexpr int kHeading = 15;
  auto* outer = new QVBoxLayout(&dialog);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* frame = new QFrame(&dialog);
  frame->setFrameShape(QFrame::Box);
  frame->setFrameShadow(QFrame::Plain);
  outer->addWidget(frame);
  auto* column = new QVBoxLayout(frame);
  auto* heading = new QLabel(dialog.windowTitle(), frame);
  heading->setFont(theme_for(dialog.palette()).font(kHeading, true));
  QObject::connect(&dialog, &QWidget::windowTitleChanged, heading, &QLabel::setText);
  column->addWidget(heading);
  return column;
}

QComboBox* make_framework_box(QWidget* parent) {
  auto* box = new QComboBox(parent);
  for (const FrameworkInfo& info : framework_infos())
    box->addItem(QString::fromStdString(info.title), QString::fromStdString(info.name));
  return box;
}

QPlainTextEdit* make_recipe_field(QWidget* parent) {
  auto* field = new QPlainTextEdit(parent);
  field->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  field->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  field->setTabChangesFocus(true);
  return field;
}

QString sentences_text(const std::vector<Message>& sentences) {
  QStringList lines;
  for (const Message& each : sentences) lines << QStringLiteral("• ") + sentence(each);
  return lines.join(QLatin1Char('\n'));
}

RecipeSheet::RecipeSheet(Setup setup, const QString& whose, QWidget* parent,
                         const QString& framework)
    : Sheet(parent), setup_(std::move(setup)) {
  setWindowTitle(tr("Launch line"));
  resize(kSheetWidth, kSheetHeight);
  QVBoxLayout* column = add_framed_column(*this);
  add_whose(column, whose);
  auto* head = new QHBoxLayout;
  framework_ = make_framework_box(this);
  if (const int at = framework_->findData(framework); at >= 0) framework_->setCurrentIndex(at);
  head->addWidget(make_label(tr("Framework"), framework_));
  head->addWidget(framework_);
  version_ = new QLabel(this);
  version_->setProperty("role", "muted");
  head->addWidget(version_, 1);
  column->addLayout(head);
  text_ = make_recipe_field(this);
  text_->setReadOnly(true);
  text_->setAccessibleName(tr("Launch line"));
  column->addWidget(text_, 1);
  auto* title = new QLabel(tr("What the text leaves out and adds").toUpper(), this);
  make_caps(title);
  column->addWidget(title);
  unsaid_ = new QLabel;
  unsaid_->setTextFormat(Qt::PlainText);
  unsaid_->setWordWrap(true);
  unsaid_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  unsaid_->setAlignment(Qt::AlignTop);
  auto* area = new QScrollArea(this);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setWidget(unsaid_);
  area->setFixedHeight(kUnsaidHeight);
  area->setAccessibleName(tr("What the text leaves out and adds"));
  column->addWidget(area);
  saved_ = new QLabel(this);
  saved_->setWordWrap(true);
  saved_->hide();
  column->addWidget(saved_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  copy_ = buttons->addButton(tr("&Copy"), QDialogButtonBox::ActionRole);
  save_ = buttons->addButton(tr("&Save as …"), QDialogButtonBox::ActionRole);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(framework_, &QComboBox::currentIndexChanged, this, &RecipeSheet::show_recipe);
  connect(copy_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(text_->toPlainText());
    copy_->setText(tr("Copied"));
  });
  connect(save_, &QPushButton::clicked, this, [this] {
    const QString name = file_name(framework_->currentData().toString());
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the launch line"), in_documents(name));
    if (!path.isEmpty()) save_to(path);
  });
  show_recipe();
  framework_->setFocus();
}

void RecipeSheet::show_recipe() {
  const std::string name = framework_->currentData().toString().toStdString();
  for (const FrameworkInfo& info : framework_infos())
    if (info.name == name)
      version_->setText(tr("as %1 reads it, commit %2 of %3")
                            .arg(QString::fromStdString(info.repository),
                                 QString::fromStdString(info.commit),
                                 QString::fromStdString(info.date)));
  const Result<FrameworkText> written = write_for_framework(name, setup_);
  copy_->setText(tr("&Copy"));
  copy_->setEnabled(written.ok());
  save_->setEnabled(written.ok());
  text_->setPlainText(written ? QString::fromStdString(written->text) : QString());
  saved_->hide();
  if (!written) return unsaid_->setText(sentence(written.error()));
  const QString own = own_values(name, *written);
  QStringList said{!written->not_expressible.empty()
                       ? time_as_written(name, *written) + sentences_text(written->not_expressible)
                   : own.isEmpty() ? tr("Nothing: it says every setting.")
                                   : tr("It leaves out nothing.")};
  if (const auto needs = framework_needs(name, setup_)) said << sentence(*needs);
  if (!own.isEmpty()) said << own;
  if (written->not_counted) said << sentence(*written->not_counted);
  unsaid_->setText(said.join(QStringLiteral("\n\n")));
}

// What the text says though nobody chose it; empty: nothing. It says what is read from it onto a
// Setup that has other values.
QString RecipeSheet::own_values(const std::string& framework, const FrameworkText& written) const {
  const Setup own = new_setup();
  Setup other = setup_;
  other.learning_rate = own.learning_rate * 2;
  other.clip = own.clip + 1;
  other.run.seed = own.run.seed + 1;
  const Result<FrameworkSetup> read = read_from_framework(framework, written.text, other);
  if (!read) return {};
  const Setup& said = read->setup;
  QStringList added;
  if (said.learning_rate == own.learning_rate)
    added << tr("learning rate %1").arg(number_text(own.learning_rate));
  if (said.clip == own.clip)
    added << (own.clip > 0 ? tr("gradient clip %1").arg(number_text(own.clip))
                           : tr("no gradient clip"));
  if (said.run.seed == own.run.seed) added << tr("seed %1").arg(QString::number(own.run.seed));
  if (added.isEmpty()) return {};
  return tr("Added: %1. This program begins with that, and it is no advice: put in your own, as "
            "well as your data and tokenizer.")
      .arg(added.join(QStringLiteral(", ")));
}

// A text that cannot say all is another setup: what that one takes. Empty where the text says none
// that can be predicted, or where it is of this computer.
QString RecipeSheet::time_as_written(const std::string& framework,
                                     const FrameworkText& written) const {
  const Result<FrameworkSetup> read = read_from_framework(framework, written.text, setup_);
  const Result<Machine> machine = machine_of(setup_.machine);
  if (!read || !machine || machine->local) return {};
  const BuildOptions folded{.stage_level = true};
  const Result<Prediction> said = predict(read->setup, *machine, folded),
                           meant = predict(setup_, *machine, folded);
  if (!said || !meant) return {};
  const QString as_read = seconds_text(said->step.seconds);
  const QString as_meant = seconds_text(meant->step.seconds);
  QString time;
  if (as_read == as_meant)
    time = (needs_script(written)
                ? tr("A step takes %1 only where the training script sets what is listed here.")
                : tr("As it is written, the line makes a step of %1, as do the settings that it "
                     "was written for."))
               .arg(as_read);
  else
    time =
        (needs_script(written)
             ? tr("A step takes %1 only where the training script sets what it can of this; with "
                  "these settings it takes %2.")
             : tr("As it is written, the line makes a step of %1. The settings that it was written "
                  "for, of which it cannot say what is listed here, make one of %2."))
            .arg(as_read, as_meant);
  return time + QStringLiteral("\n\n");
}

void RecipeSheet::save_to(const QString& path) {
  const QByteArray text = text_->toPlainText().toUtf8();
  QSaveFile file(path);
  const bool written =
      file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
  saved_->setText(written ? tr("Wrote %1.").arg(path)
                          : tr("%1 cannot be written: %2.").arg(path, file.errorString()));
  saved_->show();
}

}  // namespace parallelarium
