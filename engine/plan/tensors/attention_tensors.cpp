// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/tensors/attention_tensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace parallelarium {

AttentionTensors::Layout AttentionTensors::own_layout() const {
  return {tokens_of(false, (s_.H + 2 * s_.K) * s_.D), heads(), kv_heads(), false};
}

AttentionTensors::Layout AttentionTensors::layout_of(std::size_t qkv) const {
  if (tensor(qkv) != Tensor::kHeadsInput) return own_layout();
  // Each CP rank has its part of the heads of its TP rank.
  const auto part = [&](TensorDimension dimension) {
    const bool repeated = dimension.size < cp();
    const std::int64_t each = repeated ? 1 : dimension.size / cp();
    const std::int64_t first = repeated ? at_.cp / (cp() / dimension.size) : at_.cp * each;
    const std::int64_t begin = dimension.held().front().begin + first;
    dimension.cuts.push_back({Axis::kCp, {{begin, begin + each}}});
    dimension.size = each;
    return dimension;
  };
  Layout layout;
  layout.by_heads = true;
  layout.queries = part(heads());
  layout.keys = part(kv_heads());
  layout.outer = whole_sequence((layout.queries.size + 2 * layout.keys.size) * s_.D);
  return layout;
}

void AttentionTensors::queries(const std::string& name, std::size_t qkv, bool written,
                               const Layout& layout) {
  add(name, qkv, written, layout.outer, {layout.queries, width()});
}

bool AttentionTensors::shares_keys(const Layout& layout) const {
  return layout.by_heads && s_.K < cp();
}

void AttentionTensors::keys_values(const std::string& prefix, std::size_t qkv, bool written,
                                   const Layout& layout, const std::string& suffix) {
  std::int64_t offset = layout.queries.size * s_.D;
  for (const char* name : {"k", "v"}) {
    OpTensor& tensor =
        add(prefix + name + suffix, qkv, written, layout.outer, {layout.keys, width()}, offset);
    // Each rank's own queries add to the gradient of a head that several ranks have.
    const bool gradient = !prefix.empty();
    if (gradient && shares_kv_heads()) partial_over_tp(tensor);
    if (gradient && shares_keys(layout)) tensor.partial.push_back(Axis::kCp);
    offset += layout.keys.size * s_.D;
  }
}

void AttentionTensors::others_keys_values(const std::string& prefix, std::size_t operand,
                                          bool written, const std::string& suffix) {
  const std::int64_t row = 2 * s_.K * s_.D;
  Dimensions outer = tokens_of_ring(row, op_.block);
  const bool all_ranks = all_gathered(operand);
  if (all_ranks) {
    // Rank by rank, each with its positions of all sequences.
    TensorDimension& position = outer[1];
    position = all("T", s_.sequence);
    position.places.assign(static_cast<std::size_t>(s_.sequence), 0);
    for (int rank = 0; rank < cp(); ++rank) {
      std::int64_t place = rank * local_tokens() * row;
      const PositionRuns runs = positions_of(s_, rank);
      for (int run = 0; run < runs.runs; ++run)
        for (std::int64_t i = 0; i < runs.length; ++i, place += row)
          position.places[static_cast<std::size_t>(runs.begin[run] + i)] = place;
    }
  }
  const bool gradient = !prefix.empty();
  std::int64_t offset = 0;
  for (const char* name : {"k", "v"}) {
    const std::string whole = prefix + name + suffix;
    OpTensor& tensor = add(all_ranks ? whole : fmt::format("{}-step-{}", whole, op_.block + 1),
                           operand, written, outer, {kv_heads(), width()}, offset);
    if (gradient && shares_kv_heads()) partial_over_tp(tensor);
    if (gradient && all_ranks) tensor.partial.push_back(Axis::kCp);
    offset += s_.K * s_.D;
  }
}

void AttentionTensors::qkv_forward() {
  const std::size_t qkv = count() - 1;
  // Queries and values that wait for keys to be computed again stand before all three.
  const std::size_t biases = tensor(qkv - 1) == Tensor::kQkvOut ? qkv - 1 : qkv;
  const Dimensions hidden = {all("C", s_.C)};
  in("y", 0, tokens(0, s_.C), hidden);
  const TensorDimension H = heads(), K = kv_heads();
  std::int64_t head = 0;
  for (const auto& [name, of] : {std::pair("q", H), std::pair("k", K), std::pair("v", K)}) {
    parameter(fmt::format("w-{}", name), 1, {of, width(), all("C", s_.C)}, head * s_.D * s_.C);
    if (biases == 3) parameter(fmt::format("b-{}", name), 2, {of, width()}, head * s_.D);
    head += of.size;
  }
  queries("q", qkv, true, own_layout());
  keys_values("", qkv, true, own_layout());
}

void AttentionTensors::qkv_input_grad() {
  queries("dq", 0, false, own_layout());
  keys_values("d", 0, false, own_layout());
  const TensorDimension H = heads(), K = kv_heads();
  std::int64_t head = 0;
  for (const auto& [name, of] : {std::pair("q", H), std::pair("k", K), std::pair("v", K)}) {
    parameter(fmt::format("w-{}", name), 1, {of, width(), all("C", s_.C)}, head * s_.D * s_.C);
    head += of.size;
  }
  partial_over_tp(out("dy", 2, tokens(2, s_.C), {all("C", s_.C)}));
}

