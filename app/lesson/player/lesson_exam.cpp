// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that takes a lesson as an exam, and says how far the student is in one.
#include <algorithm>

#include "app/lesson/player/json_member.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/sentence.h"
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
  Result<Context> context = step().sets_plan() ? context_of(settings(), drawn_, predictions)
                                               : context_at(*lesson_, at_, drawn_, predictions);
  if (context) context->guess = latest_guess();
  return context;
}

bool LessonPlayer::is_taken(const Lesson& lesson) const {
  const auto& place = progress_.place();
  if (!place || !place->is_exam()) return false;
  return progress_.exam_record(lesson.id, lesson.version, place->seed(lesson.id)).is_object();
}

nlohmann::json LessonPlayer::record(const Lesson& lesson) const {
  const auto& place = progress_.place();
  return place && place->is_exam()
             ? progress_.exam_record(lesson.id, lesson.version, place->seed(lesson.id))
             : progress_.record(lesson.id, lesson.version);
}

bool LessonPlayer::is_done(const Lesson& lesson) const {
  const auto& place = progress_.place();
  return place && place->is_exam()
             ? progress_.exam_done(lesson.id, lesson.version, place->seed(lesson.id))
             : progress_.done(lesson.id, lesson.version);
}

std::optional<Mastery> LessonPlayer::mastery(const Lesson& lesson) const {
  return exam() ? std::nullopt : progress_.mastery(lesson.id, lesson.version);
}

std::size_t LessonPlayer::reached(const Lesson& lesson) const {
  std::size_t entered = 0;  // one after another; one who opened a document further on begins anew
  for (const nlohmann::json& kept : member_or(record(lesson), "steps", nlohmann::json::array())) {
    const std::string id = member_or(kept, "step", std::string());
    const bool passed = member_or(kept, "passed", false);
    if (!passed && entered < lesson.steps.size() && id == lesson.steps[entered].id)
      ++entered;
    else if (lesson.find(id))
      break;
  }
  return entered;
}

bool LessonPlayer::is_begun(const Lesson& lesson) const {
  if (!is_done(lesson)) return reached(lesson) > 0;
  return !exam() && progress_.again(lesson.id, lesson.version) && reached(lesson) > 1;
}

void LessonPlayer::keep(bool is_done, const nlohmann::json& answers) {
  const Result<void> kept =
      exam_ ? progress_.keep_exam(lesson_->id, lesson_->version, seed_, is_done, answers)
            : progress_.keep(lesson_->id, lesson_->version, is_done, answers);
  if (!kept) Q_EMIT not_kept(sentence(kept.error()));
}

bool LessonPlayer::may_leave() const {
  if (!is_open() || !exam_ || state().solved) return true;
  return step().kind == StepKind::kRead || step().kind == StepKind::kRun;
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
