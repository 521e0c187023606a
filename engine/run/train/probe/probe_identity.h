// SPDX-License-Identifier: Apache-2.0
// What a collective of tensor or context parallelism establishes, checked on the tensors that a run
// had: the ranks' partial sums before it add up to what each rank has behind it, shards are parts
// of it, and what is sent arrives. Those of embedding, head and loss are told as those of layers.
// Both sides are put together to the whole tensor and compared element by element.
// context_identity.h has those of context parallelism.
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
  kLargest,   // of each element the largest rank's: the loss's maximum of logits
  kShards,    // shards are put together
  kTurned,    // cut by tokens before, by heads behind: Ulysses' all-to-all
  kRing,      // what each rank has is its left neighbour's of the round before
  kRingSums,  // so it is with gradients of keys and values, to which each round has added
  kOutputs    // no collective: attention's outputs, put together, beside one rank's
};

struct ProbedIdentity {
  IdentityKind kind = IdentityKind::kShards;
  CollectiveKind collective = CollectiveKind::kAllReduce;  // of the first four kinds
  LayerChoice of;                                          // whose collective it is
  int layer_step = 0;   // of the collective, exchange or attention, as LayerSteps::steps
  int round = 0;        // of a ring, the one before
  bool home = false;    // of kRingSums: there is no next round, and the gradients are their rank's
  Probe before, after;  // the pieces beside it, maybe of another layer or the other direction
  std::string tensor_before, tensor_after;  // "k, v"
  std::vector<int> ranks;                   // that brought a part, global
  // Of an element, over all ranks behind the collective; of outputs, from one rank's.
  double largest_difference = 0;
  double largest_value = 0;  // of the whole tensor, without its sign
  // Of the whole from what the same training on one rank has there; none: it has no such tensor, or
  // did not run.
  std::optional<double> one_rank_difference;
};

// Those collectives of whose neighbours both were probed, in the order of the layer, of the first
// replica. `program` must be the one that ran, built for all ranks. `one_rank`: what the same
// probes saw of the same training on one rank (one_rank_setup()), or nothing.
std::vector<ProbedIdentity> identities_of(const Setup& setup, const Program& program,
                                          const std::vector<ProbedRank>& probes,
                                          const std::vector<ProbedRank>& one_rank = {});

// "Layer 0, all-reduce: the partial sums out of mlp-out of ranks 0 + 1, added up, equal ..."
Message sentence_of(const ProbedIdentity& identity);
// "One rank's x of residual-2: largest difference 3e-07." There must be a one_rank_difference.
Message one_rank_sentence_of(const ProbedIdentity& identity);
nlohmann::json to_json(const ProbedIdentity& identity);

}  // namespace parallelarium
