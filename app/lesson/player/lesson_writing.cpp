// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player for those who write the lesson that is open.
#include <algorithm>

#include "app/lesson/player/lesson_player.h"
#include "app/state/step/order_edit.h"

namespace parallelarium {

Result<void> LessonPlayer::read_again(bool anew) {
  if (!is_open() || exam_ || reviews_) return {};
  Result<Lesson> lesson = read_lesson(lesson_->folder);
  if (!lesson) return lesson.error();
  if (const Result<void> playable = can_play(*lesson, computer()); !playable) return playable;
  leave();
  const std::string id = step().id;
  std::size_t at = std::min(at_, lesson->steps.size() - 1);
  std::vector<StepState> states(lesson->steps.size());
  for (std::size_t index = 0; index < lesson->steps.size(); ++index) {
    if (lesson->steps[index].id == id) at = index;
    for (std::size_t old = 0; old < lesson_->steps.size(); ++old)
      if (lesson_->steps[old].id == lesson->steps[index].id) states[index] = states_[old];
  }
  lesson_ = std::move(*lesson);
  draw_lesson();
  states_ = std::move(states);
  at_ = at;
  if (anew) {
    states_[at_] = {};
    session_.order_edit().set_task(std::nullopt);
    set_settings(begun_at(at_));
  }
  Q_EMIT read_anew();
  enter(at_, false);
  return {};
}

Result<std::vector<std::string>> LessonPlayer::record_as(RecordAs as) const {
  return record_setup(*lesson_, at_, as, drawn_, settings());
}

}  // namespace parallelarium
