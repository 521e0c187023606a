// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/plan/plan_search.h"

#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/run/run_request.h"
#include "app/state/session.h"
#include "engine/plan/machine/machine.h"
#include "engine/planner/search.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

PlanSearch& PlanSearch::of(Session& session) {
  auto* found = session.findChild<PlanSearch*>(QString(), Qt::FindDirectChildrenOnly);
  return found ? *found : *new PlanSearch(session);
}

PlanSearch::PlanSearch(Session& session) : QObject(&session), session_(session) {
  connect(&session, &Session::run_state_changed, this, &PlanSearch::hear);
  connect(&predictions_, &PlanPredictions::made, this, [this] {
    if (to_pin_) pin(Setup(*to_pin_));
    Q_EMIT changed();
  });
  connect(&session.history(), &History::changed, this, [this] {
    const FoundPlan* plan = selected();
    show_plan(plan && plan->setup == session_.setup());
  });
}

void PlanSearch::set_wish(const PlanWish& wish) {
  if (wish == wish_) return;
  const bool other_model = wish.model != wish_.model;
  wish_ = wish;
  if (other_model) put_today_on_model();
  if (!has_experts())
    for (const auto& axis : {QStringLiteral("ep"), QStringLiteral("expert-tensor")})
      wish_.fixed.erase(axis);
  // The banner may still say why the last wish was refused.
  if (!error_.isEmpty() && error_ == session_.jobs().last_error()) session_.jobs().dismiss_error();
  error_.clear();
  limit_answer();
  Q_EMIT changed();
}

void PlanSearch::put_today_on_model() {
  const Result<Model> searched = model();
  if (wish_.today && searched && wish_.today->model != *searched)
    wish_.today = on_model(*wish_.today, *searched);
}

const PlanWish& PlanSearch::subject() const {
  return answer_ ? answered_ : searching_ && !asking_ ? asked_ : wish_;
}

bool PlanSearch::searches_other() const {
  return searching_ && !asking_ && !asks_the_same(asked_, wish_);
}

std::int64_t PlanSearch::limit_bytes() const {
  return wish_.memory_bytes > 0 ? wish_.memory_bytes : device_bytes();
}

bool PlanSearch::differs_in_limit_alone() const {
  PlanWish like = wish_;
  like.memory_bytes = answered_.memory_bytes;
  return searched_ && searched_->by_time() && asks_the_same(like, answered_);
}

void PlanSearch::limit_answer() {
  if (!searched_) return;
  const std::int64_t limit = limit_bytes();
  const bool limits = differs_in_limit_alone() && limit < searched_->capacity_bytes;
  if (!limits && !is_limited()) return;
  answer_ = limits ? with_limit(*searched_, limit) : *searched_;
  value_.reset();
  asked_before_.reset();
}

void PlanSearch::begin_with(const Setup& setup) {
  const Result<Machine> machine = find_machine(setup.machine.name());
  if (wish_ != PlanWish() || !machine || machine->local) return;
  PlanWish wish = sized_like({}, setup);
  wish.machine = wish_of(setup.machine);
  set_wish(wish);
}

void PlanSearch::compare_with(const Setup& today, const QString& text) {
  PlanWish wish = sized_like(wish_, today);
  wish.today = trained_as_plans(today);
  wish.today_text = text;
  wish.today_framework = QString::fromStdString(framework_of_text(text.toStdString()));
  const bool is_answered = answer_ && asks_the_same(wish, answered_);
  if (!is_answered) {
    wish.fixed.clear();
    if (!wish.today_framework.isEmpty()) wish.framework = wish.today_framework;
  }
  compared_ = Compared{without_today(), wish};
  set_wish(wish);
  if (is_answered) predict_today();
}

// What was set since the comparison stays.
PlanWish PlanSearch::without_today() const {
  PlanWish wish = wish_;
  wish.today.reset();
  wish.today_text.clear();
  wish.today_framework.clear();
  if (!compared_ || !wish_.today) return wish;
  const PlanWish &before = compared_->before, &with = compared_->with;
  if (wish.model == with.model && wish.sequence == with.sequence) {
    wish.model = before.model;
    wish.sequence = before.sequence;
  }
  if (wish.gpus == with.gpus) wish.gpus = before.gpus;
  if (wish.framework == with.framework) wish.framework = before.framework;
  if (wish.global_batch == with.global_batch) wish.global_batch = before.global_batch;
  wish.fixed.insert(before.fixed.begin(), before.fixed.end());
  return wish;
}

