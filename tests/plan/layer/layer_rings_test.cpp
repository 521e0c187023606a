// SPDX-License-Identifier: Apache-2.0
// What a layer's description says of products that a ring of TP cuts: which block of tokens a step
// multiplies, what travels, and where sums end. Both ends of every ring are pieces that no ring
// cuts.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <set>

#include "engine/passes/build.h"
#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/order/order_graph.h"
#include "engine/schedules/schedule.h"
#include "tests/plan/layer/layer_setups.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

using Rows = std::vector<std::pair<std::int64_t, std::int64_t>>;  // [begin, end)

Rows rows_of(const LayerTensor& tensor) {
  Rows rows;
  for (const ChunkRange& range : tensor.row_ranges) rows.push_back({range.begin, range.end});
  return rows;
}

std::int64_t tokens_in(const Rows& rows) {
  return std::accumulate(
      rows.begin(), rows.end(), std::int64_t{0},
      [](std::int64_t sum, const auto& range) { return sum + range.second - range.first; });
}

const LayerTensor* find_tensor(const LayerRankStep& part, const std::string& name, bool written) {
  for (const LayerTensor& tensor : part.tensors)
    if (tensor.name == name && tensor.written == written) return &tensor;
  return nullptr;
}

// What a rank sends is what the next finds: the same tokens, and the bytes of the message.
TEST(LayerRings, PassTheBlockThatTheNextRankReceives) {
  for (const auto& setup : rings())
    for (const bool backward : {false, true}) {
      const LayerSteps layer = layer_steps(setup, built(setup), {0, 0, backward});
      int exchanges = 0;
      for (const LayerStep& step : layer.steps) {
        if (step.kind != LayerStepKind::kExchange || step.axis != Axis::kTp ||
            step.phase == Phase::kRecompute)
          continue;
        for (const LayerRankStep& part : step.ranks) {
          ASSERT_EQ(part.tensors.size(), 2u);
          const LayerTensor& sent = part.tensors[0];
          ASSERT_GE(part.sends_to, 0);
          const LayerTensor& came = step.ranks[std::size_t(part.sends_to)].tensors[1];
          EXPECT_FALSE(sent.written);
          EXPECT_TRUE(came.written);
          EXPECT_EQ(rows_of(sent), rows_of(came));
          EXPECT_EQ(sent.name, came.name);
          EXPECT_EQ(sent.partial, came.partial);
          EXPECT_EQ(sent.bytes, part.sent_bytes);
          ++exchanges;
        }
      }
      // Forward: in front of both column products, behind both row products; backward: behind the
      // column products, where no choice hides these sums otherwise.
      const int rings = backward ? (setup.overlap_tensor ? 0 : 2) : 4;
      EXPECT_EQ(exchanges, rings * (setup.mesh.tp - 1) * int(layer.ranks.size()));
    }
}

