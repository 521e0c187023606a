// SPDX-License-Identifier: Apache-2.0
// What ZeRO does beside computing: gathers of parameters go ahead as far as they are told to, what
// is gathered is freed after its last use, and gradients are reduced while the backward goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/passes/build.h"
#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

Setup setup_of(int zero, int prefetch, int pp = 1, const char* schedule = "1f1b") {
  Setup setup = default_setup();
  setup.mesh = {2, 1, pp, 1, 1};
  setup.microbatches = 2 * pp;
  setup.schedule = schedule;
  if (setup.schedule == "interleaved") setup.chunks = 2;
  setup.zero = zero;
  setup.zero_prefetch = prefetch;
  return setup;
}

Program overlapped(const Setup& setup, bool stage_level = false) {
  const Result<Order> order = make_order(setup);
  EXPECT_TRUE(order.ok()) << order.error().text;
  Result<Program> program = build_program(setup, *order, {.stage_level = stage_level});
  EXPECT_TRUE(program.ok()) << program.error().text;
  for (const Message& wrong : check(*program)) ADD_FAILURE() << wrong.text;
  return std::move(*program);
}

bool touches(const RankProgram& rank, const Op& op, std::int32_t buffer) {
  const auto operands = rank.operands_of(op);
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Operand& operand) { return operand.buffer == buffer; });
}

// By buffer of gathered parameters: the ops that touch it, the gather first.
struct Gathered {
  std::int32_t buffer = -1;
  std::vector<std::size_t> ops;
};
std::vector<Gathered> gathered_of(const RankProgram& rank) {
  std::vector<Gathered> all;
  for (std::size_t i = 0; i < rank.buffers.size(); ++i) {
    if (rank.buffers[i].tensor != Tensor::kGathered) continue;
    Gathered& one = all.emplace_back();
    one.buffer = static_cast<std::int32_t>(i);
    for (std::size_t op = 0; op < rank.ops.size(); ++op)
      if (touches(rank, rank.ops[op], one.buffer)) one.ops.push_back(op);
  }
  return all;
}

// A backward gathers the tables, too, though an embedding's reads nothing of them.
bool is_unread_table(const RankProgram& rank, const Gathered& one) {
  const Op& gather = rank.ops[one.ops[0]];
  return one.ops.size() == 1 && gather.phase != Phase::kForward && gather.layer < 0;
}

// Layers that compute between the gather and the first op that reads it.
int layers_ahead(const RankProgram& rank, const Gathered& one) {
  std::set<std::pair<int, int>> between;  // action, layer
  const Op& reader = rank.ops[one.ops[1]];
  for (std::size_t i = one.ops[0]; i < one.ops[1]; ++i) {
    const Op& op = rank.ops[i];
    const bool computes = op.kind == OpKind::kCompute && op.action >= 0;
    if (computes && op.piece != Piece::kZeroGrad) between.insert({op.action, op.layer});
  }
  between.erase({reader.action, reader.layer});
  return static_cast<int>(between.size());
}

TEST(Prefetch, GathersAsManyLayersAheadAsTheSetupSays) {
  for (const int depth : {0, 1, 2, 3, 16}) {
    for (const auto& [pp, schedule] :
         {std::pair{1, "1f1b"}, {2, "1f1b"}, {2, "interleaved"}, {2, "zb-h1"}}) {
      const Result<Prediction> prediction =
          predict(setup_of(3, depth, pp, schedule), *find_machine("dgx-a100-80g"), true);
      ASSERT_TRUE(prediction.ok());
      for (std::size_t at = 0; at < prediction->program.ranks.size(); ++at) {
        const RankProgram& rank = prediction->program.ranks[at];
        const std::vector<Span>& spans = prediction->timeline.ranks[at].spans;
        const std::vector<Gathered> all = gathered_of(rank);
        ASSERT_GT(all.size(), 8U);
        int most = 0;
        for (const Gathered& one : all) {
          if (is_unread_table(rank, one)) continue;
          ASSERT_GE(one.ops.size(), 2U) << "gathered, never read";
          // In time, too: not before what is computed before those layers has ended.
          std::size_t before = one.ops[0];
          while (before > 0 && rank.ops[before].lane != Lane::kCompute) --before;
          if (rank.ops[before].lane == Lane::kCompute) {
            EXPECT_GE(spans[one.ops[0]].begin, spans[before].end);
          }
          const int ahead = layers_ahead(rank, one);
          EXPECT_LE(ahead, depth) << schedule << " rank " << rank.rank;
          most = std::max(most, ahead);
        }
        EXPECT_EQ(most, depth) << schedule << " rank " << rank.rank;
      }
    }
  }
}

