// SPDX-License-Identifier: Apache-2.0
// Attention block by block, and experts, in bf16.
#include <gtest/gtest.h>

#include "kernels/block_attention/block_attention.h"
#include "kernels/experts/router.h"
#include "kernels/products/linear.h"
#include "tests/kernels/bf16_kernels.h"

namespace parallelarium {
namespace {

// Of a block, with keys and values of another rank or among the own columns. Each call rounds once.
TEST_F(Bf16Kernels, AttentionByBlocksIsTheFp32KernelsRounded) {
  const AttentionShape shape{2, 8, 4, 2, 6};
  const std::int64_t columns = 8 * 6, keys_at = 4 * 6;
  const AttentionDropout of{make_dropout(0.3, 9), 3, 1, 6, 16};
  const TokenRuns own{2, {0, 12}}, other{2, {4, 8}};
  const auto qkv = random(2 * 8 * columns), keys = random(2 * 8 * columns);
  const auto dcontext = random(2 * 8 * keys_at);
  const Floats qkv32 = widened(qkv), keys32 = widened(keys), dcontext32 = widened(dcontext);
  Floats row_max(2 * 4 * 8), row_sum = row_max, row_max32 = row_max, row_sum32 = row_max;
  Floats scratch(static_cast<std::size_t>(block_attention_scratch(shape)));
  std::vector<Bf16> context(dcontext.size());
  Floats context32(dcontext.size());
  for (const bool first : {true, false}) {
    const AttentionBlock block{shape, own, first ? own : other, columns, first, of};
    block_attention_forward_cpu(context.data(), row_max.data(), row_sum.data(), scratch.data(),
                                qkv.data(), (first ? qkv : keys).data() + keys_at, block);
    block_attention_forward_cpu(context32.data(), row_max32.data(), row_sum32.data(),
                                scratch.data(), qkv32.data(),
                                (first ? qkv32 : keys32).data() + keys_at, block);
    EXPECT_EQ(widened(context), rounded(context32));
    context32 = rounded(context32);
  }
  EXPECT_EQ(row_sum, row_sum32);
  block_attention_finish_cpu(context.data(), row_max.data(), row_sum.data(), shape);
  block_attention_finish_cpu(context32.data(), row_max32.data(), row_sum32.data(), shape);
  EXPECT_EQ(widened(context), rounded(context32));
  EXPECT_EQ(row_max, row_max32);

  context32 = rounded(context32);
  std::vector<Bf16> dqkv(qkv.size()), dkeys(qkv.size());
  Floats dqkv32(qkv.size()), dkeys32(qkv.size());
  for (const bool first : {true, false}) {
    const AttentionBlock block{shape, own, first ? own : other, columns, first, of};
    block_attention_backward_cpu(
        dqkv.data(), (first ? dqkv : dkeys).data() + keys_at, scratch.data(), dcontext.data(),
        qkv.data(), (first ? qkv : keys).data() + keys_at, context.data(), row_max.data(), block);
    block_attention_backward_cpu(dqkv32.data(), (first ? dqkv32 : dkeys32).data() + keys_at,
                                 scratch.data(), dcontext32.data(), qkv32.data(),
                                 (first ? qkv32 : keys32).data() + keys_at, context32.data(),
                                 row_max32.data(), block);
    EXPECT_EQ(widened(dqkv), rounded(dqkv32));
    EXPECT_EQ(widened(dkeys), rounded(dkeys32));
    dqkv32 = rounded(dqkv32);
  }
}

TEST_F(Bf16Kernels, RowsOfExpertsAreTheFp32KernelsRounded) {
  constexpr std::int64_t N = 7, E = 4, k = 2;
  RouterShape router;
  router.N = N, router.E = E, router.k = k, router.capacity = 3;
  const Floats logits = random_floats(N * E, 5);
  Floats gates(N * k), record(static_cast<std::size_t>(record_count(E)));
  std::vector<std::int32_t> routes(static_cast<std::size_t>(routes_count(N, k, E)));
  route_cpu(gates.data(), routes.data(), record.data(), logits.data(), nullptr, router);
  const auto y = random(N * kC), from = random(N * k * kC), shared = random(N * kC);
  const Floats y32 = widened(y), from32 = widened(from), shared32 = widened(shared);
  std::vector<Bf16> rows(from.size());
  Floats rows32(from.size());
  dispatch_rows_cpu(rows.data(), y.data(), routes.data(), N, k, kC);
  dispatch_rows_cpu(rows32.data(), y32.data(), routes.data(), N, k, kC);
  EXPECT_EQ(widened(rows), rows32);
  for (const bool adds : {true, false}) {
    std::vector<Bf16> dy = shared, out(y.size());
    Floats dy32 = shared32, out32(y.size());
    dispatch_rows_grad_cpu(dy.data(), from.data(), routes.data(), adds, N, k, kC);
    dispatch_rows_grad_cpu(dy32.data(), from32.data(), routes.data(), adds, N, k, kC);
    EXPECT_EQ(widened(dy), rounded(dy32));
    combine_rows_cpu(out.data(), from.data(), gates.data(), adds ? shared.data() : nullptr,
                     routes.data(), N, k, kC);
    combine_rows_cpu(out32.data(), from32.data(), gates.data(), adds ? shared32.data() : nullptr,
                     routes.data(), N, k, kC);
    EXPECT_EQ(widened(out), rounded(out32));
  }
  Floats dgates(gates.size()), dgates32(gates.size());
  combine_rows_grad_cpu(rows.data(), dgates.data(), y.data(), from.data(), gates.data(),
                        routes.data(), N, k, kC);
  combine_rows_grad_cpu(rows32.data(), dgates32.data(), y32.data(), from32.data(), gates.data(),
                        routes.data(), N, k, kC);
  EXPECT_EQ(widened(rows), rounded(rows32));
  EXPECT_LE(reference::relative_difference(dgates, reference::doubles(dgates32)),
            reference::kFloatBound);
}

// A router's logits stay fp32 beside bf16 tokens and weights.
TEST_F(Bf16Kernels, LogitsAreNotRounded) {
  constexpr std::int64_t N = 7, E = 4, C = 33;
  const auto x = random(N * C), w = random(E * C);
  const Floats x32 = widened(x), w32 = widened(w), dy = random_floats(N * E, 5);
  Floats y(N * E), y32(N * E), dx32(N * C), dw(E * C), dw32(E * C);
  std::vector<Bf16> dx(N * C);
  linear_forward_cpu(y.data(), x.data(), w.data(), nullptr, N, E, C);
  linear_forward_cpu(y32.data(), x32.data(), w32.data(), nullptr, N, E, C);
  EXPECT_LE(reference::relative_difference(y, reference::doubles(y32)), reference::kFloatBound);
  EXPECT_NE(y, rounded(y));
  linear_input_grad_cpu(dx.data(), dy.data(), w.data(), N, E, C);
  linear_input_grad_cpu(dx32.data(), dy.data(), w32.data(), N, E, C);
  EXPECT_EQ(widened(dx), rounded(dx32));
  linear_weight_grad_cpu<float>(dw.data(), nullptr, dy.data(), x.data(), N, E, C);
  linear_weight_grad_cpu(dw32.data(), nullptr, dy.data(), x32.data(), N, E, C);
  EXPECT_EQ(dw, dw32);
}

// Of rows that are apart, nothing behind the last one is written: other tensors begin there.
TEST_F(Bf16Kernels, NothingIsWrittenBehindTheLastRow) {
  constexpr std::int64_t N = 5, M = 3, C = 7, kPitch = 8;
  const auto x = random(N * C), w = random(M * C);
  std::vector<Bf16> y(N * kPitch, round_to_bf16(9.0F));
  std::vector<Bf16> packed(N * M);
  linear_forward_cpu(y.data(), x.data(), w.data(), nullptr, N, M, C, kPitch);
  linear_forward_cpu(packed.data(), x.data(), w.data(), nullptr, N, M, C);
  const Floats all = widened(y), rows = widened(packed);
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t m = 0; m < M; ++m)
      EXPECT_EQ(all[static_cast<std::size_t>(n * kPitch + m)],
                rows[static_cast<std::size_t>(n * M + m)]);
  for (std::size_t at = (N - 1) * kPitch + M; at < all.size(); ++at) EXPECT_EQ(all[at], 9.0F) << at;
}

}  // namespace
}  // namespace parallelarium
