// SPDX-License-Identifier: Apache-2.0
// Runs over the stand-in for NCCL, with ranks on devices of their own.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "engine/run/gpu/nccl/nccl_launch.h"
#include "tests/cuda/nccl/thread_nccl.h"
#include "tests/ranks/proof.h"

namespace parallelarium {

inline BackendChoice on_gpus() { return {Backend::kCuda, Source::kMeasured, {}}; }

inline LaunchOptions over(ThreadNccl& nccl, NcclWait wait = {}) {
  LaunchOptions options;
  options.make_device = [](int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{100});
  };
  options.make_transport = nccl_between_threads(nccl, std::move(wait));
  return options;
}

struct Ended {
  Message why;
  double seconds = 0;
  std::optional<double> abandoned;  // after so many seconds
};
inline Ended run_into_error(const parallelarium::Setup& setup, const LaunchOptions& options,
                            double timeout) {
  Ended ended;
  const TimePoint begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  RunControl control;
  control.hang_timeout_seconds = timeout;
  control.abandon = [&](const Message&) { ended.abandoned = passed(); };
  const Result<RunResult> run = launch(setup, built(setup), on_gpus(), control, {}, options);
  ended.seconds = passed();
  EXPECT_FALSE(run.ok());
  if (!run.ok()) ended.why = run.error();
  return ended;
}

}  // namespace parallelarium
