// SPDX-License-Identifier: Apache-2.0
// Everything that the student sets: plain data with defaults. A Setup is also the file format
// ("parallelarium-setup/1") and the unit of undo.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/model/model.h"
#include "engine/plan/order/schedule.h"
#include "engine/plan/placement/machine_choice.h"
#include "engine/plan/program/mesh.h"
#include "engine/plan/result.h"

namespace parallelarium {

// What the backward computes again instead of keeping it: a set of these, or all of a layer.
enum class Recompute : std::uint8_t {
  kNone = 0,
  kSelective = 1,     // the attention core: scores, softmax, context
  kNorms = 2,         // outputs of both norms
  kActivation = 4,    // output of the activation, of the MLP and of experts
  kUpProjection = 8,  // latent attention: queries, keys and values from their low ranks
  kExperts = 16,      // all of a MoE layer behind its norm
  kFull = 32,         // all but the inputs of layers
  // Every second product of a layer: keys, projection with the sum behind it, and SwiGLU's up. The
  // products are, in order, Q, K, V, projection, MLP in (for SwiGLU gate, then up) and MLP out.
  kSecondProducts = 64,
};
constexpr Recompute operator|(Recompute a, Recompute b) {
  return static_cast<Recompute>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
// Whether the set names `part` itself. kFull is not the sum of the others.
constexpr bool names(Recompute set, Recompute part) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(part)) != 0;
}
std::string text_of(Recompute recompute);  // "none", "selective", "norms,activation"
enum class GradientReduction : std::uint8_t { kSame, kFp32 };
// How a CP rank's queries meet the keys of others. kLocal: not at all. That is another function
// than the model's; it is here so that a proof can refuse it.
enum class ContextParallel : std::uint8_t { kRing, kAllGather, kUlysses, kLocal };
// Which tokens a CP rank holds. Zigzag: a run from each end of the sequence, so that all ranks have
// equal work under the causal mask (Dubey et al. 2024, section 3.3.2). Contiguous: one run; the
// last tokens are seen least. Ulysses cuts contiguously and computes by heads.
enum class ContextSplit : std::uint8_t { kZigzag, kContiguous };
enum class Attention : std::uint8_t { kAuto, kUnfused, kFused };
// Which experts a rank of an EP group holds: neighbours, or every EP-th one.
enum class ExpertPlacement : std::uint8_t { kBlocked, kRoundRobin };
// How a token reaches experts on several ranks of another node. kCopies: once for each rank.
// kOncePerNode: once, and the node's own links pass it on (DeepSeek-V3, section 3.2.2).
// kTensorShares: under sequence parallelism each TP rank routes and sends its own tokens, and the
// TP ranks of the experts give each other what came (Megatron-LM, moe/token_dispatcher.py,
// MoEAlltoAllTokenDispatcher).
enum class ExpertDispatch : std::uint8_t { kCopies, kOncePerNode, kTensorShares };
// What linear layers and experts multiply: the stored type, or FP8 made of it.
enum class ProductType : std::uint8_t { kSame, kFp8 };
// The type in which inputs of linear layers, experts and activations wait for their backward.
enum class KeptType : std::uint8_t { kSame, kFp8 };
// What a router's weight of an expert multiplies. kResults: the expert's results, which then wait
// for the backward. kActivations: what is between the expert's two products (Megatron-Core,
// moe/experts.py).
enum class ExpertGates : std::uint8_t { kResults, kActivations };
// What the loss holds beside the logits. kNone: nothing, since their gradient takes their place.
// kGradient: their gradient, as when torch.compile fuses the loss. kFp32: what PyTorch's cross
// entropy of fp32 logits holds op by op. That is a copy of the logits, the gradient of their
// log-probabilities and the gradient of the copy; ranks of TP hold exponentials too. The memory of
// the logits then waits for their gradient, since nothing else that comes fits it. Source:
// torchtitan 9dec370, train.py, loss_fn; e7c0cae, components/loss.py, build_cross_entropy_loss;
// PyTorch 1963fc8, distributed/tensor/parallel/loss.py, _nll_loss_and_log_softmax_backward.
enum class LossCopies : std::uint8_t { kNone, kGradient, kFp32 };
enum class Backend : std::uint8_t { kAuto, kCpu, kPaced, kCuda };

