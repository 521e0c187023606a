// SPDX-License-Identifier: Apache-2.0
// What Megatron-LM and Megatron-Bridge are as tables: their rows, what of their texts says nothing
// of a Setup, and why they cannot say some of it.
#include "engine/wire/frameworks/megatron/megatron.h"

namespace parallelarium::frameworks {
namespace {

std::vector<FrameworkRow> rows_of(const MegatronNames& names) {
  std::vector<FrameworkRow> all;
  for (auto* part : {megatron_model_rows, megatron_expert_rows, megatron_parallel_rows,
                     megatron_expert_mesh_rows, megatron_training_rows})
    for (FrameworkRow& row : part(names)) all.push_back(std::move(row));
  return all;
}

std::vector<std::pair<std::string, Message>> reasons_of_megatron() {
  return {
      {"schedule", message("framework-megatron-schedule",
                           "Megatron runs 1F1B and interleaved 1F1B; it has no flag for zero "
                           "bubble, DualPipe or an order of one's own.")},
      {"overlap_pipeline", message("framework-megatron-overlap",
                                   "Megatron sends while it computes in its interleaved "
                                   "schedule alone.")},
      {"scatter_gather", message("framework-megatron-shares",
                                 "Today's Megatron cuts what goes between stages with "
                                 "sequence parallelism alone.")},
      {"overlap_gradients", message("framework-megatron-fsdp-reduce",
                                    "Megatron-FSDP, which is ZeRO 2 and 3, reduces gradients "
                                    "while it computes.")},
      {"overlap_parameters",
       message("framework-megatron-gathers",
               "Megatron-LM gathers parameters beside a forward only where it adds up gradients "
               "beside the backward.")},
      {"zero_prefetch", message("framework-megatron-fsdp-gather",
                                "Megatron-FSDP itself decides how far ahead it gathers.")},
      {"overlap_tensor", message("framework-megatron-tensor",
                                 "Megatron does it together with a ring of TP products, and "
                                 "either with sequence parallelism alone.")},
      {"overlap_experts",
       message("framework-megatron-experts",
               "Megatron does it with EP, without full recompute, and in a pipeline in its "
               "interleaved schedule alone.")},
      {"expert_dispatch",
       message("framework-megatron-dispatch",
               "With sequence parallelism Megatron's TP ranks send their own tokens alone, and "
               "without it, it does not train experts beside TP.")},
      {"bias_rate",
       message("framework-megatron-bias", "Megatron has such a bias for sigmoid routers alone.")},
      {"recompute", message("framework-megatron-recompute",
                            "Megatron computes the activation again in experts alone.")}};
}

std::vector<Message> caveats_of_megatron(const Setup& setup) {
  std::vector<Message> caveats;
  if (setup.schedule == "interleaved" && setup.microbatches < setup.mesh.pp) {
    caveats.push_back(message("framework-megatron-few",
                              "Megatron's interleaved schedule needs as many micro-batches as "
                              "stages, {}, and refuses {}.",
                              setup.mesh.pp, setup.microbatches));
    caveats.back().field = "microbatches";
  }
  // core/transformer/moe/moe_layer.py, MoELayer.forward
  if (setup.model.experts.count > 0 && setup.mesh.tp > 1 && !setup.sequence_parallel) {
    caveats.push_back(message("framework-megatron-experts-tp",
                              "Megatron trains experts beside TP with sequence parallelism alone, "
                              "and refuses TP {} without it.",
                              setup.mesh.tp));
    caveats.back().field = "sequence_parallel";
  }
  const Mesh& mesh = setup.mesh;
  // core/parallel_state.py, initialize_model_parallel().
  const int replicas = mesh.ranks() / (mesh.etp() * mesh.ep * mesh.pp);
  if (setup.model.experts.count > 0 && mesh.pp > 1 && mesh.order == RankOrder::kTpCpEpPpDp &&
      replicas != mesh.dp) {
    caveats.push_back(message("framework-megatron-order",
                              "Where stages are neighbours, Megatron wants as many replicas of "
                              "experts as of the rest, {}, and refuses {}.",
                              mesh.dp, replicas));
    caveats.back().field = "mesh.order";
  }
  if (setup.model.experts.count > 0 && mesh.expert_tensor && mesh.tp > 1 && mesh.cp > 1 &&
      mesh.ep > 1) {
    caveats.push_back(
        message("framework-megatron-context",
                "Megatron takes EP out of CP, too, so that its EP groups are of other "
                "ranks than here."));
    caveats.back().field = "mesh.ep";
  }
  // arguments.py: align_param_gather is of the interleaved schedule alone.
  if (setup.overlap_parameters && setup.zero == 1 && mesh.pp > 1 &&
      !(setup.schedule == "interleaved")) {
    caveats.push_back(message("framework-megatron-align",
                              "Without its interleaved schedule each of Megatron's stages begins "
                              "to gather parameters when its first micro-batch has come, here when "
                              "the step begins."));
    caveats.back().field = "overlap_parameters";
  }
  if (setup.zero < 2) return caveats;
  if (!can_build_in_parts(setup))
    caveats.push_back(message("framework-megatron-builds-whole",
                              "Each rank builds its part of the model whole, and may run out of "
                              "memory before training: on the meta device the tied output layer of "
                              "the last stage would begin with zeros."));
  else if (setup.model.learned_positions)
    caveats.push_back(message("framework-megatron-positions",
                              "Built on the meta device, learned positions begin with a standard "
                              "deviation of 1 in place of Megatron's own."));
  return caveats;
}

// ZeRO 2 and 3 are another trainer of the same package, with checkpoints of its own
// (zero_stages()).
std::optional<Message> needs_of_megatron(const FrameworkTable& table, const Setup& setup) {
  if (setup.zero < 2) return std::nullopt;
  const bool line = !table.prefix.empty();
  return message("framework-megatron-fsdp",
                 "{} needs {} for ZeRO {}, and writes checkpoints in another format, "
                 "fsdp_dtensor.",
                 table.info.title, line ? "--use-megatron-fsdp" : "ddp.use_megatron_fsdp",
                 setup.zero);
}

}  // namespace

// With the meta device the last stage's copy of tied embeddings is filled with zeros and never gets
// the first stage's (core/models/common/language_module/language_module.py).
bool can_build_in_parts(const Setup& setup) { return !setup.model.tied || setup.mesh.pp == 1; }

FrameworkTable megatron_table() {
  FrameworkTable table;
  table.info = {"megatron",     "Megatron-LM", "NVIDIA/Megatron-LM",
                "d98e8a64ddf3", "2026-08-22",  ".sh"};
  table.prefix = "--";
  table.rows = rows_of({true});
  table.ignored = {"data-*",
                   "train-data-path",
                   "valid-data-path",
                   "test-data-path",
                   "split",
                   "tokenizer-*",
                   "vocab-file",
                   "merge-file",
                   "mock-data",
                   "make-vocab-size-divisible-by",
                   "save*",
                   "load*",
                   "ckpt-*",
                   "log-*",
                   "tensorboard-*",
                   "wandb-*",
                   "timing-log-*",
                   "profile*",
                   "eval-*",
                   "exit-*",
                   "num-workers",
                   "distributed-*",
                   "master-addr",
                   "master-port",
                   "node-rank",
                   "rdzv-*",
                   "lr-*",
                   "min-lr",
                   "weight-decay",
                   "adam-*",
                   "init-method-std",
                   "use-mcore-models",
                   "manual-gc*",
                   "no-save-*",
                   "no-load-*",
                   "fp8-*",
                   "override-*",
                   "dataloader-*",
                   "transformer-impl",
                   "moe-permute-fusion",
                   "moe-router-fusion",
                   "moe-router-dtype",
                   "moe-flex-dispatcher-backend",
                   "init-model-with-meta-device",
                   "no-gradient-accumulation-fusion",
                   "calculate-per-token-loss"};
  table.reasons = reasons_of_megatron();
  table.print = megatron_line;
  table.parse = parse_launch_line;
  table.caveats = caveats_of_megatron;
  table.needs = needs_of_megatron;
  return table;
}

FrameworkTable megatron_bridge_table() {
  FrameworkTable table;
  table.info = {"megatron-bridge", "Megatron-Bridge", "NVIDIA-NeMo/Megatron-Bridge",
                "067f987df03b",    "2026-08-22",      ".py"};
  table.rows = rows_of({false});
  table.ignored = {"rdzv-*",
                   "import *",
                   "model",
                   "dataset*",
                   "checkpoint*",
                   "logger*",
                   "tokenizer*",
                   "scheduler*",
                   "validation*",
                   "env_vars*",
                   "profiling*",
                   "optimizer.weight_decay",
                   "optimizer.adam_*",
                   "optimizer.min_lr",
                   "optimizer",
                   "ddp",
                   "train",
                   "rng",
                   "dist",
                   "comm_overlap",
                   "mixed_precision.fp8_*",
                   "model.make_vocab_size_divisible_by",
                   "model.should_pad_vocab",
                   "model.init_method_std",
                   "model.init_model_with_meta_device",
                   "model.gradient_accumulation_fusion",
                   "model.calculate_per_token_loss",
                   "model.moe_router_dtype",
                   "model.moe_flex_dispatcher_backend"};
  table.reasons = reasons_of_megatron();
  table.print = bridge_recipe;
  table.parse = parse_bridge_recipe;
  table.caveats = caveats_of_megatron;
  table.needs = needs_of_megatron;
  return table;
}

}  // namespace parallelarium::frameworks
