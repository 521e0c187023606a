// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/lesson_panel.h"

#include <QAccessible>
#include <QApplication>
#include <QButtonGroup>
#include <QDir>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/lesson/answer/drawing_grid.h"
#include "app/lesson/answer/option_card.h"
#include "app/lesson/answer/parts_form.h"
#include "app/lesson/markdown_view.h"
#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/settings/controls.h"
#include "app/state/run/run_advice.h"
#include "app/state/step/order_edit.h"
#include "app/views/views.h"

namespace parallelarium {

namespace {

constexpr int kCrumbBeside = 76;  // margins and the menu button

}  // namespace

LessonPanel::LessonPanel(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), player_(session) {
  setObjectName(QStringLiteral("LessonPanel"));
  setAccessibleName(tr("Lesson"));
  build_head();
  build_body();
  build_buttons();
  connect(&player_, &LessonPlayer::changed, this, &LessonPanel::refresh);
  connect(&player_, &LessonPlayer::read_anew, this, [this] { shown_.clear(); });
  connect(&player_, &LessonPlayer::judged, this, &LessonPanel::announce);
  connect(&player_, &LessonPlayer::failed, this, &LessonPanel::say_failure);
  connect(&player_, &LessonPlayer::not_kept, this, &LessonPanel::say_failure);
  connect(&player_, &LessonPlayer::tab_wanted, this, &LessonPanel::tab_wanted);
  connect(&player_, &LessonPlayer::guess_changed, this, &LessonPanel::guess_changed);
  connect(&session_, &Session::run_state_changed, this, [this] {
    if (player_.is_open()) refresh_controls();
  });
  connect(&session_, &Session::prediction_changed, this,
          [this, verb = run_verb(session_)]() mutable {
            follow_conditions();
            if (verb != std::exchange(verb, run_verb(session_)) && player_.is_open() &&
                step_now() == shown_)
              text_->set_markdown(naming_run(player_.body(), session_),
                                  QString::fromStdString(player_.lesson().folder));
            if (player_.is_open() && player_.step().sets_plan()) refresh_controls();
          });
  connect(&session_.order_edit(), &OrderEdit::changed, this, &LessonPanel::follow_conditions);
  connect(&session_, &Session::run_changed, this, &LessonPanel::follow_conditions);
  refresh();
}

void LessonPanel::open(const QString& id) {
  const Result<void> opened =
      player_.go_on(QDir(QString::fromStdString(lessons_folder())).absoluteFilePath(id));
  if (!opened) say_failure(sentence(opened.error()));
}

void LessonPanel::refresh() {
  if (player_.is_open()) {
    about_view_->hide();
    const std::string now = step_now();
    const bool step_is_new = now != shown_;
    const bool had_focus = isAncestorOf(QApplication::focusWidget());
    const int hints_before = step_is_new || hints_->isHidden() ? 0 : hints_->height();
    if (step_is_new) {
      shown_ = now;
      show_step();
      Q_EMIT entered();
    }
    explain_words();
    refresh_feedback();
    if (step_is_new && had_focus) focus_answer();
    if (step_is_new && player_.state().judgement) reveal_verdict();
    if (!step_is_new && hints_->height() > hints_before && !hints_->isHidden())
      reveal(hints_, hints_before);
  } else {
    shown_.clear();
    explain_words();
    player_.finished_lesson() ? show_finished() : show_welcome();
    about_view_->setVisible(!player_.finished_lesson());
    for (QWidget* part :
         std::initializer_list<QWidget*>{number_row_, card_box_, drawing_, parts_, conditions_,
                                         hints_, answer_, feedback_box_, note_})
      part->hide();
    dots_->set_steps(0, 0);
    revealed_ = nullptr;
    scroll_->verticalScrollBar()->setValue(0);
  }
  exam_->setVisible(player_.is_open() && player_.exam());
  write_crumb();
  refresh_controls();
}

std::string LessonPanel::step_now() const {
  const nlohmann::json play = player_.answers();
  return play["lesson"].get<std::string>() + "/" + play["seed"].dump() + "/" + player_.step().id;
}

void LessonPanel::set_view(const ViewInfo& view) {
  view_ = &view;
  tell_keys();
  if (!player_.is_open() && !player_.finished_lesson()) refresh();
}

void LessonPanel::show_welcome() {
  const ViewInfo& view = view_ ? *view_ : first_view();
  title_->setText(view.question());
  text_->set_markdown(naming_run(view.about(), session_), {});
  list_lessons();
}

void LessonPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!player_.is_open() && !player_.finished_lesson()) refresh();
}

// Links keep the colour that they were written with.
void LessonPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && !player_.is_open() && !player_.finished_lesson())
    QMetaObject::invokeMethod(this, &LessonPanel::list_lessons, Qt::QueuedConnection);
}

void LessonPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  write_crumb();
}

