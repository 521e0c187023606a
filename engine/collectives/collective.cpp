// SPDX-License-Identifier: Apache-2.0
#include "engine/collectives/collective.h"

#include <algorithm>

#include "engine/collectives/algorithms/writer.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/text/phrases.h"

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
      {{K::kAllReduce, "direct", "All pairs",
        "Every rank sends its whole array to every other and combines what comes: one step, n - 1 "
        "arrays sent per rank.",
        "the naive form"},
       direct_collective},
      {{K::kAllReduce, "root", "Through a root",
        "All send to rank 0, which combines and sends the result back: its link carries n - 1 "
        "arrays each way.",
        "the naive form"},
       all_reduce_through_root},
      {{K::kAllReduce, "ring", "Ring",
        "A ring reduce-scatter, then a ring all-gather: the least bytes per rank, 2 (n - 1) steps.",
        "Patarasuk and Yuan, JPDC 69 (2009)"},
       ring_collective},
      {{K::kAllReduce, "bidirectional-ring", "Two-directional ring",
        "Half of the array goes round to the right, half to the left.",
        "Patarasuk and Yuan, JPDC 69 (2009)"},
       ring_collective},
      {{K::kAllReduce, "tree", "Binomial tree",
        "A binomial reduce to rank 0, then a binomial broadcast.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       binomial_collective},
      {{K::kAllReduce, "double-tree", "Double binary tree",
        "Two trees, each with half of the array in segments; a rank inside one is a leaf of the "
        "other.",
        "Sanders, Speck, Traeff, Parallel Computing 35 (2009)"},
       double_tree_collective},
      {{K::kAllReduce, "recursive-doubling", "Recursive doubling",
        "Partners at distance 1, 2, 4, ... exchange whole arrays: log2 n steps.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       doubling_collective},
      {{K::kAllReduce, "halving-doubling", "Halving-doubling",
        "Recursive halving, then recursive doubling: 2 log2 n steps and the least bytes.",
        "Rabenseifner; Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       doubling_collective},
      {{K::kAllReduce, "hierarchical", "Hierarchical, two levels",
        "Reduce-scatter inside every node, all-reduce between nodes, all-gather inside.",
        "Jia et al., arXiv 1807.11205"},
       grid_collective},
      {{K::kAllReduce, "torus", "2-D torus",
        "Rings along rows and columns, one half of the array each way round.",
        "Ying et al., arXiv 1811.06992"},
       grid_collective},
      {{K::kAllGather, "direct", "Direct", "Every rank sends its chunk to every other at once.",
        "the naive form"},
       direct_collective},
      {{K::kAllGather, "ring", "Ring",
        "Every rank passes the chunk it received last to its right neighbour, n - 1 times.",
        "Chan et al., CCPE 19 (2007)"},
       ring_collective},
      {{K::kAllGather, "recursive-doubling", "Recursive doubling",
        "Partners at distance 1, 2, 4, ... exchange all they have.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       doubling_collective},
      {{K::kAllGather, "bruck", "Bruck", "Recursive doubling for any number of ranks.",
        "Bruck et al., IEEE TPDS 8 (1997)"},
       bruck_collective},
      {{K::kReduceScatter, "direct", "Direct",
        "Every rank sends every other the chunk that it will own, which combines all.",
        "the naive form"},
       direct_collective},
      {{K::kReduceScatter, "ring", "Ring",
        "A chunk goes once round the ring and every rank adds its own part to it.",
        "Patarasuk and Yuan, JPDC 69 (2009)"},
       ring_collective},
      {{K::kReduceScatter, "recursive-halving", "Recursive halving",
        "Partners exchange the half that the other's side will end with.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       doubling_collective},
      {{K::kAllToAll, "direct", "Direct", "Every rank sends every other its chunk at once.",
        "the naive form"},
       all_to_all_collective},
      {{K::kAllToAll, "pairwise", "Pairwise",
        "n - 1 steps; in step k every rank sends to the rank k places further.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       all_to_all_collective},
      {{K::kAllToAll, "ring", "Ring",
        "Every chunk passes through the ranks between: n - 1 steps to the right neighbour only.",
        "the naive form on a ring"},
       all_to_all_collective},
      {{K::kAllToAll, "bruck", "Bruck",
        "log2 n steps, each with up to half of the array in one message.",
        "Bruck et al., IEEE TPDS 8 (1997)"},
       bruck_collective},
      {{K::kBroadcast, "direct", "Direct", "The root sends the array to every rank at once.",
        "the naive form"},
       direct_collective},
      {{K::kBroadcast, "tree", "Binomial tree",
        "The number of ranks that have the array doubles in every step.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       binomial_collective},
      {{K::kBroadcast, "ring", "Pipelined ring", "Segments follow each other from rank to rank.",
        "Chan et al., CCPE 19 (2007)"},
       chain_collective},
      {{K::kBroadcast, "scatter-all-gather", "Scatter and all-gather",
        "A binomial scatter, then a ring all-gather.",
        "van de Geijn; Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       scatter_all_gather},
      {{K::kScatter, "direct", "Direct", "The root sends every rank its chunk at once.",
        "the naive form"},
       direct_collective},
      {{K::kScatter, "tree", "Binomial tree",
        "Half of what a rank has goes to the other half of its ranks.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       binomial_collective},
      {{K::kGather, "direct", "Direct", "Every rank sends the root its chunk at once.",
        "the naive form"},
       direct_collective},
      {{K::kGather, "tree", "Binomial tree", "The scatter backwards.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       binomial_collective},
      {{K::kReduce, "direct", "Direct", "Every rank sends the root its array, which combines all.",
        "the naive form"},
       direct_collective},
      {{K::kReduce, "tree", "Binomial tree", "The broadcast backwards, combining on the way.",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005)"},
       binomial_collective},
      {{K::kReduce, "ring", "Pipelined ring",
        "Segments go from rank to rank towards the root, and every rank adds its part.",
        "Chan et al., CCPE 19 (2007)"},
       chain_collective},
  };
  return kAlgorithms;
}

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

std::vector<std::string> names_of(CollectiveKind kind) {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind == kind) names.push_back(info.name);
  }
  return names;
}

// The most elements that a rank sends or receives in an all-to-all with uneven counts.
std::int64_t most_of_a_rank(const CollectiveSpec& spec) {
  std::int64_t most = 0;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    std::int64_t sent = 0, received = 0;
    for (int other = 0; other < spec.ranks; ++other) {
      sent += spec.counts[static_cast<std::size_t>(rank * spec.ranks + other)];
      received += spec.counts[static_cast<std::size_t>(other * spec.ranks + rank)];
    }
    most = std::max({most, sent, received});
  }
  return most;
}

Result<void> check_spec(const CollectiveSpec& spec) {
  if (!find_algorithm(spec.kind, spec.algorithm)) {
    const std::vector<std::string> names = names_of(spec.kind);
    return refuse(
        message("collective-algorithm", "{} has no algorithm \"{}\"; there are {}.",
                name_of(spec.kind), spec.algorithm, fmt::format("{}", fmt::join(names, ", "))),
        "collective.algorithm", names);
  }
  if (spec.ranks < 1 || spec.ranks > kMostCollectiveRanks) {
    return refuse(message("collective-ranks", "A collective has 1 to {} ranks, not {}.",
                          kMostCollectiveRanks, spec.ranks),
                  "collective.ranks", as_text({std::clamp(spec.ranks, 1, kMostCollectiveRanks)}));
  }
  if (has_root(spec.kind) && (spec.root < 0 || spec.root >= spec.ranks)) {
    return refuse(message("collective-root", "Root {} is none of the ranks 0 to {}.", spec.root,
                          spec.ranks - 1),
                  "collective.root", as_text({std::clamp(spec.root, 0, spec.ranks - 1)}));
  }
  if (spec.bytes < 0 || spec.bytes > (std::int64_t{1} << 40)) {
    return message("collective-bytes", "The array has 0 bytes to 1 TiB, not {}.", spec.bytes);
  }
  const std::int64_t size = size_of(spec.type);
  if (spec.bytes % size != 0) {
    const std::int64_t below = spec.bytes / size * size;
    return refuse(
        message("collective-elements",
                "{} bytes are no whole number of {} elements of {} bytes; {} or {} would be.",
                spec.bytes, name_of(spec.type), size, below, below + size),
        "collective.bytes", as_text({below, below + size}));
  }
  if (spec.type == DataType::kU8) {
    return message("collective-type",
                   "A collective is of float32, float64, bfloat16 or int32, not of {}.",
                   name_of(spec.type));
  }
  if (reduces(spec.kind) && spec.reduction == Reduction::kNone) {
    return message("collective-reduction.none", "{} needs a reduction: sum, prod, min, max or avg.",
                   name_of(spec.kind));
  }
  if (!spec.counts.empty() || spec.node_size < 0) {
    const bool fits = spec.kind == CollectiveKind::kAllToAll &&
                      spec.counts.size() == static_cast<std::size_t>(spec.ranks * spec.ranks) &&
                      std::all_of(spec.counts.begin(), spec.counts.end(), [](std::int64_t count) {
                        return count >= 0 && count <= (std::int64_t{1} << 32);
                      });
    if (spec.node_size < 0)
      return message("collective-node.few", "A node has at least 1 rank, not {}.", spec.node_size);
    if (!fits)
      return message("collective-counts",
                     "Counts are for an all_to_all: {} whole numbers, one for each pair of sender "
                     "and receiver.",
                     spec.ranks * spec.ranks);
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

Message title_of(const AlgorithmInfo& info) {
  return entry("algorithm-title", fmt::format("{}/{}", name_of(info.kind), info.name), info.title);
}

Message summary_of(const AlgorithmInfo& info) {
  return entry("algorithm", fmt::format("{}/{}", name_of(info.kind), info.name), info.summary);
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
  for (const Reduction reduction :
       {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax, Reduction::kAvg}) {
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

double bus_factor(CollectiveKind kind, int ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather:
      return (n - 1) / n;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return 1;
  }
  return 1;
}

Result<Collective> make_collective(const CollectiveSpec& spec) {
  if (Result<void> good = check_spec(spec); !good) return good.error();
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.info.kind != spec.kind || algorithm.info.name != spec.algorithm) continue;
    if (spec.counts.empty()) return algorithm.generate(spec);
    CollectiveSpec uneven = spec;
    uneven.bytes = most_of_a_rank(spec) * size_of(spec.type);
    return algorithm.generate(uneven);
  }
  assert(false);
  return message("collective-algorithm.none", "There is no such algorithm.");
}

}  // namespace parallelarium
