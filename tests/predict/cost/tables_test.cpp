// SPDX-License-Identifier: Apache-2.0
// Tables of the shipped machines make no jump.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/passes/pieces.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/cost/pieces/work_seconds.h"

namespace parallelarium {
namespace {

class Tables : public testing::TestWithParam<std::string> {};

std::vector<std::string> machines_with_tables() {
  std::vector<std::string> names;
  for (const std::string& name : machine_names()) {
    const Result<Machine> machine = find_machine(name);
    if (!machine || machine->local) continue;
    if (!machine->products.shares.empty() || !machine->fp8_products.shares.empty() ||
        !machine->attention.shares.empty() || !machine->experts.rows.empty() ||
        !machine->passes.empty() || !machine->collective_times.empty())
      names.push_back(name);
  }
  return names;
}

// `share` of each size from the first to the last, a hundredth more each time.
template <class Share>
void expect_no_jump(const char* table, double size, double last, const Share& share) {
  double before = share(size);
  for (; size < last; size *= 1.01) {
    const double now = share(size);
    ASSERT_LT(std::abs(now - before), 0.02) << table << " at " << size;
    before = now;
  }
}

// Each table of products with each of its lists.
std::vector<std::pair<const ProductShares*, const std::vector<double>*>> products_of(
    const Machine& machine) {
  std::vector<std::pair<const ProductShares*, const std::vector<double>*>> lists;
  for (const ProductShares* table : {&machine.products, &machine.fp8_products})
    for (const std::vector<double>* of :
         {&table->shares, &table->input_grad, &table->weight_grad, &table->weight_grad_half})
      lists.emplace_back(table, of);
  return lists;
}

// A planner would exploit every jump.
TEST_P(Tables, AreContinuous) {
  const Machine machine = *find_machine(GetParam());
  for (const auto& [table, of] : products_of(machine)) {
    const auto share = [table = table, of = of](double m, double n, double k) {
      const auto whole = [](double size) { return static_cast<std::int64_t>(size); };
      return table->at(*of, whole(m), whole(n), whole(k));
    };
    for (const double other : {700, 4096, 20000}) {
      expect_no_jump("products by m", 100, 1e5, [&](double m) { return share(m, other, 4096); });
      expect_no_jump("products by n", 400, 1e5, [&](double n) { return share(other, n, 3000); });
      expect_no_jump("products by k", 400, 1e5, [&](double k) { return share(4096, other, k); });
    }
  }
  for (const AttentionShares* table :
       {&machine.attention, &machine.narrow_attention, &machine.wide_attention})
    for (const bool backward : {false, true}) {
      expect_no_jump("attention by rows", 1000, 1e8,
                     [&](double rows) { return table->at(rows, 4096, backward); });
      expect_no_jump("attention by keys", 100, 1e6,
                     [&](double keys) { return table->at(65536, keys, backward); });
    }
  for (const auto* shares : {&machine.experts.forward, &machine.experts.input_grad,
                             &machine.experts.weight_grad, &machine.experts.weight_grad_half})
    expect_no_jump("experts", 1, 1e5,
                   [&](double rows) { return machine.experts.at(*shares, rows); });
}

// A pass of more bytes takes at least as long, and never much longer at once.
TEST_P(Tables, OfPassesRise) {
  const Machine machine = *find_machine(GetParam());
  for (const PassShares& pass : machine.passes) {
    const auto time = [&](double bytes) { return bytes / pass.at(bytes); };
    double before = time(1e4);
    for (double bytes = 1e4; bytes < 1e11; bytes *= 1.01) {
      const double now = time(bytes);
      ASSERT_GE(now, (1 - 1e-9) * before) << pass.kernel << " at " << bytes;
      ASSERT_LE(now, 1.05 * before) << pass.kernel << " at " << bytes;
      before = now;
    }
  }
}

// At the points of the grid the table itself stands; beyond its edges the nearest.
TEST_P(Tables, StandAtTheirPoints) {
  const Machine machine = *find_machine(GetParam());
  for (const auto& [products, of] : products_of(machine)) {
    if (of->empty()) continue;
    std::size_t at = 0;
    for (const double m : products->m)
      for (const double n : products->n)
        for (const double k : products->k)
          ASSERT_NEAR(products->at(*of, std::int64_t(m), std::int64_t(n), std::int64_t(k)),
                      (*of)[at++], 1e-12);
    EXPECT_EQ(products->at(*of, 1, 1, 1), of->front());
    EXPECT_EQ(products->at(*of, 1 << 30, 1 << 30, 1 << 30), of->back());
  }
}

// On this machine products of one size were measured in the three layouts of a step.
TEST(TablesOfLayouts, EachPhaseHasItsOwn) {
  const Machine machine = *find_machine("hgx-b200-simumax");
  const auto seconds = [&](Phase phase) {
    Work work;
    work.piece = Piece::kMlpIn;
    work.phase = phase;
    work.m = work.n = work.k = 8192;
    work.flops = 2.0 * 8192 * 8192 * 8192;
    return work_seconds(work, Shape{}, machine, DataType::kBf16, ProductType::kSame) -
           machine.launch_seconds.value;
  };
  const ProductShares& products = machine.products;
  const double forward = seconds(Phase::kForward);
  for (const auto& [phase, of] : {std::pair(Phase::kInputGrad, &products.input_grad),
                                  std::pair(Phase::kWeightGrad, &products.weight_grad)})
    EXPECT_NEAR(seconds(phase) / forward,
                products.at(8192, 8192, 8192) / products.at(*of, 8192, 8192, 8192), 1e-9);
  EXPECT_NE(products.weight_grad, products.shares);
  EXPECT_EQ(*machine_from_json(to_json(machine)), machine);
}

// A product that adds to 16 bit moves fewer bytes than one that adds to fp32. SimuMax measured both
// on one B200: 7,168 x 8,192 of 4,096 tokens at shares of 0.474 and 0.608, and experts of 128 rows
// each at 0.079 and 0.142, the means of two shapes.
TEST(TablesOfLayouts, AddToGradientsOfTheirType) {
  const Machine machine = *find_machine("hgx-b200-simumax");
  const auto seconds = [&](bool half, Piece piece, std::int64_t m, std::int64_t n, std::int64_t k) {
    Work work;
    work.piece = piece;
    work.phase = Phase::kWeightGrad;
    work.m = m;
    work.n = n;
    work.k = k;
    work.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    Shape shape;
    shape.half_gradients = half;
    return work_seconds(work, shape, machine, DataType::kBf16, ProductType::kSame) -
           machine.launch_seconds.value;
  };
  const auto ratio = [&](Piece piece, std::int64_t m, std::int64_t n, std::int64_t k) {
    return seconds(true, piece, m, n, k) / seconds(false, piece, m, n, k);
  };
  EXPECT_NEAR(ratio(Piece::kMlpIn, 7168, 8192, 4096), 0.474 / 0.608, 0.05);
  EXPECT_NEAR(ratio(Piece::kExpert, 3072, 5120, 128), 0.079 / 0.142, 0.01);
  parallelarium::Setup setup = default_setup();
  setup.precision = *find_precision("mixed-16");
  EXPECT_TRUE(local_sizes(setup).shape.half_gradients);
  setup.precision = *find_precision("mixed-16-main-grads");
  EXPECT_FALSE(local_sizes(setup).shape.half_gradients);
}

// Of every size a collective takes at least as long as a smaller one, and never much longer at
// once.
TEST_P(Tables, OfCollectivesRise) {
  const Machine machine = *find_machine(GetParam());
  for (const CollectiveTimes& times : machine.collective_times) {
    double before = times.at(1);
    EXPECT_EQ(before, times.seconds.front());
    for (double bytes = 1; bytes < 1e11; bytes *= 1.01) {
      const double seconds = times.at(bytes);
      ASSERT_GE(seconds, before) << times.collective << " of " << times.ranks << ": " << bytes;
      ASSERT_LE(seconds, 1.05 * before) << times.collective << " of " << times.ranks;
      before = seconds;
    }
    for (std::size_t at = 0; at < times.bytes.size(); ++at)
      EXPECT_NEAR(times.at(times.bytes[at]) / times.seconds[at], 1, 1e-12);
    EXPECT_EQ(times.link_bytes_per_second, machine.intra_node.bytes_per_second.value);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, Tables, testing::ValuesIn(machines_with_tables()),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace parallelarium
