// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/program.h"

#include <array>

namespace parallelarium {

namespace {

template <class Enum, std::size_t N>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view name_of(Piece piece) {
  static constexpr std::array<std::string_view, kPieces> kNames = {
      "stage",        "zero gradients", "embedding", "norm 1",        "QKV",        "attention",
      "projection",   "residual 1",     "norm 2",    "MLP in",        "activation", "MLP out",
      "residual 2",   "router",         "permute",   "experts",       "final norm", "head",
      "loss maximum", "loss sum",       "loss",      "gradient norm", "optimizer",  "transfer",
      "combine",      "dispatch",       "unpermute", "offload"};
  static_assert(!kNames.back().empty(), "each Piece has a name");
  return pick(kNames, piece);
}

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "forward", "input gradient", "weight gradient", "recompute", "update"};
  return pick(kNames, phase);
}

std::string_view name_of(Tensor tensor) {
  static constexpr std::array<std::string_view, 59> kNames = {"parameters",
                                                              "gradients",
                                                              "master weights",
                                                              "moments",
                                                              "tokens",
                                                              "targets",
                                                              "loss sum",
                                                              "router record",
                                                              "router loads",
                                                              "router bias",
                                                              "square sum",
                                                              "residual stream",
                                                              "norm 1 output",
                                                              "norm 1 statistics",
                                                              "QKV",
                                                              "attention probabilities",
                                                              "attention context",
                                                              "projection output",
                                                              "middle residual stream",
                                                              "norm 2 output",
                                                              "norm 2 statistics",
                                                              "MLP in output",
                                                              "activation output",
                                                              "MLP out output",
                                                              "final norm output",
                                                              "final norm statistics",
                                                              "logits",
                                                              "logits of the loss",
                                                              "loss statistics",
                                                              "gradient of the logits",
                                                              "gradient of the residual stream",
                                                              "gradient of a norm's output",
                                                              "gradient of a branch before dropout",
                                                              "gradient of the context",
                                                              "gradient of QKV",
                                                              "gradient of expert tokens",
                                                              "gradient of the activation output",
                                                              "gradient of the MLP in output",
                                                              "scratch",
                                                              "dropout masks",
                                                              "probabilities after dropout",
                                                              "gathered parameters",
                                                              "gradients of a bucket",
                                                              "partial sums",
                                                              "gathered norm output",
                                                              "gathered gradient",
                                                              "share of what another stage sent",
                                                              "keys and values",
                                                              "gradients of keys and values",
                                                              "attention statistics",
                                                              "QKV of the own heads",
                                                              "context of the own heads",
                                                              "router logits",
                                                              "router gates",
                                                              "routes",
                                                              "expert tokens",
                                                              "stage activations",
                                                              "array",
                                                              "result"};
  static_assert(kNames.size() == static_cast<std::size_t>(Tensor::kResult) + 1);
  return pick(kNames, tensor);
}

std::string_view name_of(Parameter parameter) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "token table",    "position table",    "norm 1 gain",     "norm 1 bias",  "QKV weight",
      "QKV bias",       "projection weight", "projection bias", "norm 2 gain",  "norm 2 bias",
      "MLP in weight",  "MLP in bias",       "MLP out weight",  "MLP out bias", "router weight",
      "expert weights", "final norm gain",   "final norm bias", "head weight"};
  static_assert(kNames.size() == static_cast<std::size_t>(Parameter::kHeadWeight) + 1);
  return pick(kNames, parameter);
}

std::string_view name_of(OpKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"compute", "send", "recv",
                                                             "collective"};
  return pick(kNames, kind);
}

std::string_view name_of(Lane lane) {
  static constexpr std::array<std::string_view, 3> kNames = {"compute", "pipeline", "data"};
  return pick(kNames, lane);
}

std::string_view name_of(CollectiveKind kind) {
  static constexpr std::array<std::string_view, kCollectiveKinds> kNames = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
      "broadcast",  "scatter",    "gather",         "reduce"};
  return pick(kNames, kind);
}

