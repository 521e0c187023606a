// SPDX-License-Identifier: Apache-2.0
#include "engine/train/parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/plan/model/routing.h"
#include "engine/plan/placement/parallel.h"
#include "engine/plan/text/phrases.h"
#include "kernels/base/random.h"

namespace parallelarium {
namespace {

// Twelve 16-bit uniforms have mean 12 * 65535 / 2 and, to one part in 2^32, deviation 65536, and
// their sum is as good as normal within the three deviations where weights lie. Unlike Box-Muller
// it needs no logarithm, whose last bit differs between computers.
float normal(std::uint64_t key, std::uint64_t index) {
  constexpr std::uint64_t kEvery = 0x0000'ffff'0000'ffff;  // two of the four numbers of 16 bits
  std::uint64_t sums = 0;
  for (std::uint64_t draw = 0; draw < 3; ++draw) {
    const std::uint64_t bits = random_bits(key, 3 * index + draw);
    sums += (bits & kEvery) + ((bits >> 16) & kEvery);
  }
  const auto sum = static_cast<std::int64_t>((sums & 0xffff'ffff) + (sums >> 32));
  return static_cast<float>(sum - 12 * 65535 / 2) / 65536.0F;
}

enum class Start { kWeight, kOutput, kOne, kZero };

Start start_of(Parameter parameter) {
  switch (parameter) {
    case Parameter::kNorm1Gain:
    case Parameter::kNorm2Gain:
    case Parameter::kFinalNormGain:
      return Start::kOne;
    case Parameter::kNorm1Bias:
    case Parameter::kNorm2Bias:
    case Parameter::kFinalNormBias:
    case Parameter::kQkvBias:
    case Parameter::kProjectionBias:
    case Parameter::kMlpInBias:
    case Parameter::kMlpOutBias:
      return Start::kZero;
    case Parameter::kProjectionWeight:
    case Parameter::kMlpOutWeight:
      return Start::kOutput;
    default:
      return Start::kWeight;
  }
}

}  // namespace

std::vector<float> initial_values(std::uint64_t seed, Parameter parameter, int layer,
                                  std::int64_t count, int layers) {
  std::vector<float> values(static_cast<std::size_t>(count));
  const Start start = start_of(parameter);
  if (start == Start::kOne) values.assign(values.size(), 1.0F);
  if (start == Start::kOne || start == Start::kZero) return values;
  const float deviation =
      start == Start::kOutput ? 0.02F / std::sqrt(2.0F * static_cast<float>(layers)) : 0.02F;
  const std::uint64_t key = random_key(
      {seed, static_cast<std::uint64_t>(parameter), static_cast<std::uint64_t>(layer + 1)});
  constexpr std::size_t kPart = 1 << 20;
  in_parallel((values.size() + kPart - 1) / kPart, [&](std::size_t part) {
    const std::size_t end = std::min(values.size(), (part + 1) * kPart);
    for (std::size_t index = part * kPart; index < end; ++index)
      values[index] = deviation * normal(key, index);
  });
  return values;
}

namespace {

// A parameter as a matrix: which of its rows a rank holds, part by part, or which columns.
struct Rows {
  std::int64_t whole = 0, begin = 0, count = 0;
};
struct Cut {
  std::vector<Rows> parts;  // one after another in the slice and in the whole
  std::int64_t columns = 1;
  std::int64_t column_begin = 0, column_count = 1;
};

Cut cut_of(const Model& model, Parameter parameter, int tp, int index, bool shared_experts) {
  const std::int64_t C = model.hidden, t = tp;
  const std::int64_t D = model.head_dim > 0 ? model.head_dim : C / model.heads;
  const auto share = [&](std::int64_t rows) { return Rows{rows, rows / t * index, rows / t}; };
  // The last ranks' part is padded where TP does not divide the vocabulary.
  const auto vocabulary = [&](std::int64_t rows) {
    const std::int64_t each = (rows + t - 1) / t, begin = std::min(rows, each * index);
    return Rows{rows, begin, std::min(each, rows - begin)};
  };
  const auto all = [](std::int64_t rows) { return Rows{rows, 0, rows}; };
  const auto rows_of = [](std::vector<Rows> parts, std::int64_t columns) {
    return Cut{std::move(parts), columns, 0, columns};
  };
  const auto columns_of = [&](std::int64_t columns) {
    return Cut{{all(C)}, columns, columns / t * index, columns / t};
  };
  // Fewer key/value heads than ranks: neighbours hold the same one.
  const std::int64_t kv = model.kv_heads;
  const Rows heads = t <= kv ? share(kv * D) : Rows{kv * D, index / (t / kv) * D, D};
  const std::vector<Rows> qkv = {share(model.heads * D), heads, heads};
  const std::int64_t ffn = shared_experts ? model.experts.shared * model.experts.ffn : model.ffn;
  std::vector<Rows> inner = {share(ffn)};
  if (model.mlp == Mlp::kSwiglu) inner.push_back(share(ffn));
  switch (parameter) {
    case Parameter::kTokenTable:
    case Parameter::kHeadWeight:
      return rows_of({vocabulary(model.vocab)}, C);
    case Parameter::kPositionTable:
      return rows_of({all(model.sequence)}, C);
    case Parameter::kQkvWeight:
      return rows_of(qkv, C);
    case Parameter::kQkvBias:
      return rows_of(qkv, 1);
    case Parameter::kMlpInWeight:
      return rows_of(inner, C);
    case Parameter::kMlpInBias:
      return rows_of(inner, 1);
    case Parameter::kProjectionWeight:
      return columns_of(model.heads * D);
    case Parameter::kMlpOutWeight:
      return columns_of(ffn);
    case Parameter::kRouterWeight:
      return rows_of({all(model.experts.count)}, C);
    default:
      return rows_of({all(C)}, 1);
  }
}

// Expert by expert: rows of the way in, as often as it has matrices, then columns of the way out.
std::vector<SliceStretches> slice_of_experts(const Model& model, int tp, int index,
                                             const ExpertShare& share) {
  const std::int64_t C = model.hidden, F = model.experts.ffn, f = F / tp;
  const std::int64_t ways_in = model.mlp == Mlp::kSwiglu ? 2 : 1;
  const int here = model.experts.count / share.ranks;
  std::vector<SliceStretches> result;
  for (int place = 0; place < here; ++place) {
    const int expert =
        expert_at({share.rank, place}, model.experts.count, share.ranks, share.placement);
    const std::int64_t slice = place * (ways_in + 1) * f * C,
                       whole = expert * (ways_in + 1) * F * C;
    for (std::int64_t way = 0; way < ways_in; ++way)
      result.push_back(
          {slice + way * f * C, whole + (way * F + index * f) * C, f * C, 1, f * C, f * C});
    result.push_back({slice + ways_in * f * C, whole + ways_in * F * C + index * f, f, C, f, F});
  }
  return result;
}

}  // namespace

std::vector<SliceStretches> slice_of(const Model& model, Parameter parameter, int tp, int index,
                                     int layer, const ExpertShare& share) {
  if (parameter == Parameter::kExpertWeights)
    return share.whole ? slice_of_experts(model, 1, 0, share)
                       : slice_of_experts(model, tp, index, share);
  const bool shared = model.experts.count > 0 && layer >= model.experts.first_dense;
  const Cut cut = cut_of(model, parameter, tp, index, shared);
  std::vector<SliceStretches> result;
  std::int64_t slice = 0, whole = 0;
  for (const Rows& rows : cut.parts) {
    const std::int64_t begin = whole + rows.begin * cut.columns + cut.column_begin;
    if (cut.column_count == cut.columns) {
      const std::int64_t length = rows.count * cut.columns;
      result.push_back({slice, begin, length, 1, length, length});
    } else {
      result.push_back({slice, begin, cut.column_count, rows.count, cut.column_count, cut.columns});
    }
    slice += rows.count * cut.column_count;
    whole += rows.whole * cut.columns;
  }
  return result;
}

std::int64_t whole_count(const Model& model, Parameter parameter, int layer) {
  std::int64_t count = 0;
  for (const SliceStretches& part : slice_of(model, parameter, 1, 0, layer))
    count += part.length * part.times;
  return count;
}

bool decays(Parameter parameter) {
  const Start start = start_of(parameter);
  return start == Start::kWeight || start == Start::kOutput;
}

Message describe(Parameter parameter, int layer) {
  Message name = word("parameter", name_of(parameter));
  if (layer < 0) return name;
  return message("parameter-of-layer", "layer {} {}", layer, std::move(name));
}

}  // namespace parallelarium
