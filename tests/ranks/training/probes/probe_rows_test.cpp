// SPDX-License-Identifier: Apache-2.0
// What probes tell of tokens on their way through experts: put together by token and choice, the
// rows of all ranks are those of one rank, and what they say agrees with router and gates.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "engine/plan/model/routing.h"
#include "engine/run/train/probe/probe_whole.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

using RunSetup = parallelarium::Setup;

RunSetup of_experts(const std::string& words) {
  return small_model("layers=2 steps=1 warmup=0 micro-batch=2 expert-ffn=12 " + words);
}

// All probes of one layer's experts, of the last micro-batch of each of so many replicas, which
// are those of one.
std::vector<Probe> probes_of_experts(const RunSetup& setup, int replicas) {
  std::vector<Probe> probes;
  for (int replica = 0; replica < replicas; ++replica) {
    const int microbatch = (replica + 1) * (setup.microbatches / replicas) - 1;
    for (const Piece piece : {Piece::kRouter, Piece::kDispatch, Piece::kExpert, Piece::kUnpermute})
      for (const Phase phase : {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad})
        if (phase != Phase::kWeightGrad || piece == Piece::kExpert)
          probes.push_back({1, piece, microbatch, phase, 1});
  }
  return probes;
}

// Replica, token of its micro-batch, choice.
using RowOf = std::tuple<int, int, int>;
using Rows = std::map<RowOf, std::vector<double>>;

std::int64_t tokens_of(const RunSetup& setup) { return setup.micro_batch * setup.model.sequence; }

// The rows of all tensors by piece, phase and name. In one rank's training, replicas are runs of
// micro-batches.
std::map<std::string, Rows> rows_of(const RunSetup& setup, const RunResult& result, int replicas) {
  const auto tokens = static_cast<int>(tokens_of(setup));
  std::map<std::string, Rows> all;
  std::map<std::string, std::set<std::pair<RowOf, std::int64_t>>> there;
  for (const ProbedRank& rank : result.probes) {
    const Coordinates at = coordinates_of(setup.mesh, rank.rank);
    const int first = setup.mesh.dp > 1 ? at.dp / setup.mesh.ep * setup.mesh.ep
                                        : rank.probe.microbatch / (setup.microbatches / replicas);
    EXPECT_TRUE(rank.routes.empty());
    for (const ProbedTensor& tensor : rank.tensors) {
      if (!tensor.what.by_row()) continue;
      const TensorDimension &row = tensor.what.dimensions[0], &width = tensor.what.dimensions[1];
      const bool adds = !tensor.what.partial.empty();
      if (at.tp > 0 && !adds && width.cuts.empty()) continue;  // a copy
      EXPECT_EQ(rank.row_tokens.size(), static_cast<std::size_t>(row.size));
      EXPECT_EQ(rank.row_choices.size(), static_cast<std::size_t>(row.size));
      const std::string name = key_of(name_of(rank.probe.piece)) + " " +
                               key_of(name_of(rank.probe.phase)) + " " + tensor.what.name;
      std::size_t element = 0;
      for (std::size_t at_row = 0; at_row < rank.row_tokens.size(); ++at_row) {
        const int token = rank.row_tokens[at_row];
        const RowOf of(first + token / tokens, token % tokens, rank.row_choices[at_row]);
        std::vector<double>& values = all[name][of];
        values.resize(static_cast<std::size_t>(width.whole), 0);
        for (const ChunkRange& range : width.held())
          for (std::int64_t column = range.begin; column < range.end; ++column) {
            values[static_cast<std::size_t>(column)] += tensor.value(element++);
            const bool is_new = there[name].insert({of, column}).second;
            EXPECT_TRUE(is_new || adds) << name << " twice";
          }
      }
      EXPECT_EQ(element, tensor.size());
    }
  }
  return all;
}

double relative_difference(const Rows& many, const Rows& one) {
  double squares = 0, norm = 0;
  for (const auto& [of, values] : one) {
    const auto found = many.find(of);
    if (found == many.end() || found->second.size() != values.size()) return 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      squares += std::pow(found->second[i] - values[i], 2);
      norm += values[i] * values[i];
    }
  }
  return std::sqrt(squares / norm);
}

