// SPDX-License-Identifier: Apache-2.0
// Which algorithm does which collective of a training Program, as Setup::collectives writes it.
#pragma once

#include <array>
#include <string>

#include "engine/collectives/collective.h"

namespace parallelarium {

// By kind; empty: the transport's own.
using AlgorithmNames = std::array<std::string, kCollectiveKinds>;

// The kinds that training Programs are made of.
inline constexpr std::array kTrainingCollectives = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
    CollectiveKind::kAllToAll};

// The transport's own collectives: between nodes a group drives the network cards of all its ranks,
// or, as one ring through all of them does, one card of each node. Only predictions tell them
// apart.
inline constexpr const char* kDirect = "direct";
inline constexpr const char* kOneRing = "one-ring";
// Whether Setup::collectives has any done by sends and receives of an algorithm.
bool by_steps(const std::string& collectives);

// "direct" and "one-ring" leave all to the transport. Another name chooses it for every kind that
// has an algorithm of that name. "all_reduce=double-tree,all_gather=bruck" chooses kind by kind and
// leaves the others to the transport. Error, with field "collectives": an unknown algorithm.
Result<AlgorithmNames> algorithm_names(const std::string& text);
// The text that algorithm_names() reads as these.
std::string to_text(const AlgorithmNames& names);

}  // namespace parallelarium
