// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/player/lesson_player.h"

#include <QLocale>
#include <QRandomGenerator>
#include <QScopedValueRollback>
#include <algorithm>
#include <cmath>

#include "app/look/sentence.h"
#include "app/state/run/engine_process.h"
#include "app/state/step/order_edit.h"
#include "app/state/step/training_step.h"

namespace parallelarium {

namespace {

using nlohmann::json;

// Locks every setting: no key has this name.
const char* const kNoSetting = "(none)";

QStringList to_list(const std::vector<std::string>& texts) {
  QStringList list;
  for (const std::string& text : texts) list << QString::fromStdString(text);
  return list;
}

// How to run (backend, stretch, text, devices) stays the student's; how many steps and which rank
// is slow is the lesson's.
RunSettings run_of(RunSettings students, const RunSettings& lessons) {
  students.steps = lessons.steps;
  students.warmup = lessons.warmup;
  students.slow_rank = lessons.slow_rank;
  return students;
}

// Whether a run of what is set shows what the step asks: a plan, or a figure of these settings.
// What the answer reveals is another setup, and what names no figure may be about any.
bool asks_of_shown(const Step& step) {
  if (step.sets_plan()) return true;
  const auto names = [](const Ask& ask) { return !ask.metric.empty(); };
  return step.reveal.empty() &&
         ((step.ask && names(*step.ask)) ||
          std::any_of(step.parts.begin(), step.parts.end(),
                      [&](const QuestionPart& part) { return names(part.ask); }));
}

}  // namespace

LessonPlayer::LessonPlayer(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::prediction_changed, this, &LessonPlayer::watch);
  connect(&session_, &Session::run_changed, this, &LessonPlayer::watch);
  connect(&session_.collectives(), &CollectiveSession::run_changed, this, &LessonPlayer::watch);
  connect(&session_, &Session::run_state_changed, this, [this] {
    if (is_open() && step().kind == StepKind::kRun) Q_EMIT changed();
  });
  connect(&session_, &Session::restored, this, &LessonPlayer::restore);
}

std::string LessonPlayer::language() {
  return QLocale().name().section(QLatin1Char('_'), 0, 0).toStdString();
}

// Of a lesson that is played again the numbers are others, unless a class has its own.
std::uint64_t LessonPlayer::new_seed(const Lesson& lesson) const {
  if (const auto& place = progress_.place()) return place->seed(lesson.id);
  const nlohmann::json before = progress_.record(lesson.id, lesson.version);
  const bool again =
      before.is_object() && before.contains("seed") && before["seed"].is_number_unsigned();
  const Symbols last =
      again ? draw_numbers(lesson, before["seed"].get<std::uint64_t>()) : Symbols{};
  std::uint64_t seed = 0;
  for (int tries = 0; tries < 20; ++tries) {
    seed = QRandomGenerator::global()->bounded(1u, 1000000u);
    if (!again || draw_numbers(lesson, seed) != last) break;
  }
  return seed;
}

// Where the planner solves what is drawn, this takes a second or two.
void LessonPlayer::draw_lesson() {
  const bool solves = !lesson_->problems.empty();
  if (solves) Q_EMIT solving(true);
  drawn_ = draw(*lesson_, seed_);
  if (solves) Q_EMIT solving(false);
}

Result<void> LessonPlayer::open(const QString& folder, std::optional<std::uint64_t> seed) {
  Result<Lesson> lesson = read_lesson(folder.toStdString());
  if (!lesson) return lesson.error();
  const Result<void> playable = can_play(*lesson, computer());
  if (!playable) return playable;
  if (!seed && is_taken(*lesson)) return resume(folder);
  if (is_open()) leave();
  reviews_ = places_ = false;
  exam_ = progress_.place() && progress_.place()->is_exam();
  asked_.clear();
  lesson_ = std::move(*lesson);
  seed_ = seed ? *seed : new_seed(*lesson_);
  draw_lesson();
  states_ = std::vector<StepState>(lesson_->steps.size());
  at_ = 0;  // before anybody asks for the step: the lesson before may have had more
  finished_.reset();
  kept_.clear();
  since_start_.start();
  session_.locks().set_guesses({});
  session_.set_earlier_runs_aside(true);
  enter(0, true);
  return {};
}

void LessonPlayer::close() {
  if (!is_open()) return;
  leave();
  lesson_.reset();
  reviews_ = places_ = false;
  asked_.clear();
  states_.clear();
  session_.locks().set_hidden({});
  session_.locks().set_allowed({});
  session_.locks().set_question_open(false);
  session_.locks().set_guesses({});
  session_.order_edit().set_task(std::nullopt);
  session_.set_earlier_runs_aside(false);
  session_.history().set_base(new_setup());
  session_.locks().set_lesson_state(nullptr);
  Q_EMIT changed();
}

