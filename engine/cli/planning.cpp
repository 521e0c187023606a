// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/planning.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/cli/training.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/advice/nearest.h"
#include "engine/planner/reasons/standing.h"
#include "engine/wire/frameworks/framework.h"
#include "engine/wire/reading.h"

namespace parallelarium {

namespace {

constexpr double kMostLimit = 1e15;  // that a limit is said with
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

Result<std::int64_t> whole_of(const std::string& text, const char* option) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size())
    return message("plan-number", "{} must be a whole number, not “{}”.", option, shown(text));
  return number;
}

}  // namespace

Result<void> read_gpus(const std::string& text, PlanRequest& request) {
  const auto dots = text.find("..");
  const Result<std::int64_t> low = whole_of(text.substr(0, dots), "--gpus");
  if (!low) return low.error();
  request.least_gpus = request.most_gpus = *low;
  if (dots == std::string::npos) return {};
  const Result<std::int64_t> high = whole_of(text.substr(dots + 2), "--gpus");
  if (!high) return high.error();
  request.most_gpus = *high;
  return {};
}

Result<void> read_objective(const std::string& name, PlanRequest& request) {
  std::vector<std::string> names;
  for (const Objective objective : kObjectives) {
    if (name_of(objective) == name) {
      request.objective = objective;
      return {};
    }
    names.emplace_back(name_of(objective));
  }
  return message("plan-objective", "--objective is {}, not “{}”.", join_or(names), shown(name));
}

Result<PlanRefusal> refusal_by(const std::string& framework) {
  if (framework.empty()) return PlanRefusal();
  std::vector<std::string> keys;
  for (const PlanAxis& axis : plan_axes())
    keys.push_back(find_setting(setup_settings(), axis.option)->key);
  return framework_refusal(framework, std::move(keys));
}

Result<void> keep_to_framework(const std::string& framework, PlanRequest& request) {
  Result<PlanRefusal> refuses = refusal_by(framework);
  if (!refuses) return refuses.error();
  request.refuses = std::move(*refuses);
  if (!framework.empty())
    request.unusual = [framework](const Setup& setup) { return framework_needs(framework, setup); };
  return {};
}

nlohmann::json as_written(const std::string& framework, const Setup& plan, const Machine& machine) {
  const Result<FrameworkText> written = write_for_framework(framework, plan);
  if (!written) return nullptr;
  const Result<FrameworkSetup> read = read_from_framework(framework, written->text, plan);
  if (!read) return nullptr;
  const Result<Tried> tried = try_setup(read->setup, machine, false);
  if (!tried) return nullptr;
  nlohmann::json sentences = nlohmann::json::array(), uncounted = nlohmann::json::array();
  for (const Message& unsaid : written->not_expressible) sentences.push_back(unsaid.text);
  if (written->not_counted) uncounted.push_back(written->not_counted->text);
  return {{"seconds", tried->plan.step.seconds},
          {"needs_script", needs_script(*written)},
          {"not_expressible", std::move(sentences)},
          {"not_counted", std::move(uncounted)}};
}

Result<void> settle(const Setup& base, PlanRequest& request) {
  // What `auto` means follows from the devices alone; the mesh is the search's.
  Result<Situation> situation = situation_here(without_axes(base));
  if (!situation) return situation.error();
  request.base = std::move(situation->setup);
  request.machine = std::move(situation->machine);
  return {};
}

