// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/passes/pieces.h"
#include "engine/plan/program/report.h"
#include "engine/predict/memory.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

Setup tiny(int pp, int dp, int microbatches, const std::string& schedule = "1f1b") {
  Setup setup = default_setup();
  setup.model.layers = 12;
  setup.mesh.pp = pp;
  setup.mesh.dp = dp;
  setup.microbatches = microbatches;
  setup.schedule = schedule;
  return setup;
}

Program build(const Setup& setup, BuildOptions options = {.all_ranks = true}) {
  const auto problems = validate(setup);
  EXPECT_TRUE(problems.empty()) << problems.front().text;
  const Result<Order> order = make_order(setup);
  EXPECT_TRUE(order.ok()) << order.error().text;
  Result<Program> program = build_program(setup, *order, options);
  EXPECT_TRUE(program.ok()) << program.error().text;
  return *program;
}

struct Built {
  int pp, dp, microbatches;
  const char* schedule;
};
void PrintTo(const Built& c, std::ostream* out) {
  *out << c.schedule << " pp " << c.pp << " dp " << c.dp << " m " << c.microbatches;
}

class EveryMesh : public testing::TestWithParam<Built> {
 protected:
  parallelarium::Setup setup() const {
    const Built& c = GetParam();
    return tiny(c.pp, c.dp, c.microbatches, c.schedule);
  }
};

TEST_P(EveryMesh, PassesTheCheck) {
  const auto faults = check(build(setup()));
  EXPECT_TRUE(faults.empty()) << faults.front().text;
}

// Sent bytes between stages: b s h elements per micro-batch, boundary and direction (Narayanan et
// al. 2021, section 3.2), counted here from the ops themselves.
TEST_P(EveryMesh, MovesOneActivationAndOneGradientPerBoundaryAndMicrobatch) {
  const parallelarium::Setup s = setup();
  const Program program = build(s);
  std::int64_t activations = 0, gradients = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) {
      if (op.kind != OpKind::kSend) continue;
      (op.purpose == Purpose::kActivations ? activations : gradients) += op.bytes;
    }
  }
  const std::int64_t expected = std::int64_t{4} * s.micro_batch * s.model.sequence *
                                s.model.hidden * (s.mesh.pp - 1) * s.microbatches * s.mesh.dp;
  EXPECT_EQ(activations, expected);
  EXPECT_EQ(gradients, expected);
}

// Every parameter of the model is on exactly one stage (a tied table also as a marked copy), and
// every rank's gradients are reduced over DP exactly once.
TEST_P(EveryMesh, HoldsAndReducesEveryParameterOnce) {
  const parallelarium::Setup s = setup();
  const Program program = build(s);
  std::int64_t owned = 0;
  for (const RankProgram& rank : program.ranks) {
    std::int64_t held = 0;
    for (const ParameterSlice& slice : rank.parameters) {
      held += slice.count;
      if (!slice.shared_copy) owned += slice.count;
    }
    std::int64_t reduced = 0;
    for (const Op& op : rank.ops) {
      if (op.kind == OpKind::kCollective && op.purpose == Purpose::kGradients)
        reduced += op.bytes / 4;
    }
    EXPECT_EQ(reduced, s.mesh.dp > 1 ? held : 0);
  }
  EXPECT_EQ(owned, count_parameters(s.model).total * s.mesh.dp);
}

