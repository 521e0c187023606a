// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that shows a lesson to a class.
#include "app/lesson/player/lesson_player.h"

namespace parallelarium {

namespace {

std::size_t count_runs(const Session& session) {
  return session.runs().all().size() + session.collectives().runs().size();
}

}  // namespace

// A lesson as it is played: what presenting it must not change.
struct LessonPlayer::Play {
  std::optional<Lesson> lesson;
  std::uint64_t seed = 0;
  Symbols drawn;
  std::vector<StepState> states;
  std::size_t at = 0;
  std::map<std::string, nlohmann::json> kept;
  bool reviews = false, places = false;
  QStringList asked;
  int asked_at = 0;
  std::optional<Finished> finished;
  Settings settings;
  std::vector<Guess> guesses;
  std::size_t runs = 0;
};

void LessonPlayer::set_presents(bool presents) {
  if (presents == presents_) return;
  if (presents) {
    if (is_open()) leave();
    before_ = std::make_shared<const Play>(
        Play{lesson_, seed_, drawn_, states_, at_, kept_, reviews_, places_, asked_, asked_at_,
             finished_, settings(), session_.locks().guesses(), count_runs(session_)});
    presents_ = true;
    return;
  }
  const std::shared_ptr<const Play> before = std::exchange(before_, nullptr);
  if (before && !before->lesson) close();  // what was opened meanwhile
  presents_ = false;
  if (!before) return;
  finished_ = before->finished;
  if (!before->lesson) return Q_EMIT changed();
  lesson_ = before->lesson;
  seed_ = before->seed;
  drawn_ = before->drawn;
  states_ = before->states;
  at_ = before->at;
  kept_ = before->kept;
  reviews_ = before->reviews;
  places_ = before->places;
  asked_ = before->asked;
  asked_at_ = before->asked_at;
  exam_ = false;
  // What ran in front of the class answers no step.
  if (count_runs(session_) > before->runs) session_.set_earlier_runs_aside(true);
  session_.locks().set_guesses(before->guesses);
  set_settings(before->settings);
  enter(before->at, false);
}

void LessonPlayer::show_step(int by) {
  if (!is_open() || reviews_ || exam_) return;
  const auto to = static_cast<std::ptrdiff_t>(at_) + by;
  if (to < 0 || to >= static_cast<std::ptrdiff_t>(lesson_->steps.size())) return;
  leave();
  set_settings(settings_at(*lesson_, static_cast<std::size_t>(to), drawn_));
  enter(static_cast<std::size_t>(to), false);
}

void LessonPlayer::clear() {
  close();
  finished_.reset();
  Q_EMIT changed();
}

}  // namespace parallelarium
