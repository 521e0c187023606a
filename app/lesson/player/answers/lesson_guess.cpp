// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that knows what was guessed: the figure that an answer stands for, the run
// that answers it, and the mark that stays.
#include <algorithm>

#include "app/lesson/player/answers/guess_text.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/figures.h"

namespace parallelarium {

std::optional<double> LessonPlayer::latest_guess() const {
  for (std::size_t step = at_ + 1; step-- > 0;)
    if (states_[step].guess) return states_[step].guess;
  return std::nullopt;
}

bool LessonPlayer::first_right(std::size_t index) const {
  return states_[index].attempts == 1 && states_[index].right == true;
}

// Of several tries the one that is kept and handed in: of a prediction the first, since what comes
// after it is no prediction.
const Answer& LessonPlayer::answer_told(std::size_t index) const {
  const bool once = lesson_->steps[index].kind == StepKind::kPredict;
  return once ? states_[index].first : states_[index].answer;
}

std::optional<double> LessonPlayer::own_guess(std::size_t index) const {
  if (lesson_->steps[index].kind == StepKind::kPredict) return states_[index].guess;
  return guess_of(index, states_[index].answer);
}

// The figure that the judged answer stands for: a word may stand for none. The symbols of a
// judgement also know the guess of an earlier step.
std::optional<double> LessonPlayer::guess_of(std::size_t index, const Answer& answer) const {
  const Step& step = lesson_->steps[index];
  const StepState& state = states_[index];
  if (!state.judgement || !step.ask) return std::nullopt;
  const bool chosen_figure = std::any_of(
      step.options.begin(), step.options.end(),
      [&](const Option& option) { return option.id == answer.option && !option.value.empty(); });
  const auto found = state.judgement->symbols.find("guess");
  if (found == state.judgement->symbols.end() || !(answer.number || chosen_figure))
    return std::nullopt;
  return found->second;
}

// What was typed in the unit of the question, a chosen figure as figures are written, a chosen word
// as it stands in the lesson.
QString LessonPlayer::answer_words(std::size_t index) const {
  const Step& step = lesson_->steps[index];
  const StepState& state = states_[index];
  const Answer& answer = answer_told(index);
  if (const std::optional<double> figure = own_guess(index)) {
    const QString said =
        answer.number ? guess_text(*figure, step.ask->unit) : value_text(*figure, step.ask->unit);
    const QString counted =
        step.ask->unit == "1" ? QString::fromStdString(text(index).part("unit")) : QString();
    return counted.isEmpty() ? said : said + QLatin1Char(' ') + counted;
  }
  if (answer.option.empty() || !state.judgement) return {};
  QString words =
      filled(text(index).part("option " + answer.option), state.judgement->symbols).trimmed();
  if (words.endsWith(QLatin1Char('.'))) words.chop(1);
  return words;
}

// The run that was judged, seen with the eyes of the prediction it follows: the figure that was
// asked for is seldom the one that the run is checked by.
void LessonPlayer::note_observed() {
  const std::optional<std::size_t> question = question_of_run(at_);
  if (!question) return;
  const std::optional<Ask>& ask = lesson_->steps[*question].ask;
  states_[at_].observed =
      ask && !ask->metric.empty() ? context().observed_figure(ask->metric) : std::nullopt;
}

// The prediction that the run of step `index` answers: none if another run stands between them.
std::optional<std::size_t> LessonPlayer::question_of_run(std::size_t index) const {
  while (index-- > 0) {
    if (lesson_->steps[index].kind == StepKind::kRun) break;
    if (lesson_->steps[index].kind == StepKind::kPredict) return index;
  }
  return std::nullopt;
}

void LessonPlayer::keep_guess() {
  const StepState& state = states_[at_];
  if (!state.guess || step().ask->metric.empty()) return;
  const QString metric = QString::fromStdString(step().ask->metric);
  std::vector<Guess> guesses = session_.locks().guesses();
  guesses.erase(std::remove_if(guesses.begin(), guesses.end(),
                               [&](const Guess& guess) { return guess.metric == metric; }),
                guesses.end());
  Guess guess{metric, *state.guess, answer_words(at_)};
  if (metric.startsWith(QLatin1String("collective.")))
    guess.collective = std::make_shared<const CollectiveChoice>(session_.collectives().choice());
  else
    guess.setup = session_.setup();
  guesses.push_back(std::move(guess));
  session_.locks().set_guesses(std::move(guesses));
  Q_EMIT guess_changed(metric, *state.guess);
}

}  // namespace parallelarium
