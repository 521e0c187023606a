// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked about an answer: what one change of a plan would do, and why a value of an axis is
// not the best.
#include <algorithm>

#include "app/state/plan/plan_search.h"
#include "app/state/run/run_request.h"
#include "app/state/session.h"

namespace parallelarium {
namespace {

// The fastest first.
nlohmann::json setups_by_time(const std::vector<FoundPlan>& plans) {
  std::vector<const FoundPlan*> fastest;
  for (const FoundPlan& plan : plans) fastest.push_back(&plan);
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const FoundPlan* a, const FoundPlan* b) { return a->seconds < b->seconds; });
  nlohmann::json setups = nlohmann::json::array();
  for (const FoundPlan* plan : fastest) setups.push_back(to_json(plan->setup));
  return setups;
}

}  // namespace

const std::vector<PlanWhy>* PlanSearch::neighbours() const {
  const FoundPlan* plan = selected();
  if (!plan) return nullptr;
  // A search that was cancelled did not try those of its best.
  if (is_best(*plan) && !answer_->cancelled && !is_limited())
    return &answer_->plans[answer_->best_at].why;
  for (const TriedChanges& tried : neighbours_)
    if (tried.limit == answer_->capacity_bytes && tried.setup == plan->setup) return &tried.why;
  return nullptr;
}

std::optional<nlohmann::json> PlanSearch::answered_parameters() const {
  PlanWish wish = answered_;
  if (is_limited()) wish.memory_bytes = wish_.memory_bytes;
  const Result<Setup> base = base_of(wish);
  if (!base) return std::nullopt;
  return parameters_of(wish, *base);
}

bool PlanSearch::can_try_neighbours() const {
  return selected() && !is_outdated() && !neighbours() &&
         session_.jobs().state() == RunState::kIdle;
}

void PlanSearch::try_neighbours() {
  if (!can_try_neighbours()) return;
  std::optional<nlohmann::json> search = answered_parameters();
  if (!search) return;
  EngineRequest request;
  request.method = "neighbours";
  request.parameters = {{"setup", to_json(selected()->setup)}, {"search", std::move(*search)}};
  request.read = [this, setup = selected()->setup, limit = answer_->capacity_bytes](
                     const nlohmann::json& json) -> Result<EngineRequest::Keep> {
    Result<std::vector<PlanWhy>> why = neighbours_from_json(json);
    if (!why) return why.error();
    return EngineRequest::Keep([this, setup, limit, why = std::move(*why)]() -> Result<void> {
      neighbours_.push_back({limit, setup, why});
      return {};
    });
  };
  trying_ = true;
  session_.jobs().run(request);
  Q_EMIT changed();
}

// Nothing, where the engine does something else or the search did not end: then a search tells it.
void PlanSearch::predict_today() {
  std::optional<nlohmann::json> search = answered_parameters();
  if (!search || answer_->cancelled || session_.jobs().state() != RunState::kIdle) return;
  EngineRequest request;
  request.method = "standing";
  request.parameters = std::move(*search);
  request.parameters["explain"] = to_json(*wish_.today);
  request.parameters["best"] = setups_by_time(answer_->plans);
  request.read = [this, wish = wish_](const nlohmann::json& json) -> Result<EngineRequest::Keep> {
    Result<ExplainedPlan> told = explained_plan_from_json(json);
    if (!told) return told.error();
    return EngineRequest::Keep(
        [this, wish, told = std::make_shared<ExplainedPlan>(std::move(*told))]() -> Result<void> {
          if (!asks_the_same(wish, answered_)) return {};
          answer_->explained = searched_->explained = *told;
          answered_.today = wish.today;
          return {};
        });
  };
  comparing_ = true;
  session_.jobs().run(request);
  Q_EMIT changed();
}

bool PlanSearch::can_ask_value() const {
  return best() && !is_outdated() && session_.jobs().state() == RunState::kIdle;
}

void PlanSearch::ask_value(const QString& axis, const QString& value) {
  if (!can_ask_value()) return;
  for (const KnownValue& known : known_values_)
    if (known.limit == answer_->capacity_bytes && known.answer.axis == axis.toStdString() &&
        known.answer.value == value.toStdString()) {
      keep_value(ValueAnswer(known.answer));
      Q_EMIT changed();
      return;
    }
  std::optional<nlohmann::json> search = answered_parameters();
  if (!search) return;
  EngineRequest request;
  request.method = "why_not";
  request.parameters = std::move(*search);
  request.parameters["axis"] = axis.toStdString();
  request.parameters["value"] = value.toStdString();
  request.parameters["best"] = to_json(best()->setup);
  // The fastest that has the value is the best with it, where the search kept them all.
  if (!answer_->cancelled && !is_limited())
    request.parameters["known"] = setups_by_time(answer_->plans);
  request.read = [this, limit = answer_->capacity_bytes](
                     const nlohmann::json& json) -> Result<EngineRequest::Keep> {
    Result<ValueAnswer> answer = value_answer_from_json(json);
    if (!answer) return answer.error();
    return EngineRequest::Keep(
        [this, limit,
         answer = std::make_shared<ValueAnswer>(std::move(*answer))]() -> Result<void> {
          known_values_.push_back({limit, *answer});
          // Where the memory limit was moved meanwhile, it is about another one.
          if (answer_->capacity_bytes == limit) keep_value(std::move(*answer));
          return {};
        });
  };
  error_.clear();
  asking_ = AxisValue{axis, value};
  searching_ = true;
  session_.jobs().run(request);
  Q_EMIT changed();
}

// What is selected stays: it is what goes to Explore and into launch lines.
void PlanSearch::forget_asked() {
  neighbours_.clear();
  value_.reset();
  known_values_.clear();
  asked_before_.reset();
}

void PlanSearch::keep_value(ValueAnswer answer) {
  std::optional<FoundPlan> before;
  if (const FoundPlan* plan = selected()) before = *plan;
  value_ = std::move(answer);
  if (!selected()) asked_before_ = std::move(before);
}

}  // namespace parallelarium