// Enter on a chosen option commits it, as it does in the number's box. Pages turn wherever in the
// panel the focus is.
void LessonPanel::keyPressEvent(QKeyEvent* event) {
  const bool down = event->key() == Qt::Key_PageDown;
  if (down || event->key() == Qt::Key_PageUp)
    return scroll_->verticalScrollBar()->triggerAction(down ? QAbstractSlider::SliderPageStepAdd
                                                            : QAbstractSlider::SliderPageStepSub);
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  const auto* card = qobject_cast<const OptionCard*>(focusWidget());
  if (enter && card && card->isChecked() && !player_.state().solved) return primary();
  QWidget::keyPressEvent(event);
}

void LessonPanel::write_crumb() {
  QString name = tr("Lessons"), place;
  if (player_.is_open()) {
    const auto [question, all] = player_.asking();
    name = player_.reviews() && !player_.places() ? tr("Review: %1").arg(player_.lesson_title())
                                                  : player_.lesson_title();
    place = player_.reviews() ? tr(" · question %1 of %2").arg(question).arg(all)
                              : tr(" · part %1 of %2")
                                    .arg(player_.step_index() + 1)
                                    .arg(player_.lesson().steps.size());
  }
  const QFontMetrics metrics = crumb_->fontMetrics();
  const int room = width() - kCrumbBeside - metrics.horizontalAdvance(place);
  crumb_->setText(metrics.elidedText(name, Qt::ElideRight, room) + place);
  crumb_->setToolTip(tr("All lessons") + QStringLiteral(" (") + name + place + QLatin1Char(')'));
  crumb_->setAccessibleName(name + place);
  describe(*crumb_, tr("All lessons"));
}

// The words that a lesson teaches could answer what it asks, until the answer is there.
void LessonPanel::explain_words() {
  QString untold;
  if (player_.is_open() && !player_.state().solved) {
    const Step& step = player_.step();
    if (step.ask || !step.options.empty()) untold = QString::fromStdString(player_.lesson().id);
  }
  text_->explain_words(untold);
}

void LessonPanel::show_step() {
  const Lesson& lesson = player_.lesson();
  const QString folder = QString::fromStdString(lesson.folder);
  const int index = static_cast<int>(player_.step_index());
  const int steps = static_cast<int>(lesson.steps.size());
  title_->setText(player_.title());
  dots_->set_steps(player_.reviews() ? 0 : steps, player_.reviews() ? 0 : index);
  text_->set_markdown(naming_run(player_.body(), session_), folder);
  note_->hide();
  {
    const QSignalBlocker quiet(show_answer_);  // refresh() shows it
    show_answer_->setChecked(tells_why());
  }

  show_question();
  refresh_conditions();
  revealed_ = nullptr;
  scroll_->verticalScrollBar()->setValue(0);
  // The answer's box stands below the text: what is asked must not be hidden where it is typed.
  if (!number_row_->isHidden() && !player_.state().solved) reveal(text_);
}

QString LessonPanel::primary_label() const {
  if (!player_.is_open()) {
    if (next_to_do().isEmpty()) return tr("All lessons …");
    if (player_.finished_lesson()) return tr("Next lesson");
    constexpr int kTitleWidth = 190;
    return tr("Next: %1")
        .arg(primary_->fontMetrics().elidedText(next_title(), Qt::ElideRight, kTitleWidth));
  }
  if (player_.state().solved) return player_.at_end() ? tr("Finish") : tr("Next");
  switch (player_.step().kind) {
    case StepKind::kRun:
      if (session_.jobs().state() != RunState::kIdle) return tr("Cancel");
      return player_.step().wants_proof() ? tr("▶ Prove it")
                                          : QStringLiteral("▶ ") + run_verb(session_);
    case StepKind::kGoal:
    case StepKind::kBuild:
    case StepKind::kFind:
      return tr("Check");
    default:
      return player_.may_show_answer() && is_judged_answer() ? tr("Try again") : tr("Commit");
  }
}

