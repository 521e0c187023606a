// SPDX-License-Identifier: Apache-2.0
// Orders against the papers' pictures (tests/golden) and times against published tables.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"
#include "tests/schedules/golden.h"

namespace parallelarium {
namespace {

Durations unequal(double forward, double backward) {
  Durations durations;
  durations.forward = forward;
  durations.backward = backward;
  return durations;
}

TEST(Golden, OrdersStandAsInThePapers) {
  EXPECT_EQ(to_text(naive_order(4, 2)), golden("naive_p4_m2.txt"));
  EXPECT_EQ(to_text(gpipe_order(4, 4)), golden("gpipe_p4_m4.txt"));
  EXPECT_EQ(to_text(one_f_one_b_order(4, 6)), golden("1f1b_p4_m6.txt"));
  EXPECT_EQ(to_text(one_f_one_b_order(4, 8)), golden("1f1b_p4_m8.txt"));
  EXPECT_EQ(to_text(one_f_one_b_order(4, 2)), golden("1f1b_p4_m2.txt"));
  EXPECT_EQ(to_pytorch(one_f_one_b_order(4, 6)), golden("1f1b_p4_m6_pytorch.csv"));
}

// coverage: makespans and in-flight counts of naive, GPipe and 1F1B.
TEST(Timing, GivesThePublishedMakespansAndHeldMicrobatches) {
  const auto naive = time_order(naive_order(4, 1), unequal(1, 1));
  EXPECT_DOUBLE_EQ(naive.makespan, 8);
  EXPECT_DOUBLE_EQ(1 - naive.bubble_of_total, 0.25);

  const auto gpipe = time_order(gpipe_order(4, 4), unequal(1, 1));
  EXPECT_DOUBLE_EQ(gpipe.makespan, 14);
  EXPECT_EQ(gpipe.peak_in_flight, (std::vector<double>{4, 4, 4, 4}));

  const auto one_f_one_b = time_order(one_f_one_b_order(4, 6), unequal(1, 1));
  EXPECT_DOUBLE_EQ(one_f_one_b.makespan, 18);
  EXPECT_EQ(one_f_one_b.peak_in_flight, (std::vector<double>{4, 3, 2, 1}));

  for (const auto& order : {gpipe_order(4, 32), one_f_one_b_order(4, 32)}) {
    const auto timed = time_order(order, unequal(1, 2));
    EXPECT_DOUBLE_EQ(timed.makespan, 105);
    EXPECT_NEAR(timed.bubble_of_total, 3.0 / 35, 1e-12);
    EXPECT_NEAR(timed.bubble_over_ideal, 3.0 / 32, 1e-12);
  }
  const auto eight = time_order(one_f_one_b_order(4, 8), unequal(1, 1));
  EXPECT_DOUBLE_EQ(eight.makespan, 22);
  EXPECT_NEAR(eight.bubble_of_total, 3.0 / 11, 1e-12);
}

// The picture of 1F1B with idle slots, as it must be drawn (p = 4, m = 6, equal times).
TEST(Timing, PlacesOneFOneBOfRankZeroAsDrawn) {
  const auto timed = time_order(one_f_one_b_order(4, 6), unequal(1, 1));
  std::vector<std::string> row(18, "_");
  for (const TimedAction& span : timed.spans[0]) {
    row[static_cast<std::size_t>(span.begin)] =
        letter_of(span.action.kind) + std::to_string(span.action.microbatch);
  }
  std::string text;
  for (const std::string& cell : row) text += (text.empty() ? "" : " ") + cell;
  EXPECT_EQ(text, "F0 F1 F2 F3 _ _ _ B0 F4 B1 F5 B2 _ B3 _ B4 _ B5");
}

constexpr std::pair<double, double> kActionTimes[] = {{1, 1}, {1, 2}, {2.5, 0.7}, {0.3, 2}};

class Bubble : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Bubble, IsPMinusOneOverMAndOverMPlusPMinusOne) {
  const auto [p, m] = GetParam();
  for (const auto& order : {gpipe_order(p, m), one_f_one_b_order(p, m)}) {
    ASSERT_TRUE(check_order(order).empty());
    for (const auto& [forward, backward] : kActionTimes) {
      const auto timed = time_order(order, unequal(forward, backward));
      EXPECT_NEAR(timed.makespan, (m + p - 1) * (forward + backward), 1e-9);
      EXPECT_NEAR(timed.bubble_over_ideal, (p - 1.0) / m, 1e-12);
      EXPECT_NEAR(timed.bubble_of_total, (p - 1.0) / (m + p - 1), 1e-12);
    }
  }
}

TEST_P(Bubble, OfNaiveLeavesOneRankWorking) {
  const auto [p, m] = GetParam();
  for (const auto& [forward, backward] : kActionTimes) {
    const auto timed = time_order(naive_order(p, m), unequal(forward, backward));
    EXPECT_NEAR(1 - timed.bubble_of_total, 1.0 / p, 1e-12);
  }
}

TEST_P(Bubble, HoldsAtMostAsManyMicrobatchesAsStagesFollow) {
  const auto [p, m] = GetParam();
  const auto held = time_order(one_f_one_b_order(p, m), Durations{}).peak_in_flight;
  for (int rank = 0; rank < p; ++rank) {
    EXPECT_EQ(held[static_cast<std::size_t>(rank)], std::min(p - rank, m));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Bubble,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7, 16),
                                          testing::Values(1, 2, 8, 33)));