// Bytes per parameter. Names and sums: mixed-16 2+2+4+8 (ZeRO paper), mixed-16-main-grads 2+4+4+8
// (Megatron bf16), bf16-states 2+2+4+4, fp32 4+4+0+8.
struct Precision {
  std::string name = "fp32";  // or "custom", or "auto": see resolve.h
  int parameter_bytes = 4, gradient_bytes = 4, master_bytes = 0, moments_bytes = 8;
  // Bytes of an activation element: those of a parameter.
  int activation_bytes() const { return parameter_bytes; }
  int state_bytes() const {
    return parameter_bytes + gradient_bytes + master_bytes + moments_bytes;
  }
  bool operator==(const Precision&) const = default;
};
std::vector<Precision> precision_recipes();
// "auto" is no recipe: it stands for one, and has the bytes of fp32 until resolve() has chosen.
Precision auto_precision();
bool is_auto(const Precision& precision);
// The recipe of this name, or "auto"; then all these names.
std::optional<Precision> find_precision(std::string_view name);
std::vector<std::string> precision_names();
// Whether the engine trains with these bytes. It can train in fp32 all through. It can also train
// with bf16 parameters and activations, gradients of 2 or 4 bytes, an fp32 master and two moments
// of 2 or 4 bytes each.
bool is_trainable(const Precision& precision);

// A rehearsal is as slow as the real work asks for, and nobody wants it slower: auto; resolved.
inline constexpr double kAutoStretch = 0, kAnyStretch = 1;

// A rank that computes more slowly than the others, on purpose.
struct SlowRank {
  int rank = 0;
  double factor = 1;  // its computing takes this many times as long; 1: no rank is slow
  double factor_of(int of) const { return of == rank ? factor : 1; }
  bool operator==(const SlowRank&) const = default;
};

struct RunSettings {
  Backend backend = Backend::kAuto;
  double stretch = kAutoStretch;  // the least stretch of a rehearsal, see plan/placement/stretch.h
  int steps = 5;                  // timed training steps
  int warmup = 1;                 // real training steps before them
  std::uint64_t seed = 1;
  std::string text = "default";  // or the path of any UTF-8 file
  std::string devices = "all";   // GPUs that ranks may use, or their indices: "0,2"
  SlowRank slow_rank = {};
  bool operator==(const RunSettings&) const = default;
};