class ProbedRows : public testing::TestWithParam<const char*> {};

TEST_P(ProbedRows, PutTogetherByTokenAndChoiceAreThoseOfOneRank) {
  const RunSetup setup = of_experts(GetParam());
  const int replicas = setup.mesh.dp;
  RunSetup alone = one_rank_setup(setup);
  alone.run.warmup = 0;
  alone.run.steps = 1;
  const Result<RunResult> many =
      run_now(setup, built(setup), {.probes = probes_of_experts(setup, 1)});
  const Result<RunResult> one =
      run_now(alone, built(alone), {.probes = probes_of_experts(alone, replicas)});
  ASSERT_TRUE(many.ok()) << many.error().text;
  ASSERT_TRUE(one.ok()) << one.error().text;
  const auto rows = rows_of(setup, *many, replicas), expected = rows_of(alone, *one, replicas);
  ASSERT_EQ(rows.size(), expected.size());
  // Rows, their gradients, and what stands between an expert's products.
  const bool gated = setup.model.mlp == Mlp::kSwiglu;
  ASSERT_EQ(rows.size(), gated ? 22u : 18u);
  for (const auto& [name, of] : expected) {
    ASSERT_TRUE(rows.count(name) > 0) << name;
    EXPECT_EQ(rows.at(name).size(), of.size()) << name;
    EXPECT_LE(relative_difference(rows.at(name), of), 1e-5) << name;
    const bool drops = setup.model.experts.capacity > 0;
    const auto choices =
        static_cast<std::size_t>(replicas * tokens_of(setup) * setup.model.experts.top_k);
    if (drops)
      EXPECT_LT(of.size(), choices);
    else
      EXPECT_EQ(of.size(), choices);
  }
}

const ProbedTensor& the(const RunResult& result, const ProbedRank& rank, Piece piece,
                        const char* name) {
  Probe probe = rank.probe;
  probe.piece = piece;
  const ProbedTensor* const tensor = probed_tensor(result.probes, probe, name, rank.rank);
  EXPECT_NE(tensor, nullptr) << name;
  return *tensor;
}

// What leaves for the experts are the router's own tokens; the experts of a rank take what chose
// them; gates times what they give add up to what leaves the layer's experts.
TEST_P(ProbedRows, AgreeWithRouterAndGates) {
  const RunSetup setup = of_experts(GetParam());
  const Result<RunResult> run =
      run_now(setup, built(setup), {.probes = probes_of_experts(setup, 1)});
  ASSERT_TRUE(run.ok()) << run.error().text;
  const auto N = static_cast<std::size_t>(tokens_of(setup));
  const auto C = static_cast<std::size_t>(setup.model.hidden);
  const auto k = static_cast<std::size_t>(setup.model.experts.top_k);
  const auto group_rank = [&](int rank, std::size_t home) {
    return group_of(setup.mesh, Axis::kEp, rank)[home];
  };
  std::size_t seen = 0;
  for (const ProbedRank& rank : run->probes) {
    if (rank.probe.phase != Phase::kForward || !rank.has_rows()) continue;
    const std::size_t home =
        static_cast<std::size_t>(coordinates_of(setup.mesh, rank.rank).dp % setup.mesh.ep);
    std::vector<double> sums(N * C, 0);
    for (std::size_t row = 0; row < rank.row_tokens.size(); ++row) {
      const auto token = static_cast<std::size_t>(rank.row_tokens[row]);
      const auto choice = static_cast<std::size_t>(rank.row_choices[row]);
      ++seen;
      ASSERT_LT(choice, k);
      if (rank.probe.piece == Piece::kExpert) {
        ProbedRank from = rank;
        from.rank = group_rank(rank.rank, token / N);
        const auto expert = static_cast<int>(
            the(*run, from, Piece::kRouter, "experts").value(token % N * k + choice));
        EXPECT_EQ(home_of_expert(expert, static_cast<int>(setup.model.experts.count), setup.mesh.ep,
                                 setup.expert_placement)
                      .rank,
                  static_cast<int>(home));
        const ProbedTensor &came = the(*run, rank, Piece::kExpert, "rows"),
                           &y = the(*run, from, Piece::kDispatch, "y");
        for (std::size_t c = 0; c < C; ++c)
          ASSERT_EQ(came.value(row * C + c), y.value(token % N * C + c));
        continue;
      }
      ASSERT_EQ(token / N, home);
      if (rank.probe.piece == Piece::kDispatch) {
        const ProbedTensor &left = the(*run, rank, Piece::kDispatch, "rows"),
                           &y = the(*run, rank, Piece::kDispatch, "y");
        for (std::size_t c = 0; c < C; ++c)
          ASSERT_EQ(left.value(row * C + c), y.value(token % N * C + c));
        continue;
      }
      const double gate = the(*run, rank, Piece::kUnpermute, "gates").value(token % N * k + choice);
      const ProbedTensor& results = the(*run, rank, Piece::kUnpermute, "results");
      for (std::size_t c = 0; c < C; ++c)
        sums[token % N * C + c] += gate * results.value(row * C + c);
    }
    if (rank.probe.piece != Piece::kUnpermute) continue;
    const ProbedTensor& out = the(*run, rank, Piece::kUnpermute, "out");
    const bool shared = setup.model.experts.shared > 0;
    for (std::size_t i = 0; i < N * C; ++i) {
      if (shared) sums[i] += the(*run, rank, Piece::kUnpermute, "shared").value(i);
      ASSERT_NEAR(sums[i], out.value(i), 1e-6) << i;
    }
  }
  EXPECT_GT(seen, N);
}