void LessonPlayer::reset() {
  if (!is_open() || exam_) return;
  const Result<void> opened = open(QString::fromStdString(lesson_->folder));
  if (!opened) Q_EMIT failed(sentence(opened.error()));
}

void LessonPlayer::enter(std::size_t index, bool set_up) {
  at_ = index;
  StepState& state = states_[at_];
  if (set_up && state.visited)
    set_settings(state.left_with);
  else if (set_up && (at_ == 0 || !step().setup.empty() || !step().from.empty()))
    set_settings(begun_at(at_));
  state.visited = true;
  if (step().kind == StepKind::kRead) state.solved = true;
  if (step().builds_order()) {
    if (!session_.setup().schedule.order()) set_order(step().order.start);
    session_.history().stack().clear();  // what was set before would solve it
  }
  note_base();
  apply_hidden_and_allowed();
  set_task();
  begin_paused();
  if (!step().tab.empty()) Q_EMIT tab_wanted(QString::fromStdString(step().tab));
  session_.subject().follow_lengths();  // where the student zoomed in belongs to the part before
  session_.subject().refit();
  if (step().view_range) {
    const double whole = static_cast<double>(session_.subject().horizon().count());
    session_.subject().set_visible({Nanoseconds(std::llround(whole * step().view_range->first)),
                                    Nanoseconds(std::llround(whole * step().view_range->second))});
  }
  save();
  Q_EMIT changed();
  watch();
}

// Nothing moves, and nothing has happened yet: the student sets it going.
void LessonPlayer::begin_paused() {
  session_.playback().set_playing(false);
  session_.playback().set_playhead(Nanoseconds(0));
  session_.collectives().set_playhead(Nanoseconds(0));
}

// What the student changes is marked against, and reset to, what the lesson has set here.
void LessonPlayer::note_base() {
  const bool reveals = step().kind == StepKind::kPredict || step().assigns();
  const bool revealed = reveals && state().solved && tells_verdict();
  Result<Settings> start = begun_at(at_, revealed);
  if (!start) return;  // enter() says why
  start->setup.run = run_of(new_setup().run, start->setup.run);
  session_.history().set_base(start->setup);
}

void LessonPlayer::leave() {
  states_[at_].left_with = settings();
  if (step().builds_order()) states_[at_].tries = session_.order_edit().tries();
}

Settings LessonPlayer::settings() const {
  CollectiveChoice collective = session_.collectives().choice();
  collective.gpus = session_.collectives().plan()->choice.gpus;
  return {session_.setup(), std::move(collective)};
}

void LessonPlayer::apply_hidden_and_allowed() {
  const bool open_question = !state().solved || !tells_verdict();
  const bool reading = step().kind == StepKind::kRead;
  session_.locks().set_hidden(open_question || reading ? to_list(step().hide) : QStringList());
  QStringList allowed = to_list(step().allow);
  // Of a question in words the settings stay free, so that the student can look, unless the views
  // would show what is typed, hidden or revealed.
  const bool typed = step().ask && !step().ask->answer.empty();
  const bool asks = step().kind == StepKind::kPredict || step().kind == StepKind::kBuild ||
                    (step().kind == StepKind::kExplain &&
                     (typed || exam_ || !step().hide.empty() || !step().reveal.empty()));
  if (asks && open_question && allowed.isEmpty()) allowed << QLatin1String(kNoSetting);
  const bool keeps_lock = step().kind == StepKind::kGoal || step().sets_plan() || open_question;
  if (step().sets_plan() && !open_question) allowed = {QLatin1String(kNoSetting)};
  session_.locks().set_allowed(keeps_lock ? allowed : QStringList());
  session_.locks().set_question_open(step().kind == StepKind::kPredict && open_question,
                                     asks_of_shown(step()));
}

void LessonPlayer::set_settings(const Result<Settings>& wanted) {
  if (!wanted) {
    Q_EMIT failed(sentence(wanted.error()));
    return;
  }
  Setup setup = wanted->setup;
  setup.run = run_of(session_.setup().run, wanted->setup.run);
  const QScopedValueRollback<bool> busy(busy_, true);
  const QString what = tr("Lesson: %1").arg(title());
  session_.history().change(setup, what);
  session_.collectives().change(wanted->collective, what);
  session_.wait_for_prediction();
}

Facts LessonPlayer::predicted_facts() const {
  const std::shared_ptr<const Prediction> prediction = session_.subject().prediction();
  if (told_.lock() != prediction) {
    told_facts_ = facts_of(*prediction);
    told_ = prediction;
  }
  return told_facts_;
}