struct Setup {
  Model model;  // resolved; model.name is the preset's name, or "custom"
  MachineChoice machine = "local";
  int nodes = 0;  // nodes of the machine; 0 means as many as the ranks need
  Mesh mesh;
  bool sequence_parallel = false;
  // Sequence parallelism: whether the gathered input of a column-parallel product is freed after
  // its forward and gathered again for its weight gradient. Otherwise it is kept until then.
  bool sequence_regather = true;
  int zero = 0;
  // Ranks of DP and CP that share model states (hybrid sharding); 0 means all.
  int zero_group = 0;
  // How many layers' parameters ZeRO 3 gathers ahead of the layer that computes; each of them takes
  // memory.
  int zero_prefetch = 1;
  // ZeRO 3: whether gathered parameters are freed after a forward and gathered again for the
  // backward. Otherwise they are kept until the backward has used them.
  bool zero_reshard = true;
  // ZeRO 2: whether whole gradients are accumulated and reduced once a step, as ZeRO 1 does.
  // Otherwise those of every micro-batch are reduced at once.
  bool zero_accumulate = false;
  // Whether gradients are reduced while the last backward still computes, or all of them after it.
  bool overlap_gradients = true;
  // ZeRO 1 and 2: whether parameters are gathered while the step's first forward computes, or all
  // of them before the step ends.
  bool overlap_parameters = false;
  // Whether the sums of input gradients over TP ranks hide behind weight gradients.
  bool overlap_tensor = false;
  // Whether TP's gathers and sums of the sequence go round as a ring. Products of linear layers are
  // then cut into one part for each step of the ring.
  bool ring_tensor = false;
  // Whether transfers between stages hide behind what stages compute.
  bool overlap_pipeline = true;
  // Whether each rank of a TP group sends only its own share to the next stage, where the group
  // gathers the whole.
  bool scatter_gather = false;
  // The type in which replicas add up gradients: the type in which they hold them, or fp32.
  GradientReduction gradient_reduction = GradientReduction::kSame;
  Precision precision;
  Schedule schedule = "1f1b";
  int chunks = 1;
  // Interleaved: micro-batches that a chunk computes before the next chunk does. 0: the fewest that
  // leave no short round.
  int microbatch_group = 0;
  int micro_batch = 1;
  int microbatches = 8;  // per data-parallel replica
  Recompute recompute = Recompute::kNone;
  // Full recompute: how many layers of each stage, from its first on, are computed again; 0: all.
  int recompute_layers = 0;
  // What waits in the host's memory: activations from the forward to the backward of their layer,
  // and the optimizer's states between updates.
  bool offload_activations = false, offload_optimizer = false;
  ContextParallel context_parallel = ContextParallel::kRing;
  ContextSplit cp_split = ContextSplit::kZigzag;
  Attention attention = Attention::kUnfused;
  // How collectives are done. "direct" is the transport's own way. Otherwise an algorithm of
  // engine/collectives does them by sends and receives: one name for every collective that has an
  // algorithm of this name ("ring"), or kind by kind ("all_reduce=double-tree,all_gather=bruck").
  std::string collectives = "direct";
  double dropout = 0;
  double learning_rate = 1e-3;
  double clip = 0;  // gradient-norm bound; 0 means none
  // These three are for experts only. The balance loss is alpha E sum f_i P_i. The z-loss is a
  // coefficient times the mean squared log-sum-exp of a token's logits. The bias takes part in the
  // selection alone; every step it moves by bias_rate against an expert's load.
  double balance_loss = 0.01;
  double z_loss = 0;
  double bias_rate = 0;
  ExpertPlacement expert_placement = ExpertPlacement::kBlocked;
  ExpertDispatch expert_dispatch = ExpertDispatch::kCopies;
  bool fp8_dispatch = false;  // tokens travel to experts in FP8, and back in their own type
  // Whether the exchanges of one half of a pair of actions (DualPipe) hide behind the other half.
  bool overlap_experts = false;
  ExpertGates expert_gates = ExpertGates::kResults;
  ProductType products = ProductType::kSame;
  KeptType kept = KeptType::kSame;
  LossCopies loss_copies = LossCopies::kNone;
  double skew = 0;                // share of the tokens that are sent to expert 0 on purpose
  std::vector<int> stage_layers;  // layers of each stage; empty means even, or the model's own
  RunSettings run;
  bool operator==(const Setup&) const = default;

  std::int64_t global_batch() const {  // sequences in one step
    return std::int64_t{mesh.dp} * microbatches * micro_batch;
  }
};

// The GPU indices of RunSettings::devices, in its order; empty for "all". Error: it is no such
// list.
Result<std::vector<int>> device_list(const std::string& devices);

// The Setup of the first lesson: gpt-tiny, PP 4, 1F1B, 8 micro-batches, fp32, unfused attention.
Setup default_setup();
// The Setup of a new document, and of a file that says nothing. It is the same, but with `auto` for
// precision and attention, which depend on the devices.
Setup new_setup();

// Reads "parallelarium-setup/1" (every key optional) or the setup inside
// "parallelarium-document/1". Unknown keys, wrong types and out-of-range numbers are errors that
// name the dotted key.
Result<Setup> setup_from_json(const nlohmann::json& json);
// The same for a file that a person wrote. If it names a model or a machine but no PP, PP is 1 and
// not the first lesson's 4.
Result<Setup> setup_from_file(nlohmann::json json);
// The same from the text of a file. The format has no comments. Errors say where the text breaks.
Result<Setup> setup_from_text(std::string_view text);
// The "resolved" of a document or an answer: what its Setup meant where it was made. None: an older
// version wrote it, or it is a Setup alone.
Result<std::optional<Setup>> resolved_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Setup& setup);

// Sets one setting by its option or key and a text ("pp" or "mesh.pp", "4"), and what follows it.
// setup_settings.h lists all settings. An error leaves the Setup as it was.
Result<void> set_field(Setup& setup, std::string_view field, std::string_view value);
// The same as it is typed on a command line. There the name of a file may stand for its content: an
// order.
Result<void> set_typed(Setup& setup, std::string_view field, const std::string& value);
// Calls set_field() for several settings, in the order of the table.
Result<void> set_fields(Setup& setup,
                        std::vector<std::pair<std::string, std::string>> names_and_values);

