// SPDX-License-Identifier: Apache-2.0
// How the kernels of block attention, on tensor cores and off them, cut a rank's tokens into tiles,
// each within one run of positions, and hand them to blocks.
#pragma once

#include "kernels/attention/attention_tiles.cuh"
#include "kernels/block_attention/block_attention.h"

namespace parallelarium::tiles {

// The largest score of a row that has seen no key yet: finite, so that none seen in a tile either
// does no harm.
inline constexpr float kNothingSeen = -3.0e38F;

// Rows of a tile, all of one run.
struct Rows {
  int token;     // of the sequence on this rank, the first
  int position;  // its position
  int left;      // rows from that one to the end of the run
};

struct Runs {
  int runs, each;  // tokens of each
  int begin[2];    // positions

  // Tiles of a part of either run, counted through.
  struct Part {
    int from[2] = {0, 0};
    int tiles[2] = {0, 0};
    __host__ __device__ int count() const { return tiles[0] + tiles[1]; }
  };
  // All tokens in tiles of kTile.
  template <int kTile>
  __host__ __device__ Part all() const {
    const int tiles = (each + kTile - 1) / kTile;
    return {{0, 0}, {tiles, runs > 1 ? tiles : 0}};
  }
  // Tokens before a position.
  template <int kTile>
  __device__ Part before(int position) const {
    Part part;
#pragma unroll
    for (int run = 0; run < 2; ++run) {
      const int seen = min(position - begin[run], each);
      if (run < runs && seen > 0) part.tiles[run] = (seen + kTile - 1) / kTile;
    }
    return part;
  }
  // Tokens at a position or behind it.
  template <int kTile>
  __device__ Part from(int position) const {
    Part part;
#pragma unroll
    for (int run = 0; run < 2; ++run) {
      part.from[run] = max(position - begin[run], 0);
      if (run < runs && part.from[run] < each)
        part.tiles[run] = (each - part.from[run] + kTile - 1) / kTile;
    }
    return part;
  }
  template <int kTile>
  __device__ Rows rows(const Part& part, int tile) const {
    const bool second = tile >= part.tiles[0];
    const int at =
        second ? part.from[1] + (tile - part.tiles[0]) * kTile : part.from[0] + tile * kTile;
    return {second ? each + at : at, (second ? begin[1] : begin[0]) + at, each - at};
  }
};

struct Block {
  Strides s;
  std::int64_t keys_values;  // between tokens
  Runs queries, keys;
  bool first;
  float scale;
  AttentionDropout dropout;
};

// A block's head, of all sequences, and its tile. Heads follow one another in x, the one direction
// of a grid that is long enough for any number of them.
struct Work {
  int b, h, tile;
  __device__ Work(int heads, int tiles) {
    const int head = static_cast<int>(blockIdx.x) / tiles;
    tile = static_cast<int>(blockIdx.x) % tiles;
    b = head / heads;
    h = head % heads;
  }
};

inline Runs runs_of(const TokenRuns& runs, std::int64_t length) {
  return {runs.runs,
          static_cast<int>(length / runs.runs),
          {static_cast<int>(runs.begin[0]), static_cast<int>(runs.begin[1])}};
}
inline Block block_of(const AttentionBlock& block) {
  return {strides_of(block.shape),
          block.stride,
          runs_of(block.queries, block.shape.T),
          runs_of(block.keys, block.shape.T),
          block.first,
          scale_of(block.shape),
          block.dropout};
}
template <int kTile>
dim3 grid_of(const Runs& runs, std::int64_t heads) {
  return dim3(static_cast<unsigned>(runs.all<kTile>().count() * heads));
}

}  // namespace parallelarium::tiles
