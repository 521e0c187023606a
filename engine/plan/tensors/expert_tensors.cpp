// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/tensors/expert_tensors.h"

#include <algorithm>

#include "engine/plan/model/routing.h"

namespace parallelarium {

void ExpertTensors::write() {
  switch (op_.piece) {
    case Piece::kRouter:
      return router();
    case Piece::kDispatch:
      return dispatch();
    case Piece::kExpert:
      return experts();
    case Piece::kUnpermute:
      return unpermute();
    default:
      return;
  }
}

TensorDimension ExpertTensors::rows_of(std::int64_t tokens) const {
  const int ep = setup_.mesh.ep, home = expert_place(setup_.mesh, at_).part;
  TensorDimension dimension = all("R", s_.experts.even_rows * tokens / home_tokens(setup_));
  if (ep == 1) return dimension;
  const std::int64_t size = dimension.size;
  dimension.whole = size * ep;
  dimension.cuts = {{Axis::kEp, {{size * home, size * (home + 1)}}}};
  return dimension;
}

void ExpertTensors::inner(const std::string& prefix, std::size_t operand, bool written) {
  const TensorDimension F = width();
  if (model_.mlp != Mlp::kSwiglu) {
    taken(prefix + "u", operand, written, F);
    return;
  }
  TensorDimension R = rows_of(home_tokens(setup_));
  R.stride = 2 * F.size;
  add(prefix + "gate", operand, written, {R}, {F});
  add(prefix + "up", operand, written, {R}, {F}, F.size);
}

// Expert by expert, first what goes in, then what comes out.
void ExpertTensors::matrices(std::size_t operand, bool written) {
  const int ep = setup_.mesh.ep, count = static_cast<int>(model_.experts.count);
  const std::int64_t C = s_.C, f = s_.experts.ffn;
  const std::int64_t up = model_.mlp == Mlp::kSwiglu ? f * C : 0, out = up + f * C;
  TensorDimension E = all("E", count);
  E.size = count / ep;
  E.stride = out + C * f;
  if (ep > 1) {
    std::vector<ChunkRange> own;
    for (int place = 0; place < count / ep; ++place) {
      const std::int64_t expert = expert_at({expert_place(setup_.mesh, at_).part, place}, count, ep,
                                            setup_.expert_placement);
      own.push_back({expert, expert + 1});
    }
    E.cuts = {{Axis::kEp, std::move(own)}};
  }
  TensorDimension F = width(), hidden = all("C", C);
  F.stride = C;
  hidden.stride = 1;
  const Dimensions in = {E, F, hidden};
  hidden.stride = f;
  F.stride = 1;
  const Dimensions back = {hidden, E, F};
  const auto matrix = [&](const std::string& name, const Dimensions& dimensions,
                          std::int64_t offset) {
    if (written)
      gradient("d" + name, operand, dimensions, offset);
    else
      parameter(name, operand, dimensions, offset);
  };
  matrix(up > 0 ? "w-gate" : "w-in", in, 0);
  if (up > 0) matrix("w-up", in, up);
  matrix("w-out", back, out);
}

// Every TP rank routes all tokens, or its own.
void ExpertTensors::router() {
  const TensorDimension E = all("E", model_.experts.count), k = choices();
  const auto each = [&](const char* name, std::size_t operand, bool written,
                        const TensorDimension& inner, std::int64_t offset = 0) {
    add(name, operand, written, routed(inner.size), {inner}, offset);
  };
  if (forward()) {
    in("y", 0, tokens(0, s_.C), hidden());
    parameter("w", 1, {E, all("C", s_.C)});
    each("logits", 2, true, E);
    each("gates", 3, true, k);
    return each("experts", 4, true, k);
  }
  if (input()) {
    each("dgates", 0, false, k);
    each("logits", 1, false, E);
    each("gates", 2, false, k);
    each("experts", 3, false, k);
    return each("dlogits", 4, true, E);
  }
  each("dlogits", 0, false, E);
  in("y", 1, tokens(1, s_.C), hidden());
  gradient("dw", 2, {E, all("C", s_.C)}, 0, routes_own_tokens(setup_));
}

void ExpertTensors::dispatch() {
  const std::size_t last = count() - 1, y = forward() ? 0 : last;
  const std::int64_t sent = operands_[y].count / s_.C;
  const TensorDimension C = all("C", s_.C);
  if (forward()) {
    in("y", 0, tokens(0, s_.C), hidden());
    rows("rows", last, true, sent, C);
    return;
  }
  partial(rows("drows", 0, false, sent, C));
  in("dlogits", 2, routed(model_.experts.count), {all("E", model_.experts.count)});
  parameter("w-router", 3, {all("E", model_.experts.count), C});
  if (count() == 6) partial(in("dy-shared", 4, tokens(4, s_.C), hidden()));
  partial(out("dy", last, tokens(last, s_.C), hidden()));
}

// What is predicted only has more operands: copies in FP8, and gates.
void ExpertTensors::experts() {
  const TensorDimension C = all("C", s_.C), F = width();
  if (forward()) {
    if (count() != 6) return;
    taken("rows", 0, false, C);
    matrices(2, false);
    inner("", 3, true);
    taken("act", 4, true, F);
    return partial(taken("results", 5, true, C));
  }
  if (input()) {
    if (count() > 8) return;
    taken("dresults", 0, false, C);
    matrices(2, false);
    inner("", 3, false);
    inner("d", 4, true);
    taken("dact", 5, true, F);
    if (count() == 8) taken("act", 6, true, F);
    return partial(taken("drows", count() - 1, true, C));
  }
  taken("dresults", 0, false, C);
  inner("d", 2, false);
  taken("rows", 3, false, C);
  taken("act", 4, false, F);
  matrices(5, true);
}

// The end of a layer's experts: their results, weighed by gates and added up by token.
void ExpertTensors::unpermute() {
  if (gates_travel()) return;  // operands of their own; predicted only
  const TensorDimension C = all("C", s_.C), k = choices();
  const std::size_t y = forward() ? count() - 1 : 0;
  const std::int64_t sent = operands_[y].count / s_.C;
  if (forward()) {
    partial(rows("results", 0, false, sent, C));
    in("gates", 1, routed(k.size), {k});
    if (count() == 5) partial(in("shared", 3, routed(s_.C), hidden()));
    partial(out("out", y, tokens(y, s_.C), hidden()));
    return;
  }
  in("dout", 0, tokens(0, s_.C), hidden());
  partial(rows("results", 1, false, sent, C));
  in("gates", 2, routed(k.size), {k});
  rows("dresults", 4, true, sent, C);
  partial(out("dgates", 5, routed(k.size), {k}));
}

}  // namespace parallelarium
