// SPDX-License-Identifier: Apache-2.0
// Checks on a run's tensors what a collective of tensor or context parallelism must achieve. The
// ranks' partial sums before it add up to what each rank has behind it; shards are parts of that;
// and what is sent arrives. Collectives of embedding, head and loss are treated like those of
// layers. Both sides are put together to the whole tensor and compared element by element.
// context_identity.h has the identities of context parallelism.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/result.h"
#include "engine/run/train/probe/probe.h"

namespace parallelarium {

enum class IdentityKind : std::uint8_t {
  kSum,       // ranks are added up
  kLargest,   // the largest of the ranks for each element: the loss's maximum of logits
  kShards,    // shards are put together
  kTurned,    // cut by tokens before and by heads behind: Ulysses' all-to-all
  kRing,      // each rank has what its left neighbour had in the round before
  kRingSums,  // the same for gradients of keys and values, to which each round adds
  kOutputs    // no collective: attention's outputs together, compared with one rank's
};

struct ProbedIdentity {
  IdentityKind kind = IdentityKind::kShards;
  CollectiveKind collective = CollectiveKind::kAllReduce;  // for the first four kinds
  LayerChoice of;                                          // the layer that has the collective
  int layer_step = 0;   // step of the collective, exchange or attention, as LayerSteps::steps
  int round = 0;        // in a ring: the round before
  bool home = false;    // kRingSums: there is no next round; the gradients are at their rank
  Probe before, after;  // the pieces beside it, maybe in another layer or direction
  std::string tensor_before, tensor_after;  // "k, v"
  std::vector<int> ranks;                   // global ranks that brought a part
  // The largest difference of an element, over all ranks behind the collective; for outputs, from
  // one rank's.
  double largest_difference = 0;
  double largest_value = 0;  // in the whole tensor, without its sign
  // The largest difference of the whole from the tensor of the same training on one rank. None:
  // that training has no such tensor, or did not run.
  std::optional<double> one_rank_difference;
};

// The identities of the first replica's collectives for which the pieces on both sides were probed,
// in the order of the layer. `program` must be the one that ran, built for all ranks. `one_rank`:
// what the same probes saw in the same training on one rank (one_rank_setup()), or nothing.
std::vector<ProbedIdentity> identities_of(const Setup& setup, const Program& program,
                                          const std::vector<ProbedRank>& probes,
                                          const std::vector<ProbedRank>& one_rank = {});

// "Layer 0, all-reduce: the partial sums “out” of MLP out, of ranks 0 + 1, added up, equal ..."
Message sentence_of(const ProbedIdentity& identity);
// "One rank's “x” of residual 2: largest difference 3e-07." one_rank_difference must be set.
Message one_rank_sentence_of(const ProbedIdentity& identity);
nlohmann::json to_json(const ProbedIdentity& identity);

}  // namespace parallelarium
