// SPDX-License-Identifier: Apache-2.0
// Who holds what: held to the memory that the Program plans, and to what ZeRO says of each stage.
#include "engine/plan/program/holdings.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

struct Held {
  int dp, zero, pp, cp, microbatches;
  const char* precision;
};

class WhoHoldsWhat : public testing::TestWithParam<Held> {
 protected:
  Prediction predicted() const {
    parallelarium::Setup setup = default_setup();
    setup.model.layers = 4;
    setup.mesh = {};
    setup.mesh.dp = GetParam().dp;
    setup.mesh.pp = GetParam().pp;
    setup.mesh.cp = GetParam().cp;
    setup.zero = GetParam().zero;
    setup.microbatches = GetParam().microbatches;
    EXPECT_TRUE(set_field(setup, "precision", GetParam().precision).ok());
    const Result<Prediction> prediction = predict(setup, uncalibrated_local_machine(), true);
    EXPECT_TRUE(prediction) << (prediction ? "" : prediction.error().text);
    return *prediction;
  }
  int sharing() const { return GetParam().dp * GetParam().cp; }
};

std::int64_t bytes_of(const RankProgram& rank, Category category) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : rank.buffers)
    if (buffer.category == category && buffer.opened_by < 0) bytes += buffer.bytes;
  return bytes;
}

TEST_P(WhoHoldsWhat, AddsUpToTheMemoryThatIsPlanned) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    std::int64_t parameters = 0, gradients = 0, optimizer = 0;
    for (const HeldBucket& bucket :
         Holdings(program, prediction.timeline, int(at)).at(Nanoseconds(-1))) {
      parameters += bucket.parameters.bytes;
      gradients += bucket.gradients.bytes;
      optimizer += bucket.optimizer.bytes;
      EXPECT_EQ(bucket.gradients.as, HeldAs::kAbsent) << "before the step";
    }
    const auto buckets = static_cast<double>(rank.buckets.size());
    EXPECT_NEAR(double(parameters), double(bytes_of(rank, Category::kParameters)), buckets);
    EXPECT_NEAR(double(gradients), double(bytes_of(rank, Category::kGradients)), buckets);
    EXPECT_NEAR(double(optimizer), double(bytes_of(rank, Category::kOptimizer)), buckets);
  }
}

TEST_P(WhoHoldsWhat, IsWhatTheStageOfZeroSays) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  const int zero = GetParam().zero;
  const bool shared = sharing() > 1;
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const auto rank = static_cast<int>(at);
    for (const HeldBucket& bucket :
         Holdings(program, prediction.timeline, rank).at(prediction.timeline.duration)) {
      const auto as = [&](int stage) {
        return shared && zero >= stage ? HeldAs::kShard : HeldAs::kCopy;
      };
      EXPECT_EQ(bucket.parameters.as, as(3));
      EXPECT_EQ(bucket.optimizer.as, as(1));
      EXPECT_EQ(bucket.gradients.as, as(1)) << "added up, and cut where each updates its part";
      EXPECT_EQ(bucket.gradients.op, -1);
      EXPECT_EQ(bucket.gradients.whole, as(2) == HeldAs::kCopy) << "ZeRO 1 keeps the whole buffer";
    }
    // Somewhere on the way each gradient is a partial sum, and with ZeRO-3 each layer whole.
    const std::size_t buckets = program.ranks[at].buckets.size();
    std::vector<bool> partial(buckets), whole(buckets), moved(buckets);
    const Holdings holdings(program, prediction.timeline, rank);
    for (const Nanoseconds time : holdings.changes()) {
      const auto held = holdings.at(time);
      for (std::size_t each = 0; each < buckets; ++each) {
        partial[each] = partial[each] || held[each].gradients.as == HeldAs::kPartialSum;
        whole[each] = whole[each] || held[each].parameters.as == HeldAs::kCopy;
        moved[each] = moved[each] || held[each].gradients.op >= 0;
      }
    }
    using testing::Each;
    EXPECT_THAT(partial, Each(shared));
    EXPECT_THAT(moved, Each(shared));
    EXPECT_THAT(whole, Each(true));
  }
}

// The shards of all ranks are together one copy, without gap and without overlap.
TEST_P(WhoHoldsWhat, ShardsOfAllRanksAreOneCopy) {
  if (GetParam().zero == 0 || sharing() == 1) GTEST_SKIP() << "nothing is cut";
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  for (int stage = 0; stage < GetParam().pp; ++stage) {
    std::vector<std::vector<std::pair<double, double>>> parts;
    for (std::size_t at = 0; at < program.ranks.size(); ++at) {
      if (program.ranks[at].stage != stage) continue;
      const auto held = Holdings(program, prediction.timeline, int(at)).at(Nanoseconds(0));
      parts.resize(held.size());
      for (std::size_t bucket = 0; bucket < held.size(); ++bucket)
        parts[bucket].emplace_back(held[bucket].optimizer.begin, held[bucket].optimizer.end);
    }
    for (auto& bucket : parts) {
      std::sort(bucket.begin(), bucket.end());
      double end = 0;
      for (const auto& [from, to] : bucket) {
        EXPECT_NEAR(from, end, 1e-12);
        end = to;
      }
      EXPECT_NEAR(end, 1, 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WhoHoldsWhat,
    testing::Values(Held{1, 0, 1, 1, 2, "fp32"}, Held{2, 0, 1, 1, 1, "fp32"},
                    Held{2, 1, 1, 1, 2, "fp32"}, Held{3, 1, 1, 1, 1, "mixed-16"},
                    Held{4, 2, 1, 1, 2, "mixed-16"}, Held{2, 3, 1, 1, 2, "fp32"},
                    Held{4, 3, 1, 1, 3, "mixed-16"}, Held{2, 1, 2, 1, 4, "fp32"},
                    Held{2, 2, 1, 2, 1, "fp32"}, Held{1, 3, 1, 2, 1, "mixed-16"}));

}  // namespace
}  // namespace parallelarium
