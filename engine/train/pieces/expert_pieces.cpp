// SPDX-License-Identifier: Apache-2.0
// Routers, experts, and the rows between them. How many rows an expert works on it reads from the
// counts of the step.
#include <map>
#include <tuple>
#include <vector>

#include "engine/plan/model/routing.h"
#include "engine/train/pieces/launch.h"

namespace parallelarium {
namespace {

static_assert(routes_elements(7, 5, 3) == routes_count(7, 3, 5));
static_assert(counts_offset(7, 5, 3) == counts_at(7, 3, 5));
static_assert(chosen_offset(7, 3) == chosen_at(7, 3));
static_assert(record_elements(5) == record_count(5));

// Of N tokens of the rank's own: fewer than its micro-batch has where each TP rank routes its own.
RouterShape router_of(const Launch& op, std::int64_t N) {
  const ExpertShape& shape = op.shape.experts;
  RouterShape router;
  router.N = N;
  router.E = shape.model.count;
  router.k = shape.model.top_k;
  router.sigmoid = shape.model.router == Router::kSigmoid;
  router.groups = shape.model.groups;
  router.group_limit = shape.model.group_limit;
  router.capacity = shape.capacity;
  router.stripes = shape.stripes;
  router.skew = shape.skew;
  router.balance = static_cast<float>(shape.balance_loss);
  router.z = static_cast<float>(shape.z_loss);
  return router;
}

void router_forward(const Launch& op) {
  const RouterShape router = router_of(op, op.own_tokens());
  op.device.linear_forward(op.values(2), op.values(0), op.values(1), nullptr, router.N, router.E,
                           op.shape.C);
  op.device.route(op.f32(3), op.i32(4), op.f32(5), op.f32(2), op.count() > 6 ? op.f32(6) : nullptr,
                  router);
  // A recompute routes as the forward did, which has counted.
  if (op.count() > 7 && op.source.phase == Phase::kForward)
    op.device.accumulate(op.f32(7), op.f32(5), router.E);
}

// The balance losses of a step are a mean over its micro-batches. How often experts were chosen is
// counted over a whole micro-batch.
void router_input_grad(const Launch& op) {
  const std::int64_t N = op.operands[0].count / op.shape.experts.model.top_k;
  const float share = static_cast<float>(N) / static_cast<float>(op.shape.global_tokens);
  RouterShape router = router_of(op, N);
  router.balance *= static_cast<float>(N) / static_cast<float>(op.N());
  op.device.route_grad(op.f32(4), op.f32(0), op.f32(1), op.f32(2), op.i32(3), share, router);
}

void router_weight_grad(const Launch& op) {
  const std::int64_t E = op.shape.experts.model.count;
  op.device.linear_weight_grad(op.values(2), nullptr, op.values(0), op.values(1),
                               op.operands[0].count / E, E, op.shape.C);
}

void router_update(const Launch& op) {
  const std::int64_t E = op.shape.experts.model.count;
  op.device.update_bias(op.f32(1), op.f32(0), static_cast<float>(op.shape.experts.bias_rate),
                        op.operands[0].count / E, E);
}

void dispatch_forward(const Launch& op) {
  op.device.dispatch_rows(op.values(2), op.values(0), op.i32(1), op.own_tokens(),
                          op.shape.experts.model.top_k, op.shape.C);
}

void dispatch_input_grad(const Launch& op) {
  const std::size_t out = op.count() - 1;
  const std::int64_t C = op.shape.C, N = op.operands[out].count / C;
  // What a TP group adds up, one of its ranks contributes.
  const bool routes = op.adds_biases() || N < op.N();
  if (routes)
    op.device.linear_input_grad(op.values(out), op.values(2), op.values(3), N,
                                op.shape.experts.model.count, C);
  op.device.dispatch_rows_grad(op.values(out), op.values(0), op.i32(1), routes, N,
                               op.shape.experts.model.top_k, C);
  if (out == 5) op.device.accumulate(op.values(out), op.values(4), N * C);
}

void unpermute_forward(const Launch& op) {
  const std::size_t out = op.count() - 1;
  op.device.combine_rows(
      op.values(out), op.values(0), op.f32(1), out == 4 ? op.values(3) : Values(), op.i32(2),
      op.operands[out].count / op.shape.C, op.shape.experts.model.top_k, op.shape.C);
}

void unpermute_input_grad(const Launch& op) {
  op.device.combine_rows_grad(op.values(4), op.f32(5), op.values(0), op.values(1), op.f32(2),
                              op.i32(3), op.own_tokens(), op.shape.experts.model.top_k, op.shape.C);
}

struct ExpertSizes {
  std::int64_t C = 0, F = 0, inner = 0;  // hidden, width, width of MLP in
  std::int64_t weights() const { return (inner + F) * C; }
};
ExpertSizes sizes_of(const Launch& op) {
  const std::int64_t F = op.shape.experts.ffn;
  return {op.shape.C, F, op.shape.mlp == Mlp::kSwiglu ? 2 * F : F};
}

// How many rows each expert of each rank has; null where the device has failed. A device has to
// come to its host for it, so what a forward has read its backward takes, whose counts lie in the
// same place. A step allocates nothing.
const std::vector<std::int32_t>* counts_of(const Launch& op, std::size_t operand) {
  struct Read {
    std::tuple<std::int64_t, std::int32_t, std::int16_t, std::int16_t> by;
    std::vector<std::int32_t> counts;
  };
  thread_local std::map<const std::byte*, Read> reads;
  const std::byte* const place = op.bytes(operand);
  const Op& source = op.source;
  const std::tuple by(op.scalars.step, source.microbatch, source.layer, source.chunk);
  const auto known = reads.find(place);
  const auto E = static_cast<std::size_t>(op.shape.experts.model.count);
  if (op.phase != Phase::kForward && known != reads.end() && known->second.by == by &&
      known->second.counts.size() == E)
    return &known->second.counts;
  Read& read = reads[place];
  read.by = by;
  read.counts.resize(E);
  op.device.copy_to_host(read.counts.data(), place, static_cast<std::int64_t>(E) * 4);
  if (op.device.finish()) return &read.counts;
  reads.erase(place);
  return nullptr;  // the failure stays with the device
}

// Calls visit(expert of this rank, its first row, its rows) for experts that have any.
template <class Visit>
void for_each_expert(const Launch& op, std::size_t counts_operand, const Visit& visit) {
  const std::vector<std::int32_t>* const counts = counts_of(op, counts_operand);
  if (counts == nullptr) return;
  const std::int64_t ranks = op.shape.experts.ranks, here = op.shape.experts.model.count / ranks;
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < here; ++expert) {
    std::int64_t rows = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      rows += (*counts)[static_cast<std::size_t>(rank * here + expert)];
    if (rows > 0) visit(expert, first, rows);
    first += rows;
  }
}

void expert_forward(const Launch& op) {
  const ExpertSizes s = sizes_of(op);
  const bool swiglu = op.shape.mlp == Mlp::kSwiglu;
  for_each_expert(op, 1, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    const Values in = op.values(2) + expert * s.weights();
    const Values out = in + s.inner * s.C;
    const Values u = op.values(3) + first * s.inner;
    const Values g = op.values(4) + first * s.F;
    op.device.linear_forward(u, op.values(0) + first * s.C, in, nullptr, rows, s.inner, s.C);
    if (swiglu)
      op.device.swiglu_forward(g, u, u + s.F, rows, s.F, s.inner);
    else
      op.device.gelu_forward(g, u, rows * s.F);
    op.device.linear_forward(op.values(5) + first * s.C, g, out, nullptr, rows, s.C, s.F);
  });
}

