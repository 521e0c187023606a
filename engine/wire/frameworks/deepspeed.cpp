// SPDX-License-Identifier: Apache-2.0
// Names and meanings: deepspeed/runtime/config.py, runtime/zero/config.py,
// runtime/precision_config.py, runtime/tensor_parallel/config.py, module_inject/auto_ep_config.py.
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

// train_batch_size is the product of the micro-batch, the accumulation steps and DP.
FrameworkRow speed_batches() {
  const std::string all = "train_batch_size", each = "train_micro_batch_size_per_gpu";
  const std::string steps = "gradient_accumulation_steps";
  FrameworkRow row;
  row.names = {all, each, steps};
  row.settings = {"mesh.dp", "micro_batch", "microbatches"};
  row.write = [=](const Setup& setup, Entries& entries) {
    entries.emplace_back(all, setup.global_batch());
    entries.emplace_back(each, setup.micro_batch);
    entries.emplace_back(steps, setup.microbatches);
  };
  row.read = [=](Draft& draft) -> Result<void> {
    for (const std::string& name : {all, each, steps})
      if (word_at(draft, name, "") == "auto") {
        draft.notes.push_back(message("framework-auto",
                                      "{} is “auto”, which the training script fills in; the "
                                      "batch stays that of the Setup.",
                                      name));
        return {};
      }
    const Result<std::int64_t> batch = whole_at(draft, all, 0, 1, 1'000'000'000);
    const Result<std::int64_t> micro = whole_at(draft, each, 0, 1, 65'536);
    const Result<std::int64_t> count = whole_at(draft, steps, 1, 1, 1'000'000);
    for (const Result<std::int64_t>* number : {&batch, &micro, &count})
      if (!*number) return number->error();
    Setup& setup = draft.setup;
    setup.microbatches = static_cast<int>(*count);
    if (*micro > 0) setup.micro_batch = static_cast<int>(*micro);
    if (*batch == 0 || *micro == 0) {
      draft.notes.push_back(message("framework-ranks",
                                    "Without {} and {} the text does not say how many ranks there "
                                    "are; DP {} stays.",
                                    all, each, setup.mesh.dp));
      return {};
    }
    const std::int64_t at_once = *micro * *count;
    if (*batch % at_once != 0)
      return message("framework-batch", "{} {} is no multiple of {} {} times {} {}.", all, *batch,
                     each, *micro, steps, *count);
    return put_setting(setup, "mesh.dp", *batch / at_once, all);
  };
  return row;
}

FrameworkRow speed_zero_group() {
  const std::string name = "zero_optimization.mics_shard_size";
  FrameworkRow row;
  row.names = {name};
  row.settings = {"zero_group"};
  row.write = [name](const Setup& setup, Entries& entries) {
    if (setup.zero == 3 && setup.zero_group > 0 && setup.zero_group < setup.mesh.dp * setup.mesh.cp)
      entries.emplace_back(name, setup.zero_group);
  };
  row.read = [name](Draft& draft) -> Result<void> {
    const Result<std::int64_t> size = whole_at(draft, name, -1, -1, 65'536);
    if (!size) return size.error();
    draft.setup.zero_group = static_cast<int>(std::max<std::int64_t>(0, *size));
    return {};
  };
  return row;
}

FrameworkRow speed_precision() {
  const std::string on = "bf16.enabled", sums = "data_types.grad_accum_dtype";
  const std::string half_master = "bf16.bf16_master_weights_and_grads";
  const std::string half_states = "bf16.bf16_optimizer_states";
  FrameworkRow row;
  row.names = {on, "fp16.enabled", sums, half_master, half_states};
  row.settings = {"precision"};
  row.write = [=](const Setup& setup, Entries& entries) {
    const Precision& precision = setup.precision;
    if (precision.parameter_bytes == 4) return;
    entries.emplace_back(on, true);
    if (precision.master_bytes == 2) {
      entries.emplace_back(half_master, true);
      if (precision.moments_bytes == 4) entries.emplace_back(half_states, true);
    }
    entries.emplace_back(sums, precision.gradient_bytes == 4 ? "fp32" : "bf16");
  };
  row.read = [=](Draft& draft) -> Result<void> {
    if (word_at(draft, on, "") == "auto") return {};
    if (!flag_at(draft, on, false) && !flag_at(draft, "fp16.enabled", false)) {
      put_precision(draft.setup, 4, 4, 0, 8);
      return {};
    }
    const bool half = flag_at(draft, half_master, false);
    put_precision(draft.setup, 2, word_at(draft, sums, "bf16") == "fp32" ? 4 : 2, half ? 2 : 4,
                  half && flag_at(draft, half_states, false) ? 4 : 8);
    return {};
  };
  return row;
}

// Ulysses alone shares out a sequence.
FrameworkRow speed_sequence() {
  FrameworkRow row;
  row.names = {"sequence_parallel_size"};
  row.settings = {"mesh.cp", "context_parallel"};
  row.write = [](const Setup& setup, Entries& entries) {
    if (setup.mesh.cp > 1) entries.emplace_back("sequence_parallel_size", setup.mesh.cp);
  };
  row.read = [](Draft& draft) -> Result<void> {
    const Result<std::int64_t> size = whole_at(draft, "sequence_parallel_size", 1, 1, 65'536);
    if (!size) return size.error();
    draft.setup.mesh.cp = static_cast<int>(*size);
    if (*size > 1) draft.setup.context_parallel = ContextParallel::kUlysses;
    return {};
  };
  return row;
}

FrameworkRow speed_experts() {
  FrameworkRow row;
  row.names = {"expert_parallel.autoep_size", "expert_parallel.enabled"};
  row.settings = {"mesh.ep"};
  row.write = [](const Setup& setup, Entries& entries) {
    if (setup.mesh.ep == 1) return;
    entries.emplace_back("expert_parallel.enabled", true);
    entries.emplace_back("expert_parallel.autoep_size", setup.mesh.ep);
  };
  row.read = [](Draft& draft) -> Result<void> {
    const Result<std::int64_t> size = whole_at(draft, "expert_parallel.autoep_size", 1, 1, 65'536);
    if (!size) return size.error();
    draft.setup.mesh.ep =
        flag_at(draft, "expert_parallel.enabled", false) ? static_cast<int>(*size) : 1;
    return {};
  };
  return row;
}

// Its pipelines are 1F1B; their layers are computed again at an interval.
FrameworkRow speed_pipeline() {
  const std::string stages = "pipeline.stages", again = "pipeline.activation_checkpoint_interval";
  FrameworkRow row;
  row.names = {stages, again};
  row.settings = {"mesh.pp", "schedule", "recompute"};
  row.write = [=](const Setup& setup, Entries& entries) {
    if (setup.mesh.pp == 1) return;
    entries.emplace_back(stages, setup.mesh.pp);
    entries.emplace_back(again, setup.recompute == Recompute::kFull ? 1 : 0);
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    setup.mesh.pp = 1;
    setup.schedule = "1f1b";
    setup.chunks = 1;
    if (word_at(draft, stages, "auto") != "auto") {
      const Result<std::int64_t> count = whole_at(draft, stages, 1, 1, 65'536);
      if (!count) return count.error();
      setup.mesh.pp = static_cast<int>(*count);
    }
    const Result<std::int64_t> interval = whole_at(draft, again, 0, 0, 10'000);
    if (!interval) return interval.error();
    if (draft.find(again) != nullptr) {
      setup.recompute = *interval > 0 ? Recompute::kFull : Recompute::kNone;
      setup.recompute_layers = 0;
    }
    if (*interval > 1)
      draft.notes.push_back(
          message("framework-uniform",
                  "{} {} keeps the input of every {}th layer; a Setup keeps that of each layer.",
                  again, *interval, *interval));
    return {};
  };
  return row;
}

std::string print_speed(const FrameworkTable& table, const Setup&, const Entries& entries,
                        const std::vector<Message>& not_expressible) {
  // JSON has no comments; DeepSpeed passes over keys that it does not know.
  Entries all;
  std::string said = heading(table, not_expressible, "");
  nlohmann::json lines = nlohmann::json::array();
  for (std::size_t at = 0, end; (end = said.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(said.substr(at, end - at));
  all.emplace_back("_comment", std::move(lines));
  all.insert(all.end(), entries.begin(), entries.end());
  return nested(all).dump(2) + "\n";
}

std::vector<Message> speed_caveats(const Setup& setup) {
  if (setup.mesh.pp == 1) return {};
  Message caveat = message("framework-script.pipeline",
                           "DeepSpeed cuts the pipeline in the script, PipelineModule(…, "
                           "num_stages={}); pipeline.stages only says so.",
                           setup.mesh.pp);
  caveat.field = "mesh.pp";
  return {caveat};
}

}  // namespace

FrameworkTable deepspeed_table() {
  FrameworkTable table;
  table.info = {"deepspeed",    "DeepSpeed",  "deepspeedai/DeepSpeed",
                "edaa72212672", "2026-08-22", ".json"};
  FrameworkRow offload = translated(
      "zero_optimization.offload_optimizer.device", "offload_optimizer",
      {{"cpu", true}, {"none", false}, {"nvme", nullptr}}, "none", Written::kWhereNotUsual);
  FrameworkRow tensor = same("tensor_parallel.autotp_size", "mesh.tp", 1, Written::kWhereNotUsual);
  tensor.read = [read = tensor.read](Draft& draft) -> Result<void> {
    if (Result<void> set = read(draft); !set) return set;
    draft.setup.mesh.tp = std::max(1, draft.setup.mesh.tp);
    if (draft.setup.mesh.tp == 1) draft.setup.sequence_parallel = false;
    return {};
  };
  FrameworkRow sums = translated("communication_data_type", "gradient_reduction",
                                 {{"fp32", "fp32"}, {"bf16", "same"}, {"fp16", "same"}}, "bf16",
                                 Written::kWhereNotUsual);
  FrameworkRow clip = same("gradient_clipping", "clip", 0.0);
  clip.read = [read = clip.read](Draft& draft) -> Result<void> {
    return word_at(draft, "gradient_clipping", "") == "auto" ? Result<void>() : read(draft);
  };
  FrameworkRow rate = same("optimizer.params.lr", "learning_rate");
  rate.read = [read = rate.read](Draft& draft) -> Result<void> {
    return word_at(draft, "optimizer.params.lr", "") == "auto" ? Result<void>() : read(draft);
  };
  table.rows = {speed_batches(),
                same("zero_optimization.stage", "zero", 0),
                same("zero_optimization.overlap_comm", "overlap_gradients"),
                speed_zero_group(),
                std::move(offload),
                speed_precision(),
                std::move(sums),
                std::move(clip),
                adam("optimizer.type", "AdamW"),
                std::move(rate),
                std::move(tensor),
                speed_sequence(),
                speed_experts(),
                speed_pipeline()};
  table.ignored = {"_comment",
                   "steps_per_print",
                   "wall_clock_breakdown",
                   "scheduler.*",
                   "optimizer.params.*",
                   "zero_optimization.contiguous_gradients",
                   "zero_optimization.reduce_scatter",
                   "zero_optimization.allgather_*",
                   "zero_optimization.reduce_bucket_size",
                   "zero_optimization.sub_group_size",
                   "zero_optimization.stage3_*",
                   "zero_optimization.offload_optimizer.*",
                   "zero_optimization.round_robin_gradients",
                   "tensorboard.*",
                   "wandb.*",
                   "csv_monitor.*",
                   "fp16.*",
                   "bf16.check_grad_overflow",
                   "bf16.immediate_grad_update",
                   "flops_profiler.*",
                   "comms_logger.*",
                   "zero_allow_untested_optimizer",
                   "activation_checkpointing.*"};
  table.reasons = {
      {"schedule", message("framework-speed-schedule", "DeepSpeed's pipeline engine runs 1F1B.")},
      {"context_parallel",
       message("framework-speed-context", "DeepSpeed shares out a sequence by Ulysses.")},
      {"recompute", message("framework-script", "The training script says it.")},
      {"attention", message("framework-script", "The training script says it.")},
      {"dropout", message("framework-script", "The training script says it.")}};
  table.print = print_speed;
  table.parse = parse_json_entries;
  table.caveats = speed_caveats;
  return table;
}

}  // namespace parallelarium::frameworks
