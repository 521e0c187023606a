// SPDX-License-Identifier: Apache-2.0
// What a build step asks for beside an order: a value for each of some named slots, such as a cut
// for each matrix. Ranks compute with any choice (rank_team.h); that gives facts, on which the
// step's checks decide, and none is compared with a solution. What a choice costs or breaks, the
// reasons say.
//
//   matrices    qkv, projection, mlp-in, mlp-out: columns or rows. Facts: the fewest collectives
//               with which two ranks get in a layer's forward what one rank gets: "all_reduces",
//               "all_gathers", "collectives", and "sent_bytes" of both.
//   conjugates  before-mlp-in, before-mlp-out, behind-mlp-out of an MLP cut by columns, then rows:
//               f, g or nothing. Facts: "wrong", the places where two ranks that compute it have
//               other values than one rank, forward and backward; "collectives" of both, and
//               "sent_bytes".
//   chunks      chunk-0 to chunk-(2n-1) of a sequence: rank-0 to rank-(n-1). Facts by rank: "work",
//               the causal scores that it computed, and "chunks"; "most_chunks", "over_even", the
//               most work over an even share, "as_one_rank": whether together they have what one
//               rank gets, and "sent_bytes" of all.
//   states      parameters, gradients, optimizer: copy or shard. The Setup's replicas train so.
//               Facts: "states_bytes" of a rank, and what it never used of them ("unused_bytes"),
//               "sent_bytes" of a rank in a step, "as_one_rank": whether they have what one rank
//               gets.
//
// Source: Shoeybi et al. 2019, section 3 (matrices, f and g); Dubey et al. 2024, section 3.3.2
// (chunks); Rajbhandari et al. 2020, section 5 (states).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

using Assignment = std::map<std::string, std::string>;  // slot -> value

struct AssignmentFacts {
  nlohmann::json facts = nlohmann::json::object();
  std::vector<Message> reasons;  // that a refusal gives; of a good choice what it costs, or none
};

// "matrices", "conjugates", "chunks", "states"
const std::vector<std::string>& assignment_kinds();

// Why these are not the slots and values of that kind, as "a step of chunks has …"; empty: they
// are. Values may be fewer than there are.
Message assignment_fault(const std::string& kind, const std::vector<std::string>& slots,
                         const std::vector<std::string>& values);

// Each slot must have a value of the kind. The Setup is that of the step, for states alone.
AssignmentFacts assignment_facts(const std::string& kind, const Setup& setup,
                                 const Assignment& assignment);

// One function for each kind, with the same contract.
AssignmentFacts matrix_facts(const Assignment& assignment);
AssignmentFacts conjugate_facts(const Assignment& assignment);
AssignmentFacts chunk_facts(const Assignment& assignment);
AssignmentFacts state_facts(const Setup& setup, const Assignment& assignment);

}  // namespace parallelarium
