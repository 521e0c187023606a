// SPDX-License-Identifier: Apache-2.0
// Prepares the chunks of a folded Program. Chunks in the midst of a model do the same on other
// layers, so that all of one size are copies of the first.
#pragma once

#include <array>
#include <map>
#include <tuple>

#include "engine/passes/prepare.h"

namespace parallelarium {

class AlikeChunks {
 public:
  // Both must outlive this. `folding`: not kNone.
  AlikeChunks(const Setup& setup, const LocalSizes& sizes, Folding folding)
      : setup_(setup), sizes_(sizes), folding_(folding) {}

  // As prepare_chunk() has it, but that copies share their works. All emitters must be of one
  // Program.
  ChunkDrafts prepare(const Chunk& chunk, const std::array<bool, 4>& kinds, RankEmitter& emitter);

 private:
  // Where a chunk and what is of it lie.
  struct Home {
    int layer = 0, rank = 0;
    std::int64_t parameters = 0;
    std::int16_t bucket = 0;
    std::int32_t fold = 0;  // the first of its folds
  };
  struct Known {
    ChunkDrafts drafts;
    Home home;
    std::int32_t folds = 0;
  };
  static Home home_of(const Chunk& chunk, const RankEmitter& emitter);
  ChunkDrafts copy_of(const Known& known, const Chunk& chunk, RankEmitter& emitter) const;

  const Setup& setup_;
  const LocalSizes& sizes_;
  const Folding folding_;
  // By how many layers they have, the kinds of action, and whether another rank counts them.
  std::map<std::tuple<std::size_t, std::array<bool, 4>, bool>, Known> known_;
};

}  // namespace parallelarium
