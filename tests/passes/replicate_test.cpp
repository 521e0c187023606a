// SPDX-License-Identifier: Apache-2.0
// From one replica to all: the groups of every rank are those that its place on the mesh gives it.
#include "engine/passes/replicate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "engine/passes/build.h"
#include "engine/plan/machine/presets.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

struct Replicated {
  Mesh mesh;
  int zero, group;
};
void PrintTo(const Replicated& c, std::ostream* out) {
  *out << "dp " << c.mesh.dp << " tp " << c.mesh.tp << " pp " << c.mesh.pp << " cp " << c.mesh.cp
       << " ep " << c.mesh.ep << " zero " << c.zero << " group " << c.group;
}

class EveryRank : public testing::TestWithParam<Replicated> {};

// Replicas of experts are every EP-th rank of DP, also where CP and groups of ZeRO cut DP.
TEST_P(EveryRank, MeetsTheRanksThatItsPlaceGivesIt) {
  const Replicated& c = GetParam();
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh = c.mesh;
  setup.microbatches = 2;
  setup.zero = c.zero;
  setup.zero_group = c.group;
  setup.attention = Attention::kFused;
  const std::vector<Message> wrong = validate(setup);
  ASSERT_TRUE(wrong.empty()) << wrong.front().text;
  const Result<Order> order = make_order(setup);
  const Result<Program> program = build_program(setup, *order, {.all_ranks = true});
  ASSERT_TRUE(program.ok()) << program.error().text;
  for (const Message& fault : check(*program)) ADD_FAILURE() << fault.text;
  const int shard = c.group > 0 ? c.group : c.mesh.dp * c.mesh.cp;
  for (const RankProgram& rank : program->ranks) {
    std::size_t reductions = 0;
    for (const Op& op : rank.ops) {
      if (op.group < 0 || op.kind != OpKind::kCollective) continue;
      const Group& group = program->groups[static_cast<std::size_t>(op.group)];
      EXPECT_TRUE(std::binary_search(group.ranks.begin(), group.ranks.end(), rank.rank));
      if (op.purpose != Purpose::kGradients || group.axis != Axis::kDp) continue;
      ++reductions;
      const bool scatters = op.collective == CollectiveKind::kReduceScatter;
      for (const int other : group.ranks) {
        const Coordinates at = coordinates_of(c.mesh, other);
        EXPECT_EQ(std::tie(at.tp, at.pp), std::tie(rank.at.tp, rank.at.pp));
        const int place = at.dp * c.mesh.cp + at.cp;
        const int own = rank.at.dp * c.mesh.cp + rank.at.cp;
        if (scatters) {
          EXPECT_EQ(place / shard, own / shard);
        } else if (c.zero > 0) {
          EXPECT_EQ(place % shard, own % shard);
        }
      }
    }
    EXPECT_GT(reductions, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, EveryRank,
    testing::Values(Replicated{{4, 1, 1, 2, 2}, 0, 0}, Replicated{{4, 1, 1, 2, 2}, 2, 4},
                    Replicated{{8, 1, 1, 1, 2}, 1, 4}, Replicated{{8, 1, 2, 1, 4}, 3, 2},
                    Replicated{{8, 2, 1, 1, 2}, 3, 0}, Replicated{{8, 1, 1, 2, 2}, 1, 8},
                    Replicated{{4, 2, 2, 2, 4}, 2, 0}));

}  // namespace
}  // namespace parallelarium
