// SPDX-License-Identifier: GPL-3.0-or-later
// What the panel says about an answer: conditions, verdict, feedback, hints, and what of it is
// brought into view.
#include <QAccessible>
#include <QApplication>
#include <QButtonGroup>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>

#include "app/lesson/answer/drawing_grid.h"
#include "app/lesson/answer/parts_form.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/markdown_view.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/settings/controls.h"
#include "app/state/run/run_advice.h"
#include "app/views/view.h"

namespace parallelarium {

namespace {

constexpr int kAround = 8;  // left free below what is scrolled to
constexpr int kAbove = 28;  // and above, where there is room: more may be hidden there

}  // namespace

void LessonPanel::refresh_conditions() {
  QString rows;
  QStringList spoken;
  const Theme& theme = theme_for(palette());
  for (const LessonPlayer::Condition& condition : player_.conditions()) {
    const bool waits = !condition.holds && !condition.state.startsWith(QChar(0x2717));
    const QColor color = condition.holds ? theme.good : waits ? theme.muted : theme.warning;
    rows +=
        QStringLiteral("<tr><td>%1</td><td align=\"right\" style=\"color:%2\"><b>%3</b></td></tr>")
            .arg(condition.text.toHtmlEscaped(), color.name(), condition.state.toHtmlEscaped());
    spoken << condition.heard;
  }
  conditions_->setText(QStringLiteral("<table width=\"100%\" cellpadding=\"2\">") + rows +
                       QStringLiteral("</table>"));
  conditions_->setAccessibleName(spoken.join(QLatin1Char(' ')));
  conditions_->setVisible(!rows.isEmpty());
  tell_keys();
}

// What the student sets may mend what was judged. Who does not see the conditions hears what has
// become of them, wherever the focus is.
void LessonPanel::follow_conditions() {
  const QString told = conditions_->accessibleName();
  refresh_conditions();
  if (conditions_->accessibleName() != told && conditions_->isVisibleTo(this)) {
    QAccessibleEvent event(conditions_, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
  }
  if (player_.is_open() && step_now() == shown_ && player_.state().judgement) refresh_feedback();
}

// A question that was answered tells its derivation, whether the answer was right or wrong; a goal
// that was reached tells why that way reaches it.
bool LessonPanel::tells_why() const {
  const LessonPlayer::StepState& state = player_.state();
  const StepKind kind = player_.step().kind;
  return state.solved && state.judgement && player_.tells_verdict() && kind != StepKind::kRead &&
         kind != StepKind::kRun;
}

void LessonPanel::refresh_feedback() {
  const LessonPlayer::StepState& state = player_.state();
  const QString folder = QString::fromStdString(player_.lesson().folder);
  QString hints;
  for (int hint = 1; hint <= state.hints; ++hint)
    hints += tr("**Hint %1.** %2").arg(hint).arg(player_.hint(hint)) + QStringLiteral("\n\n");
  hints_->set_markdown(naming_run(hints, session_), folder);
  // What was wrong is said no more once it is mended.
  const bool mended = player_.mended();
  const QString feedback =
      mended ? tr("Every condition holds now: press **Check**.") : player_.feedback();
  const bool retries = player_.may_show_answer();
  feedback_box_->setVisible(!feedback.isEmpty() || retries || (player_.exam() && state.judgement));
  way_out_->setText(retries                                 ? tr("Show the answer")
                    : player_.step().kind == StepKind::kRun ? tr("Continue with this run")
                                                            : tr("Go on as it is"));
  way_out_->setToolTip(retries ? QString() : tr("The check stays marked as not met"));
  way_out_->setVisible(retries || player_.may_continue());
  feedback_->set_markdown(naming_run(feedback, session_), folder);
  if (state.judgement || retries) {
    const bool right = state.judgement && state.judgement->verdict == Verdict::kRight;
    verdict_->setText(verdict_text());
    set_style_property(verdict_, "role",
                       !player_.tells_verdict() ? "muted"
                       : right || mended        ? "good"
                                                : "warning");
  }
  if (player_.step().kind == StepKind::kFind) {
    drawing_->show_faults(state.judgement && player_.tells_verdict() &&
                          state.answer.marks == drawing_->marks());
    drawing_->set_done(state.solved);
  }
  if (player_.step().sets_plan()) refresh_conditions();  // a commit tells what was predicted
  if (!player_.step().parts.empty()) {
    // A choice that is refused is not wrong in one row: the reasons say what it makes.
    const bool refused = player_.step().assigns() && !state.solved;
    const bool judged = state.judgement && player_.tells_verdict() && !refused &&
                        state.answer.parts == parts_->answers();
    parts_->show_marks(judged ? std::optional(state.judgement->wrong_parts) : std::nullopt);
    parts_->set_done(state.solved);
  }
  if (!state.solved) show_answer_->setChecked(false);
  const bool shown = state.solved && show_answer_->isChecked();
  answer_->set_markdown(shown ? naming_run(player_.model_answer(), session_) : QString(), folder);
  tell_keys();
}

QString LessonPanel::verdict_text() const {
  const LessonPlayer::StepState& state = player_.state();
  if (!player_.tells_verdict()) return tr("Your answer is kept");
  if (player_.may_show_answer()) return tr("Not right yet");
  if (state.judgement->verdict == Verdict::kRight)
    return player_.step().kind == StepKind::kRun ? tr("✓ The run passes the checks of this part")
                                                 : tr("✓ Right");
  if (state.unmet) return tr("Check not met");
  if (player_.disturbance()) return tr("Disturbed run");
  if (player_.mended()) return tr("Reached");
  return state.judgement->verdict == Verdict::kAgain ? tr("Try again") : tr("Not quite");
}

QString LessonPanel::judged_words() const {
  if (!player_.is_open() || !(player_.state().judgement || player_.may_show_answer())) return {};
  const QString verdict = verdict_text().remove(QStringLiteral("✓ "));
  const QString said = heard_text(*feedback_).simplified();
  return said.isEmpty() ? verdict : verdict + QStringLiteral(": ") + said;
}

QString LessonPanel::asked_words() const {
  const Step& step = player_.step();
  const QString text = heard_text(*text_);
  const bool asks =
      step.ask || !step.options.empty() || !step.parts.empty() || step.kind == StepKind::kFind;
  return asks ? text.section(QLatin1Char('\n'), -1) : text;  // a text ends with its question
}

// Keys stay where they are when an answer is judged or a run ends, or go to the button that leads
// on; and a new part puts them into its first control. Whoever listens hears nothing else.
void LessonPanel::tell_keys() {
  const auto joined = [](QStringList said) {
    said.removeAll(QString());
    return said.join(QLatin1Char('\n'));
  };
  // Of a run under way the tooltip tells how far it is, to whoever asks.
  if (!player_.is_open() || !progress_->isHidden()) return primary_->setAccessibleDescription({});
  const bool solved = player_.state().solved;
  const QString judged = judged_words();
  const QString asked = joined({asked_words(), view_ && !player_.step().tab.empty()
                                                   ? tr("Beside it: %1.").arg(view_->title())
                                                   : QString()});
  const QString open = solved ? QString() : judged;  // what may be answered once more
  describe(*number_, joined({open, asked}));
  parts_->set_asked(joined({open, asked}));
  drawing_->set_asked(joined({open, asked}));
  for (QAbstractButton* card : group_->buttons())
    describe(*card, card->isChecked() ? open : QString());
  const QString on_button = first_control() == primary_ ? asked : QString();
  const QString missing = solved ? QString() : conditions_->accessibleName();
  describe(*primary_, judged.isEmpty()
                          ? joined({primary_->toolTip(), conditions_->accessibleName(), on_button})
                          : joined({judged, missing, primary_->toolTip()}));
}

void LessonPanel::announce(bool) {
  if (tells_why()) show_answer_->setChecked(true);
  for (QWidget* said : {static_cast<QWidget*>(verdict_), static_cast<QWidget*>(feedback_)}) {
    QAccessibleEvent event(said, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
  }
  reveal_verdict();
  // What was typed is replaced by typing the next try.
  if (player_.may_show_answer() && number_->hasFocus()) number_->selectAll();
  // Not after a wrong answer, which may be tried again where it was given, nor when a run ends
  // while the student is elsewhere.
  if (player_.state().solved && isAncestorOf(QApplication::focusWidget())) primary_->setFocus();
}

void LessonPanel::reveal(QWidget* part, int from, QWidget* last) {
  revealed_ = part;
  revealed_from_ = from;
  revealed_last_ = last ? last : part;
  for (QWidget* each : {revealed_, revealed_last_}) each->installEventFilter(this);
  QMetaObject::invokeMethod(this, &LessonPanel::scroll_to_revealed, Qt::QueuedConnection);
}

void LessonPanel::reveal_verdict() { reveal(feedback_box_, 0, answer_); }

void LessonPanel::scroll_to_revealed() {
  if (!revealed_ || revealed_->isHidden()) return;
  QScrollBar* bar = scroll_->verticalScrollBar();
  const int room = scroll_->viewport()->height();
  const int top = revealed_->mapTo(scroll_->widget(), QPoint(0, 0)).y();
  const int from = revealed_ == text_ ? text_->last_paragraph() : revealed_from_;
  const QWidget* last = revealed_last_->isHidden() ? revealed_ : revealed_last_;
  const int bottom = last->mapTo(scroll_->widget(), QPoint(0, last->height())).y();
  const int end = bottom + kAround;
  const int above = end - (top + from) + kAbove <= room ? kAbove : kAround;
  const int begin = top + from - above;
  if (end > bar->value() + room) bar->setValue(end - room);
  if (begin < bar->value()) bar->setValue(begin);
}

}  // namespace parallelarium
