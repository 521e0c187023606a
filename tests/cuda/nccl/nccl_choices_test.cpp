// SPDX-License-Identifier: Apache-2.0
// The profiler plugin as NCCL calls it, with events like those of two ranks of a communicator.
#include "engine/run/gpu/nccl/nccl_choices.h"

#include <gtest/gtest.h>

#include <thread>

namespace parallelarium {
namespace {

NcclProfilerEvent event_of(int rank, const char* function, std::size_t count,
                           const char* algorithm) {
  NcclProfilerEvent event{};
  event.type = kNcclCollectiveEvent;
  event.rank = rank;
  event.collective = {7,  function, nullptr,   nullptr, count, 0, "ncclFloat32",
                      16, 20,       algorithm, "LL128"};
  return event;
}

TEST(NcclChoices, AreWrittenDownOnceForEachCommunicatorAndGathered) {
  static_cast<void>(nccl_choices().take());
  const NcclProfiler plugin = nccl_profiler();
  void* contexts[2] = {};
  for (int rank = 0; rank < 2; ++rank) {
    int events = 0;
    ASSERT_EQ(plugin.init(&contexts[rank], &events, "world", 1, 1, 2, rank, nullptr), 0);
    EXPECT_EQ(events & kNcclCollectiveEvent, kNcclCollectiveEvent);
  }
  const auto tell = [&](int rank) {
    NcclProfilerEvent group{};
    group.type = kNcclGroupEvent;
    NcclProfilerEvent events[] = {
        group, event_of(rank, "AllReduce", 1000, "RING"), event_of(rank, "AllReduce", 10, "RING"),
        event_of(rank, "AllReduce", 10, "TREE"), event_of(rank, "ReduceScatter", 5, nullptr)};
    for (NcclProfilerEvent& event : events) {
      void* handle = nullptr;
      EXPECT_EQ(plugin.start(contexts[rank], &handle, &event), 0);
      EXPECT_NE(handle, nullptr) << "NCCL may end an event without a look";
      EXPECT_EQ(plugin.record(handle, 0, nullptr), 0);
      EXPECT_EQ(plugin.stop(handle), 0);
    }
  };
  std::thread other([&] { tell(1); });
  tell(0);
  other.join();
  for (void* context : contexts) EXPECT_EQ(plugin.finalize(context), 0);
  const std::vector<LibraryChoice> expected = {{"all_reduce", 2, "RING", "LL128", 16, 2, 40, 4000},
                                               {"all_reduce", 2, "TREE", "LL128", 16, 1, 40, 40},
                                               {"reduce_scatter", 2, "", "LL128", 16, 1, 20, 20}};
  EXPECT_EQ(nccl_choices().take(), expected);
  EXPECT_EQ(nccl_choices().take(), std::vector<LibraryChoice>{}) << "taken";
}

TEST(NcclChoices, CountBytesByTheTypesBits) {
  const std::pair<const char*, std::int64_t> types[] = {
      {"ncclBfloat16", 20}, {"ncclFloat64", 80}, {"ncclInt8", 10}, {"unknown", 10}, {nullptr, 10}};
  for (const auto& [type, bytes] : types) {
    NcclChoices choices;
    choices.add("Broadcast", type, 10, 2, "RING", "LL", 1);
    EXPECT_EQ(choices.take().at(0).most_bytes, bytes);
  }
}

}  // namespace
}  // namespace parallelarium