void PlanSearch::forget_today() {
  PlanWish wish = answer_ && !is_outdated() ? wish_ : without_today();
  wish.today.reset();
  wish.today_text.clear();
  wish.today_framework.clear();
  compared_.reset();
  set_wish(wish);
  // Today's is no plan to look at any more.
  if (const FoundPlan* found = selected() ? nullptr : first_choice()) select(Setup(found->setup));
}

void PlanSearch::start() {
  if (searching_ || !refusal().isEmpty()) return;
  const Result<Setup> base = base_of(wish_);
  if (!base) {
    error_ = sentence(base.error());
    Q_EMIT changed();
    return;
  }
  EngineRequest request;
  request.method = "plan";
  request.answers_cancel = true;
  request.parameters = parameters_of(wish_, *base);
  if (wish_.today) request.parameters["explain"] = to_json(*wish_.today);
  request.read = [this, wish = wish_](const nlohmann::json& json) -> Result<EngineRequest::Keep> {
    Result<PlanAnswer> answer = plan_answer_from_json(json);
    if (!answer) return answer.error();
    return EngineRequest::Keep(
        [this, wish, answer = std::make_shared<PlanAnswer>(std::move(*answer))]() -> Result<void> {
          keep(std::move(*answer), wish);
          return {};
        });
  };
  error_.clear();
  asked_ = wish_;
  searching_ = true;
  session_.jobs().run(request);
  Q_EMIT changed();
}

void PlanSearch::cancel() {
  if (searching_) session_.jobs().cancel();
}

double PlanSearch::progress() const { return session_.jobs().progress(); }
QString PlanSearch::progress_text() const { return session_.jobs().progress_text(); }

QString PlanSearch::refusal() const {
  return session_.jobs().state() == RunState::kIdle || searching_
             ? QString()
             : tr("The engine is busy with a run or a calibration.");
}

void PlanSearch::keep(PlanAnswer answer, const PlanWish& wish) {
  searched_ = answer_ = std::move(answer);
  answered_ = wish;
  forget_asked();
  selected_.reset();
  to_pin_.reset();
  predictions_.clear();
  if (const FoundPlan* found = first_choice()) selected_ = found->setup;
  shows_plan_ = selected_.has_value();
}

const FoundPlan* PlanSearch::best() const {
  return answer_ && !answer_->plans.empty() ? &answer_->plans[answer_->best_at] : nullptr;
}

const FoundPlan* PlanSearch::first_choice() const {
  if (!answer_) return nullptr;
  if (!answer_->by_time()) return best();
  for (const PlanAdvice& advice : answer_->recommended)
    if (std::count(advice.merits.begin(), advice.merits.end(), "simplest") > 0) return &advice.plan;
  return best();
}

void PlanSearch::show_plan(bool plan) {
  if (plan == shows_plan_) return;
  shows_plan_ = plan;
  Q_EMIT changed();
}

std::shared_ptr<const Prediction> PlanSearch::prediction_of(const Setup& setup) {
  Result<Machine> machine = machine_of(setup.machine);
  if (!machine) return nullptr;
  if (const std::int64_t bytes = limits().memory_bytes; bytes > 0)
    machine->usable_memory_share = double(bytes) / machine->memory_bytes.value;
  return predictions_.of(session_.resolved(setup), *machine);
}

void PlanSearch::pin(const Setup& setup) {
  const std::shared_ptr<const Prediction> prediction = prediction_of(setup);
  to_pin_ = prediction ? std::nullopt : std::optional(setup);
  if (prediction) session_.runs().pin(record_of(prediction));
}

void PlanSearch::hear() {
  if ((searching_ || trying_ || comparing_) && session_.jobs().state() == RunState::kIdle) {
    searching_ = trying_ = comparing_ = false;
    asking_.reset();
    error_ = session_.jobs().last_error();
  }
  Q_EMIT changed();
}

std::vector<const FoundPlan*> PlanSearch::selectable() const {
  std::vector<const FoundPlan*> all = all_plans();
  if (is_limited())
    std::erase_if(all,
                  [&](const FoundPlan* plan) { return plan->bytes > answer_->capacity_bytes; });
  return all;
}

std::vector<const FoundPlan*> PlanSearch::all_plans() const {
  std::vector<const FoundPlan*> all;
  if (!answer_) return all;
  const auto add = [&](const FoundPlan& plan) {
    if (std::none_of(all.begin(), all.end(),
                     [&](const FoundPlan* other) { return other->setup == plan.setup; }))
      all.push_back(&plan);
  };
  std::vector<const PlanAnswer*> answers{&*answer_};
  if (is_limited()) answers.push_back(&*searched_);
  for (const PlanAnswer* of : answers) {
    for (const auto* plans : {&of->plans, &of->front})
      for (const FoundPlan& plan : *plans) add(plan);
    for (const PlanAdvice& advice : of->recommended) add(advice.plan);
    for (const ToldRule& rule : of->rules)
      if (rule.plan) add(*rule.plan);
  }
  // It stays while the answer is of other settings, as the other plans do.
  if (answer_->explained && (is_stale() || answered_.today == wish_.today)) {
    const ExplainedPlan& told = *answer_->explained;
    if (told.seconds && told.plan) add(*told.plan);
    if (told.change) add(told.change->plan);
  }
  if (value_ && value_->plan) add(*value_->plan);
  if (asked_before_) add(*asked_before_);
  return all;
}

