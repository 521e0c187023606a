// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that is kept: progress, the lesson in a document, exported answers.
#include <QDateTime>
#include <QRandomGenerator>
#include <QScopedValueRollback>
#include <algorithm>
#include <tuple>

#include "app/lesson/player/json_member.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/sentence.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {

using nlohmann::json;

void LessonPlayer::save() {
  if (reviews_ || presents_ || resumes_) return;  // what was answered in the lesson stays
  session_.locks().set_lesson_state(
      {{"id", lesson_->id}, {"version", lesson_->version}, {"seed", seed_}, {"step", step().id}});
  keep(false, answers());
}

Result<void> LessonPlayer::go_on(const QString& folder) {
  if (is_open() && !reviews_ && folder == QString::fromStdString(lesson_->folder)) return {};
  const Result<Lesson> lesson = read_lesson(folder.toStdString());
  if (!lesson) return lesson.error();
  return is_begun(*lesson) ? resume(folder) : open(folder);
}

Result<void> LessonPlayer::resume(const QString& folder) {
  const Result<Lesson> lesson = read_lesson(folder.toStdString());
  const json kept = lesson ? record(*lesson) : json();
  const auto seed = member_or(kept, "seed", std::uint64_t{0});
  // Taken by hand out of an exam's record, its numbers are those of the class all the same.
  const bool taken = lesson && is_taken(*lesson);
  if (seed == 0 && !taken) return open(folder);
  {
    const QScopedValueRollback<bool> resumes(resumes_, true);
    if (Result<void> opened = open(folder, taken ? progress_.place()->seed(lesson->id) : seed);
        !opened)
      return opened;
  }
  const json all = member_or(kept, "steps", json::array());
  std::vector<json> steps;  // without parts that the lesson has no more
  for (const json& step : all)
    if (lesson_->find(member_or(step, "step", std::string()))) steps.push_back(step);
  const std::size_t reached = std::min(steps.size(), states_.size());
  std::size_t known = 0;  // less than reached where the lesson has another text by now
  while (known < reached && steps[known]["step"] == lesson_->steps[known].id) {
    take_up(known, steps[known], known + 1 == reached);
    ++known;
  }
  if (known > 0)
    enter(known - 1, true);
  else
    save();
  return {};
}

Result<Settings> LessonPlayer::begun_at(std::size_t index, bool revealed) const {
  const Step& step = lesson_->steps[index];
  if (const Step* from = lesson_->find(step.from)) {
    const StepState& state = states_[static_cast<std::size_t>(from - lesson_->steps.data())];
    if (state.committed) return entered(step, *state.committed, drawn_);
  }
  return settings_at(*lesson_, index, drawn_, revealed);
}

// What was answered at a step, as answers() wrote it.
void LessonPlayer::take_up(std::size_t at, const json& kept, bool is_last) {
  if (member_or(kept, "passed", false)) return skip(at);
  const Step& step = lesson_->steps[at];
  StepState& state = states_[at];
  state.visited = true;
  state.solved = !is_last || member_or(kept, "solved", false);
  state.attempts = std::max(0, member_or(kept, "attempts", 0));
  state.hints = std::clamp(member_or(kept, "hints", 0), 0, step.hints);
  if (kept.contains("right")) state.right = member_or(kept, "right", false);
  if (kept.contains("number") && kept["number"].is_number())
    state.answer.number = kept["number"].get<double>();
  if (kept.contains("observed") && kept["observed"].is_number())
    state.observed = kept["observed"].get<double>();
  state.answer.option = member_or(kept, "option", std::string());
  state.answer.parts = parts_from_json(member_or(kept, "parts", json::object()));
  state.answer.order = member_or(kept, "order", std::vector<std::string>());
  state.answer.marks = member_or(kept, "marks", std::set<std::pair<int, int>>());
  state.first = state.answer;
  if (step.kind == StepKind::kPredict && step.ask && state.attempts > 0) {
    state.guess = state.first.number;
    for (const Option& option : step.options) {
      if (option.id != state.first.option || option.value.empty()) continue;
      const Result<double> figure = evaluate(option.value, symbols_at(begun_at(at, true)));
      if (figure) state.guess = *figure;
    }
  }
  state.run = member_or(kept, "run", json());
  state.unmet = !member_or(kept, "check_met", true);
  Result<Settings> left = begun_at(at, state.solved && !exam_);
  if (left && (exam_ || step.sets_plan())) {  // what was set for a goal or as a plan is the answer
    Fields set;
    for (const auto& [key, value] :
         member_or(kept, "settings", std::map<std::string, std::string>()))
      if (std::find(step.allow.begin(), step.allow.end(), key) != step.allow.end())
        set.emplace_back(key, value);
    if (const Result<Settings> own = with_fields(*left, set, drawn_)) left = own;
  }
  if (left) state.left_with = *left;
  if (left && step.sets_plan() && state.attempts > 0) state.committed = *left;
}

