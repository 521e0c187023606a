// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes, as threads: each has a World of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "engine/run/net/world.h"
#include "engine/run/net/world_parts.h"
#include "tests/ranks/harness.h"

namespace parallelarium {

inline int free_port() {
  const Result<Socket> listener = listen_on(0, true);
  return port_of(*listener);
}

inline ProcessPlace place_of(int rank, int size, int port) {
  return {"torchrun", rank, size, rank, size, "127.0.0.1", port};
}

// Runs `body` as every rank of a world.
inline void in_world(int size, const std::function<void(World&)>& body) {
  const int port = free_port();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      Result<std::unique_ptr<World>> world =
          World::join(place_of(rank, size, port), "same", {}, "device of " + std::to_string(rank));
      ASSERT_TRUE(world.ok()) << world.error().text;
      body(**world);
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

inline RunProgress progress_of(int size) {
  RunProgress progress;
  for (int rank = 0; rank < size; ++rank) progress.push_back(std::make_unique<RankProgress>());
  return progress;
}

}  // namespace parallelarium
