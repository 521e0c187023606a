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

// "direct": all the transport's own. Another name: every kind that has an algorithm of that name.
// Or kind by kind, "all_reduce=double-tree,all_gather=bruck": those that are not named are the
// transport's own. Error, with field "collectives": an algorithm that there is not.
Result<AlgorithmNames> algorithm_names(const std::string& text);
// The text that algorithm_names() reads as these.
std::string to_text(const AlgorithmNames& names);

}  // namespace parallelarium
