// SPDX-License-Identifier: Apache-2.0
// Names and meanings: accelerate/commands/config/cluster.py and config_args.py, commands/launch.py,
// parallelism_config.py, utils/dataclasses.py.
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

// What accelerate starts: DDP, DeepSpeed for ZeRO 1 and 2, else FSDP, which alone goes with TP and
// CP.
enum class Engine { kDdp, kDeepSpeed, kFsdp };

Engine engine_of(const Setup& setup) {
  if (setup.mesh.tp > 1 || setup.mesh.cp > 1 || setup.zero == 3) return Engine::kFsdp;
  return setup.zero == 0 ? Engine::kDdp : Engine::kDeepSpeed;
}

bool is_fsdp(const Draft& draft) { return word_at(draft, "distributed_type", "") == "FSDP"; }
bool is_deepspeed(const Draft& draft) {
  return word_at(draft, "distributed_type", "") == "DEEPSPEED";
}

const std::string kDegrees = "parallelism_config.parallelism_config_";

FrameworkRow processes() {
  FrameworkRow row;
  row.names = {"distributed_type", "num_machines", "num_processes"};
  row.settings = {"mesh.dp", "zero"};
  row.write = [](const Setup& setup, Entries& entries) {
    Setup started = setup;
    started.mesh.pp = 1;  // no pipeline
    constexpr const char* kTypes[] = {"MULTI_GPU", "DEEPSPEED", "FSDP"};
    entries.emplace_back("distributed_type", kTypes[static_cast<int>(engine_of(setup))]);
    entries.emplace_back("num_machines", nodes_and_ranks(started).first);
    entries.emplace_back("num_processes", started.mesh.ranks());
  };
  row.read = [](Draft& draft) -> Result<void> {
    const std::string type = word_at(draft, "distributed_type", "NO");
    const std::vector<std::string> types = {"NO", "MULTI_GPU", "DEEPSPEED", "FSDP"};
    if (std::find(types.begin(), types.end(), type) == types.end())
      return unknown_choice("distributed_type", type, types);
    const Result<std::int64_t> count = whole_at(draft, "num_processes", 1, 1, 1'000'000);
    if (!count) return count.error();
    draft.setup.zero = type == "FSDP" ? 3 : 0;
    draft.gpus = *count;
    draft.setup.mesh.pp = 1;
    return {};
  };
  return row;
}