// Two buffers may share bytes only if one is closed before the other opens.
TEST_P(EveryMesh, PlansMemoryWithoutOverlap) {
  const Program program = build(setup());
  for (const RankProgram& rank : program.ranks) {
    std::map<std::int64_t, std::int64_t> open;  // offset -> end
    const auto take = [&](const Buffer& buffer) {
      const auto next = open.lower_bound(buffer.offset);
      if (next != open.end()) {
        EXPECT_LE(buffer.offset + buffer.bytes, next->first);
      }
      if (next != open.begin()) {
        EXPECT_LE(std::prev(next)->second, buffer.offset);
      }
      EXPECT_GE(buffer.offset, 0);
      EXPECT_LE(buffer.offset + buffer.bytes, rank.arena_bytes);
      open[buffer.offset] = buffer.offset + buffer.bytes;
    };
    for (const Buffer& buffer : rank.buffers) {
      if (buffer.opened_by < 0) take(buffer);
    }
    for (std::int32_t op = 0; op < static_cast<std::int32_t>(rank.ops.size()); ++op) {
      for (const Buffer& buffer : rank.buffers) {
        if (buffer.opened_by == op) take(buffer);
      }
      for (const Buffer& buffer : rank.buffers) {
        if (buffer.closed_by == op) open.erase(buffer.offset);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, EveryMesh,
                         testing::Values(Built{1, 1, 1, "1f1b"}, Built{1, 2, 3, "gpipe"},
                                         Built{2, 1, 1, "naive"}, Built{2, 1, 4, "1f1b"},
                                         Built{2, 4, 3, "1f1b"}, Built{3, 1, 7, "1f1b"},
                                         Built{3, 2, 2, "gpipe"}, Built{4, 1, 8, "1f1b"},
                                         Built{4, 1, 8, "gpipe"}, Built{4, 2, 5, "1f1b"},
                                         Built{4, 4, 9, "1f1b"}, Built{6, 1, 12, "naive"},
                                         Built{12, 1, 3, "1f1b"}));

// The arena is not larger than what must be open at once, but for little.
TEST(PlanMemory, WastesLittle) {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    const Program program = build(tiny(4, 1, 8, schedule));
    const std::vector<MemoryRow> rows = memory_of(program);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_LE(static_cast<double>(program.ranks[r].arena_bytes),
                1.02 * static_cast<double>(rows[r].peak_bytes) + 64.0 * 1024)
          << schedule << " rank " << r;
    }
  }
}

// Activations kept for a micro-batch by one layer: 16 N C + B H T T elements and the norms'
// statistics; the textbook's 34 sbh + 5 a s s b bytes (Korthikanti et al. 2022, eq. 2) at 16 bit
// without the masks.
TEST(Memory, KeepsTheTextbookActivations) {
  const auto kept = [](int layers) {
    parallelarium::Setup setup = tiny(1, 1, 1);
    setup.model.layers = layers;
    const Program program = build(setup);
    return memory_of(program)[0].bytes[static_cast<int>(Category::kActivations)];
  };
  const Model model = default_setup().model;
  const std::int64_t N = model.sequence, C = model.hidden;
  const std::int64_t layer = 4 * (16 * N * C + model.heads * N * N + 4 * N);
  EXPECT_EQ(kept(5) - kept(4), layer);
  EXPECT_EQ(kept(9) - kept(4), 5 * layer);
}

// In 16 bit and with dropout a layer keeps what Korthikanti et al. count, table 2, and the
// statistics of its norms, which they leave out; whatever TP and recompute.
TEST(Memory, KeepsTheBytesOfThePaperWithDropout) {
  for (const auto& [tp, sequence_parallel] : {std::pair{1, false}, {2, false}, {4, true}}) {
    for (const Recompute recompute :
         {Recompute::kNone, Recompute::kSelective, Recompute::kFull, Recompute::kNorms,
          Recompute::kActivation, Recompute::kNorms | Recompute::kActivation,
          Recompute::kSelective | Recompute::kNorms | Recompute::kActivation,
          Recompute::kSecondProducts,
          Recompute::kNorms | Recompute::kActivation | Recompute::kSecondProducts}) {
      parallelarium::Setup setup = tiny(1, 1, 1);
      for (const Precision& recipe : precision_recipes())
        if (recipe.name == "mixed-16") setup.precision = recipe;
      setup.dropout = 0.1;
      setup.mesh.tp = tp;
      setup.sequence_parallel = sequence_parallel;
      setup.recompute = recompute;
      // All layers are alive at the end of the forwards: what opens in a forward and closes later.
      const auto kept = [&](int layers) {
        setup.model.layers = layers;
        const Program program = build(setup, {.all_ranks = true});
        const RankProgram& rank = program.ranks[0];
        std::int64_t bytes = 0;
        for (const Buffer& buffer : rank.buffers) {
          if (buffer.category != Category::kActivations || buffer.opened_by < 0) continue;
          const Op& opens = rank.ops[static_cast<std::size_t>(buffer.opened_by)];
          const Op& closes = rank.ops[static_cast<std::size_t>(buffer.closed_by)];
          const bool stays = opens.phase == Phase::kForward && closes.phase != Phase::kForward;
          bytes += stays ? buffer.bytes : 0;
        }
        return bytes;
      };
      LayerShape shape;
      shape.s = static_cast<double>(setup.model.sequence);
      shape.b = setup.micro_batch;
      shape.h = static_cast<double>(setup.model.hidden);
      shape.a = setup.model.heads;
      shape.t = tp;
      shape.sequence_parallel = sequence_parallel;
      // Of a layer computed again only its input stays, of which SP keeps a part on each rank; the
      // paper counts it whole.
      const double ranks = sequence_parallel ? tp : 1;
      // Norms that are computed again make their statistics anew.
      const double statistics = names(recompute, Recompute::kNorms) ? 0 : 16;
      const double expected =
          recompute == Recompute::kFull
              ? layer_activation_bytes(shape, recompute) / ranks
              : layer_activation_bytes(shape, recompute) + statistics * shape.s * shape.b / ranks;
      EXPECT_DOUBLE_EQ(static_cast<double>(kept(5) - kept(4)), expected)
          << "tp " << tp << " recompute " << static_cast<int>(recompute);
    }
  }
}

// Of a layer with a SwiGLU wait its input, queries, values, attention's context and sums, and the
// gate; what is computed again is the product of the keys, the projection and that of SwiGLU's up,
// and no other. Source: the save list of torchtitan (second_products.cpp), counted by hand.
TEST(Recompute, EverySecondProductKeepsAndMultipliesWhatTheSaveListSays) {
  parallelarium::Setup setup = tiny(1, 1, 1);
  setup.model = *find_model("llama-tiny");
  setup.attention = Attention::kFused;
  setup.recompute = Recompute::kNorms | Recompute::kActivation | Recompute::kSecondProducts;
  const auto built = [&](int layers) {
    setup.model.layers = layers;
    return build(setup);
  };
  const auto kept = [&](int layers) {
    const Program program = built(layers);
    const RankProgram& rank = program.ranks[0];
    std::int64_t bytes = 0;
    for (const Buffer& buffer : rank.buffers) {
      if (buffer.category != Category::kActivations || buffer.opened_by < 0) continue;
      const Phase opens = rank.ops[static_cast<std::size_t>(buffer.opened_by)].phase;
      const Phase closes = rank.ops[static_cast<std::size_t>(buffer.closed_by)].phase;
      bytes += opens == Phase::kForward && closes != Phase::kForward ? buffer.bytes : 0;
    }
    return bytes;
  };
  const Model& model = setup.model;
  const std::int64_t N = model.sequence * setup.micro_batch, C = model.hidden, H = model.heads;
  const std::int64_t D = C / H, K = model.kv_heads, F = model.ffn;
  EXPECT_EQ(kept(5) - kept(4), 4 * N * (C + H * D + K * D + H * D + H + F));

  double flops = 0;
  const Program program = built(4);
  for (const Op& op : program.ranks[0].ops)
    if (op.phase == Phase::kRecompute && op.microbatch == 0)
      for (const Work& work : program.works[static_cast<std::size_t>(op.work)]) flops += work.flops;
  const std::int64_t again = K * D * C + C * H * D + F * C;
  EXPECT_DOUBLE_EQ(flops, 4 * 2.0 * static_cast<double>(N * again));
}

// In a ring of TP a product of one rank's tokens waits for these alone: for the transfer that
// brings them, and for none behind it.
TEST(RingOfProducts, WaitsForItsOwnTokens) {
  parallelarium::Setup setup = tiny(1, 1, 1);
  setup.mesh.tp = 4;
  setup.sequence_parallel = setup.ring_tensor = true;
  const Program program = build(setup);
  for (const RankProgram& rank : program.ranks) {
    int products = 0;
    for (const Op& op : rank.ops) {
      const bool cut = op.piece == Piece::kMlpIn && op.phase == Phase::kForward && op.block > 0;
      if (op.kind != OpKind::kCompute || !cut) continue;
      ++products;
      const Operand& tokens = rank.operands_of(op).front();
      const std::int32_t brings = rank.buffers[static_cast<std::size_t>(tokens.buffer)].opened_by;
      EXPECT_EQ(rank.ops[static_cast<std::size_t>(brings)].kind, OpKind::kRecv);
      bool waits = false;
      for (std::int32_t at = op.after_first; at < op.after_first + op.after_count; ++at) {
        const std::int32_t before = rank.after[static_cast<std::size_t>(at)];
        waits = waits || before == brings;
        EXPECT_LE(before, brings);
      }
      EXPECT_TRUE(waits);
    }
    EXPECT_EQ(products, setup.model.layers * (setup.mesh.tp - 1));
  }
}

// Rows of logits begin at multiples of 16 bytes whatever the vocabulary; weights have no gaps.
TEST(Memory, HoldsLogitsWithRowsApartAndParametersWithout) {
  for (const std::int64_t vocab : {256, 257, 263, 264, 50257})
    for (const int tp : {1, 2}) {
      parallelarium::Setup setup = tiny(1, 1, 2, "1f1b");
      setup.model.vocab = vocab;
      setup.mesh.tp = tp;
      const Program program = build(setup, {});
      const Shape& shape = program.shape;
      const std::int64_t V = (vocab + tp - 1) / tp;
      EXPECT_GE(shape.logits_pitch(), V);
      EXPECT_LT(shape.logits_pitch(), V + 8);
      EXPECT_EQ(shape.logits_pitch() * size_of(DataType::kBf16) % 16, 0);
      int seen = 0;
      for (const Buffer& buffer : program.ranks[0].buffers)
        if (buffer.tensor == Tensor::kLogits) {
          ++seen;
          EXPECT_EQ(buffer.offset % 16, 0);
          EXPECT_EQ(buffer.bytes, shape.B * shape.T * shape.logits_pitch() * 4);
        }
      EXPECT_EQ(seen, 2);
      const ParameterSlice* table =
          find_slice(program.ranks[0].parameters, Parameter::kTokenTable, -1);
      ASSERT_NE(table, nullptr);
      EXPECT_EQ(table->count, V * shape.C);
    }
}

TEST(Memory, OneFOneBHoldsFewerMicrobatchesThanGPipe) {
  const auto activations = [](const char* schedule, int m) {
    std::vector<std::int64_t> bytes;
    for (const MemoryRow& row : memory_of(build(tiny(4, 1, m, schedule)))) {
      bytes.push_back(row.bytes[static_cast<int>(Category::kActivations)]);
    }
    return bytes;
  };
  const auto gpipe8 = activations("gpipe", 8), gpipe16 = activations("gpipe", 16);
  const auto f8 = activations("1f1b", 8), f16 = activations("1f1b", 16);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_GT(gpipe16[stage], gpipe8[stage] * 3 / 2);
    EXPECT_LE(f16[stage], f8[stage] + f8[stage] / 20);
    EXPECT_LT(f8[stage], gpipe8[stage]);
  }
}

