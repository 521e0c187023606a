// SPDX-License-Identifier: Apache-2.0
// Programs of the orders with several chunks on a rank, split backwards and stages held twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/cost/simulate.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

struct Scheduled {
  const char* schedule;
  int pp, microbatches, chunks;
};
void PrintTo(const Scheduled& c, std::ostream* out) {
  *out << c.schedule << " pp " << c.pp << " m " << c.microbatches << " v " << c.chunks;
}

Setup setup_of(const Scheduled& c) {
  Setup setup = default_setup();
  setup.model.layers = 24;
  setup.mesh.pp = c.pp;
  setup.microbatches = c.microbatches;
  setup.schedule = c.schedule;
  setup.chunks = c.chunks;
  return setup;
}

class EverySchedule : public testing::TestWithParam<Scheduled> {};

TEST_P(EverySchedule, PassesTheCheckWithEveryAxisAndShard) {
  for (const int dp : {1, 2}) {
    for (const int zero : {0, 1, 2, 3}) {
      for (const int tp : {1, 2}) {
        if (dp == 1 && zero > 0) continue;
        for (const bool stage_level : {false, true}) {
          parallelarium::Setup setup = setup_of(GetParam());
          setup.mesh.dp = dp;
          setup.mesh.tp = tp;
          setup.zero = zero;
          if (!stage_level) setup.model.layers = stages_of(setup);
          const auto faults = check(built(setup, {.stage_level = stage_level}));
          EXPECT_TRUE(faults.empty()) << "dp " << dp << " zero " << zero << " tp " << tp
                                      << " stages " << stage_level << ": " << faults.front().text;
        }
      }
    }
  }
}

// The Program's timeline is that of the order: F, I and W of one unit each, whole backwards two.
TEST_P(EverySchedule, TakesTheTimeOfItsOrder) {
  parallelarium::Setup setup = setup_of(GetParam());
  const Program program = built(setup, {.stage_level = true});
  std::vector<std::vector<Nanoseconds>> durations;
  for (const RankProgram& rank : program.ranks) {
    auto& times = durations.emplace_back();
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      int time = 0;
      if (begins_action(rank, at)) {
        const ActionKind kind = rank.actions[static_cast<std::size_t>(op.action)].kind;
        time = kind == ActionKind::kBackward ? 2 : 1;
      }
      times.emplace_back(time);
    }
  }
  const Result<Order> order = make_order(setup);
  ASSERT_TRUE(order.ok());
  Order apart = *order;  // a Program computes the halves of a pair one after the other
  for (auto& line : apart.ranks) {
    for (Action& action : line) action.overlapped_with_next = false;
  }
  const Timeline timeline = simulate(program, durations);
  Nanoseconds end{0};
  for (const RankTimeline& rank : timeline.ranks) {
    for (const Span& span : rank.spans) end = std::max(end, span.end);
  }
  EXPECT_EQ(end.count(), time_order(apart, Durations{}).makespan);
}

// What crosses between ranks: an activation and a gradient per boundary of two stages on different
// ranks and micro-batch.
TEST_P(EverySchedule, MovesOneActivationAndOneGradientPerBoundaryAndMicrobatch) {
  const parallelarium::Setup setup = setup_of(GetParam());
  const Program program = built(setup, {});
  std::int64_t sent = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) sent += op.kind == OpKind::kSend ? op.bytes : 0;
  }
  const int stages = stages_of(setup);
  const std::set<std::string> vs = {"zb-v", "v-half", "v-min", "dualpipe-v"};
  const bool folded = vs.count(setup.schedule.name()) > 0;
  const int crossings = setup.mesh.pp == 1 ? 0 : stages - 1 - (folded ? 1 : 0);
  EXPECT_EQ(sent, std::int64_t{2} * 4 * setup.micro_batch * setup.model.sequence *
                      setup.model.hidden * crossings * setup.microbatches);
}

TEST_P(EverySchedule, HoldsEveryParameterOnceOrTwice) {
  const parallelarium::Setup setup = setup_of(GetParam());
  const Program program = built(setup, {});
  std::int64_t held = 0, doubled = 0;
  for (const RankProgram& rank : program.ranks) {
    std::int64_t mine = 0;
    for (const ParameterSlice& slice : rank.parameters) mine += slice.shared_copy ? 0 : slice.count;
    held += mine;
    for (const Op& op : rank.ops) {
      // Without DP, only the two copies of a stage are added up.
      if (op.kind == OpKind::kCollective && op.purpose == Purpose::kGradients) {
        doubled += op.bytes / 4;
        EXPECT_EQ(op.bytes / 4, mine);
      }
    }
  }
  const bool twice = setup.schedule == "dualpipe";
  EXPECT_EQ(held, count_parameters(setup.model).total * (twice ? 2 : 1));
  EXPECT_EQ(doubled, twice ? held : 0);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, EverySchedule,
    testing::Values(Scheduled{"interleaved", 1, 3, 2}, Scheduled{"interleaved", 2, 4, 2},
                    Scheduled{"interleaved", 2, 5, 3}, Scheduled{"interleaved", 4, 8, 2},
                    Scheduled{"interleaved", 4, 10, 3}, Scheduled{"interleaved", 4, 3, 2},
                    Scheduled{"zb-h1", 1, 3, 1}, Scheduled{"zb-h1", 4, 8, 1},
                    Scheduled{"zb-h1", 3, 7, 1}, Scheduled{"zb-h2", 2, 5, 1},
                    Scheduled{"zb-h2", 4, 8, 1}, Scheduled{"zb-1p", 4, 8, 1},
                    Scheduled{"zb-2p", 3, 7, 1}, Scheduled{"v-half", 4, 7, 1},
                    Scheduled{"v-min", 3, 6, 2}, Scheduled{"v-min", 1, 2, 1},
                    Scheduled{"zb-v", 1, 2, 1}, Scheduled{"zb-v", 2, 6, 1},
                    Scheduled{"zb-v", 4, 8, 2}, Scheduled{"zb-v", 4, 3, 2},
                    Scheduled{"dualpipe", 2, 4, 1}, Scheduled{"dualpipe", 4, 10, 2},
                    Scheduled{"dualpipe", 6, 12, 2}, Scheduled{"dualpipe-v", 1, 2, 1},
                    Scheduled{"dualpipe-v", 2, 5, 2}, Scheduled{"dualpipe-v", 4, 10, 2}));

