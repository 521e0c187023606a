// SPDX-License-Identifier: Apache-2.0
// A training step is cut into pieces at every place where an axis of parallelism can cut. This file
// is the contract between passes/ (which writes Compute ops), train/ (which executes them) and
// predict/ (which costs them): the operands of an op are in exactly the order given here.
//
// Legend: B micro-batch, T local sequence, N = B*T tokens, C hidden, H heads, K kv heads, D head
// dim, F ffn, V vocabulary, A = (H + 2K) D. Linear weights are [out, in] row-major, as in PyTorch.
// r reads, w writes, a accumulates (reads and writes). Biases are absent when the model has none.
//
// clang-format off
// piece        phase        operands in order
// kZeroGrad    kUpdate      w gradients (all of the rank)
// kEmbedding   kForward     r tokens i32[N], r token table [V,C], (r position table [T,C]); w x [N,C]
// kEmbedding   kWeightGrad  r dx [N,C], r tokens, a d(token table), (a d(position table))
// kNorm1/2     kForward     r x [N,C], r gain [C], (r bias [C]), w y [N,C], w stats [2,N] mean, rstd
// kNorm1/2     kInputGrad   r dy, r x, r gain, r stats, a dx   (dx already holds the residual's part)
//   split      kInputGrad   r dy, r x, r gain, r stats, w dx, r the residual's part, left as it was for W
// kNorm1/2     kWeightGrad  r dy, r x, r stats, a d(gain), (a d(bias))
// kFinalNorm   as kNorm1, but kInputGrad writes dx instead of accumulating
// kQkv         kForward     r y [N,C], r w [A,C], (r b [A]), w qkv [N,A]   Q heads, K heads, V heads
//   keys again kForward     w queries and values as they come [N,(H+K)D], before qkv; kRecompute: r of them, and the keys' product
// kQkv         kInputGrad   r dqkv, r w, w dy
// kQkv         kWeightGrad  r dqkv, r y, a dw, (a db)
// kAttention   kForward     r qkv, w probabilities [B,H,T,T] causal, w context [N,H*D]
// kAttention   kInputGrad   r dcontext, r qkv, r probabilities, w dqkv, w scratch [T,T]
//   fused      kForward     r qkv, w context, w lse [B,H,T], w scratch        no probabilities are kept
//   fused      kInputGrad   r dcontext, r qkv, r context, r lse, w dqkv, w scratch
//   with CP    kForward     r qkv, r keys-values, w context, w lse, w scratch; keys-values [N,2KD]: keys,
//                           then values of all heads. All-gather: [CP,N,2KD] and one op; ring: an op for each block,
//                           which from the second on accumulates, the rank's own block without keys-values
//   with CP    kInputGrad   r dcontext, r qkv, r keys-values, r context, r lse, w dqkv, a d(keys-values), w scratch
// kPermute     kForward     r qkv, w keys-values (CP: packs the rank's own)
// kPermute     kInputGrad   r d(keys-values), a dqkv (CP: unpacks or adds the rank's own)
//   Ulysses: attention as on one rank, with [N CP, A / CP] of the own heads for qkv and dqkv and their context.
//   kPermute packs by destination [CP,N,..] or unpacks (a d(qkv) sums repeated heads), or reorders [CP,B,T] <-> [B,CP,T]
// kProjection  kForward     r context, r w [C,H*D], (r b [C]), w out [N,C]
// kProjection  kInputGrad   r dx, r w, w dcontext
// kProjection  kWeightGrad  r dx, r context, a dw, (a db)
//   dropout    kForward     and w mask u8 [B,H,T,T], w dropped probabilities; kInputGrad: and r of both
// kResidual1/2 kForward     r x, r branch, w x' = x + branch [N,C]   (backward: nothing to compute)
//   dropout    kForward     r x, r branch, w x' = x + dropped branch, w mask u8 [N,C]
//   dropout    kInputGrad   r dx, r mask, w d(branch); projection and MLP out take that for dx
// kMlpIn       kForward     r y, r w [F',C], (r b), w u [N,F']       F' = F, or 2F for SwiGLU
//   up again   kForward     w gate [N,F], w up [N,F]; kRecompute: w up. kActivation: r gate, r up for u
// kMlpIn       kInputGrad   r du, r w, w dy
// kMlpIn       kWeightGrad  r du, r y, a dw, (a db)
// kActivation  kForward     r u [N,F'], w g [N,F]                    GELU with tanh, or silu(u1) * u2
// kActivation  kInputGrad   r dg, r u, w du
// kMlpOut      as kProjection with g [N,F], w [C,F]
// Experts: E of them, k for a token, f wide (f' = f, or 2f for SwiGLU), n on a rank of EP. Rows are dispatched tokens; how
// many there are is known only to the step: operands give the bound, counts i32[E] what is used of it. Rows that a rank
// sends stand by the place of their expert (rank of EP, then expert of that rank), in token order; rows that it received
// expert by expert, and by the rank that they came from. The counts of the first are by place, those of the second by
// the rank that they came from, then expert. Routes i32: experts of the tokens [N,k], rows of the choices [N,k] (-1:
// dropped), choices by expert [E], counts by place [E].
// kRouter      kForward     r y [N,C], r w [E,C], w logits [N,E], w gates [N,k], w routes, w record [3E+1]: choices and
//                           rows kept by expert, mean affinities, mean squared log-sum-exp; (r bias [E], a loads [E])
// kRouter      kInputGrad   r dgates [N,k], r logits, r gates, r routes, w dlogits [N,E]   balance loss and z-loss too
// kRouter      kWeightGrad  r dlogits, r y, a dw
// kRouter      kUpdate      r loads [layers,E], a bias [layers,E]
// kDispatch    kForward     r y, r routes, w rows [.,C]
// kDispatch    kInputGrad   r d(rows), r routes, r dlogits, r router w, (r dy of shared experts), w dy [N,C]
// kExpert      kForward     r rows, r counts, r w [n](w in [f',C], w out [C,f]), w u [.,f'], w g [.,f], w results [.,C]
// kExpert      kInputGrad   r d(results), r counts, r w, r u, w du [.,f'], w dg [.,f], (w g [.,f]), w d(rows) [.,C]
//                           with g where the activation is computed again for the weight gradient
// kExpert      kWeightGrad  r d(results), r counts, r du, r rows, r g, a dw
// kUnpermute   kForward     r results, r gates, r routes, (r output of shared experts [N,C]), w out [N,C]
// kUnpermute   kInputGrad   r dout [N,C], r results, r gates, r routes, w d(results), w dgates [N,k]
//   Shared experts are one MLP, kMlpIn to kMlpOut without biases, as wide as they are together.
//   With EP      all-to-alls of counts (r by place, w by rank) and of rows (r rows, w rows, r counts of the first, r of
//                the second; Op::block 0: to the experts, 1: back)
// kHead        kForward     r y [N,C], r w [V,C], w logits [N,V], rows Shape::logits_pitch() apart   (tied: w is the token table)
// kHead        kInputGrad   r dlogits, r w, w dy
// kHead        kWeightGrad  r dlogits, r y, a dw
// kLossMax     kForward     r logits, w rowmax [N]                   only where TP cuts the vocabulary
// kLossSum     kForward     r logits, r rowmax, r targets i32[N], w sumexp [N], w target logit [N]
//   whole      kForward     r logits, w rowmax, r targets, w sumexp, w target logit: one reading of the logits for both
// kLoss        kForward     r rowmax, r sumexp, r target logit, a loss f64[1]   sum over tokens
// kLoss        kInputGrad   r rowmax, r sumexp, r targets, a logits -> dlogits = (softmax - onehot) /
//                           (tokens of the global batch)
//   LossCopies gradient: kInputGrad: r logits, w dlogits in the place of a logits
//   LossCopies fp32: the first reader of the logits casts them, w logits fp32 behind its other operands; the rest reads
//              those. kInputGrad: w logits -> dlogits, r logits fp32, w gradient of log-probabilities fp32 [N,V],
//              (w softmax fp32 [N,V]: TP cuts the vocabulary), (w dlogits fp32: the others are 16 bit)
// kGradNorm    kUpdate      r gradients: one operand per owned range, then w a sum of squares f64[1]
// kOptimizer   kUpdate      a parameters, r gradients, a first moment, a second moment, (a master: 16-bit parameters),
//                           r sum of squares: AdamW; clips by the global norm when the Setup says so
// kCombine     kForward     w target, r part, r part, ...: what the steps of a collective compute on one rank: the parts
//                           in their order by the op's reduction (none: a copy of one part; avg: the sum divided by
//                           the ranks of the op's group). The target may be one of the parts. Any type of numbers
// kCombine     kUpdate      w target, r part of another type: gradients widened for their reduction, and back
// kOffload     kForward     r what leaves for the host's memory (never executed)
// kOffload     kInputGrad   w what comes back; kUpdate: the optimizer's states there and back
// Predicted only: what waits in FP8 (Setup::kept) is written as a copy, by the op that wrote the numbers or by the expert
// that took them, and read in their place; gates that meet what stands between an expert's products (ExpertGates) go with
// the rows and are read by kExpert, whose kInputGrad writes their gradients.
// clang-format on
// kRecompute is a kForward with the same operands, executed again in the backward.
// kStage stands for all pieces of an action at once (stage level; never executed).
#pragma once

