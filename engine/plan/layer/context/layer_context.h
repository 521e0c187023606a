// SPDX-License-Identifier: Apache-2.0
// Context parallelism in a layer: who holds which tokens, and who computes which block of the
// causal square of scores, in which step. It is read off the tensors of the layer's attention ops
// and positions_of(), so it follows every split that the passes know.
// Source: Liu et al. 2023 (ring attention); Dubey et al. 2024, section 3.3.2 (zigzag, all-gather);
// Jacobs et al. 2023 (Ulysses).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct LayerSteps;

// Neighbouring tokens of a sequence that one CP rank holds.
struct TokenRun {
  int cp = 0;
  ChunkRange tokens;
};

// The scores of one run's queries with one run's keys: a square, or the half of one below the
// diagonal.
struct ScoreBlock {
  int queries = 0, keys = 0;  // as LayerContext::runs; keys <= queries
  int cp = 0;                 // the CP rank that computes it
  int round = 0;              // as LayerContext::rounds
  std::int64_t scores = 0;    // scores that the mask leaves, of one head and sequence
};

// One attention op of every CP rank. A ring has as many rounds as ranks; the other ways have one.
struct ContextRound {
  int step = 0;                // as LayerSteps::steps
  std::vector<int> keys_from;  // by CP rank: whose keys and values it works with; -1: all ranks'
  // By CP rank: its work in whole blocks. A whole block is the longest run by itself; one on the
  // diagonal counts half, as it does with the kernels' own mask in the limit.
  std::vector<double> blocks;
  double most = 0;  // blocks of the rank that has most; a ring waits for it
};

// What ranks exchange around attention.
struct ContextMove {
  int step = 0;   // as LayerSteps::steps
  int round = 0;  // in a ring: the round whose keys and values are passed on; else the next round
  bool gradient = false;  // it moves gradients of keys and values; else these themselves, or heads
};

struct LayerContext {
  bool by_heads = false;             // Ulysses: a rank has all tokens of its own heads
  std::vector<TokenRun> runs;        // ascending; empty: nothing is cut along CP
  std::vector<ContextRound> rounds;  // in the order of the steps
  std::vector<ContextMove> moves;    // in the order of the steps
  std::vector<ScoreBlock> blocks;    // by round and rank; empty if by_heads
  // By CP rank: its heads of queries; set only if by_heads.
  std::vector<std::vector<ChunkRange>> heads;
  // The same for heads of keys and values. If there are fewer of them than ranks, several ranks
  // hold the same head: it is repeated.
  std::vector<std::vector<ChunkRange>> key_heads;
  std::vector<double> blocks_of;        // by CP rank: its blocks in all rounds
  double even = 0;                      // blocks of each rank if all had equally many
  double waited = 0;                    // the sum of all rounds' most
  int first_step = -1, last_step = -1;  // the steps of attention and its exchanges
  bool repeats_keys() const;            // whether key_heads has a head twice
  bool drawn() const { return !runs.empty() && !rounds.empty(); }
  // How many times as long attention takes as with even shares; 1 if no rank waits for another.
  double over_even() const { return even > 0 ? waited / even : 1; }
};

// Describes CP in `layer`, whose steps must be set. The ranks are those with TP coordinate 0.
LayerContext layer_context(const Setup& setup, const Program& program, const LayerSteps& layer);

}  // namespace parallelarium
