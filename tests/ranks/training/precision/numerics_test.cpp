// SPDX-License-Identifier: Apache-2.0
// The proof that parallel plans are real: every mesh trains exactly as one rank does, counts
// exactly the bytes and the memory that the Program says, and reads nothing that was closed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

struct Mesh2 {
  int pp, dp, microbatches;
  const char* schedule;
  int micro_batch = 1;
  bool tied = true;
  double clip = 0;
};

std::string name_of_mesh(const testing::TestParamInfo<Mesh2>& info) {
  const Mesh2& c = info.param;
  return fmt::format("pp{}_dp{}_m{}_b{}_{}{}{}", c.pp, c.dp, c.microbatches, c.micro_batch,
                     std::string(c.schedule) == "1f1b" ? "one_f_one_b" : c.schedule,
                     c.tied ? "" : "_untied", c.clip > 0 ? "_clipped" : "");
}

Setup setup_of(const Mesh2& c) {
  Setup setup = small_setup(c.pp, c.dp, c.microbatches, c.schedule);
  setup.micro_batch = c.micro_batch;
  setup.model.tied = c.tied;
  setup.clip = c.clip;
  return setup;
}

class EveryMesh : public testing::TestWithParam<Mesh2> {};

TEST_P(EveryMesh, TrainsAsOneRankAndCountsWhatTheProgramSays) { expect_real(setup_of(GetParam())); }

INSTANTIATE_TEST_SUITE_P(
    Matrix, EveryMesh,
    testing::Values(Mesh2{1, 1, 1, "1f1b"}, Mesh2{1, 1, 5, "gpipe"}, Mesh2{1, 2, 1, "1f1b"},
                    Mesh2{1, 2, 4, "naive"}, Mesh2{1, 4, 3, "gpipe"}, Mesh2{1, 4, 1, "1f1b", 2},
                    Mesh2{2, 1, 1, "naive"}, Mesh2{2, 1, 7, "1f1b"}, Mesh2{2, 2, 2, "gpipe"},
                    Mesh2{2, 2, 9, "1f1b"}, Mesh2{2, 4, 5, "1f1b"}, Mesh2{2, 4, 2, "naive"},
                    Mesh2{3, 1, 3, "gpipe"}, Mesh2{3, 1, 8, "1f1b", 3}, Mesh2{3, 2, 4, "1f1b"},
                    Mesh2{3, 2, 6, "naive"}, Mesh2{3, 4, 1, "1f1b"}, Mesh2{3, 4, 4, "gpipe"},
                    Mesh2{4, 1, 9, "gpipe"}, Mesh2{4, 1, 2, "1f1b"}, Mesh2{4, 1, 6, "naive"},
                    Mesh2{4, 2, 8, "1f1b"}, Mesh2{4, 2, 3, "gpipe"}, Mesh2{4, 4, 5, "1f1b"},
                    Mesh2{4, 4, 8, "gpipe"}, Mesh2{4, 1, 4, "1f1b", 2, false},
                    Mesh2{2, 2, 3, "1f1b", 1, false}, Mesh2{4, 2, 4, "1f1b", 1, true, 0.05},
                    Mesh2{12, 1, 12, "1f1b"}),
    name_of_mesh);

// Every mesh of PP 1 to 4 x DP 1, 2, 4 with 1 to 9 micro-batches, the schedules in turn.
TEST(WholeMatrix, TrainsAsOneRank) {
  const char* const schedules[] = {"1f1b", "gpipe", "naive"};
  int index = 0;
  for (int microbatches = 1; microbatches <= 9; ++microbatches) {
    for (const int dp : {1, 2, 4}) {
      for (int pp = 1; pp <= 4; ++pp) {
        parallelarium::Setup setup = small_setup(pp, dp, microbatches, schedules[index++ % 3]);
        setup.run.warmup = 0;
        const Result<RunResult> result = run_now(setup, built(setup), {.gradients = true});
        ASSERT_TRUE(result.ok()) << result.error().text;
        RunResult one = one_rank(setup);
        one.observation.losses.resize(2);  // it warmed up with one step more
        const Proof proof = compare(*result, one);
        EXPECT_TRUE(proof.holds())
            << setup.schedule.name() << " pp " << pp << " dp " << dp << " m " << microbatches
            << ": " << proof.loss_difference << ", " << proof.gradient_difference;
      }
    }
  }
}

bool same_bits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].values.size() != b[i].values.size() ||
        std::memcmp(a[i].values.data(), b[i].values.data(), a[i].values.size() * sizeof(float)) !=
            0)
      return false;
  }
  return true;
}

