// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/residual.h"
#include "kernels/gpu.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

template <class T>
class Elementwise : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(Elementwise, Storages);

// Nothing, single elements, odd tails, more than one turn of the grid; aligned and not.
constexpr std::int64_t kCounts[] = {0, 1, 3, 8, 257, 5003};
constexpr std::size_t kShifts[] = {0, 1, 4};

TYPED_TEST(Elementwise, AddingEqualsTheCpuTwinToTheBit) {
  for (const std::int64_t count : kCounts)
    for (const std::size_t shift : kShifts) {
      const auto a = stored<TypeParam>(random(count));
      const auto b = stored<TypeParam>(random(count));
      auto expected = a;
      accumulate_cpu(expected.data(), b.data(), expected.size());
      DeviceArray<TypeParam> sum(a, shift);
      DeviceArray<TypeParam> part(b, shift);
      DeviceArray<TypeParam> out(a, shift);
      ASSERT_EQ(residual_add<TypeParam>(out.data(), sum.data(), part.data(), a.size(), nullptr),
                cudaSuccess);
      ASSERT_EQ(accumulate<TypeParam>(sum.data(), part.data(), a.size(), nullptr), cudaSuccess);
      EXPECT_EQ(sum.floats(), widened(expected));
      EXPECT_EQ(out.floats(), widened(expected));
    }
}

TYPED_TEST(Elementwise, FillingEqualsTheCpuTwinToTheBit) {
  DeviceArray<TypeParam> values(stored<TypeParam>(random(1001)), 1);
  ASSERT_EQ(fill<TypeParam>(values.data(), 0.3F, 1001, nullptr), cudaSuccess);
  EXPECT_EQ(values.floats(), widened(stored<TypeParam>(filled(1001, 0.3F))));
}

// More rows than one turn of the grid; what lies between the rows stays.
TYPED_TEST(Elementwise, FillingRowsLeavesWhatIsBesideThem) {
  struct Case {
    std::int64_t rows, width, stride;
  };
  for (const auto& [rows, width, stride] :
       {Case{0, 3, 5}, Case{3, 0, 5}, Case{1, 1, 1}, Case{7, 5, 9}, Case{3, 300, 301},
        Case{70'000, 2, 3}, Case{8'200, 130, 131}}) {
    const Floats before = random_stored<TypeParam>(rows * stride);
    Floats expected = before;
    for (std::int64_t row = 0; row < rows; ++row)
      std::fill_n(expected.begin() + row * stride, width, -1e30F);
    auto to = on_device<TypeParam>(before, 1);
    ASSERT_EQ(fill_rows<TypeParam>(to.data(), stride, -1e30F, rows, width, nullptr), cudaSuccess);
    EXPECT_EQ(to.floats(), widened(stored<TypeParam>(expected)));
  }
}

TYPED_TEST(Elementwise, AccumulateRowsLeavesWhatIsBetweenThem) {
  struct Case {
    std::int64_t rows, width, stride, part_stride;
    std::size_t shift;
  };
  for (const auto& [rows, width, stride, part_stride, shift] :
       {Case{0, 3, 5, 4, 0}, Case{3, 0, 5, 1, 0}, Case{1, 1, 1, 1, 1}, Case{7, 5, 9, 6, 0},
        Case{3, 64, 192, 128, 0}, Case{3, 64, 192, 128, 1}, Case{3, 300, 301, 304, 0},
        Case{70'000, 2, 3, 2, 0}, Case{8'200, 130, 131, 130, 0}}) {
    const Floats before = random_stored<TypeParam>(rows * stride);
    const Floats part = random_stored<TypeParam>(rows * part_stride);
    Floats expected = before;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < width; ++i)
        expected[static_cast<std::size_t>(row * stride + i)] +=
            part[static_cast<std::size_t>(row * part_stride + i)];
    auto sum = on_device<TypeParam>(before, shift), more = on_device<TypeParam>(part);
    ASSERT_EQ(accumulate_rows<TypeParam>(sum.data(), stride, more.data(), part_stride, rows, width,
                                         nullptr),
              cudaSuccess);
    EXPECT_EQ(sum.floats(), widened(stored<TypeParam>(expected)));
  }
}

