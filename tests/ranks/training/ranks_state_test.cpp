// SPDX-License-Identifier: Apache-2.0
// What a run tells of each rank: copies of a model are copies to the last bit, ranks that hold
// something else differ, and what each had before the sum adds up to it.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/run/train/proof/fingerprint.h"
#include "engine/train/parameters.h"
#include "tests/ranks/proof.h"
#include "tests/ranks/transport/wrapped_device.h"

namespace parallelarium {
namespace {

// A Setup before the name means a test's.
using RunSetup = parallelarium::Setup;

std::vector<RankState> states_of(const RunSetup& setup, const LaunchOptions& options = {}) {
  const Result<RunResult> result = run_now(setup, built(setup), {.ranks_state = true}, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text);
  return result.ok() ? result->observation.ranks_state : std::vector<RankState>{};
}

// The lowest rank that holds the same, from coordinates alone.
int original_of(const RunSetup& setup, int rank) {
  const Mesh& mesh = setup.mesh;
  const auto key = [&](int of) {
    const Coordinates at = coordinates_of(mesh, of);
    const int replicas = mesh.dp * mesh.cp, place = at.dp * mesh.cp + at.cp;
    const int group = setup.zero_group > 0 ? setup.zero_group : replicas;
    return std::tuple(at.tp, at.pp, at.dp % mesh.ep, setup.zero > 0 ? place % group : 0);
  };
  int lowest = 0;
  while (key(lowest) != key(rank)) ++lowest;
  return lowest;
}

// The lowest rank that computes with the same parameters: ZeRO cuts none of them below its third
// stage, and all of them there.
int copied_from(RunSetup setup, int rank) {
  if (setup.zero == 3 && setup.mesh.dp * setup.mesh.cp > 1) return rank;
  setup.zero = 0;
  return original_of(setup, rank);
}

class RanksState : public testing::TestWithParam<const char*> {};

TEST_P(RanksState, FingerprintsAgreeExactlyWhereTheyMust) {
  const RunSetup setup = small_model(GetParam());
  const std::vector<RankState> states = states_of(setup);
  ASSERT_EQ(states.size(), static_cast<std::size_t>(setup.mesh.ranks()));
  for (const RankState& a : states) {
    EXPECT_EQ(a.replica_of, original_of(setup, a.rank)) << "rank " << a.rank;
    EXPECT_EQ(a.weights_before.size(), 16u);
    EXPECT_NE(a.weights_before, a.weights_after) << "rank " << a.rank;
    for (const RankState& b : states) {
      const bool same = a.replica_of == b.replica_of;
      EXPECT_EQ(a.weights_before == b.weights_before, same) << a.rank << " and " << b.rank;
      EXPECT_EQ(a.weights_after == b.weights_after, same) << a.rank << " and " << b.rank;
    }
    // What was gathered from others is the same for all who compute with it.
    EXPECT_EQ(a.copy_after.size(), setup.zero == 3 ? 0u : 16u);
    EXPECT_EQ(a.copy_of, copied_from(setup, a.rank)) << "rank " << a.rank;
    for (const RankState& b : states)
      if (setup.zero < 3) {
        EXPECT_EQ(a.copy_after == b.copy_after, a.copy_of == b.copy_of) << a.rank << " " << b.rank;
      }
    if (setup.zero == 0) {
      EXPECT_EQ(a.copy_after, a.weights_after);
    }
  }
}

TEST_P(RanksState, ReducedGradientsAreThoseOfOneRank) {
  RunSetup setup = small_model(GetParam());
  const std::vector<RankState> states = states_of(setup);
  const RunResult& one = one_rank(setup);
  const Program program = built(setup);
  ASSERT_EQ(states.size(), program.ranks.size());
  const double bound = setup.model.experts.count > 0 ? 1e-3 : 1e-4;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const RankProgram& rank = program.ranks[i];
    double squares = 0;
    for (const ParameterSlice& slice : rank.parameters) {
      for (const NamedTensor& whole : one.last_gradients) {
        if (whole.parameter != slice.parameter || whole.layer != slice.layer) continue;
        const ExpertShare share{setup.mesh.ep, expert_place(setup.mesh, rank.at).part,
                                setup.expert_placement, !setup.mesh.expert_tensor};
        for (const SliceStretches& part : slice_of(setup.model, slice.parameter, setup.mesh.tp,
                                                   rank.at.tp, slice.layer, share)) {
          for (std::int64_t time = 0; time < part.times; ++time) {
            for (std::int64_t e = 0; e < part.length; ++e) {
              const std::int64_t at = slice.offset + part.slice + time * part.slice_step + e;
              const bool owned =
                  setup.zero == 0 ||
                  std::any_of(rank.buckets.begin(), rank.buckets.end(), [&](const Bucket& bucket) {
                    return at >= bucket.own_begin && at < bucket.own_begin + bucket.own_count;
                  });
              const auto index = static_cast<std::size_t>(part.whole + time * part.whole_step + e);
              const auto value = static_cast<double>(whole.values[index]);
              if (owned) squares += value * value;
            }
          }
        }
      }
    }
    EXPECT_NEAR(states[i].gradient_norm_reduced, std::sqrt(squares), bound * std::sqrt(squares))
        << "rank " << i;
  }
}

TEST_P(RanksState, OwnLossesAreThePartsOfTheLoss) {
  const RunSetup setup = small_model(GetParam());
  const Program program = built(setup);
  const Result<RunResult> with = run_now(setup, program, {.ranks_state = true});
  const Result<RunResult> without = run_now(setup, program);
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(with->observation.losses, without->observation.losses);
  EXPECT_EQ(with->observation.gradient_norms, without->observation.gradient_norms);
  EXPECT_TRUE(without->observation.ranks_state.empty());
  double sum = 0;
  int parts = 0;
  std::set<double> different;
  for (const RankState& state : with->observation.ranks_state) {
    const Coordinates at = coordinates_of(setup.mesh, state.rank);
    EXPECT_EQ(state.loss.has_value(), at.pp + 1 == setup.mesh.pp) << "rank " << state.rank;
    if (!state.loss || at.tp > 0) continue;
    sum += *state.loss;
    different.insert(*state.loss);
    ++parts;
  }
  EXPECT_EQ(parts, setup.mesh.dp * setup.mesh.cp);
  EXPECT_EQ(different.size(), static_cast<std::size_t>(parts)) << "each sees other text";
  const double whole = with->observation.losses.back();
  EXPECT_NEAR(sum / parts, whole, 1e-12 * whole);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, RanksState,
    testing::Values("", "dp=2", "dp=3 zero=1", "dp=4 zero=2 zero-group=2", "dp=3 zero=3",
                    "dp=2 zero=2 zero-accumulate=true", "dp=3 zero=1 overlap-parameters=true",
                    "pp=2 dp=2 zero=2 overlap-parameters=true", "tp=2 dp=2",
                    "tp=4 sequence-parallel=true", "llama tp=4 dp=2 zero=1", "pp=2 dp=2",
                    "pp=4 tp=2", "vocab=257 tp=2 dp=2", "pp=2 dp=2 zero=3 microbatches=4",
                    "cp=2 dp=2 attention=fused", "pp=2 schedule=interleaved chunks=2 dp=2",
                    "dp=2 collectives=ring", "dp=4 zero=1 collectives=ring",
                    "dp=2 overlap-gradients=false", "experts=8 top-k=2 expert-ffn=12 dp=4 ep=2",
                    "experts=8 top-k=2 expert-ffn=12 dp=4 ep=2 zero=2 overlap-parameters=true",
                    "experts=8 top-k=2 expert-ffn=12 dp=2 ep=2 zero=1"),
    name_of_case);

TEST(RanksStateOfPrecision, SixteenBitCopiesAgreeToo) {
  for (const char* words :
       {"precision=mixed-16 dp=2", "precision=mixed-16-main-grads dp=2 zero=2 microbatches=1",
        "precision=mixed-16 dp=2 gradient-reduction=fp32",
        "precision=mixed-16 dp=2 zero=2 microbatches=1 gradient-reduction=fp32"}) {
    const RunSetup setup = small_model(words);
    const std::vector<RankState> states = states_of(setup);
    ASSERT_EQ(states.size(), 2u) << words;
    EXPECT_EQ(states[1].replica_of, setup.zero > 0 ? 1 : 0) << words;
    EXPECT_EQ(states[0].weights_after == states[1].weights_after, setup.zero == 0) << words;
    ASSERT_TRUE(states[0].gradient_norm && states[1].gradient_norm) << words;
    // The sum of two is at most as long as both.
    EXPECT_LE(states[0].gradient_norm_reduced,
              1.01 * (*states[0].gradient_norm + *states[1].gradient_norm));
  }
}

// A rank of two has half of the batch: what it adds to the sum is half the gradient of a training
// on that half, and its loss is that training's.
TEST(RanksStateBeforeTheSum, IsTheTrainingOnTheRanksOwnText) {
  for (const char* words :
       {"dp=2", "dp=2 zero=1", "dp=2 zero=2 microbatches=1", "dp=2 zero=3 microbatches=1",
        "dp=2 collectives=ring", "dp=2 zero=2 zero-accumulate=true", "dp=2 overlap-gradients=false",
        "dp=2 zero=2 microbatches=1 collectives=ring"}) {
    RunSetup setup = small_model(words);
    setup.run.warmup = 0;
    setup.run.steps = 1;
    RunSetup half = one_rank_setup(setup);
    half.microbatches = setup.microbatches;
    const std::vector<RankState> states = states_of(setup), alone = states_of(half);
    ASSERT_EQ(states.size(), 2u) << words;
    ASSERT_TRUE(states[0].gradient_norm && alone[0].gradient_norm) << words;
    EXPECT_NEAR(*states[0].gradient_norm, *alone[0].gradient_norm / 2,
                1e-5 * *alone[0].gradient_norm)
        << words;
    EXPECT_NEAR(*alone[0].gradient_norm, alone[0].gradient_norm_reduced,
                1e-12 * *alone[0].gradient_norm);
    EXPECT_NEAR(*states[0].loss, *alone[0].loss, 1e-6);
    EXPECT_NE(*states[0].gradient_norm, *states[1].gradient_norm) << words;
  }
}

// DualPipe's two ranks hold the same stages and train them on other micro-batches; of a tied table
// the first stage has one part of the gradient and the last the other.
TEST(RanksStateBeforeTheSum, IsThatBeforeStagesAddUpTheirs) {
  const std::vector<RankState> copies =
      states_of(small_model("pp=2 schedule=dualpipe microbatches=4"));
  ASSERT_EQ(copies.size(), 2u);
  ASSERT_TRUE(copies[0].gradient_norm && copies[1].gradient_norm);
  const double a = *copies[0].gradient_norm, b = *copies[1].gradient_norm;
  const double reduced = copies[0].gradient_norm_reduced;
  EXPECT_EQ(copies[1].gradient_norm_reduced, reduced);
  EXPECT_NE(a, b);
  EXPECT_NE(a, reduced);
  EXPECT_LE(reduced, a + b);
  EXPECT_GE(reduced, std::abs(a - b));
  for (const RankState& stage : states_of(small_model("pp=2 microbatches=4"))) {
    ASSERT_TRUE(stage.gradient_norm) << stage.rank;
    EXPECT_NE(*stage.gradient_norm, stage.gradient_norm_reduced) << stage.rank;
  }
}

TEST(RanksStateBeforeTheSum, IsNoneWhereEveryMicrobatchIsAddedUpAtOnce) {
  for (const RankState& state : states_of(small_model("dp=2 zero=2 microbatches=3")))
    EXPECT_FALSE(state.gradient_norm.has_value());
}

TEST(RanksStateOfOneRank, IsTheStepsOwn) {
  const RunSetup setup = small_model("");
  const Result<RunResult> result = run_now(setup, built(setup), {.ranks_state = true});
  ASSERT_TRUE(result.ok());
  const RankState& state = result->observation.ranks_state.front();
  const double norm = result->observation.gradient_norms.back();
  EXPECT_NEAR(state.gradient_norm_reduced, norm, 1e-6 * norm);
  EXPECT_NEAR(*state.gradient_norm, norm, 1e-6 * norm);
  EXPECT_EQ(*state.loss, result->observation.losses.back());
}

// A Device that changes one weight a little after the last update.
class Forgetful : public ForwardedDevice<Forgetful> {
 public:
  explicit Forgetful(int updates) : updates_(updates) {}
  template <class Launch>
  void forward(const char* name, std::initializer_list<Values> written, const Launch& launch) {
    launch(inner());
    if (std::string_view(name) != "adamw" || --updates_ != 0) return;
    auto* weights = written.begin()->as<float>();
    weights[0] = std::nextafter(weights[0], 1.0F);
  }