TEST(Prefetch, FreesWhatWasGatheredAfterItsLastUse) {
  for (const int depth : {0, 1, 3}) {
    const Program program = overlapped(setup_of(3, depth, 2));
    for (const RankProgram& rank : program.ranks) {
      for (const Gathered& one : gathered_of(rank)) {
        const Buffer& buffer = rank.buffers[static_cast<std::size_t>(one.buffer)];
        EXPECT_EQ(static_cast<std::size_t>(buffer.opened_by), one.ops.front());
        EXPECT_EQ(static_cast<std::size_t>(buffer.closed_by), one.ops.back());
        // One action's, not both the forward's and the backward's.
        std::set<int> actions;
        for (const std::size_t op : one.ops)
          if (rank.ops[op].kind == OpKind::kCompute) actions.insert(rank.ops[op].action);
        EXPECT_EQ(actions.size(), is_unread_table(rank, one) ? 0U : 1U);
      }
    }
  }
}

// Kept from forward to backward, each bucket is gathered once for every backward of a micro-batch,
// whatever the schedule; a backward is the last that reads it.
TEST(KeptParameters, AreGatheredOnceForEveryBackward) {
  for (const auto& [pp, schedule] : {std::pair{1, "1f1b"},
                                     {1, "gpipe"},
                                     {2, "1f1b"},
                                     {2, "gpipe"},
                                     {2, "interleaved"},
                                     {2, "zb-h1"},
                                     {2, "zb-v"}}) {
    for (const bool stage_level : {false, true}) {
      parallelarium::Setup setup = setup_of(3, 1, pp, schedule);
      setup.zero_reshard = false;
      setup.model.tied = false;  // a table at both ends of a V is gathered for each
      const Program program = overlapped(setup, stage_level);
      for (const RankProgram& rank : program.ranks) {
        std::size_t gathers = 0;
        for (const Op& op : rank.ops)
          gathers += op.purpose == Purpose::kParameters &&
                     op.collective == CollectiveKind::kAllGather && op.kind == OpKind::kCollective;
        EXPECT_EQ(gathers, rank.buckets.size() * static_cast<std::size_t>(setup.microbatches))
            << schedule << " rank " << rank.rank << (stage_level ? " by stage" : "");
        if (stage_level) continue;
        for (const Gathered& one : gathered_of(rank)) {
          const Op& last = rank.ops[one.ops.back()];
          EXPECT_TRUE(is_unread_table(rank, one) || last.phase != Phase::kForward ||
                      last.layer < 0);
        }
      }
    }
  }
}

// Two passes of parameters in place of three, for the memory of a stage's parameters.
TEST(KeptParameters, TradeMemoryForTraffic) {
  parallelarium::Setup setup = setup_of(3, 1);
  const auto measure = [&](bool reshard) {
    setup.zero_reshard = reshard;
    const Result<Prediction> prediction = predict(setup, *find_machine("dgx-a100-80g"));
    EXPECT_TRUE(prediction.ok());
    double sent = 0;
    for (const TrafficRow& row : prediction->traffic) sent += static_cast<double>(row.sent_bytes);
    return std::tuple{sent, prediction->memory[0].bytes[static_cast<int>(Category::kBuffers)],
                      prediction->step.seconds};
  };
  const auto [sent, buffers, seconds] = measure(true);
  const auto [kept_sent, kept_buffers, kept_seconds] = measure(false);
  EXPECT_NEAR(kept_sent / sent, 2.0 / 3, 1e-3);
  const double all = 4.0 * static_cast<double>(count_parameters(setup.model).total);
  EXPECT_GT(static_cast<double>(kept_buffers - buffers), 0.5 * all);
  EXPECT_LT(static_cast<double>(kept_buffers), 1.5 * all);
  EXPECT_LE(kept_seconds, seconds);
}

