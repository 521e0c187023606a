// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the lesson panel that reads what a student answers.
#include <QButtonGroup>
#include <QLineEdit>
#include <QPushButton>

#include "app/lesson/answer/drawing_grid.h"
#include "app/lesson/answer/option_card.h"
#include "app/lesson/answer/parts_form.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/markdown_view.h"
#include "app/lesson/player/answers/guess_text.h"
#include "app/state/step/order_edit.h"

namespace parallelarium {

// The fields of what the step asks, with what was answered before.
void LessonPanel::show_question() {
  const Step& step = player_.step();
  const bool numeric = step.ask && !step.ask->answer.empty();
  number_row_->setVisible(numeric);
  number_->clear();
  if (numeric) {
    unit_->setText(unit_label(step.ask->unit, player_.counted()));
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
  drawing_->setVisible(step.kind == StepKind::kFind);
  if (step.kind == StepKind::kFind) {
    drawing_->set_drawing(step.drawing, player_.state().answer.marks);
    setTabOrder(text_, drawing_);
  }
  parts_->setVisible(!step.parts.empty());
  if (!step.parts.empty()) {
    QStringList labels, counted;
    for (const QuestionPart& part : step.parts) {
      labels << plain_text(player_.part_text(part.id));
      counted << player_.counted(part.id);
    }
    std::vector<PartsForm::Words> options;
    for (const Option& option : player_.options())
      options.push_back({option.id, plain_text(player_.option_text(option.id))});
    parts_->set_parts(step.parts, labels, counted, options, player_.state().answer.parts);
  }
  const bool choice = !numeric && step.parts.empty() && !step.options.empty();
  card_box_->setVisible(choice);
  QWidget* before = text_;  // Tab leads from the text to the cards
  if (choice)
    for (const Option& option : player_.options()) {
      const QString id = QString::fromStdString(option.id);
      auto* card = new OptionCard(id, plain_text(player_.option_text(option.id)));
      card->setChecked(player_.state().answer.option == option.id);
      group_->addButton(card);
      cards_->addWidget(card);
      card->show();
      setTabOrder(before, card);
      before = card;
    }
}

QWidget* LessonPanel::first_control() const {
  if (player_.state().solved) return primary_;
  if (!card_box_->isHidden()) return text_;  // a card with the focus would look preselected
  if (!parts_->isHidden()) return parts_->first_field();
  if (!drawing_->isHidden()) return drawing_;
  if (!number_row_->isHidden()) return number_;
  return primary_;
}

void LessonPanel::focus_answer() {
  if (!player_.is_open()) return;
  QWidget* first = first_control();
  // Ringed only for keys: to who has clicked, a ringed text looks like a field to type into.
  first->setFocus(first == text_ ? Qt::OtherFocusReason : Qt::TabFocusReason);
}

Answer LessonPanel::typed() const {
  Answer answer;
  if (!player_.is_open()) return answer;
  const Step& step = player_.step();
  if (step.ask && !step.ask->answer.empty())
    answer.number = read_guess(number_->text(), step.ask->unit, player_.counted());
  if (const auto* card = static_cast<const OptionCard*>(group_->checkedButton()))
    answer.option = card->id().toStdString();
  if (!step.parts.empty()) answer.parts = parts_->answers();
  if (step.kind == StepKind::kFind) answer.marks = drawing_->marks();
  if (step.kind == StepKind::kBuild && session_.order_edit().open())
    answer.order = to_unfinished_lines(session_.order_edit().draft());
  return answer;
}

bool LessonPanel::can_commit() const {
  const Step& step = player_.step();
  if (step.kind == StepKind::kFind) return !drawing_->marks().empty();
  if (!step.parts.empty()) return parts_->problem().isEmpty() && player_.plan_problem().isEmpty();
  if (step.kind != StepKind::kPredict && step.kind != StepKind::kExplain) return true;
  const Answer answer = typed();
  if (!step.ask || step.ask->answer.empty()) return !answer.option.empty();
  return answer.number && guess_problem(*answer.number, step.ask->unit).isEmpty();
}

bool LessonPanel::is_judged_answer() const {
  const Answer now = typed(), &judged = player_.state().answer;
  return now.number == judged.number && now.option == judged.option && now.parts == judged.parts;
}

QString LessonPanel::answer_note() const {
  const Step& step = player_.step();
  const QString text = number_->text().trimmed();
  if (!number_row_->isHidden() && !text.isEmpty()) {
    const std::optional<double> number = typed().number;
    // An example might be the answer.
    if (!number) return unread_guess_text(text, step.ask->unit, player_.counted());
    if (const QString problem = guess_problem(*number, step.ask->unit); !problem.isEmpty())
      return problem;
  }
  if (step.kind == StepKind::kFind)
    return drawing_->marks().empty() ? tr("Mark every action that begins too early.") : QString();
  if (const QString problem = step.parts.empty() ? QString() : parts_->problem();
      !problem.isEmpty())
    return problem;
  if (const QString problem = player_.plan_problem(); !problem.isEmpty()) return problem;
  if (!player_.tells_verdict()) return tr("In an exam you commit an answer once.");
  if (player_.may_show_answer()) return tr("Change your answer, or let the answer be shown.");
  if (step.kind != StepKind::kPredict) return {};
  if (step.sets_plan()) return tr("You commit a plan once.");
  return tr("Your first answer counts. You may try again before the answer is shown.");
}

}  // namespace parallelarium
