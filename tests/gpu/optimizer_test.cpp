// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/base/launch.h"
#include "kernels/gpu.h"
#include "kernels/optimizer/adamw.h"
#include "kernels/optimizer/sum_of_squares.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

template <class T>
class Optimizer : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(Optimizer, Storages);

TYPED_TEST(Optimizer, SumOfSquaresAddsAndRepeatsItsBits) {
  for (const std::int64_t count : {0, 1, 9, 5003, 70001}) {
    const Floats values = random_stored<TypeParam>(count);
    double expected = 0.75;
    sum_of_squares_cpu(&expected, values.data(), values.size());
    auto space = workspace(sum_of_squares_workspace());
    double kept = 0;
    for (const std::size_t shift : {0, 0, 1}) {
      auto values_ = on_device<TypeParam>(values, shift);
      DeviceArray<double> sum(std::vector<double>{0.75});
      ASSERT_EQ(sum_of_squares<TypeParam>(sum.data(), values_.data(), space.data(), one_run(count),
                                          nullptr),
                cudaSuccess);
      EXPECT_NEAR(sum.host()[0], expected, 1e-13 * expected);
      if (shift == 0 && kept != 0) {
        EXPECT_EQ(sum.host()[0], kept);
      }
      if (shift == 0) kept = sum.host()[0];
    }
  }
}

// Stretches shorter and longer than a pack, a warp and a block, that begin anywhere; the last one
// is not full.
Runs awkward_runs() {
  Runs runs;
  bool mark = false;
  for (const std::int64_t length : {1, 2, 3, 4, 5, 1, 7, 16, 31, 128, 1025, 1, 1, 1, 2048, 3, 4096})
    runs.add(length, mark = !mark);
  while (runs.takes(!mark)) runs.add(1 + runs.count % 9, mark = !mark);
  return runs;
}

// What does not count is not even read where it is a whole pack: here it is no number.
TYPED_TEST(Optimizer, SumOfSquaresLeavesOutWhatDoesNotCount) {
  for (const Runs& runs : {awkward_runs(), one_run(77, false), one_run(0)})
    for (const std::size_t shift : {0, 1}) {
      Floats values = random_stored<TypeParam>(runs.length());
      double expected = 0.75;
      runs.for_each([&](std::int64_t begin, std::int64_t length, bool counts) {
        float* const from = values.data() + begin;
        if (counts)
          sum_of_squares_cpu(&expected, from, static_cast<std::size_t>(length));
        else
          std::fill_n(from, length, std::numeric_limits<float>::quiet_NaN());
      });
      auto space = workspace(sum_of_squares_workspace());
      auto values_ = on_device<TypeParam>(values, shift);
      DeviceArray<double> sum(std::vector<double>{0.75});
      ASSERT_EQ(sum_of_squares<TypeParam>(sum.data(), values_.data(), space.data(), runs, nullptr),
                cudaSuccess);
      EXPECT_NEAR(sum.host()[0], expected, 1e-13 * expected);
    }
}

// Three steps; parameters in fp32, or in bf16 with an fp32 master.
template <class P, class G, class M>
void follow_the_cpu(float clip) {
  for (const std::int64_t count : {1, 7, 4099})
    for (const std::size_t shift : {0, 3}) {
      const auto elements = static_cast<std::size_t>(count);
      const Floats start = random(count);
      Floats master = start;
      std::vector<M> m(elements), v(elements);
      DeviceArray<P> parameters(stored<P>(start), shift);
      DeviceArray<float> master_(start, shift);
      DeviceArray<M> m_(m, shift);
      DeviceArray<M> v_(v, shift);
      AdamW settings;
      for (settings.step = 1; settings.step <= 3; ++settings.step) {
        const auto gradients = stored<G>(random(count));
        DeviceArray<G> gradients_(gradients, shift);
        const double squares = 37.5;
        DeviceArray<double> squares_(std::vector<double>{squares});
        std::vector<Bf16> rounded(elements);
        if constexpr (std::is_same_v<P, float>)
          adamw_cpu(master.data(), gradients.data(), m.data(), v.data(), &squares, clip, settings,
                    elements);
        else
          adamw_cpu(rounded.data(), master.data(), gradients.data(), m.data(), v.data(), &squares,
                    clip, settings, elements);
        ASSERT_EQ(
            (adamw<P, G, M>(parameters.data(), std::is_same_v<P, float> ? nullptr : master_.data(),
                            gradients_.data(), m_.data(), v_.data(), squares_.data(), clip,
                            settings, one_run(count), nullptr)),
            cudaSuccess);
      }
      // A moment rounded to bf16 may fall on the other side of a tie: one rounding of an update,
      // which is a thousandth of a parameter.
      const double moments = std::is_same_v<M, Bf16> ? 4 * kBf16Rounding * 1e-3 : 0;
      EXPECT_LE(difference(parameters.floats(), master), bound<P>(1) + moments);
      if constexpr (!std::is_same_v<P, float>) {
        EXPECT_LE(difference(master_.floats(), master), bound<float>(0) + moments);
      }
      EXPECT_LE(difference(m_.floats(), widened(m)), bound<M>(2));
      EXPECT_LE(difference(v_.floats(), widened(v)), bound<M>(2));
    }
}

