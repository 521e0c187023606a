// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/setup.h"

#include <cassert>

#include "engine/plan/alternatives.h"
#include "engine/plan/schedule_rules.h"
#include "engine/plan/setup_names.h"

namespace parallelarium {

std::vector<Precision> precision_recipes() {
  return {{"mixed-16", 2, 2, 4, 8},
          {"mixed-16-main-grads", 2, 4, 4, 8},
          {"bf16-states", 2, 2, 4, 4},
          {"fp32", 4, 4, 0, 8}};
}

Setup default_setup() {
  Setup setup;
  Result<Model> model = find_model("gpt-tiny");
  assert(model.ok());  // it is compiled in, and a test reads every preset
  setup.model = std::move(*model);
  setup.mesh.pp = 4;
  return setup;
}

std::vector<int> layers_of_stages(const Setup& setup) {
  if (!setup.stage_layers.empty()) return setup.stage_layers;
  const int stages = stages_of(setup);
  if (setup.model.stage_layers.size() == static_cast<std::size_t>(stages))
    return setup.model.stage_layers;
  return std::vector<int>(static_cast<std::size_t>(stages), setup.model.layers / stages);
}

namespace {

Message cannot(const char* id, const char* sentence, const char* field,
               std::vector<std::string> alternatives) {
  Message why = message(id, sentence);
  why.field = field;
  why.alternatives = std::move(alternatives);
  return why;
}

Result<void> can_execute_model(const Model& model) {
  if (model.experts.count > 0)
    return cannot("run-experts",
                  "This version runs dense models only; experts are predicted, not run.", "model",
                  {"gpt-tiny", "gpt-small"});
  if (model.latent.kv_rank > 0)
    return cannot("run-latent",
                  "This version runs ordinary attention only; latent attention is predicted.",
                  "model", {"gpt-tiny", "gpt-small"});
  if (model.norm != Norm::kLayer)
    return cannot("run-norm", "This version runs LayerNorm only; RMSNorm is predicted.",
                  "model.norm", {"layer"});
  if (model.mlp != Mlp::kGelu)
    return cannot("run-mlp", "This version runs GELU only; SwiGLU is predicted.", "model.mlp",
                  {"gelu"});
  if (model.kv_heads != model.heads)
    return cannot("run-kv-heads",
                  "This version runs as many key/value heads as heads; fewer are predicted.",
                  "model.kv_heads", {std::to_string(model.heads)});
  if (!model.learned_positions)
    return cannot("run-positions",
                  "This version runs learned positions only; rotary ones are predicted.", "model",
                  {"gpt-tiny", "gpt-small"});
  if (model.vocab < 256)
    return cannot("run-vocab", "A run reads text as bytes, so the vocabulary must be 256 or more.",
                  "model.vocab", {"256"});
  return {};
}

}  // namespace

Result<void> can_execute(const Setup& setup) {
  constexpr int kMostRanks = 16;
  const Mesh& mesh = setup.mesh;
  if (mesh.tp > 1)
    return cannot("run-tp", "This version runs PP and DP; TP above 1 is predicted, not run.",
                  "mesh.tp", {"1"});
  if (mesh.cp > 1)
    return cannot("run-cp", "This version runs PP and DP; CP above 1 is predicted, not run.",
                  "mesh.cp", {"1"});
  if (mesh.ep > 1)
    return cannot("run-ep", "This version runs PP and DP; EP above 1 is predicted, not run.",
                  "mesh.ep", {"1"});
  if (setup.zero > 0)
    return cannot("run-zero", "This version runs ZeRO 0; sharded model states are predicted.",
                  "zero", {"0"});
  if (mesh.ranks() > kMostRanks) {
    Message why = message("run-ranks", "{} ranks are more than the {} that this version runs.",
                          mesh.ranks(), kMostRanks);
    why.field = mesh.dp > 1 ? "mesh.dp" : "mesh.pp";
    const int other = mesh.dp > 1 ? mesh.pp : mesh.dp;
    if (other <= kMostRanks) why.alternatives = {std::to_string(kMostRanks / other)};
    return why;
  }
  const Precision fp32 = precision_recipes().back();
  Precision precision = setup.precision;
  precision.name = fp32.name;
  if (precision != fp32)
    return cannot("run-precision", "This version runs fp32; other precisions are predicted.",
                  "precision", {"fp32"});
  if (setup.recompute != Recompute::kNone)
    return cannot("run-recompute", "This version runs without recompute; recompute is predicted.",
                  "recompute", {"none"});
  if (setup.attention != Attention::kUnfused)
    return cannot("run-attention", "This version runs unfused attention; fused is predicted.",
                  "attention", {"unfused"});
  if (setup.dropout > 0)
    return cannot("run-dropout", "This version runs without dropout; dropout is predicted.",
                  "dropout", {"0"});
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  if (rule != nullptr && rule->splits_backward)
    return cannot("run-split",
                  "This version runs whole backwards; schedules that split them into input and "
                  "weight parts are predicted.",
                  "schedule", {"1f1b", "gpipe"});
  if (rule != nullptr && rule->chunks != 1)
    return cannot("run-chunks",
                  "This version runs one chunk on each rank; schedules with several are predicted.",
                  "schedule", {"1f1b", "gpipe"});
  return can_execute_model(setup.model);
}

}  // namespace parallelarium
