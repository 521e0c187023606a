// SPDX-License-Identifier: Apache-2.0
// What a Setup may do, but seldom should.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/passes/pieces.h"
#include "engine/plan/machine/nodes.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/text/units.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

// Megatron-LM pads the vocabulary to a multiple of 128 for each TP rank
// (--make-vocab-size-divisible-by).
constexpr std::int64_t kPaddedTo = 128;

using Remark = std::optional<Message>;

Remark about_vocabulary(const Setup& setup) {
  const std::int64_t vocab = setup.model.vocab, tp = setup.mesh.tp;
  if (tp == 1 || vocab % tp == 0) return std::nullopt;
  const std::int64_t step = kPaddedTo * tp, padded = (vocab + step - 1) / step * step;
  return message("remark-vocabulary",
                 "TP {} does not divide the vocabulary of {}, so its ranks hold unequal parts; "
                 "Megatron-LM pads it to {}.",
                 tp, vocab, padded);
}

Remark about_interleaving(const Setup& setup) {
  const int stages = setup.mesh.pp;
  if (setup.schedule != Schedule("interleaved") || setup.chunks < 2 ||
      setup.microbatches % stages == 0)
    return std::nullopt;
  return message(
      "remark-interleaving",
      "{} micro-batches are no multiple of the {} stages: interleaving then waits within the step, "
      "and Megatron-LM refuses it.",
      setup.microbatches, stages);
}

// Whether a TP group has ranks on more than one node, as one of a size that does not divide a
// node's devices may have.
bool tensor_leaves_node(const Setup& setup, const Machine& machine) {
  const std::vector<AxisReach> reaches = axis_reaches(setup.mesh, nodes_of(setup, machine));
  return std::any_of(reaches.begin(), reaches.end(), [](const AxisReach& reach) {
    return reach.axis == Axis::kTp && reach.most_nodes > 1;
  });
}

Remark about_nodes(const Setup& setup, const Machine& machine) {
  const int each = machine.devices_per_node, ranks = setup.mesh.ranks();
  if (tensor_leaves_node(setup, machine))
    return message(
        "remark-tp-nodes",
        "TP {} reaches over nodes of {} devices: every layer's all-reduces then go through the "
        "network.",
        setup.mesh.tp, each);
  const int needed = (ranks + each - 1) / each;
  if (setup.nodes > needed)
    return message("remark-nodes",
                   "{} nodes are more than the {} that {} ranks need; the rest stand idle.",
                   setup.nodes, needed, ranks);
  return std::nullopt;
}

Remark about_recomputed_layers(const Setup& setup) {
  if (!recomputes_some_layers(setup)) return std::nullopt;
  const std::vector<int> layers = layers_of_stages(setup);
  const int most = *std::max_element(layers.begin(), layers.end());
  if (setup.recompute_layers <= most) return std::nullopt;
  return message("remark-recompute-all",
                 "Up to {} layers of a stage are recomputed, which is all of them: no stage has "
                 "more than {}.",
                 setup.recompute_layers, most);
}

Remark about_experts(const Setup& setup) {
  const Experts& experts = setup.model.experts;
  if (experts.count == 0 || experts.capacity == 0 || experts.capacity >= 0.5) return std::nullopt;
  const std::int64_t tokens = home_tokens(setup);
  const double kept = static_cast<double>(experts.count * expert_capacity(experts, tokens)) /
                      static_cast<double>(tokens * experts.top_k);
  // An expert takes one token at least. What is a whole number of percent stays one in spite of
  // rounding.
  const double percent = std::floor(100 * (1 - kept) + 0.05);
  if (percent < 1) return std::nullopt;
  return message("remark-capacity",
                 "With a capacity of {} at least {} of the choices of experts are dropped.",
                 figure(exact_text(experts.capacity)), figure(fmt::format("{:.0f} %", percent)));
}

Remark about_context(const Setup& setup) {
  const int cp = setup.mesh.cp;
  if (cp > 1 && setup.context_parallel == ContextParallel::kLocal)
    return message(
        "remark-local",
        "Local attention computes another function than the model: each of the {} CP ranks attends "
        "to its own {} tokens only. The proof refuses it.",
        cp, setup.model.sequence / cp);
  if (is_unbalanced(setup))
    return message(
        "remark-contiguous",
        "Contiguous CP ranks compute unequal parts of the causal square: the last of {} has {} "
        "times the first's, and the others wait for it.",
        cp, 2 * cp - 1);
  return std::nullopt;
}

}  // namespace

