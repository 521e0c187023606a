// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that sums a lesson up when it ends: what was asked and answered, each
// guess beside the prediction and the run, tries, hints and time.
#include <QCoreApplication>
#include <cmath>

#include "app/lesson/player/answers/guess_text.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/figures.h"

namespace parallelarium {

namespace {

struct Summary {
  Q_DECLARE_TR_FUNCTIONS(summary)
};

const QString kDot = QStringLiteral(" · ");

QString hints_text(int hints) {
  return hints == 1 ? Summary::tr("1 hint") : Summary::tr("%1 hints").arg(hints);
}

// How a question that may be answered again ended.
QString tries_text(int tries) {
  return tries == 1 ? Summary::tr("right at the first try")
                    : Summary::tr("right at try %1").arg(tries);
}

// Its conditions stand beside what is set, live: to reach it is no answer, and no try counts.
bool is_reached(const Step& step) { return step.kind == StepKind::kGoal || step.builds_order(); }

std::optional<double> found(const LessonPlayer::StepState& state, const char* symbol) {
  if (!state.judgement) return std::nullopt;
  const auto at = state.judgement->symbols.find(symbol);
  return at == state.judgement->symbols.end() ? std::nullopt : std::optional(at->second);
}

bool rehearsed(const LessonPlayer::StepState& state) {
  return state.run.is_object() && state.run.value("source", "") == name_of(Source::kPaced);
}

}  // namespace

// The run that answers the prediction of step `index`: the next run before another prediction.
const LessonPlayer::StepState* LessonPlayer::run_after(std::size_t index) const {
  for (std::size_t step = index + 1; step < states_.size(); ++step) {
    const StepKind kind = lesson_->steps[step].kind;
    if (kind == StepKind::kRun) return &states_[step];
    if (kind == StepKind::kPredict) break;
  }
  return nullptr;
}

QString LessonPlayer::summary_of(std::size_t index) const {
  const Step& step = lesson_->steps[index];
  const StepState& state = states_[index];
  if (!state.right || step.kind == StepKind::kRead) return {};
  if (step.kind == StepKind::kRun && !state.unmet) return {};  // stands beside its prediction
  const bool right = *state.right;
  QStringList head, figures;
  if (state.unmet)
    head << Summary::tr("run, check not met");
  else if (is_reached(step))
    head << (step.builds_order() ? Summary::tr("order built") : Summary::tr("goal reached"));
  else if (step.sets_plan() || exam_)  // answered once
    head << (right ? Summary::tr("right") : Summary::tr("not right"));
  else
    head << (right ? tries_text(state.attempts) : Summary::tr("the answer was shown"));
  if (state.hints > 0) head << hints_text(state.hints);
  if (!step.parts.empty() && !step.assigns() && !right && state.judgement) {
    const auto parts = static_cast<int>(step.parts.size());
    const auto wrong = static_cast<int>(state.judgement->wrong_parts.size());
    figures << Summary::tr("%1 of %2 rows right").arg(parts - wrong).arg(parts);
  }
  if (step.ask) {
    const auto add = [&](const QString& words, std::optional<double> value) {
      if (value) figures << words.arg(value_text(*value, step.ask->unit));
    };
    const QString words =
        step.kind == StepKind::kPredict ? Summary::tr("guess: %1") : Summary::tr("answer: %1");
    const QString answer = answer_words(index);
    if (own_guess(index))
      figures << words.arg(answer);
    else if (!answer.isEmpty())
      figures << words.arg(Summary::tr("“%1”").arg(answer));
    if (!step.ask->metric.empty()) add(Summary::tr("predicted %1"), found(state, "predicted"));
    if (const StepState* run = run_after(index); run && step.kind == StepKind::kPredict)
      add(rehearsed(*run) ? Summary::tr("rehearsed %1") : Summary::tr("run %1"), run->observed);
  }
  if (!figures.isEmpty()) head.prepend(figures.join(QStringLiteral(", ")));
  const QString name = title(index);
  const QLatin1String colon(name.endsWith(QLatin1Char('?')) ? "" : ":");
  return QStringLiteral("**%1%2** ").arg(name, colon) + head.join(kDot);
}

QString LessonPlayer::summary() const {
  QStringList entries;
  int hints = 0;
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const StepState& state = states_[index];
    hints += state.hints;
    if (const QString entry = summary_of(index); !entry.isEmpty()) entries << entry;
  }
  const auto minutes = std::max<std::int64_t>(1, (since_start_.elapsed() + 30000) / 60000);
  const Mastery mastery = mastery_of(answers());
  QStringList facts{hints_text(hints), minutes_text(minutes)};
  if (mastery.asked > 0)
    facts.prepend((entries.size() > mastery.asked
                       ? Summary::tr("%1 of %2 questions right at the first try (what is built or "
                                     "reached does not count)")
                       : Summary::tr("%1 of %2 questions right at the first try"))
                      .arg(mastery.right)
                      .arg(mastery.asked));
  entries.prepend(facts.join(kDot) + QLatin1Char('.'));
  if (const Step* transfer = lesson_->find(mastery.transfer)) {
    const QString question = title(static_cast<std::size_t>(transfer - lesson_->steps.data()));
    const auto counted = progress_.mastery(lesson_->id, lesson_->version);
    entries.prepend(
        (mastery.mastered()
             ? Summary::tr("**✓✓ Mastered:** “%1” and two thirds of all questions were right at "
                           "the first try.")
         : counted && counted->mastered()
             ? Summary::tr("**✓✓ Mastered before.** This time “%1”, or more than a third of all "
                           "questions, was not right at the first try.")
             : Summary::tr("**✓ Done, not mastered yet.** For that “%1” and two thirds of all "
                           "questions must be right at the first try: start the lesson again, with "
                           "new numbers."))
            .arg(question));
  }
  return entries.join(QStringLiteral("\n\n"));
}

}  // namespace parallelarium
