// SPDX-License-Identifier: Apache-2.0
// Passes at memory speed of a machine that is not here: as they were measured, and without jumps.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/predict/cost/pieces/work_seconds.h"

namespace parallelarium {
namespace {

// Seconds of passes of PyTorch 2.11 on one H200 (resources/machines/torch_passes.py), of sizes that
// stand in the table, and of one between two of them, where the bandwidth bounds it from below.
TEST(Passes, TakeWhatWasMeasured) {
  struct Call {
    Piece piece;
    Phase phase;
    double bytes, microseconds;
  };
  Machine machine = *find_machine("dgx-h200");
  Shape shape;
  shape.mlp = Mlp::kSwiglu;
  shape.norm = Norm::kRms;
  const auto seconds_of = [&](const Call& call) {
    Work work{call.piece, call.phase};
    work.bytes = static_cast<std::int64_t>(call.bytes);
    work.elements = work.bytes / 4;
    return work_seconds(work, shape, machine, DataType::kBf16);
  };
  for (const Call& call : {Call{Piece::kResidual1, Phase::kForward, 268'419'072, 63.83},
                           Call{Piece::kNorm1, Phase::kForward, 268'435'456, 74.79},
                           Call{Piece::kActivation, Phase::kForward, 268'419'072, 64.39},
                           Call{Piece::kActivation, Phase::kInputGrad, 268'410'880, 91.60},
                           Call{Piece::kOptimizer, Phase::kUpdate, 268'435'440, 73.96},
                           Call{Piece::kLossSum, Phase::kForward, 268'311'552, 155.2},
                           Call{Piece::kLoss, Phase::kInputGrad, 268'311'552, 87.86}}) {
    EXPECT_NEAR(1e6 * seconds_of(call) / call.microseconds, 1, 0.01) << name_of(call.piece);
    double before = 0;
    Call size = call;
    for (size.bytes = 1e5; size.bytes < 1e11; size.bytes *= 1.01) {
      const double now = seconds_of(size);
      EXPECT_GE(now, size.bytes / machine.memory_bytes_per_second.value);
      if (before > 0) {
        ASSERT_LT(std::abs(now / before - 1), 0.05) << name_of(call.piece) << " " << size.bytes;
        ASSERT_GE(now, before) << name_of(call.piece) << " " << size.bytes;
      }
      before = now;
    }
    EXPECT_EQ(rate_kind(Work{call.piece, call.phase}, shape, machine, DataType::kBf16),
              RateKind::kInterpolated);
  }
  // What the table has not, and a machine without one.
  machine.passes.clear();
  const Call sum{Piece::kResidual1, Phase::kForward, 1e9, 0};
  EXPECT_NEAR(seconds_of(sum),
              machine.launch_seconds.value +
                  1e9 / (machine.memory_bytes_per_second.value * machine.memory_efficiency.value),
              1e-9);
}

}  // namespace
}  // namespace parallelarium
