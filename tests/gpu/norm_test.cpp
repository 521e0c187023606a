// SPDX-License-Identifier: Apache-2.0
#include "kernels/norms/norm.h"

#include "kernels/base/launch.h"
#include "kernels/gpu.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

template <class T>
class Norm : public OnGpu<testing::Test> {
 protected:
  // N, C: one channel, odd rows, whole packs, the largest row of a warp and one above, more columns
  // than threads, more rows than a part.
  static constexpr std::int64_t kSizes[][2] = {{1, 1},    {2, 3},    {3, 64},   {5, 51},
                                               {9, 1024}, {2, 1032}, {1, 2304}, {75, 72}};

  // Random rows whose neighbours differ by 2 at least: where all channels are nearly equal, the
  // variance is one of rounding errors, which 1/sqrt magnifies.
  static Floats rows(std::int64_t N, std::int64_t C) {
    Floats x = random(N * C);
    for (std::size_t at = 0; at < x.size(); ++at)
      x[at] += at % static_cast<std::size_t>(C) % 2 == 0 ? 2.0F : -2.0F;
    return widened(stored<T>(x));
  }
};
TYPED_TEST_SUITE(Norm, Storages);

TYPED_TEST(Norm, ForwardEqualsTheCpuTwin) {
  for (const auto [N, C] : this->kSizes)
    for (const bool layer : {true, false})
      for (const std::size_t shift : {0, 1}) {
        const Floats x = this->rows(N, C);
        const Floats gain = random_stored<TypeParam>(C);
        const Floats bias = random_stored<TypeParam>(C);
        Floats y(x.size());
        Floats stats(static_cast<std::size_t>(2 * N));
        if (layer)
          layer_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), bias.data(), N, C);
        else
          rms_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), N, C);
        auto x_ = on_device<TypeParam>(x, shift);
        auto gain_ = on_device<TypeParam>(gain);
        auto bias_ = on_device<TypeParam>(bias);
        auto y_ = on_device<TypeParam>(filled(N * C, 7));
        auto stats_ = on_device<float>(filled(2 * N, 7));
        ASSERT_EQ(layer ? layer_norm_forward<TypeParam>(y_.data(), stats_.data(), x_.data(),
                                                        gain_.data(), bias_.data(), N, C, nullptr)
                        : rms_norm_forward<TypeParam>(y_.data(), stats_.data(), x_.data(),
                                                      gain_.data(), N, C, nullptr),
                  cudaSuccess);
        EXPECT_LE(difference(y_.floats(), y), bound<TypeParam>(1)) << N << " x " << C;
        EXPECT_LE(difference(stats_.floats(), stats), bound<float>(0)) << N << " x " << C;
      }
}

TYPED_TEST(Norm, GradientsEqualTheCpuTwin) {
  for (const auto [N, C] : this->kSizes)
    for (const bool layer : {true, false})
      for (const bool add : {true, false}) {
        const Floats x = this->rows(N, C);
        const Floats dy = random_stored<TypeParam>(N * C);
        const Floats gain = random_stored<TypeParam>(C);
        Floats y(x.size());
        Floats stats(static_cast<std::size_t>(2 * N));
        if (layer)
          layer_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), nullptr, N, C);
        else
          rms_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), N, C);
        Floats dx = random_stored<TypeParam>(N * C);
        Floats dgain = random_stored<TypeParam>(C);
        Floats dbias = random_stored<TypeParam>(C);
        auto x_ = on_device<TypeParam>(x);
        auto dy_ = on_device<TypeParam>(dy);
        auto gain_ = on_device<TypeParam>(gain);
        auto stats_ = on_device<float>(stats);
        auto dx_ = on_device<TypeParam>(dx);
        auto dgain_ = on_device<TypeParam>(dgain);
        auto dbias_ = on_device<TypeParam>(dbias);
        auto main_gain = on_device<float>(dgain);
        auto space = workspace(
            column_sums_workspace(static_cast<std::size_t>(N), static_cast<std::size_t>(C)));
        if (layer)
          layer_norm_input_grad_cpu(dx.data(), dy.data(), x.data(), gain.data(), stats.data(), add,
                                    N, C);
        else
          rms_norm_input_grad_cpu(dx.data(), dy.data(), x.data(), gain.data(), stats.data(), add, N,
                                  C);
        norm_weight_grad_cpu(dgain.data(), dbias.data(), dy.data(), x.data(), stats.data(), N, C);
        ASSERT_EQ(
            layer
                ? layer_norm_input_grad<TypeParam>(dx_.data(), dy_.data(), x_.data(), gain_.data(),
                                                   stats_.data(), add, N, C, nullptr)
                : rms_norm_input_grad<TypeParam>(dx_.data(), dy_.data(), x_.data(), gain_.data(),
                                                 stats_.data(), add, N, C, nullptr),
            cudaSuccess);
        ASSERT_EQ((norm_weight_grad<TypeParam, TypeParam>(dgain_.data(), dbias_.data(), dy_.data(),
                                                          x_.data(), stats_.data(), space.data(), N,
                                                          C, nullptr)),
                  cudaSuccess);
        ASSERT_EQ(
            (norm_weight_grad<float, TypeParam>(main_gain.data(), nullptr, dy_.data(), x_.data(),
                                                stats_.data(), space.data(), N, C, nullptr)),
            cudaSuccess);
        if (C > 3) {  // below, the gradient is a difference of nearly equal numbers
          EXPECT_LE(difference(dx_.floats(), dx), bound<TypeParam>(1)) << N << " x " << C;
        }
        EXPECT_LE(difference(dgain_.floats(), dgain), bound<TypeParam>(1));
        EXPECT_LE(difference(dbias_.floats(), dbias), bound<TypeParam>(1));
        EXPECT_LE(difference(main_gain.floats(), dgain), bound<float>(0));
      }
}

TYPED_TEST(Norm, ColumnSumsAreTheSameBitsEachTime) {
  constexpr std::int64_t N = 333;
  constexpr std::int64_t C = 40;
  const Floats rows = random_stored<TypeParam>(N * C);
  auto rows_ = on_device<TypeParam>(rows);
  auto space = workspace(column_sums_workspace(N, C));
  Floats kept;
  for (int turn = 0; turn < 3; ++turn) {
    auto sums = on_device<float>(filled(C, 1));
    ASSERT_EQ(
        (column_sums<float, TypeParam>(sums.data(), rows_.data(), space.data(), N, C, nullptr)),
        cudaSuccess);
    if (turn == 0) kept = sums.floats();
    EXPECT_EQ(sums.floats(), kept);
  }
  Floats expected = filled(C, 1);
  for (std::size_t at = 0; at < rows.size(); ++at) expected[at % C] += rows[at];
  EXPECT_LE(difference(kept, expected), bound<float>(0));
}

}  // namespace
}  // namespace parallelarium
