// SPDX-License-Identifier: Apache-2.0
// Memory in closed form, from papers alone. No Program is built. The formula column shows these
// beside the simulated peak, and tests compare both with published tables.
#pragma once

#include <cstdint>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// All that a device has, whatever share may be used; 0: ranks share this computer's memory.
std::int64_t device_bytes_of(const Machine& machine);

// Bytes of one rank's model states.
struct ModelStates {
  double parameters = 0, gradients = 0, optimizer = 0;
  double total() const { return parameters + gradients + optimizer; }
};

// Whether ZeRO `stage` shards a category of model states. Stage 1 shards the optimizer's part
// (master and moments), stage 2 the gradients too, and stage 3 the parameters too. Source:
// Rajbhandari et al. 2019 (ZeRO), section V.
bool zero_shards(Category category, int stage);

// Model states of `parameters` parameters when ZeRO `stage` shards them over `shards` ranks, with
// the recipe's bytes in place of the paper's 2 + 2 + 12. `shards` must be 1 or more.
ModelStates model_states(double parameters, const Precision& precision, int stage, int shards);

// The most parameters whose model states fit in `bytes`. Source: ZeRO, table II.
double largest_parameters(double bytes, const Precision& precision, int stage, int shards);

// The bytes of the Setup's recipe that stay on a device. Those of the optimizer may be offloaded.
Precision held_precision(const Setup& setup);

// Ranks that share model states: zero_group, or all of DP and CP; 1 without ZeRO.
int shards_of(const Setup& setup);

// DeepSpeed's estimators for all ranks of one job, in bytes per GPU without activations. `offload`
// moves optimizer states to the CPU. The estimator for stage 3 keeps one layer if everything is
// offloaded.
// Source: DeepSpeed documentation, memory.rst (ZeRO-2: 4 P + 16 P/N; ZeRO-3: 4 largest + 18 P/N).
double deepspeed_zero2_bytes(double parameters, int gpus, bool offload = false);
enum class Offload : std::uint8_t { kNone, kOptimizer, kAll };
double deepspeed_zero3_bytes(double parameters, double largest_layer, int gpus,
                             Offload offload = Offload::kNone);

// Bytes of activations that one layer keeps for its backward, with 16-bit activations and dropout
// masks of one byte. The letters are the paper's: s sequence, b micro-batch, h hidden, a heads, t
// TP. Without recomputation they are s b h (10 + 24/t + 5 a s/(h t)), and with sequence parallelism
// s b h/t (34 + 5 a s/h). Selective recomputation leaves out the term with 5 a s. Full
// recomputation keeps 2 s b h. Source: Korthikanti et al. 2022, table 2.
struct LayerShape {
  double s = 0, b = 0, h = 0, a = 0, t = 1;
  bool sequence_parallel = false;
  // With sequence parallelism: whether the gathered inputs of QKV and MLP are kept. They are 4 s b
  // h, which t does not divide.
  bool gathered_kept = false;
};
double layer_activation_bytes(const LayerShape& shape, Recompute recompute);
// The coefficients: of what TP leaves whole without sequence parallelism, of what it cuts, and of a
// s/h. If norms are computed again, their outputs (4) are left out; if the activation is, its
// output (8).
// Source: Korthikanti et al. 2022, section 4.1.
struct KeptParts {
  int whole = 10, cut = 24, scores = 5;
};
KeptParts kept_parts(Recompute recompute);
// The same with sequence parallelism. It cuts everything, or everything except gathered inputs that
// are kept.
KeptParts kept_parts(const LayerShape& shape, Recompute recompute);

// Whether the model is the GPT of the papers on activations and work: a GELU MLP of width 4h, as
// many key/value heads as heads, biases, no experts.
bool is_paper_gpt(const Model& model);

// The table for a Setup's layer. Fused attention keeps no scores, so it counts like selective
// recomputation. is_paper_gpt(setup.model) must hold.
struct LayerActivations {
  LayerShape shape;
  Recompute kept = Recompute::kNone;  // the recomputation as which the layer counts
  // With sequence parallelism the input of a layer that is computed again is only a part, too. The
  // table has the whole input.
  bool input_is_part = false;
  double bytes = 0;  // of one layer and one micro-batch
};
LayerActivations layer_activations(const Setup& setup);

// The bytes that the first stage keeps of layers under 1F1B with v chunks: those of L layers
// whatever p is, times 1 + (p-1)/(p v) if v > 1. Then the bytes that embedding dropout, final norm,
// head and logits add: s b h L/t (p/L + [p=1] 4/L (1 + V/h)). Source: Korthikanti et al. 2022,
// section 4.3, eqs. (5), (6).
double first_stage_activation_bytes(const LayerShape& shape, Recompute recompute, int layers, int p,
                                    int v);
double first_stage_extra_bytes(const LayerShape& shape, double vocab, int p);

// The most micro-batches whose activations stage `stage` (0 = first) holds: naive 1, GPipe m, 1F1B
// min(p - stage, m). 0 for schedules without a closed form. Source: Narayanan et al. 2021, 2.2.1.
int held_microbatches(const Schedule& schedule, int p, int m, int stage);

// Parameters on one rank of pipeline stage `stage`. TP divides matrices; norms and projection
// biases are on every TP rank. EP divides experts. The tables are on the first stage, and the head
// (in a tied model a copy of the table) on the last. validate(setup) must be empty.
struct StageParameters {
  double shared = 0;   // parameters that all DP and CP ranks hold alike
  double experts = 0;  // routed experts, which only one in EP of those ranks holds alike
  double total() const { return shared + experts; }
};
StageParameters stage_parameters(const Setup& setup, int stage);
// Parameters on a rank at the first place in the pipeline, in all its chunks together: interleaved
// stages 0, p, 2p .., the first and the last of a V, DualPipe's two copies. Zero for a file of
// orders with several chunks, since the file says which stage is where.
struct RankParameters : StageParameters {
  double shared_table = 0;  // the table that both ends of a tied model share on this rank
};
RankParameters first_rank_parameters(const Setup& setup);

// 32 MiB from Hopper on, 8 MiB before. Source: PyTorch documentation, "cuBLAS workspaces".
std::int64_t cublas_workspace_bytes(const Machine& machine);

// Bytes that the framework holds on a rank of `stage` beside what this engine's arena holds. The
// framework is PyTorch's FSDP if the loss is PyTorch's own (Setup::loss_copies), else Megatron-LM
// with Transformer Engine. cuBLAS has a workspace. If products add 16-bit gradients to fp32 ones,
// autograd gets 16-bit placeholders: one for each shape of a layer's weights, which stay
// (Transformer Engine 2.3 and later, pytorch/module/base.py, get_dummy_wgrad; for experts from 2.10
// on), and one for the head (Megatron-LM, core/tensor_parallel/layers.py). The loss is fused and
// copies no logits. FSDP leaves its root gathered for the whole step (PyTorch 1963fc8,
// distributed/_composable/fsdp/_fsdp_state.py, _lazy_init). The root has the table beside the head
// (torchtitan 9dec370, parallelize_llama.py, apply_fsdp); here the table is freed. These bytes are
// in neither `peak_bytes` nor Prediction::fits(). A search counts them (try_setup()). What FSDP's
// allocator reserves in all is fsdp_reserved_bytes().
std::int64_t framework_bytes_of(const Setup& setup, const Machine& machine, int stage);

}  // namespace parallelarium
