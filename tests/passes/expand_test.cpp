// SPDX-License-Identifier: Apache-2.0
// Collectives of a training step replaced by the steps of an algorithm.
#include "engine/passes/expand.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "engine/collectives/algorithm_names.h"
#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

Setup setup_of(int dp, int zero, const std::string& collectives) {
  Setup setup = default_setup();
  setup.mesh.pp = 1;
  setup.mesh.dp = dp;
  setup.zero = zero;
  setup.microbatches = 2;
  setup.collectives = collectives;
  return setup;
}

Result<Program> expanded(const Setup& setup) {
  const Result<Order> order =
      make_order(setup.schedule, setup.mesh.pp, setup.microbatches, setup.chunks);
  EXPECT_TRUE(order);
  BuildOptions options;
  options.all_ranks = true;
  return build_program(setup, *order, options);
}

int collectives_of(const Program& program) {
  int count = 0;
  for (const Op& op : program.ranks.front().ops) count += op.kind == OpKind::kCollective;
  return count;
}

TEST(Expand, ReplacesAllOrThoseNamedAndStaysRight) {
  const Program direct = *expanded(setup_of(4, 3, "direct"));
  const Program ring = *expanded(setup_of(4, 3, "ring"));
  const Program gathers = *expanded(setup_of(4, 3, "all_gather=bruck"));
  EXPECT_GT(collectives_of(direct), collectives_of(gathers));
  EXPECT_GT(collectives_of(gathers), 0);
  EXPECT_EQ(collectives_of(ring), 0);
  for (const Program* program : {&direct, &ring, &gathers}) {
    for (const Message& wrong : check(*program)) ADD_FAILURE() << wrong.text;
  }
}

// A ring of n moves what the direct way moves: 2 (n-1)/n of an array all-reduced.
TEST(Expand, KeepsTheTrafficOfLeastBytes) {
  for (const int zero : {0, 1, 3}) {
    const auto sent = [&](const char* collectives) {
      std::map<Purpose, std::int64_t> bytes;
      const Program program = *expanded(setup_of(4, zero, collectives));
      for (int rank = 0; rank < 4; ++rank) {
        for (const TrafficRow& row : traffic_of(program, rank))
          bytes[row.purpose] += row.sent_bytes;
      }
      return bytes;
    };
    EXPECT_EQ(sent("direct"), sent("ring")) << "zero " << zero;
  }
}

// What the window offers an algorithm for is all that there is.
TEST(Expand, TrainingStepsHaveNoOtherCollectives) {
  std::set<CollectiveKind> seen;
  for (const char* fields : {"dp=4 zero=3 clip=1", "dp=2 zero=1", "tp=2 pp=2", "cp=2 dp=2",
                             "tp=2 sequence-parallel=true", "cp=2 context-parallel=ulysses",
                             "cp=2 context-parallel=all-gather", "model=moe-tiny dp=2 ep=2"}) {
    parallelarium::Setup setup = setup_of(1, 0, "direct");
    std::istringstream words(fields);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      ASSERT_TRUE(set_field(setup, word.substr(0, equals), word.substr(equals + 1))) << word;
    }
    const Result<Program> program = expanded(setup);
    ASSERT_TRUE(program.ok()) << program.error().text;
    for (const RankProgram& rank : program->ranks)
      for (const Op& op : rank.ops)
        if (op.kind == OpKind::kCollective) seen.insert(op.collective);
  }
  EXPECT_EQ(seen,
            std::set<CollectiveKind>(kTrainingCollectives.begin(), kTrainingCollectives.end()));
}

TEST(Expand, RefusesInOneSentence) {
  const Result<Program> unknown = expanded(setup_of(2, 0, "rings"));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text.find("rings"), std::string::npos);
  EXPECT_EQ(unknown.error().field, "collectives");
  const Result<Program> power = expanded(setup_of(3, 0, "halving-doubling"));
  ASSERT_FALSE(power);
  EXPECT_NE(power.error().text.find("2 or 4"), std::string::npos);
  EXPECT_FALSE(predict(setup_of(2, 0, "all_gather=tree"), *find_machine("dgx-h100")));
}

}  // namespace
}  // namespace parallelarium
