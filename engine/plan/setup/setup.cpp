// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/setup/setup.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {

std::vector<Precision> precision_recipes() {
  return {{"mixed-16", 2, 2, 4, 8},
          {"mixed-16-main-grads", 2, 4, 4, 8},
          {"bf16-states", 2, 2, 4, 4},
          {"fp32", 4, 4, 0, 8}};
}

Precision auto_precision() {
  Precision precision;
  precision.name = "auto";
  return precision;
}

bool is_auto(const Precision& precision) { return precision.name == "auto"; }

std::optional<Precision> find_precision(std::string_view name) {
  if (name == "auto") return auto_precision();
  for (const Precision& recipe : precision_recipes())
    if (recipe.name == name) return recipe;
  return std::nullopt;
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names = {"auto"};
  for (const Precision& recipe : precision_recipes()) names.push_back(recipe.name);
  return names;
}

bool is_trainable(const Precision& precision) {
  const int moments = precision.moments_bytes;
  if (precision.parameter_bytes == 4)
    return precision.gradient_bytes == 4 && precision.master_bytes == 0 && moments == 8;
  return precision.master_bytes == 4 && (moments == 4 || moments == 8);
}

Setup default_setup() {
  Setup setup;
  Result<Model> model = find_model("gpt-tiny");
  assert(model.ok());  // it is compiled in, and a test reads every preset
  setup.model = std::move(*model);
  setup.mesh.pp = 4;
  return setup;
}

Setup new_setup() {
  Setup setup = default_setup();
  setup.precision = auto_precision();
  setup.attention = Attention::kAuto;
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

Message cannot(const Sentence& sentence, const char* field, std::vector<std::string> alternatives) {
  Message why = message(sentence);
  why.field = field;
  why.alternatives = std::move(alternatives);
  return why;
}

Result<void> can_execute_model(const Model& model) {
  if (model.latent.kv_rank > 0)
    return cannot(
        Sentence{"run-latent",
                 "This version runs ordinary attention only; latent attention is predicted."},
        "model", {"gpt-tiny", "gpt-small"});
  if (model.vocab < 256)
    return cannot(
        Sentence{"run-vocab", "A run reads text as bytes, so the vocabulary must be 256 or more."},
        "model.vocab", {"256"});
  return {};
}

Result<void> can_execute_offload(const Setup& setup) {
  if (!setup.offload_activations && !setup.offload_optimizer) return {};
  return cannot(
      Sentence{"run-offload",
               "This version predicts offloading to the host's memory and runs without it."},
      setup.offload_activations ? "offload_activations" : "offload_optimizer", {"false"});
}

Result<void> can_execute_experts(const Setup& setup) {
  if (setup.kept == KeptType::kFp8)
    return cannot(Sentence{"run-kept-fp8",
                           "This version predicts activations that wait in FP8 and keeps them as "
                           "they are computed."},
                  "kept_activations", {"same"});
  if (setup.model.experts.count == 0) return {};
  if (setup.products == ProductType::kFp8)
    return cannot(Sentence{"run-fp8-experts",
                           "This version runs products in FP8 without experts, and predicts those "
                           "of experts."},
                  "products", {"same"});
  if (setup.fp8_dispatch)
    return cannot(Sentence{"run-fp8-dispatch",
                           "This version predicts tokens that travel in FP8 and sends them as they "
                           "are stored."},
                  "fp8_dispatch", {"false"});
  if (setup.expert_dispatch == ExpertDispatch::kOncePerNode)
    return cannot(Sentence{"run-dispatch",
                           "This version predicts tokens that travel once to each node and sends "
                           "one copy to each expert."},
                  "expert_dispatch", {"copies"});
  const bool whole = setup.mesh.tp > 1 && has_whole_experts(setup);
  if (whole && setup.model.experts.capacity > 0)
    return cannot(Sentence{"run-whole-capacity",
                           "This version runs whole experts (ETP 1) beside TP without a capacity: "
                           "each TP rank would count it over its own tokens."},
                  "model.experts.capacity", {"0"});
  if (whole && setup.skew > 0)
    return cannot(Sentence{"run-whole-skew",
                           "This version runs whole experts (ETP 1) beside TP without a skew: each "
                           "TP rank would skew its own tokens."},
                  "skew", {"0"});
  if (gathers_expert_tokens(setup))
    return cannot(Sentence{"run-dispatch-shares",
                           "This version predicts TP ranks that send their own tokens alone and "
                           "sends all tokens from each of them."},
                  "expert_dispatch", {"copies"});
  if (setup.expert_gates == ExpertGates::kActivations)
    return cannot(Sentence{"run-expert-gates",
                           "This version predicts routers' weights between the products of an "
                           "expert and runs with weighed results."},
                  "expert_gates", {"results"});
  if (setup.overlap_experts)
    return cannot(Sentence{"run-overlap-experts",
                           "This version predicts exchanges that hide inside a pair of actions and "
                           "runs one action after the other."},
                  "overlap_experts", {"false"});
  if (setup.mesh.cp > 1)
    return cannot(
        Sentence{"run-experts-cp",
                 "This version runs experts without CP: a micro-batch's capacity and balance would "
                 "have to be counted over the CP ranks."},
        "mesh.cp", {"1"});
  return {};
}

// Rows of FP8 begin at 16 bytes (kernels/products/fp8_linear.h). Of a rank: all that its linear
// layers take in or give out.
Result<void> can_execute_fp8(const Setup& setup) {
  if (setup.products != ProductType::kFp8) return {};
  if (names(setup.recompute, Recompute::kSecondProducts) || setup.ring_tensor)
    return cannot(
        Sentence{"run-fp8-parts",
                 "A product in FP8 has one scale for all of its numbers, and a part of it "
                 "would have another; this version predicts it."},
        "products", {"same"});
  constexpr std::int64_t kMultiple = 16;
  const Model& model = setup.model;
  const std::int64_t t = setup.mesh.tp;
  const std::int64_t size = model.head_dim > 0 ? model.head_dim : model.hidden / model.heads;
  const std::int64_t keys = std::max<std::int64_t>(1, model.kv_heads / t);
  const std::pair<const char*, std::int64_t> widths[] = {
      {"model.hidden", model.hidden},
      {"model.heads", model.heads / t * size},
      {"model.heads", (model.heads / t + 2 * keys) * size},
      {"model.ffn", model.ffn / t}};
  for (const auto& [field, width] : widths) {
    if (width % kMultiple == 0) continue;
    Message why = message("run-fp8-sizes",
                          "Tensor cores multiply FP8 in steps of {}, and a linear layer of a rank "
                          "would take or give {} numbers for each token.",
                          kMultiple, width);
    why.field = field;
    return why;
  }
  return {};
}

Result<void> can_execute_context(const Setup& setup) {
  const int cp = setup.mesh.cp;
  if (cp == 1) return {};
  if (setup.context_parallel == ContextParallel::kUlysses) {
    const int heads = std::max(1, setup.model.kv_heads / setup.mesh.tp);
    if (heads % cp == 0 || cp % heads == 0) return {};
    return cannot(
        Sentence{"run-cp-kv-heads",
                 "Ulysses shares out or repeats key/value heads, so CP must divide those of a rank "
                 "or be a multiple of them."},
        "mesh.cp", {std::to_string(heads)});
  }
  const bool local = setup.context_parallel == ContextParallel::kLocal;
  if (!local && setup.attention != Attention::kFused)
    return cannot(
        Sentence{"run-cp-attention",
                 "CP by ring or all-gather works through keys block by block and keeps no scores: "
                 "choose fused attention, or Ulysses."},
        "attention", {"fused"});
  if (setup.cp_split == ContextSplit::kZigzag && setup.model.sequence % (2 * cp) != 0) {
    Message why = message("run-cp-sequence",
                          "CP {} cuts a sequence into two runs for every rank, and {} tokens do "
                          "not divide by that; {} would.",
                          cp, setup.model.sequence, (setup.model.sequence / (2 * cp) + 1) * 2 * cp);
    why.field = "model.sequence";
    why.alternatives = {std::to_string((setup.model.sequence / (2 * cp) + 1) * 2 * cp)};
    return why;
  }
  return {};
}

}  // namespace

