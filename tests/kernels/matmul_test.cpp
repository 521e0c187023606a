// SPDX-License-Identifier: Apache-2.0
#include "kernels/products/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "kernels/products/matmul_layout.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using reference::Floats;

// Small integers: every partial sum is exact in float, so any order of adding gives the same bits.
Floats integers(std::int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(static_cast<int>(bits() % 17) - 8);
  return values;
}

using Sizes = std::tuple<int, int, int>;
class Matmul : public testing::TestWithParam<Sizes> {};

TEST_P(Matmul, IsExactOnIntegersForEveryTransposeAndLeadingDimension) {
  const auto [m, n, k] = GetParam();
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const int gap : {0, 3}) {
        const int lda = (ta ? m : k) + gap;
        const int ldb = (tb ? k : n) + gap;
        const int ldc = n + gap;
        const Floats a = integers(std::int64_t{lda} * (ta ? k : m), 1);
        const Floats b = integers(std::int64_t{ldb} * (tb ? n : k), 2);
        const Floats before = integers(std::int64_t{ldc} * m, 3);
        Floats c = before;
        matmul_cpu(ta ? Transpose::kYes : Transpose::kNo, tb ? Transpose::kYes : Transpose::kNo, m,
                   n, k, 2.0F, a.data(), lda, b.data(), ldb, 1.0F, c.data(), ldc);
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < ldc; ++j) {
            float expected = before[static_cast<std::size_t>(i * ldc + j)];
            if (j < n)
              for (int p = 0; p < k; ++p)
                expected += 2 * a[static_cast<std::size_t>(ta ? p * lda + i : i * lda + p)] *
                            b[static_cast<std::size_t>(tb ? j * ldb + p : p * ldb + j)];
            ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)], expected)
                << ta << tb << " row " << i << " column " << j;
          }
      }
}

// Cut into parts that tensor cores take at once, a product gives the same.
TEST_P(Matmul, IsTheSumOfItsAlignedParts) {
  const auto [m, n, k] = GetParam();
  const auto times = [](Transpose ta, Transpose tb, const MatmulShape& s, const float* a,
                        const float* b, float beta, float* c) {
    matmul_cpu(ta, tb, s.m, s.n, s.k, 1.0F, a, s.lda, b, s.ldb, beta, c, s.ldc);
  };
  const auto next = [](std::int64_t edge) { return (edge + 7) / 8 * 8; };
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes})
      for (const float beta : {0.0F, 1.0F}) {
        const bool a_turned = ta == Transpose::kYes, b_turned = tb == Transpose::kYes;
        const MatmulShape whole{ta,     tb, m, n, k, next(a_turned ? m : k), next(b_turned ? k : n),
                                next(n)};
        const Floats a = integers(whole.lda * (a_turned ? k : m), 1);
        const Floats b = integers(whole.ldb * (b_turned ? n : k), 2);
        const Floats before = integers(whole.ldc * m, 3);
        Floats expected = before, c = before;
        times(ta, tb, whole, a.data(), b.data(), beta, expected.data());
        const std::vector<MatmulPart> parts = aligned_parts(whole, 8);
        for (const MatmulPart& part : parts)
          times(ta, tb, part.shape, a.data() + part.a, b.data() + part.b, part.adds ? 1.0F : beta,
                c.data() + part.c);
        const auto whole_vectors = [](std::int64_t edge) { return edge <= 8 || edge % 8 == 0; };
        const MatmulShape& most = parts.back().shape;
        EXPECT_TRUE(whole_vectors(most.n));
        EXPECT_TRUE(whole_vectors(most.k) || (a_turned && !b_turned));
        EXPECT_TRUE(whole_vectors(most.m) || !a_turned);
        EXPECT_EQ(c, expected) << a_turned << b_turned << beta;
      }
}

TEST(AlignedParts, LeaveWholeWhatGainsNothing) {
  const MatmulShape even{Transpose::kNo, Transpose::kYes, 33, 64, 24, 24, 24, 64};
  EXPECT_EQ(aligned_parts(even, 8).size(), 1U);
  MatmulShape odd{Transpose::kNo, Transpose::kYes, 33, 65, 24, 24, 24, 72};
  EXPECT_EQ(aligned_parts(odd, 8).size(), 2U);
  odd.ldc = 65;  // its rows begin anywhere
  EXPECT_EQ(aligned_parts(odd, 8).size(), 1U);
  odd.ldc = 72;
  odd.batches = 2;
  EXPECT_EQ(aligned_parts(odd, 8).size(), 1U);
}

