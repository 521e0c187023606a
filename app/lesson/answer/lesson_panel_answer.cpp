// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the lesson panel that reads what a student answers.
#include <QButtonGroup>
#include <QLineEdit>
#include <QPushButton>

#include "app/lesson/answer/drawing_grid.h"
#include "app/lesson/answer/option_card.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/markdown_view.h"
#include "app/lesson/player/guess_text.h"
#include "app/state/step/order_edit.h"

namespace parallelarium {

void LessonPanel::focus_answer() {
  if (!player_.is_open()) return;
  QWidget* first = primary_;
  if (!player_.state().solved) {
    if (!number_row_->isHidden()) first = number_;
    if (!drawing_->isHidden()) first = drawing_;
    if (!card_box_->isHidden()) first = text_;  // a card with the focus would look preselected
  }
  first->setFocus(Qt::TabFocusReason);
}

Answer LessonPanel::typed() const {
  Answer answer;
  if (!player_.is_open()) return answer;
  const Step& step = player_.step();
  if (step.ask && !step.ask->answer.empty())
    answer.number = read_guess(number_->text(), step.ask->unit);
  if (const auto* card = static_cast<const OptionCard*>(group_->checkedButton()))
    answer.option = card->id().toStdString();
  if (step.kind == StepKind::kFind) answer.marks = drawing_->marks();
  if (step.kind == StepKind::kBuild && session_.order_edit().open())
    answer.order = to_unfinished_lines(session_.order_edit().draft());
  return answer;
}

bool LessonPanel::can_commit() const {
  const Step& step = player_.step();
  if (step.kind == StepKind::kFind) return !drawing_->marks().empty();
  if (step.kind != StepKind::kPredict && step.kind != StepKind::kExplain) return true;
  const Answer answer = typed();
  if (!step.ask || step.ask->answer.empty()) return !answer.option.empty();
  return answer.number && guess_problem(*answer.number, step.ask->unit).isEmpty();
}

QString LessonPanel::answer_note() const {
  const Step& step = player_.step();
  const QString text = number_->text().trimmed();
  if (!number_row_->isHidden() && !text.isEmpty()) {
    const std::optional<double> number = typed().number;
    if (!number)
      return tr("“%1” is not a number: type one, such as %2.")
          .arg(text, step.ask->unit == "share" ? guess_text(0.125, "share") : QStringLiteral("4"));
    if (const QString problem = guess_problem(*number, step.ask->unit); !problem.isEmpty())
      return problem;
  }
  if (step.kind == StepKind::kFind)
    return drawing_->marks().empty() ? tr("Mark every action that begins too early.") : QString();
  if (step.kind != StepKind::kPredict) return {};
  return step.hints > 0 ? tr("You commit a prediction once; hints come before that.")
                        : tr("You commit a prediction once.");
}

}  // namespace parallelarium