Context LessonPlayer::context() const {
  Context context;
  context.settings = settings();
  context.drawn = drawn_;
  context.guess = latest_guess();
  if (session_.prediction_is_current()) context.predicted = predicted_facts();
  const RunRecord* run = session_.runs().current();
  if (run && run->observed() && !session_.runs().current_is_stale())
    context.observed = facts_of(run->observation, run->prediction->program);
  if (!context.observed.is_null() && run->proof)
    context.observed["proof"] = proof_facts(*run->proof);
  const CollectiveSession& collectives = session_.collectives();
  if (!collectives.problem()) context.collective_predicted = facts_of(*collectives.plan());
  context.kept = kept_;
  if (const CollectiveRun* seen = collectives.fresh_run())
    context.collective_observed = facts_of(seen->seen, *seen->plan);
  return context;
}

void LessonPlayer::commit(const Answer& answer) {
  if (!is_open() || busy_) return;
  if (step().kind == StepKind::kRead) return;
  const bool once = step().kind == StepKind::kPredict || !tells_verdict();
  if (once && state().solved) return;
  if (!plan_problem().isEmpty()) return;
  if (tells_verdict() && step().sets_plan()) reveal();
  judge_now(answer);
}

void LessonPlayer::reveal() {
  if (!step().reveal.empty()) set_settings(settings_at(*lesson_, at_, drawn_, true));
}

void LessonPlayer::judge_now(const Answer& answer) {
  session_.wait_for_prediction();
  const bool unseen = !tells_verdict() || (may_retry() && !step().reveal.empty());
  const Result<Context> in = unseen ? unseen_context() : context();
  Result<Judgement> judgement = in ? judge(step(), answer, *in) : Result<Judgement>(in.error());
  if (judgement && judgement->verdict == Verdict::kRight && may_retry() && unseen) {
    reveal();
    judgement = judge(step(), answer, context());
  }
  if (!judgement) {
    Q_EMIT failed(sentence(judgement.error()));
    return;
  }
  const bool right = judgement->verdict == Verdict::kRight;
  StepState& state = states_[at_];
  state.answer = answer;
  state.judgement = std::move(*judgement);
  state.right = right;
  if (step().kind == StepKind::kPredict && state.attempts == 0) {
    state.first = answer;
    state.guess = guess_of(at_, answer);
  }
  if (step().sets_plan()) state.committed = settings();
  ++state.attempts;
  state.unmet = false;
  if (right && step().assigns() && tells_verdict()) reveal();
  if (step().kind == StepKind::kRun) {
    state.misses += right ? 0 : 1;
    if (!step().keep.empty()) kept_[step().keep] = context().observed;
    note_observed();
    note_run();
  }
  // A plan is committed once, and so is any answer of an exam.
  settle(right || step().sets_plan() || !tells_verdict());
  Q_EMIT judged(right);
}

// What follows from a verdict.
void LessonPlayer::settle(bool solved) {
  states_[at_].solved = solved;
  note_base();
  if (step().kind == StepKind::kPredict && solved) keep_guess();
  apply_hidden_and_allowed();
  if (step().builds_order()) session_.order_edit().set_solved(solved);
  save();
  Q_EMIT changed();
}

bool LessonPlayer::may_continue() const {
  if (state().solved) return false;
  const bool reaches = step().kind == StepKind::kGoal || step().kind == StepKind::kBuild;
  const int misses = disturbance() ? 1 : 2;  // of which the student is not the cause
  return (step().kind == StepKind::kRun && state().misses >= misses) ||
         (exam_ && reaches && state().attempts > 0);
}

void LessonPlayer::continue_unmet() {
  if (!is_open() || !may_continue()) return;
  states_[at_].solved = states_[at_].unmet = true;
  apply_hidden_and_allowed();
  save();
  Q_EMIT changed();
}

void LessonPlayer::show_hint() {
  if (!is_open() || exam_ || state().hints >= step().hints) return;
  ++states_[at_].hints;
  save();
  Q_EMIT changed();
}

void LessonPlayer::next() {
  if (!is_open() || !state().solved) return;
  if (reviews_) return end_review();
  leave();
  if (!tells_verdict()) reveal();  // what follows builds on it
  if (!at_end()) return enter(at_ + 1, true);
  finished_ = {lesson_title(), QString::fromStdString(lesson_->folder),
               exam_ ? exam_summary() : summary(), answers()};
  if (!presents_) keep(true, finished_->answers);
  close();
  Q_EMIT finished();
}

void LessonPlayer::back() {
  if (!is_open() || at_ == 0 || reviews_) return;
  leave();
  enter(at_ - 1, true);
}

}  // namespace parallelarium
