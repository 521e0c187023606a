// SPDX-License-Identifier: Apache-2.0
// Every fault that is planted in a right Program is found and named.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>

#include "tests/predict/built.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

std::string faults(const Program& program) {
  std::string text;
  for (const Message& wrong : check(program)) text += wrong.kind + ": " + wrong.text + "\n";
  return text;
}

Program pipeline(int pp = 4, int dp = 1, int microbatches = 8) {
  return built(small_setup("1f1b", pp, dp, microbatches));
}

// Several chunks on a rank, split backwards, stages held twice.
std::vector<Program> unusual() {
  Setup interleaved = small_setup("interleaved", 2, 2, 4, 4);
  interleaved.chunks = 2;
  return {built(interleaved), built(small_setup("zb-h1", 2, 2, 3)),
          built(small_setup("zb-v", 2, 1, 3, 4)), built(small_setup("dualpipe", 2, 1, 4)),
          built(small_setup("dualpipe-v", 2, 1, 4, 4))};
}

// Takes an op out of a rank, as if a pass had forgotten it.
void drop(RankProgram& rank, std::int32_t index) {
  const auto moved = [&](std::int32_t op) { return op > index ? op - 1 : op; };
  rank.ops.erase(rank.ops.begin() + index);
  for (Op& op : rank.ops) {
    const auto first = rank.after.begin() + op.after_first;
    const auto end = std::remove(first, first + op.after_count, index);
    op.after_count = static_cast<std::int32_t>(end - first);
    std::transform(first, end, first, moved);
  }
  for (Buffer& buffer : rank.buffers) {
    if (buffer.opened_by < 0) continue;
    buffer.opened_by = moved(buffer.opened_by);
    buffer.closed_by = std::max(buffer.opened_by, moved(buffer.closed_by));
  }
}

template <class Predicate>
std::vector<std::int32_t> ops_where(const RankProgram& rank, const Predicate& predicate) {
  std::vector<std::int32_t> found;
  for (std::size_t index = 0; index < rank.ops.size(); ++index) {
    if (predicate(rank.ops[index])) found.push_back(static_cast<std::int32_t>(index));
  }
  return found;
}

bool is_transfer(const Op& op) { return op.kind == OpKind::kSend || op.kind == OpKind::kRecv; }

TEST(Check, FindsNothingInRightPrograms) {
  for (const char* schedule : {"naive", "gpipe", "1f1b"}) {
    for (const auto& [pp, dp, m] :
         {std::tuple{1, 1, 1}, {1, 4, 3}, {2, 1, 4}, {3, 2, 7}, {4, 1, 8}, {8, 1, 16}}) {
      const auto setup = small_setup(schedule, pp, dp, m);
      EXPECT_EQ(faults(built(setup)), "") << schedule << pp << dp << m;
      EXPECT_EQ(faults(built(setup, {.all_ranks = true, .stage_level = true})), "")
          << schedule << pp << dp << m;
    }
  }
}

void expect_dropped_transfers_found(const Program& right) {
  for (std::size_t rank = 0; rank < right.ranks.size(); ++rank) {
    for (const std::int32_t op : ops_where(right.ranks[rank], is_transfer)) {
      Program program = right;
      drop(program.ranks[rank], op);
      EXPECT_NE(faults(program), "") << "rank " << rank << " op " << op;
    }
  }
}

TEST(Check, FindsEveryTransferThatOneSideDropped) {
  expect_dropped_transfers_found(pipeline(3, 1, 4));
  for (const Program& program : unusual()) expect_dropped_transfers_found(program);
}

void expect_missing_pieces_found(const Program& right) {
  const RankProgram& rank = right.ranks[0];
  for (const std::int32_t op :
       ops_where(rank, [](const Op& o) { return o.kind == OpKind::kCompute; })) {
    const Op& gone = rank.ops[static_cast<std::size_t>(op)];
    if (gone.piece == Piece::kGradNorm) continue;  // clipping may be off
    Program program = right;
    drop(program.ranks[0], op);
    EXPECT_NE(faults(program), "") << name_of(gone.piece) << " " << name_of(gone.phase);
  }
}

TEST(Check, FindsEveryPieceThatIsMissing) {
  expect_missing_pieces_found(pipeline(2, 2, 2));
  for (const Program& program : unusual()) expect_missing_pieces_found(program);
}

TEST(Check, FindsEveryBlockOfARingThatIsMissingOrDoubled) {
  auto tensor = small_setup("1f1b", 1, 1, 1, 2);
  tensor.mesh.tp = 4;
  tensor.sequence_parallel = tensor.ring_tensor = true;
  auto context = small_setup("1f1b", 1, 1, 1, 2);
  context.mesh.cp = 4;
  context.attention = Attention::kFused;
  for (const auto& setup : {tensor, context}) {
    const Program right = built(setup);
    ASSERT_EQ(faults(right), "");
    const std::vector<std::int32_t> blocks = ops_where(right.ranks[0], [](const Op& op) {
      return op.kind == OpKind::kCompute && op.block > 0 && op.piece != Piece::kCombine;
    });
    ASSERT_GE(blocks.size(), 12U);
    for (const std::int32_t op : blocks) {
      Program missing = right, doubled = right;
      missing.ranks[0].ops[static_cast<std::size_t>(op)].piece = Piece::kPermute;
      EXPECT_NE(faults(missing).find("program-missing"), std::string::npos);
      --doubled.ranks[0].ops[static_cast<std::size_t>(op)].block;
      EXPECT_NE(faults(doubled).find("program-doubled"), std::string::npos);
    }
  }
}