// Tokens begin with what the norm left; each rank multiplies all tokens, each once, and leaves them
// in the rows that attention or the activation finds. FLOPs and weights of all blocks are equal.
TEST(LayerRings, MultiplyAllTokensOnceBlockByBlock) {
  for (const auto& setup : rings()) {
    const LayerSteps layer = layer_steps(setup, built(setup), {0, 0, false});
    for (const auto& [piece, norm] :
         {std::pair(Piece::kQkv, Piece::kNorm1), std::pair(Piece::kMlpIn, Piece::kNorm2)})
      for (std::size_t rank = 0; rank < layer.ranks.size(); ++rank) {
        Rows own;
        std::int64_t multiplied = 0, left = 0;
        int blocks = 0;
        std::set<std::int64_t> begins;
        double flops = 0;
        for (const LayerStep& step : layer.steps) {
          const LayerRankStep& part = step.ranks[rank];
          if (step.kind != LayerStepKind::kCompute) continue;
          if (step.piece == norm) own = rows_of(*find_tensor(part, "y", true));
          if (step.piece != piece) continue;
          const LayerTensor *found = find_tensor(part, "y", false), *result = nullptr;
          for (const LayerTensor& tensor : part.tensors)
            if (tensor.written) result = &tensor;
          ASSERT_TRUE(found && result);
          EXPECT_EQ(step.block, blocks++);
          EXPECT_EQ(step.blocks, setup.mesh.tp);
          EXPECT_EQ(step.block == 0, rows_of(*found) == own);
          EXPECT_EQ(rows_of(*found), rows_of(*result));
          EXPECT_EQ(found->held_rows, tokens_in(rows_of(*found)));
          if (step.block > 0) {
            EXPECT_EQ(part.flops, flops);
          }
          flops = part.flops;
          multiplied += found->held_rows;
          left += result->bytes;
          begins.insert(found->row_ranges.front().begin);
        }
        EXPECT_EQ(blocks, setup.mesh.tp);
        EXPECT_EQ(begins.size(), std::size_t(setup.mesh.tp));
        EXPECT_EQ(multiplied, setup.micro_batch * setup.model.sequence / setup.mesh.cp);
        EXPECT_GT(left, 0);
      }
  }
}

// Each rank adds its part of every block to what came of the same tokens; the sum of all parts is
// that of its own tokens, which the residual or the norm's backward finds.
TEST(LayerRings, SumsEndWithTheRanksOwnTokens) {
  for (const auto& setup : rings())
    for (const bool backward : {false, true}) {
      const LayerSteps layer = layer_steps(setup, built(setup), {0, 0, backward});
      int ends = 0;
      for (std::size_t rank = 0; rank < layer.ranks.size(); ++rank) {
        Rows made;
        std::optional<Rows> finished;
        for (const LayerStep& step : layer.steps) {
          const LayerRankStep& part = step.ranks[rank];
          if (step.kind != LayerStepKind::kCompute) continue;
          const bool adds = step.piece == Piece::kResidual1 || step.piece == Piece::kResidual2;
          const bool norm = step.piece == Piece::kNorm1 || step.piece == Piece::kNorm2;
          if (finished && (adds || norm)) {
            EXPECT_EQ(rows_of(part.tensors[adds ? 1 : 0]), *finished);
            finished.reset();
          }
          if (step.piece == Piece::kCombine) {
            const bool last = step.block + 1 == setup.mesh.tp;
            ASSERT_EQ(part.tensors.size(), 3u);
            for (const LayerTensor& tensor : part.tensors) {
              EXPECT_EQ(rows_of(tensor), made);
              EXPECT_EQ(tensor.partial, !(last && tensor.written)) << tensor.name;
            }
            if (last) finished = rows_of(part.tensors[2]);
            ends += last;
          } else if (step.blocks > 1 && part.tensors.back().partial) {
            made = rows_of(part.tensors.back());
            EXPECT_EQ(tokens_in(made), part.tensors.back().held_rows);
          }
        }
        EXPECT_FALSE(finished);
      }
      EXPECT_EQ(ends, (backward && setup.overlap_tensor ? 0 : 2) * int(layer.ranks.size()));
    }
}

// A ring of TP passes its blocks to the neighbour along TP.
TEST(LayerRings, SendToTheNextRank) {
  const auto setup = ring_of(4, 1);
  const LayerSteps layer = layer_steps(setup, built(setup), {0, 0, false});
  int exchanges = 0;
  for (const LayerStep& step : layer.steps) {
    if (step.kind != LayerStepKind::kExchange) continue;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank, ++exchanges) {
      const int to = step.ranks[rank].sends_to;
      ASSERT_GE(to, 0);
      EXPECT_EQ(layer.ranks[std::size_t(to)].at.tp, (layer.ranks[rank].at.tp + 1) % 4);
    }
  }
  EXPECT_GT(exchanges, 0);
}

}  // namespace
}  // namespace parallelarium
