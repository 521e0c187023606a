// SPDX-License-Identifier: Apache-2.0
// Direct collectives launch and move what the cost model counts.
#include "engine/run/cpu/direct.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ranks/transport/forwarded_device.h"

namespace parallelarium {
namespace {

class CountingDevice final : public ForwardedDevice<CountingDevice> {
 public:
  template <class Launch>
  void forward(const char*, std::initializer_list<Values>, const Launch& launch) {
    ++launches;
    launch(inner());
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t count) override {
    bytes += 2 * count;
    ForwardedDevice::copy(to, from, count);
  }
  void swap(std::byte* a, std::byte* b, std::int64_t count) override {
    bytes += 4 * count;
    ForwardedDevice::swap(a, b, count);
  }
  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    bytes += (static_cast<std::int64_t>(parts.size()) + 1) * count * size_of(type);
    ForwardedDevice::combine(type, reduction, target, parts, divisor, count);
  }

  int launches = 0;
  std::int64_t bytes = 0;  // read and written
};

TEST(Direct, LaunchesAndMovesWhatTheCostModelCounts) {
  constexpr std::int64_t kChunk = 8;  // elements
  for (const int n : {2, 3, 4, 7}) {
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
          CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
      const auto ranks = static_cast<std::size_t>(n);
      std::vector<std::vector<float>> values(ranks, std::vector<float>(ranks * kChunk, 1.0F));
      std::vector<std::byte*> arrays, owns(ranks, nullptr);
      for (std::vector<float>& array : values)
        arrays.push_back(reinterpret_cast<std::byte*>(array.data()));
      std::vector<CountingDevice> devices(ranks);
      const auto member = [&](std::size_t me) {
        DirectMember it;
        it.device = &devices[me];
        it.kind = kind;
        it.bytes = n * kChunk * 4;
        it.me = static_cast<int>(me);
        it.arrays = arrays;
        it.owns = owns;
        return it;
      };
      for (std::size_t me = 0; me < ranks; ++me) reduce_own_chunk(member(me));
      for (std::size_t me = 0; me < ranks; ++me) gather_chunks(member(me));
      int launches = 0;
      std::int64_t most = 0, all = 0;
      for (const CountingDevice& device : devices) {
        launches = std::max(launches, device.launches);
        most = std::max(most, device.bytes);
        all += device.bytes;
      }
      const DirectWork expected = direct_work(kind, n);
      EXPECT_EQ(launches, expected.launches) << name_of(kind) << " of " << n;
      const std::int64_t bytes = kind == CollectiveKind::kAllToAll ? all / n : most;
      EXPECT_EQ(bytes, expected.chunks * kChunk * 4) << name_of(kind) << " of " << n;
    }
  }
}

}  // namespace
}  // namespace parallelarium