#include <cstdint>
#include <string_view>

namespace parallelarium {

enum class Piece : std::uint8_t {
  kStage,
  kZeroGrad,
  kEmbedding,
  kNorm1,
  kQkv,
  kAttention,
  kProjection,
  kResidual1,
  kNorm2,
  kMlpIn,
  kActivation,
  kMlpOut,
  kResidual2,
  kRouter,
  kPermute,
  kExpert,
  kFinalNorm,
  kHead,
  kLossMax,
  kLossSum,
  kLoss,
  kGradNorm,
  kOptimizer,
  kTransfer,  // communication ops
  kCombine,
  kDispatch,   // tokens as rows, expert by expert
  kUnpermute,  // results weighed and added up by token
  kOffload,    // between the device's memory and its host's
};
inline constexpr int kPieces = static_cast<int>(Piece::kOffload) + 1;  // of the last one
std::string_view name_of(Piece piece);                                 // "norm1", "MLP in", ...

enum class Phase : std::uint8_t { kForward, kInputGrad, kWeightGrad, kRecompute, kUpdate };
std::string_view name_of(Phase phase);

// The tensors a rank holds. Persistent ones live for the whole step.
enum class Tensor : std::uint8_t {
  kParameters,    // all parameters of the rank, see ParameterSlice
  kGradients,     // the same layout
  kMaster,        // fp32 copies, where parameters are 16-bit
  kMoments,       // first moments, then second moments
  kTokens,        // i32 [microbatches, N], first stage
  kTargets,       // i32 [microbatches, N], last stage
  kLossSum,       // f64[1]
  kRouterRecord,  // f32 [layers with experts, microbatches, 3E+1]
  kRouterLoads,   // f32 [layers with experts, E]: choices of the step so far
  kRouterBias,    // f32 [layers with experts, E]
  kSquareSum,     // f64[1]
  kInput,         // the residual stream that enters a layer (layer = L: that leaves the last)
  kNorm1Out,
  kNorm1Stats,
  kQkvOut,
  kProbabilities,
  kContext,
  kProjectionOut,
  kMiddle,  // the residual stream between attention and MLP
  kNorm2Out,
  kNorm2Stats,
  kMlpInOut,
  kActivationOut,
  kMlpOutOut,
  kFinalNormOut,
  kFinalNormStats,
  kLogits,        // becomes its own gradient
  kLossLogits,    // their copy in fp32, from the loss's forward to its backward
  kLossStats,     // rowmax, sumexp, target logit: f32 [3,N]
  kGradLogits,    // of the logits where it does not take their place; parts: in fp32, see kLoss
  kGradResidual,  // gradient of the residual stream, updated in place through a stage's backward
  kGradBranch,    // gradient of a norm's output
  kGradDropped,   // gradient of a branch's output, before its dropout
  kGradContext,
  kGradQkv,
  kGradExpertTokens,  // parts as kExpertTokens
  kGradActivationOut,
  kGradMlpInOut,
  kScratch,
  kDropoutMasks,  // one byte each: of the probabilities and of both branches
  kDroppedProbabilities,
  kGathered,  // ZeRO-3: a bucket of parameters gathered for use
  // A bucket's gradients of one micro-batch before they are cut (ZeRO-2 and 3), or in the type that
  // they are reduced in.
  kBucketGradients,
  kPartialSum,        // sequence parallelism: what a reduce-scatter adds up, [N,C]
  kSequenceInput,     // sequence parallelism: a norm's output gathered over the TP group, [N,C]
  kSequenceGradient,  // the same of a gradient
  kTransferShare,     // scatter/gather: what comes from another stage, before it is gathered
  kKeysValues,        // context parallelism: keys and values of other ranks
  kGradKeysValues,
  kAttentionStats,  // fused attention: row maxima and sums of exponentials, f32 [2,B,H,T]
  kHeadsInput,      // Ulysses: QKV of the own heads and the whole sequence
  kHeadsContext,
  kRouterLogits,      // f32 [N,E]; part 1: their gradients
  kRouterGates,       // f32 [N,k]; part 1: their gradients
  kRoutes,            // i32; part 1: counts as they were received
  kExpertTokens,      // rows as sent and as received, inner products, activations, results
  kStageActivations,  // stage level: all that an action keeps for its backward
  kArray,             // the array of a collective; its chunks are in their places
  kResult,            // where an all-to-all puts what it receives
};
std::string_view name_of(Tensor tensor);

// The parameters of a model, by kind; `layer` tells which.
enum class Parameter : std::uint8_t {
  kTokenTable,
  kPositionTable,
  kNorm1Gain,
  kNorm1Bias,
  kQkvWeight,
  kQkvBias,
  kProjectionWeight,
  kProjectionBias,
  kNorm2Gain,
  kNorm2Bias,
  kMlpInWeight,
  kMlpInBias,
  kMlpOutWeight,
  kMlpOutBias,
  kRouterWeight,
  kExpertWeights,
  kFinalNormGain,
  kFinalNormBias,
  kHeadWeight,
};
std::string_view name_of(Parameter parameter);

}  // namespace parallelarium
