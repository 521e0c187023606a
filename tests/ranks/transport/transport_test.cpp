// SPDX-License-Identifier: Apache-2.0
// The shared-memory transport: rank threads without a Program.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "engine/run/cpu/fabric.h"

namespace parallelarium {
namespace {

template <class Number>
using Arrays = std::vector<std::vector<Number>>;  // [rank][element]

template <class Number>
Arrays<Number> arrays_of(int ranks, std::int64_t count) {
  return Arrays<Number>(static_cast<std::size_t>(ranks),
                        std::vector<Number>(static_cast<std::size_t>(count)));
}

// Rank threads over one fabric of one group.
struct StandInWorld {
  explicit StandInWorld(int count) : ranks(count), fabric(count, {group(count)}, stop) {}

  static Group group(int count) {
    Group all{Axis::kWorld, std::vector<int>(static_cast<std::size_t>(count))};
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    return all;
  }

  void run(const std::function<void(int, Transport&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        const std::unique_ptr<Transport> transport = fabric.transport(rank);
        body(rank, *transport);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int ranks;
  Stop stop;
  CpuFabric fabric;
};

template <class Number>
TransferPart part_of(bool send, int peer, Number& value, std::int64_t sequence = 0) {
  TransferPart part;
  part.send = send;
  part.peer = peer;
  part.group = 0;
  part.sequence = sequence;
  part.data = reinterpret_cast<std::byte*>(&value);
  part.bytes = sizeof value;
  return part;
}

template <class Number>
CollectiveCall call_on(std::vector<Number>& values, CollectiveKind kind, DataType type) {
  CollectiveCall call;
  call.kind = kind;
  call.group = 0;
  call.type = type;
  call.data = reinterpret_cast<std::byte*>(values.data());
  call.bytes = static_cast<std::int64_t>(values.size() * sizeof(Number));
  return call;
}

struct Size {
  int ranks;
  std::int64_t count;
};
class Collectives : public testing::TestWithParam<Size> {};

TEST_P(Collectives, AllReduceGivesEveryMemberTheSumInRankOrderToTheBit) {
  const auto [n, count] = GetParam();
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Arrays<float> arrays = arrays_of<float>(n, count);
  for (auto& values : arrays) {
    for (float& value : values) value = uniform(random);
  }
  std::vector<float> expected = arrays[0];
  for (std::size_t rank = 1; rank < arrays.size(); ++rank) {
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += arrays[rank][i];
  }
  StandInWorld world(n);
  world.run([&](int rank, Transport& transport) {
    auto& mine = arrays[static_cast<std::size_t>(rank)];
    CollectiveCall call = call_on(mine, CollectiveKind::kAllReduce, DataType::kF32);
    ASSERT_TRUE(transport.collective(call).ok());
    EXPECT_EQ(std::memcmp(mine.data(), expected.data(), expected.size() * sizeof(float)), 0);
    const Volume volume = collective_volume(call.kind, call.type, call.bytes, n, rank);
    EXPECT_EQ(call.sent, volume.sent);
    EXPECT_EQ(call.received, volume.received);
  });
}

// What element i of rank r's array holds after the collective, when element i of rank r was
// 1000 r + i before; written down from the definition of each collective.
double expected_after(CollectiveKind kind, int n, std::int64_t count, int r, int chunk,
                      std::int64_t i) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return 1000.0 * chunk + static_cast<double>(i);
    case CollectiveKind::kBroadcast:
      return static_cast<double>(i);
    case CollectiveKind::kReduceScatter:
      if (chunk == r) return 500.0 * n * (n - 1) + static_cast<double>(n * i);
      return 1000.0 * r + static_cast<double>(i);
    default:  // all_to_all: chunk c comes from rank c, where it was chunk r
      return 1000.0 * chunk +
             static_cast<double>(i - chunk_of(count, n, chunk).begin + chunk_of(count, n, r).begin);
  }
}

TEST_P(Collectives, GatherScatterBroadcastAndExchangeMoveTheRightChunks) {
  const auto [n, count] = GetParam();
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kBroadcast, CollectiveKind::kAllToAll}) {
    if (kind == CollectiveKind::kAllToAll && count % n != 0) continue;
    Arrays<double> arrays = arrays_of<double>(n, count);
    for (std::size_t r = 0; r < arrays.size(); ++r) {
      std::iota(arrays[r].begin(), arrays[r].end(), 1000.0 * static_cast<double>(r));
    }
    StandInWorld world(n);
    const int ranks = n;
    const std::int64_t elements = count;
    world.run([&](int rank, Transport& transport) {
      auto& mine = arrays[static_cast<std::size_t>(rank)];
      CollectiveCall call = call_on(mine, kind, DataType::kF64);
      ASSERT_TRUE(transport.collective(call).ok());
      for (int c = 0; c < ranks; ++c) {
        const ChunkRange chunk = chunk_of(elements, ranks, c);
        for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
          ASSERT_EQ(mine[static_cast<std::size_t>(i)],
                    expected_after(kind, ranks, elements, rank, c, i))
              << name_of(kind) << " rank " << rank << " element " << i;
        }
      }
      const Volume volume = collective_volume(kind, DataType::kF64, elements * 8, ranks, rank);
      EXPECT_EQ(call.sent, volume.sent) << name_of(kind);
      EXPECT_EQ(call.received, volume.received) << name_of(kind);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives,
                         testing::Values(Size{1, 5}, Size{2, 1}, Size{2, 1024}, Size{3, 7},
                                         Size{3, 3000}, Size{4, 2}, Size{4, 4096}, Size{7, 700},
                                         Size{8, 5}, Size{16, 1600}));

TEST(Transfers, KthSendMeetsKthReceiveWhateverOrderTheyArriveIn) {
  constexpr int kMessages = 50;
  std::vector<int> out(kMessages), in(kMessages, -1);
  std::iota(out.begin(), out.end(), 100);
  StandInWorld(2).run([&](int rank, Transport& transport) {
    std::vector<TransferPart> parts;
    for (int i = 0; i < kMessages; ++i) {
      const int k = rank == 0 ? i : kMessages - 1 - i;  // the receiver posts them backwards
      parts.push_back(
          part_of(rank == 0, 1 - rank, (rank == 0 ? out : in)[static_cast<std::size_t>(k)], k));
    }
    ASSERT_TRUE(transport.transfer(parts).ok());
    for (const TransferPart& part : parts) {
      EXPECT_EQ(part.moved, static_cast<std::int64_t>(sizeof(int)));
    }
  });
  EXPECT_EQ(in, out);
}

TEST(Transfers, BatchProgressesWhateverPeerComesFirst) {
  // Rank 0 receives from 1 and 2 in one batch. Rank 1 sends only after rank 2's send has ended, so
  // waiting for the first part before moving the second would hang.
  double from1 = 0, from2 = 0, one = 1, two = 2, go = 0, sent_go = 3;
  StandInWorld(3).run([&](int rank, Transport& transport) {
    const auto transfer = [&](std::vector<TransferPart> parts) {
      ASSERT_TRUE(transport.transfer(parts).ok());
    };
    if (rank == 0) {
      transfer({part_of(false, 1, from1), part_of(false, 2, from2)});
    } else if (rank == 1) {
      transfer({part_of(false, 2, go)});
      transfer({part_of(true, 0, one)});
    } else {
      transfer({part_of(true, 0, two)});
      transfer({part_of(true, 1, sent_go)});
    }
  });
  EXPECT_EQ(from1, 1);
  EXPECT_EQ(from2, 2);
  EXPECT_EQ(go, 3);
}

TEST(Transfers, SendDoesNotEndBeforeItsReceiveBegins) {
  std::atomic<bool> receiving{false};
  int out = 5, in = 0;
  StandInWorld(2).run([&](int rank, Transport& transport) {
    TransferPart part = part_of(rank == 0, 1 - rank, rank == 0 ? out : in);
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds{30});
      receiving = true;
    }
    ASSERT_TRUE(transport.transfer({&part, 1}).ok());
    EXPECT_TRUE(receiving.load());
  });
  EXPECT_EQ(in, 5);
}

