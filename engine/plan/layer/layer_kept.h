// SPDX-License-Identifier: Apache-2.0
// What the forward of a layer leaves for its backward, and the terms of the paper that counts it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/program/timeline.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct LayerChoice;
struct LayerSteps;

// Sets kept_bytes of the ranks, and in a forward of the steps. An activation buffer counts if the
// layer's backward reads it and if it stays open from the forward until then. It counts once: at
// the first step whose own backward reads it, or if there is none, at the first step that reads it.
void set_kept(const Program& program, LayerSteps& steps);

// Those of these buffers that were open in a run when the forward of the layer had ended on a rank.
// `times`: of the run, by the ops of `rank`.
std::int64_t kept_in(const Program& program, const RankProgram& rank, const RankTimeline& times,
                     const LayerChoice& choice);

enum class KeptBecause : std::uint8_t {
  kHeld,
  // These three say why a term vanishes:
  kNoDropout,
  kFused,  // fused attention computes scores again
  kRecomputed,
};

// A term of 34 s b h + 5 a s² b. The formula gives bytes if activations have 16 bits and masks 8.
// Letters: s sequence, b micro-batch, h hidden, a heads.
// Source: Korthikanti et al. 2022, section 4.1 and table 2.
struct KeptTerm {
  Tensor tensor = Tensor::kInput;
  double sbh = 0, scores = 0;  // factors of s b h and of a s² b
  bool split = false;          // TP divides it even without sequence parallelism
  KeptBecause because = KeptBecause::kHeld;
  std::int64_t held_bytes = 0;  // on the first rank of the group, read off its buffers
};

// Why a layer differs from that of the paper.
enum class KeptDiffers : std::uint8_t {
  kSharedKeys,  // heads share keys and values
  kLatent,      // attention through latent vectors
  kGated,       // SwiGLU
  kInnerWidth,  // the MLP's inner width is not four times the layer's
  kExperts,
};

// How a layer may be cut by TP.
enum class KeptCut : std::uint8_t { kWhole, kTensor, kSequence };
inline constexpr int kKeptCuts = 3;

struct LayerKept {
  std::vector<KeptTerm> terms;       // empty: the layer is not that of the paper
  std::vector<KeptDiffers> differs;  // why it is not
  int number_bytes = 2;              // bytes of a number in an activation; the paper has 2
  KeptCut cut = KeptCut::kWhole;     // how the Setup cuts the layer
  int tp = 1;
  // Bytes of the terms that are held, in the Setup's precision: of what TP leaves whole, of what TP
  // divides, and of scores.
  struct Bytes {
    std::int64_t whole = 0, split = 0, scores = 0;
    std::int64_t all() const { return whole + split + scores; }
  };
  double whole_sbh = 0, split_sbh = 0, scores = 0;  // sums of the factors that are held
  std::array<Bytes, kKeptCuts> bytes;               // by KeptCut: with 1, TP and TP ranks
  // Bytes that are held too, but that the paper leaves out: statistics of norms and of fused
  // attention, keys and values of other CP ranks.
  std::int64_t other_bytes = 0;
};

// `steps` must be those of a forward. With CP, s is the whole sequence for keys and a rank's part
// of it for all else.
LayerKept layer_kept(const Setup& setup, const Program& program, const LayerSteps& steps);

}  // namespace parallelarium
