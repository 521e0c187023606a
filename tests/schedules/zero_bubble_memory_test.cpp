// SPDX-License-Identifier: Apache-2.0
// What each rank of ZB-H1 and ZB-H2 holds at most: Qi et al. 2024 (Zero Bubble), section 2.3.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

// A forward keeps `both` until its input gradient, whose end leaves `weight` until its weight part.
double peak_of(const std::vector<Action>& line, double both, double weight) {
  double held = 0, peak = 0;
  for (const Action& action : line) {
    if (action.kind == ActionKind::kForward) held += both;
    peak = std::max(peak, held);
    if (action.kind == ActionKind::kInputGrad) held += weight - both;
    if (action.kind == ActionKind::kWeightGrad) held -= weight;
    if (action.kind == ActionKind::kBackward) held -= both;
  }
  return peak;
}

// Of worker i from 1: (p - i + 1) MB + (i - 1) MW, and (2p - 2i + 1) MB + (2i - 2) MW.
TEST(ZeroBubble, HoldsOnEachRankWhatThePaperSays) {
  for (int p = 2; p <= 12; ++p) {
    for (const int m : {2 * p, 3 * p, 4 * p + 1}) {
      const Result<Order> h1 = make_order("zb-h1", p, m, 1), h2 = make_order("zb-h2", p, m, 1);
      ASSERT_TRUE(h1.ok() && h2.ok());
      for (int i = 1; i <= p; ++i) {
        // 34 h + 5 a s and 32 h of GPT 1.5B (h 1536, a 24, s 1024), and other shares.
        for (const double weight : {32.0 * 1536 / (34.0 * 1536 + 5.0 * 24 * 1024), 0.1, 0.9}) {
          const auto rank = static_cast<std::size_t>(i - 1);
          EXPECT_NEAR(peak_of(h1->ranks[rank], 1, weight), p - i + 1 + (i - 1) * weight, 1e-9)
              << "H1 p " << p << " m " << m << " worker " << i << " MW " << weight;
          EXPECT_NEAR(peak_of(h2->ranks[rank], 1, weight), 2 * p - 2 * i + 1 + (2 * i - 2) * weight,
                      1e-9)
              << "H2 p " << p << " m " << m << " worker " << i << " MW " << weight;
        }
      }
    }
  }
}

}  // namespace
}  // namespace parallelarium