std::int64_t peak_activations(const Scheduled& c) {
  std::int64_t peak = 0;
  for (const MemoryRow& row : memory_of(built(setup_of(c), {.stage_level = true})))
    peak = std::max(peak, row.bytes[static_cast<int>(Category::kActivations)]);
  return peak;
}

// Table 2 of Zero Bubble, with stages that all hold the same but for the head: what is kept for
// weight gradients alone is less than what a forward keeps, so H1 holds no more than 1F1B does, and
// H2 less than twice as much and more than once.
TEST(SplitBackward, HoldsWhatThePaperSays) {
  const std::int64_t whole = peak_activations({"1f1b", 4, 16, 1});
  const std::int64_t h1 = peak_activations({"zb-h1", 4, 16, 1});
  const std::int64_t h2 = peak_activations({"zb-h2", 4, 16, 1});
  EXPECT_LE(h1, whole + whole / 4);
  EXPECT_GT(h2, h1 + h1 / 2);
  EXPECT_LT(h2, 2 * whole);
}

// An exchange is one on both of its ranks: where a ring's transfers came between on one of them, it
// is none.
TEST(Exchanges, AreThoseOfBothRanks) {
  int exchanges = 0;
  for (const char* schedule : {"1f1b", "zb-h1", "dualpipe", "dualpipe-v"}) {
    for (const int cp : {1, 2}) {
      parallelarium::Setup setup = setup_of({schedule, 2, 4, 1});
      setup.model.layers = 8;
      setup.mesh.cp = cp;
      setup.attention = Attention::kFused;
      std::map<std::int32_t, int> sends, receives;
      for (const RankProgram& rank : built(setup, {.all_ranks = true}).ranks) {
        for (const Op& op : rank.ops) {
          if (op.batch < 0) continue;
          ASSERT_TRUE(op.kind == OpKind::kSend || op.kind == OpKind::kRecv);
          ++(op.kind == OpKind::kSend ? sends : receives)[op.batch];
        }
      }
      EXPECT_EQ(sends, receives) << schedule << " cp " << cp;
      exchanges += static_cast<int>(sends.size());
    }
  }
  EXPECT_GT(exchanges, 10);
}

// Whether the ops of each batch follow one another in their lane, as those who issue them together
// need it.
bool follow_one_another(const RankProgram& rank) {
  std::set<std::int32_t> begun;
  std::int32_t latest[kLanes] = {-1, -1, -1};
  for (const Op& op : rank.ops) {
    std::int32_t& before = latest[static_cast<int>(op.lane)];
    if (op.batch >= 0 && op.batch != before && !begun.insert(op.batch).second) return false;
    before = op.batch;
  }
  return true;
}

// Computing that waits for every transfer stands in one lane with them: an exchange is whole before
// either rank computes on.
TEST(TransfersInTheComputeLane, PassTheCheckInEverySchedule) {
  int checked = 0, exchanges = 0;
  for (const ScheduleRule& rule : kScheduleRules) {
    for (const int pp : {2, 3, 4}) {
      for (const int microbatches : {2, 4, 6, 7, 8, 10, 16}) {
        for (const auto& [degree, overlaps] : {std::pair{1, false}, {2, false}, {2, true}}) {
          const std::string name(rule.name);
          parallelarium::Setup setup =
              setup_of({name.c_str(), pp, microbatches, rule.chunks == 0 ? 2 : 1});
          setup.overlap_pipeline = false;
          setup.overlap_tensor = setup.overlap_gradients = overlaps;
          setup.mesh.tp = setup.mesh.dp = degree;
          setup.model.layers = stages_of(setup);
          if (!validate(setup).empty()) continue;
          SCOPED_TRACE(name + " pp " + std::to_string(pp) + " m " + std::to_string(microbatches));
          const Program program = built(setup, {.representatives = true});
          for (const Message& fault : check(program)) ADD_FAILURE() << fault.text;
          for (const RankProgram& rank : program.ranks) EXPECT_TRUE(follow_one_another(rank));
          ++checked;
          exchanges += rule.name == "dualpipe" ? program.batches : 0;
        }
      }
    }
  }
  EXPECT_GT(checked, 400);
  EXPECT_GT(exchanges, 100);
}

}  // namespace
}  // namespace parallelarium
