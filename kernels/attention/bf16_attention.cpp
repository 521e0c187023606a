// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/fused_attention.h"
#include "kernels/base/size.h"
#include "kernels/base/widened.h"
#include "kernels/bf16_kernels.h"

namespace parallelarium {
namespace {

std::size_t qkv_count(const AttentionShape& s) { return size(s.B * s.T * (s.H + 2 * s.K) * s.D); }
std::size_t context_count(const AttentionShape& s) { return size(s.B * s.T * s.H * s.D); }

// Sequence b of a batch alone, so that only one sequence is widened at a time.
AttentionShape one_sequence(AttentionShape shape) {
  shape.B = 1;
  return shape;
}

std::size_t score_count(const AttentionShape& s) { return size(s.B * s.H * s.T * s.T); }

// Of sequence b alone, with fp32 memory for its dropped probabilities.
DroppedProbabilities<float> of_sequence(const DroppedProbabilities<Bf16>& all, std::size_t b,
                                        std::size_t scores, float* dropped) {
  if (all.mask == nullptr) return {};
  DroppedProbabilities<float> one{all.mask + b * scores, dropped, all.of};
  one.of.sample += static_cast<std::int64_t>(b);
  return one;
}

}  // namespace

void attention_forward_cpu(Bf16* context, Bf16* probabilities, const Bf16* qkv,
                           const AttentionShape& shape, const DroppedProbabilities<Bf16>& dropout) {
  const AttentionShape one = one_sequence(shape);
  const std::size_t scores = score_count(one);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(context_count(one)), p(scores), dropped(dropout.mask == nullptr ? 0 : scores);
    attention_forward_cpu(out.data(), p.data(),
                          Widened(qkv + b * qkv_count(one), qkv_count(one)).data(), one,
                          of_sequence(dropout, b, scores, dropped.data()));
    out.round_into(context + b * context_count(one));
    p.round_into(probabilities + b * scores);
    if (dropout.mask != nullptr) dropped.round_into(dropout.dropped + b * scores);
  }
}
void attention_backward_cpu(Bf16* dqkv, float* scratch, const Bf16* dcontext, const Bf16* qkv,
                            const Bf16* probabilities, const AttentionShape& shape,
                            const DroppedProbabilities<Bf16>& dropout) {
  const AttentionShape one = one_sequence(shape);
  const std::size_t scores = score_count(one);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    const Bf16* stored = dropout.mask == nullptr ? nullptr : dropout.dropped + b * scores;
    Widened out(qkv_count(one)), dropped(stored, scores);
    attention_backward_cpu(out.data(), scratch,
                           Widened(dcontext + b * context_count(one), context_count(one)).data(),
                           Widened(qkv + b * qkv_count(one), qkv_count(one)).data(),
                           Widened(probabilities + b * scores, scores).data(), one,
                           of_sequence(dropout, b, scores, dropped.data()));
    out.round_into(dqkv + b * qkv_count(one));
  }
}
void fused_attention_forward_cpu(Bf16* context, float* lse, float* scratch, const Bf16* qkv,
                                 const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(context_count(one));
    fused_attention_forward_cpu(out.data(), lse + b * size(shape.H * shape.T), scratch,
                                Widened(qkv + b * qkv_count(one), qkv_count(one)).data(), one);
    out.round_into(context + b * context_count(one));
  }
}
void fused_attention_backward_cpu(Bf16* dqkv, float* scratch, const Bf16* dcontext, const Bf16* qkv,
                                  const Bf16* context, const float* lse,
                                  const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(qkv_count(one));
    fused_attention_backward_cpu(
        out.data(), scratch, Widened(dcontext + b * context_count(one), context_count(one)).data(),
        Widened(qkv + b * qkv_count(one), qkv_count(one)).data(),
        Widened(context + b * context_count(one), context_count(one)).data(),
        lse + b * size(shape.H * shape.T), one);
    out.round_into(dqkv + b * qkv_count(one));
  }
}

namespace {

// Sequence b of a block, and where its keys and values stand; those of the rank itself may be
// columns of qkv.
struct SequenceOfBlock {
  SequenceOfBlock(const AttentionBlock& whole, std::size_t b) : block(whole) {
    block.shape.B = 1;
    block.dropout.sample += static_cast<std::int64_t>(b);
    const AttentionShape& s = block.shape;
    keys_values_at = b * size(s.T * block.stride);
    keys_values_count = size((s.T - 1) * block.stride + 2 * s.K * s.D);
    qkv_at = b * qkv_count(s);
    context_at = b * context_count(s);
    row = b * size(s.H * s.T);
  }
  AttentionBlock block;
  std::size_t keys_values_at, keys_values_count, qkv_at, context_at, row;
};

}  // namespace

void block_attention_forward_cpu(Bf16* context, float* row_max, float* row_sum, float* scratch,
                                 const Bf16* qkv, const Bf16* keys_values,
                                 const AttentionBlock& block) {
  for (std::size_t b = 0; b < size(block.shape.B); ++b) {
    const SequenceOfBlock one(block, b);
    Widened out(context + one.context_at, context_count(one.block.shape));
    block_attention_forward_cpu(
        out.data(), row_max + one.row, row_sum + one.row, scratch,
        Widened(qkv + one.qkv_at, qkv_count(one.block.shape)).data(),
        Widened(keys_values + one.keys_values_at, one.keys_values_count).data(), one.block);
    out.round_into(context + one.context_at);
  }
}
void block_attention_finish_cpu(Bf16* context, float* row_max, const float* row_sum,
                                const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    const std::size_t row = b * size(shape.H * shape.T);
    Widened out(context + b * context_count(one), context_count(one));
    block_attention_finish_cpu(out.data(), row_max + row, row_sum + row, one);
    out.round_into(context + b * context_count(one));
  }
}
void block_attention_backward_cpu(Bf16* dqkv, Bf16* dkeys_values, float* scratch,
                                  const Bf16* dcontext, const Bf16* qkv, const Bf16* keys_values,
                                  const Bf16* context, const float* lse,
                                  const AttentionBlock& block) {
  const std::size_t queries = size(block.shape.H * block.shape.D);
  const bool inside = dkeys_values == dqkv + queries;
  for (std::size_t b = 0; b < size(block.shape.B); ++b) {
    const SequenceOfBlock one(block, b);
    const std::size_t out_count = context_count(one.block.shape);
    Widened dqkv32(dqkv + one.qkv_at, qkv_count(one.block.shape));
    Widened dkv32(inside ? nullptr : dkeys_values + one.keys_values_at, one.keys_values_count);
    block_attention_backward_cpu(
        dqkv32.data(), inside ? dqkv32.data() + queries : dkv32.data(), scratch,
        Widened(dcontext + one.context_at, out_count).data(),
        Widened(qkv + one.qkv_at, qkv_count(one.block.shape)).data(),
        Widened(keys_values + one.keys_values_at, one.keys_values_count).data(),
        Widened(context + one.context_at, out_count).data(), lse + one.row, one.block);
    dqkv32.round_into(dqkv + one.qkv_at);
    if (!inside) dkv32.round_into(dkeys_values + one.keys_values_at);
  }
}
void rotary_cpu(Bf16* qkv, Turn turn, const AttentionShape& shape, std::int64_t first) {
  Widened values(qkv, qkv_count(shape));
  rotary_cpu(values.data(), turn, shape, first);
  values.round_into(qkv);
}

}  // namespace parallelarium