void expert_input_grad(const Launch& op) {
  const ExpertSizes s = sizes_of(op);
  const bool swiglu = op.shape.mlp == Mlp::kSwiglu;
  for_each_expert(op, 1, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    const Values in = op.values(2) + expert * s.weights();
    const Values out = in + s.inner * s.C;
    const Values u = op.values(3) + first * s.inner;
    const Values du = op.values(4) + first * s.inner;
    const Values dg = op.values(5) + first * s.F;
    if (op.count() == 8) {  // what its weight gradient reads
      const Values g = op.values(6) + first * s.F;
      if (swiglu)
        op.device.swiglu_forward(g, u, u + s.F, rows, s.F, s.inner);
      else
        op.device.gelu_forward(g, u, rows * s.F);
    }
    op.device.linear_input_grad(dg, op.values(0) + first * s.C, out, rows, s.C, s.F);
    if (swiglu)
      op.device.swiglu_backward(du, dg, u, u + s.F, rows, s.F, s.inner);
    else
      op.device.gelu_backward(du, dg, u, rows * s.F);
    op.device.linear_input_grad(op.values(op.count() - 1) + first * s.C, du, in, rows, s.inner,
                                s.C);
  });
}

void expert_weight_grad(const Launch& op) {
  const ExpertSizes s = sizes_of(op);
  for_each_expert(op, 1, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    const Values in = op.values(5) + expert * s.weights();
    const Values out = in + s.inner * s.C;
    const Values dout = op.values(0) + first * s.C;
    op.device.linear_weight_grad(out, nullptr, dout, op.values(4) + first * s.F, rows, s.C, s.F);
    op.device.linear_weight_grad(in, nullptr, op.values(2) + first * s.inner,
                                 op.values(3) + first * s.C, rows, s.inner, s.C);
  });
}

constexpr LaunchRow kExpertEntries[] = {
    LaunchRow{Piece::kRouter, kF, 6, 8, router_forward},
    LaunchRow{Piece::kRouter, kI, 5, 5, router_input_grad},
    LaunchRow{Piece::kRouter, kW, 3, 3, router_weight_grad},
    LaunchRow{Piece::kRouter, kU, 2, 2, router_update},
    LaunchRow{Piece::kDispatch, kF, 3, 3, dispatch_forward},
    LaunchRow{Piece::kDispatch, kI, 5, 6, dispatch_input_grad},
    LaunchRow{Piece::kExpert, kF, 6, 6, expert_forward},
    LaunchRow{Piece::kExpert, kI, 7, 8, expert_input_grad},
    LaunchRow{Piece::kExpert, kW, 6, 6, expert_weight_grad},
    LaunchRow{Piece::kUnpermute, kF, 4, 5, unpermute_forward},
    LaunchRow{Piece::kUnpermute, kI, 6, 6, unpermute_input_grad},
};

}  // namespace

std::span<const LaunchRow> expert_entries() { return kExpertEntries; }

}  // namespace parallelarium