TYPED_TEST(Elementwise, GeluAndItsGradientEqualTheCpuTwin) {
  for (const std::int64_t count : kCounts)
    for (const std::size_t shift : kShifts) {
      Floats wide = random(count);
      for (float& value : wide) value *= 6;  // where GELU is neither 0 nor the identity
      const Floats u = widened(stored<TypeParam>(wide));
      const Floats d = random_stored<TypeParam>(count);
      Floats g(u.size());
      Floats du(u.size());
      gelu_forward_cpu(g.data(), u.data(), u.size());
      gelu_backward_cpu(du.data(), d.data(), u.data(), u.size());
      auto u_ = on_device<TypeParam>(u, shift);
      auto d_ = on_device<TypeParam>(d, shift);
      auto g_ = on_device<TypeParam>(filled(count, 7), shift);
      auto du_ = on_device<TypeParam>(filled(count, 7), shift);
      ASSERT_EQ(gelu_forward<TypeParam>(g_.data(), u_.data(), u.size(), nullptr), cudaSuccess);
      ASSERT_EQ(gelu_backward<TypeParam>(du_.data(), d_.data(), u_.data(), u.size(), nullptr),
                cudaSuccess);
      EXPECT_LE(difference(g_.floats(), g), bound<TypeParam>(1));
      EXPECT_LE(difference(du_.floats(), du), bound<TypeParam>(1));
    }
}

TYPED_TEST(Elementwise, SwigluAndItsGradientEqualTheCpuTwin) {
  for (const std::int64_t N : {0, 1, 3, 37})
    for (const std::int64_t F : {1, 5, 8, 264, 768, 3080})
      for (const std::size_t shift : kShifts) {
        const Floats u = random_stored<TypeParam>(N * 2 * F);
        const Floats d = random_stored<TypeParam>(N * F);
        Floats g(d.size());
        Floats du(u.size());
        swiglu_forward_cpu(g.data(), u.data(), u.data() + F, N, F, 2 * F);
        swiglu_backward_cpu(du.data(), d.data(), u.data(), u.data() + F, N, F, 2 * F);
        auto u_ = on_device<TypeParam>(u, shift);
        auto d_ = on_device<TypeParam>(d, shift);
        auto g_ = on_device<TypeParam>(filled(N * F, 7), shift);
        auto du_ = on_device<TypeParam>(filled(N * 2 * F, 7), shift);
        ASSERT_EQ(
            swiglu_forward<TypeParam>(g_.data(), u_.data(), u_.data() + F, N, F, 2 * F, nullptr),
            cudaSuccess);
        ASSERT_EQ(swiglu_backward<TypeParam>(du_.data(), d_.data(), u_.data(), u_.data() + F, N, F,
                                             2 * F, nullptr),
                  cudaSuccess);
        EXPECT_LE(difference(g_.floats(), g), bound<TypeParam>(1));
        EXPECT_LE(difference(du_.floats(), du), bound<TypeParam>(1));
      }
}

