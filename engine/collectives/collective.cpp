// SPDX-License-Identifier: Apache-2.0
#include "engine/collectives/collective.h"

#include <algorithm>
#include <cctype>

#include "engine/collectives/writer.h"

namespace parallelarium {

namespace {

using Generator = Result<Collective> (*)(const CollectiveSpec&);

struct Algorithm {
  AlgorithmInfo info;
  Generator generate;
};

using K = CollectiveKind;

// The one list of algorithms.
const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms = {
      {{K::kAllGather, "ring", "Ring",
        "Every rank passes the chunk it received last to its right neighbour, n - 1 times.",
        "Chan et al., Collective communication (2007), section 5.1"},
       ring_collective},
      {{K::kReduceScatter, "ring", "Ring",
        "A chunk goes once round the ring and every rank adds its own part to it.",
        "Patarasuk and Yuan 2009"},
       ring_collective},
      {{K::kAllReduce, "ring", "Ring",
        "A ring reduce-scatter, then a ring all-gather: the least bytes per rank, 2 (n - 1) steps.",
        "Patarasuk and Yuan 2009"},
       ring_collective},
  };
  return kAlgorithms;
}

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

std::string names_of(CollectiveKind kind) {
  std::string names;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind == kind) names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

Result<void> check_spec(const CollectiveSpec& spec) {
  if (!find_algorithm(spec.kind, spec.algorithm)) {
    return message("collective-algorithm", "{} has no algorithm \"{}\"; there are {}.",
                   name_of(spec.kind), spec.algorithm, names_of(spec.kind));
  }
  if (spec.ranks < 1 || spec.ranks > kMostCollectiveRanks) {
    return message("collective-ranks", "A collective has 1 to {} ranks, not {}.",
                   kMostCollectiveRanks, spec.ranks);
  }
  if (has_root(spec.kind) && (spec.root < 0 || spec.root >= spec.ranks)) {
    return message("collective-root", "Root {} is none of the ranks 0 to {}.", spec.root,
                   spec.ranks - 1);
  }
  if (spec.bytes < 0 || spec.bytes > (std::int64_t{1} << 40)) {
    return message("collective-bytes", "The array has 0 bytes to 1 TiB, not {}.", spec.bytes);
  }
  const std::int64_t size = size_of(spec.type);
  if (spec.bytes % size != 0) {
    return message("collective-elements",
                   "{} bytes are no whole number of {} elements of {} bytes; {} or {} would be.",
                   spec.bytes, name_of(spec.type), size, spec.bytes / size * size,
                   (spec.bytes / size + 1) * size);
  }
  if (reduces(spec.kind) && spec.reduction == Reduction::kNone) {
    return message("collective-reduction",
                   "{} needs a reduction: sum, prod, min, max or avg.", name_of(spec.kind));
  }
  if (spec.segments < 0 || spec.segments > 1024) {
    return message("collective-segments", "The array is cut into 1 to 1024 segments, not {}.",
                   spec.segments);
  }
  return {};
}

}  // namespace

const std::vector<AlgorithmInfo>& collective_algorithms() {
  static const std::vector<AlgorithmInfo> kInfos = [] {
    std::vector<AlgorithmInfo> infos;
    for (const Algorithm& algorithm : algorithms()) infos.push_back(algorithm.info);
    return infos;
  }();
  return kInfos;
}

const AlgorithmInfo* find_algorithm(CollectiveKind kind, std::string_view name) {
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind == kind && info.name == name) return &info;
  }
  return nullptr;
}

std::optional<CollectiveKind> collective_kind(std::string_view name) {
  const std::string wanted = with_underscores(name);
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    if (name_of(static_cast<CollectiveKind>(kind)) == wanted)
      return static_cast<CollectiveKind>(kind);
  }
  return std::nullopt;
}

std::optional<Reduction> reduction_by_name(std::string_view name) {
  for (const Reduction reduction : {Reduction::kSum, Reduction::kProd, Reduction::kMin,
                                    Reduction::kMax, Reduction::kAvg}) {
    if (name_of(reduction) == name) return reduction;
  }
  return std::nullopt;
}

std::optional<DataType> data_type_by_name(std::string_view name) {
  for (const DataType type : {DataType::kF32, DataType::kF64, DataType::kBf16, DataType::kI32}) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kScatter ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kReduce;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kAllReduce;
}

Result<Collective> make_collective(const CollectiveSpec& spec) {
  if (Result<void> good = check_spec(spec); !good) return good.error();
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.info.kind != spec.kind || algorithm.info.name != spec.algorithm) continue;
    return algorithm.generate(spec);
  }
  assert(false);
  return message("collective-algorithm", "There is no such algorithm.");
}

}  // namespace parallelarium
