// SPDX-License-Identifier: Apache-2.0
// `plan`: searches the best Setups for a model, a machine, GPUs and a global batch.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/planning.h"
#include "engine/cli/text/plan_text.h"
#include "engine/cli/text/table.h"
#include "engine/cli/training.h"
#include "engine/cli/whole_training_options.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/advice/recommended.h"
#include "engine/planner/reasons/rules.h"
#include "engine/planner/reasons/why_not.h"
#include "engine/planner/search.h"

namespace parallelarium {
namespace {

constexpr int kMostPlans = 1000;

struct PlanOptions {
  std::string setup, model, machine, gpus, sequence, objective = "time", explain, framework, tokens;
  std::optional<std::int64_t> global_batch;
  std::optional<double> memory;  // GiB
  double price = 0;
  int top = 10;
  std::vector<std::string> fix, allow, why;
  bool json = false;
};

// "tp=8,pp=4" as pairs. What has no "=" belongs to the value before: "recompute=norms,activation".
Result<std::vector<std::pair<std::string, std::string>>> pairs_of(const std::string& text,
                                                                  const char* option) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, end - from);
    const auto equals = part.find('=');
    if (equals != std::string::npos)
      pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    else if (!pairs.empty())
      pairs.back().second += "," + part;
    else
      return message("plan-pair", "{} takes key=value, such as {} tp=8, not “{}”.", option, option,
                     shown(part));
    from = end + 1;
  }
  return pairs;
}

// That --fix and an option of the search, or --fix twice, say different things of a setting.
class FixedSettings {
 public:
  explicit FixedSettings(const PlanOptions& options) {
    for (const auto& [option, value] : {std::pair("model", &options.model),
                                        {"machine", &options.machine},
                                        {"sequence", &options.sequence}})
      if (!value->empty()) said_[key_of(option)] = {std::string("--") + option, *value};
  }

  Result<void> add(const std::string& key, const std::string& value) {
    for (const char* option : {"gpus", "global-batch", "memory", "objective", "top", "tokens"})
      if (key == option)
        return message("plan-fix-option", "--fix is for settings; write --{} {} in place of it.",
                       option, shown(value));
    const auto [at, fresh] = said_.emplace(key_of(key), std::pair("--fix " + key, value));
    if (!fresh && at->second.second != value)
      return message("plan-fix-contradicts", "{} says {}, and --fix {} says {}; leave one out.",
                     at->second.first, shown(at->second.second), key, shown(value));
    return {};
  }

 private:
  static std::string key_of(const std::string& name) {
    const SetupSetting* row = find_setting(setup_settings(), name);
    return row == nullptr ? name : row->key;
  }
  std::map<std::string, std::pair<std::string, std::string>> said_;  // by key: by what, and what
};

Result<void> read_axes(const PlanOptions& options, Setup& base, PlanRequest& request) {
  FixedSettings fixed_settings(options);
  for (const std::string& text : options.fix) {
    const auto pairs = pairs_of(text, "--fix");
    if (!pairs) return pairs.error();
    for (const auto& [key, value] : *pairs) {
      if (const std::string axis = axis_called(key); !axis.empty()) {
        if (const auto [at, fresh] = request.allowed.emplace(axis, std::vector{value});
            !fresh && at->second.front() != value)
          return message("plan-fixed-twice", "{} cannot be fixed to both {} and {}.", axis,
                         shown(at->second.front()), shown(value));
        continue;
      }
      if (const Result<void> added = fixed_settings.add(key, value); !added) return added.error();
      if (const Result<void> set = set_typed(base, key, value); !set) return set.error();
    }
  }
  const std::map<std::string, std::vector<std::string>> fixed = request.allowed;
  for (const std::string& text : options.allow) {
    const auto pairs = pairs_of(text, "--allow");
    if (!pairs) return pairs.error();
    for (const auto& [key, values] : *pairs) {
      const std::string axis = axis_called(key);
      if (axis.empty()) return no_axis(key);
      if (fixed.count(axis) > 0)
        return message("plan-fixed-allowed", "{} is fixed to {}; leave out --fix or --allow of it.",
                       axis, shown(fixed.at(axis).front()));
      if (values.empty())
        return message("plan-allow-none", "--allow {} names no value; write --allow {}=A,B.", axis,
                       axis);
      std::vector<std::string>& allowed = request.allowed[axis];
      for (std::size_t from = 0; from < values.size();) {
        const std::size_t end = std::min(values.find(',', from), values.size());
        if (end > from) allowed.push_back(values.substr(from, end - from));
        from = end + 1;
      }
    }
  }
  return {};
}