Result<void> LessonPlayer::review(const QStringList& folders) { return ask_each(folders, false); }

Result<void> LessonPlayer::place(const QStringList& folders) { return ask_each(folders, true); }

Result<void> LessonPlayer::ask_each(const QStringList& folders, bool places) {
  const auto before = std::tuple(places_, asked_, asked_at_);
  places_ = places;
  asked_ = folders;
  asked_at_ = 0;
  Result<void> opened = ask_one(folders.front());
  if (!opened) std::tie(places_, asked_, asked_at_) = before;  // what is open stays
  return opened;
}

// Opens one question of a lesson: to place somebody the last number that is predicted, else any.
Result<void> LessonPlayer::ask_one(const QString& folder) {
  Result<Lesson> lesson = read_lesson(folder.toStdString());
  if (!lesson) return lesson.error();
  std::vector<std::size_t> questions;
  for (std::size_t at = 0; at < lesson->steps.size(); ++at)
    if (lesson->steps[at].ask && !lesson->steps[at].ask->answer.empty() &&
        (!places_ || lesson->steps[at].kind == StepKind::kPredict))
      questions.push_back(at);
  if (questions.empty())
    return message("review-none", "The lesson \"{}\" asks for no number.", lesson->id);
  if (const Result<void> playable = can_play(*lesson, computer()); !playable) return playable;
  if (is_open()) leave();
  reviews_ = true;
  exam_ = false;
  lesson_ = std::move(*lesson);
  finished_.reset();
  since_start_.start();
  seed_ = QRandomGenerator::global()->bounded(1u, 1000000u);
  draw_lesson();
  states_ = std::vector<StepState>(lesson_->steps.size());
  at_ = places_ ? questions.back()
                : questions[static_cast<std::size_t>(
                      QRandomGenerator::global()->bounded(static_cast<int>(questions.size())))];
  session_.locks().set_guesses({});
  session_.set_earlier_runs_aside(true);
  set_settings(settings_at(*lesson_, at_, drawn_));
  enter(at_, false);
  return {};
}

// Only the first answer counts.
void LessonPlayer::keep_review() {
  const bool right = first_right(at_);
  Result<void> kept;
  if (!places_)
    kept = progress_.note_review(lesson_->id, lesson_->version, right,
                                 QDateTime::currentDateTimeUtc());
  else if (right)
    kept = note_known(lesson_->id);
  if (!kept) Q_EMIT not_kept(sentence(kept.error()));
}

void LessonPlayer::end_review() {
  if (!presents_) keep_review();
  while (++asked_at_ < asked_.size())
    if (ask_one(asked_[asked_at_])) return;  // else this computer cannot play it
  close();
  Q_EMIT reviewed();
}

// The lesson and those before it in its unit can be skipped.
Result<void> LessonPlayer::note_known(const std::string& id) {
  const Result<Course> course = read_course(lessons_folder());
  if (!course) return course.error();
  for (const CourseUnit& unit : course->units)
    for (std::size_t at = unit.first; at < unit.first + unit.count; ++at) {
      if (course->lessons[at].id != id) continue;
      for (std::size_t known = unit.first; known <= at; ++known) {
        const Result<Lesson> lesson = read_lesson(course->folder + "/" + course->lessons[known].id);
        if (!lesson) continue;
        if (Result<void> kept = progress_.note_known(lesson->id, lesson->version); !kept)
          return kept;
      }
    }
  return {};
}

// The step that a document names by its id, as older versions did by its place; none if the lesson
// has none of that id any more.
std::optional<std::size_t> LessonPlayer::step_of(const json& step) const {
  if (step.is_number_integer()) return std::min(step.get<std::size_t>(), lesson_->steps.size() - 1);
  const Step* found = lesson_->find(step.get<std::string>());
  if (!found) return std::nullopt;
  return static_cast<std::size_t>(found - lesson_->steps.data());
}

