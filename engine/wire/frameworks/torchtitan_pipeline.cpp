// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/wire/frameworks/torchtitan.h"

namespace parallelarium::frameworks {
namespace {

constexpr std::pair<const char*, const char*> kTitanSchedules[] = {
    {"1f1b", "1F1B"},
    {"gpipe", "GPipe"},
    {"interleaved", "Interleaved1F1B"},
    {"zb-v", "ZBVZeroBubble"},
    {"dualpipe-v", "DualPipeV"}};

const char* titan_schedule(const Setup& setup) {
  for (const auto& [ours, theirs] : kTitanSchedules)
    if (setup.schedule == ours) return theirs;
  return "1F1B";
}
bool has_titan_schedule(const Setup& setup) {
  return is_one_of(setup, {"1f1b", "gpipe", "interleaved", "zb-v", "dualpipe-v"});
}

// [['tok_embeddings', 'layers.0'], …, ['layers.7', 'norm', 'lm_head']]
nlohmann::json modules_of_stages(const std::vector<int>& layers) {
  nlohmann::json stages = nlohmann::json::array();
  int layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    nlohmann::json names = nlohmann::json::array();
    if (stage == 0) names.push_back("tok_embeddings");
    for (int n = 0; n < layers[stage]; ++n) names.push_back(fmt::format("layers.{}", layer++));
    if (stage + 1 == layers.size()) names.insert(names.end(), {"norm", "lm_head"});
    stages.push_back(std::move(names));
  }
  return stages;
}

Result<std::vector<int>> layers_of_modules(const nlohmann::json& stages, const std::string& name) {
  std::vector<int> layers;
  for (const nlohmann::json& stage : stages.is_array() ? stages : nlohmann::json::array()) {
    layers.push_back(0);
    for (const nlohmann::json& module : stage)
      if (word_of(module).starts_with("layers.")) ++layers.back();
  }
  if (layers.empty())
    return message("framework-modules", "{} must be a list of lists of modules.", name);
  return layers;
}

}  // namespace