TEST(Repeats, GiveTheSameBits) {
  parallelarium::Setup setup = small_setup(3, 2, 5);
  const Program program = built(setup);
  const RunWishes wishes{.gradients = true, .parameters = true};
  const Result<RunResult> first = run_now(setup, program, wishes);
  const Result<RunResult> second = run_now(setup, program, wishes);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->observation.losses, second->observation.losses);
  EXPECT_EQ(first->observation.gradient_norms, second->observation.gradient_norms);
  EXPECT_TRUE(same_bits(first->gradients, second->gradients));
  EXPECT_TRUE(same_bits(first->parameters, second->parameters));
  setup.run.seed = 2;
  const Result<RunResult> other = run_now(setup, program, wishes);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(same_bits(first->parameters, other->parameters));
}

TEST(Proof, SeesAWrongGradient) {
  const parallelarium::Setup setup = small_setup(2, 1, 3);
  const RunResult& one = one_rank(setup);
  RunResult wrong = one;
  wrong.gradients[3].values[0] += 0.1f;
  EXPECT_FALSE(compare(wrong, one).holds());
  wrong = one;
  wrong.gradients.pop_back();
  EXPECT_FALSE(compare(wrong, one).holds());
  wrong = one;
  wrong.observation.losses[1] *= 1.00001;
  EXPECT_FALSE(compare(wrong, one).holds());
  EXPECT_TRUE(compare(one, one).holds());
}

TEST(Proof, In16BitSeesAWrongGradientAndWhatDiverged) {
  parallelarium::Setup setup = small_setup(2, 1, 3);
  const RunResult exact = one_rank(setup);
  ASSERT_TRUE(set_field(setup, "precision", "mixed-16").ok());
  const RunResult& one = one_rank(setup);
  const Proof rounded = compare(setup, one, one, exact);
  EXPECT_TRUE(rounded.holds()) << rounded.gradient_difference;
  EXPECT_TRUE(rounded.in_16_bit);
  EXPECT_EQ(rounded.losses_one_rank, exact.observation.losses);
  RunResult wrong = one;
  const auto size = [](const NamedTensor& tensor) {
    double squares = 0;
    for (const float value : tensor.values) squares += double{value} * double{value};
    return squares;
  };
  const auto largest =
      std::max_element(wrong.gradients.begin(), wrong.gradients.end(),
                       [&](const auto& a, const auto& b) { return size(a) < size(b); });
  for (float& value : largest->values) value = -value;
  EXPECT_FALSE(compare(setup, wrong, one, exact).holds());
  wrong = one;
  wrong.observation.losses[1] *= 1.01;
  EXPECT_FALSE(compare(setup, wrong, one, exact).holds());
  // One rank that diverged proves nothing, and widens no bound.
  wrong.observation.losses.back() = std::nan("");
  EXPECT_FALSE(compare(setup, wrong, wrong, exact).holds());
  wrong = one;
  for (NamedTensor& tensor : wrong.gradients)
    for (float& value : tensor.values) value *= 2;
  EXPECT_FALSE(compare(setup, wrong, wrong, exact).holds());
}

class HeldOut : public testing::TestWithParam<const char*> {};

TEST_P(HeldOut, LossIsTheSameWhateverTheMesh) {
  parallelarium::Setup setup = small_setup(4, 2, 8, GetParam());
  if (setup.schedule == "interleaved") setup.chunks = 3;
  if (setup.schedule.name().back() == 'v') setup.model.layers = 8;
  setup.run.text = PARALLELARIUM_SOURCE_DIR "/LICENSES/Apache-2.0.txt";
  parallelarium::Setup alone = one_rank_setup(setup);
  const RunWishes wishes{.held_out_loss = true};
  const Result<RunResult> many = run_now(setup, built(setup), wishes);
  const Result<RunResult> one = run_now(alone, built(alone), wishes);
  ASSERT_TRUE(many.ok()) << many.error().text;
  ASSERT_TRUE(one.ok()) << one.error().text;
  // One rank's micro-batches are finer, so it may cover one sequence more of about a hundred.
  EXPECT_NEAR(many->held_out_loss, one->held_out_loss, 1e-2);
  EXPECT_GT(many->held_out_loss, 3);
}

INSTANTIATE_TEST_SUITE_P(Schedules, HeldOut,
                         testing::Values("1f1b", "interleaved", "zb-h2", "zb-v", "dualpipe",
                                         "dualpipe-v"));

}  // namespace
}  // namespace parallelarium
