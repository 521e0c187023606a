// SPDX-License-Identifier: Apache-2.0
// What the loss holds beside the logits, by a closed formula.
#include <gtest/gtest.h>

#include <set>

#include "engine/passes/build.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

Program program_of(const Setup& setup) {
  const auto problems = validate(setup);
  EXPECT_TRUE(problems.empty()) << problems.front().text;
  const Result<Order> order = make_order(setup);
  EXPECT_TRUE(order.ok()) << order.error().text;
  Result<Program> program = build_program(setup, *order, {.all_ranks = true});
  EXPECT_TRUE(program.ok()) << program.error().text;
  return std::move(*program);
}

Setup setup_of_size(std::int64_t vocab, std::int64_t sequence, int b, const char* precision) {
  Setup setup = default_setup();
  setup.model.vocab = vocab;
  setup.model.sequence = sequence;
  setup.mesh = Mesh();
  setup.microbatches = 2;
  setup.micro_batch = b;
  setup.precision = *find_precision(precision);
  return setup;
}

bool is_of_logits(Tensor tensor) {
  return tensor == Tensor::kLogits || tensor == Tensor::kLossLogits ||
         tensor == Tensor::kGradLogits;
}

// Bytes of logits, copies and gradients that are open while an op of the first micro-batch runs.
std::int64_t open_bytes(const RankProgram& rank, Piece piece, Phase phase) {
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(rank.ops.size()); ++at) {
    const Op& op = rank.ops[static_cast<std::size_t>(at)];
    if (op.piece != piece || op.phase != phase) continue;
    std::int64_t bytes = 0;
    for (const Buffer& buffer : rank.buffers)
      if (is_of_logits(buffer.tensor) && buffer.opened_by <= at && buffer.closed_by >= at)
        bytes += buffer.bytes;
    return bytes;
  }
  return -1;
}

// An element of the logits has e bytes. In fp32 the loss keeps 4 more; its backward has 4 for the
// gradient of the log-probabilities, 4 for the softmax where TP cuts the vocabulary, and 4 for the
// gradient before it is cast. Words are padded to the TP ranks, rows to 8 elements.
TEST(CopiesOfLogits, AreThoseOfTheirFormula) {
  struct Size {
    std::int64_t vocab, sequence;
    int b, tp, cp;
  };
  int compared = 0;
  for (const Size& size : {Size{256, 64, 1, 1, 1}, Size{257, 48, 3, 1, 1}, Size{1001, 40, 2, 2, 1},
                           Size{1013, 32, 5, 4, 1}, Size{509, 96, 1, 1, 2}, Size{263, 64, 2, 2, 2}})
    for (const char* precision : {"fp32", "mixed-16", "mixed-16-main-grads"})
      for (const LossCopies copies :
           {LossCopies::kNone, LossCopies::kGradient, LossCopies::kFp32}) {
        parallelarium::Setup setup = setup_of_size(size.vocab, size.sequence, size.b, precision);
        setup.mesh.tp = size.tp;
        setup.mesh.cp = size.cp;
        setup.loss_copies = copies;
        if (size.cp > 1) setup.attention = Attention::kFused;
        const Program program = program_of(setup);
        for (const Message& fault : check(program)) ADD_FAILURE() << fault.text;
        const std::int64_t words = (size.vocab + size.tp - 1) / size.tp, row = (words + 7) / 8 * 8;
        const std::int64_t elements = size.b * size.sequence / size.cp * row;
        const std::int64_t e = std::string(precision) == "fp32" ? 4 : 2;
        std::int64_t forward = e, backward = e;
        if (copies == LossCopies::kGradient) backward = 2 * e;
        if (copies == LossCopies::kFp32) {
          forward = e + 4;
          backward = e + 4 + 4 + (size.tp > 1 ? 4 : 0) + (e == 2 ? 4 : 0);
        }
        for (const RankProgram& rank : program.ranks) {
          EXPECT_EQ(open_bytes(rank, Piece::kLossSum, Phase::kForward), forward * elements)
              << size.vocab << " " << precision;
          EXPECT_EQ(open_bytes(rank, Piece::kLoss, Phase::kInputGrad), backward * elements)
              << size.vocab << " " << precision;
          EXPECT_EQ(open_bytes(rank, Piece::kHead, Phase::kWeightGrad), e * elements);
          ++compared;
        }
      }
  EXPECT_EQ(compared, 9 * (1 + 1 + 2 + 4 + 2 + 4));
}

// Only the stage with the head has them.
TEST(CopiesOfLogits, AreOfTheLastStage) {
  parallelarium::Setup setup = setup_of_size(257, 64, 1, "mixed-16");
  setup.mesh.pp = 2;
  const auto bytes = [&](LossCopies copies, std::size_t rank) {
    setup.loss_copies = copies;
    return program_of(setup).ranks[rank].arena_bytes;
  };
  EXPECT_EQ(bytes(LossCopies::kFp32, 0), bytes(LossCopies::kNone, 0));
  EXPECT_GT(bytes(LossCopies::kGradient, 1), bytes(LossCopies::kNone, 1));
  EXPECT_GT(bytes(LossCopies::kFp32, 1), bytes(LossCopies::kGradient, 1));
}

}  // namespace
}  // namespace parallelarium