Result<PlanRequest> request_of(const PlanOptions& options) {
  PlanRequest request;
  if (options.gpus.empty() || !options.global_batch)
    return message("plan-needs",
                   "Say how many GPUs and how many sequences a step has: --gpus 64 --global-batch "
                   "1024.");
  if (Result<void> read = read_gpus(options.gpus, request); !read) return read.error();
  if (Result<void> read = read_objective(options.objective, request); !read) return read.error();
  if (options.top < 1 || options.top > kMostPlans)
    return message("plan-top", "--top is 1 to {}, not {}.", kMostPlans, options.top);
  request.top = options.top;
  request.global_batch = *options.global_batch;
  Setup base = new_setup();
  base.mesh = Mesh();
  base.microbatches = 1;
  if (!options.setup.empty()) {
    const Result<std::string> text = read_file(options.setup);
    if (!text) return text.error();
    Result<Setup> read = setup_of_file(*text);
    if (!read) return about_file(options.setup, read.error());
    base = std::move(*read);
  }
  for (const auto& [key, value] : {std::pair("model", &options.model),
                                   {"machine", &options.machine},
                                   {"sequence", &options.sequence}})
    if (!value->empty())
      if (Result<void> set = set_typed(base, key, *value); !set)
        return as_option(set.error(), find_setting(setup_settings(), key)->key, key);
  if (Result<void> read = read_axes(options, base, request); !read) return read.error();
  if (Result<void> kept = keep_to_framework(options.framework, request); !kept) return kept.error();
  if (Result<void> settled = settle(base, request); !settled) return settled.error();
  if (options.memory) {
    const Result<double> bytes = memory_from_gib(*options.memory);
    if (!bytes) return bytes.error();
    if (Result<void> limited = limit_memory(request.machine, *bytes); !limited)
      return limited.error();
  }
  return request;
}

// The Setup that --explain names; none where it does not.
Result<std::optional<Setup>> asked_about(const std::string& path) {
  if (path.empty()) return std::optional<Setup>();
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  Result<Setup> asked = setup_of_file(*text);
  if (!asked) return about_file(path, asked.error());
  return std::optional<Setup>(std::move(*asked));
}

using AxisValues = std::vector<std::pair<std::string, std::string>>;

// The values of axes that --why names.
Result<AxisValues> values_asked(const std::vector<std::string>& asked, const PlanRequest& request) {
  AxisValues values;
  for (const std::string& text : asked) {
    const auto pairs = pairs_of(text, "--why");
    if (!pairs) return pairs.error();
    for (const auto& [key, value] : *pairs) {
      const std::string axis = axis_called(key);
      if (axis.empty()) return no_axis(key);
      if (const Result<void> can = check_value(axis, value, request); !can) return can.error();
      values.emplace_back(axis, value);
    }
  }
  return values;
}

// What becomes of each of them.
Result<std::vector<WhyNot>> answers_of(const AxisValues& values, const PlanRequest& request,
                                       const PlanResult& result) {
  std::vector<WhyNot> answers;
  PlanWatch watch;
  watch.cancel = &cancelled_by_signal();
  KnownPlans known;
  known.ties = result.ties;
  if (!result.best.empty()) known.best = &result.best.front();
  for (const auto& [axis, value] : values) {
    Result<WhyNot> answer = why_not(axis, value, request, known, watch);
    if (!answer) return answer.error();
    answers.push_back(std::move(*answer));
  }
  return answers;
}

