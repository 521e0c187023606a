// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/lesson_panel.h"

#include <QAccessible>
#include <QApplication>
#include <QButtonGroup>
#include <QFileDialog>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollArea>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/controls.h"
#include "app/figures.h"
#include "app/lesson/guess_text.h"
#include "app/lesson/lesson_index.h"
#include "app/lesson/markdown_view.h"
#include "app/lesson/option_card.h"

namespace parallelarium {

namespace {

constexpr int kCrumbBeside = 76;  // margins and the menu button
// How long a click is ignored, in ms, after the main button changed to Next or to another label.
constexpr int kVerdictTime = 1000, kLabelTime = 700;

// The words of a card: Markdown without its marks.
QString plain_text(const QString& markdown) {
  QTextDocument document;
  document.setMarkdown(markdown);
  return with_firm_units(document.toPlainText().trimmed());
}

}  // namespace

LessonPanel::LessonPanel(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), player_(session) {
  setObjectName(QStringLiteral("LessonPanel"));
  setAccessibleName(tr("Lesson"));
  build_head();
  build_body();
  build_buttons();
  connect(&player_, &LessonPlayer::changed, this, &LessonPanel::refresh);
  connect(&player_, &LessonPlayer::judged, this, &LessonPanel::announce);
  connect(&player_, &LessonPlayer::failed, this, &LessonPanel::say_failure);
  connect(&player_, &LessonPlayer::tab_wanted, this, &LessonPanel::tab_wanted);
  connect(&player_, &LessonPlayer::guess_changed, this, &LessonPanel::guess_changed);
  connect(&session_, &Session::run_state_changed, this, &LessonPanel::refresh_controls);
  refresh();
}

QString LessonPanel::first_to_do() const {
  const Result<Course> course = read_course(lessons_folder());
  if (!course || course->lessons.empty()) return {};
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(course->folder + "/" + entry.id);
    if (!lesson || player_.progress().done(lesson->id, lesson->version)) continue;
    return QString::fromStdString(entry.id);
  }
  return QString::fromStdString(course->lessons.front().id);
}

void LessonPanel::open_first() {
  if (const QString id = first_to_do(); !id.isEmpty()) open(id);
}

void LessonPanel::open(const QString& id) {
  const Result<void> opened =
      player_.open(QString::fromStdString(lessons_folder()) + QLatin1Char('/') + id);
  if (!opened) say_failure(QString::fromStdString(opened.error().text));
}

void LessonPanel::refresh() {
  if (!player_.is_open()) {
    shown_.clear();
    title_->setText(tr("Who computes what, when"));
    dots_->set_steps(0, 0);
    text_->set_markdown(
        tr("Each row of the picture is one **rank**, and each bar is one micro-batch passing "
           "forward "
           "or backward through that rank's layers. Hatched time is **idle**.\n\n"
           "This is the prediction for the settings shown. Press **Run** and real ranks "
           "train that way: what was observed appears below it.\n\n"
           "Turn any setting, or let a lesson lead you: **Lessons** above lists them all."),
        {});
    number_row_->hide();
    card_box_->hide();
    order_->hide();
    hints_->set_markdown({}, {});
    answer_->set_markdown({}, {});
    feedback_box_->hide();
    note_->hide();
  } else {
    const std::string now = player_.answers()["lesson"].get<std::string>() + "/" +
                            player_.answers()["seed"].dump() + "/" + player_.step().id;
    const bool step_is_new = now != shown_;
    const bool had_focus = isAncestorOf(QApplication::focusWidget());
    if (step_is_new) {
      shown_ = now;
      show_step();
    }
    refresh_feedback();
    write_crumb();
    refresh_controls();
    if (step_is_new && had_focus) focus_answer();
    if (step_is_new && player_.state().judgement) show_feedback();
    return;
  }
  write_crumb();
  refresh_controls();
}

void LessonPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  write_crumb();
}

// Enter on a chosen option commits it, as it does in the number's box.
void LessonPanel::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  const auto* card = qobject_cast<const OptionCard*>(focusWidget());
  if (enter && card && card->isChecked() && !player_.state().solved) return primary();
  QWidget::keyPressEvent(event);
}

void LessonPanel::write_crumb() {
  QString name = tr("Lessons"), place;
  if (player_.is_open()) {
    name = player_.lesson_title();
    place = tr(" · part %1 of %2").arg(player_.step_index() + 1).arg(player_.lesson().steps.size());
  }
  const QFontMetrics metrics = crumb_->fontMetrics();
  const int room = width() - kCrumbBeside - metrics.horizontalAdvance(place);
  crumb_->setText(metrics.elidedText(name, Qt::ElideRight, room) + place);
  crumb_->setToolTip(tr("All lessons") + QStringLiteral(" (") + name + place + QLatin1Char(')'));
  crumb_->setAccessibleName(name + place);
}

