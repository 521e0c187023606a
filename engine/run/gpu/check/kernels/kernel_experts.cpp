// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "engine/run/gpu/check/kernels/kernel_families.h"

namespace parallelarium {

namespace {

RouterShape router(std::int64_t N, std::int64_t E, std::int64_t k, bool sigmoid) {
  RouterShape shape;
  shape.N = N;
  shape.E = E;
  shape.k = k;
  shape.sigmoid = sigmoid;
  shape.balance = 0.7F;
  shape.z = 0.3F;
  return shape;
}

// One token, odd counts, more experts than lanes; groups, capacity, stripes and skew.
std::vector<RouterShape> router_shapes() {
  std::vector<RouterShape> shapes = {router(1, 1, 1, false), router(5, 3, 3, false),
                                     router(70, 8, 2, true), router(33, 33, 3, false)};
  RouterShape grouped = router(37, 8, 2, true);
  grouped.groups = 4;
  grouped.group_limit = 2;
  grouped.stripes = 2;
  shapes.push_back(grouped);
  RouterShape dropping = router(129, 8, 2, false);
  dropping.capacity = 20;
  dropping.stripes = 4;
  dropping.skew = 0.4;
  shapes.push_back(dropping);
  return shapes;
}

std::string text_of(const RouterShape& s) {
  return fmt::format("{} tokens, {} of {} experts{}{}{}", s.N, s.k, s.E,
                     s.sigmoid ? ", sigmoid" : "", s.groups > 0 ? ", in groups" : "",
                     s.capacity > 0 ? ", with a capacity" : "");
}

// Affinities of a token are a random order of even steps, so that no two experts are as near to
// each other as rounding; the bias moves them by whole steps and a part that is each expert's own.
CheckArray uneven_logits(KernelBench& on, const RouterShape& shape) {
  std::vector<int> order(static_cast<std::size_t>(shape.E));
  const auto E = static_cast<double>(shape.E);
  return on.in("logits", kF32, shape.N * shape.E, [&](std::int64_t i) {
    const std::int64_t e = i % shape.E;
    if (e == 0) {
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t at = order.size(); at > 1; --at)
        std::swap(order[at - 1], order[on.bits() % at]);
    }
    const int place = order[static_cast<std::size_t>(e)];
    const double affinity = (place + 0.5) / E;
    return shape.sigmoid ? std::log(affinity / (1 - affinity)) : std::log(place + 1.0);
  });
}
CheckArray own_bias(KernelBench& on, const RouterShape& shape) {
  const auto E = static_cast<double>(shape.E);
  const double step = shape.sigmoid ? 1 / E : 2 / (E * (E + 1));
  return on.in("bias", kF32, shape.E, [&](std::int64_t e) {
    const auto place = static_cast<double>(e);
    return step * (static_cast<double>((7 * e + 3) % shape.E) + place * place / (E * E));
  });
}

struct Routed {
  CheckArray logits, bias, gates, routes, record;
};
Routed routed(KernelBench& on, const RouterShape& shape) {
  return {uneven_logits(on, shape), own_bias(on, shape),
          on.out("gates", kF32, shape.N * shape.k, rounded(kF32), false),
          on.out("routes", DataType::kI32, routes_count(shape.N, shape.k, shape.E)),
          on.out("record", kF32, record_count(shape.E), rounded(kF32), false)};
}

void route(Device& device, const Side& at, const Routed& all, const RouterShape& shape,
           bool biased) {
  device.route(at.floats(all.gates), at.ints(all.routes), at.floats(all.record),
               at.floats(all.logits), biased ? at.floats(all.bias) : nullptr, shape);
}

}  // namespace

void check_router(KernelBench& on) {
  for (const RouterShape& shape : router_shapes()) {
    for (const bool biased : {true, false}) {
      // Without a bias sums of two groups may be equal.
      if (!biased && shape.groups > 0) continue;
      if (!on.begin(text_of(shape) + (biased ? ", biased" : ""))) return;
      const Routed all = routed(on, shape);
      const CheckArray dgates = on.random("dgates", kF32, shape.N * shape.k),
                       dlogits = on.out("dlogits", kF32, shape.N * shape.E, rounded(kF32)),
                       layers =
                           on.changed(on.whole("bias of layers", kF32, 3 * shape.E), rounded(kF32)),
                       loads = on.whole("loads", kF32, 3 * shape.E, 9);
      on.run([&](Device& device, const Side& at) {
        route(device, at, all, shape, biased);
        device.route_grad(at.floats(dlogits), at.floats(dgates), at.floats(all.logits),
                          at.floats(all.gates), at.ints(all.routes), 0.5F, shape);
        device.update_bias(at.floats(layers), at.floats(loads), 0.25F, 3, shape.E);
      });
    }
  }
}

void check_expert_rows(KernelBench& on) {
  for (const RouterShape& shape : router_shapes()) {
    for (const std::int64_t C : {1, 33, 64}) {
      const auto [N, k] = std::pair{shape.N, shape.k};
      if (!on.begin(fmt::format("{}, width {}", text_of(shape), C), C == 33 ? 1 : 0)) return;
      const DataType type = on.type();
      const Routed all = routed(on, shape);
      const CheckArray y = on.random("y", type, N * C), dout = on.random("dout", type, N * C),
                       shared = on.random("shared", type, N * C),
                       drows_in = on.random("drows", type, N * k * C),
                       rows = on.out("rows", type, N * k * C),
                       dy = on.out("dy", type, N * C, rounded(type)),
                       dy_sum =
                           on.changed(on.random("dy, added to", type, N * C), rounded(type, 2)),
                       out = on.out("out", type, N * C, rounded(type, 2)),
                       alone = on.out("out without shared", type, N * C, rounded(type, 2)),
                       drows = on.out("drows", type, N * k * C, rounded(type)),
                       dgates = on.out("dgates", kF32, N * k, rounded(kF32), false);
      on.run([&, N = N, k = k](Device& device, const Side& at) {
        route(device, at, all, shape, true);
        const std::int32_t* routes = at.ints(all.routes);
        device.dispatch_rows(at(rows), at(y), routes, N, k, C);
        device.dispatch_rows_grad(at(dy), at(drows_in), routes, false, N, k, C);
        device.dispatch_rows_grad(at(dy_sum), at(drows_in), routes, true, N, k, C);
        device.combine_rows(at(out), at(drows_in), at.floats(all.gates), at(shared), routes, N, k,
                            C);
        device.combine_rows(at(alone), at(drows_in), at.floats(all.gates), {}, routes, N, k, C);
        device.combine_rows_grad(at(drows), at.floats(dgates), at(dout), at(drows_in),
                                 at.floats(all.gates), routes, N, k, C);
      });
    }
  }
}

}  // namespace parallelarium
