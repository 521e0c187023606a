// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/lesson_locks.h"

#include <algorithm>

#include "engine/predict/network/collective_plan.h"

namespace parallelarium {

bool LessonLocks::hidden(const QString& key) const {
  return std::any_of(hidden_.begin(), hidden_.end(), [&](const QString& hidden) {
    return key == hidden || key.startsWith(hidden + QLatin1Char('.'));
  });
}

HiddenOfOps LessonLocks::hidden_of_ops() const {
  return {hidden(QStringLiteral("step.seconds")), hidden(QStringLiteral("traffic.sent_bytes"))};
}

void LessonLocks::set_hidden(const QStringList& keys) {
  if (keys == hidden_) return;
  hidden_ = keys;
  Q_EMIT hidden_changed();
}

bool LessonLocks::allowed(const QString& key) const {
  return allowed_.isEmpty() || allowed_.contains(key);
}

void LessonLocks::set_allowed(const QStringList& keys) {
  if (keys == allowed_) return;
  allowed_ = keys;
  Q_EMIT allowed_changed();
}

void LessonLocks::set_question_open(bool open, bool run_answers) {
  run_answers = open && run_answers;
  if (open == question_open_ && run_answers == run_answers_) return;
  question_open_ = open;
  run_answers_ = run_answers;
  Q_EMIT question_changed();
}

void LessonLocks::set_guesses(std::vector<Guess> guesses) {
  if (guesses.empty() && guesses_.empty()) return;
  guesses_ = std::move(guesses);
  Q_EMIT guesses_changed();
}

QString LessonLocks::guess_at(const QString& metric, const Setup& setup,
                              const CollectiveChoice& collective) const {
  if (hidden(metric)) return {};
  for (const Guess& guess : guesses_) {
    if (guess.metric != metric) continue;
    if (guess.collective && !(*guess.collective == collective)) return {};
    if (!guess.setup) return guess.text;
    Setup now = setup;
    now.run = guess.setup->run;
    return now == *guess.setup ? guess.text : QString();
  }
  return {};
}

void LessonLocks::clear() {
  set_hidden({});
  set_allowed({});
  set_question_open(false);
  set_guesses({});
}

}  // namespace parallelarium