Result<PlanRequest> plan_request_from_json(const nlohmann::json& json) {
  PlanRequest request;
  std::string gpus, objective = "time", framework;
  double memory_bytes = 0;
  ObjectReader reader(json, "plan");
  reader.read("gpus", gpus);
  reader.read("global_batch", request.global_batch);
  reader.read("objective", objective);
  reader.read("top", request.top);
  reader.read("memory_bytes", memory_bytes);
  reader.read("for", framework);
  const nlohmann::json* base_json = reader.object("setup");
  if (reader.error()) return *reader.error();
  if (const auto allowed = json.find("allowed"); allowed != json.end()) {
    if (!allowed->is_object())
      return message("wire-allowed", "\"allowed\" must be an object of lists of texts.");
    for (const auto& [name, values] : allowed->items()) {
      const std::string axis = axis_called(name);
      if (axis.empty() || !values.is_array())
        return message("wire-axis", "“{}” is no axis of the search with a list of values.",
                       shown(name));
      for (const nlohmann::json& value : values)
        if (value.is_string()) request.allowed[axis].push_back(value.get<std::string>());
    }
  }
  if (Result<void> read = read_gpus(gpus, request); !read) return read.error();
  if (Result<void> read = read_objective(objective, request); !read) return read.error();
  if (Result<void> kept = keep_to_framework(framework, request); !kept) return kept.error();
  const Result<Setup> base = setup_from_json(*base_json);
  if (!base) return base.error();
  if (Result<void> settled = settle(*base, request); !settled) return settled.error();
  if (memory_bytes > 0)
    if (Result<void> limited = limit_memory(request.machine, memory_bytes); !limited)
      return limited.error();
  return request;
}

nlohmann::json memory_limit_json(const Machine& machine) {
  const Message said = memory_counted(machine);
  return {{"device_bytes", static_cast<std::int64_t>(machine.memory_bytes.value)},
          {"capacity_bytes", usable_bytes(machine)},
          {"sentence", said.text},
          {"message", to_json(said)}};
}

Message no_axis(const std::string& name) {
  std::vector<std::string> names;
  for (const PlanAxis& each : plan_axes()) names.emplace_back(each.option);
  return message("plan-axis", "“{}” is no axis of the search; there are {}.", shown(name),
                 join_and(names));
}

Result<double> memory_from_gib(double gib) {
  if (!(gib > 0)) return message("plan-memory", "--memory is in GiB and above 0, not {}.", gib);
  return gib * kGibibyte;
}

Result<void> limit_memory(Machine& machine, double bytes) {
  const double all = machine.memory_bytes.value;
  if (all <= 0) return {};
  if (!(bytes <= kMostLimit))
    return message("plan-memory-much",
                   "The memory limit is more than any device has; one of {} has {}.",
                   title_of(machine), figure(bytes_text(all)));
  if (bytes > all)
    return message("plan-memory-more",
                   "The memory limit of {} is more than a device of {} has, {}: leave the limit "
                   "out, or lower it.",
                   figure(bytes_text(bytes)), title_of(machine), figure(bytes_text(all)));
  machine.usable_memory_share = bytes / all;
  return {};
}

void note_nearest_to(Setup asked, const PlanRequest& request, PlanResult& result,
                     const PlanWatch& watch) {
  asked.machine = request.base.machine;
  if (const Result<Situation> situation = situation_here(asked))
    note_nearest(result, request, situation->setup, watch);
}

nlohmann::json explanation_of(Setup asked, const PlanRequest& request, const PlanResult& result,
                              const PlanWatch& watch) {
  const auto tell = [&](double share) {
    watch.tell(kExplainShare + (0.99 - kExplainShare) * share,
               message("plan-today", "Trying changes of the setup that was asked about."));
  };
  tell(0);
  const MachineChoice own = std::exchange(asked.machine, request.base.machine);
  const Result<Situation> situation = situation_here(asked);
  Standing standing = situation ? standing_of(situation->setup, request, result, tell)
                                : refused_standing(situation.error(), asked, request);
  // A Setup that names no machine has this computer.
  const Result<Machine> other = own == "local" ? Result<Machine>(Message()) : machine_of(own);
  if (other && !(own == request.base.machine))
    standing.sentence = message("plan-other-machine",
                                "It was made for {}, and stands here on {} as the plans do. {}",
                                title_of(*other), title_of(request.machine), standing.sentence);
  return to_json(standing, asked);
}

}  // namespace parallelarium
