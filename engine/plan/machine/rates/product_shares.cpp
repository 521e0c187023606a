// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/plan/machine/machine.h"

namespace parallelarium {
namespace {

struct Between {
  std::size_t below = 0, above = 0;
  double share_above = 0;  // how far between them, in logarithms
};

Between place_in(const std::vector<double>& sizes, double size) {
  if (size <= sizes.front()) return {};
  if (size >= sizes.back()) return {sizes.size() - 1, sizes.size() - 1, 0};
  const auto above =
      static_cast<std::size_t>(std::upper_bound(sizes.begin(), sizes.end(), size) - sizes.begin());
  return {above - 1, above,
          std::log(size / sizes[above - 1]) / std::log(sizes[above] / sizes[above - 1])};
}

}  // namespace

double AttentionShares::at(double count, double keys_of_each, bool of_backward) const {
  if (shares.empty()) return 0;
  const std::vector<double>& of = of_backward && !backward.empty() ? backward : shares;
  const std::size_t width = keys.empty() ? 1 : keys.size();
  const Between row = place_in(rows, count);
  const Between key = keys.empty() ? Between() : place_in(keys, keys_of_each);
  const auto along = [&](std::size_t at) {
    const double below = of[at * width + key.below];
    return below + key.share_above * (of[at * width + key.above] - below);
  };
  return along(row.below) + row.share_above * (along(row.above) - along(row.below));
}

double ExpertShares::at(const std::vector<double>& shares, double count) const {
  if (shares.empty()) return 0;
  const Between place = place_in(rows, count);
  return shares[place.below] + place.share_above * (shares[place.above] - shares[place.below]);
}

double PassShares::at(double count) const {
  const Between place = place_in(bytes, count);
  if (place.below == place.above) return shares[place.below];
  const auto time = [&](std::size_t at) { return bytes[at] / shares[at]; };
  const double way = (count - bytes[place.below]) / (bytes[place.above] - bytes[place.below]);
  return count / (time(place.below) + way * (time(place.above) - time(place.below)));
}

double CollectiveTimes::at(double count) const {
  if (seconds.empty()) return 0;
  if (count > bytes.back()) return seconds.back() * count / bytes.back();
  const Between place = place_in(bytes, count);
  return seconds[place.below] *
         std::pow(seconds[place.above] / seconds[place.below], place.share_above);
}

double ProductShares::at(const std::vector<double>& of, std::int64_t rows, std::int64_t columns,
                         std::int64_t inner) const {
  if (of.empty()) return shares.empty() ? 1 : at(shares, rows, columns, inner);
  const std::array<Between, 3> places = {place_in(m, static_cast<double>(rows)),
                                         place_in(n, static_cast<double>(columns)),
                                         place_in(k, static_cast<double>(inner))};
  double share = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::size_t at = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const bool above = (corner >> axis & 1U) != 0;
      const Between& place = places[axis];
      weight *= above ? place.share_above : 1 - place.share_above;
      const std::size_t size = axis == 0 ? m.size() : axis == 1 ? n.size() : k.size();
      at = at * size + (above ? place.above : place.below);
    }
    if (weight > 0) share += weight * of[at];
  }
  return share;
}

}  // namespace parallelarium
