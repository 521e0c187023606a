// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/small_copy.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

namespace {

std::int64_t least_multiple(std::int64_t least, std::int64_t of) {
  return (least + of - 1) / of * of;
}

Result<void> set_size(Setup& setup, const char* option, std::int64_t value) {
  return set_field(setup, option, std::to_string(value));
}

// Cores train the tiny ones; GPUs would do nothing but wait with these.
const char* preset_for(const Model& big, const Setup& copy, const Computer& here) {
  const char* const tiny = tiny_preset_like(big);
  if (tiny != std::string_view("gpt-tiny")) return tiny;
  const Result<Placement> placed = place(copy.run, copy.mesh.ranks(), here);
  return placed && placed->on_gpus() ? "gpt2-124m" : tiny;
}

// Gives the copy's model the sizes that the mesh divides. Each is the preset's where that does.
Result<void> fit_model(Setup& copy, const char* preset) {
  if (auto done = set_field(copy, "model", preset); !done) return done;
  const Model tiny = copy.model;
  const int tp = copy.mesh.tp, cp = copy.mesh.cp;
  const bool shares_heads = cp > 1 && copy.context_parallel == ContextParallel::kUlysses;
  const std::int64_t heads = least_multiple(tiny.heads, shares_heads ? tp * cp : tp);
  if (auto done = set_size(copy, "heads", heads); !done) return done;
  // Rotary positions turn pairs of a head's numbers.
  if (tiny.hidden % (2 * heads) != 0)
    if (auto done = set_size(copy, "hidden", heads * (tiny.hidden / tiny.heads)); !done)
      return done;
  const int kv = copy.model.kv_heads;
  if (heads % kv != 0 || (kv % tp != 0 && tp % kv != 0) || shares_heads)
    if (auto done = set_size(copy, "kv-heads", shares_heads ? heads : tp); !done) return done;
  if (auto done = set_size(copy, "ffn", least_multiple(copy.model.ffn, tp)); !done) return done;
  if (tiny.experts.count > 0)
    if (auto done = set_size(copy, "expert-ffn", least_multiple(tiny.experts.ffn, tp)); !done)
      return done;
  if (auto done = set_size(copy, "layers", least_multiple(tiny.layers, stages_of(copy))); !done)
    return done;
  const int runs = cp > 1 ? 2 * cp : 1;  // ring and all-gather give a rank two runs of a sequence
  return set_size(
      copy, "sequence",
      least_multiple(tiny.sequence, std::lcm(runs, copy.sequence_parallel ? cp * tp : 1)));
}

// What a run of experts leaves out, as can_execute() says.
Result<void> fit_experts(Setup& copy) {
  if (auto done = set_field(copy, "expert-dispatch", "copies"); !done) return done;
  if (!has_whole_experts(copy) || copy.mesh.tp == 1) return {};
  if (auto done = set_size(copy, "capacity", 0); !done) return done;
  return set_size(copy, "skew", 0);
}

// What is taken out of DP, or of all ranks of a stage, must still divide it, and the experts.
Result<void> fit_groups(Setup& copy) {
  const int dp = copy.mesh.dp, experts = copy.model.experts.count;
  int ep = experts > 0 ? copy.mesh.ep : 1;
  while (ep > 1 && (copy.mesh.expert_row() % ep != 0 || experts % ep != 0)) --ep;
  if (auto done = set_size(copy, "ep", ep); !done) return done;
  if (copy.zero_group > 0 && dp % copy.zero_group != 0)
    if (auto done = set_size(copy, "zero-group", 0); !done) return done;
  return {};
}

// Halves the largest degree: data parallelism first where they are equal, stages last.
Result<void> halve_largest(Setup& copy) {
  const std::pair<const char*, int> axes[] = {
      {"dp", copy.mesh.dp}, {"cp", copy.mesh.cp}, {"tp", copy.mesh.tp}, {"pp", copy.mesh.pp}};
  const auto largest =
      std::max_element(std::begin(axes), std::end(axes),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  int degree = largest->second / 2;
  const ScheduleRule* rule = find_schedule_rule(copy.schedule);
  const auto keeps_schedule = [&](int stages) {
    return check_schedule_sizes(*rule, stages, copy.microbatches, copy.chunks).ok();
  };
  if (largest->first == std::string("pp") && rule != nullptr)
    while (degree > 1 && !keeps_schedule(degree)) --degree;
  return set_size(copy, largest->first, degree);
}

}  // namespace

const char* tiny_preset_like(const Model& model) {
  if (model.experts.count > 0) return "moe-tiny";
  return model.mlp == Mlp::kSwiglu ? "llama-tiny" : "gpt-tiny";
}

Result<Setup> small_copy(const Setup& big, const Computer& here) {
  Setup copy = big;
  for (const auto& [option, value] : {std::pair("machine", "local"),
                                      {"nodes", "0"},
                                      {"micro-batch", "1"},
                                      {"backend", "auto"},
                                      {"devices", "all"}})
    if (Result<void> done = set_field(copy, option, value); !done) return done.error();
  copy.run.steps = std::min(big.run.steps, RunSettings().steps);
  if (!is_auto(big.precision) && !is_trainable(big.precision))
    copy.precision = precision_recipes().back();  // fp32
  if (big.mesh.cp > 1 && big.model.experts.count > 0)
    if (Result<void> done = set_size(copy, "cp", 1); !done) return done.error();
  if (copy.mesh.cp > 1 && copy.context_parallel != ContextParallel::kUlysses)
    if (Result<void> done = set_field(copy, "attention", "fused"); !done) return done.error();
  while (true) {
    if (Result<void> done = fit_groups(copy); !done) return done.error();
    if (Result<void> done = fit_model(copy, preset_for(big.model, copy, here)); !done)
      return done.error();
    if (Result<void> done = fit_groups(copy); !done) return done.error();
    if (Result<void> done = fit_experts(copy); !done) return done.error();
    const Result<Situation> situation = situation_of(copy, here);
    if (!situation) return situation.error();
    const Result<void> runs = can_execute(situation->setup);
    if (runs) {
      if (const std::vector<Message> problems = validate(situation->setup); !problems.empty())
        return problems.front();
      return copy;
    }
    if (runs.error().id != "run-ranks") return runs.error();
    if (Result<void> done = halve_largest(copy); !done) return done.error();
  }
}

}  // namespace parallelarium
