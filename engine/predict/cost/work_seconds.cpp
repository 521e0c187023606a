// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/work_seconds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/predict/cost/executed_work.h"
#include "engine/predict/cost/measured_rates.h"

namespace parallelarium {

namespace {

// Sequences that an attention computes at once: fused on a GPU all of a micro-batch in one launch,
// else one after another, since each has products of its own.
double sequences_at_once(const Shape& shape, bool on_cores) {
  return shape.fused && !on_cores ? static_cast<double>(std::max<std::int64_t>(shape.B, 1)) : 1;
}

// Calls of equal size that an entry's elements are of: a matrix product's or kernel's repeats.
// Those of an attention are products inside its calls.
double alike(const Work& work, const Shape& shape, bool on_cores) {
  double calls = static_cast<double>(work.repeat);
  if (work.piece == Piece::kAttention) {
    const double scores =
        static_cast<double>(shape.H * work.m * work.n) * sequences_at_once(shape, on_cores);
    calls = scores > 0 ? static_cast<double>(work.elements) / scores : 1;
  }
  return std::max(calls, 1.0);
}

// Products that an attention was measured with as one: a GPU's go through one query head of each
// group of keys after another.
double turns(const Work& work, const Shape& shape, bool on_cores) {
  const bool takes_turns = work.piece == Piece::kAttention && !on_cores && !shape.fused;
  return takes_turns ? static_cast<double>(turns_of_attention(shape)) : 1;
}

// The phase that a work's products were measured in.
std::string_view phase_of(const std::vector<MatmulPoint>& points, const Work& work,
                          const Shape& shape) {
  if (work.phase == Phase::kRecompute) return name_of(Phase::kForward);
  const bool biased = shape.biases && work.piece != Piece::kHead && work.piece != Piece::kRouter &&
                      work.piece != Piece::kExpert;
  if (work.phase == Phase::kWeightGrad && !biased &&
      std::any_of(points.begin(), points.end(),
                  [](const MatmulPoint& point) { return point.phase == kWeightGradAlone; }))
    return kWeightGradAlone;
  return name_of(work.phase);
}

// An expert's op is two products for each expert, into its width and out of it; its Work counts
// them as one. Each has the rate of its own shape, which few rows keep low.
double expert_rate(const std::vector<MatmulPoint>& points, std::string_view type, const Work& work,
                   const Shape& shape) {
  const bool weights = work.phase == Phase::kWeightGrad;
  const std::string_view phase = phase_of(points, work, shape);
  const std::int64_t rows = weights ? work.k : work.m, C = weights ? work.n : work.k;
  const std::int64_t F = shape.experts.ffn, inner = (weights ? work.m : work.n) - F;
  double in = 0, out = 0;
  if (weights) {
    in = matmul_rate(points, type, phase, inner, C, rows);
    out = matmul_rate(points, type, phase, C, F, rows);
  } else if (work.phase == Phase::kInputGrad) {
    in = matmul_rate(points, type, phase, rows, C, inner);
    out = matmul_rate(points, type, phase, rows, F, C);
  } else {
    in = matmul_rate(points, type, phase, rows, inner, C);
    out = matmul_rate(points, type, phase, rows, C, F);
  }
  if (in <= 0 || out <= 0) return 0;
  return static_cast<double>(inner + F) /
         (static_cast<double>(inner) / in + static_cast<double>(F) / out);
}

// A forward's host reads how many rows each has, for which the device has to come to it and is
// idle.
bool reads_rows(const Work& work) {
  return work.piece == Piece::kExpert &&
         (work.phase == Phase::kForward || work.phase == Phase::kRecompute);
}
// Of an unfused attention's forward, as it is measured of one sequence, what all share: the
// softmax, and dropout.
double launched_once(const Work& work, const Shape& shape) {
  const bool forward = work.phase == Phase::kForward || work.phase == Phase::kRecompute;
  if (work.piece != Piece::kAttention || shape.fused || !forward) return 0;
  return shape.dropout > 0 ? 2 : 1;
}

// What a GPU's host needs for such a call, or `unknown`.
double host_call(const Machine& machine, std::string_view call, double unknown) {
  for (const HostCall& known : machine.host_calls)
    if (known.call == call) return known.seconds.value;
  return unknown;
}

// Bytes per second that a step reaches.
double sustained_bandwidth(const Machine& machine) {
  return machine.memory_bytes_per_second.value * machine.memory_efficiency.value;
}

const PassShares* find_pass(const Machine& machine, std::string_view kernel, const Shape& shape) {
  if (machine.passes.empty() || kernel.empty()) return nullptr;
  const auto named = [&](std::string_view name) {
    return std::find_if(machine.passes.begin(), machine.passes.end(),
                        [&](const PassShares& pass) { return pass.kernel == name; });
  };
  auto found = named(variant_of(kernel, shape));
  if (found == machine.passes.end()) found = named(kernel);
  return found == machine.passes.end() ? nullptr : &*found;
}

// Seconds of a pass beside its fixed cost.
double pass_seconds(const Machine& machine, std::string_view kernel, const Shape& shape,
                    double bytes) {
  const PassShares* pass = find_pass(machine, kernel, shape);
  if (pass == nullptr) return over(bytes, sustained_bandwidth(machine));
  return over(bytes, machine.memory_bytes_per_second.value * pass->at(bytes));
}

// Unfused attention by the peaks. Its batched products move every score once each, and between
// them stand kernels at memory speed: scale, mask and softmax in one, and dropout. Source of the
// kernels: Narayanan et al. 2021 (arXiv 2104.04473), section 4.2.
double unfused_seconds(const Work& work, const Shape& shape, const Machine& machine, int bytes,
                       double flops_per_second) {
  const bool forward = work.phase != Phase::kInputGrad;
  const auto scores = static_cast<double>(work.elements);
  const double bandwidth = sustained_bandwidth(machine);
  // Forward: scores written, probabilities read. Backward: the same of both gradients.
  const double moved = (forward ? 2 : 4) * bytes;
  // The softmax reads scores and writes probabilities; backward it reads two and writes one.
  double between = (forward ? 2 : 3) * bytes;
  if (shape.dropout > 0) between += 2 * bytes + 1;  // one read, one written, and the mask
  return std::max(over(work.flops, flops_per_second), over(scores * moved, bandwidth)) +
         pass_seconds(machine, forward ? kSoftmaxKernel : kSoftmaxGradKernel, shape,
                      scores * between);
}

// Products of FP8, behind a pass that reads 16 bit and writes FP8: of the activations that go in,
// and for a weight gradient of both factors. What is read has one byte an element, what is written
// as many as in 16 bit. Those of experts are one grouped call, which starts once for all their
// rows.
double fp8_seconds(const Work& work, const Shape& shape, const Machine& machine) {
  const bool weights = work.phase == Phase::kWeightGrad;
  const auto repeat = static_cast<double>(work.repeat);
  const auto cast = repeat * static_cast<double>((weights ? work.m + work.n : work.m) * work.k);
  const auto read = repeat * static_cast<double>((work.m + work.n) * work.k);
  const double peak = machine.fp8_flops_per_second.value * machine.sustained.value;
  const ProductShares& table = machine.fp8_products;
  const double share = table.shares.empty() ? machine.matmul_efficiency.value
                                            : table.at(work.m * work.repeat, work.n, work.k);
  const double arithmetic = over(work.flops, peak);
  const double traffic =
      over(static_cast<double>(work.bytes) - read, machine.memory_bytes_per_second.value);
  return pass_seconds(machine, kCastKernel, shape, 3 * cast) +
         std::max(arithmetic, traffic) / share;
}

double product_share(const Work& work, const ProductShares& products) {
  const std::vector<double>& of = work.phase == Phase::kWeightGrad  ? products.weight_grad
                                  : work.phase == Phase::kInputGrad ? products.input_grad
                                                                    : products.shares;
  return products.at(of, work.m, work.n, work.k);
}

// The share of the peak that an expert's products of so many rows reach; 0: no table says it.
double expert_share(const Work& work, const Machine& machine) {
  const ExpertShares& experts = machine.experts;
  if (experts.rows.empty()) return machine.experts_efficiency.value;
  const auto rows = static_cast<double>(work.phase == Phase::kWeightGrad ? work.k : work.m);
  return experts.at(work.phase == Phase::kWeightGrad  ? experts.weight_grad
                    : work.phase == Phase::kInputGrad ? experts.input_grad
                                                      : experts.forward,
                    rows);
}

// The share of the peak that fused attention reaches, by the size of its heads; 0: no table says
// it.
double attention_share(const Work& work, const Shape& shape, const Machine& machine) {
  const auto share = [&](const AttentionShares& table) {
    return table.at(static_cast<double>(shape.B * shape.H * shape.T), static_cast<double>(work.n),
                    work.phase == Phase::kInputGrad);
  };
  if (shape.D > 128 && !machine.wide_attention.shares.empty()) return share(machine.wide_attention);
  if (shape.D >= 128 || machine.narrow_attention.shares.empty()) return share(machine.attention);
  const double narrow = std::min(1.0, std::log2(128.0 / static_cast<double>(shape.D)));
  return (1 - narrow) * share(machine.attention) + narrow * share(machine.narrow_attention);
}

// Rows that travelled stand by the rank that sent them. Where a rank has several experts, it copies
// them into the order of its experts, and the results out of it. Source: Megatron-LM,
// megatron/core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher, Permutation 2 and
// Unpermutation 2; SimuMax 4dcaae5, simumax/core/transformer/moe_module.py, counts the same passes.
double order_rows_seconds(const Work& work, const Shape& shape, const Machine& machine, int bytes) {
  const bool sorts = shape.experts.ranks > 1 && work.repeat > 1;
  if (work.piece != Piece::kExpert || work.phase == Phase::kWeightGrad || !sorts) return 0;
  const double moved = 2.0 * bytes * static_cast<double>(work.elements);
  return 2 * (machine.launch_seconds.value +
              pass_seconds(machine, kernel_of(Piece::kDispatch, Phase::kForward), shape, moved));
}

// Kernels that a router needs beside its product, each of which reads or writes a number for every
// token and expert. Forward: affinities and their type, the choice, its scale, gates and choices
// set into zeros (2 and 4); of groups their best two, sum, choice, mask (5) and masking; a
// sigmoid's affinities add up and divide (3); the balance loss has affinities and choices of its
// own (6), counts them (2) and adds up (4). Backward: gates taken out, scale, choice set into zeros
// (2), and affinities; of the balance loss the same but the choice. Source: Megatron-LM 23e00ed,
// megatron/core/transformer/moe/moe_utils.py, topk_routing_with_score_function, group_limited_topk,
// compute_routing_scores_for_aux_loss and switch_load_balancing_loss_func; router.py.
double router_seconds(const Work& work, const Shape& shape, const Machine& machine) {
  if (work.piece != Piece::kRouter || work.phase == Phase::kWeightGrad) return 0;
  if (work.phase == Phase::kUpdate) return 0;
  const Experts& experts = shape.experts.model;
  const bool balances = shape.experts.balance_loss > 0;
  int kernels = 5;
  if (work.phase == Phase::kInputGrad) {
    if (balances) kernels += 3;
  } else {
    kernels = 10;
    if (experts.groups > 0) kernels += 9;
    if (experts.router == Router::kSigmoid) kernels += 3;
    if (balances) kernels += 12;
  }
  const double bytes = 4 * static_cast<double>(work.elements);
  return kernels * (machine.launch_seconds.value + over(bytes, sustained_bandwidth(machine)));
}

// Between an expert's two products, and between their gradients, its activation is a kernel of its
// own. Source: Megatron-LM, megatron/core/transformer/moe/experts.py, weighted_bias_swiglu_impl;
// SimuMax 4dcaae5, simumax/core/transformer/moe_module.py, ExpertMLP.
double activation_seconds(const Work& work, const Shape& shape, const Machine& machine, int bytes) {
  if (work.piece != Piece::kExpert || work.phase == Phase::kWeightGrad) return 0;
  const double inner = shape.mlp == Mlp::kSwiglu ? 2 : 1;
  const double moved = work.phase == Phase::kInputGrad ? 2 * inner + 1 : inner + 1;
  const double numbers = static_cast<double>(work.elements) / static_cast<double>(shape.C) *
                         static_cast<double>(shape.experts.ffn);
  return machine.launch_seconds.value + pass_seconds(machine,
                                                     kernel_of(Piece::kActivation, work.phase),
                                                     shape, moved * bytes * numbers);
}

// Experts with biases: the second one, weighted by gates, is added expert by expert in fp32.
// Forward: bias times gate, the sum, all experts' joined, and their type. Backward: to fp32 and
// back, joined, and products and sums for the gradients of biases and gates. Source: Megatron-LM
// d98e8a64dd, megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias.
double expert_bias_seconds(const Work& work, const Shape& shape, const Machine& machine,
                           int bytes) {
  if (work.piece != Piece::kExpert || work.phase == Phase::kWeightGrad || !shape.biases) return 0;
  const bool backward = work.phase == Phase::kInputGrad;
  const double each = static_cast<double>(work.repeat);
  const double kernels = backward ? 5 * each + 2 : 2 * each + 2;
  const double moved = backward ? 32 + 4.0 * bytes : 24 + 2.0 * bytes;
  return kernels * machine.launch_seconds.value +
         over(moved * static_cast<double>(work.elements), sustained_bandwidth(machine));
}

}  // namespace

double work_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                    ProductType products) {
  if (work.piece == Piece::kOffload)
    return over(static_cast<double>(work.bytes), machine.host_bytes_per_second.value);
  double fixed = machine.launch_seconds.value;
  const DataType measured = measured_type(machine.kernels, type);
  const bool on_cores = machine.ranks_share_memory();
  const KernelBeside beside = kernel_beside(work, shape, on_cores);
  const double calls = alike(work, shape, on_cores);
  if (work.piece == Piece::kExpert && machine.local && !on_cores) {  // as this engine does it
    fixed += machine.launch_seconds.value *
             (static_cast<double>(launches_of_expert(work.phase)) * calls - 1);
    if (reads_rows(work)) fixed += host_call(machine, kHostRead, 0);
  }
  fixed += over(beside.elements,
                kernel_rate(machine, beside.kernel, shape, measured, beside.elements / calls));
  const auto elements = static_cast<double>(work.elements);
  const double rate = kernel_rate(machine, kernel_of(work.piece, work.phase), shape, measured,
                                  elements / (calls * turns(work, shape, on_cores)));
  if (rate > 0) return fixed + elements / rate;
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  if (product && !machine.matmuls.empty()) {
    const std::string_view of = measured_product(machine.matmuls, type, is_fp8(work, products));
    const double flops =
        work.piece == Piece::kExpert
            ? expert_rate(machine.matmuls, of, work, shape)
            : matmul_rate(machine.matmuls, of, phase_of(machine.matmuls, work, shape), work.m,
                          work.n, work.k);
    if (flops > 0) return fixed + work.flops / flops;
  }
  // The slower of arithmetic and memory traffic (the roofline).
  const int bytes = type == DataType::kBf16 ? 2 : 4;
  // This engine's own exchange leaves rows where experts read them, and it is calibrated with its
  // activations (kernel_beside).
  if (!machine.local)
    fixed += order_rows_seconds(work, shape, machine, bytes) +
             activation_seconds(work, shape, machine, bytes) +
             expert_bias_seconds(work, shape, machine, bytes) +
             router_seconds(work, shape, machine);
  if (product && bytes == 2 && is_fp8(work, products))
    return fixed + fp8_seconds(work, shape, machine);
  const double peak = machine.peak_flops_per_second(bytes).value * machine.sustained.value;
  const double reached = peak * machine.matmul_efficiency.value;
  if (work.piece == Piece::kAttention && !shape.fused)
    return fixed + unfused_seconds(work, shape, machine, bytes, reached);
  double arithmetic = over(work.flops, reached);
  if (work.piece == Piece::kAttention) {
    const double share = attention_share(work, shape, machine);
    arithmetic = over(executed_flops(work, shape), share > 0 ? peak * share : reached);
  }
  const double expert = work.piece == Piece::kExpert ? expert_share(work, machine) : 0;
  if (expert > 0) {  // a table knows what memory slows down, up to its edges
    const double bandwidth = machine.experts.rows.empty() ? sustained_bandwidth(machine)
                                                          : machine.memory_bytes_per_second.value;
    return fixed + std::max(over(work.flops, peak * expert),
                            over(static_cast<double>(work.bytes), bandwidth));
  }
  const auto moved = static_cast<double>(work.bytes);
  if (product && bytes == 2 && work.piece != Piece::kAttention && !machine.products.shares.empty())
    return fixed +
           std::max(over(work.flops, peak), over(moved, machine.memory_bytes_per_second.value)) /
               product_share(work, machine.products);
  const double traffic = pass_seconds(machine, kernel_of(work.piece, work.phase), shape, moved);
  return fixed + std::max(arithmetic, traffic);
}