Result<std::vector<int>> device_list(const std::string& devices) {
  std::vector<int> list;
  if (devices == "all") return list;
  constexpr int kMostDevices = 1024;
  for (std::size_t at = 0; at <= devices.size();) {
    const std::size_t end = std::min(devices.find(',', at), devices.size());
    int index = 0;
    const auto [stop, error] = std::from_chars(devices.data() + at, devices.data() + end, index);
    const bool whole = error == std::errc{} && stop == devices.data() + end;
    if (!whole || index < 0 || index > kMostDevices ||
        std::find(list.begin(), list.end(), index) != list.end()) {
      Message why = message(
          "devices-list", "\"{}\" is no list of GPUs; write all, or each index once, such as 0,2.",
          devices);
      why.field = "run.devices";
      why.alternatives = {"all", "0"};
      return why;
    }
    list.push_back(index);
    at = end + 1;
  }
  return list;
}

Result<void> can_execute(const Setup& setup) {
  constexpr int kMostRanks = 16;
  const Mesh& mesh = setup.mesh;
  if (Result<void> can = can_execute_context(setup); !can) return can;
  if (Result<void> can = can_execute_experts(setup); !can) return can;
  if (Result<void> can = can_execute_fp8(setup); !can) return can;
  if (Result<void> can = can_execute_offload(setup); !can) return can;
  if (mesh.ranks() > kMostRanks) {
    Message why = message("run-ranks", "{} ranks are more than the {} that this version runs.",
                          mesh.ranks(), kMostRanks);
    const std::pair<const char*, int> axes[] = {
        {"mesh.dp", mesh.dp}, {"mesh.pp", mesh.pp}, {"mesh.tp", mesh.tp}, {"mesh.cp", mesh.cp}};
    const auto& [field, degree] =
        *std::max_element(std::begin(axes), std::end(axes),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
    why.field = field;
    const int others = mesh.ranks() / degree;
    if (others <= kMostRanks) why.alternatives = {std::to_string(kMostRanks / others)};
    return why;
  }
  if (!is_trainable(setup.precision))
    return cannot(
        Sentence{"run-precision",
                 "This version runs fp32 (4 + 4 + 0 + 8 bytes a parameter), or 16-bit parameters "
                 "with gradients of 2 or 4 bytes, a master of 4 and moments of 4 or 8; other "
                 "bytes are predicted."},
        "precision", {"fp32", "mixed-16"});
  return can_execute_model(setup.model);
}

}  // namespace parallelarium
