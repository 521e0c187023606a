// SPDX-License-Identifier: Apache-2.0
// The rows of the table of settings that say what a step does.
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/setup/setup_objects.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

using Is = Of<Setup>;
using Row = SetupSetting;
// GCC 12 breaks down where the first row of all is one with names of members.
const Row kFirstOfStep = Row();

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const ScheduleRule& rule : kScheduleRules) names.emplace_back(rule.name);
  return names;
}

}  // namespace

void follow_stages(Setup& setup, const Setup& before) {
  if (stages_of(setup) != stages_of(before)) setup.stage_layers.clear();
}

SettingTable<Setup> step_rows() {
  return {
      {.key = "precision",
       .option = "precision",
       .value = precision_value(),
       .values = [](const Setup&) { return precision_names(); },
       .section = Section::kMoreModel,
       .label = "Precision",
       .help = "auto, mixed-16, mixed-16-main-grads, bf16-states, fp32 or {...}"},
      {.key = "products",
       .option = "products",
       .value = Is::choice(kProductTypes, &Setup::products),
       .written = where_changed<Setup>(&Setup::products),
       .section = Section::kMoreModel,
       .label = "Products",
       .help = "what linear layers multiply: same or fp8",
       .captions = {{.value = "same", .text = "same: as they are stored"},
                    {.value = "fp8", .text = "fp8: made of 16 bit"}}},
      {.key = "kept_activations",
       .option = "kept-activations",
       .value = Is::choice(kKeptTypes, &Setup::kept),
       .written = where_changed<Setup>(&Setup::kept),
       .section = Section::kMoreModel,
       .label = "Kept activations",
       .help = "as what inputs of linear layers wait for the backward: same or fp8",
       .captions = {{.value = "same", .text = "same: as they are computed"},
                    {.value = "fp8",
                     .text = "fp8: inputs of linear layers",
                     .tip = "fp8: inputs of linear layers, experts and activations in FP8, that of "
                            "the attention's projection in 12 bits"}}},
      {.key = "schedule",
       .option = "schedule",
       .value = schedule_value(),
       .values = [](const Setup&) { return schedule_names(); },
       .open = true,
       .from_file = schedule_from_file,
       .follow = follow_stages,
       .section = Section::kPipeline,
       .label = "Schedule",
       .help = "naive, gpipe, 1f1b, interleaved, zb-h1, zb-h2, zb-1p, zb-2p, zb-v, v-half, v-min, "
               "dualpipe, dualpipe-v, or a file of orders"},
      {.key = "chunks",
       .option = "chunks",
       .value = Is::whole({1, 1'000}, &Setup::chunks),
       .follow = follow_stages,
       .section = Section::kMoreParallelism,
       .label = "Chunks per rank",
       .help = "model chunks per rank"},
      {.key = "microbatch_group",
       .option = "microbatch-group",
       .value = Is::whole({0, 1'000'000}, &Setup::microbatch_group),
       .written = where_changed<Setup>(&Setup::microbatch_group),
       .applies = [](const Setup& setup) { return setup.schedule == "interleaved"; },
       .needs = "needs interleaving",
       .section = Section::kMoreParallelism,
       .label = "Micro-batch group (0: auto)",
       .help = "interleaved: micro-batches that a chunk takes before the next does; 0: auto"},
      {.key = "stage_layers",
       .option = "stage-layers",
       .value = Is::wholes({0, 10'000}, &Setup::stage_layers),
       .written = where_changed<Setup>(&Setup::stage_layers),
       .section = Section::kMoreParallelism,
       .label = "Stage layers",
       .help = "layers of each stage, as 3,2,2,1 (first and last may be 0); or even"},
      {.key = "micro_batch",
       .option = "micro-batch",
       .value = Is::whole({1, 65'536}, &Setup::micro_batch),
       .section = Section::kMoreModel,
       .label = "Micro-batch size",
       .help = "sequences in a micro-batch"},
      {.key = "microbatches",
       .option = "microbatches",
       .value = Is::whole({1, 1'000'000}, &Setup::microbatches),
       .section = Section::kPipeline,
       .label = "Micro-batches",
       .help = "micro-batches per replica and step"},
      {.key = "recompute",
       .option = "recompute",
       .value = recompute_value(),
       .section = Section::kPipeline,
       .label = "Recompute",
       .help = "none, full, or some of selective,norms,activation,up-projection,second-products,"
               "experts",
       .captions = {{.value = "none", .text = "none"},
                    {.value = "selective",
                     .text = "select.",
                     .tip = "selective: attention is computed again in the backward"},
                    {.value = "full",
                     .text = "full",
                     .tip = "only the inputs of layers are kept"}}},
      {.key = "recompute_layers",
       .option = "recompute-layers",
       .value = Is::whole({0, 10'000}, &Setup::recompute_layers),
       .written = where_changed<Setup>(&Setup::recompute_layers),
       .applies = [](const Setup& setup) { return setup.recompute == Recompute::kFull; },
       .needs = "needs full recompute",
       .section = Section::kMoreModel,
       .label = "Recomputed layers (0: all)",
       .unit = "layers",
       .help = "layers of each stage that full recompute computes again; 0: all"},
      {.key = "offload_activations",
       .option = "offload-activations",
       .value = Is::flag(&Setup::offload_activations),
       .written = where_changed<Setup>(&Setup::offload_activations),
       .section = Section::kMoreModel,
       .label = "Offload activations",
       .help = "keep activations in the host's memory until their backward: true or false"},
      {.key = "offload_optimizer",
       .option = "offload-optimizer",
       .value = Is::flag(&Setup::offload_optimizer),
       .written = where_changed<Setup>(&Setup::offload_optimizer),
       .section = Section::kMoreModel,
       .label = "Offload optimizer",
       .help = "keep the optimizer's states in the host's memory: true or false"},
      {.key = "context_parallel",
       .option = "context-parallel",
       .value = Is::choice(kContextParallels, &Setup::context_parallel),
       .section = Section::kMoreParallelism,
       .label = "Context kind",
       .help = "ring, all-gather, ulysses, or local: own tokens only, another function",
       .captions = {{.value = "ring", .text = "ring"},
                    {.value = "all-gather", .text = "all-gather"},
                    {.value = "ulysses", .text = "Ulysses"},
                    {.value = "local",
                     .text = "local: wrong",
                     .tip = "each rank attends to its own tokens only: another function, which the "
                            "proof refuses"}}},
      {.key = "cp_split",
       .option = "cp-split",
       .value = Is::choice(kContextSplits, &Setup::cp_split),
       .written = where_changed<Setup>(&Setup::cp_split),
       .applies =
           [](const Setup& setup) {
             return setup.mesh.cp > 1 && setup.context_parallel != ContextParallel::kUlysses;
           },
       .needs = "needs CP other than Ulysses",
       .section = Section::kMoreParallelism,
       .label = "Context split",
       .help = "which tokens a CP rank holds: zigzag, a run from each end, or contiguous",
       .captions = {{.value = "zigzag", .text = "zigzag: equal work"},
                    {.value = "contiguous", .text = "contiguous: the last computes most"}}},
      {.key = "attention",
       .option = "attention",
       .value = Is::choice(kAttentions, &Setup::attention),
       .section = Section::kMoreModel,
       .label = "Attention",
       .help = "auto, unfused or fused",
       .captions = {{.value = "unfused", .text = "unfused: keeps the scores"},
                    {.value = "fused", .text = "fused: computes them again"}}},
      {.key = "collectives",
       .option = "collectives",
       .value = Is::text(&Setup::collectives),
       .written = where_changed<Setup>(&Setup::collectives),
       .section = Section::kCollectives,
       .label = "Collectives",
       .help = "direct, one-ring (between nodes by one card of each), ring, ..., or "
               "all_reduce=ring,all_gather=bruck"},
      {.key = "dropout",
       .option = "dropout",
       .value = Is::number({0, 0.99}, &Setup::dropout),
       .stride = {0.05},
       .section = Section::kMoreModel,
       .label = "Dropout",
       .help = "probability from 0 to 0.99"},
      {.key = "learning_rate",
       .option = "learning-rate",
       .value = Is::number({0, 1'000}, &Setup::learning_rate),
       .stride = {0, 1e-6},
       .section = Section::kMoreModel,
       .label = "Learning rate",
       .help = "AdamW's step size"},
      {.key = "clip",
       .option = "clip",
       .value = Is::number({0, 1'000'000}, &Setup::clip),
       .section = Section::kMoreModel,
       .label = "Gradient clip (0: none)",
       .help = "bound of the gradient norm; 0: none"}};
}

}  // namespace parallelarium