// Sentences with alternatives about everything that is wrong with the Setup; empty if it can be
// predicted. The first entry is the one to show. Precision and attention that are still `auto` are
// wrong too: see resolve.h.
std::vector<Message> validate(const Setup& setup);

// Success, or why this version cannot execute a valid Setup. Prediction does not need it. The
// engine gives reasons that depend on the machine (cores, GPUs, memory).
Result<void> can_execute(const Setup& setup);

// The ZeRO stage by which states are held and reduced: 1 if ZeRO 2 accumulates.
inline int held_zero(const Setup& setup) {
  return setup.zero == 2 && setup.zero_accumulate ? 1 : setup.zero;
}

// Bytes of a gradient's element while replicas add it up.
inline int reduced_bytes(const Setup& setup) {
  return setup.gradient_reduction == GradientReduction::kFp32 ? 4 : setup.precision.gradient_bytes;
}

// Whether a CP rank's queries meet the keys of all CP ranks block by block: by ring or all-gather.
inline bool meets_blocks(const Setup& setup) {
  return setup.mesh.cp > 1 && (setup.context_parallel == ContextParallel::kRing ||
                               setup.context_parallel == ContextParallel::kAllGather);
}

// Whether CP ranks compute unequal parts of the causal square. Fused attention skips what the mask
// hides, and the first of several runs sees the least.
inline bool is_unbalanced(const Setup& setup) {
  return meets_blocks(setup) && setup.cp_split == ContextSplit::kContiguous &&
         setup.attention == Attention::kFused;
}

// Whether TP cuts what one stage sends to the next by Setup::scatter_gather. With sequence
// parallelism it is cut in any case.
inline bool scatters_transfers(const Setup& setup) {
  return setup.scatter_gather && setup.mesh.tp > 1 && setup.mesh.pp > 1 && !setup.sequence_parallel;
}
// Whether the gathered inputs of column-parallel products wait for their weight gradients.
inline bool keeps_gathered_inputs(const Setup& setup) {
  return setup.sequence_parallel && setup.mesh.tp > 1 && !setup.sequence_regather;
}

// Whether stages keep the activations of some layers and compute those of others again, so that no
// single layer stands for all.
inline bool recomputes_some_layers(const Setup& setup) {
  return setup.recompute == Recompute::kFull && setup.recompute_layers > 0;
}

// Whether TP does not cut the model's experts.
inline bool has_whole_experts(const Setup& setup) {
  return setup.model.experts.count > 0 && !setup.mesh.expert_tensor;
}
// Whether whole experts make other EP groups or other shards of experts than experts that TP cuts.
inline bool differs_by_whole_experts(const Setup& setup) {
  return has_whole_experts(setup) && setup.mesh.tp * setup.mesh.cp > 1;
}
// Whether each TP rank routes and sends only its own tokens: because of
// ExpertDispatch::kTensorShares, or because each expert is whole.
inline bool routes_own_tokens(const Setup& setup) {
  return setup.model.experts.count > 0 && setup.mesh.tp > 1 &&
         (setup.expert_dispatch == ExpertDispatch::kTensorShares || has_whole_experts(setup));
}
// Tokens of a micro-batch whose rows one rank of an EP group brings. If TP cuts experts, all TP
// ranks bring them, together or each.
inline std::int64_t home_tokens(const Setup& setup) {
  const std::int64_t all = setup.micro_batch * (setup.model.sequence / setup.mesh.cp);
  return setup.mesh.expert_tensor ? all : all / setup.mesh.tp;
}
// Whether the TP ranks that hold the parts of an expert give each other what came to them.
inline bool gathers_expert_tokens(const Setup& setup) {
  return routes_own_tokens(setup) && setup.mesh.expert_tensor;
}

// How many layers each pipeline stage holds (virtual stages: pp * chunks), from stage_layers or
// even. validate(setup) must be empty.
std::vector<int> layers_of_stages(const Setup& setup);

}  // namespace parallelarium
