// SPDX-License-Identifier: Apache-2.0
// What collectives of tensor parallelism establish, on the tensors of a run.
#include "engine/run/train/probe/probe_identity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// Each end of the collectives in layer 0's forward.
std::vector<Probe> beside_collectives() {
  std::vector<Probe> probes;
  for (const Piece piece : {Piece::kNorm1, Piece::kQkv, Piece::kProjection, Piece::kResidual1,
                            Piece::kNorm2, Piece::kMlpIn, Piece::kMlpOut, Piece::kResidual2})
    probes.push_back({0, piece, 1, Phase::kForward, 1});
  return probes;
}

TEST(ProbesBesideACollective, ShowWhatItEstablishes) {
  struct Case {
    const char* words;
    std::size_t sums, gathers;
  };
  for (const auto& [words, sums, gathers] :
       {Case{"tp=2", 2, 0}, Case{"tp=4", 2, 0}, Case{"tp=4 sequence-parallel=true", 2, 2},
        Case{"llama tp=2 sequence-parallel=true dp=2", 2, 2},
        Case{"tp=4 sequence-parallel=true ring-tensor=true", 2, 2},
        Case{"llama tp=2 sequence-parallel=true ring-tensor=true", 2, 2}}) {
    const parallelarium::Setup setup =
        small_model(std::string("layers=2 steps=1 warmup=0 micro-batch=2 ") + words);
    const Program program = built(setup);
    Result<RunResult> run = run_now(setup, program, {.probes = beside_collectives()});
    ASSERT_TRUE(run.ok()) << run.error().text;
    parallelarium::Setup alone = one_rank_setup(setup);
    Result<RunResult> one = run_now(alone, built(alone), {.probes = beside_collectives()});
    ASSERT_TRUE(one.ok()) << one.error().text;
    const auto identities = identities_of(setup, program, run->probes, one->probes);
    ASSERT_EQ(identities.size(), sums + gathers) << words;
    std::size_t added = 0;
    for (const ProbedIdentity& identity : identities) {
      const bool sum = identity.kind == IdentityKind::kSum;
      added += sum;
      EXPECT_EQ(identity.ranks.size(), std::size_t(setup.mesh.tp));
      // A ring does what a collective does, and has its name.
      EXPECT_EQ(identity.collective, !sum                      ? CollectiveKind::kAllGather
                                     : setup.sequence_parallel ? CollectiveKind::kReduceScatter
                                                               : CollectiveKind::kAllReduce);
      EXPECT_GT(identity.largest_value, 0);
      // Ranks add up in another order; what is gathered is the same bit for bit.
      EXPECT_LE(identity.largest_difference, sum ? 1e-6 * identity.largest_value : 0)
          << sentence_of(identity).text;
      // One rank's adds up in its own order.
      ASSERT_TRUE(identity.one_rank_difference.has_value());
      EXPECT_LE(*identity.one_rank_difference, 1e-5 * identity.largest_value);
    }
    EXPECT_FALSE(identities_of(setup, program, run->probes).front().one_rank_difference);
    // One wrong element of the one rank is told, as large as it is.
    for (ProbedRank& probed : one->probes)
      for (ProbedTensor& tensor : probed.tensors)
        if (probed.probe.piece == Piece::kResidual2 && !tensor.what.written) {
          const float off = static_cast<float>(tensor.value(5)) + 0.25F;
          std::memcpy(tensor.bytes.data() + 5 * sizeof off, &off, sizeof off);
        }
    double most = 0;
    for (const ProbedIdentity& identity : identities_of(setup, program, run->probes, one->probes))
      most = std::max(most, *identity.one_rank_difference);
    EXPECT_NEAR(most, 0.25, 1e-5);
    EXPECT_EQ(added, sums);
    // One wrong element of one rank is told, as large as it is.
    for (ProbedRank& probed : run->probes) {
      if (probed.rank != 0 || probed.probe.piece != Piece::kMlpOut) continue;
      for (ProbedTensor& tensor : probed.tensors)
        if (tensor.what.name == "out") {
          const float wrong = static_cast<float>(tensor.value(3)) + 0.5F;
          std::memcpy(tensor.bytes.data() + 3 * sizeof wrong, &wrong, sizeof wrong);
        }
    }
    const auto wrong = identities_of(setup, program, run->probes);
    EXPECT_NEAR(std::max_element(wrong.begin(), wrong.end(),
                                 [](const ProbedIdentity& a, const ProbedIdentity& b) {
                                   return a.largest_difference < b.largest_difference;
                                 })
                    ->largest_difference,
                0.5, 1e-5);
  }
}