// All runs in one launch give the bits of a launch for each, and what lies behind them stays.
template <class P, class G, class M>
void runs_are_launches() {
  const Runs runs = awkward_runs();
  constexpr std::size_t kBehind = 5;
  const std::int64_t count = runs.length() + static_cast<std::int64_t>(kBehind);
  for (const std::size_t shift : {0, 4, 1}) {
    const Floats start = random(count);
    const std::vector<M> none(static_cast<std::size_t>(count));
    DeviceArray<G> gradients(stored<G>(random(count)), shift);
    DeviceArray<double> squares(std::vector<double>{37.5});
    struct State {
      DeviceArray<P> parameters;
      DeviceArray<float> master;
      DeviceArray<M> m, v;
    };
    State once{DeviceArray<P>(stored<P>(start), shift), DeviceArray<float>(start, shift),
               DeviceArray<M>(none, shift), DeviceArray<M>(none, shift)};
    State each{DeviceArray<P>(stored<P>(start), shift), DeviceArray<float>(start, shift),
               DeviceArray<M>(none, shift), DeviceArray<M>(none, shift)};
    AdamW settings;
    const auto update = [&](State& state, std::int64_t at, const Runs& of) {
      float* const master = std::is_same_v<P, float> ? nullptr : state.master.data() + at;
      return adamw<P, G, M>(state.parameters.data() + at, master, gradients.data() + at,
                            state.m.data() + at, state.v.data() + at, squares.data(), 0.5F,
                            settings, of, nullptr);
    };
    for (settings.step = 1; settings.step <= 2; ++settings.step) {
      ASSERT_EQ(update(once, 0, runs), cudaSuccess);
      runs.for_each([&](std::int64_t begin, std::int64_t length, bool decays) {
        ASSERT_EQ(update(each, begin, one_run(length, decays)), cudaSuccess);
      });
    }
    EXPECT_EQ(once.parameters.floats(), each.parameters.floats());
    EXPECT_EQ(once.master.floats(), each.master.floats());
    EXPECT_EQ(once.m.floats(), each.m.floats());
    EXPECT_EQ(once.v.floats(), each.v.floats());
    const Floats now = once.master.floats();
    EXPECT_TRUE(std::equal(now.end() - kBehind, now.end(), start.end() - kBehind));
  }
}
TYPED_TEST(Optimizer, UpdatesRunsInOneLaunchAsInMany) {
  if constexpr (std::is_same_v<TypeParam, float>) {
    runs_are_launches<float, float, float>();
  } else {
    runs_are_launches<Bf16, Bf16, float>();
    runs_are_launches<Bf16, float, Bf16>();
  }
}

class AdamWTwin : public OnGpu<testing::TestWithParam<float>> {};
TEST_P(AdamWTwin, FollowsTheCpuInFp32) { follow_the_cpu<float, float, float>(GetParam()); }
TEST_P(AdamWTwin, FollowsTheCpuWithAMaster) { follow_the_cpu<Bf16, Bf16, float>(GetParam()); }
TEST_P(AdamWTwin, FollowsTheCpuWithMainGradients) {
  follow_the_cpu<Bf16, float, float>(GetParam());
}
TEST_P(AdamWTwin, FollowsTheCpuWithBf16Moments) {
  follow_the_cpu<Bf16, Bf16, Bf16>(GetParam());
  follow_the_cpu<Bf16, float, Bf16>(GetParam());
}
// Off; above the norm 6.1, where it does nothing; below it.
INSTANTIATE_TEST_SUITE_P(Clips, AdamWTwin, testing::Values(0.0F, 10.0F, 0.5F));

}  // namespace
}  // namespace parallelarium
