// SPDX-License-Identifier: Apache-2.0
// Attention cut over ranks, block by block, is attention.
#include "kernels/block_attention/block_attention.h"

#include <gtest/gtest.h>

#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using namespace reference;

struct Case {
  AttentionShape shape;  // T of a whole sequence
  int ranks;
  bool zigzag;
  double dropout = 0;
};
class BlockAttention : public testing::TestWithParam<Case> {};

TokenRuns runs_of(const Case& c, int rank) {
  const std::int64_t T = c.shape.T, n = c.ranks;
  if (!c.zigzag) return {1, {rank * T / n, 0}};
  return {2, {rank * T / (2 * n), (2 * n - 1 - rank) * T / (2 * n)}};
}

// Row in the whole array of token t of sequence b on a rank.
std::int64_t whole_row(const Case& c, const TokenRuns& runs, std::int64_t b, std::int64_t t) {
  const std::int64_t run = c.shape.T / c.ranks / runs.runs;
  return b * c.shape.T + runs.begin[t / run] + t % run;
}

// A rank's rows of `whole`, or back (adding).
void copy_rows(const Case& c, int rank, std::int64_t width, Floats& whole, Floats& part,
               bool back) {
  const TokenRuns runs = runs_of(c, rank);
  const std::int64_t T = c.shape.T / c.ranks;
  part.resize(static_cast<std::size_t>(c.shape.B * T * width));
  for (std::int64_t b = 0; b < c.shape.B; ++b)
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t i = 0; i < width; ++i) {
        float& there = whole[static_cast<std::size_t>(whole_row(c, runs, b, t) * width + i)];
        float& here = part[static_cast<std::size_t>((b * T + t) * width + i)];
        back ? there += here : here = there;
      }
}

TEST_P(BlockAttention, IsAttention) {
  const Case& c = GetParam();
  const auto [B, T, H, K, D] = c.shape;
  const std::int64_t A = (H + 2 * K) * D, n = c.ranks;
  Floats qkv = random_floats(B * T * A, 1), dcontext = random_floats(B * T * H * D, 2);
  Floats expected(dcontext.size()), expected_grad(qkv.size());
  Floats probabilities(static_cast<std::size_t>(B * H * T * T));
  Floats square(static_cast<std::size_t>(T * T));
  // Numbered behind another sample and two heads.
  const AttentionDropout numbers{make_dropout(c.dropout, 11), 1, 2, H + 3, T};
  Floats dropped(probabilities.size());
  std::vector<std::uint8_t> mask(probabilities.size());
  const DroppedProbabilities<float> dropout{mask.data(), dropped.data(), numbers};
  attention_forward_cpu(expected.data(), probabilities.data(), qkv.data(), c.shape, dropout);
  attention_backward_cpu(expected_grad.data(), square.data(), dcontext.data(), qkv.data(),
                         probabilities.data(), c.shape, dropout);

  AttentionShape shape = c.shape;
  shape.T = T / n;
  Floats context(expected.size()), grad(qkv.size());
  Floats scratch(static_cast<std::size_t>(block_attention_scratch(shape)), 7.0F);
  for (int rank = 0; rank < n; ++rank) {
    Floats own, dout;
    copy_rows(c, rank, A, qkv, own, false);
    copy_rows(c, rank, H * D, dcontext, dout, false);
    Floats out(dout.size(), 7.0F), dqkv(own.size(), 7.0F);
    Floats row_max(static_cast<std::size_t>(B * H * shape.T), 7.0F), row_sum = row_max;
    const auto each_block = [&](const auto& visit) {
      for (int step = 0; step < n; ++step) {
        const int from = (rank - step + c.ranks) % c.ranks;
        visit(from,
              AttentionBlock{shape, runs_of(c, rank), runs_of(c, from), A, step == 0, numbers});
      }
    };
    each_block([&](int from, const AttentionBlock& block) {
      Floats other;
      copy_rows(c, from, A, qkv, other, false);
      block_attention_forward_cpu(out.data(), row_max.data(), row_sum.data(), scratch.data(),
                                  own.data(), other.data() + H * D, block);
    });
    block_attention_finish_cpu(out.data(), row_max.data(), row_sum.data(), shape);
    copy_rows(c, rank, H * D, context, out, true);
    each_block([&](int from, const AttentionBlock& block) {
      Floats other, dother(own.size(), 0.0F);
      copy_rows(c, from, A, qkv, other, false);
      block_attention_backward_cpu(dqkv.data(), dother.data() + H * D, scratch.data(), dout.data(),
                                   own.data(), other.data() + H * D, out.data(), row_max.data(),
                                   block);
      copy_rows(c, from, A, grad, dother, true);
    });
    for (std::size_t at = 0; at < dqkv.size(); ++at) {
      if (static_cast<std::int64_t>(at) % A >= H * D) dqkv[at] = 0;  // keys and values: above
    }
    copy_rows(c, rank, A, grad, dqkv, true);
  }
  EXPECT_LE(relative_difference(context, reference::doubles(expected)), kFloatBound);
  EXPECT_LE(relative_difference(grad, reference::doubles(expected_grad)), kFloatBound);
}

INSTANTIATE_TEST_SUITE_P(
    AwkwardSizes, BlockAttention,
    testing::Values(Case{{1, 1, 1, 1, 1}, 1, false}, Case{{2, 7, 4, 2, 3}, 1, false},
                    Case{{2, 6, 2, 2, 4}, 3, false}, Case{{2, 8, 4, 2, 3}, 2, true},
                    Case{{1, 12, 3, 1, 2}, 3, true}, Case{{1, 16, 2, 2, 4}, 4, true},
                    Case{{1, 600, 2, 1, 8}, 2, true}, Case{{1, 6, 2, 1, 2}, 1, true},
                    Case{{2, 7, 4, 2, 3}, 1, false, 0.2}, Case{{2, 8, 4, 2, 3}, 2, true, 0.5},
                    Case{{1, 16, 2, 2, 4}, 4, true, 0.1}, Case{{1, 600, 2, 1, 8}, 2, true, 0.1}));

}  // namespace
}  // namespace parallelarium
