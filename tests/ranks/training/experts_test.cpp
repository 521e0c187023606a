// SPDX-License-Identifier: Apache-2.0
// Experts on several ranks train as one rank that holds all of them does, drop the same tokens, and
// send exactly the bytes of their routing.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "engine/plan/model/routing.h"
#include "tests/ranks/proof.h"
#include "tests/ranks/transport/wrapped_device.h"

namespace parallelarium {
namespace {

// The ledger against a second count: from the routing that the run reports, exchange by exchange.
void expect_bytes_of_routing(const Setup& setup, const Observation& seen) {
  const Mesh& mesh = setup.mesh;
  if (mesh.ep == 1) return;
  const Program program = built(setup);
  for (const RankProgram& rank : program.ranks) {
    const ExpertPlace place = expert_place(mesh, rank.at);
    const int me = place.part;
    std::int64_t sent = 0, received = 0, calls = 0;
    for (const Op& op : rank.ops) {
      if (op.purpose != Purpose::kTokens) continue;
      const Result<RoutedLayer> routed =
          route_layer(setup, op.layer, op.microbatch, place.group, routing_of_timeline(seen));
      ASSERT_TRUE(routed.ok()) << routed.error().text;
      // On the way back a rank sends what it received.
      const bool back = op.block == 1;
      sent += back ? routed->received_bytes(me) : routed->sent_bytes(me);
      received += back ? routed->sent_bytes(me) : routed->received_bytes(me);
      ++calls;
    }
    const auto& rows = seen.traffic[static_cast<std::size_t>(rank.rank)];
    const auto row = std::find_if(rows.begin(), rows.end(), [](const TrafficRow& candidate) {
      return candidate.purpose == Purpose::kTokens;
    });
    if (calls == 0) {
      EXPECT_EQ(row, rows.end());
      continue;
    }
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(row->axis, Axis::kEp);
    EXPECT_EQ(row->calls, calls);
    EXPECT_EQ(row->sent_bytes, sent) << "rank " << rank.rank;
    EXPECT_EQ(row->received_bytes, received) << "rank " << rank.rank;
    EXPECT_TRUE(row->counted);
  }
  // Two all-to-alls of tokens a layer and micro-batch forward and two backward, two more where the
  // forward is done again.
  const std::int64_t layers = setup.model.layers - setup.model.experts.first_dense;
  std::int64_t calls = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) calls += op.purpose == Purpose::kTokens ? 1 : 0;
  }
  EXPECT_EQ(
      calls,
      layers * setup.microbatches * mesh.dp * mesh.tp *
          (setup.recompute == Recompute::kFull || names(setup.recompute, Recompute::kExperts) ? 6
                                                                                              : 4));
}

constexpr std::int64_t kExperts = 8;

// Eight experts, 12 wide, two for a token, unless the words say otherwise.
Setup expert_model(const std::string& words) {
  return small_model("experts=8 top-k=2 expert-ffn=12 " + words);
}

class ExpertLayers : public testing::TestWithParam<const char*> {};