std::vector<Message> unwise(const Prediction& prediction) {
  const Setup& setup = prediction.setup;
  std::vector<Message> remarks;
  const auto add = [&](Remark remark) {
    if (remark) remarks.push_back(std::move(*remark));
  };
  const auto add_about = [&](const char* key, Message remark) {
    remark.field = key;
    remarks.push_back(std::move(remark));
  };
  if (!prediction.machine.local) add(about_nodes(setup, prediction.machine));
  add(about_vocabulary(setup));
  add(about_interleaving(setup));
  add(about_context(setup));
  add(about_experts(setup));
  if (names(setup.recompute, Recompute::kSelective) && setup.attention == Attention::kFused)
    add(message("remark-selective",
                "Selective recompute runs attention again and saves next to nothing: fused "
                "attention keeps no scores."));
  if (!setup.sequence_regather && !keeps_gathered_inputs(setup))
    add_about("sequence_regather",
              message("remark-regather",
                      "Keeping gathered inputs does nothing without sequence parallelism."));
  add(about_recomputed_layers(setup));
  if (setup.recompute_layers > 0 && setup.recompute != Recompute::kFull)
    add_about("recompute_layers",
              message("remark-recompute-layers",
                      "The number of recomputed layers does nothing without full recompute."));
  if (setup.model.vocab == 1)
    add(message("remark-vocab-1",
                "A vocabulary of one token has nothing to learn: the loss is 0 at once."));
  if (setup.zero_accumulate && setup.zero == 2)
    add(message("remark-accumulate",
                "ZeRO 2 accumulates whole gradients here, so that it holds what ZeRO 1 holds."));
  else if (setup.zero_accumulate)
    add_about("zero_accumulate", message("remark-accumulate-zero",
                                         "Accumulating gradients is a choice of ZeRO 2 alone."));
  if (setup.overlap_parameters && (setup.zero == 0 || setup.zero == 3))
    add_about("overlap_parameters",
              message("remark-overlap-parameters",
                      "Gathering parameters while the next forward computes is a choice of ZeRO 1 "
                      "and 2 alone."));
  if (names(setup.recompute, Recompute::kUpProjection) && setup.model.latent.kv_rank == 0)
    add(message("remark-no-up-projection",
                "There is no up-projection to compute again in this model."));
  if (names(setup.recompute, Recompute::kExperts) && setup.model.experts.count == 0)
    add(message("remark-no-experts",
                "There is no layer of experts to compute again in this model."));
  if (!setup.zero_reshard && held_zero(setup) < 3)
    add_about("zero_reshard", message("remark-reshard",
                                      "Keeping gathered parameters does nothing without ZeRO 3."));
  if (setup.scatter_gather && !scatters_transfers(setup))
    add_about(
        "scatter_gather",
        setup.mesh.pp > 1 && setup.sequence_parallel
            ? message("remark-scatter-sp",
                      "Scatter/gather does nothing here: sequence parallelism cuts what stages "
                      "send already.")
            : message("remark-scatter", "Scatter/gather does nothing without PP and TP above 1."));
  if (setup.gradient_reduction == GradientReduction::kFp32 && setup.precision.gradient_bytes == 4)
    add(message("remark-fp32-gradients",
                "Gradients are fp32 here already, so that they are reduced so anyway."));
  const int replicas = setup.mesh.dp * setup.mesh.cp;
  if (setup.zero > 0 && replicas == 1)
    add(message("remark-zero-alone",
                "ZeRO {} has nothing to shard: DP and CP are 1, so every rank keeps all its "
                "states.",
                setup.zero));
  else if (setup.zero > 0 && setup.zero_group == 1)
    add(message("remark-zero-group-1", "ZeRO {} has nothing to shard in groups of one rank.",
                setup.zero));
  if (setup.zero == 0 && setup.zero_group > 0)
    add_about("zero_group",
              message("remark-zero-group", "The ZeRO group does nothing without ZeRO."));
  if (setup.zero < 3 && setup.zero_prefetch != Setup{}.zero_prefetch)
    add_about("zero_prefetch",
              message("remark-prefetch", "Prefetching does nothing without ZeRO 3."));
  return remarks;
}

}  // namespace parallelarium
