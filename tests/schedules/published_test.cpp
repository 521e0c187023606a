// SPDX-License-Identifier: Apache-2.0
// Interleaved, zero-bubble and bidirectional orders against the orders and tables that their papers
// and reference implementations publish.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"
#include "tests/schedules/golden.h"

namespace parallelarium {
namespace {

Durations split(double forward, double input, double weight, double transfer = 0) {
  Durations durations;
  durations.forward = forward;
  durations.input_grad = input;
  durations.weight_grad = weight;
  durations.backward = input + weight;
  durations.transfer = transfer;
  return durations;
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

// interleaved: Megatron-LM's schedule table and PyTorch's Interleaved1F1B. zb-h1, zb-h2: figures 2
// and 3 of Zero Bubble. zb-1p: what its authors' scheduler (zb.py) gives for equal times. zb-v:
// PyTorch's ScheduleZBVZeroBubble. dualpipe: the eight steps of deepseek-ai/DualPipe, the README's
// 8 ranks and 20 micro-batches. dualpipe-v: the README's 4 ranks and 10 micro-batches, equal to
// PyTorch's test artifact dualpipev_4rank_10mb.csv.
TEST(PublishedOrders, StandAsPublished) {
  EXPECT_EQ(to_text(interleaved_order(4, 8, 2)), golden("interleaved_p4_m8_v2.txt"));
  EXPECT_EQ(to_text(zb_h1_order(4, 8)), golden("zb-h1_p4_m8.txt"));
  EXPECT_EQ(to_text(zb_h2_order(4, 8)), golden("zb-h2_p4_m8.txt"));
  EXPECT_EQ(to_text(*make_order("zb-1p", 4, 8, 1)), golden("zb-1p_p4_m8.txt"));
  EXPECT_EQ(to_text(zb_v_order(4, 8)), golden("zb-v_p4_m8.txt"));
  EXPECT_EQ(to_pytorch(zb_v_order(4, 8)), golden("zb-v_p4_m8_pytorch.csv"));
  EXPECT_EQ(to_text(dualpipe_order(8, 20)), golden("dualpipe_p8_m20.txt"));
  EXPECT_EQ(to_text(dualpipe_v_order(4, 10)), golden("dualpipe-v_p4_m10.txt"));
  EXPECT_EQ(to_pytorch(dualpipe_v_order(4, 10)), golden("dualpipe-v_p4_m10_pytorch.csv"));
}

// Orders of our own that have the authors' bubbles and memory, below.
TEST(OwnOrders, StandAsTheyAre) {
  for (const char* name : {"zb-2p", "v-half", "v-min"})
    EXPECT_EQ(to_text(*make_order(std::string(name), 4, 8, 1)),
              golden(std::string(name) + "_p4_m8.txt"))
        << name;
}

// While an order is built its last micro-batch says nothing of how many there are to be.
TEST(OwnOrders, SayHowMuchOfThemThereIsWhileTheyAreUnfinished) {
  const auto refusal = [](std::vector<std::string> lines) {
    const Result<Schedule> own = Schedule::own("mine", std::move(lines));
    EXPECT_TRUE(own.ok());
    const Result<Order> made = make_order(*own, 4, 8, 1, 0);
    return made.ok() ? std::string() : made.error().text;
  };
  EXPECT_EQ(refusal({"F2", "..", "..", "B5"}), "The order has 2 of 64 actions.");
  const Order whole = *make_order("1f1b", 4, 6, 1);
  EXPECT_EQ(refusal(to_lines(whole)), "Micro-batches: the order has 6, but 8 are set.");
}

// Ten micro-batches on four ranks: two rounds of five, which Megatron-LM takes as well.
TEST(Interleaved, MakesRoundsThatLeaveNoShortOneOver) {
  EXPECT_EQ(to_text(interleaved_order(4, 10, 2)), golden("interleaved_p4_m10_v2.txt"));
}

TEST(ZeroBubbleTable, GivesEveryRateOfTheHandcraftedAndKnownSchedules) {
  std::istringstream table(golden("zero_bubble_table5.csv"));
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream cells(line);
    std::string model, schedule;
    int stages = 0, microbatches = 0, chunks = 0;
    double forward = 0, input = 0, weight = 0, transfer = 0, rate = 0;
    cells >> model >> schedule >> stages >> microbatches >> chunks >> forward >> input >> weight >>
        transfer >> rate;
    ASSERT_FALSE(cells.fail()) << line;
    const auto order = make_order(schedule, stages, microbatches, chunks);
    ASSERT_TRUE(order.ok()) << order.error().text;
    const Durations durations = split(forward / chunks, input / chunks, weight / chunks, transfer);
    double found = time_order(*order, durations).bubble_of_longest_rank;
    if (chunks > 1) {
      // The paper's simulator leaves one transfer per rank out (see the table's head).
      const double busy = microbatches * (forward + input + weight);
      found = 1 - busy / (busy / (1 - found) - stages * transfer);
    }
    EXPECT_NEAR(found, rate, 6e-5) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 24);
}

constexpr std::tuple<double, double, double> kUnequalTimes[] = {
    {1, 1, 1}, {1, 2, .5}, {2.5, 2, 1.5}, {1, 1, .1}, {1, .5, 3}};

// Bubble of total time for F = I = W and free transfers, made with the authors' own schedulers.
struct Rates {
  int p, m;
  double one_f_one_b, interleaved2, interleaved4, zb_h1, zb_v, dualpipe_v, dualpipe;
};

TEST(AuthorsSchedulers, HaveTheSameBubbles) {
  const Rates kRates[] = {{4, 8, .2727, .1579, .0857, .1111, .0588, .1111, .0769},
                          {4, 32, .0857, .0448, .0229, .0303, .0154, .0303, .0204},
                          {8, 32, .1795, .0986, .0519, .0680, .0352, .0680, .0588}};
  for (const Rates& row : kRates) {
    const auto rate = [&](const char* name, int chunks) {
      return time_order(*make_order(name, row.p, row.m, chunks), split(1, 1, 1)).bubble_of_total;
    };
    EXPECT_NEAR(rate("gpipe", 1), row.one_f_one_b, 5e-5);
    EXPECT_NEAR(rate("1f1b", 1), row.one_f_one_b, 5e-5);
    EXPECT_NEAR(rate("interleaved", 2), row.interleaved2, 5e-5);
    EXPECT_NEAR(rate("interleaved", 4), row.interleaved4, 5e-5);
    EXPECT_NEAR(rate("zb-h1", 1), row.zb_h1, 5e-5);
    EXPECT_NEAR(rate("zb-h2", 1), row.zb_h1, 5e-5);  // it is zero of the longest rank only
    EXPECT_NEAR(rate("zb-v", 2), row.zb_v, 5e-5);
    EXPECT_NEAR(rate("dualpipe-v", 2), row.dualpipe_v, 5e-5);
    EXPECT_NEAR(rate("dualpipe", 2), row.dualpipe, 5e-5);
  }
}

// The automatic schedule against that of the authors (sail-sg/zero-bubble-pipeline-parallelism,
// scheduler/zb.py, run with a memory that weight gradients free): bubbles of the longest rank for
// the times of the paper's table 9 and others, with p and with 2p micro-batches held.
TEST(ZeroBubbleAutomatic, LeavesNoMoreBubbleThanThatOfItsAuthors) {
  struct Row {
    int p, m;
    double forward, input, weight, transfer, one, two;
  };
  const Row kRows[] = {{8, 24, 18.522, 18.086, 9.337, .601, .1585, .1015},
                       {8, 32, 18.513, 18.086, 9.331, .626, .1242, .0784},
                       {8, 64, 18.546, 18.097, 9.321, .762, .0674, .0415},
                       {8, 24, 29.718, 29.444, 19.927, .527, .1323, .0607},
                       {8, 32, 29.802, 29.428, 19.53, .577, .1045, .0490},
                       {8, 64, 29.935, 29.621, 19.388, .535, .0554, .0258},
                       {4, 8, 1, 1, 1, 0, .1111, 0},
                       {4, 16, 1, 1.3, .7, .05, .1011, .0457},
                       {4, 32, 2, 3, 1, .1, .0643, .0429},
                       {8, 16, 1, 1.3, .7, .05, .2079, .1160},
                       {8, 32, 1, 1, 1, 0, .0680, 0},
                       {8, 32, 2, 3, 1, .1, .1382, .1003}};
  for (const Row& row : kRows) {
    const ActionTimes times{row.forward, row.input, row.weight, row.transfer};
    for (const auto& [name, rounds, bubble] :
         {std::tuple{"zb-1p", 1, row.one}, {"zb-2p", 2, row.two}}) {
      const Order order = *make_order(name, row.p, row.m, 1, 0, times);
      const TimedOrder timed =
          time_order(order, split(row.forward, row.input, row.weight, row.transfer));
      EXPECT_NEAR(timed.bubble_of_longest_rank, bubble, 6e-5)
          << name << " " << row.p << " " << row.m;
      for (const double held : timed.peak_in_flight) EXPECT_LE(held, rounds * row.p);
    }
  }
}

TEST(ZeroBubbleAutomatic, HoldsItsLimitAndComputesEverythingForAllTimes) {
  for (const int p : {1, 2, 3, 5, 8}) {
    for (const int m : {1, 2, p, p + 1, 3 * p}) {
      for (const auto& [forward, input, weight] : kUnequalTimes) {
        for (const int limit : {p, 2 * p}) {
          const Order order =
              zb_automatic_order("zb", p, m, limit, {forward, input, weight, forward / 20});
          EXPECT_TRUE(check_order(order).empty()) << p << " " << m;
          for (const double held : time_order(order, split(forward, input, weight)).peak_in_flight)
            EXPECT_LE(held, limit) << p << " " << m;
        }
      }
    }
  }
}

// Bubbles and held micro-batches of the authors' own schedulers (scheduler/zbv_greedy.py): idle
// slots of the longest rank where a chunk's action takes one. Qi et al. 2024 (arXiv 2405.15362):
// V-Min holds about a third of what 1F1B holds, V-Half about a half.
TEST(ControlledMemory, HasTheBubblesAndTheMemoryOfItsAuthors) {
  struct Row {
    int p;
    double half_idle, half_held, min_idle, min_held;
  };
  for (const auto& [p, half_idle, half_held, min_idle, min_held] : {Row{2, 1, 2, 3, 2},
                                                                    {3, 5, 2, 5, 2},
                                                                    {4, 5, 3, 11, 2},
                                                                    {5, 11, 3, 15, 3},
                                                                    {6, 11, 4, 17, 3},
                                                                    {8, 17, 5, 27, 4},
                                                                    {12, 29, 7, 41, 5},
                                                                    {16, 41, 9, 59, 6}}) {
    const int m = 3 * p;
    const auto measure = [&, p = p](const char* name) {
      const TimedOrder timed = time_order(*make_order(name, p, m, 2), split(1, 1, 1));
      const double held =
          *std::max_element(timed.peak_in_flight.begin(), timed.peak_in_flight.end());
      return std::pair{timed.bubble_of_total * timed.makespan, held};
    };
    const auto [idle_of_half, held_by_half] = measure("v-half");
    const auto [idle_of_min, held_by_min] = measure("v-min");
    EXPECT_LE(idle_of_half, half_idle + 1e-9) << p;
    EXPECT_LE(idle_of_min, min_idle + 1e-9) << p;
    EXPECT_EQ(held_by_half, half_held) << p;
    EXPECT_EQ(held_by_min, min_held) << p;
    EXPECT_LE(held_by_half, p / 2.0 + 1);
    EXPECT_LE(held_by_min, (p + 4) / 3.0);
  }
}

// Megatron-LM's schedule table for p = 2, two chunks, five micro-batches in groups of three.
TEST(Interleaved, TakesGroupsOfAnySize) {
  const Order order = interleaved_order(2, 5, 2, 3);
  EXPECT_TRUE(check_order(order).empty());
  std::string forwards;
  for (const Action& action : order.ranks[0])
    if (action.kind == ActionKind::kForward)
      forwards += fmt::format("{}.{} ", action.microbatch, action.chunk);
  EXPECT_EQ(forwards, "0.0 1.0 2.0 0.1 1.1 2.1 3.0 4.0 3.1 4.1 ");
}

TEST(Interleaved, HasThePublishedMakespans) {
  const auto makespan = [](int p, int m, int v) {
    return time_order(interleaved_order(p, m, v), split(1.0 / v, 1.0 / v, 1.0 / v)).makespan;
  };
  EXPECT_DOUBLE_EQ(makespan(4, 8, 2), 28.5);
  EXPECT_DOUBLE_EQ(makespan(4, 4, 2), 16.5);
  EXPECT_DOUBLE_EQ(makespan(4, 8, 4), 26.25);
  EXPECT_DOUBLE_EQ(makespan(2, 4, 2), 13.5);
}

constexpr std::tuple<double, double, double> kTimes[] = {{1, 1, 1}, {1, 2, .5}, {2.5, 2, 1.5}};

class Closed : public testing::TestWithParam<std::tuple<int, int>> {};

// (p-1)/(v m) of ideal time; held by rank 0: p (1 + (p-1)/(p v)). Narayanan 2021, section 2.2.2,
// Korthikanti 2022, section 4.2.3.
TEST_P(Closed, InterleavedDividesTheBubbleByTheChunks) {
  const auto [p, rounds] = GetParam();
  const int m = p * rounds;
  for (const int v : {2, 3, 4}) {
    const Order order = interleaved_order(p, m, v);
    for (const auto& [forward, input, weight] : kTimes) {
      const auto timed = time_order(order, split(forward, input, weight));
      EXPECT_NEAR(timed.bubble_over_ideal, (p - 1.0) / (v * m), 1e-9);
      EXPECT_NEAR(largest(timed.peak_in_flight), std::min<double>(m, p * (1 + (p - 1.0) / (p * v))),
                  1e-9);
    }
  }
}

// Bubble (p-1)(F+I-W) and (p-1)(F+I-2W) where these are not negative and micro-batches suffice;
// memory of H1 as of 1F1B, of H2 2(p-i) - 1 (0-based i) before its waiting weight gradients.
TEST_P(Closed, ZeroBubbleH1AndH2FillTheBubbleWithWeightGradients) {
  const auto [p, rounds] = GetParam();
  const int m = 2 * p * rounds;
  for (const double weight : {1.0, .75, .5}) {
    const Durations durations = split(1, 1, weight);
    const auto h1 = time_order(zb_h1_order(p, m), durations);
    const double cost = m * (2 + weight);
    EXPECT_NEAR(h1.makespan - cost, (p - 1) * (2 - weight), 1e-9);
    EXPECT_EQ(h1.peak_in_flight, std::vector<double>(p, std::min(p, m)));
    const auto h2 = time_order(zb_h2_order(p, m), durations);
    EXPECT_NEAR(h2.bubble_of_longest_rank * (cost + (p - 1) * (2 - 2 * weight)),
                (p - 1) * (2 - 2 * weight), 1e-9);
    EXPECT_EQ(h2.peak_in_flight, std::vector<double>(p, 2 * p - 1));
  }
}

TEST_P(Closed, ZbVHasNoBubbleAtTheMemoryOf1F1B) {
  const auto [p, rounds] = GetParam();
  const int m = 2 * p * rounds;
  const auto timed = time_order(zb_v_order(p, m), split(1, 1, 1));
  EXPECT_NEAR(timed.bubble_of_longest_rank, 0, 1e-12);
  EXPECT_DOUBLE_EQ(timed.makespan, 6 * m + p - 1);
  EXPECT_EQ(timed.peak_in_flight, std::vector<double>(p, p));
}

// (PP/2 - 1)(F&B + B - 3W) of the rank that idles most; PP + 1 held. README of
// deepseek-ai/DualPipe, whose B is I + W; exact where F = I.
TEST_P(Closed, DualPipeHasTheBubbleAndMemoryOfItsReadme) {
  const auto [half, rounds] = GetParam();
  const int p = 2 * half, m = 2 * p * rounds;
  for (const auto& [forward, input, weight, pair] :
       {std::tuple{1., 1., 1., 0.}, {1., 1., 1., 2.5}, {1., 1., .8, 2.6}}) {
    Durations durations = split(forward, input, weight);
    durations.overlapped = pair;
    const double both = pair > 0 ? pair : forward + input + weight;
    const double bubble = (half - 1) * (both + input + weight - 3 * weight);
    const Order orders[] = {dualpipe_order(p, m), dualpipe_v_order(half, m)};
    for (const Order& order : orders) {
      const auto timed = time_order(order, durations);
      double most_idle = 0;
      for (const auto& spans : timed.spans) {
        double busy = 0;
        for (std::size_t i = 0; i < spans.size(); ++i) {
          busy += spans[i].end - spans[i].begin;
          if (spans[i].action.overlapped_with_next) ++i;
        }
        most_idle = std::max(most_idle, timed.makespan - busy);
      }
      EXPECT_NEAR(most_idle, bubble, 1e-9) << order.name << " " << p << " " << m;
      // A chunk of DualPipe is a whole stage; two of DualPipe-V are one rank's.
      const double chunk = order.stages == p && order.name == "dualpipe" ? 1 : 0.5;
      EXPECT_NEAR(largest(timed.peak_in_flight), (p + 1) * chunk, 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Closed,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7),
                                          testing::Values(1, 2, 5)));

// Every size up to 16 ranks and 64 micro-batches that a schedule does not refuse, with each number
// of chunks up to 8 and the most, 16; of four chunks and more, whose orders are long, on some
// numbers of ranks.
class Every : public testing::TestWithParam<ScheduleRule> {};

TEST_P(Every, OrderIsRightForAllSizes) {
  const ScheduleRule rule = GetParam();
  const std::vector<int> chunk_counts =
      rule.chunks == 0 ? std::vector<int>{2, 3, 4, 5, 6, 7, 8, 16} : std::vector<int>{rule.chunks};
  const std::set<int> ranks_of_long_orders = {1, 2, 3, 4, 5, 8, 16};
  int made = 0;
  for (int p = 1; p <= 16; ++p) {
    for (int m = 1; m <= 64; ++m) {
      for (const int v : chunk_counts) {
        if (v > 3 && !ranks_of_long_orders.contains(p)) continue;
        const auto order = make_order(std::string(rule.name), p, m, v);
        ASSERT_EQ(order.ok(), check_schedule_sizes(rule, p, m, v).ok())
            << p << " " << m << " " << v;
        if (!order.ok()) continue;
        ++made;
        const std::vector<Message> wrong = check_order(*order);
        ASSERT_TRUE(wrong.empty()) << p << " " << m << " " << v << " " << wrong.front().text;
        // Whole backwards, or input and weight parts: as many as forwards, on every rank alike.
        std::size_t actions = 0;
        for (const auto& line : order->ranks) actions += line.size();
        const std::size_t forwards = std::size_t{1} * order->stages * m;
        if (rule.splits_backward) {
          EXPECT_GT(actions, 2 * forwards);
          EXPECT_LE(actions, 3 * forwards);
        } else {
          EXPECT_EQ(actions, 2 * forwards);
        }
      }
    }
  }
  EXPECT_GT(made, rule.even_ranks ? 150 : 300);
}

INSTANTIATE_TEST_SUITE_P(Schedules, Every, testing::ValuesIn(kScheduleRules), [](const auto& each) {
  std::string name(each.param.name);
  std::erase(name, '-');
  return "of_" + name;
});

TEST(Sizes, ThatAScheduleCannotHaveAreRefusedWithSizesThatWork) {
  struct Case {
    const char* schedule;
    int ranks, microbatches, chunks;
    const char *field, *instead, *words;
  };
  const Case kCases[] = {
      {"interleaved", 4, 8, 1, "chunks", "2", "2 or more chunks"},
      {"zb-v", 4, 8, 3, "chunks", "2", "2 chunks per rank, not 3"},
      {"zb-h1", 4, 8, 2, "chunks", "1", "1 chunk per rank, not 2"},
      {"dualpipe", 5, 20, 2, "mesh.pp", "4", "even number of stages, not 5"},
      {"dualpipe", 4, 6, 2, "microbatches", "8", "8 or more, not 6"},
      {"dualpipe", 4, 9, 2, "microbatches", "10", "even number of them, not 9"},
      {"dualpipe-v", 4, 7, 2, "microbatches", "8", "8 or more, not 7"},
  };
  for (const Case& each : kCases) {
    const auto order = make_order(each.schedule, each.ranks, each.microbatches, each.chunks);
    ASSERT_FALSE(order.ok()) << each.schedule;
    EXPECT_EQ(order.error().field, each.field);
    ASSERT_FALSE(order.error().alternatives.empty());
    EXPECT_EQ(order.error().alternatives.front(), each.instead);
    EXPECT_NE(order.error().text.find(each.words), std::string::npos) << order.error().text;
  }
}

}  // namespace
}  // namespace parallelarium
