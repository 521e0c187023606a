// SPDX-License-Identifier: Apache-2.0
// Drawn values, the Setup at each step, and the facts that checks and texts name.
#include "engine/lesson/play.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/lesson/lesson.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/placement/small_copy.h"
#include "engine/predict/cases/figure_at.h"
#include "engine/predict/training/noise_scale.h"
#include "engine/schedules/timing.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/messages.h"

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr int kMostTries = 1000;
constexpr int kFewMicrobatches = 4;  // of a small copy
constexpr double kMostCombinations = 100000;
const std::string kCollective = "collective.";

// SplitMix64 (Steele et al. 2014): the same numbers on every computer.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % count);
  }

 private:
  std::uint64_t state_;
};

bool allowed(const Lesson& lesson, const Symbols& drawn) {
  if (lesson.constraint.empty()) return true;
  const Result<double> holds = evaluate(lesson.constraint, drawn);
  return holds && *holds != 0;
}

// Combination `index` of the product of all values.
Symbols combination(const Lesson& lesson, std::size_t index) {
  Symbols drawn;
  for (const Drawn& parameter : lesson.parameters) {
    drawn[parameter.name] = parameter.values[index % parameter.values.size()];
    index /= parameter.values.size();
  }
  return drawn;
}

json held_facts(const Program& program, const Timeline& timeline) {
  json ranks = json::array();
  double peak = 0;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    double most = 0;
    for (const HeldPoint& point : held_microbatches(program, timeline, static_cast<int>(rank)))
      most = std::max(most, point.held);
    ranks.push_back(most);
    peak = std::max(peak, most);
  }
  return {{"peak", peak}, {"ranks", std::move(ranks)}};
}

// Sets the member that `field` names, without its "collective.", to what the text says.
Result<void> set_member(json& collective, const std::string& field, const std::string& text) {
  const auto member = collective.find(field.substr(kCollective.size()));
  if (member == collective.end()) {
    std::string known;
    for (const std::string& key : collective_keys()) known += (known.empty() ? "" : ", ") + key;
    return message("lesson-collective", "\"{}\" is no setting of a collective; there are {}.",
                   field, known);
  }
  if (member->is_string()) {
    *member = text;
    return {};
  }
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size())
    return message("lesson-collective.number", "\"{}\" must be a whole number, not \"{}\".", field,
                   text);
  *member = number;
  return {};
}

std::optional<double> figure_of(const std::string& metric, const json& facts,
                                const json& collective) {
  if (metric.rfind(kCollective, 0) != 0) return figure_at(facts, metric);
  return figure_at(collective, metric.substr(kCollective.size()));
}

}  // namespace

double Tolerance::around(double right) const {
  return std::max({absolute, relative * std::abs(right), 1e-9});
}

Symbols draw_numbers(const Lesson& lesson, std::uint64_t seed) {
  Random random(seed);
  Symbols drawn;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    for (const Drawn& parameter : lesson.parameters)
      drawn[parameter.name] = parameter.values[random.below(parameter.values.size())];
    if (allowed(lesson, drawn)) return drawn;
  }
  return drawn;  // check_lesson refuses a lesson whose constraint is met so rarely
}

namespace {

// A problem without a solution is told by check_lesson.
Symbols solved_or_drawn(const Lesson& lesson, Symbols drawn) {
  const Result<Symbols> all = with_problems(lesson, drawn);
  return all ? *all : drawn;
}

}  // namespace

Symbols draw(const Lesson& lesson, std::uint64_t seed) {
  return solved_or_drawn(lesson, draw_numbers(lesson, seed));
}

Result<Symbols> with_problems(const Lesson& lesson, const Symbols& drawn) {
  if (lesson.problems.empty()) return drawn;
  Symbols numbers;
  for (const Drawn& parameter : lesson.parameters)
    if (const auto value = drawn.find(parameter.name); value != drawn.end()) numbers.insert(*value);
  const Result<Settings> start = with_fields({new_setup(), {}}, lesson.start, numbers);
  if (!start) return start.error();
  Symbols all = numbers;
  for (const PlanProblem& problem : lesson.problems) {
    Result<Symbols> solution = solve(problem, start->setup, all);
    if (!solution) return solution.error();
    all.merge(*solution);
  }
  return all;
}

std::vector<Option> options_drawn(const Step& step, std::uint64_t seed) {
  // Each step its own order, the same on every computer: FNV-1a of its id.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : step.id)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  Random random(seed ^ hash);
  std::vector<Option> options = step.options;
  for (std::size_t left = options.size(); left > 1; --left)
    std::swap(options[left - 1], options[random.below(left)]);
  return options;
}