// Each layer gathered ahead takes its memory; on slow links it pays.
TEST(Prefetch, TradesMemoryForTime) {
  const Machine machine = *find_machine("dgx-a100-80g");
  parallelarium::Setup setup = setup_of(3, 0);
  setup.model = *find_model("gpt2-124m");
  setup.precision = precision_recipes()[0];
  const auto with = [&](int depth) {
    setup.zero_prefetch = depth;
    const Result<Prediction> prediction = predict(setup, machine);
    EXPECT_TRUE(prediction.ok());
    return std::pair{prediction->step.seconds,
                     prediction->memory[0].bytes[static_cast<int>(Category::kBuffers)]};
  };
  const auto [none, none_bytes] = with(0);
  const auto [one, one_bytes] = with(1);
  const auto [three, three_bytes] = with(3);
  EXPECT_LT(one, none);
  EXPECT_LE(three, one * 1.001);
  EXPECT_LT(none_bytes, one_bytes);
  EXPECT_LT(one_bytes, three_bytes);
}

Setup gathers_ahead_of(int zero, int pp, const char* schedule, bool ahead = true) {
  Setup setup = setup_of(zero, 1, pp, schedule);
  setup.overlap_parameters = ahead;
  return setup;
}

// By bucket, in issue order, the ops that gather its parameters, and those that read them.
struct Reads {
  std::vector<std::vector<std::size_t>> gathers, readers;
};
Reads reads_of(const RankProgram& rank) {
  Reads reads;
  reads.gathers.resize(rank.buckets.size());
  reads.readers.resize(rank.buckets.size());
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    for (const Operand& operand : rank.operands_of(op)) {
      if (rank.buffers[static_cast<std::size_t>(operand.buffer)].tensor != Tensor::kParameters)
        continue;
      for (std::size_t bucket = 0; bucket < rank.buckets.size(); ++bucket) {
        const Bucket& of = rank.buckets[bucket];
        if (operand.offset + operand.count <= of.begin || of.begin + of.count <= operand.offset)
          continue;
        if (op.kind == OpKind::kCollective)
          reads.gathers[bucket].push_back(at);
        else if (operand.access == Access::kRead)
          reads.readers[bucket].push_back(at);
      }
    }
  }
  return reads;
}

// Every bucket is gathered once, in the order in which the first forwards read it, and nobody reads
// it before; nothing is gathered behind the update.
TEST(ParametersAhead, ComeOnceBeforeTheirFirstReader) {
  for (const int zero : {1, 2}) {
    for (const auto& [pp, schedule] :
         {std::pair{1, "1f1b"}, {2, "1f1b"}, {2, "interleaved"}, {2, "zb-v"}, {4, "dualpipe"}}) {
      const parallelarium::Setup setup = gathers_ahead_of(zero, pp, schedule);
      SCOPED_TRACE(std::to_string(zero) + " " + std::to_string(pp) + " " + schedule);
      overlapped(setup, true);  // without faults
      const Result<Prediction> prediction = predict(setup, *find_machine("dgx-a100-80g"), true);
      ASSERT_TRUE(prediction.ok());
      for (const Message& wrong : check(prediction->program)) ADD_FAILURE() << wrong.text;
      for (std::size_t at = 0; at < prediction->program.ranks.size(); ++at) {
        const RankProgram& rank = prediction->program.ranks[at];
        const std::vector<Span>& spans = prediction->timeline.ranks[at].spans;
        const Reads reads = reads_of(rank);
        std::vector<std::pair<std::size_t, std::size_t>> first;  // reader, gather
        for (std::size_t bucket = 0; bucket < rank.buckets.size(); ++bucket) {
          ASSERT_EQ(reads.gathers[bucket].size(), 1U);
          ASSERT_FALSE(reads.readers[bucket].empty());
          const std::size_t gather = reads.gathers[bucket].front();
          EXPECT_EQ(rank.ops[gather].lane, Lane::kData);
          EXPECT_EQ(rank.ops[gather].phase, Phase::kForward);
          for (const std::size_t reader : reads.readers[bucket])
            EXPECT_LE(spans[gather].end, spans[reader].begin);
          first.emplace_back(reads.readers[bucket].front(), gather);
        }
        std::sort(first.begin(), first.end());
        for (std::size_t next = 1; next < first.size(); ++next)
          EXPECT_LT(first[next - 1].second, first[next].second);
      }
    }
  }
}