FrameworkRow titan_pipeline() {
  const std::string schedule = "parallelism.pipeline_parallel_schedule";
  const std::string each = "parallelism.pipeline_parallel_layers_per_stage";
  const std::string first = "parallelism.pipeline_parallel_first_stage_less_layers";
  const std::string last = "parallelism.pipeline_parallel_last_stage_less_layers";
  const std::string modules = "parallelism.module_fqns_per_model_part";
  FrameworkRow row;
  row.names = {schedule, each, first, last, modules};
  row.settings = {"schedule", "chunks", "stage_layers"};
  row.write = [=](const Setup& setup, Entries& entries) {
    if (setup.mesh.pp == 1) return;
    const std::vector<int> layers =
        has_titan_schedule(setup) ? layers_of_stages(setup) : layers_of_ranks(setup);
    entries.emplace_back(schedule, titan_schedule(setup));
    // Of a model that it does not know a number of layers for each stage says nothing.
    if (!are_even(layers) || !has_flavor(setup.model)) {
      entries.emplace_back(modules, modules_of_stages(layers));
      return;
    }
    entries.emplace_back(each, layers.front());
    entries.emplace_back(first, 0);
    entries.emplace_back(last, 0);
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    setup.schedule = "1f1b";
    setup.chunks = 1;
    if (setup.mesh.pp == 1) return {};
    const std::string word = word_at(draft, schedule, "1F1B");
    std::vector<std::string> words;
    const char* ours = nullptr;
    for (const auto& [name, theirs] : kTitanSchedules) {
      words.emplace_back(theirs);
      if (word == theirs) ours = name;
    }
    if (ours == nullptr) {
      draft.notes.push_back(message("framework-schedule",
                                    "There is no schedule “{}” here, so 1F1B is taken; known are "
                                    "{}.",
                                    shown(word), join_or(words)));
      ours = "1f1b";
    }
    setup.schedule = ours;
    const Result<std::int64_t> per_stage = whole_at(draft, each, 0, 1, 10'000);
    const Result<std::int64_t> less_first = whole_at(draft, first, 1, 0, 10'000);
    const Result<std::int64_t> less_last = whole_at(draft, last, 1, 0, 10'000);
    for (const Result<std::int64_t>* number : {&per_stage, &less_first, &less_last})
      if (!*number) return number->error();
    const bool single = setup.schedule == "1f1b" || setup.schedule == "gpipe";
    int stages = setup.mesh.pp * (single ? 1 : 2);
    const auto less = static_cast<int>(*less_first + *less_last);
    if (draft.find(modules) != nullptr) {
      Result<std::vector<int>> layers =
          layers_of_modules(*draft.find(modules), draft.shown_name(modules));
      if (!layers) return layers.error();
      draft.stage_layers = std::move(*layers);
      stages = static_cast<int>(draft.stage_layers.size());
    } else {
      const int counted = setup.model.layers + less;
      if (*per_stage > 0) stages = static_cast<int>((counted + *per_stage - 1) / *per_stage);
      if (less > 0 && counted % stages == 0) {
        draft.stage_layers.assign(static_cast<std::size_t>(stages), counted / stages);
        draft.stage_layers.front() -= static_cast<int>(*less_first);
        draft.stage_layers.back() -= static_cast<int>(*less_last);
      }
    }
    if (setup.schedule == "interleaved") setup.chunks = std::max(1, stages / setup.mesh.pp);
    return {};
  };
  return row;
}

FrameworkRow titan_tokens() {
  const std::string each = "training.num_tokens_per_microbatch_per_dp_rank";
  const std::string all = "training.num_tokens_per_train_step";
  const std::string microbatches = "parallelism.num_pp_microbatches";
  FrameworkRow row;
  row.names = {each, all, microbatches};
  row.settings = {"micro_batch", "microbatches"};
  row.write = [=](const Setup& setup, Entries& entries) {
    entries.emplace_back(each, setup.micro_batch * setup.model.sequence);
    entries.emplace_back(all, setup.global_batch() * setup.model.sequence);
    if (setup.mesh.pp > 1) entries.emplace_back(microbatches, setup.microbatches);
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    const Result<std::int64_t> part = whole_at(draft, each, 16'384, 1);
    const Result<std::int64_t> whole = whole_at(draft, all, -1, -1);
    const Result<std::int64_t> count = whole_at(draft, microbatches, 1, 1, 1'000'000);
    for (const Result<std::int64_t>* number : {&part, &whole, &count})
      if (!*number) return number->error();
    const std::int64_t sequence = setup.model.sequence;
    if (*part % sequence != 0)
      return message("framework-tokens", "{} is {}, no multiple of sequences of {} tokens.",
                     draft.shown_name(each), *part, sequence);
    const Result<void> set =
        put_setting(setup, "micro_batch", *part / sequence, draft.shown_name(each));
    if (!set) return set;
    std::int64_t filled = setup.mesh.pp > 1 ? *count : 1;
    const std::int64_t at_once = *part * setup.mesh.dp;
    if (*whole > 0 && *whole % at_once != 0)
      return message("framework-tokens-step",
                     "{} is {}, no multiple of the {} tokens that DP {} "
                     "takes at once.",
                     draft.shown_name(all), *whole, at_once, setup.mesh.dp);
    if (*whole > 0) filled = *whole / at_once;
    if (setup.mesh.pp > 1 && filled != *count)
      draft.notes.push_back(message("framework-accumulates",
                                    "{} micro-batches in rounds of {} would fill and drain the "
                                    "pipeline each round; here all {} are one round.",
                                    filled, *count, filled));
    return put_setting(setup, "microbatches", filled, draft.shown_name(all));
  };
  return row;
}

}  // namespace parallelarium::frameworks
