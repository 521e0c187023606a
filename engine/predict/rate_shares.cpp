// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostListed = 5;

std::string what_is(const Op& op) {
  if (op.kind == OpKind::kCompute)
    return fmt::format("{}, {}", name_of(op.piece), name_of(op.phase));
  if (op.kind == OpKind::kCollective)
    return fmt::format("{} of {}", name_of(op.collective), name_of(op.purpose));
  return fmt::format("send and receive of {}", name_of(op.purpose));
}

}  // namespace

RateShares rate_shares(const Prediction& prediction) {
  const CostModel cost(prediction.program, prediction.machine, prediction.setup, &prediction.rows);
  RateShares shares;
  double most = 0;
  for (const RankProgram& rank : prediction.program.ranks) {
    std::array<double, kRateKinds> sums = {};
    std::map<std::string, double> assumed;
    for (const Op& op : rank.ops) {
      const std::array<double, kRateKinds> parts = cost.by_rate(op, rank.rank);
      for (std::size_t kind = 0; kind < parts.size(); ++kind) sums[kind] += parts[kind];
      const double part = parts[static_cast<std::size_t>(RateKind::kAssumed)];
      if (part > 0) assumed[what_is(op)] += part;
    }
    const double sum = sums[0] + sums[1] + sums[2];
    if (sum <= most) continue;
    most = sum;
    shares = {sums[0] / sum, sums[1] / sum, sums[2] / sum, {}};
    for (const auto& [what, seconds] : assumed)
      shares.largest_assumed.push_back({what, seconds / sum});
  }
  std::stable_sort(shares.largest_assumed.begin(), shares.largest_assumed.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  if (shares.largest_assumed.size() > kMostListed) shares.largest_assumed.resize(kMostListed);
  return shares;
}

}  // namespace parallelarium