// Also of one micro-batch, whose actions do not tell how chunks are placed.
TEST(Text, ReadsBackAsTheSameOrder) {
  for (const ScheduleInfo& info : schedules()) {
    for (const int ranks : {2, 4}) {
      for (const int microbatches : {1, 2, 3, 4, 8}) {
        const auto order =
            make_order(info.name, ranks, microbatches, info.chunks > 0 ? info.chunks : 2);
        if (!order.ok()) continue;
        const auto read = order_from_text(to_text(*order));
        ASSERT_TRUE(read.ok()) << info.name;
        EXPECT_EQ(read->stage_of, order->stage_of) << info.name << " " << microbatches;
        EXPECT_EQ(read->ranks, order->ranks) << info.name << " " << microbatches;
      }
    }
  }
}

TEST(Transfer, DelaysTheReceiverAndOccupiesNothing) {
  Durations durations = unequal(1, 1);
  durations.transfer = 0.5;
  const auto timed = time_order(gpipe_order(2, 1), durations);
  EXPECT_DOUBLE_EQ(timed.spans[1][0].begin, 1.5);
  EXPECT_DOUBLE_EQ(timed.spans[0][1].begin, 4);
  EXPECT_DOUBLE_EQ(timed.makespan, 5);
}

TEST(Pair, RunsAtOnceForItsOwnDuration) {
  const auto order = order_from_text("F0 (F1+B0) B1\n");
  ASSERT_TRUE(order.ok());
  ASSERT_TRUE(check_order(*order).empty());
  Durations durations = unequal(1, 2);
  EXPECT_DOUBLE_EQ(time_order(*order, durations).makespan, 6);
  durations.overlapped = 2.25;
  const auto timed = time_order(*order, durations);
  EXPECT_DOUBLE_EQ(timed.makespan, 5.25);
  EXPECT_DOUBLE_EQ(timed.spans[0][1].begin, timed.spans[0][2].begin);
  EXPECT_DOUBLE_EQ(timed.spans[0][1].end, timed.spans[0][2].end);
}