void LessonPanel::show_step() {
  const Lesson& lesson = player_.lesson();
  const Step& step = player_.step();
  const QString folder = QString::fromStdString(lesson.folder);
  const int index = static_cast<int>(player_.step_index());
  const int steps = static_cast<int>(lesson.steps.size());
  title_->setText(player_.title());
  dots_->set_steps(steps, index);
  text_->set_markdown(player_.body(), folder);
  note_->hide();

  const bool numeric = step.ask && !step.ask->answer.empty();
  number_row_->setVisible(numeric);
  number_->clear();
  if (numeric) {
    unit_->setText(unit_label(step.ask->unit));
    unit_->setVisible(!unit_->text().isEmpty());
    number_->setAccessibleName(tr("Your answer %1").arg(unit_->text()).trimmed());
    if (player_.state().answer.number)
      number_->setText(
          guess_text(*player_.state().answer.number, step.ask->unit).section(QChar(0x00a0), 0, 0));
  }
  for (QAbstractButton* card : group_->buttons()) {
    group_->removeButton(card);
    card->hide();
    card->deleteLater();
  }
  card_box_->setVisible(!numeric && !step.options.empty());
  if (!numeric)
    for (const Option& option : step.options) {
      const QString id = QString::fromStdString(option.id);
      auto* card = new OptionCard(id, plain_text(player_.option_text(option.id)));
      card->setChecked(player_.state().answer.option == option.id);
      group_->addButton(card);
      cards_->addWidget(card);
      card->show();
    }
  order_->setVisible(step.kind == StepKind::kBuild);
  if (step.kind == StepKind::kBuild) {
    const auto& lines =
        player_.state().answer.order.empty() ? step.order_start : player_.state().answer.order;
    QStringList text;
    for (const std::string& line : lines) text << QString::fromStdString(line);
    order_->setPlainText(text.join(QLatin1Char('\n')));
  }
  scroll_->ensureVisible(0, 0);
}

void LessonPanel::focus_answer() {
  if (!player_.is_open()) return;
  QWidget* first = primary_;
  if (!player_.state().solved) {
    if (!number_row_->isHidden()) first = number_;
    if (!card_box_->isHidden() && !group_->buttons().isEmpty()) first = group_->buttons().front();
    if (!order_->isHidden()) first = order_;
  }
  first->setFocus(Qt::TabFocusReason);
}

void LessonPanel::refresh_feedback() {
  const LessonPlayer::StepState& state = player_.state();
  const QString folder = QString::fromStdString(player_.lesson().folder);
  QString hints;
  for (int hint = 1; hint <= state.hints; ++hint)
    hints += tr("**Hint %1.** %2").arg(hint).arg(player_.hint(hint)) + QStringLiteral("\n\n");
  hints_->set_markdown(hints, folder);
  const QString feedback = player_.feedback();
  feedback_box_->setVisible(!feedback.isEmpty());
  continue_->setVisible(player_.may_continue());
  feedback_->set_markdown(feedback, folder);
  if (state.judgement) {
    const Verdict verdict = state.judgement->verdict;
    verdict_->setText(verdict == Verdict::kRight   ? player_.step().kind == StepKind::kRun
                                                         ? tr("✓ The run is as predicted")
                                                         : tr("✓ Right")
                        : state.unmet ? tr("Check not met")
                      : verdict == Verdict::kAgain ? tr("Try again")
                                                   : tr("Not quite"));
    set_style_property(verdict_, "role", verdict == Verdict::kRight ? "good" : "warning");
  }
  if (!state.solved) show_answer_->setChecked(false);
  const bool shown = state.solved && show_answer_->isChecked();
  answer_->set_markdown(shown ? player_.model_answer() : QString(), folder);
}

Answer LessonPanel::typed() const {
  Answer answer;
  if (!player_.is_open()) return answer;
  const Step& step = player_.step();
  if (step.ask && !step.ask->answer.empty())
    answer.number = read_guess(number_->text(), step.ask->unit);
  if (const auto* card = static_cast<const OptionCard*>(group_->checkedButton()))
    answer.option = card->id().toStdString();
  if (step.kind == StepKind::kBuild)
    for (const QString& line : order_->toPlainText().split(QLatin1Char('\n')))
      if (!line.trimmed().isEmpty()) answer.order.push_back(line.trimmed().toStdString());
  return answer;
}

bool LessonPanel::can_commit() const {
  const Step& step = player_.step();
  if (step.kind != StepKind::kPredict && step.kind != StepKind::kExplain) return true;
  const Answer answer = typed();
  return step.ask && !step.ask->answer.empty() ? answer.number.has_value() : !answer.option.empty();
}

QString LessonPanel::answer_note() const {
  const Step& step = player_.step();
  const QString text = number_->text().trimmed();
  if (!number_row_->isHidden() && !text.isEmpty() && !can_commit())
    return tr("“%1” is not a number: type one, such as %2.")
        .arg(text, step.ask->unit == "share" ? guess_text(0.125, "share") : QStringLiteral("4"));
  if (step.kind != StepKind::kPredict) return {};
  return step.hints > 0 ? tr("You commit a prediction once; hints come before that.")
                        : tr("You commit a prediction once.");
}