const ExplainedPlan* PlanSearch::today() const {
  const bool told = answer_ && answer_->explained && !is_stale() && answered_.today == wish_.today;
  return told ? &*answer_->explained : nullptr;
}

bool PlanSearch::is_today(const FoundPlan& plan) const {
  const ExplainedPlan* told = today();
  return told && told->plan && told->plan->setup == plan.setup;
}

const FoundPlan* PlanSearch::selected() const {
  if (!selected_) return is_limited() ? best() : nullptr;
  for (const FoundPlan* plan : selectable())
    if (plan->setup == *selected_) return plan;
  return is_limited() ? best() : nullptr;
}

const FoundPlan* PlanSearch::displaced() const {
  if (!selected_ || !is_limited()) return nullptr;
  for (const FoundPlan* plan : all_plans())
    if (plan->setup == *selected_ && plan->bytes > answer_->capacity_bytes) return plan;
  return nullptr;
}

std::vector<PlanWhy> PlanSearch::why_selected() const {
  const FoundPlan* plan = selected();
  if (!plan || !best() || neighbours()) return {};
  if (!is_best(*plan)) return {why_behind(*answer_, *best(), *plan)};
  PlanWhy why;
  const Message step = figure(seconds_text(plan->seconds, QLocale::c()).toStdString());
  why.sentence =
      answer_->by_time()
          ? message("plan-why-fastest", "No plan that was simulated is faster: its step takes {}.",
                    step)
          : message(
                "plan-why-best",
                "No candidate is better by the objective: its step takes {}, and it needs {} on "
                "{} GPU{}.",
                step, figure(bytes_text(plan->bytes, QLocale::c()).toStdString()), plan->gpus,
                plan->gpus == 1 ? "" : "s");
  return {why};
}

void PlanSearch::select(const Setup& setup) {
  selected_ = setup;
  shows_plan_ = true;
  Q_EMIT changed();
}

void PlanSearch::select_next(int direction) {
  const std::vector<const FoundPlan*> plans = selectable();
  if (plans.empty()) return;
  const FoundPlan* before = selected();
  const auto at = std::find_if(plans.begin(), plans.end(), [&](const FoundPlan* plan) {
    return before && plan->setup == before->setup;
  });
  const auto last = std::ptrdiff_t(plans.size()) - 1;
  const std::ptrdiff_t next =
      at == plans.end() ? 0 : std::clamp<std::ptrdiff_t>(at - plans.begin() + direction, 0, last);
  select(Setup(plans[std::size_t(next)]->setup));
}

bool PlanSearch::is_best(const FoundPlan& plan) const {
  return best() && best()->setup == plan.setup;
}

void PlanSearch::use() {
  const FoundPlan* plan = selected();
  if (!plan || is_outdated()) return;
  session_.history().change(plan->setup, tr("The plan of the search"));
  Q_EMIT used();
}

void PlanSearch::open_example(const Setup& example) {
  session_.history().change(example, tr("An example of the search"));
  Q_EMIT used();
}

Result<Model> PlanSearch::model() const {
  const Result<Setup> base = base_of(wish_);
  return base ? Result<Model>(base->model) : Result<Model>(base.error());
}

Result<Machine> PlanSearch::machine() const {
  const Result<Setup> base = base_of(wish_);
  return base ? machine_of(base->machine) : Result<Machine>(base.error());
}

std::int64_t PlanSearch::sequence() const {
  const Result<Model> searched = model();
  return searched ? searched->sequence : 0;
}

bool PlanSearch::has_experts() const {
  const Result<Model> searched = model();
  return searched && searched->experts.count > 0;
}

QString PlanSearch::memory_text() const {
  Result<Machine> searched = machine();
  if (!searched) return {};
  if (wish_.memory_bytes > 0)
    searched->usable_memory_share = double(wish_.memory_bytes) / searched->memory_bytes.value;
  return sentence(memory_counted(*searched));
}

std::int64_t PlanSearch::device_bytes() const {
  const Result<Machine> searched = machine();
  return searched ? std::int64_t(searched->memory_bytes.value * searched->usable_memory_share) : 0;
}

}  // namespace parallelarium
