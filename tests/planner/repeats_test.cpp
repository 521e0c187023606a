// SPDX-License-Identifier: Apache-2.0
// A step that is told by fewer micro-batches is the step of all of them, to the last bit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "engine/passes/build.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/repeated_walk.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/planner/reasons/causes.h"
#include "engine/planner/space/space.h"
#include "engine/predict/predict_steps.h"
#include "engine/predict/repeats/order_repeats.h"
#include "engine/predict/repeats/program_repeats.h"
#include "engine/predict/repeats/step_prediction.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

auto a_setup(const char* model) {
  auto setup = default_setup();
  setup.model = *find_model(model);
  setup.machine = "dgx-h100";
  setup.precision = *find_precision("mixed-16-main-grads");
  setup.attention = Attention::kFused;
  setup.mesh = Mesh();
  return setup;
}

class ManyMicrobatches {
 public:
  auto make() {
    auto setup = a_setup(one_of({"llama3-8b", "gpt2-124m", "qwen3-8b", "mixtral-8x7b"}));
    setup.mesh.pp = one_of({1, 2, 3, 4, 5, 6});
    setup.mesh.tp = one_of({1, 2, 4});
    setup.mesh.dp = one_of({1, 2, 4, 8});
    setup.mesh.cp = one_of({1, 1, 1, 2});
    if (setup.model.experts.count > 0) setup.mesh.ep = one_of({1, setup.mesh.dp});
    setup.sequence_parallel = setup.mesh.tp > 1 && one_of({0, 1}) == 1;
    setup.zero = one_of({0, 1, 2, 3});
    setup.zero_prefetch = one_of({1, 1, 0, 2});
    setup.zero_reshard = one_of({1, 1, 0}) == 1;
    setup.overlap_gradients = one_of({1, 1, 0}) == 1;
    setup.overlap_parameters = one_of({1, 0}) == 1;
    setup.overlap_pipeline = one_of({1, 1, 1, 0}) == 1;
    setup.recompute = one_of({Recompute::kNone, Recompute::kFull});
    setup.schedule = Schedule(one_of({"1f1b", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v",
                                      "dualpipe", "dualpipe-v", "gpipe"}));
    if (setup.schedule == Schedule("interleaved")) setup.chunks = 2;
    setup.microbatches = setup.mesh.pp * one_of({12, 20, 24}) + one_of({0, 0, 2});
    const int stages = stages_of(setup);
    if (one_of({0, 1}) == 1 && stages > 1)
      setup.stage_layers = balanced_cut(setup.model, stages, head_layers(setup.model));
    setup.scatter_gather = one_of({0, 1}) == 1 && !hands_over_in_a_rank(setup);
    return setup;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  std::mt19937 random_{7};
};

TEST(StepPrediction, IsThatOfAllMicrobatches) {
  ManyMicrobatches any;
  const Machine machine = *find_machine("dgx-h100");
  int compared = 0, shorter = 0;
  for (int trial = 0; trial < 160; ++trial) {
    const auto setup = any.make();
    if (!validate(setup).empty()) continue;
    Result<StepPrediction> told = predict_step(setup, machine);
    const Result<Prediction> whole = predict(setup, machine, BuildOptions{.stage_level = true});
    ASSERT_EQ(told.ok(), whole.ok());
    if (!whole) continue;
    add_step_figures(*told);
    ++compared;
    if (told->repeats.ranks.empty()) continue;
    ++shorter;
    const std::string what = to_json(setup).dump();
    const Prediction& short_one = told->prediction;
    EXPECT_LT(short_one.program.op_count(), whole->program.op_count()) << what;
    EXPECT_EQ(short_one.timeline.duration, whole->timeline.duration) << what;
    EXPECT_EQ(short_one.needed_bytes, whole->needed_bytes) << what;
    ASSERT_EQ(short_one.memory.size(), whole->memory.size()) << what;
    for (std::size_t row = 0; row < whole->memory.size(); ++row)
      EXPECT_EQ(to_json(short_one.memory[row]), to_json(whole->memory[row])) << what;
    EXPECT_EQ(to_json(short_one.bubble), to_json(whole->bubble)) << what;
    EXPECT_EQ(to_json(short_one.step, false), to_json(whole->step, false)) << what;
    const StepParts parts = parts_of(short_one, told->repeats), all = parts_of(*whole);
    EXPECT_EQ(parts.exposed, all.exposed) << what;
    EXPECT_EQ(
        std::tuple(parts.compute, parts.recompute, parts.optimizer, parts.warm_up, parts.wait,
                   parts.drain),
        std::tuple(all.compute, all.recompute, all.optimizer, all.warm_up, all.wait, all.drain))
        << what;
    // Every op of the step, too.
    for (std::size_t rank = 0; rank < whole->program.ranks.size(); ++rank) {
      std::size_t at = 0, unlike = 0;
      for_each_op(short_one.program, short_one.timeline, told->repeats, rank,
                  [&](const Op& op, const Span& span) {
                    const Op& own = whole->program.ranks[rank].ops[at];
                    const Span& when = whole->timeline.ranks[rank].spans[at++];
                    unlike += own.kind != op.kind || own.lane != op.lane || own.bytes != op.bytes ||
                              own.layer != op.layer || when.begin != span.begin ||
                              when.end != span.end;
                  });
      EXPECT_EQ(at, whole->program.ranks[rank].ops.size()) << what;
      EXPECT_EQ(unlike, 0u) << what;
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(shorter, compared / 5);  // else little is saved
}

// Where every op is built, its memory is told before its time, and then what it takes at least.
TEST(StepPrediction, TellsWhatIsKnownBeforeItsTime) {
  ManyMicrobatches any;
  const Machine machine = *find_machine("dgx-h100");
  int memory = 0, bounds = 0, less = 0;
  for (int trial = 0; trial < 120; ++trial) {
    auto setup = any.make();
    setup.microbatches = 2 * setup.mesh.pp;  // too few to repeat themselves
    if (!validate(setup).empty()) continue;
    std::vector<Nanoseconds> heard;
    std::int64_t bytes = 0;
    const auto tells = [&](std::size_t stop_at) {
      heard.clear();
      return predict_step(setup, machine, [&, stop_at](const Prediction& of, Nanoseconds at_least) {
        heard.push_back(at_least);
        bytes = of.needed_bytes;
        return heard.size() == stop_at;
      });
    };
    const Result<StepPrediction> whole = tells(0);
    if (!whole) continue;
    ASSERT_FALSE(whole->stopped);
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.front().count(), 0);
    EXPECT_EQ(bytes, whole->prediction.needed_bytes);
    EXPECT_LE(heard.back(), whole->prediction.timeline.duration);
    EXPECT_EQ(heard.back(), whole->at_least);
    const std::size_t times = heard.size();
    less += times == 2 && heard.back() < whole->prediction.timeline.duration ? 1 : 0;
    ASSERT_LE(times, 2U);
    ++(times == 1 ? memory : bounds);
    for (std::size_t stop_at = 1; stop_at <= times; ++stop_at) {
      const Result<StepPrediction> stopped = tells(stop_at);
      ASSERT_TRUE(stopped.ok());
      EXPECT_TRUE(stopped->stopped);
      EXPECT_EQ(heard.size(), stop_at);
      EXPECT_EQ(stopped->prediction.needed_bytes, whole->prediction.needed_bytes);
    }
  }
  EXPECT_GT(memory, 5);
  EXPECT_GT(bounds, 5);
  EXPECT_GT(less, 0);
}

// Rounds of the interleaved schedule are larger than the ranks are many where those would leave a
// short one at the end.
TEST(StepPrediction, IsToldByRoundsThatAreNoMultipleOfTheRanks) {
  const Machine machine = *find_machine("dgx-h100");
  ASSERT_EQ(interleaved_round(5, 128), 8);
  int shorter = 0;
  for (const int zero : {0, 1, 2, 3})
    for (const int chunks : {2, 3, 4}) {
      auto setup = a_setup("llama3-8b");
      setup.mesh.tp = 8;
      setup.mesh.pp = 5;
      setup.mesh.dp = 4;
      setup.sequence_parallel = true;
      setup.zero = zero;
      setup.recompute = Recompute::kFull;
      setup.schedule = Schedule("interleaved");
      setup.chunks = chunks;
      setup.microbatches = 128;
      setup.stage_layers = balanced_cut(setup.model, stages_of(setup), head_layers(setup.model));
      ASSERT_TRUE(validate(setup).empty());
      const Result<StepPrediction> told = predict_step(setup, machine);
      const Result<Prediction> whole = predict(setup, machine, BuildOptions{.stage_level = true});
      ASSERT_TRUE(told.ok() && whole.ok());
      shorter += told->prediction.program.op_count() < whole->program.op_count() ? 1 : 0;
      EXPECT_EQ(told->prediction.timeline.duration, whole->timeline.duration) << zero << chunks;
      EXPECT_EQ(told->prediction.needed_bytes, whole->needed_bytes) << zero << chunks;
    }
  EXPECT_GE(shorter, 4);
}

// A walk that leaps over what comes again ends as one through every action does.
TEST(OrderWalk, IsThatOfAllMicrobatches) {
  ManyMicrobatches any;
  const Machine machine = *find_machine("dgx-h100");
  int compared = 0, repeated = 0, transient = 0, walked_alone = 0;
  for (int trial = 0; trial < 300; ++trial) {
    auto setup = any.make();
    setup.microbatches *= 1 + trial % 4 * 3;
    if (!validate(setup).empty() || !may_bound(setup, machine)) continue;
    const Result<StageTable> table = stage_table(setup, machine, true);
    ASSERT_TRUE(table.ok());
    const StepEnd end = step_end(setup, machine);
    const std::optional<RepeatedOrder> known = repeated_order(setup);
    const Result<OrderWalk> told = walk_order(setup, *table, known);
    const Result<OrderWalk> whole = walk_order(setup, *table);
    ASSERT_TRUE(told.ok() && whole.ok());
    const std::string what = to_json(setup).dump();
    ++compared;
    repeated += known ? 1 : 0;
    transient += known && !setup.stage_layers.empty() ? 1 : 0;
    const Result<std::int64_t> alone = alone_bound(setup, machine, *table, end, known);
    EXPECT_EQ(*alone, *alone_bound(setup, machine, *table, end)) << what;
    walked_alone += known && *alone > 0 ? 1 : 0;
    EXPECT_EQ(told->nanoseconds, whole->nanoseconds) << what;
    EXPECT_EQ(told->stages, whole->stages) << what;
    ASSERT_EQ(told->fullest.size(), whole->fullest.size()) << what;
    for (std::size_t rank = 0; rank < whole->fullest.size(); ++rank) {
      ASSERT_EQ(told->fullest[rank].size(), whole->fullest[rank].size()) << what;
      for (std::size_t at = 0; at < whole->fullest[rank].size(); ++at) {
        const OrderWalk::Held &a = told->fullest[rank][at], &b = whole->fullest[rank][at];
        EXPECT_EQ(std::tuple(a.chunk, a.leaving, a.kind, a.bytes),
                  std::tuple(b.chunk, b.leaving, b.kind, b.bytes))
            << what;
      }
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(repeated, compared / 2);
  EXPECT_GT(transient, 20);
  EXPECT_GT(walked_alone, 5);
}

// Times that grow by fixed steps until something else holds them up, and once more after that.
TEST(RepeatedWalk, LeapsAsFarAsTimesGrowSteadily) {
  int walked = 0;
  const auto body = [&](const WalkTimes& from) {
    ++walked;
    // Two lanes of their own speed, of which the slow one holds up the fast one when it is 5000
    // behind; a third waits for a time of the day.
    const std::int64_t slow = from[0] + 12, fast = std::max(from[1] + 7, slow - 5000);
    return WalkTimes{slow, fast, std::max<std::int64_t>(from[2] + 1, 900)};
  };
  WalkTimes expected = {0, 0, 0};
  for (int time = 0; time < 2001; ++time) expected = body(expected);
  const WalkTimes begin = {0, 0, 0};
  walked = 0;
  const WalkTimes told = walk_repeated(begin, body(begin), 2000, body);
  EXPECT_EQ(told, expected);
  EXPECT_LT(walked, 100);
}

// How often the body of the Setup's step comes again, which must be as long and as large as the
// whole step.
std::int64_t times_repeated(const parallelarium::Setup& setup) {
  const Machine machine = *find_machine("dgx-h100");
  EXPECT_TRUE(validate(setup).empty());
  const Result<StepPrediction> told = predict_step(setup, machine);
  const Result<Prediction> whole = predict(setup, machine, BuildOptions{.stage_level = true});
  EXPECT_TRUE(told.ok() && whole.ok());
  if (!told || !whole) return 0;
  EXPECT_EQ(told->prediction.timeline.duration, whole->timeline.duration) << setup.mesh.pp;
  EXPECT_EQ(told->prediction.needed_bytes, whole->needed_bytes) << setup.mesh.pp;
  return told->repeats.times;
}

// It takes a deep pipeline long until its slowest stage holds up all ranks alike.
TEST(StepPrediction, IsToldByMoreMicrobatchesWhereFewAreUnlike) {
  constexpr int kOfFewest = 468;  // of 512, that the shortest Program which is looked at leaves out
  int longer = 0;
  for (const int tp : {8, 16}) {
    auto setup = a_setup("llama3-8b");
    setup.mesh.tp = tp;
    setup.mesh.pp = 11;
    setup.sequence_parallel = true;
    setup.recompute = Recompute::kFull;
    setup.microbatches = 512;
    setup.stage_layers = balanced_cut(setup.model, stages_of(setup), head_layers(setup.model));
    const std::int64_t times = times_repeated(setup);
    longer += times > 0 && times < kOfFewest ? 1 : 0;
  }
  EXPECT_GT(longer, 0);
}

// Towards the end of a step, ranks of a V wait for other ops than before: there is nothing alike
// around the latest cut.
TEST(StepPrediction, IsToldByAnEarlierCutWhereTheEndIsUnlike) {
  int shorter = 0;
  for (const int pp : {12, 14, 15}) {
    auto setup = a_setup("llama3-8b");
    setup.mesh.tp = setup.mesh.cp = setup.mesh.dp = 2;
    setup.mesh.pp = pp;
    setup.sequence_parallel = true;
    setup.zero = 1;
    setup.schedule = Schedule("dualpipe-v");
    setup.microbatches = 512;
    setup.stage_layers = balanced_cut(setup.model, stages_of(setup), head_layers(setup.model));
    shorter += times_repeated(setup) > 0 ? 1 : 0;
  }
  EXPECT_GT(shorter, 0);
}

// A Program in which one op of the middle takes longer, or is another, is not repeated.
TEST(ProgramRepeats, RefusesWhatIsNotAlike) {
  const Machine machine = *find_machine("dgx-h100");
  auto setup = a_setup("llama3-8b");
  setup.mesh.pp = setup.mesh.dp = 4;
  setup.mesh.tp = 8;
  setup.microbatches = 96;
  setup.zero = 1;
  ASSERT_TRUE(validate(setup).empty());
  const Result<Order> order = make_order(setup);
  const std::optional<Order> shorter = shorter_order(setup, 64);
  ASSERT_TRUE(order.ok() && shorter);
  const std::vector<NominalRank> ranks = nominal_ranks(setup, *order);
  const std::int64_t bytes = boundary_bytes(setup);
  const NominalSteps steps = nominal_steps(*order, ranks, bytes);
  const int microbatches = repeating_microbatches(setup, *order, steps);
  ASSERT_GT(microbatches, 0);
  ASSERT_EQ(64 % microbatches, 0);
  const std::vector<OrderRepeats> cuts =
      order_repeats(*order, steps, *shorter, nominal_steps(*shorter, ranks, bytes), microbatches);
  ASSERT_GT(cuts.size(), 1U);
  const Result<Prediction> timed =
      time_program(setup, machine, *shorter,
                   prediction_options(setup, machine, BuildOptions{.stage_level = true}));
  ASSERT_TRUE(timed.ok());
  const auto repeats_of = [&](const Program& program, const Timeline& timeline) {
    return program_repeats(cuts.front(), program, timeline);
  };
  const std::optional<Repeats> repeats = repeats_of(timed->program, timed->timeline);
  ASSERT_TRUE(repeats);
  EXPECT_EQ(repeats->times, 64 / microbatches);
  const auto middle = static_cast<std::size_t>(repeats->ranks[1].first + 1);
  Timeline late = timed->timeline;
  late.ranks[1].spans[middle].end += Nanoseconds{1};
  EXPECT_FALSE(repeats_of(timed->program, late));
  Program other = timed->program;
  other.ranks[1].ops[middle].layer += 1;
  EXPECT_FALSE(repeats_of(other, timed->timeline));
  Program fuller = timed->program;
  const Op& op = fuller.ranks[1].ops[middle];
  const Operand& operand = fuller.ranks[1].operands_of(op).front();
  fuller.ranks[1].buffers[static_cast<std::size_t>(operand.buffer)].bytes += 64;
  EXPECT_FALSE(repeats_of(fuller, timed->timeline));
  // Orders that differ elsewhere than in what is repeated.
  NominalSteps unlike = steps;
  std::swap(unlike.ranks[0][100], unlike.ranks[0][101]);
  EXPECT_TRUE(
      order_repeats(*order, unlike, *shorter, nominal_steps(*shorter, ranks, bytes), microbatches)
          .empty());
}

}  // namespace
}  // namespace parallelarium