void LessonPanel::refresh_controls() {
  const bool open = player_.is_open();
  // The player is entering a step. Its controls come with its text, in refresh(): to disable the
  // button that was pressed would send the focus away before the panel can place it.
  if (open && step_now() != shown_) return;
  const bool solved = open && player_.state().solved;
  menu_->setVisible(open || player_.finished_lesson());
  leave_->setEnabled(open && player_.may_leave());
  back_->setVisible(open);
  hint_->setVisible(open && player_.step().hints > 0 && !solved);
  show_answer_->setVisible(solved && !player_.model_answer().isEmpty());
  if (open) {
    show_answer_->setText(player_.step().kind == StepKind::kRead ? tr("If your notes say …")
                                                                 : tr("Explanation"));
    answer_->setAccessibleName(show_answer_->text());
  }
  primary_->setEnabled(true);
  QString note;
  bool works = false;  // a job of this step is under way
  if (open) {
    const StepKind kind = player_.step().kind;
    const bool once = (kind == StepKind::kPredict || !player_.tells_verdict()) && solved;
    back_->setEnabled(player_.step_index() > 0 && !player_.reviews());
    const bool more_hints = player_.state().hints < player_.step().hints;
    if (!more_hints && hint_->hasFocus()) focus_answer();  // before it goes grey
    hint_->setEnabled(more_hints && !player_.exam());
    hint_->setToolTip(player_.exam() ? tr("An exam has no hints.") : QString());
    // The next one, while there is any. Three buttons stand side by side: the words are short.
    const int next = std::min(player_.state().hints + 1, player_.step().hints);
    hint_->setText(player_.state().hints == 0 ? tr("Hint") : tr("Hint %1").arg(next));
    number_->setReadOnly(once);
    for (QAbstractButton* card : group_->buttons()) card->setEnabled(!once);
    if (kind == StepKind::kRun && !solved) {
      const bool running = session_.jobs().state() != RunState::kIdle;
      const QString refusal = run_refusal(session_);
      primary_->setEnabled(running || refusal.isEmpty());
      note = running ? job_text(session_) : refusal;
      if (note.isEmpty()) note = session_.jobs().last_error();
      if (note.isEmpty()) note = measuring_note(session_);
      progress_->setValue(static_cast<int>(std::lround(100 * session_.jobs().progress())));
      works = running;
    } else if ((kind == StepKind::kPredict || kind == StepKind::kExplain ||
                kind == StepKind::kFind || player_.step().assigns()) &&
               !solved) {
      primary_->setEnabled(can_commit());
      note = answer_note();
    }
  } else if (!player_.finished_lesson()) {
    primary_->setEnabled(has_lessons());
  }
  note_->setText(note);
  note_->setVisible(!note.isEmpty());
  progress_->setVisible(works);
  primary_->setToolTip(note);
  tell_keys();
  const QString label = primary_->text();
  primary_->setText(primary_label());
  if (primary_->text() == label) return;
  primary_->setDown(false);  // a press begun on the other label is none on this one
  // The student's own typing makes "Commit" of "Try again", which does no harm either.
  if (!open || !player_.may_show_answer()) relabelled_.start();
}

// A press meant for the label that stood here a moment ago is swallowed, and so is a key held down.
bool LessonPanel::eventFilter(QObject* watched, QEvent* event) {
  const bool revealed = revealed_ && (watched == revealed_ || watched == revealed_last_);
  if (revealed && (event->type() == QEvent::Resize || event->type() == QEvent::Move))
    QMetaObject::invokeMethod(this, &LessonPanel::scroll_to_revealed, Qt::QueuedConnection);
  if (watched == scroll_ && event->type() == QEvent::Resize) {
    // As wide without a scroll bar as with one: the height of texts that wrap would else decide
    // about the bar, and the bar about their height.
    const int bar = scroll_->verticalScrollBar()->sizeHint().width();
    scroll_->widget()->setFixedWidth(std::max(0, scroll_->width() - bar));
  }
  if (watched != primary_) return QWidget::eventFilter(watched, event);
  const bool click =
      event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonDblClick;
  bool key = false, held = false;
  if (event->type() == QEvent::KeyPress) {
    const auto& press = static_cast<const QKeyEvent&>(*event);
    for (const int pressing : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space, Qt::Key_Select})
      key = key || press.key() == pressing;
    held = key && press.isAutoRepeat();
  }
  const bool solved = player_.is_open() && player_.state().solved;
  const bool too_soon =
      relabelled_.isValid() && relabelled_.elapsed() < (solved ? verdict_pause_ : label_pause_);
  if (held || ((click || key) && player_.is_open() && too_soon)) return true;
  return QWidget::eventFilter(watched, event);
}

void LessonPanel::focus_step() {
  const bool builds = player_.is_open() && player_.step().builds_order() && !player_.state().solved;
  if (builds)
    Q_EMIT editor_wanted();
  else
    focus_answer();
}

// While the new part is set up, views and rooms that change may take the keys.
void LessonPanel::turn(void (LessonPlayer::*to)()) {
  const bool held = isAncestorOf(QApplication::focusWidget());
  (player_.*to)();
  const bool lost = held && !isAncestorOf(QApplication::focusWidget());
  if (lost) focus_step();
}

void LessonPanel::primary() {
  if (!player_.is_open()) {
    const bool all_done = player_.finished_lesson() && next_to_do().isEmpty();
    return all_done ? show_index() : open_first();
  }
  if (player_.state().solved) return turn(&LessonPlayer::next);
  if (player_.step().kind == StepKind::kRun) {
    if (session_.jobs().state() == RunState::kIdle)
      player_.run();
    else
      session_.jobs().cancel();
    return;
  }
  if (player_.may_show_answer() && is_judged_answer()) {
    if (QAbstractButton* chosen = group_->checkedButton())
      return chosen->setFocus(Qt::TabFocusReason);
    number_->selectAll();
    return focus_answer();
  }
  if (can_commit()) player_.commit(typed());
}

void LessonPanel::say_failure(const QString& sentence) {
  note_->setText(sentence);
  note_->setVisible(!sentence.isEmpty());
  QAccessibleEvent event(note_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

}  // namespace parallelarium