TEST(Check, FindsDoubledWork) {
  Program program = pipeline();
  RankProgram& rank = program.ranks[1];
  const auto forwards =
      ops_where(rank, [](const Op& op) { return op.piece == Piece::kMlpIn && op.microbatch == 1; });
  rank.ops[static_cast<std::size_t>(forwards[0]) + 1] =
      rank.ops[static_cast<std::size_t>(forwards[0])];
  EXPECT_NE(faults(program).find("twice"), std::string::npos) << faults(program);
}

// Whether two ops touch the same bytes of the arena, one of them writing, in no fixed order: by
// brute force over all pairs, without the notion of a buffer's life.
bool races(const RankProgram& rank) {
  using Ops = std::bitset<1024>;
  const std::size_t count = rank.ops.size();
  EXPECT_LE(count, Ops().size());
  std::vector<Ops> before(count);
  const auto ending_with = [&](std::int32_t op) {  // ops of a batch end together
    Ops ops;
    ops.set(static_cast<std::size_t>(op));
    const std::int32_t batch = rank.ops[static_cast<std::size_t>(op)].batch;
    for (std::size_t other = 0; batch >= 0 && other < count; ++other)
      if (rank.ops[other].batch == batch) ops.set(other);
    return ops;
  };
  for (int pass = 0; pass < 3; ++pass) {  // batches reach ahead of their first op
    for (std::size_t index = 0; index < count; ++index) {
      const Op& op = rank.ops[index];
      for (std::size_t other = 0; other < count; ++other) {
        const Op& candidate = rank.ops[other];
        const bool same_unit = other == index || (op.batch >= 0 && candidate.batch == op.batch);
        if (same_unit) {
          for (const std::int32_t edge : rank.after_of(candidate)) {
            before[index] |= before[static_cast<std::size_t>(edge)];
            before[index] |= ending_with(edge);
          }
        } else if (other < index && candidate.lane == op.lane) {
          before[index] |= before[other];
          before[index].set(other);
        }
      }
    }
  }
  const auto bytes_of = [&](const Operand& operand) {
    const auto begin = rank.buffers[static_cast<std::size_t>(operand.buffer)].offset +
                       operand.offset * size_of(operand.type);
    return std::pair{begin, begin + operand.count * size_of(operand.type)};
  };
  for (std::size_t later = 0; later < count; ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (before[later][earlier] || rank.ops[later].lane == rank.ops[earlier].lane) continue;
      for (const Operand& a : rank.operands_of(rank.ops[earlier])) {
        for (const Operand& b : rank.operands_of(rank.ops[later])) {
          if (a.access == Access::kRead && b.access == Access::kRead) continue;
          const auto [a_begin, a_end] = bytes_of(a);
          const auto [b_begin, b_end] = bytes_of(b);
          if (a_begin < b_end && b_begin < a_end) return true;
        }
      }
    }
  }
  return false;
}

void expect_dropped_edges_found(const Program& right, int at_least) {
  int races_found = 0;
  for (std::size_t rank = 0; rank < std::min<std::size_t>(3, right.ranks.size()); ++rank) {
    EXPECT_FALSE(races(right.ranks[rank]));
    for (std::size_t index = 0; index < right.ranks[rank].ops.size(); ++index) {
      const Op& op = right.ranks[rank].ops[index];
      for (std::int32_t edge = 0; edge < op.after_count; ++edge) {
        Program program = right;
        RankProgram& broken = program.ranks[rank];
        Op& changed = broken.ops[index];
        const auto first = broken.after.begin() + changed.after_first;
        std::iter_swap(first + edge, first + changed.after_count - 1);
        --changed.after_count;
        if (!races(broken)) continue;  // another edge says the same, or it was careful only
        ++races_found;
        EXPECT_NE(faults(program), "") << "rank " << rank << " op " << index << " of "
                                       << name_of(op.kind) << " " << name_of(op.piece);
      }
    }
  }
  EXPECT_GT(races_found, at_least);
}

TEST(Check, FindsEveryDroppedEdgeThatLetsLanesRace) {
  expect_dropped_edges_found(pipeline(3, 2, 4), 30);
  for (const Program& program : unusual()) expect_dropped_edges_found(program, 10);
}

