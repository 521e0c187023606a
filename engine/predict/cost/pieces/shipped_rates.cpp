// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/pieces/shipped_rates.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/predict/cost/pieces/executed_work.h"

namespace parallelarium {

namespace {

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

// The list of a table for weight gradients of the Shape's type.
template <class Shares>
const std::vector<double>& weight_grad_of(const Shares& table, const Shape& shape) {
  return shape.half_gradients && !table.weight_grad_half.empty() ? table.weight_grad_half
                                                                 : table.weight_grad;
}

double product_share(const Work& work, const Shape& shape, const ProductShares& products) {
  const std::vector<double>& of = work.phase == Phase::kWeightGrad ? weight_grad_of(products, shape)
                                  : work.phase == Phase::kInputGrad ? products.input_grad
                                                                    : products.shares;
  return products.at(of, work.m, work.n, work.k);
}

// The share of the peak that an expert's products of so many rows reach; 0: no table says it.
double expert_share(const Work& work, const Shape& shape, const Machine& machine) {
  const ExpertShares& experts = machine.experts;
  if (experts.rows.empty()) return machine.experts_efficiency.value;
  const auto rows = static_cast<double>(work.phase == Phase::kWeightGrad ? work.k : work.m);
  return experts.at(work.phase == Phase::kWeightGrad  ? weight_grad_of(experts, shape)
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

double shipped_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                       ProductType products) {
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  const int bytes = type == DataType::kBf16 ? 2 : 4;
  double beside = 0;
  // This engine's own exchange leaves rows where experts read them, and it is calibrated with its
  // activations (kernel_beside).
  if (!machine.local)
    beside = order_rows_seconds(work, shape, machine, bytes) +
             activation_seconds(work, shape, machine, bytes) +
             expert_bias_seconds(work, shape, machine, bytes) +
             router_seconds(work, shape, machine);
  if (product && bytes == 2 && is_fp8(work, products))
    return beside + fp8_seconds(work, shape, machine);
  const double peak = machine.peak_flops_per_second(bytes).value * machine.sustained.value;
  const double reached = peak * machine.matmul_efficiency.value;
  if (work.piece == Piece::kAttention && !shape.fused)
    return beside + unfused_seconds(work, shape, machine, bytes, reached);
  double arithmetic = over(work.flops, reached);
  if (work.piece == Piece::kAttention) {
    const double share = attention_share(work, shape, machine);
    arithmetic = over(executed_flops(work, shape), share > 0 ? peak * share : reached);
  }
  const double expert = work.piece == Piece::kExpert ? expert_share(work, shape, machine) : 0;
  if (expert > 0) {  // a table knows what memory slows down, up to its edges
    const double bandwidth = machine.experts.rows.empty() ? sustained_bandwidth(machine)
                                                          : machine.memory_bytes_per_second.value;
    return beside + std::max(over(work.flops, peak * expert),
                             over(static_cast<double>(work.bytes), bandwidth));
  }
  const auto moved = static_cast<double>(work.bytes);
  if (product && bytes == 2 && work.piece != Piece::kAttention && !machine.products.shares.empty())
    return beside +
           std::max(over(work.flops, peak), over(moved, machine.memory_bytes_per_second.value)) /
               product_share(work, shape, machine.products);
  const double traffic = pass_seconds(machine, kernel_of(work.piece, work.phase), shape, moved);
  return beside + std::max(arithmetic, traffic);
}

RateKind shipped_kind(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                      ProductType products) {
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  const std::string_view kernel = kernel_of(work.piece, work.phase);
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

}  // namespace parallelarium
