// SPDX-License-Identifier: Apache-2.0
// Orders that users write, in either notation: executed, with every kind of placement, split
// backwards and overlapped pairs, they train as one rank does and are what their schedule is.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <tuple>

#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

struct Case {
  const char* words;
  bool pytorch;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.words << (c.pytorch ? ", PyTorch's notation" : "");
}

// By rank: what is done to which stage. PyTorch's notation names stages, so that chunks may be
// counted otherwise.
std::vector<std::vector<std::tuple<ActionKind, int, int, bool>>> work_of(const Order& order) {
  std::vector<std::vector<std::tuple<ActionKind, int, int, bool>>> all;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    auto& line = all.emplace_back();
    for (const Action& action : order.ranks[rank])
      line.emplace_back(action.kind, action.microbatch,
                        order.stage_of[rank][static_cast<std::size_t>(action.chunk)],
                        action.overlapped_with_next);
  }
  return all;
}

class OrderFile : public testing::TestWithParam<Case> {};

TEST_P(OrderFile, TrainsAsOneRankAndIsItsSchedule) {
  const parallelarium::Setup named = small_model(GetParam().words);
  const Result<Order> order = make_order(named);
  ASSERT_TRUE(order.ok()) << order.error().text;
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  for (char& c : name) c = c == '/' ? '_' : c;
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / (name + ".txt");
  std::ofstream(path) << (GetParam().pytorch ? to_pytorch(*order) : to_text(*order));
  const std::unique_ptr<const std::filesystem::path, void (*)(const std::filesystem::path*)> clean(
      &path, [](const std::filesystem::path* file) { std::filesystem::remove(*file); });
  parallelarium::Setup filed = named;
  const auto schedule = parallelarium::Schedule::from_file(path.string());
  ASSERT_TRUE(schedule.ok()) << schedule.error().text;
  filed.schedule = *schedule;
  filed.chunks = order->chunks;
  const Result<Order> read = make_order(filed);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(work_of(*read), work_of(*order));
  expect_real(filed);
  const Program a = built(named), b = built(filed);
  for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
    EXPECT_EQ(traffic_of(a, static_cast<int>(rank)), traffic_of(b, static_cast<int>(rank)));
    EXPECT_EQ(a.ranks[rank].arena_bytes, b.ranks[rank].arena_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Notations, OrderFile,
    testing::Values(Case{"pp=4 microbatches=4", false}, Case{"pp=4 microbatches=4", true},
                    Case{"pp=2 schedule=interleaved chunks=2 microbatches=4", false},
                    Case{"pp=2 schedule=interleaved chunks=2 microbatches=4", true},
                    Case{"pp=2 schedule=zb-h2 microbatches=4", true},
                    Case{"pp=2 schedule=zb-v microbatches=4", false},
                    Case{"pp=2 schedule=zb-v microbatches=4", true},
                    Case{"pp=4 schedule=dualpipe microbatches=8", false},
                    Case{"llama pp=2 dp=2 schedule=dualpipe microbatches=4 zero=2", true},
                    Case{"pp=2 schedule=dualpipe-v microbatches=4", false},
                    Case{"pp=2 tp=2 schedule=dualpipe-v microbatches=4", true}));

}  // namespace
}  // namespace parallelarium
