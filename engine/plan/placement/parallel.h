// SPDX-License-Identifier: Apache-2.0
// A loop over independent items on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace parallelarium {

// The most bodies that run at once.
inline std::size_t parallel_bodies() {
  constexpr std::size_t kMostThreads = 16;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
}

// Calls body(i) for 0 <= i < count, in any order, on as many threads as there are cores, or as can
// be started. The caller is one of them, and all have ended when it returns. Bodies must share
// nothing that they write.
template <class Body>
void in_parallel(std::size_t count, const Body& body) {
  const std::size_t cores = parallel_bodies();
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t item = next++; item < count; item = next++) body(item);
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t thread = 1; thread < std::min(cores, count); ++thread)
      others.emplace_back(work);
  } catch (const std::system_error&) {  // those that there are do the rest
  }
  work();
}

}  // namespace parallelarium