std::vector<Symbols> draws(const Lesson& lesson, std::size_t most) {
  double combinations = 1;
  for (const Drawn& parameter : lesson.parameters)
    combinations *= static_cast<double>(parameter.values.size());
  std::vector<Symbols> all;
  if (combinations <= kMostCombinations) {
    for (std::size_t index = 0; index < static_cast<std::size_t>(combinations); ++index) {
      Symbols drawn = combination(lesson, index);
      if (allowed(lesson, drawn)) all.push_back(std::move(drawn));
      if (all.size() > most) break;
    }
  }
  if (combinations > kMostCombinations || all.size() > most) {
    all.clear();
    for (std::uint64_t seed = 0; seed < most; ++seed) {
      Symbols drawn = draw_numbers(lesson, seed);
      if (allowed(lesson, drawn)) all.push_back(std::move(drawn));
    }
  }
  for (Symbols& drawn : all) drawn = solved_or_drawn(lesson, std::move(drawn));
  return all;
}

const std::vector<std::string>& collective_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> result;
    const json collective = to_json(CollectiveChoice());
    for (const auto& member : collective.items()) result.push_back(kCollective + member.key());
    return result;
  }();
  return keys;
}

Result<Settings> with_fields(Settings settings, const Fields& fields, const Symbols& drawn) {
  json collective = to_json(settings.collective);
  bool sets_collective = false;
  std::vector<std::pair<std::string, std::string>> of_setup;
  for (const auto& [field, value] : fields) {
    Result<std::string> picks = picked(value, drawn);
    if (!picks) return picks.error();
    std::string text = std::move(*picks);
    if (field.rfind(kCollective, 0) != 0) {
      of_setup.emplace_back(field, text);
      continue;
    }
    if (Result<void> set = set_member(collective, field, text); !set) return set.error();
    sets_collective = true;
  }
  if (Result<void> set = set_fields(settings.setup, std::move(of_setup)); !set) return set.error();
  if (!sets_collective) return settings;
  Result<CollectiveChoice> choice = collective_choice_from_json(collective);
  if (!choice) return choice.error();
  settings.collective = std::move(*choice);
  return settings;
}

Result<Settings> settings_at(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                             bool revealed) {
  Result<Settings> settings = with_fields({new_setup(), {}}, lesson.start, drawn);
  std::map<std::string, Settings> left;  // by step, what those that continue it begin with
  const auto is_continued = [&](const std::string& id) {
    return std::any_of(lesson.steps.begin(), lesson.steps.end(),
                       [&](const Step& other) { return other.from == id; });
  };
  for (std::size_t i = 0; settings && i <= step && i < lesson.steps.size(); ++i) {
    const Step& at = lesson.steps[i];
    if (!at.from.empty()) settings = left.at(at.from);
    settings = entered(at, std::move(*settings), drawn);
    if (settings && (i < step || revealed)) settings = with_fields(*settings, at.reveal, drawn);
    if (settings && i < step) settings = with_fields(*settings, at.solution, drawn);
    if (settings && is_continued(at.id)) left.insert_or_assign(at.id, *settings);
  }
  return settings;
}

namespace {

// As few as show the schedule: four, or more where it needs them.
void keep_few_microbatches(Setup& copy) {
  Setup fewer = copy;
  for (fewer.microbatches = kFewMicrobatches; fewer.microbatches < copy.microbatches;
       ++fewer.microbatches)
    if (validate(fewer).empty()) {
      copy = fewer;
      return;
    }
}

}  // namespace

Result<Settings> entered(const Step& step, Settings before, const Symbols& drawn) {
  if (step.small_copy) {
    // Of cores, whatever this computer has, so that everybody's copy is the same.
    Result<Setup> copy = small_copy(before.setup, Computer());
    if (!copy) return copy.error();
    before.setup = std::move(*copy);
    keep_few_microbatches(before.setup);
  }
  return with_fields(std::move(before), step.setup, drawn);
}

json facts_of(const Prediction& prediction) {
  json facts = to_json(prediction);
  facts["held"] = held_facts(prediction.program, prediction.timeline);
  if (json experts = expert_facts(prediction.setup, nullptr); !experts.is_null())
    facts["experts"] = std::move(experts);
  return facts;
}

namespace {

// "ranks": of Observation::ranks_state, see facts_of().
json rank_facts(const std::vector<RankState>& ranks) {
  int copies = 0, differing = 0;
  std::vector<double> losses;
  for (const RankState& state : ranks) {
    if (state.loss) losses.push_back(*state.loss);
    const bool replica = state.replica_of != state.rank;
    if (replica) ++copies;
    for (const RankState& other : ranks)
      if ((replica && other.rank == state.replica_of &&
           other.weights_after != state.weights_after) ||
          (other.rank == state.copy_of && other.copy_after != state.copy_after))
        ++differing;
  }
  json facts = {{"copies", copies}, {"differing", differing}, {"states", to_json(ranks)}};
  if (!losses.empty())
    facts["loss_spread"] = *std::max_element(losses.begin(), losses.end()) -
                           *std::min_element(losses.begin(), losses.end());
  return facts;
}

}  // namespace