TEST(Recompute, FullKeepsOnlyTheInputsOfLayers) {
  parallelarium::Setup setup = tiny(1, 1, 4, "gpipe");
  const auto bytes = [&](Recompute recompute) {
    setup.recompute = recompute;
    return memory_of(build(setup))[0].bytes[static_cast<int>(Category::kActivations)];
  };
  const std::int64_t none = bytes(Recompute::kNone), selective = bytes(Recompute::kSelective),
                     full = bytes(Recompute::kFull);
  EXPECT_LT(selective, none);
  EXPECT_LT(full, selective);
}

// Every combination that can be predicted builds, and what replicas hold is what their stage holds.
TEST(Build, HandlesEveryAxis) {
  parallelarium::Setup setup = default_setup();
  setup.model.layers = 8;
  setup.mesh = {2, 2, 2, 2, 1, RankOrder::kTpCpEpDpPp};
  for (const int zero : {0, 1, 2, 3}) {
    setup.zero = zero;
    const Program program = build(setup, {});
    EXPECT_EQ(program.world, 16);
    EXPECT_EQ(program.ranks.size(), 16u);
    const auto rows = memory_of(program);
    for (const MemoryRow& row : rows) {
      EXPECT_EQ(row.peak_bytes, rows[representative_of(program, setup.mesh, row.rank)].peak_bytes);
    }
  }
}