TYPED_TEST(Elementwise, ABranchAndItsBiasJoinTheStream) {
  for (const std::int64_t N : {0, 1, 3, 37})
    for (const std::int64_t C : {1, 7, 64, 768, 1600, 2056, 5120}) {
      const Floats stream = random_stored<TypeParam>(N * C);
      const Floats branch = random_stored<TypeParam>(N * C);
      const Floats none = filled(N * C, 0);
      const Floats bias = random_stored<TypeParam>(C);
      Floats expected(stream.size());
      residual_bias_add_cpu(expected.data(), stream.data(), branch.data(), bias.data(), N, C);
      auto stream_ = on_device<TypeParam>(stream);
      auto branch_ = on_device<TypeParam>(branch);
      auto bias_ = on_device<TypeParam>(bias);
      ASSERT_EQ(residual_bias_add<TypeParam>(stream_.data(), stream_.data(), branch_.data(),
                                             bias_.data(), N, C, nullptr),
                cudaSuccess);
      EXPECT_EQ(stream_.floats(), widened(stored<TypeParam>(expected)));
      residual_bias_add_cpu(expected.data(), branch.data(), none.data(), bias.data(), N, C);
      ASSERT_EQ(residual_bias_add<TypeParam>(branch_.data(), branch_.data(), nullptr, bias_.data(),
                                             N, C, nullptr),
                cudaSuccess);
      EXPECT_EQ(branch_.floats(), widened(stored<TypeParam>(expected)));
    }
}

class OtherTypes : public OnGpu<testing::Test> {};

TEST_F(OtherTypes, CastsRoundToTheNearestBothWays) {
  for (const std::size_t shift : kShifts) {
    const Floats values = random(1003);
    DeviceArray<float> from(values, shift);
    DeviceArray<Bf16> narrow(std::vector<Bf16>(1003), shift);
    DeviceArray<float> back(filled(1003, 7), shift);
    ASSERT_EQ((cast<Bf16, float>(narrow.data(), from.data(), 1003, nullptr)), cudaSuccess);
    ASSERT_EQ((cast<float, Bf16>(back.data(), narrow.data(), 1003, nullptr)), cudaSuccess);
    EXPECT_EQ(back.host(), widened(stored<Bf16>(values)));
  }
}

// Ties, the largest numbers, subnormal ones and infinities, in packs and in what is left over.
TEST_F(OtherTypes, CastsOfSpecialNumbersAreThoseOfTheCpu) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Floats values;
  for (const float sign : {1.0F, -1.0F})
    for (const float value :
         {0.0F, 1.0F, 0x1.01p0F, 0x1.03p0F, 0x1.010002p0F, 0x1.fep127F, 0x1.fefffep127F,
          0x1.ffp127F, 0x1.fffffep127F, 0x1p-126F, 0x1p-133F, 0x1.8p-134F, 0x1p-149F, kInfinity})
      values.push_back(sign * value);
  const std::size_t count = values.size();
  values.insert(values.end(), 9, std::numeric_limits<float>::quiet_NaN());
  DeviceArray<float> from(values);
  DeviceArray<Bf16> narrow{std::vector<Bf16>(values.size())};
  ASSERT_EQ((cast<Bf16, float>(narrow.data(), from.data(), values.size(), nullptr)), cudaSuccess);
  const Floats results = narrow.floats();
  const Floats expected = widened(stored<Bf16>(values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i < count)
      EXPECT_EQ(results[i], expected[i]) << values[i];
    else
      EXPECT_TRUE(std::isnan(results[i]));
  }
}

TEST_F(OtherTypes, DoublesAndIntegersAreAddedExactly) {
  const std::vector<double> numbers{1e300, 0.1, -3};
  const std::vector<std::int32_t> counts{1, 2'000'000'000, -7, 5, 9};
  DeviceArray<double> sum(numbers);
  DeviceArray<double> part(numbers);
  DeviceArray<std::int32_t> count(counts);
  DeviceArray<std::int32_t> ones(std::vector<std::int32_t>(5, 1));
  ASSERT_EQ(accumulate<double>(sum.data(), part.data(), 3, nullptr), cudaSuccess);
  ASSERT_EQ(accumulate<std::int32_t>(count.data(), ones.data(), 5, nullptr), cudaSuccess);
  EXPECT_EQ(sum.host(), (std::vector<double>{2e300, 0.2, -6}));
  EXPECT_EQ(count.host(), (std::vector<std::int32_t>{2, 2'000'000'001, -6, 6, 10}));
}

}  // namespace
}  // namespace parallelarium