std::string_view name_of(Reduction reduction) {
  static constexpr std::array<std::string_view, 6> kNames = {"none", "sum", "max",
                                                             "prod", "min", "avg"};
  return pick(kNames, reduction);
}

std::string_view name_of(DataType type) {
  static constexpr std::array<std::string_view, 5> kNames = {"float32", "bfloat16", "float64",
                                                             "int32", "uint8"};
  return pick(kNames, type);
}

std::string_view name_of(Purpose purpose) {
  static constexpr std::array<std::string_view, 12> kNames = {"none",
                                                              "activations",
                                                              "gradients",
                                                              "parameters",
                                                              "tokens",
                                                              "keys-values",
                                                              "embedding",
                                                              "norm",
                                                              "loss",
                                                              "replicated-gradients",
                                                              "regathered-activations",
                                                              "counts"};
  return pick(kNames, purpose);
}

std::string_view name_of(Category category) {
  static constexpr std::array<std::string_view, 5> kNames = {"parameters", "gradients", "optimizer",
                                                             "activations", "buffers"};
  return pick(kNames, category);
}

std::int64_t size_of(DataType type) {
  static constexpr std::array<std::int64_t, 5> kSizes = {4, 2, 8, 4, 1};
  return kSizes[static_cast<std::size_t>(type)];
}

std::int64_t Program::op_count() const {
  std::int64_t count = 0;
  for (const RankProgram& rank : ranks) count += static_cast<std::int64_t>(rank.ops.size());
  return count;
}

int representative_of(const Program& program, const Mesh& mesh, int rank) {
  return program.representatives ? coordinates_of(mesh, rank).pp : rank;
}

PositionRuns positions_of(const Shape& shape, int cp) {
  if (!shape.zigzag) return {1, {cp * shape.T, 0}, shape.T};
  const std::int64_t length = shape.T / 2;
  return {2, {cp * length, shape.sequence - (cp + 1) * length}, length};
}

ChunkRange chunk_of(std::int64_t count, int n, int index) {
  const std::int64_t share = count / n, rest = count % n;
  const auto begin_of = [&](std::int64_t i) { return i * share + std::min(i, rest); };
  return {begin_of(index), begin_of(index + 1)};
}

Volume collective_volume(CollectiveKind kind, DataType type, std::int64_t bytes, int n, int index) {
  if (n <= 1) return {};
  const std::int64_t size = size_of(type), count = bytes / size;
  const ChunkRange chunk = chunk_of(count, n, index);
  const std::int64_t mine = (chunk.end - chunk.begin) * size, others = count * size - mine;
  switch (kind) {
    case CollectiveKind::kAllGather:
      return {mine * (n - 1), others};
    case CollectiveKind::kReduceScatter:
      return {others, mine * (n - 1)};
    case CollectiveKind::kAllReduce:
      return {others + mine * (n - 1), others + mine * (n - 1)};
    case CollectiveKind::kAllToAll:
      return {others, others};
    case CollectiveKind::kBroadcast:
      return index == 0 ? Volume{count * size * (n - 1), 0} : Volume{0, count * size};
    case CollectiveKind::kReduce:
      return index == 0 ? Volume{0, count * size * (n - 1)} : Volume{count * size, 0};
    case CollectiveKind::kScatter:
      return index == 0 ? Volume{others, 0} : Volume{0, mine};
    case CollectiveKind::kGather:
      return index == 0 ? Volume{0, others} : Volume{mine, 0};
  }
  return {};
}

DirectWork direct_work(CollectiveKind kind, int n) {
  const int combine = n + 1, copy = 2;  // chunks read or written
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {n, combine + copy * (n - 1)};
    case CollectiveKind::kReduceScatter:
      return {1, combine};
    case CollectiveKind::kBroadcast:
      return {1, copy * n};
    default:
      return {n - 1, copy * (n - 1)};
  }
}

}  // namespace parallelarium
