// SPDX-License-Identifier: Apache-2.0
// What a Setup may do, but seldom should.
#include <fmt/format.h>

#include <algorithm>

#include "engine/passes/pieces.h"
#include "engine/plan/machine/nodes.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

// Megatron-LM pads the vocabulary to a multiple of 128 for each TP rank
// (--make-vocab-size-divisible-by).
constexpr std::int64_t kPaddedTo = 128;

std::string about_vocabulary(const Setup& setup) {
  const std::int64_t vocab = setup.model.vocab, tp = setup.mesh.tp;
  if (tp == 1 || vocab % tp == 0) return {};
  const std::int64_t step = kPaddedTo * tp, padded = (vocab + step - 1) / step * step;
  return fmt::format(
      "TP {} does not divide the vocabulary of {}, so its ranks hold unequal parts; Megatron-LM "
      "pads "
      "it to {}.",
      tp, vocab, padded);
}

std::string about_interleaving(const Setup& setup) {
  const int stages = setup.mesh.pp;
  if (setup.schedule != Schedule("interleaved") || setup.chunks < 2 ||
      setup.microbatches % stages == 0)
    return {};
  return fmt::format(
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

std::string about_nodes(const Setup& setup, const Machine& machine) {
  const int each = machine.devices_per_node, ranks = setup.mesh.ranks();
  if (tensor_leaves_node(setup, machine))
    return fmt::format(
        "TP {} reaches over nodes of {} devices: every layer's all-reduces then go through the "
        "network.",
        setup.mesh.tp, each);
  const int needed = (ranks + each - 1) / each;
  if (setup.nodes > needed)
    return fmt::format("{} nodes are more than the {} that {} ranks need; the rest stand idle.",
                       setup.nodes, needed, ranks);
  return {};
}

std::string about_experts(const Experts& experts) {
  if (experts.count == 0 || experts.capacity == 0 || experts.capacity >= 0.5) return {};
  return fmt::format(
      "With a capacity of {} at least {:.0f} % of the choices of experts are dropped.",
      experts.capacity, 100 * (1 - experts.capacity));
}

std::string about_context(const Setup& setup) {
  const int cp = setup.mesh.cp;
  if (cp > 1 && setup.context_parallel == ContextParallel::kLocal)
    return fmt::format(
        "Local attention computes another function than the model: each of the {} CP ranks attends "
        "to its own {} tokens only. The proof refuses it.",
        cp, setup.model.sequence / cp);
  if (is_unbalanced(setup))
    return fmt::format(
        "Contiguous CP ranks compute unequal parts of the causal square: the last of {} has {} "
        "times the first's, and the others wait for it.",
        cp, 2 * cp - 1);
  return {};
}

}  // namespace

std::vector<std::string> unwise(const Prediction& prediction) {
  const Setup& setup = prediction.setup;
  std::vector<std::string> remarks;
  if (!prediction.machine.local) remarks.push_back(about_nodes(setup, prediction.machine));
  remarks.push_back(about_vocabulary(setup));
  remarks.push_back(about_interleaving(setup));
  remarks.push_back(about_context(setup));
  remarks.push_back(about_experts(setup.model.experts));
  if (names(setup.recompute, Recompute::kSelective) && setup.attention == Attention::kFused)
    remarks.push_back(
        "Selective recompute runs attention again and saves next to nothing: fused attention keeps "
        "no "
        "scores.");
  if (!setup.sequence_regather && !keeps_gathered_inputs(setup))
    remarks.push_back("Keeping gathered inputs does nothing without sequence parallelism.");
  if (setup.recompute_layers > 0 && setup.recompute != Recompute::kFull)
    remarks.push_back("The number of recomputed layers does nothing without full recompute.");
  if (setup.model.vocab == 1)
    remarks.push_back("A vocabulary of one token has nothing to learn: the loss is 0 at once.");
  if (setup.zero_accumulate && setup.zero == 2)
    remarks.push_back(
        "ZeRO 2 accumulates whole gradients here, so that it holds what ZeRO 1 holds.");
  else if (setup.zero_accumulate)
    remarks.push_back("Accumulating gradients is a choice of ZeRO 2 alone.");
  const auto recomputes_without = [&](Recompute part, bool has, const char* what) {
    if (names(setup.recompute, part) && !has)
      remarks.push_back(fmt::format("There is no {} to compute again in this model.", what));
  };
  recomputes_without(Recompute::kUpProjection, setup.model.latent.kv_rank > 0, "up-projection");
  recomputes_without(Recompute::kExperts, setup.model.experts.count > 0, "layer of experts");
  if (!setup.zero_reshard && held_zero(setup) < 3)
    remarks.push_back("Keeping gathered parameters does nothing without ZeRO 3.");
  if (setup.scatter_gather && !scatters_transfers(setup))
    remarks.push_back(setup.mesh.pp > 1 && setup.sequence_parallel
                          ? "Scatter/gather does nothing here: sequence parallelism cuts what "
                            "stages send already."
                          : "Scatter/gather does nothing without PP and TP above 1.");
  if (setup.gradient_reduction == GradientReduction::kFp32 && setup.precision.gradient_bytes == 4)
    remarks.push_back("Gradients are fp32 here already, so that they are reduced so anyway.");
  std::erase(remarks, std::string());
  return remarks;
}

}  // namespace parallelarium
