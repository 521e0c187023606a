// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/teaching/class_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/lesson/player/lesson_player.h"
#include "app/lesson/teaching/handout.h"
#include "app/look/saved_files.h"
#include "app/look/sentence.h"
#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/teaching/grading/class_seed.h"

namespace parallelarium {

ClassDialog::ClassDialog(LessonProgress& progress, QWidget* parent)
    : Sheet(parent), progress_(progress) {
  setWindowTitle(tr("Class"));
  auto* column = new QVBoxLayout(this);
  auto* words = new QLabel(
      tr("In a class the numbers of each lesson follow from the code that your teacher gives out "
         "and from your name. Lessons that are under way keep their numbers."));
  words->setWordWrap(true);
  words->setMinimumWidth(360);
  column->addWidget(words);
  auto* form = new QFormLayout;
  code_ = new QLineEdit;
  name_ = new QLineEdit;
  code_->setAccessibleName(tr("Class code"));
  name_->setAccessibleName(tr("Your name"));
  form->addRow(tr("Class code"), code_);
  form->addRow(tr("Your name"), name_);
  column->addLayout(form);
  exam_ = new QCheckBox(tr("This is an exam"));
  column->addWidget(exam_);
  auto* about = new QLabel(
      tr("In an exam hints, answers and the room Plan are off, each question is answered once, and "
         "the numbers are other ones. A code with the word exam, such as exam-7, is always one."));
  about->setWordWrap(true);
  about->setProperty("role", "muted");
  column->addWidget(about);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  auto* join = buttons->addButton(tr("Join"), QDialogButtonBox::AcceptRole);
  auto* leave = buttons->addButton(tr("Leave the class"), QDialogButtonBox::DestructiveRole);
  join->setDefault(true);
  if (const auto& place = progress.place()) {
    code_->setText(QString::fromStdString(place->code));
    name_->setText(QString::fromStdString(place->name));
    exam_->setChecked(place->is_exam());
    join->setText(tr("Save"));
  } else {
    leave->hide();
  }
  const auto check = [this, join] {
    const bool says = says_exam(code_->text().toStdString());
    exam_->setEnabled(!says);
    if (says) exam_->setChecked(true);
    join->setEnabled(!code_->text().trimmed().isEmpty() && !name_->text().trimmed().isEmpty());
  };
  check();
  connect(code_, &QLineEdit::textChanged, this, check);
  connect(name_, &QLineEdit::textChanged, this, check);
  connect(buttons, &QDialogButtonBox::accepted, this, &ClassDialog::join);
  connect(leave, &QPushButton::clicked, this, &ClassDialog::leave);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
}

void ClassDialog::join() {
  const Result<void> kept =
      progress_.join(ClassPlace{code_->text().trimmed().toStdString(),
                                name_->text().trimmed().toStdString(), exam_->isChecked()});
  if (kept) return accept();
  QMessageBox::warning(this, windowTitle(), sentence(kept.error()));
}

void ClassDialog::leave() {
  const Result<void> kept = progress_.join(std::nullopt);
  if (kept) return accept();
  QMessageBox::warning(this, windowTitle(), sentence(kept.error()));
}

void ask_for_handout(const LessonPlayer& player, QWidget* parent) {
  const auto* finished = player.finished_lesson();
  if (!finished && !player.is_open()) return;
  const nlohmann::json answers = finished ? finished->answers : player.answers();
  const QString id = QString::fromStdString(answers["lesson"].get<std::string>());
  const Result<Lesson> lesson =
      read_lesson(finished ? finished->folder.toStdString() : player.lesson().folder);
  const QStringList kinds{ClassDialog::tr("Without the answers"),
                          ClassDialog::tr("With the answers")};
  bool chosen = false;
  const QString kind =
      QInputDialog::getItem(parent, ClassDialog::tr("Handout"),
                            ClassDialog::tr("The lesson on paper"), kinds, 0, false, &chosen);
  if (!chosen) return;
  const QString path = QFileDialog::getSaveFileName(
      parent, ClassDialog::tr("Handout"), in_documents(id + QStringLiteral(".pdf")),
      ClassDialog::tr("PDF files (*.pdf);;Web pages (*.html)"));
  if (path.isEmpty()) return;
  HandoutWish wish;
  wish.numbers = answers["seed"].get<std::uint64_t>();
  wish.answers = kind == kinds.back();
  const auto fail = [&](const Message& why) {
    QMessageBox::warning(parent, ClassDialog::tr("Handout"), sentence(why));
  };
  if (!lesson) return fail(lesson.error());
  Predictions predictions(player.computer());
  const Result<Handout> handout = Handout::of(*lesson, wish, predictions);
  if (!handout) return fail(handout.error());
  if (const Result<void> saved = handout->save(path); !saved) fail(saved.error());
}

}  // namespace parallelarium
