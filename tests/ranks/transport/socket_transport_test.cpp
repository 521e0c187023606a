// SPDX-License-Identifier: Apache-2.0
// The transport of ranks that are processes.
#include "engine/run/net/socket_transport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/run/cpu/fabric.h"
#include "tests/ranks/transport/joined_world.h"

namespace parallelarium {
namespace {

Program one_group(int size) {
  Program program;
  program.world = size;
  Group all{Axis::kWorld, {}};
  for (int rank = 0; rank < size; ++rank) all.ranks.push_back(rank);
  program.groups = {all};
  return program;
}

// Every collective on uneven arrays: the same bits and the same bytes as between threads.
TEST(SocketTransport, CollectsAsThreadsDoToTheBit) {
  constexpr int kSize = 3;
  const Program program = one_group(kSize);
  struct Case {
    CollectiveKind kind;
    Reduction reduction;
    DataType type;
    std::int64_t count;
    bool own;
  };
  std::vector<Case> cases;
  for (const std::int64_t count : {1, 2, 7, 5000}) {
    for (const DataType type : {DataType::kF32, DataType::kBf16, DataType::kF64}) {
      cases.push_back({CollectiveKind::kAllReduce, Reduction::kSum, type, count, false});
      cases.push_back({CollectiveKind::kAllReduce, Reduction::kMax, type, count, false});
      cases.push_back({CollectiveKind::kReduceScatter, Reduction::kSum, type, count, false});
      cases.push_back({CollectiveKind::kReduceScatter, Reduction::kSum, type, count, true});
      cases.push_back({CollectiveKind::kAllGather, Reduction::kNone, type, count, false});
      cases.push_back({CollectiveKind::kAllGather, Reduction::kNone, type, count, true});
      cases.push_back({CollectiveKind::kBroadcast, Reduction::kNone, type, count, false});
    }
    cases.push_back(
        {CollectiveKind::kAllToAll, Reduction::kNone, DataType::kF32, 3 * count, false});
  }
  struct Seen {
    std::vector<std::byte> data, own;
    std::int64_t sent = 0, received = 0;
  };
  const auto play = [&](Transport& transport) {
    std::vector<Seen> seen;
    std::int64_t sequence = 0;
    for (const Case& one : cases) {
      const std::int64_t size = size_of(one.type);
      std::mt19937 random(static_cast<unsigned>(17 * sequence + transport.rank()));
      std::uniform_real_distribution<double> uniform(-1, 1);
      Seen& mine = seen.emplace_back();
      const auto fill = [&](std::vector<std::byte>& bytes, std::int64_t count) {
        bytes.resize(static_cast<std::size_t>(count * size));
        for (std::int64_t i = 0; i < count; ++i) {
          const double value = uniform(random);
          const auto narrow = static_cast<float>(value);
          const Bf16 rounded = round_to_bf16(narrow);
          const void* from = size == 8   ? static_cast<const void*>(&value)
                             : size == 4 ? static_cast<const void*>(&narrow)
                                         : &rounded;
          std::memcpy(bytes.data() + i * size, from, static_cast<std::size_t>(size));
        }
      };
      fill(mine.data, one.count);
      const ChunkRange chunk = chunk_of(one.count, kSize, transport.rank());
      fill(mine.own, chunk.end - chunk.begin);
      CollectiveCall call;
      call.kind = one.kind;
      call.group = 0;
      call.sequence = sequence++;
      call.type = one.type;
      call.reduction = one.reduction;
      call.data = mine.data.data();
      call.bytes = one.count * size;
      if (one.own) call.own = mine.own.data();
      call.adds = one.own && one.kind == CollectiveKind::kReduceScatter;
      const Result<void> done = transport.collective(call);
      EXPECT_TRUE(done.ok()) << done.error().text;
      mine.sent = call.sent;
      mine.received = call.received;
    }
    return seen;
  };
  std::vector<std::vector<Seen>> by_threads(kSize), by_sockets(kSize);
  Stop stop;
  CpuFabric fabric(kSize, program.groups, stop);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kSize; ++rank) {
    threads.emplace_back(
        [&, rank] { by_threads[static_cast<std::size_t>(rank)] = play(*fabric.transport(rank)); });
  }
  for (std::thread& thread : threads) thread.join();
  in_world(kSize, [&](World& world) {
    Stop ended;
    RunProgress progress = progress_of(kSize);
    const std::unique_ptr<Transport> transport = make_socket_transport(world, program, ended);
    world.begin(ended, progress);
    by_sockets[static_cast<std::size_t>(world.rank())] = play(*transport);
    EXPECT_TRUE(transport->close().ok());
    EXPECT_TRUE(world.finish("").ok());
  });
  for (std::size_t rank = 0; rank < kSize; ++rank) {
    ASSERT_EQ(by_sockets[rank].size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Seen &a = by_threads[rank][i], &b = by_sockets[rank][i];
      EXPECT_EQ(a.data, b.data) << "case " << i << " rank " << rank;
      EXPECT_EQ(a.own, b.own) << "case " << i << " rank " << rank;
      EXPECT_EQ(a.sent, b.sent) << "case " << i;
      EXPECT_EQ(a.received, b.received) << "case " << i;
    }
  }
}

// Parts of one batch move in whatever order their peers come: a ring of exchanges, larger than what
// the system buffers.
TEST(SocketTransport, ExchangesAroundARing) {
  constexpr int kSize = 3;
  constexpr std::size_t kCount = 300'000;
  const Program program = one_group(kSize);
  in_world(kSize, [&](World& world) {
    Stop stop;
    RunProgress progress = progress_of(kSize);
    const std::unique_ptr<Transport> transport = make_socket_transport(world, program, stop);
    world.begin(stop, progress);
    const int me = world.rank();
    std::vector<double> mine(kCount, me), theirs(kCount, -1);
    for (std::int64_t round = 0; round < 4; ++round) {
      std::vector<TransferPart> parts(2);
      parts[0].send = true;
      parts[0].peer = (me + 1) % kSize;
      parts[0].data = reinterpret_cast<std::byte*>(mine.data());
      parts[1].peer = (me + kSize - 1) % kSize;
      parts[1].data = reinterpret_cast<std::byte*>(theirs.data());
      for (TransferPart& part : parts) {
        part.group = 0;
        part.sequence = round;
        part.bytes = static_cast<std::int64_t>(kCount * sizeof(double));
      }
      ASSERT_TRUE(transport->transfer(parts).ok());
      EXPECT_EQ(theirs, std::vector<double>(kCount, (me + kSize - 1) % kSize));
    }
    EXPECT_TRUE(transport->close().ok());
    EXPECT_TRUE(world.finish("").ok());
  });
}

TEST(SocketTransport, TwoSidesThatDisagreeAreNamed) {
  const Program program = one_group(2);
  in_world(2, [&](World& world) {
    Stop stop;
    RunProgress progress = progress_of(2);
    const std::unique_ptr<Transport> transport = make_socket_transport(world, program, stop);
    world.begin(stop, progress);
    std::vector<std::byte> bytes(64);
    TransferPart part;
    part.send = world.leads();
    part.peer = 1 - world.rank();
    part.group = 0;
    part.data = bytes.data();
    part.bytes = world.leads() ? 64 : 32;
    EXPECT_FALSE(transport->transfer({&part, 1}).ok());
    const auto ended = world.finish("");
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().text, "Rank 0 sends 64 bytes to rank 1, which expects 32.");
  });
}

}  // namespace
}  // namespace parallelarium
