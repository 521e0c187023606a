// SPDX-License-Identifier: Apache-2.0
// The words of a Setup's choices, and the ranges of its numbers: one list each for files, the
// command line and validation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

template <class Choice>
using Word = std::pair<Choice, std::string_view>;

inline constexpr std::array kRankOrders = {
    Word<RankOrder>{RankOrder::kTpCpEpDpPp, "tp-cp-ep-dp-pp"},
    Word<RankOrder>{RankOrder::kTpCpEpPpDp, "tp-cp-ep-pp-dp"}};
inline constexpr std::array kRecomputes = {Word<Recompute>{Recompute::kNone, "none"},
                                           Word<Recompute>{Recompute::kSelective, "selective"},
                                           Word<Recompute>{Recompute::kFull, "full"}};
inline constexpr std::array kContextParallels = {
    Word<ContextParallel>{ContextParallel::kRing, "ring"},
    Word<ContextParallel>{ContextParallel::kAllGather, "all-gather"},
    Word<ContextParallel>{ContextParallel::kUlysses, "ulysses"}};
inline constexpr std::array kAttentions = {Word<Attention>{Attention::kAuto, "auto"},
                                           Word<Attention>{Attention::kUnfused, "unfused"},
                                           Word<Attention>{Attention::kFused, "fused"}};
inline constexpr std::array kBackends = {
    Word<Backend>{Backend::kAuto, "auto"}, Word<Backend>{Backend::kCpu, "cpu"},
    Word<Backend>{Backend::kPaced, "paced"}, Word<Backend>{Backend::kCuda, "cuda"}};

inline constexpr std::array kRouters = {Word<Router>{Router::kSoftmax, "softmax"},
                                        Word<Router>{Router::kSigmoid, "sigmoid"}};
inline constexpr std::array kExpertPlacements = {
    Word<ExpertPlacement>{ExpertPlacement::kBlocked, "blocked"},
    Word<ExpertPlacement>{ExpertPlacement::kRoundRobin, "round-robin"}};
inline constexpr std::array kMlps = {Word<Mlp>{Mlp::kGelu, "gelu"},
                                     Word<Mlp>{Mlp::kSwiglu, "swiglu"}};
inline constexpr std::array kNorms = {Word<Norm>{Norm::kLayer, "layer"},
                                      Word<Norm>{Norm::kRms, "rms"}};

template <class Choice, std::size_t N>
constexpr std::string_view word_of(const std::array<Word<Choice>, N>& words, Choice choice) {
  for (const auto& [value, word] : words)
    if (value == choice) return word;
  return {};
}

// Inclusive.
struct Range {
  double low = 0, high = 0;
};
inline constexpr Range kDegrees{1, 65'536};
inline constexpr Range kNodes{0, 100'000};
inline constexpr Range kChunks{1, 1'000};
inline constexpr Range kMicroBatch{1, 65'536};
inline constexpr Range kMicrobatches{1, 1'000'000};
inline constexpr Range kDropout{0, 0.99};
inline constexpr Range kLearningRate{0, 1'000};
inline constexpr Range kClip{0, 1'000'000};
inline constexpr Range kBalance{0, 1'000};
inline constexpr Range kSkew{0, 1};
inline constexpr Range kPace{1e-6, 60};
inline constexpr Range kSteps{1, 1'000'000};
inline constexpr Range kWarmup{0, 1'000'000};
inline constexpr Range kZero{0, 3};
inline constexpr Range kZeroGroup{0, 65'536};
inline constexpr Range kZeroPrefetch{0, 16};
inline constexpr std::size_t kMostStages = 10'000;

}  // namespace parallelarium
