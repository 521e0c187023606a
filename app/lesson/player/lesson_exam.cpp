// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that takes a lesson as an exam.
#include "app/lesson/player/lesson_player.h"
#include "engine/lesson/check/check_parts.h"

namespace parallelarium {

bool LessonPlayer::exam() const {
  if (is_open()) return exam_;
  return progress_.place() && progress_.place()->is_exam();
}

bool LessonPlayer::tells_verdict() const {
  if (!exam_) return true;
  const StepKind kind = step().kind;
  return kind != StepKind::kPredict && kind != StepKind::kExplain && kind != StepKind::kFind;
}

Result<Context> LessonPlayer::unseen_context() const {
  Predictions predictions(computer());
  Result<Context> context = context_at(*lesson_, at_, drawn_, predictions);
  if (context) context->guess = latest_guess();
  return context;
}

bool LessonPlayer::is_taken(const Lesson& lesson) const {
  const auto& place = progress_.place();
  if (!place || !place->is_exam()) return false;
  const nlohmann::json record = progress_.record(lesson.id, lesson.version);
  return record.is_object() && record.value("exam", false) &&
         record.value("seed", nlohmann::json()) == place->seed(lesson.id);
}

QString LessonPlayer::exam_summary() const {
  int asked = 0, answered = 0;
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const StepKind kind = lesson_->steps[index].kind;
    if (kind == StepKind::kRead || kind == StepKind::kRun) continue;
    ++asked;
    answered += states_[index].attempts > 0;
  }
  return tr("This was an exam: %1 of %2 tasks are answered. Choose **Lessons > Export my answers** "
            "and hand in the file.")
      .arg(answered)
      .arg(asked);
}

}  // namespace parallelarium