json facts_of(const Observation& observation, const Program& program) {
  json memory = json::array();
  for (const MemoryRow& row : observation.memory) memory.push_back(to_json(row));
  json facts = {{"source", name_of(observation.source)},
                {"memory", {{"ranks", std::move(memory)}}},
                {"bubble", to_json(observation.bubble)},
                {"step", to_json(observation.step, true)},
                {"losses", observation.losses}};
  if (!observation.ranks_state.empty()) facts["ranks"] = rank_facts(observation.ranks_state);
  if (const std::optional<NoiseScale> noise = noise_scale_of(observation))
    facts["noise_scale"] = to_json(std::span(&*noise, 1));
  if (!observation.traffic.empty()) facts["traffic"] = to_json(observation.traffic.front());
  if (observation.timeline.ranks.size() == program.ranks.size())
    facts["held"] = held_facts(program, observation.timeline);
  if (observation.routing.empty()) return facts;
  // What training came to, whichever step the timeline is of.
  if (json experts = expert_facts(observation.setup, &observation.routing.back());
      !experts.is_null())
    facts["experts"] = std::move(experts);
  return facts;
}

json proof_facts(const json& proof) {
  if (!proof.is_object()) return nullptr;
  json facts = {{"holds", proof.value("holds", false) ? 1 : 0}};
  double largest = 0;
  for (const char* key :
       {"loss_difference", "gradient_difference", "loss_bound", "gradient_bound"}) {
    const auto member = proof.find(key);
    if (member == proof.end() || !member->is_number()) continue;
    facts[key] = *member;
    if (std::string_view(key).ends_with("_difference"))
      largest = std::max(largest, member->get<double>());
  }
  facts["largest_difference"] = largest;
  return facts;
}

json facts_of(const Order& order, const std::vector<Durations>& stages) {
  return to_json(order, time_by_stage(order, stages), false);
}

std::vector<Durations> OrderToBuild::by_stage(int stages) const {
  std::vector<Durations> all(static_cast<std::size_t>(stages), durations);
  for (std::size_t stage = 0; stage < all.size() && stage < lengths.size(); ++stage)
    for (double* length : {&all[stage].forward, &all[stage].backward, &all[stage].input_grad,
                           &all[stage].weight_grad})
      *length *= lengths[stage];
  return all;
}

json facts_of(const CollectivePlan& plan) {
  json facts = to_json(plan.collective, plan.network, plan.cost);
  facts["steps"] = plan.steps();
  return facts;
}

json facts_of(const CollectiveObservation& seen, const CollectivePlan& plan) {
  json facts = to_json(seen);
  facts.erase("timeline");
  facts.erase("values");
  facts["steps"] = plan.steps();
  return facts;
}

const nlohmann::json& Facts::json() const {
  static const nlohmann::json none;
  return facts_ ? *facts_ : none;
}

std::optional<double> Context::predicted_figure(const std::string& metric) const {
  return figure_of(metric, predicted.json(), collective_predicted.json());
}
std::optional<double> Context::observed_figure(const std::string& metric) const {
  return figure_of(metric, observed, collective_observed);
}

Symbols Context::symbols() const {
  Symbols all = symbols_of(settings.setup);
  all.merge(symbols_of(settings.collective));
  all.insert(drawn.begin(), drawn.end());
  if (guess) all["guess"] = *guess;
  return all;
}

Result<void> can_play(const Lesson& lesson, const Computer& computer) {
  const Requirements& needs = lesson.requirements;
  if (needs.gpu && most_gpu_ranks(computer) == 0)
    return message(
        "lesson-needs-gpu",
        "This lesson runs on an NVIDIA GPU, and this computer has none that can be used.");
  const bool paced = needs.sources.empty() || std::find(needs.sources.begin(), needs.sources.end(),
                                                        "paced") != needs.sources.end();
  RunSettings cores;
  cores.backend = Backend::kCpu;
  const Result<Placement> placed = place(cores, needs.ranks, computer);
  if (!paced && (!placed || placed->source != Source::kMeasured))
    return message("lesson-needs-cores",
                   "This lesson measures {} ranks at full speed and needs as many cores; this "
                   "computer has {}.",
                   needs.ranks, computer.cores);
  return {};
}

}  // namespace parallelarium
