// SPDX-License-Identifier: Apache-2.0
// A run whose rank 1 fails or stalls in a transfer, wherever its ranks meet: it has to name that
// rank and to end in time, and the next run has to work.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "engine/run/train/launch.h"
#include "tests/ranks/proof.h"
#include "tests/ranks/transport/wrapped_transport.h"

namespace parallelarium {

enum class Disturbance : std::uint8_t { kFails, kStalls };

// Rank 1 of `options` does so in its transfer number 20, which `when` tells.
inline void disturb(LaunchOptions& options, Disturbance how, TimePoint& when) {
  options.make_transport = [how, &when, make = options.make_transport](
                               TransportParts parts) -> std::unique_ptr<Transport> {
    const int rank = parts.rank.rank;
    Stop& stop = parts.stop;
    std::unique_ptr<Transport> own = make ? make(std::move(parts)) : std::move(parts.host);
    if (rank != 1) return own;
    return std::make_unique<WrappedTransport>(std::move(own), [how, &when, &stop](int calls) {
      if (calls != 20) return;
      when = Clock::now();
      if (how == Disturbance::kFails) throw std::runtime_error("out of luck");
      while (!stop.raised()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    });
  };
}

// Rank 1 must have 20 transfers in all steps. Where ranks meet on the host (not in NCCL) it counts
// as arrived at the transfer it stalls in: there others have to wait for another op of it, too.
inline void expect_named_and_ended_in_time(const Setup& setup, const BackendChoice& choice) {
  constexpr double kTimeout = 1;
  const Program program = built(setup);
  for (const Disturbance how : {Disturbance::kFails, Disturbance::kStalls}) {
    const bool stalls = how == Disturbance::kStalls;
    SCOPED_TRACE(stalls ? "stalls" : "fails");
    Result<LaunchOptions> options = launch_options(choice, program.ranks.size());
    ASSERT_TRUE(options.ok()) << options.error().text;
    TimePoint disturbed;
    disturb(*options, how, disturbed);
    RunControl control;
    control.hang_timeout_seconds = kTimeout;
    const Result<RunResult> ended = launch(setup, program, choice, control, {}, *options);
    const auto took = Clock::now() - disturbed;
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().text.rfind("Rank 1 ", 0), 0u) << ended.error().text;
    EXPECT_LT(took, std::chrono::duration<double>(stalls ? kTimeout + 1 : 1));
    const Result<RunResult> next = run(setup, program, choice, {});
    EXPECT_TRUE(next.ok()) << next.error().text;
  }
}

}  // namespace parallelarium
