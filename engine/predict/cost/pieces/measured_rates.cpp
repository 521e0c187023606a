// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/pieces/measured_rates.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "engine/plan/program/kernels_of_pieces.h"

namespace parallelarium {

namespace {

template <class Rate>
bool is_of(const Rate& rate, std::string_view type) {
  return rate.type.empty() ? type == name_of(DataType::kF32) : rate.type == type;
}
template <class Rate>
bool is_of(const Rate& rate, DataType type) {
  return is_of(rate, name_of(type));
}
template <class Rate>
DataType type_of_rates(const std::vector<Rate>& rates, DataType type) {
  const bool is_measured =
      std::any_of(rates.begin(), rates.end(), [&](const Rate& rate) { return is_of(rate, type); });
  return is_measured ? type : DataType::kF32;
}

// Logarithms of a size's ratios to those of a table, which has few sizes for its many points.
class LogRatios {
 public:
  explicit LogRatios(std::int64_t size) : size_(static_cast<double>(size)) {}
  double to(std::int64_t other) {
    // Powers of two, and halfway between them, have a place each; others share one.
    const auto bits = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(other)));
    const std::size_t half = bits > 1 ? (other >> (bits - 2)) & 1 : 0;
    auto& [known, log] = known_[(2 * bits + half) % known_.size()];
    if (known != other) {
      known = other;
      log = std::log2(size_ / static_cast<double>(other));
    }
    return log;
  }

 private:
  double size_;
  std::array<std::pair<std::int64_t, double>, 32> known_{};
};

}  // namespace

bool is_product_of(const MatmulPoint& point, std::string_view type) { return is_of(point, type); }

DataType measured_type(const std::vector<KernelRate>& rates, DataType type) {
  return type_of_rates(rates, type);
}
std::string_view measured_product(const std::vector<MatmulPoint>& points, DataType type, bool fp8) {
  if (fp8 && std::any_of(points.begin(), points.end(),
                         [](const MatmulPoint& point) { return point.type == kFp8Product; }))
    return kFp8Product;
  return name_of(type_of_rates(points, type));
}

double kernel_rate(const Machine& machine, std::string_view kernel, DataType type,
                   double elements) {
  // The nearest below, and the two nearest that are as large or larger.
  const KernelRate *below = nullptr, *above = nullptr, *next = nullptr;
  for (const KernelRate& rate : machine.kernels) {
    if (rate.kernel != kernel || rate.elements_per_second.value <= 0) continue;
    if (!is_of(rate, type)) continue;
    if (rate.elements < elements) {
      if (below == nullptr || rate.elements > below->elements) below = &rate;
    } else if (above == nullptr || rate.elements < above->elements) {
      next = std::exchange(above, &rate);
    } else if (rate.elements > above->elements &&
               (next == nullptr || rate.elements < next->elements)) {
      next = &rate;
    }
  }
  if (above == nullptr) return below != nullptr ? below->elements_per_second.value : 0;
  const double nearest = above->elements_per_second.value;
  const bool smaller = below == nullptr || below->elements <= 0;  // a rate of no size is for all
  const KernelRate* const first = smaller ? above : below;
  const KernelRate* const second = smaller ? next : above;
  if (second == nullptr || first->elements <= 0 || elements <= 0) return nearest;
  const auto seconds_of = [](const KernelRate& rate) {
    return rate.elements / rate.elements_per_second.value;
  };
  const double seconds = seconds_of(*first) + (seconds_of(*second) - seconds_of(*first)) *
                                                  (elements - first->elements) /
                                                  (second->elements - first->elements);
  const double rate = seconds > 0 ? elements / seconds : nearest;
  return smaller ? std::min(rate, nearest) : rate;
}

double kernel_rate(const Machine& machine, std::string_view kernel, const Shape& shape,
                   DataType type, double elements) {
  if (kernel.empty()) return 0;
  for (const std::string_view name : {variant_of(kernel, shape), kernel}) {
    const DataType of = is_always_fp32(name) ? DataType::kF32 : type;
    if (const double rate = kernel_rate(machine, name, of, elements); rate > 0) return rate;
  }
  return 0;
}

double matmul_rate(const std::vector<MatmulPoint>& points, std::string_view type,
                   std::string_view phase, std::int64_t m, std::int64_t n, std::int64_t k) {
  struct Near {
    double distance = INFINITY, rate = 0;
  };
  std::array<Near, 4> nearest;
  LogRatios of_m(m), of_n(n), of_k(k);
  for (const MatmulPoint& point : points) {
    if (!is_of(point, type) || (!point.phase.empty() && point.phase != phase)) continue;
    if (point.flops_per_second.value <= 0 || point.m <= 0 || point.n <= 0 || point.k <= 0) continue;
    const double dm = of_m.to(point.m), dn = of_n.to(point.n), dk = of_k.to(point.k);
    const double size = (dm + dn + dk) / 3;
    const auto square = [](double value) { return value * value; };
    const double aspect = square(dm - size) + square(dn - size) + square(dk - size);
    Near near{3 * size * size + 4 * aspect, point.flops_per_second.value};
    for (Near& kept : nearest) {
      if (near.distance < kept.distance) std::swap(near, kept);
    }
  }
  if (nearest.front().distance < 1e-9) return nearest.front().rate;
  double weights = 0, sum = 0;
  for (const Near& near : nearest) {
    if (!std::isfinite(near.distance)) continue;
    weights += 1 / near.distance;
    sum += std::log(near.rate) / near.distance;
  }
  return weights > 0 ? std::exp(sum / weights) : 0;
}

}  // namespace parallelarium