// The layout that memory and traffic follow from counts what the model's own count says, which is
// tested against published figures.
TEST(Layout, HoldsThePublishedParametersOfEveryPreset) {
  for (const std::string& name : model_names()) {
    const Result<Model> model = find_model(name);
    ASSERT_TRUE(model.ok()) << name;
    parallelarium::Setup setup = default_setup();
    setup.model = *model;
    setup.mesh = {};
    Chunk all{{}, true, true};
    for (int layer = 0; layer < model->layers; ++layer) all.layers.push_back(layer);
    std::int64_t count = 0;
    for (const ParameterSlice& slice : parameter_layout(setup, {all})) count += slice.count;
    EXPECT_EQ(count, count_parameters(*model).total) << name;
  }
}

// The gradient that a weight part reads is the one that its input part saw: no other op writes the
// buffer in between.
TEST(Build, WeightPartsReadWhatTheirInputPartsSaw) {
  const Result<Order> order = order_from_text("F0 F1 I0 I1 W1 W0");
  ASSERT_TRUE(order.ok());
  const Result<Program> program = build_program(tiny(1, 1, 2), *order, {.all_ranks = true});
  ASSERT_TRUE(program.ok()) << program.error().text;
  const RankProgram& rank = program->ranks[0];
  std::map<std::tuple<int, int, Piece>, std::pair<std::int32_t, std::size_t>> seen;
  std::vector<std::size_t> written(rank.buffers.size());
  int compared = 0;
  for (std::size_t index = 0; index < rank.ops.size(); ++index) {
    const Op& op = rank.ops[index];
    const auto operands = rank.operands_of(op);
    const auto key = std::tuple<int, int, Piece>{op.microbatch, op.layer, op.piece};
    if (op.phase == Phase::kInputGrad) seen[key] = {operands[0].buffer, index};
    if (op.phase == Phase::kWeightGrad && op.piece != Piece::kEmbedding) {
      ASSERT_EQ(seen.count(key), 1u) << name_of(op.piece);
      const auto [buffer, at] = seen[key];
      EXPECT_EQ(operands[0].buffer, buffer) << name_of(op.piece);
      EXPECT_LT(written[static_cast<std::size_t>(buffer)], at) << name_of(op.piece);
      ++compared;
    }
    for (const Operand& operand : operands)
      if (operand.access != Access::kRead)
        written[static_cast<std::size_t>(operand.buffer)] = index;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace parallelarium
