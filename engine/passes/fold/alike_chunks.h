// SPDX-License-Identifier: Apache-2.0
// Prepares the chunks of a folded Program. Chunks in the middle of a model do the same on other
// layers, so all chunks of one size are copies of the first.
#pragma once

#include <array>
#include <map>
#include <tuple>

#include "engine/passes/prepare.h"

namespace parallelarium {

class AlikeChunks {
 public:
  // `setup` and `sizes` must outlive this. `folding` must not be kNone.
  AlikeChunks(const Setup& setup, const LocalSizes& sizes, Folding folding)
      : setup_(setup), sizes_(sizes), folding_(folding) {}

  // Does what prepare_chunk() does, but copies share their works. All emitters must be of one
  // Program.
  ChunkDrafts prepare(const Chunk& chunk, const std::array<bool, 4>& kinds, RankEmitter& emitter);

 private:
  // The places of a chunk and of what belongs to it.
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
  // By the number of layers, the kinds of action, and whether another rank counts the chunk.
  std::map<std::tuple<std::size_t, std::array<bool, 4>, bool>, Known> known_;
};

}  // namespace parallelarium