TEST(Json, HasTheKeysOfTheCommand) {
  const Order order = one_f_one_b_order(4, 8);
  const auto json = to_json(order, time_order(order, unequal(1, 2)), false);
  EXPECT_EQ(json["name"], "1f1b");
  EXPECT_EQ(json["stages"], 4);
  EXPECT_EQ(json["microbatches"], 8);
  EXPECT_EQ(json["chunks"], 1);
  EXPECT_EQ(json["order"][3], "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
  EXPECT_EQ(json["spans"][1][0].dump(), R"({"begin":1,"chunk":0,"end":2,"microbatch":0,"op":"F"})");
  EXPECT_EQ(json["makespan"], 33);
  EXPECT_EQ(json["peak_in_flight"].dump(), "[4,3,2,1]");
  for (const char* key : {"over_ideal", "of_total", "of_longest_rank"}) {
    EXPECT_TRUE(json["bubble"].contains(key)) << key;
  }
  EXPECT_EQ(to_json(order, time_order(order, {}), true)["order"][0],
            "0F0,0F1,0F2,0F3,0B0,0F4,0B1,"
            "0F5,0B2,0F6,0B3,0F7,0B4,0B5,"
            "0B6,0B7");
}

TEST(MakeOrder, NamesTheSchedulesWhenOneIsUnknown) {
  const auto order = make_order("zigzag", 4, 8, 1);
  ASSERT_FALSE(order.ok());
  EXPECT_EQ(order.error().kind, "schedule-unknown");
  EXPECT_EQ(order.error().field, "schedule");
  EXPECT_EQ(order.error().alternatives.size(), schedules().size());
  for (const ScheduleInfo& info : schedules()) {
    EXPECT_NE(order.error().text.find(info.name), std::string::npos);
    EXPECT_TRUE(make_order(info.name, 4, 8, info.chunks == 0 ? 2 : info.chunks).ok()) << info.name;
  }
}

TEST(MakeOrder, GivesEveryScheduleItsOwnOrderAndSummary) {
  std::set<std::string> orders, summaries;
  for (const ScheduleInfo& info : schedules()) {
    const auto order = make_order(info.name, 4, 8, info.chunks == 0 ? 2 : info.chunks);
    ASSERT_TRUE(order.ok()) << order.error().text;
    EXPECT_EQ(order->name, info.name);
    // For equal times the automatic schedule with the memory of 1F1B is the one made by hand.
    EXPECT_EQ(orders.insert(to_pytorch(*order)).second, info.name != "zb-1p") << info.name;
    EXPECT_TRUE(summaries.insert(info.summary.text).second) << info.name;
    const auto again = order_from_pytorch(to_pytorch(*order));
    ASSERT_TRUE(again.ok()) << again.error().text;
    EXPECT_EQ(again->ranks, order->ranks) << info.name;
    EXPECT_EQ(again->stage_of, order->stage_of) << info.name;
  }
}

// An order of one's own, of a file.
Result<Order> order_of_file(const std::string& path, int ranks, int microbatches, int chunks) {
  const Result<parallelarium::Schedule> schedule = parallelarium::Schedule::from_file(path);
  if (!schedule) return schedule.error();
  return make_order(*schedule, ranks, microbatches, chunks);
}

TEST(MakeOrder, ReadsFilesInBothNotationsAndRefusesOthers) {
  const std::string folder = std::string(PARALLELARIUM_SOURCE_DIR) + "/tests/golden/";
  for (const char* name : {"1f1b_p4_m6.txt", "1f1b_p4_m6_pytorch.csv"}) {
    const auto order = order_of_file(folder + name, 4, 6, 1);
    ASSERT_TRUE(order.ok()) << order.error().text;
    EXPECT_EQ(order->ranks, one_f_one_b_order(4, 6).ranks);
    EXPECT_TRUE(order_of_file(folder + name, 0, 0, 0).ok());
  }
  EXPECT_EQ(order_of_file(folder + "1f1b_p4_m6.txt", 3, 6, 1).error().field, "mesh.pp");
  EXPECT_EQ(order_of_file(folder + "1f1b_p4_m6.txt", 4, 8, 1).error().field, "microbatches");
  EXPECT_FALSE(order_of_file(folder, 4, 6, 1).ok());
  EXPECT_EQ(make_order("1f1b", 4, 8, 2).error().field, "chunks");
  for (const char* name : {"interleaved_p4_m8_v2", "zb-v_p4_m8", "dualpipe_p8_m20"}) {
    const auto order = order_of_file(folder + name + ".txt", 0, 0, 0);
    ASSERT_TRUE(order.ok()) << order.error().text;
    EXPECT_EQ(to_text(*order), golden(std::string(name) + ".txt"));
  }
}

}  // namespace
}  // namespace parallelarium
