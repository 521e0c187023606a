// SPDX-License-Identifier: Apache-2.0
// What is before the first layer and behind the last: the embedding, and the head with the loss.
// The ranks of TP cut both along the vocabulary. So the loss needs only three numbers of each token
// from all ranks; gathered logits would be as many numbers as there are words.
// Source: Shoeybi et al. 2019, section 3.
#pragma once

#include <cstdint>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct LayerChoice;
struct LayerSteps;

// The figures are those of the first rank of the group, for one micro-batch in the chosen
// direction.
struct LayerVocabulary {
  std::int64_t words = 0, held_words = 0;  // without words that pad the last ranks' part
  std::int64_t tokens = 0;  // tokens of the micro-batch, or of the CP rank's part of it
  // Set for kHead alone:
  int loss_collectives = 0;
  std::int64_t loss_bytes = 0;       // bytes of one array that they combine: a number of each token
  std::int64_t loss_sent_bytes = 0;  // bytes that this rank sends in all of them
  std::int64_t logits_bytes = 0;     // bytes that this rank holds
  std::int64_t whole_logits_bytes = 0;  // bytes for all words
  // Bytes that this rank would send to gather the logits of all words.
  std::int64_t gathered_sent_bytes = 0;
  // Set for both places. Whether the head's weight is the embedding's table.
  bool tied = false;
  bool two_tables = false;  // tied, but on two ranks: the first stage's and the last's
  // Bytes that this rank sends once a step: gradients of both tables.
  std::int64_t tied_sent_bytes = 0;
};

// Whether `op` belongs to the embedding (or else the head and the loss) of the chosen micro-batch,
// in either direction. choice.place must not be kLayer.
bool is_op_of_vocabulary(const Program& program, const Op& op, const LayerChoice& choice);

// Describes the embedding or the head, whose steps must be set.
LayerVocabulary layer_vocabulary(const Setup& setup, const Program& program,
                                 const LayerSteps& layer);

}  // namespace parallelarium