// Up to kMostCells of a side a cell is an element, above that the mean of its elements.
TEST(ProbedCells, AreMeansOfTheTensor) {
  for (const int tokens : {1, 6, 7, 48}) {
    ProbedTensor tensor;
    tensor.what.dimensions = {{"B", 2, 2, tokens * 96, {}, {}},
                              {"T", tokens, tokens, 96, {}, {}},
                              {"C", 96, 96, 1, {}, {}}};
    std::vector<float> values(std::size_t(2 * tokens * 96));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 97) - 40;
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    const TensorCells cells = cells_of(tensor, Piece::kMlpIn);
    EXPECT_EQ(cells.rows, std::min(2 * tokens, kMostCells));
    EXPECT_EQ(cells.columns, kMostCells);
    if (cells.rows == 2 * tokens) {  // a row of the tensor
      double first = 0;
      for (int column = 0; column < 96 / kMostCells; ++column)
        first += double(values[std::size_t(column)]);
      EXPECT_NEAR(cells.means[0] * (96.0 / kMostCells), first, 1e-6);
    }
    if (2 * tokens % cells.rows != 0) continue;
    double sum = 0;
    for (const double mean : cells.means) sum += mean;
    EXPECT_NEAR(sum / double(cells.means.size()), figures_of(tensor).mean, 1e-9);
  }
  ProbedTensor sums;
  sums.what.dimensions = {{"B", 1, 1, 4, {}, {}}, {"H", 2, 2, 2, {}, {}}, {"T", 2, 2, 1, {}, {}}};
  EXPECT_EQ(cells_of(sums, Piece::kAttention).rows, 0);
}

ProbedTensor counted(const std::vector<std::pair<const char*, int>>& dimensions) {
  ProbedTensor tensor;
  std::int64_t elements = 1;
  for (const auto& [name, size] : dimensions) {
    tensor.what.dimensions.push_back({name, size, size, 1, {}, {}});
    elements *= size;
  }
  for (std::int64_t at = 0; at < elements; ++at) {
    const auto value = static_cast<float>(at);
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    tensor.bytes.insert(tensor.bytes.end(), begin, begin + sizeof value);
  }
  return tensor;
}

// Memory has a weight as what comes out by what goes in; the picture has what goes in as rows.
TEST(ProbedCells, OfWeightsHaveWhatGoesInAsRows) {
  const TensorCells in = cells_of(counted({{"F", 3}, {"C", 2}}), Piece::kMlpIn);
  EXPECT_EQ(in.rows, 2);
  EXPECT_EQ(in.columns, 3);
  EXPECT_EQ(in.means, (std::vector<double>{0, 2, 4, 1, 3, 5}));
  const TensorCells out = cells_of(counted({{"C", 2}, {"F", 3}}), Piece::kMlpOut);
  EXPECT_EQ(out.rows, 3);
  EXPECT_EQ(out.means, (std::vector<double>{0, 3, 1, 4, 2, 5}));
  const TensorCells heads = cells_of(counted({{"H", 2}, {"D", 2}, {"C", 1}}), Piece::kQkv);
  EXPECT_EQ(heads.rows, 1);
  EXPECT_EQ(heads.columns, 4);
  // Words are looked up in the rows of the embedding's table.
  const TensorCells words = cells_of(counted({{"V", 2}, {"C", 3}}), Piece::kEmbedding);
  EXPECT_EQ(words.rows, 2);
  EXPECT_EQ(words.means, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const TensorCells gain = cells_of(counted({{"C", 3}}), Piece::kNorm1);
  EXPECT_EQ(gain.rows, 1);
  EXPECT_EQ(gain.columns, 3);
}

// Probabilities add up to one over the keys of each query, and none attends to what comes later.
TEST(ProbedCells, OfScoresAreQueriesByKeysAndCausal) {
  const auto setup = small_model("layers=1 steps=1 warmup=0 micro-batch=2 sequence=8 tp=2");
  const Program program = built(setup);
  const Probe probe{0, Piece::kAttention, 0, Phase::kForward, 1};
  const Result<RunResult> run = run_now(setup, program, {.probes = {probe}});
  ASSERT_TRUE(run.ok()) << run.error().text;
  int seen = 0;
  for (const ProbedRank& probed : run->probes)
    for (const ProbedTensor& tensor : probed.tensors) {
      if (tensor.what.name != "probabilities") continue;
      ++seen;
      const TensorCells cells = cells_of(tensor, probe.piece);
      ASSERT_EQ(cells.rows, 8);
      ASSERT_EQ(cells.columns, 8);
      for (int query = 0; query < 8; ++query) {
        double sum = 0;
        for (int key = 0; key < 8; ++key) {
          const double mean = cells.means[std::size_t(query * 8 + key)];
          sum += mean;
          EXPECT_TRUE(key <= query || mean == 0);
        }
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace parallelarium