// A document names the lesson, its seed and the step; its Setup stands.
void LessonPlayer::restore() {
  before_.reset();  // what was presented is no more what the window holds
  const json state = session_.locks().lesson_state();
  const auto has = [&](const char* key, bool (json::*is)() const noexcept) {
    return state.is_object() && state.contains(key) && (state[key].*is)();
  };
  if (!has("id", &json::is_string) || !has("seed", &json::is_number_integer) ||
      !(has("step", &json::is_string) || has("step", &json::is_number_integer))) {
    lesson_.reset();
    states_.clear();
    Q_EMIT changed();
    return;
  }
  const Result<Course> course = read_course(lessons_folder());
  if (!course) return;
  for (const CourseEntry& entry : course->lessons) {
    if (entry.id != state["id"].get<std::string>()) continue;
    Result<Lesson> lesson = read_lesson(course->folder + "/" + entry.id);
    if (!lesson) {
      Q_EMIT failed(sentence(lesson.error()));
      return;
    }
    const auto seed = state["seed"].get<std::uint64_t>();
    const auto& place = progress_.place();
    // An exam goes on where it was left: a document knows none of its answers.
    if (place && place->is_exam() && seed == place->seed(entry.id)) {
      const Result<void> resumed = resume(QString::fromStdString(lesson->folder));
      if (!resumed) Q_EMIT failed(sentence(resumed.error()));
      return;
    }
    lesson_ = std::move(*lesson);
    finished_.reset();
    since_start_.start();
    seed_ = seed;
    exam_ = false;
    draw_lesson();
    states_ = std::vector<StepState>(lesson_->steps.size());
    const std::optional<std::size_t> kept = step_of(state["step"]);
    const std::size_t last = kept.value_or(0);
    for (std::size_t step = 0; step < last; ++step) pass(step);
    const Nanoseconds playhead = session_.playback().playhead();
    enter(last, false);
    session_.playback().set_playhead(playhead);  // the document's
    if (!kept)
      Q_EMIT failed(
          tr("The lesson has no more the part at which this document was saved; it begins "
             "at its first part."));
  }
}

// Goes past a part without entering it. What this student answered there with the same numbers is
// taken up; otherwise another one may have, and the part counts as nobody's.
void LessonPlayer::pass(std::size_t at) {
  const json own = record(*lesson_);
  if (member_or(own, "seed", std::uint64_t{0}) == seed_)
    for (const json& kept : member_or(own, "steps", json::array()))
      if (member_or(kept, "step", std::string()) == lesson_->steps[at].id &&
          member_or(kept, "solved", false))
        return take_up(at, kept, false);
  skip(at);
}

void LessonPlayer::skip(std::size_t at) {
  StepState& state = states_[at];
  state.visited = state.solved = state.passed = true;
  if (const Result<Settings> settings = settings_at(*lesson_, at, drawn_, true))
    state.left_with = *settings;
}

// What the student has set of the settings that a goal lets be changed.
json LessonPlayer::set_at(std::size_t index) const {
  const Settings now = states_[index].committed ? *states_[index].committed
                       : index == at_           ? settings()
                                                : states_[index].left_with;
  json set = json::object();
  const json collective = to_json(now.collective);
  for (const std::string& key : lesson_->steps[index].allow) {
    const std::string prefix = "collective.";
    if (key.starts_with(prefix)) {
      const json& value = collective.at(key.substr(prefix.size()));
      set[key] = value.is_string() ? value.get<std::string>() : value.dump();
    } else if (const SetupSetting* row = find_setting(setup_settings(), key)) {
      set[key] = text_of(now.setup, *row);
    }
  }
  return set;
}

json LessonPlayer::answers() const {
  json steps = json::array();
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const StepState& state = states_[index];
    if (!state.visited) continue;
    if (state.passed) {  // nobody answered it, and it counts
      steps.push_back({{"step", lesson_->steps[index].id},
                       {"kind", name_of(lesson_->steps[index].kind)},
                       {"passed", true}});
      continue;
    }
    json step = {{"step", lesson_->steps[index].id},
                 {"kind", name_of(lesson_->steps[index].kind)},
                 {"solved", state.solved},
                 {"attempts", state.attempts},
                 {"hints", state.hints}};
    const Answer& told = answer_told(index);
    if (told.number) step["number"] = *told.number;
    if (!told.option.empty()) step["option"] = told.option;
    if (!told.parts.empty()) step["parts"] = to_json(told.parts);
    if (!state.answer.order.empty()) step["order"] = state.answer.order;
    if (!state.answer.marks.empty()) step["marks"] = state.answer.marks;
    const bool sets =
        lesson_->steps[index].kind == StepKind::kGoal || lesson_->steps[index].sets_plan();
    if (sets && state.attempts > 0) step["settings"] = set_at(index);
    if (state.unmet) step["check_met"] = false;
    const bool once = lesson_->steps[index].kind == StepKind::kPredict;
    if (state.right && !exam_) step["right"] = once ? first_right(index) : *state.right;
    if (const auto question = question_of_run(index); state.observed && question) {
      step["observed"] = *state.observed;
      step["answers"] = lesson_->steps[*question].id;
    }
    if (!state.run.is_null()) step["run"] = state.run;
    steps.push_back(std::move(step));
  }
  json all = {{"lesson", lesson_->id},
              {"version", lesson_->version},
              {"seed", seed_},
              {"language", language()},
              {"seconds", since_start_.elapsed() / 1000},
              {"steps", std::move(steps)}};
  if (exam_) all["exam"] = true;
  return all;
}

}  // namespace parallelarium