// Between slow ranks most of it hides behind the first micro-batch; the same bytes travel, and a
// rank holds as much as before.
TEST(ParametersAhead, HideBehindTheFirstForward) {
  const Machine machine = *find_machine("dgx-a100-80g");
  for (const int zero : {1, 2}) {
    for (const auto& [pp, schedule] : {std::pair{1, "1f1b"}, {4, "1f1b"}, {2, "interleaved"}}) {
      parallelarium::Setup setup = gathers_ahead_of(zero, pp, schedule, false);
      setup.model = *find_model("gpt2-124m");
      setup.micro_batch = 4;
      const Result<Prediction> behind = predict(setup, machine);
      setup.overlap_parameters = true;
      const Result<Prediction> ahead = predict(setup, machine);
      ASSERT_TRUE(behind.ok() && ahead.ok());
      double gathers = 0;  // of the rank that takes longest
      for (std::size_t at = 0; at < behind->program.ranks.size(); ++at) {
        double own = 0;
        const RankProgram& rank = behind->program.ranks[at];
        for (std::size_t op = 0; op < rank.ops.size(); ++op) {
          if (rank.ops[op].purpose != Purpose::kParameters) continue;
          const Span span = behind->timeline.ranks[at].spans[op];
          own += std::chrono::duration<double>(span.end - span.begin).count();
        }
        gathers = std::max(gathers, own);
      }
      // Its tables are a third of the model, and come before anything is computed.
      EXPECT_LT(ahead->step.seconds, behind->step.seconds - 0.4 * gathers) << pp << schedule;
      EXPECT_GT(ahead->step.seconds, behind->step.seconds - gathers) << pp << schedule;
      EXPECT_EQ(ahead->traffic, behind->traffic);
      for (std::size_t at = 0; at < behind->memory.size(); ++at)
        EXPECT_EQ(ahead->memory[at].peak_bytes, behind->memory[at].peak_bytes);
    }
  }
}

// It means nothing elsewhere.
TEST(ParametersAhead, AreOfZeroOneAndTwoAlone) {
  for (const auto& [zero, dp] : {std::pair{0, 2}, {3, 2}, {1, 1}}) {
    parallelarium::Setup setup = gathers_ahead_of(zero, 2, "1f1b");
    setup.mesh.dp = dp;
    const Program ahead = overlapped(setup);
    setup.overlap_parameters = false;
    const Program behind = overlapped(setup);
    ASSERT_EQ(ahead.op_count(), behind.op_count());
    for (std::size_t at = 0; at < ahead.ranks.size(); ++at)
      EXPECT_EQ(ahead.ranks[at].after, behind.ranks[at].after);
  }
}

// The gradients of a bucket travel as soon as its last backward has added to them, while the
// backward goes on through the layers before it.
TEST(Buckets, AreReducedWhileTheBackwardGoesOn) {
  for (const int zero : {0, 1, 2, 3}) {
    const Result<Prediction> prediction =
        predict(setup_of(zero, 1), *find_machine("dgx-a100-80g"), true);
    ASSERT_TRUE(prediction.ok());
    const RankProgram& rank = prediction->program.ranks[0];
    const std::vector<Span>& spans = prediction->timeline.ranks[0].spans;
    Nanoseconds backward_end{0};
    for (std::size_t i = 0; i < rank.ops.size(); ++i)
      if (rank.ops[i].kind == OpKind::kCompute && rank.ops[i].action >= 0)
        backward_end = std::max(backward_end, spans[i].end);
    int reduced = 0, overlapped = 0;
    for (std::size_t i = 0; i < rank.ops.size(); ++i) {
      const Op& op = rank.ops[i];
      if (op.kind != OpKind::kCollective || op.purpose != Purpose::kGradients) continue;
      ++reduced;
      EXPECT_EQ(op.lane, Lane::kData);
      const Operand whole = rank.operands_of(op)[0];
      std::size_t last = 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (rank.ops[j].kind != OpKind::kCompute) continue;
        for (const Operand& operand : rank.operands_of(rank.ops[j]))
          if (operand.buffer == whole.buffer && operand.access != Access::kRead &&
              operand.offset < whole.offset + whole.count &&
              whole.offset < operand.offset + operand.count)
            last = j;
      }
      EXPECT_GE(spans[i].begin, spans[last].end);
      // It is issued before any other layer's op.
      for (std::size_t j = last + 1; j < i; ++j)
        if (rank.ops[j].kind == OpKind::kCompute) {
          EXPECT_EQ(rank.ops[j].layer, rank.ops[last].layer) << "zero " << zero << " op " << i;
        }
      overlapped += spans[i].begin < backward_end ? 1 : 0;
    }
    // 8 layers, the tables, the final norm; ZeRO 2 and 3 reduce them in both micro-batches. All but
    // the last one's last begin before the backward has ended.
    EXPECT_GE(reduced, zero < 2 ? 10 : 20);
    EXPECT_GE(overlapped, reduced - 2) << "zero " << zero;
  }
}

}  // namespace
}  // namespace parallelarium