DataType storage_of(const Work& work, const Setup& setup) {
  const bool gradients = work.piece == Piece::kZeroGrad || work.piece == Piece::kGradNorm;
  const int bytes = gradients ? setup.precision.gradient_bytes : setup.precision.activation_bytes();
  return bytes == 2 ? DataType::kBf16 : DataType::kF32;
}

RateKind rate_kind(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                   ProductType products) {
  const bool on_cores = machine.ranks_share_memory();
  const std::string_view kernel = kernel_of(work.piece, work.phase);
  const double calls = alike(work, shape, on_cores);
  const double each = static_cast<double>(work.elements) / (calls * turns(work, shape, on_cores));
  const std::string_view variant = kernel.empty() ? kernel : variant_of(kernel, shape);
  bool known = false;
  for (const KernelRate& rate : machine.kernels) {
    if (kernel.empty() || (rate.kernel != kernel && rate.kernel != variant)) continue;
    if (rate.elements == 0 || std::abs(rate.elements / each - 1) < 1e-9) return RateKind::kMeasured;
    known = true;
  }
  if (known) return RateKind::kInterpolated;
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  if (product && !machine.matmuls.empty()) {
    const std::string_view of = measured_product(machine.matmuls, type, is_fp8(work, products));
    const bool exact =
        std::any_of(machine.matmuls.begin(), machine.matmuls.end(), [&](const MatmulPoint& point) {
          return is_product_of(point, of) && point.m == work.m && point.n == work.n &&
                 point.k == work.k;
        });
    return exact ? RateKind::kMeasured : RateKind::kInterpolated;
  }
  if (work.piece == Piece::kExpert) {  // tables of dense products only stand in for grouped ones
    const bool own = type == DataType::kBf16 && !is_fp8(work, products);
    return own && !machine.experts.rows.empty() ? RateKind::kInterpolated : RateKind::kAssumed;
  }
  if (product && is_fp8(work, products))
    return machine.fp8_products.shares.empty() ? RateKind::kAssumed : RateKind::kInterpolated;
  const bool attention = work.piece == Piece::kAttention;
  if (attention && shape.fused && !machine.attention.shares.empty()) return RateKind::kInterpolated;
  if (product && !attention && type == DataType::kBf16 && !machine.products.shares.empty())
    return RateKind::kInterpolated;
  if (!product && find_pass(machine, kernel, shape) != nullptr) return RateKind::kInterpolated;
  return RateKind::kAssumed;
}