void LessonPanel::refresh_controls() {
  const bool open = player_.is_open();
  menu_->setVisible(open);
  back_->setVisible(open);
  hint_->setVisible(open && player_.step().hints > 0 && !player_.state().solved);
  show_answer_->setVisible(open && player_.state().solved && !player_.model_answer().isEmpty());
  if (!open) {
    primary_->setText(tr("Start the lesson"));
    primary_->setEnabled(!first_to_do().isEmpty());
    return;
  }
  const StepKind kind = player_.step().kind;
  const bool solved = player_.state().solved;
  const bool once = kind == StepKind::kPredict && solved;
  back_->setEnabled(player_.step_index() > 0);
  hint_->setEnabled(player_.state().hints < player_.step().hints);
  hint_->setText(player_.state().hints == 0 ? tr("Hint") : tr("Next hint"));
  number_->setReadOnly(once);
  const QString label = primary_->text();
  for (QAbstractButton* card : group_->buttons()) card->setEnabled(!once);
  order_->setReadOnly(solved);
  const bool running = session_.run_state() != RunState::kIdle;
  const QString refusal = session_.run_refusal();
  primary_->setEnabled(true);
  if (solved) {
    primary_->setText(player_.at_end() ? tr("Finish") : tr("Next"));
  } else if (kind == StepKind::kRun) {
    primary_->setText(running ? tr("Cancel") : tr("▶ Run"));
    primary_->setEnabled(running || refusal.isEmpty());
    note_->setText(running             ? session_.run_progress_text()
                   : refusal.isEmpty() ? session_.last_error()
                                       : refusal);
    note_->setVisible(!note_->text().isEmpty());
  } else if (kind == StepKind::kGoal || kind == StepKind::kBuild) {
    primary_->setText(tr("Check"));
  } else {
    primary_->setText(tr("Commit"));
    primary_->setEnabled(can_commit());
    note_->setText(answer_note());
    note_->setVisible(!note_->text().isEmpty());
    primary_->setToolTip(note_->text());
  }
  if (solved) note_->hide();
  if (solved || (kind != StepKind::kPredict && kind != StepKind::kExplain))
    primary_->setToolTip({});
  if (primary_->text() == label) return;
  primary_->setDown(false);  // a press begun on the other label is no click on this one
  relabelled_.start();
}

// A click meant for the label that stood here a moment ago is swallowed; keys are not.
bool LessonPanel::eventFilter(QObject* watched, QEvent* event) {
  const bool press =
      event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonDblClick;
  if (watched == primary_ && press && player_.is_open() && relabelled_.isValid() &&
      !relabelled_.hasExpired(player_.state().solved ? kVerdictTime : kLabelTime))
    return true;
  return QWidget::eventFilter(watched, event);
}

void LessonPanel::primary() {
  if (!player_.is_open()) return open_first();
  if (player_.state().solved) return player_.next();
  if (player_.step().kind == StepKind::kRun) {
    if (session_.run_state() == RunState::kIdle)
      player_.run();
    else
      session_.cancel_run();
    return;
  }
  if (can_commit()) player_.commit(typed());
}

void LessonPanel::say_failure(const QString& sentence) {
  note_->setText(sentence);
  note_->setVisible(!sentence.isEmpty());
  QAccessibleEvent event(note_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void LessonPanel::announce(bool) {
  verdict_->setAccessibleName(verdict_->text() + QStringLiteral(". ") +
                              plain_text(player_.feedback()));
  QAccessibleEvent event(verdict_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
  show_feedback();
  // A goal can be reached while the student turns a setting elsewhere: that keeps the focus.
  if (isAncestorOf(QApplication::focusWidget())) primary_->setFocus();
}

void LessonPanel::show_feedback() {
  QMetaObject::invokeMethod(
      this, [this] { scroll_->ensureWidgetVisible(feedback_box_, 0, 8); }, Qt::QueuedConnection);
}

void LessonPanel::show_index() {
  LessonIndex index(player_, this);
  if (index.exec() == QDialog::Accepted) focus_answer();
}

void LessonPanel::ask_reset() {
  if (!player_.is_open()) return;
  const auto answer = QMessageBox::question(
      this, tr("Reset the lesson"),
      tr("Start “%1” again? Your answers to it are cleared and its numbers may change.")
          .arg(player_.lesson_title()));
  if (answer == QMessageBox::Yes) {
    shown_.clear();
    player_.reset();
  }
}

void LessonPanel::leave_lesson() { player_.close(); }

void LessonPanel::export_answers() {
  if (!player_.is_open()) return;
  bool ok = false;
  const QString name = QInputDialog::getText(this, tr("Export my answers"), tr("Your name"),
                                             QLineEdit::Normal, QString(), &ok);
  if (!ok) return;
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export my answers"),
      QString::fromStdString(player_.lesson().id) + QStringLiteral("-answers.json"),
      tr("JSON files (*.json)"));
  if (path.isEmpty()) return;
  nlohmann::json answers = player_.answers();
  answers["format"] = "parallelarium-answers/1";
  answers["name"] = name.toStdString();
  const QByteArray text = QByteArray::fromStdString(
      answers.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
    say_failure(tr("%1 could not be written: %2.").arg(path, file.errorString()));
}

}  // namespace parallelarium