// How long the whole training takes with each of the plans, and what it costs.
void add_training(const WholeTraining& whole, const std::vector<Plan>& plans,
                  nlohmann::json& told) {
  for (std::size_t at = 0; whole.tokens > 0 && at < plans.size(); ++at)
    told[at].update(to_json(whole, plans[at].step, plans[at].setup.mesh.ranks()));
}
std::string trainings_text(const WholeTraining& whole, const std::vector<Plan>& plans) {
  if (whole.tokens == 0) return {};
  std::string text = "\n";
  for (std::size_t at = 0; at < plans.size(); ++at)
    text += fmt::format("Plan {}: {}\n", at + 1,
                        training_text(whole, plans[at].step, plans[at].setup.mesh.ranks()));
  return text;
}

// What a Setup of that class is or does, for a sentence about it.
std::string_view words_of_class(std::string_view plan_class) {
  if (plan_class == name_of(PlanClass::kRefused)) return "is refused";
  if (plan_class == name_of(PlanClass::kDoesNotFit)) return "does not fit";
  if (plan_class == name_of(PlanClass::kBounded))
    return "fits, and is none of the best that are listed";
  return "fits";
}

Outcome run_plan(const PlanOptions& options, Progress& progress) {
  const Result<PlanRequest> request = request_of(options);
  if (!request) return Outcome::invalid(request.error());
  const Result<WholeTraining> whole = whole_training_from(options.tokens, options.price);
  if (!whole) return Outcome::invalid(whole.error());
  const Result<std::optional<Setup>> asked = asked_about(options.explain);
  if (!asked) return Outcome::invalid(asked.error());
  const Result<AxisValues> why = values_asked(options.why, *request);
  if (!why) return Outcome::invalid(why.error());
  PlanWatch watch;
  watch.cancel = &cancelled_by_signal();
  watch.progress = [&](double share, const Message& what) { progress.report(share, what.text); };
  Result<PlanResult> result = search(*request, watch);
  if (!result)
    return result.error().id == "cancelled.plan" ? Outcome::failed(result.error())
                                                 : Outcome::invalid(result.error());
  note_ties(*result, *request, watch);
  note_fitting_changes(*result, *request, watch);
  note_recommended(*result, *request, watch);
  if (*asked) note_nearest_to(**asked, *request, *result, watch);
  note_rules(*result, *request);
  nlohmann::json explained;
  if (*asked) explained = explanation_of(**asked, *request, *result, watch);
  Result<std::vector<WhyNot>> values = answers_of(*why, *request, *result);
  if (!values)
    return values.error().id == "cancelled.plan" ? Outcome::failed(values.error())
                                                 : Outcome::invalid(values.error());
  if (options.json) {
    nlohmann::json json = to_json(*result);
    json["memory_limit"] = memory_limit_json(request->machine);
    add_training(*whole, result->best, json["best"]);
    add_training(*whole, result->pareto, json["pareto"]);
    for (const WhyNot& value : *values) json["why_not"].push_back(to_json(value));
    if (!options.framework.empty())
      for (nlohmann::json& plan : json["best"])
        if (const Result<Setup> setup = setup_from_json(plan["setup"]))
          plan["as_written"] = as_written(options.framework, *setup, request->machine);
    if (!explained.is_null()) json["explained"] = std::move(explained);
    return Outcome::done(json_text(json));
  }
  std::string text = plan_text(*result, *request);
  text += trainings_text(*whole, result->best);
  if (!options.framework.empty() && !result->best.empty()) {
    const Plan& best = result->best.front();
    if (const nlohmann::json line = as_written(options.framework, best.setup, request->machine);
        !line.is_null()) {
      text += fmt::format("\nAs {} writes plan 1, its step takes {}{}:\n",
                          framework_title(options.framework),
                          seconds_text(line.at("seconds").get<double>()),
                          line.at("needs_script").get<bool>()
                              ? " only where the training script sets what is left to it"
                              : "");
      for (const char* notes : {"not_expressible", "not_counted"})
        for (const nlohmann::json& sentence : line.at(notes))
          text += "  " + wrapped(sentence.get<std::string>(), 98, 4) + "\n";
    }
  }
  for (const WhyNot& value : *values)
    text += "\n" +
            wrapped(fmt::format("Why not {} {}? {}", value.axis, value.value, value.sentence.text),
                    98, 2) +
            "\n";
  if (!explained.is_null()) {
    const std::string of = explained.at("class");
    text += fmt::format("\n{} {}. {}\n", name_of_input(options.explain), words_of_class(of),
                        explained.at("sentence").get<std::string>()) +
            beside_text(explained.at("plan"), *result);
    if (const nlohmann::json& change = explained.at("change"); !change.is_null())
      text += change.at("sentence").get<std::string>() + "\n";
    else if (of == name_of(PlanClass::kDoesNotFit))
      text += "No change of one axis would make it fit.\n";
    if (const nlohmann::json& own = explained.at("own"); !own.is_null())
      text += wrapped(own.at("text").get<std::string>(), 98, 0) + "\n";
  }
  return Outcome::done(std::move(text));
}