TEST_P(Matmul, OfBf16IsExactOnIntegersForEveryTransposeAndLeadingDimension) {
  if (!matmul_takes_bf16()) GTEST_SKIP() << "this processor or library does not multiply bf16";
  const auto [m, n, k] = GetParam();
  const auto narrowed = [](const Floats& values) {
    std::vector<Bf16> narrow(values.size());
    std::transform(values.begin(), values.end(), narrow.begin(), round_to_bf16);
    return narrow;
  };
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const bool adds : {false, true})
        for (const int gap : {0, 3}) {
          const Transpose turn_a = ta ? Transpose::kYes : Transpose::kNo;
          const Transpose turn_b = tb ? Transpose::kYes : Transpose::kNo;
          const int lda = (ta ? m : k) + gap;
          const int ldb = (tb ? k : n) + gap;
          const int ldc = n + gap;
          const Floats a = integers(std::int64_t{lda} * (ta ? k : m), 1);
          const Floats b = integers(std::int64_t{ldb} * (tb ? n : k), 2);
          Floats c = integers(std::int64_t{ldc} * m, 3);
          Floats expected = c;
          matmul_cpu(turn_a, turn_b, m, n, k, 1.0F, a.data(), lda, b.data(), ldb,
                     adds ? 1.0F : 0.0F, expected.data(), ldc);
          if (!adds)  // what was there must not matter
            for (int i = 0; i < m; ++i)
              std::fill_n(c.data() + i * ldc, n, std::numeric_limits<float>::quiet_NaN());
          matmul_cpu(turn_a, turn_b, m, n, k, narrowed(a).data(), lda, narrowed(b).data(), ldb,
                     adds, c.data(), ldc);
          ASSERT_EQ(c, expected) << ta << tb << adds << gap;
        }
}

TEST_P(Matmul, OverwritesWhateverWasThereWhenBetaIsZero) {
  const auto [m, n, k] = GetParam();
  const Floats a = integers(std::int64_t{m} * k, 1);
  const Floats b = integers(std::int64_t{k} * n, 2);
  Floats c(static_cast<std::size_t>(m * n), std::numeric_limits<float>::quiet_NaN());
  matmul_cpu(Transpose::kNo, Transpose::kNo, m, n, k, 1.0F, a.data(), k, b.data(), n, 0.0F,
             c.data(), n);
  for (const float value : c) EXPECT_FALSE(std::isnan(value));
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, Matmul,
                         testing::Values(Sizes{1, 1, 1}, Sizes{1, 7, 3}, Sizes{2, 3, 1},
                                         Sizes{7, 1, 2}, Sizes{16, 16, 16}, Sizes{33, 17, 65},
                                         Sizes{128, 64, 64}, Sizes{5, 129, 131}));

#ifdef __linux__
int threads_of_this_process() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

TEST(MatmulThreads, EachCallerWorksAloneAndAllGetTheSameBits) {
  constexpr int kCallers = 4;
  constexpr std::int64_t kSize = 300;
  const Floats a = reference::random_floats(kSize * kSize, 1);
  const Floats b = reference::random_floats(kSize * kSize, 2);
  std::vector<Floats> results(kCallers, Floats(kSize * kSize));
  std::thread([] {}).join();  // sanitizers start a thread of theirs with the first
  const int before = threads_of_this_process();
  std::vector<int> seen(kCallers);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      for (int repeat = 0; repeat < 3; ++repeat)
        matmul_cpu(Transpose::kNo, Transpose::kYes, kSize, kSize, kSize, 1.0F, a.data(), kSize,
                   b.data(), kSize, 0.0F, results[caller].data(), kSize);
      seen[caller] = threads_of_this_process();
    });
  for (std::thread& caller : callers) caller.join();
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    EXPECT_LE(seen[caller], before + kCallers) << "the library started threads of its own";
    EXPECT_EQ(results[caller], results[0]);
  }
}
#endif

TEST(MatmulLibrary, SaysWhichOneItIs) { EXPECT_NE(std::string(matmul_library()), ""); }

}  // namespace
}  // namespace parallelarium