FrameworkRow degrees() {
  FrameworkRow row;
  const std::string copies = kDegrees + "dp_replicate_size", shards = kDegrees + "dp_shard_size";
  const std::string tensor = kDegrees + "tp_size", context = kDegrees + "cp_size";
  const std::string how = kDegrees + "cp_comm_strategy", ulysses = kDegrees + "sp_size";
  const std::string reshard = "fsdp_config.fsdp_reshard_after_forward";
  row.names = {copies,
               shards,
               tensor,
               context,
               how,
               ulysses,
               reshard,
               "fsdp_config.fsdp_version",
               kDegrees + "sp_backend",
               kDegrees + "cp_backend"};
  row.settings = {"mesh.tp",  "mesh.cp",    "context_parallel",
                  "cp_split", "zero_group", "zero_reshard"};
  row.write = [=](const Setup& setup, Entries& entries) {
    if (engine_of(setup) != Engine::kFsdp) return;
    const Mesh& mesh = setup.mesh;
    const int degree = fsdp_degree(setup);
    entries.emplace_back("fsdp_config.fsdp_version", 2);
    entries.emplace_back(reshard, setup.zero_reshard);
    entries.emplace_back("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    entries.emplace_back("fsdp_config.fsdp_state_dict_type", "SHARDED_STATE_DICT");
    entries.emplace_back(copies, mesh.dp / degree);
    entries.emplace_back(shards, degree);
    entries.emplace_back(tensor, mesh.tp);
    entries.emplace_back(context, mesh.cp);
    if (mesh.cp > 1) {
      entries.emplace_back(kDegrees + "cp_backend", "torch");
      entries.emplace_back(
          how, setup.context_parallel == ContextParallel::kRing ? "alltoall" : "allgather");
    }
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    setup.mesh.tp = setup.mesh.cp = 1;
    setup.zero_group = 0;
    setup.zero_reshard = true;
    setup.sequence_parallel = false;
    setup.cp_split = ContextSplit::kZigzag;  // PyTorch's context_parallel() balances
    if (!is_fsdp(draft)) return {};
    const Result<std::int64_t> all = whole_at(draft, copies, 1, 1, 65'536);
    const Result<std::int64_t> shared = whole_at(draft, shards, 0, 1, 65'536);
    const Result<std::int64_t> tp = whole_at(draft, tensor, 1, 1, 65'536);
    const Result<std::int64_t> cp = whole_at(draft, context, 1, 1, 65'536);
    const Result<std::int64_t> sp = whole_at(draft, ulysses, 1, 1, 65'536);
    for (const Result<std::int64_t>* number : {&all, &shared, &tp, &cp, &sp})
      if (!*number) return number->error();
    setup.mesh.tp = static_cast<int>(*tp);
    setup.mesh.cp = static_cast<int>(std::max(*cp, *sp));
    setup.context_parallel = *sp > 1 ? ContextParallel::kUlysses
                             : word_at(draft, how, "allgather") == "alltoall"
                                 ? ContextParallel::kRing
                                 : ContextParallel::kAllGather;
    if (*shared > 0) setup.zero_group = group_of_fsdp(*all, *shared, setup.mesh.cp);
    const std::string word = word_at(draft, reshard, "true");
    if (word_at(draft, "fsdp_config.fsdp_version", "1") == "2")
      setup.zero_reshard = flag_at(draft, reshard, true);
    else if (word == "SHARD_GRAD_OP")
      setup.zero = 2;
    return {};
  };
  return row;
}

FrameworkRow of_deepspeed(FrameworkRow row) {
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    if (engine_of(setup) == Engine::kDeepSpeed) write(setup, entries);
  };
  row.read = [read = row.read](Draft& draft) -> Result<void> {
    return is_deepspeed(draft) ? read(draft) : Result<void>();
  };
  return row;
}

FrameworkRow of_fsdp(FrameworkRow row) {
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    if (engine_of(setup) == Engine::kFsdp) write(setup, entries);
  };
  row.read = [read = row.read](Draft& draft) -> Result<void> {
    return is_fsdp(draft) ? read(draft) : Result<void>();
  };
  return row;
}

FrameworkRow mixed_precision() {
  FrameworkRow row;
  row.names = {"mixed_precision"};
  row.settings = {"precision", "products"};
  row.write = [](const Setup& setup, Entries& entries) {
    const bool half = setup.precision.parameter_bytes == 2;
    const bool eighths = setup.products == ProductType::kFp8;
    entries.emplace_back("mixed_precision", eighths ? "fp8" : half ? "bf16" : "no");
  };
  row.read = [](Draft& draft) -> Result<void> {
    const std::string word = word_at(draft, "mixed_precision", "no");
    const std::vector<std::string> words = {"no", "fp16", "bf16", "fp8"};
    if (std::find(words.begin(), words.end(), word) == words.end())
      return unknown_choice("mixed_precision", word, words);
    // DeepSpeed holds gradients in 16 bit; else parameters are a master in fp32, as gradients are.
    if (word == "no")
      put_precision(draft.setup, 4, 4, 0, 8);
    else
      put_precision(draft.setup, 2, is_deepspeed(draft) ? 2 : 4, 4, 8);
    draft.setup.products = word == "fp8" ? ProductType::kFp8 : ProductType::kSame;
    return {};
  };
  return row;
}

std::string print_accelerate(const FrameworkTable& table, const Setup&, const Entries& entries,
                             const std::vector<Message>& not_expressible) {
  return heading(table, not_expressible) + yaml_of(nested(entries));
}

}  // namespace

FrameworkTable accelerate_table() {
  FrameworkTable table;
  table.info = {"accelerate",   "accelerate", "huggingface/accelerate",
                "16cb6eb80dd9", "2026-07-24", ".yaml"};
  FrameworkRow again = of_fsdp(translated("fsdp_config.fsdp_activation_checkpointing", "recompute",
                                          {{true, "full"}, {false, "none"}}, false));
  FrameworkRow offload =
      translated("deepspeed_config.offload_optimizer_device", "offload_optimizer",
                 {{"cpu", true}, {"none", false}, {"nvme", nullptr}}, "none");
  table.rows = {
      fixed("compute_environment", "LOCAL_MACHINE"),
      processes(),
      fixed("machine_rank", 0),
      fixed("main_training_function", "main"),
      fixed("use_cpu", false),
      mixed_precision(),
      degrees(),
      std::move(again),
      of_deepspeed(same("deepspeed_config.zero_stage", "zero", 2)),
      of_deepspeed(same("deepspeed_config.gradient_accumulation_steps", "microbatches", 1)),
      of_deepspeed(same("deepspeed_config.gradient_clipping", "clip", 0.0)),
      of_deepspeed(std::move(offload)),
      of_deepspeed(fixed("deepspeed_config.zero3_init_flag", false))};
  table.ignored = {"debug",
                   "downcast_bf16",
                   "enable_cpu_affinity",
                   "rdzv_backend",
                   "same_network",
                   "main_process_*",
                   "machine_rank",
                   "gpu_ids",
                   "tpu_*",
                   "dynamo_config*",
                   "fsdp_config.fsdp_auto_wrap_policy",
                   "fsdp_config.fsdp_state_dict_type",
                   "fsdp_config.fsdp_transformer_layer_cls_to_wrap",
                   "fsdp_config.fsdp_cpu_ram_efficient_loading",
                   "fsdp_config.fsdp_use_orig_params",
                   "fsdp_config.fsdp_sync_module_states",
                   "fsdp_config.fsdp_backward_prefetch",
                   "fsdp_config.fsdp_forward_prefetch",
                   "fsdp_config.fsdp_min_num_params",
                   "deepspeed_config.zero3_*",
                   "deepspeed_config.deepspeed_multinode_launcher",
                   kDegrees + "sp_*"};
  table.reasons = {
      {"mesh.pp", message("framework-accelerate-pipeline", "accelerate trains without pipelines.")},
      {"zero", message("framework-accelerate-zero",
                       "TP and CP go with FSDP alone, which shares out parameters, gradients and "
                       "optimizer states together.")},
      {"context_parallel",
       message(
           "framework-accelerate-ulysses",
           "Ulysses needs DeepSpeed, which the training script starts with a ParallelismConfig.")},
      {"micro_batch", message("framework-script", "The training script says it.")},
      {"microbatches", message("framework-script", "The training script says it.")},
      {"attention", message("framework-script", "The training script says it.")},
      {"dropout", message("framework-script", "The training script says it.")},
      {"clip", message("framework-script", "The training script says it.")},
      {"learning_rate", message("framework-script", "The training script says it.")}};
  table.print = print_accelerate;
  table.parse = parse_yaml;
  return table;
}

}  // namespace parallelarium::frameworks