TEST_P(ExpertLayers, TrainAsOneRankAndSendWhatTheyRoute) {
  const parallelarium::Setup setup = expert_model(GetParam());
  Observation seen;
  expect_real(setup, &seen);
  if (HasFatalFailure() || seen.routing.empty()) return;
  EXPECT_EQ(seen.routing.size(), seen.losses.size());
  expect_bytes_of_routing(setup, seen);
  // One rank routed the same tokens the same way and dropped the same ones.
  const std::vector<Routing>& alone = one_rank(setup).observation.routing;
  ASSERT_EQ(alone.size(), seen.routing.size());
  for (std::size_t step = 0; step < alone.size(); ++step) {
    ASSERT_EQ(alone[step].entries.size(), seen.routing[step].entries.size());
    for (const RoutedMicrobatch& entry : seen.routing[step].entries) {
      const RouterLoad* same = find_load(alone[step], entry.layer,
                                         entry.replica * setup.microbatches + entry.microbatch, 0);
      ASSERT_NE(same, nullptr);
      EXPECT_EQ(same->chosen, entry.load.chosen);
      EXPECT_EQ(same->kept, entry.load.kept);
      EXPECT_NEAR(same->balance, entry.load.balance, 1e-5);
      EXPECT_NEAR(same->z, entry.load.z, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OneRank, ExpertLayers,
                         testing::Values("", "llama", "llama router=sigmoid", "top-k=1",
                                         "router=sigmoid top-k=1", "recompute=full",
                                         "shared-experts=2", "llama shared-experts=1",
                                         "first-dense=2", "capacity=1", "z-loss=0.01"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    ExpertParallel, ExpertLayers,
    testing::Values("dp=2 ep=2", "llama dp=2 ep=2 router=sigmoid", "dp=4 ep=2", "llama dp=4 ep=4",
                    "dp=8 ep=8 microbatches=1", "llama dp=8 ep=4 router=sigmoid microbatches=1",
                    "dp=4 ep=4 top-k=1", "dp=2 ep=2 expert-placement=round-robin",
                    "llama dp=4 ep=2 expert-placement=round-robin", "dp=2 ep=2 micro-batch=3",
                    "dp=2 ep=2 recompute=full", "llama dp=2 ep=2 recompute=selective",
                    "dp=2 ep=2 first-dense=1", "dp=2 ep=2 shared-experts=1",
                    "llama dp=4 ep=4 shared-experts=2 router=sigmoid", "dp=2 ep=2 clip=0.05",
                    "dp=4 ep=2 clip=0.05 tp=2", "dp=2 ep=2 z-loss=0.01 balance-loss=0.1",
                    "dp=2 ep=2 balance-loss=0", "dp=2 ep=2 attention=fused",
                    "dp=2 ep=2 dropout=0.1", "dp=2 ep=2 collectives=ring"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    ExpertsAgain, ExpertLayers,
    testing::Values("recompute=activation", "llama dp=2 ep=2 recompute=activation shared-experts=1",
                    "dp=2 ep=2 pp=2 schedule=zb-h1 recompute=norms,activation microbatches=4",
                    "recompute=experts", "llama recompute=norms,experts shared-experts=1",
                    "dp=2 ep=2 recompute=experts",
                    "dp=2 ep=2 recompute=selective,norms,activation,experts shared-experts=2",
                    "dp=2 ep=2 recompute=experts bias-rate=0.01 router=sigmoid",
                    "dp=2 ep=2 tp=2 sequence-parallel=true recompute=norms,experts",
                    "dp=2 ep=2 tp=2 overlap-tensor=true recompute=experts shared-experts=1",
                    "dp=2 ep=2 pp=2 schedule=zb-h1 recompute=experts microbatches=4",
                    "dp=4 ep=2 zero=3 zero-reshard=false recompute=norms",
                    "dp=4 ep=2 zero=2 zero-group=2", "dp=4 ep=2 zero=3 zero-group=2"),
    name_of_case);
// An EP group holds several groups that share states: the norm has every expert once.
INSTANTIATE_TEST_SUITE_P(
    SeveralShardGroups, ExpertLayers,
    testing::Values("dp=4 ep=4 zero=1 zero-group=2 clip=0.05",
                    "llama dp=8 ep=4 zero=2 zero-group=2 clip=0.05 microbatches=1",
                    "dp=4 ep=4 tp=2 zero=3 zero-group=2 clip=0.05",
                    "dp=4 ep=4 pp=2 zero=1 zero-group=2 clip=0.05 microbatches=4"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(Dropped, ExpertLayers,
                         testing::Values("dp=2 ep=2 capacity=1", "llama dp=4 ep=4 capacity=0.5",
                                         "dp=4 ep=2 capacity=1.25 router=sigmoid",
                                         "dp=8 ep=8 capacity=1 microbatches=1",
                                         "dp=4 ep=4 capacity=1 skew=0.5",
                                         "dp=4 ep=4 capacity=1.25 skew=1",
                                         "dp=4 ep=4 skew=0.75 expert-placement=round-robin"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Combined, ExpertLayers,
    testing::Values("tp=2", "llama tp=2 router=sigmoid", "tp=2 sequence-parallel=true",
                    "llama tp=2 sequence-parallel=true shared-experts=1", "tp=2 shared-experts=1",
                    "dp=2 ep=2 tp=2", "dp=2 ep=2 tp=2 router=sigmoid z-loss=0.01",
                    "dp=2 ep=2 tp=2 sequence-parallel=true capacity=1",
                    "dp=2 ep=2 tp=4 sequence-parallel=true recompute=full",
                    "dp=2 ep=2 tp=2 shared-experts=1 sequence-parallel=true",
                    "llama tp=2 shared-experts=1 sequence-parallel=true sequence-regather=false",
                    "tp=2 sequence-parallel=true sequence-regather=false recompute=experts",
                    "dp=2 ep=2 tp=2 shared-experts=1 schedule=zb-h1 pp=2 microbatches=4 "
                    "sequence-parallel=true",
                    "dp=2 ep=2 pp=2", "llama dp=4 ep=4 pp=2 microbatches=4",
                    "dp=2 ep=2 pp=2 tp=2 microbatches=4", "dp=2 ep=2 pp=2 order=tp-cp-ep-pp-dp",
                    "dp=2 ep=2 pp=2 schedule=interleaved chunks=2 microbatches=4",
                    "dp=2 ep=2 pp=2 schedule=zb-h1 microbatches=4",
                    "dp=2 ep=2 pp=2 schedule=dualpipe microbatches=4", "dp=2 ep=2 zero=1",
                    "dp=4 ep=2 zero=1", "dp=4 ep=2 zero=1 clip=0.05", "dp=4 ep=2 tp=2 zero=1",
                    "dp=4 ep=2 zero=1 overlap-parameters=true",
                    "dp=4 ep=2 pp=2 zero=2 overlap-parameters=true microbatches=4",
                    "dp=4 ep=2 zero=2", "dp=4 ep=2 zero=3", "dp=4 ep=4 zero=2 pp=2 microbatches=4",
                    "dp=2 ep=2 zero=3 tp=2 shared-experts=1", "dp=4 ep=2 zero=1 zero-group=2",
                    "dp=2 ep=2 bias-rate=0.01 router=sigmoid",
                    "llama dp=4 ep=2 bias-rate=0.01 router=sigmoid pp=2",
                    "dp=4 ep=4 experts=16 expert-groups=4 group-limit=2 router=sigmoid top-k=3"),
    name_of_case);

// Experts that TP does not cut: each TP rank routes its own tokens and sends them to a group of EP
// ranks over TP and DP.
class WholeExperts : public testing::TestWithParam<const char*> {};

TEST_P(WholeExperts, TrainAsOneRankAndRouteItsTokens) {
  const parallelarium::Setup setup =
      expert_model(std::string("sequence-parallel=true expert-tensor=false ") + GetParam());
  Observation seen;
  expect_real(setup, &seen);
  if (HasFatalFailure() || seen.routing.empty()) return;
  expect_bytes_of_routing(setup, seen);
  const std::vector<Routing>& alone = one_rank(setup).observation.routing;
  ASSERT_EQ(alone.size(), seen.routing.size());
  const int tp = setup.mesh.tp;
  for (std::size_t step = 0; step < alone.size(); ++step) {
    ASSERT_EQ(alone[step].entries.size() * static_cast<std::size_t>(tp),
              seen.routing[step].entries.size());
    for (const RoutedMicrobatch& entry : alone[step].entries) {
      std::vector<std::int64_t> chosen(entry.load.chosen.size(), 0);
      const int replica = entry.microbatch / setup.microbatches;
      for (int home = replica * tp; home < (replica + 1) * tp; ++home) {
        const RouterLoad* part =
            find_load(seen.routing[step], entry.layer, entry.microbatch % setup.microbatches, home);
        ASSERT_NE(part, nullptr);
        for (std::size_t expert = 0; expert < chosen.size(); ++expert)
          chosen[expert] += part->chosen[expert];
      }
      EXPECT_EQ(chosen, entry.load.chosen);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    OverTensorRanks, WholeExperts,
    testing::Values("tp=2", "tp=2 ep=2", "llama tp=4 ep=2", "tp=2 dp=2 ep=4", "tp=2 dp=2 ep=2",
                    "llama tp=2 dp=4 ep=4 router=sigmoid", "tp=4 dp=2 ep=8 top-k=1",
                    "tp=2 dp=2 ep=4 expert-placement=round-robin micro-batch=3",
                    "llama tp=4 dp=2 ep=4 shared-experts=1 first-dense=1",
                    "tp=2 dp=2 ep=4 clip=0.05", "tp=4 dp=2 ep=2 clip=0.05",
                    "tp=2 dp=3 ep=2 clip=0.05 microbatches=4",
                    "tp=2 dp=2 ep=4 z-loss=0.01 balance-loss=0.1",
                    "tp=2 dp=2 ep=2 balance-loss=0 recompute=full", "tp=2 dp=2 ep=4 dropout=0.1",
                    "tp=2 dp=2 ep=4 recompute=norms,experts balance-loss=0.1",
                    "tp=2 dp=2 ep=4 bias-rate=0.01 router=sigmoid",
                    "tp=2 dp=2 ep=2 sequence-regather=false ring-tensor=true"),
    name_of_case);
INSTANTIATE_TEST_SUITE_P(
    OverReplicas, WholeExperts,
    testing::Values("tp=2 dp=2 ep=2 zero=1", "tp=2 dp=4 ep=4 zero=1 clip=0.05",
                    "llama tp=2 dp=2 ep=4 zero=2 microbatches=3", "tp=4 dp=2 ep=2 zero=3 clip=0.05",
                    "tp=2 dp=4 ep=2 zero=2 zero-group=2 clip=0.05",
                    "tp=2 dp=4 ep=4 zero=3 zero-group=2", "tp=4 dp=1 ep=2 zero=1 clip=0.05",
                    "tp=2 dp=2 ep=4 pp=2 microbatches=4", "tp=2 dp=2 ep=2 pp=2 clip=0.05 zero=1",
                    "tp=2 dp=2 ep=4 pp=2 order=tp-cp-ep-pp-dp zero=1",
                    "tp=2 dp=2 ep=4 pp=2 schedule=zb-h1 microbatches=4 shared-experts=1",
                    "tp=2 dp=2 ep=4 pp=2 schedule=dualpipe microbatches=4 clip=0.05",
                    "tp=2 dp=2 ep=4 collectives=ring"),
    name_of_case);

TEST(Skew, FillsTheRankOfTheFirstExpert) {
  std::int64_t before = -1;
  for (const char* skew : {"0", "0.25", "0.5", "1"}) {
    const parallelarium::Setup setup = expert_model(std::string("dp=2 ep=2 top-k=1 skew=") + skew);
    const Result<RunResult> result = run_now(setup, built(setup));
    ASSERT_TRUE(result.ok()) << result.error().text;
    std::int64_t load = 0;
    for (const RoutedMicrobatch& entry : result->observation.routing.back().entries)
      load += entry.load.chosen[0];
    EXPECT_GT(load, before) << skew;
    before = load;
  }
  EXPECT_EQ(before, 4 * 2 * 2 * 8);  // layers, replicas, micro-batches, tokens
}

// Counts how often a host reads the rows of all experts, which its device knows.
class ReadDevice final : public WrappedDevice {
 public:
  explicit ReadDevice(std::atomic<int>& reads) : WrappedDevice([](int) {}), reads_(reads) {}
  void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) override {
    if (bytes == kExperts * 4) ++reads_;
    WrappedDevice::copy_to_host(to_host, from, bytes);
  }

 private:
  std::atomic<int>& reads_;
};

// A GPU runs dry when its host has to wait for it: once for a layer and micro-batch, forwards.
TEST(ExpertCounts, AreReadByForwardsAlone) {
  for (const char* words :
       {"microbatches=3", "pp=2 microbatches=4 schedule=zb-h1", "microbatches=2 recompute=full"}) {
    parallelarium::Setup setup = expert_model(words);
    const auto reads_of = [&](int steps) {
      setup.run.steps = steps;
      std::atomic<int> reads{0};
      LaunchOptions options;
      options.make_device = [&](int, Lane) { return std::make_unique<ReadDevice>(reads); };
      const BackendChoice choice{Backend::kCpu, Source::kMeasured, {}};
      EXPECT_TRUE(launch(setup, built(setup), choice, {}, {}, options).ok());
      return reads.load();
    };
    int forwards = 0;
    const Program program = built(setup);
    for (const RankProgram& rank : program.ranks) {
      for (const Op& op : rank.ops)
        forwards += op.piece == Piece::kExpert &&
                    (op.phase == Phase::kForward || op.phase == Phase::kRecompute);
    }
    EXPECT_EQ(reads_of(3) - reads_of(2), forwards) << words;
  }
}

TEST(BalanceLoss, EvensOutWhatRoutersWouldNot) {
  // A router trained without it drifts; with it the mean of E sum f P stays nearer to 1.
  const auto balance = [](const char* words) {
    parallelarium::Setup setup = expert_model(words);
    setup.run.steps = 60;
    setup.learning_rate = 1e-2;
    const Result<RunResult> result = run_now(setup, built(setup));
    EXPECT_TRUE(result.ok());
    double sum = 0, count = 0;
    for (std::size_t step = 40; step < result->observation.routing.size(); ++step) {
      for (const RoutedMicrobatch& entry : result->observation.routing[step].entries) {
        sum += entry.load.balance;
        ++count;
      }
    }
    return sum / count;
  };
  const double without = balance("microbatches=4 balance-loss=0"),
               with = balance("microbatches=4 balance-loss=0.1");
  EXPECT_LT(with, without);
  EXPECT_NEAR(with, 1, 0.15);
}

}  // namespace
}  // namespace parallelarium