// The matrices of all ranks' experts, each at its place, and their gradients of the whole batch.
TEST_P(ProbedRows, ComeWithTheMatricesOfTheirExperts) {
  const RunSetup setup = of_experts(GetParam());
  if (setup.zero > 1) GTEST_SKIP() << "Gradients of one micro-batch alone.";
  RunSetup alone = one_rank_setup(setup);
  alone.run.warmup = 0;
  alone.run.steps = 1;
  const auto whole_of = [](const RunSetup& of, const Probe& probe, const std::string& name) {
    const Result<RunResult> run = run_now(of, built(of), {.probes = {probe}});
    EXPECT_TRUE(run.ok());
    WholeTensor whole;
    for (const ProbedRank& rank : run->probes)
      for (const ProbedTensor& tensor : rank.tensors) {
        if (tensor.what.name != name) continue;
        const bool adds = !tensor.what.partial.empty();
        whole.put(tensor, adds ? Joined::kSum : Joined::kEqual);
      }
    EXPECT_TRUE(whole.complete()) << name;
    return whole;
  };
  const bool gated = setup.model.mlp == Mlp::kSwiglu;
  for (const char* name :
       {gated ? "w-up" : "w-in", "w-out", gated ? "dw-gate" : "dw-in", "dw-out"}) {
    const Phase phase = name[0] == 'd' ? Phase::kWeightGrad : Phase::kForward;
    const Probe probe{1, Piece::kExpert, setup.microbatches - 1, phase, 1};
    Probe last = probe;
    last.microbatch = alone.microbatches - 1;
    const WholeTensor many = whole_of(setup, probe, name);
    const Result<RunResult> one = run_now(alone, built(alone), {.probes = {last}});
    ASSERT_TRUE(one.ok());
    const ProbedTensor* const tensor = probed_tensor(one->probes, last, name, 0);
    ASSERT_NE(tensor, nullptr);
    EXPECT_LE(*many.difference_from(*tensor), 1e-5 * many.largest()) << name;
    EXPECT_EQ(many.contradiction(), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, ProbedRows,
    testing::Values("experts=4 top-k=2 tp=2", "experts=4 top-k=2 dp=2 ep=2",
                    "experts=8 top-k=3 dp=4 ep=4", "experts=4 top-k=2 dp=4 ep=2",
                    "llama experts=8 top-k=2 dp=2 ep=2 tp=2 sequence-parallel=true",
                    "experts=8 top-k=2 dp=2 ep=2 expert-placement=round-robin",
                    "experts=4 top-k=1 capacity=0.5 dp=2 ep=2 shared-experts=1",
                    "llama experts=4 top-k=2 dp=2 ep=2 pp=2 schedule=zb-h1",
                    "experts=4 top-k=2 dp=2 ep=2 recompute=full"),
    name_of_case);

}  // namespace
}  // namespace parallelarium
