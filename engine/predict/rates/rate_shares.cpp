// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "engine/predict/cost/pieces/work_seconds.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/op_sort.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostListed = 5;

using ByKind = std::array<double, kRateKinds>;

// The shares of a work list's seconds that stand on each kind of rate.
ByKind shares_of(const std::vector<Work>& works, const Prediction& prediction) {
  const Shape& shape = prediction.program.shape;
  ByKind shares = {};
  double sum = 0;
  for (const Work& work : works) {
    const DataType type = storage_of(work, prediction.setup);
    const Machine& machine = prediction.machine;
    const ProductType products = prediction.setup.products;
    const double seconds = work_seconds(work, shape, machine, type, products);
    shares[static_cast<std::size_t>(rate_kind(work, shape, machine, type, products))] += seconds;
    sum += seconds;
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

}  // namespace

RateShares rate_shares(const Prediction& prediction) {
  const CostModel cost(prediction.program, prediction.machine, prediction.setup, &prediction.rows);
  std::vector<ByKind> of_works;
  for (const std::vector<Work>& works : prediction.program.works)
    of_works.push_back(shares_of(works, prediction));
  RateShares shares;
  std::map<OpSort, double> largest;  // of the busiest rank
  double most = 0;
  for (const RankProgram& rank : prediction.program.ranks) {
    ByKind sums = {};
    std::map<OpSort, double> assumed;
    const auto count = [&](const Op& op, double times) {
      ByKind parts = {};
      if (op.kind != OpKind::kCompute)
        parts[static_cast<std::size_t>(cost.rate_kind_of_message(op, rank.rank))] = 1;
      else if (op.work >= 0)
        parts = of_works[static_cast<std::size_t>(op.work)];
      const double seconds = times * cost.seconds(op, rank.rank);
      for (double& part : parts) part *= seconds;
      for (std::size_t kind = 0; kind < parts.size(); ++kind) sums[kind] += parts[kind];
      const double part = parts[static_cast<std::size_t>(RateKind::kAssumed)];
      if (part > 0) assumed[sort_of(op)] += part;
    };
    std::map<std::int32_t, std::pair<const Op*, double>> folds;  // an op of each, and how many
    for (const Op& op : rank.ops) {
      if (op.kind == OpKind::kCompute && op.fold >= 0)
        ++folds.try_emplace(op.fold, &op, 0).first->second.second;
      else
        count(op, 1);
    }
    for (const auto& [fold, uses] : folds)
      for (const Fold::Part& part : prediction.program.folds[static_cast<std::size_t>(fold)].parts)
        count(op_of(part, *uses.first), uses.second);
    const double sum = sums[0] + sums[1] + sums[2];
    if (sum <= most) continue;
    most = sum;
    shares = {sums[0] / sum, sums[1] / sum, sums[2] / sum, {}};
    largest = std::move(assumed);
  }
  for (const auto& [what, seconds] : largest)
    shares.largest_assumed.push_back({what_is(what), seconds / most});
  std::stable_sort(shares.largest_assumed.begin(), shares.largest_assumed.end(),
                   [](const auto& a, const auto& b) {
                     return a.share != b.share ? a.share > b.share : a.what < b.what;
                   });
  if (shares.largest_assumed.size() > kMostListed) shares.largest_assumed.resize(kMostListed);
  return shares;
}

}  // namespace parallelarium
