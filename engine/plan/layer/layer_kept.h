// SPDX-License-Identifier: Apache-2.0
// What the forward of a layer leaves for its backward, and the terms of the paper that counts it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct LayerSteps;

// Sets LayerRankStep::kept_bytes: every activation buffer that the layer's backward reads and that
// is open from its forward until then counts once, at the first step whose own backward reads it,
// else at the first that reads it.
// The steps must be those of a forward.
void set_kept(const Program& program, LayerSteps& steps);

enum class KeptBecause : std::uint8_t {
  kHeld,
  // Why a term vanishes:
  kNoDropout,
  kFused,  // fused attention computes scores again
  kRecomputed,
};

// A term of 34 s b h + 5 a s² b: so many bytes where activations have 16 bits and masks 8.
// Letters: s sequence, b micro-batch, h hidden, a heads.
// Source: Korthikanti et al. 2022, section 4.1 and table 2.
struct KeptTerm {
  Tensor tensor = Tensor::kInput;
  double sbh = 0, scores = 0;  // times s b h; times a s² b
  bool split = false;          // TP divides it even without sequence parallelism
  KeptBecause because = KeptBecause::kHeld;
  std::int64_t held_bytes = 0;  // on the first rank of the group, read off its buffers
};

// What makes a layer another than that of the paper.
enum class KeptDiffers : std::uint8_t {
  kSharedKeys,  // heads share keys and values
  kLatent,      // attention through latent vectors
  kGated,       // SwiGLU
  kInnerWidth,  // the MLP is not four times as wide as the layer
  kExperts,
};

// How a layer may be cut by TP.
enum class KeptCut : std::uint8_t { kWhole, kTensor, kSequence };
inline constexpr int kKeptCuts = 3;

struct LayerKept {
  std::vector<KeptTerm> terms;       // empty: not the layer of the paper
  std::vector<KeptDiffers> differs;  // why not
  int number_bytes = 2;              // of an activation's numbers; the paper's have 2
  KeptCut cut = KeptCut::kWhole;     // of the Setup
  int tp = 1;
  // Bytes of the terms that are held, in the Setup's precision: of what TP leaves whole, of what it
  // divides, of scores.
  struct Bytes {
    std::int64_t whole = 0, split = 0, scores = 0;
    std::int64_t all() const { return whole + split + scores; }
  };
  double whole_sbh = 0, split_sbh = 0, scores = 0;  // sums of the factors that are held
  std::array<Bytes, kKeptCuts> bytes;               // by KeptCut; of 1, TP, and TP ranks
  // Held too, but left out by the paper: statistics of norms and of fused attention, keys and
  // values of other CP ranks.
  std::int64_t other_bytes = 0;
};

// Of the steps of a forward. With CP, s of keys is the whole sequence and s of all else a rank's.
LayerKept layer_kept(const Setup& setup, const Program& program, const LayerSteps& steps);

}  // namespace parallelarium
