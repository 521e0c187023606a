// SPDX-License-Identifier: Apache-2.0
// What collectives of tensor parallelism establish, on the tensors of a run.
#include "engine/run/train/probe_identity.h"

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
        Case{"llama tp=2 sequence-parallel=true dp=2", 2, 2}}) {
    const parallelarium::Setup setup =
        small_model(std::string("layers=2 steps=1 warmup=0 micro-batch=2 ") + words);
    const Program program = built(setup);
    Result<RunResult> run = run_now(setup, program, {.probes = beside_collectives()});
    ASSERT_TRUE(run.ok()) << run.error().text;
    const auto identities = identities_of(setup, program, run->probes);
    ASSERT_EQ(identities.size(), sums + gathers) << words;
    std::size_t added = 0;
    for (const ProbedIdentity& identity : identities) {
      added += identity.sum;
      EXPECT_EQ(identity.ranks.size(), std::size_t(setup.mesh.tp));
      EXPECT_GT(identity.largest_value, 0);
      // Ranks add up in another order; what is gathered is the same bit for bit.
      EXPECT_LE(identity.largest_difference, identity.sum ? 1e-6 * identity.largest_value : 0)
          << sentence_of(identity).text;
    }
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
    const TensorCells cells = cells_of(tensor);
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
  ProbedTensor scores;
  scores.what.dimensions = {{"B", 1, 1, 4, {}, {}}, {"H", 2, 2, 2, {}, {}}, {"T", 2, 2, 1, {}, {}}};
  EXPECT_EQ(cells_of(scores).rows, 0);
}

}  // namespace
}  // namespace parallelarium