double work_host_seconds(const Work& work, const Shape& shape, const Machine& machine) {
  const double op = machine.host_seconds.value;
  const double launch = host_call(machine, kHostLaunch, op);
  const std::string_view kernel = kernel_of(work.piece, work.phase);
  std::string_view own =
      kernel.empty() ? phase_of(machine.matmuls, work, shape) : variant_of(kernel, shape);
  std::string in_fp8;
  if (shape.fp8 && multiplies_fp8(work.piece)) {
    in_fp8 = fmt::format("{} {}", kFp8Product, own);
    if (host_call(machine, in_fp8, 0) > 0) own = in_fp8;
  }
  const KernelBeside beside = kernel_beside(work, shape, false);
  const double calls = alike(work, shape, false) * turns(work, shape, false);
  if (work.piece == Piece::kExpert) {
    double each = 2 * host_call(machine, own, launch);
    if (!beside.kernel.empty())
      each += host_call(machine, variant_of(beside.kernel, shape), launch);
    const double read = reads_rows(work) ? host_call(machine, kHostRead, op) : 0;
    return op + read + calls * each;
  }
  double seconds = op;  // with one launch, for which stand its calls where they were measured
  if (const double each = host_call(machine, own, 0); each > 0)
    seconds += calls * each - (1 + (calls - 1) * launched_once(work, shape)) * launch;
  // Of the masks of a turn one has been measured.
  if (work.piece == Piece::kAttention && work.phase == Phase::kInputGrad && !shape.fused &&
      shape.dropout > 0)
    seconds += calls * static_cast<double>(masks_of_turn(shape) - 1) * launch;
  return seconds + host_call(machine, variant_of(beside.kernel, shape), 0);
}

double combine_rate(const Machine& machine, DataType type) {
  return kernel_rate(machine, kReduceKernel, measured_type(machine.kernels, type),
                     std::numeric_limits<double>::max());
}

}  // namespace parallelarium