void AttentionTensors::qkv_weight_grad() {
  queries("dq", 0, false, own_layout());
  keys_values("d", 0, false, own_layout());
  in("y", 1, tokens(1, s_.C), {all("C", s_.C)});
  const TensorDimension H = heads(), K = kv_heads();
  std::int64_t head = 0;
  for (const auto& [name, of] : {std::pair("q", H), std::pair("k", K), std::pair("v", K)}) {
    const bool adds = head > 0 && shares_kv_heads();
    gradient(fmt::format("dw-{}", name), 2, {of, width(), all("C", s_.C)}, head * s_.D * s_.C,
             adds);
    if (count() == 4) gradient(fmt::format("db-{}", name), 3, {of, width()}, head * s_.D, adds);
    head += of.size;
  }
}

AttentionTensors::Dimensions AttentionTensors::by_head(const Layout& layout, bool scores) const {
  const std::int64_t T = layout.outer[1].size;
  const TensorDimension keys = s_.local ? layout.outer[1] : all("T", layout.outer[1].whole);
  const std::int64_t row = scores ? keys.size : 1;
  Dimensions dimensions = {layout.outer[0], layout.queries, layout.outer[1]};
  dimensions[0].stride = layout.queries.size * T * row;
  dimensions[1].stride = T * row;
  dimensions[2].stride = row;
  if (scores) {
    dimensions.push_back(keys);
    dimensions.back().stride = 1;
  }
  return dimensions;
}

void AttentionTensors::context(const std::string& name, std::size_t operand, bool written,
                               const Layout& layout) {
  Dimensions outer = layout.outer;
  const std::int64_t row = layout.queries.size * s_.D;
  outer[0].stride = outer[1].size * row;
  outer[1].stride = row;
  add(name, operand, written, outer, {layout.queries, width()});
}

void AttentionTensors::attention_forward() {
  const Layout layout = layout_of(0);
  // A later step of a ring goes on with what the first began.
  if (op_.block == 0) queries("q", 0, false, layout);
  if (tensor(1) == Tensor::kProbabilities) {
    keys_values("", 0, false, layout);
    add("probabilities", 1, true, by_head(layout, true), {});
    context("context", 2, true, layout);
    if (count() < 5) return;
    add("mask", 3, true, by_head(layout, true), {});
    add("dropped", 4, true, by_head(layout, true), {});
    return;
  }
  const bool own = count() == 4;
  if (own)
    keys_values("", 0, false, layout);
  else
    others_keys_values("", 1, false);
  context("context", count() - 3, true, layout);
  add("lse", count() - 2, true, by_head(layout, false), {});
}

void AttentionTensors::attention_input_grad() {
  const Layout layout = layout_of(1);
  const bool first = op_.block == 0;
  if (first) context("dcontext", 0, false, layout);
  if (first) queries("q", 1, false, layout);
  if (tensor(2) == Tensor::kProbabilities) {
    keys_values("", 1, false, layout);
    add("probabilities", 2, false, by_head(layout, true), {});
    queries("dq" + turned(), 3, true, layout);
    return keys_values("d", 3, true, layout, turned());
  }
  const bool own = count() == 6;
  const std::size_t at = own ? 2 : 3;
  if (own)
    keys_values("", 1, false, layout);
  else
    others_keys_values("", 2, false);
  if (first) context("context", at, false, layout);
  if (first) add("lse", at + 1, false, by_head(layout, false), {});
  queries("dq" + turned(), at + 2, true, layout);
  const bool ring = s_.key_blocks > 1 && (own || !all_gathered(2));
  if (ring) {
    // Gradients of others' keys and values are on their way: each round but the first, which opens
    // them, adds to what came. The rank's own wait until the others' have come home.
    if (op_.block > 1) others_keys_values("d", at + 3, false, turned() + "-came");
    if (!own) others_keys_values("d", at + 3, true, turned());
  } else if (own) {
    keys_values("d", at + 2, true, layout, turned());
  } else {
    others_keys_values("d", at + 3, true, turned());
  }
}

// At the end of a ring the rank adds what came home to its own, and turns positions back.
void AttentionTensors::permute_input_grad() {
  constexpr std::size_t kCame = 0, kOwn = 1;
  if (s_.key_blocks == 1 || tensor(kCame) != Tensor::kGradKeysValues) return;
  const Dimensions outer = tokens_of(false, 2 * s_.K * s_.D);
  std::int64_t offset = 0;
  for (const char* name : {"dk", "dv"}) {
    OpTensor& came = in(name + turned() + "-came", kCame, outer, {kv_heads(), width()}, offset);
    if (shares_kv_heads()) partial_over_tp(came);
    offset += s_.K * s_.D;
  }
  keys_values("d", kOwn, true, own_layout());
}

}  // namespace parallelarium