std::string axes_text() {
  std::string text = "\nAxes, and what each takes where neither --fix nor --allow says:\n";
  for (const PlanAxis& axis : plan_axes())
    text += fmt::format("  {:<18} {}\n", axis.option, axis.values);
  return text;
}

}  // namespace

void add_plan(Commands& commands) {
  CLI::App* command = commands.add(
      "plan", "search the best setups for a model, a machine and a global batch",
      "  parallelarium-engine plan --model llama3-70b --machine dgx-h100 --gpus 64 \\\n"
      "      --global-batch 1024\n"
      "  parallelarium-engine plan --model mixtral-8x7b --machine dgx-a100-80g --gpus 8..64 \\\n"
      "      --global-batch 512 --objective tokens-per-gpu --allow schedules=1f1b,interleaved\n"
      "  parallelarium-engine plan --model llama3-8b --machine dgx-h100 --gpus 8 \\\n"
      "      --global-batch 64 --fix tp=1,zero=3 --explain mine.json --why tp=8 --json\n" +
          axes_text());
  auto options = std::make_shared<PlanOptions>();
  const auto add = [&](const char* name, auto& value, const char* help, const char* text) {
    return command->add_option(name, value, help)->option_text(text);
  };
  add("--model", options->model, "a preset's name, or its shape as {...}", "NAME");
  add("--machine", options->machine, "a machine's name, or a file of changes to one", "NAME");
  add("--gpus", options->gpus,
      "how many GPUs exactly, such as 64, or a range, such as 8..64, of which it tries whole nodes "
      "and equal parts of one",
      "N|A..B");
  add("--global-batch", options->global_batch, "sequences of a step", "B");
  add("--sequence", options->sequence, "tokens of a sequence (default: the model's)", "S");
  add("--fix", options->fix, "settings that stay: tp=8,stage-layers=7,8,8,7; may be repeated",
      "KEY=VALUE,...")
      ->allow_extra_args(false);
  add("--allow", options->allow,
      "the values that an axis may take: schedules=1f1b,zb-v or stage-layers=even,balanced; may be "
      "repeated",
      "AXIS=VALUES")
      ->allow_extra_args(false);
  add("--objective", options->objective,
      "what is best: time, gpus, memory or tokens-per-gpu (default: time)", "WHAT");
  add("--for", options->framework,
      "keep to what this framework can say of the axes: megatron, megatron-bridge, torchtitan, "
      "deepspeed, accelerate or nanotron; other candidates are refused with its sentence",
      "FRAMEWORK");
  add("--memory", options->memory, kMemoryOptionHelp, "GIB");
  add_whole_training(*command, options->tokens, options->price);
  add("--top", options->top, "how many plans to show (default: 10)", "K");
  add("--setup", options->setup, "a Setup for what is no axis of the search", "FILE");
  add("--explain", options->explain, "tell why this Setup is not the best", "SETUP");
  add("--why", options->why,
      "tell why the best plan has not this value of an axis, such as tp=8; may be repeated",
      "AXIS=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "print JSON");
  commands.set_body(command,
                    [options](Progress& progress) { return run_plan(*options, progress); });
}

}  // namespace parallelarium