// Transfers placed rank by rank, each where its own rank meets it, and issued one by one.
Program placed_rank_by_rank(const Order& order) {
  const int ranks = static_cast<int>(order.ranks.size());
  TinyProgram tiny(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Action& action : order.ranks[static_cast<std::size_t>(rank)]) {
      const bool forward = action.kind == ActionKind::kForward;
      const int from = forward ? rank - 1 : rank + 1, to = forward ? rank + 1 : rank - 1;
      std::vector<std::int32_t> after;
      if (from >= 0 && from < ranks) after.push_back(tiny.recv(rank, from, 1));
      const int computed = tiny.compute(rank, 1, after);
      if (to >= 0 && to < ranks) tiny.send(rank, to, 1, {computed});
    }
  }
  return tiny.program;
}

TEST(Check, NamesTheCircleOfUnbatchedOneFOneB) {
  EXPECT_EQ(faults(placed_rank_by_rank(gpipe_order(4, 4))), "");
  for (const auto& [p, m] : {std::pair{2, 4}, {4, 8}, {8, 16}}) {
    const std::string text = faults(placed_rank_by_rank(one_f_one_b_order(p, m)));
    EXPECT_EQ(text.rfind("program-circle", 0), 0u) << p << text;
  }
  EXPECT_EQ(
      faults(placed_rank_by_rank(one_f_one_b_order(2, 4))),
      "program-circle: The ranks wait for each other in a circle: rank 0 stands at sending "
      "activations to rank 1 and waits for receiving activations from rank 0 on rank 1, rank 1 "
      "stands at sending activations to rank 0 and waits for receiving activations from rank 1 "
      "on rank 0.\n");
}

TEST(Check, FindsTransfersThatDiffer) {
  Program program = pipeline();
  Op& op =
      program.ranks[0].ops[static_cast<std::size_t>(ops_where(program.ranks[0], is_transfer)[0])];
  op.bytes += 4;
  EXPECT_NE(faults(program).find("bytes"), std::string::npos) << faults(program);
  op.bytes -= 4;
  op.purpose = Purpose::kGradients;
  EXPECT_NE(faults(program).find("purpose"), std::string::npos) << faults(program);
  op.purpose = Purpose::kActivations;
  op.peer = 2;
  EXPECT_NE(faults(program).find("program-unmatched"), std::string::npos) << faults(program);
  op.peer = 0;
  EXPECT_NE(faults(program).find("itself"), std::string::npos) << faults(program);
  op.peer = 99;
  EXPECT_NE(faults(program).find("outside of the group"), std::string::npos) << faults(program);
}

TEST(Check, FindsOperandsOutsideAndBuffersThatAreClosed) {
  const Program right = pipeline();
  const auto forward = static_cast<std::size_t>(
      ops_where(right.ranks[2], [](const Op& op) { return op.piece == Piece::kQkv; })[0]);
  const Op& op = right.ranks[2].ops[forward];
  Program program = right;
  program.ranks[2].operands[static_cast<std::size_t>(op.operand_first)].count += 1;
  EXPECT_NE(faults(program).find("outside of a buffer"), std::string::npos) << faults(program);

  program = right;
  const auto input = program.ranks[2].operands[static_cast<std::size_t>(op.operand_first)].buffer;
  program.ranks[2].buffers[static_cast<std::size_t>(input)].closed_by =
      program.ranks[2].buffers[static_cast<std::size_t>(input)].opened_by;
  EXPECT_NE(faults(program).find("not open"), std::string::npos) << faults(program);
}

TEST(Check, FindsBuffersThatShareAPlace) {
  Program program = pipeline();
  RankProgram& rank = program.ranks[0];
  // Two activations of one micro-batch in the same place.
  std::vector<std::size_t> kept;
  for (std::size_t index = 0; index < rank.buffers.size(); ++index) {
    if (rank.buffers[index].microbatch == 0 &&
        rank.buffers[index].category == Category::kActivations) {
      kept.push_back(index);
    }
  }
  ASSERT_GT(kept.size(), 2u);
  rank.buffers[kept[1]].offset = rank.buffers[kept[0]].offset;
  EXPECT_NE(faults(program).find("program-overlap"), std::string::npos) << faults(program);
  rank.buffers[kept[1]].offset = rank.arena_bytes;
  EXPECT_NE(faults(program).find("program-arena"), std::string::npos) << faults(program);
}

TEST(Check, SurvivesIndicesThatPointNowhere) {
  const Program right = pipeline(2, 1, 2);
  for (const std::int32_t wild : {-7, 1'000'000}) {
    for (int field = 0; field < 7; ++field) {
      Program program = right;
      RankProgram& rank = program.ranks[0];
      Op& op = rank.ops[static_cast<std::size_t>(ops_where(rank, is_transfer)[0])];
      switch (field) {
        case 0:
          op.group = wild;
          break;
        case 1:
          op.peer = wild;
          break;
        case 2:
          op.after_first = wild;
          break;
        case 3:
          op.operand_first = wild;
          break;
        case 4:
          rank.operands[static_cast<std::size_t>(op.operand_first)].buffer = wild;
          break;
        case 5:
          rank.buffers.back().closed_by = wild;
          break;
        case 6:
          program.groups[0].ranks[0] = wild;
          break;
        default:
          break;
      }
      EXPECT_NE(faults(program), "") << "field " << field << " " << wild;
    }
  }
}

}  // namespace
}  // namespace parallelarium