 private:
  int updates_;
};

TEST(RanksStateFinds, OneBitThatDiffersOnOneRank) {
  RunSetup setup = small_model("dp=4");
  LaunchOptions options;
  options.make_device = [&](int rank, Lane lane) -> std::unique_ptr<Device> {
    if (rank != 2 || lane != Lane::kCompute) return make_cpu_device();
    return std::make_unique<Forgetful>(setup.run.warmup + setup.run.steps);
  };
  const std::vector<RankState> states = states_of(setup, options);
  ASSERT_EQ(states.size(), 4u);
  for (const RankState& state : states) {
    EXPECT_EQ(state.replica_of, 0);
    EXPECT_EQ(state.weights_before, states[0].weights_before);
    EXPECT_EQ(state.weights_after == states[0].weights_after, state.rank != 2) << state.rank;
  }
}

TEST(RanksStateOfARehearsal, IsThatOfARun) {
  const RunSetup setup = small_model("pp=2 dp=2");
  const Program program = built(setup);
  RunControl control;
  for (const RankProgram& rank : program.ranks)
    control.modelled.emplace_back(rank.ops.size(), std::chrono::microseconds{400});
  const Result<RunResult> rehearsed = launch(setup, program, {Backend::kPaced, Source::kPaced, {}},
                                             control, {.ranks_state = true}, {});
  ASSERT_TRUE(rehearsed.ok()) << rehearsed.error().text;
  EXPECT_EQ(rehearsed->observation.ranks_state, states_of(setup));
}

TEST(Fingerprints, FollowFromTheBytesAlone) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i * 37));
  Fingerprint whole, parts;
  whole.add(bytes.data(), bytes.size());
  for (std::size_t at = 0, size = 1; at < bytes.size(); at += size, size = size % 13 + 1) {
    size = std::min(size, bytes.size() - at);
    parts.add(bytes.data() + at, size);
  }
  EXPECT_EQ(whole.value(), parts.value());
  std::set<std::uint64_t> seen = {whole.value()};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      Fingerprint other;
      other.add(bytes.data(), bytes.size());
      EXPECT_TRUE(seen.insert(other.value()).second);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    }
  }
  Fingerprint shorter;
  shorter.add(bytes.data(), bytes.size() - 1);
  EXPECT_TRUE(seen.insert(shorter.value()).second);
}

}  // namespace
}  // namespace parallelarium
