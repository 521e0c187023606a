// SPDX-License-Identifier: Apache-2.0
// The words of a Setup's choices, and the ranges that others need beside the table of settings.
#pragma once

#include <array>

#include "engine/plan/settings/setting_values.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

inline constexpr std::array kRankOrders = {
    Word<RankOrder>{RankOrder::kTpCpEpDpPp, "tp-cp-ep-dp-pp"},
    Word<RankOrder>{RankOrder::kTpCpEpPpDp, "tp-cp-ep-pp-dp"}};
inline constexpr std::array kRecomputes = {
    Word<Recompute>{Recompute::kNone, "none"},
    Word<Recompute>{Recompute::kSelective, "selective"},
    Word<Recompute>{Recompute::kNorms, "norms"},
    Word<Recompute>{Recompute::kActivation, "activation"},
    Word<Recompute>{Recompute::kUpProjection, "up-projection"},
    Word<Recompute>{Recompute::kSecondProducts, "second-products"},
    Word<Recompute>{Recompute::kExperts, "experts"},
    Word<Recompute>{Recompute::kFull, "full"}};
inline constexpr std::array kGradientReductions = {
    Word<GradientReduction>{GradientReduction::kSame, "same"},
    Word<GradientReduction>{GradientReduction::kFp32, "fp32"}};
inline constexpr std::array kContextParallels = {
    Word<ContextParallel>{ContextParallel::kRing, "ring"},
    Word<ContextParallel>{ContextParallel::kAllGather, "all-gather"},
    Word<ContextParallel>{ContextParallel::kUlysses, "ulysses"},
    Word<ContextParallel>{ContextParallel::kLocal, "local"}};
inline constexpr std::array kContextSplits = {
    Word<ContextSplit>{ContextSplit::kZigzag, "zigzag"},
    Word<ContextSplit>{ContextSplit::kContiguous, "contiguous"}};
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
inline constexpr std::array kExpertDispatches = {
    Word<ExpertDispatch>{ExpertDispatch::kCopies, "copies"},
    Word<ExpertDispatch>{ExpertDispatch::kOncePerNode, "once-per-node"},
    Word<ExpertDispatch>{ExpertDispatch::kTensorShares, "tensor-shares"}};
inline constexpr std::array kProductTypes = {Word<ProductType>{ProductType::kSame, "same"},
                                             Word<ProductType>{ProductType::kFp8, "fp8"}};
inline constexpr std::array kKeptTypes = {Word<KeptType>{KeptType::kSame, "same"},
                                          Word<KeptType>{KeptType::kFp8, "fp8"}};
inline constexpr std::array kLossCopies = {Word<LossCopies>{LossCopies::kNone, "none"},
                                           Word<LossCopies>{LossCopies::kGradient, "gradient"},
                                           Word<LossCopies>{LossCopies::kFp32, "fp32"}};
inline constexpr std::array kExpertGates = {
    Word<ExpertGates>{ExpertGates::kResults, "results"},
    Word<ExpertGates>{ExpertGates::kActivations, "activations"}};
inline constexpr std::array kMlps = {Word<Mlp>{Mlp::kGelu, "gelu"},
                                     Word<Mlp>{Mlp::kSwiglu, "swiglu"}};
inline constexpr std::array kNorms = {Word<Norm>{Norm::kLayer, "layer"},
                                      Word<Norm>{Norm::kRms, "rms"}};

// The least stretch of a rehearsal.
inline constexpr Range kStretch{kAnyStretch, 1e6};
// The range of DP, TP, PP, CP and EP.
inline constexpr Range kDegrees{1, 65'536};

}  // namespace parallelarium