TEST(Transfers, BothSidesAgreeOnModelledTime) {
  int value[2] = {1, 2};
  StandInWorld(2).run([&](int rank, Transport& transport) {
    TransferPart part = part_of(rank == 0, 1 - rank, value[rank]);
    part.pace = rank == 0 ? Pace{Nanoseconds{10}, Nanoseconds{9}, Nanoseconds{5}}
                          : Pace{Nanoseconds{7}, Nanoseconds{7}, Nanoseconds{6}};
    ASSERT_TRUE(transport.transfer({&part, 1}).ok());
    EXPECT_EQ(part.pace.ready.count(), 10);
    EXPECT_EQ(part.pace.modelled.count(), 9);
    EXPECT_EQ(part.pace.duration.count(), 6);
  });
}

TEST(Transfers, DifferentSizesStopTheRunWithASentence) {
  StandInWorld world(2);
  double value[2] = {};
  world.run([&](int rank, Transport& transport) {
    TransferPart part = part_of(rank == 0, 1 - rank, value[rank]);
    if (rank == 1) part.bytes = 4;
    EXPECT_FALSE(transport.transfer({&part, 1}).ok());
  });
  EXPECT_EQ(world.stop.why().text, "Rank 0 sends 8 bytes to rank 1, which expects 4.");
}

TEST(Stopping, EndsEveryWaitAtOnceAndKeepsTheFirstReason) {
  StandInWorld world(4);
  const TimePoint begin = Clock::now();
  world.run([&](int rank, Transport& transport) {
    int value = 0;
    TransferPart part = part_of(false, 3, value);
    std::vector<float> array(8);
    CollectiveCall call = call_on(array, CollectiveKind::kAllReduce, DataType::kF32);
    switch (rank) {
      case 0:
        EXPECT_FALSE(transport.transfer({&part, 1}).ok());
        break;
      case 1:
        EXPECT_FALSE(transport.collective(call).ok());
        break;
      case 2:
        EXPECT_FALSE(transport.barrier().ok());
        break;
      default:
        EXPECT_TRUE(world.stop.sleep_until(Clock::now() + std::chrono::milliseconds{20}));
        world.stop.raise(message("first", "first"));
        world.stop.raise(message("second", "second"));
        EXPECT_FALSE(world.stop.sleep_until(Clock::now() + std::chrono::hours{1}));
    }
  });
  EXPECT_EQ(world.stop.why().id, "first");
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds{500});
}

}  // namespace
}  // namespace parallelarium
