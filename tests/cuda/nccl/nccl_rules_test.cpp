// SPDX-License-Identifier: Apache-2.0
// What is decided before NCCL is called: communicators, one issue order, versions, sentences.
#include "engine/run/gpu/nccl/nccl_rules.h"

#include <gtest/gtest.h>

#include <queue>
#include <set>

#include "engine/plan/program/matching.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

class OnMesh : public testing::TestWithParam<const char*> {};

TEST_P(OnMesh, EveryGroupThatIsUsedGetsOneCommunicatorOfItsRanksInOrder) {
  const Program program = built(small_model(GetParam()));
  const std::vector<NcclSplit> splits = plan_splits(program);
  std::map<int, std::set<int>> members;
  for (const NcclSplit& split : splits) {
    ASSERT_EQ(static_cast<int>(split.group.size()), program.world);
    for (int rank = 0; rank < program.world; ++rank) {
      const int group = split.group[static_cast<std::size_t>(rank)];
      if (group == kNcclNoColor) continue;
      const std::vector<int>& ranks = program.groups[static_cast<std::size_t>(group)].ranks;
      EXPECT_EQ(ranks[static_cast<std::size_t>(split.key[static_cast<std::size_t>(rank)])], rank);
      EXPECT_TRUE(members[group].insert(rank).second) << "joined twice";
    }
  }
  std::set<int> used;
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) {
      if (op.kind != OpKind::kCompute &&
          program.groups[static_cast<std::size_t>(op.group)].ranks.size() > 1)
        used.insert(op.group);
    }
  }
  ASSERT_EQ(members.size(), used.size());
  for (const int group : used)
    EXPECT_EQ(members[group].size(), program.groups[static_cast<std::size_t>(group)].ranks.size());
}

// Every unit of communication, of all ranks, can be put into one row that keeps each rank's turns,
// its `after` edges and lanes, and in which the ranks of a meeting stand together: then no rank
// waits in NCCL for one that waits for it.
TEST_P(OnMesh, TurnsOfAllRanksAreOneOrder) {
  const Program program = built(small_model(GetParam()));
  const Matching matching = match(program);
  // A vertex: one meeting, or one compute op. Ops of one batch are joined with it.
  std::vector<std::int32_t> parent;
  std::vector<std::vector<std::int32_t>> vertex(program.ranks.size());
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    for (std::size_t op = 0; op < program.ranks[rank].ops.size(); ++op) {
      vertex[rank].push_back(static_cast<std::int32_t>(parent.size()));
      parent.push_back(static_cast<std::int32_t>(parent.size()));
    }
  }
  const auto root = [&](std::int32_t v) {
    while (parent[static_cast<std::size_t>(v)] != v) v = parent[static_cast<std::size_t>(v)];
    return v;
  };
  const auto unite = [&](std::int32_t a, std::int32_t b) {
    parent[static_cast<std::size_t>(root(a))] = root(b);
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const RankProgram& rank = program.ranks[index];
    const std::vector<std::int32_t> turns = issue_turns(rank);
    std::map<std::int32_t, std::int32_t> by_turn;
    for (std::size_t op = 0; op < rank.ops.size(); ++op) {
      EXPECT_EQ(turns[op] >= 0, rank.ops[op].kind != OpKind::kCompute);
      if (turns[op] < 0) continue;
      const auto [known, fresh] = by_turn.emplace(turns[op], vertex[index][op]);
      if (!fresh) {
        EXPECT_GE(rank.ops[op].batch, 0) << "two units have one turn";
        unite(known->second, vertex[index][op]);
      }
    }
    for (const auto& [turn, v] : by_turn) {
      const auto next = by_turn.find(turn + 1);
      if (next != by_turn.end()) edges.emplace_back(v, next->second);
    }
    EXPECT_EQ(by_turn.empty() ? 0 : by_turn.rbegin()->first + 1,
              static_cast<std::int32_t>(by_turn.size()));
    std::array<std::int32_t, kLanes> last;
    last.fill(-1);
    for (std::size_t op = 0; op < rank.ops.size(); ++op) {
      auto& before = last[static_cast<std::size_t>(rank.ops[op].lane)];
      if (before >= 0)
        edges.emplace_back(vertex[index][static_cast<std::size_t>(before)], vertex[index][op]);
      before = static_cast<std::int32_t>(op);
      for (const std::int32_t earlier : rank.after_of(rank.ops[op]))
        edges.emplace_back(vertex[index][static_cast<std::size_t>(earlier)], vertex[index][op]);
    }
  }
  for (const Meeting& meeting : matching.meetings) {
    const Place& first = matching.members[static_cast<std::size_t>(meeting.first)];
    for (std::int32_t i = meeting.first; i < meeting.first + meeting.count; ++i) {
      const Place& at = matching.members[static_cast<std::size_t>(i)];
      unite(vertex[static_cast<std::size_t>(first.rank)][static_cast<std::size_t>(first.op)],
            vertex[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.op)]);
    }
  }
  std::map<std::int32_t, std::set<std::int32_t>> next;
  std::map<std::int32_t, int> waits;
  for (std::size_t v = 0; v < parent.size(); ++v) waits[root(static_cast<std::int32_t>(v))];
  for (const auto& [from, to] : edges) {
    if (root(from) != root(to) && next[root(from)].insert(root(to)).second) ++waits[root(to)];
  }
  std::queue<std::int32_t> free;
  for (const auto& [v, count] : waits)
    if (count == 0) free.push(v);
  std::size_t placed = 0;
  for (; !free.empty(); ++placed) {
    const std::int32_t v = free.front();
    free.pop();
    for (const std::int32_t to : next[v])
      if (--waits[to] == 0) free.push(to);
  }
  EXPECT_EQ(placed, waits.size()) << "some wait in a circle";
}

INSTANTIATE_TEST_SUITE_P(Meshes, OnMesh,
                         testing::Values("", "dp=3", "tp=2 sequence_parallel=true",
                                         "pp=4 microbatches=6", "dp=2 zero=3 microbatches=3",
                                         "cp=2 attention=fused", "cp=4 attention=fused",
                                         "tp=2 pp=2 dp=2 zero=1",
                                         "tp=2 pp=2 dp=2 zero=1 overlap-parameters=true",
                                         "tp=2 cp=2 dp=2 attention=fused zero=2",
                                         "pp=2 chunks=2 schedule=interleaved microbatches=4 dp=2",
                                         "cp=2 context_parallel=ulysses tp=2",
                                         "dp=3 zero=3 microbatches=3 collectives=ring",
                                         "dp=3 collectives=all_reduce=double-tree",
                                         "tp=2 pp=2 dp=2 zero=2 collectives=halving-doubling",
                                         "cp=4 context-parallel=ulysses collectives=bruck"),
                         [](const auto& one) { return test_name(one.param); });

TEST(NcclVersions, AreNamedWhereTheyAreTooOld) {
  EXPECT_EQ(nccl_text(22809, 12020, 1), "NCCL 2.28.9");
  EXPECT_EQ(nccl_text(22809, 12030, 3), "NCCL 2.28.9");
  EXPECT_EQ(nccl_text(22809, 0, 3), "NCCL 2.28.9");
  EXPECT_EQ(nccl_text(22809, 12020, 2),
            "NCCL 2.28.9, groups one after another (the driver is for CUDA 12.2, below 12.3)");
  EXPECT_EQ(nccl_version_text(22809), "2.28.9");
  EXPECT_EQ(nccl_version_text(2708), "2.7.8");
  EXPECT_TRUE(check_nccl(22809, 3).ok());
  EXPECT_TRUE(check_nccl(22203, 1).ok());
  EXPECT_FALSE(check_nccl(21805, 1).ok());
  const Result<void> several = check_nccl(22304, 2);
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().text,
            "NCCL 2.23.4 does not order the operations of several groups on one GPU; install 2.26 "
            "or newer, or use one axis of parallelism.");
}

TEST(NcclProcesses, ThatTookTheSameGpuAreToldOrLabelled) {
  const auto without = [](const char*) { return std::optional<std::string>(); };
  const auto with = [](const char* set, const char* value) -> Environment {
    return [=](const char* name) {
      return std::string(name) == set ? std::optional<std::string>(value) : std::nullopt;
    };
  };
  const std::vector<std::string> own = {"GPU-a", "GPU-b", "", ""},
                                 same = {"GPU-a", "GPU-b", "GPU-b"};
  EXPECT_EQ(*source_of_processes(own, 22809, without), Source::kMeasured);
  const Result<Source> refused = source_of_processes(same, 22809, without);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text,
            "Ranks 1 and 2 took the same GPU, GPU-b, which NCCL 2.28.9 does not allow; give every "
            "process a GPU of its own, or start one process for all ranks.");
  const Environment allows = with("NCCL_MULTI_RANK_GPU_ENABLE", "1");
  EXPECT_FALSE(source_of_processes(same, 22809, allows).ok());
  EXPECT_EQ(*source_of_processes(same, 23007, allows), Source::kSharedGpu);
  EXPECT_FALSE(source_of_processes(same, 23007, with("NCCL_MULTI_RANK_GPU_ENABLE", "0")).ok());
  EXPECT_NE(
      source_of_processes(same, 23007, without).error().text.find("only with NCCL_MULTI_RANK"),
      std::string::npos);
  EXPECT_EQ(*source_of_processes(same, 22809, with("NCCL_HOSTID", "host1")), Source::kSharedGpu);
}

TEST(NcclFailures, NameRankAndOpInOneSentence) {
  for (int status = 1; status <= 8; ++status) {
    const Message why = nccl_failure(5, static_cast<NcclStatus>(status), "all_reduce", "");
    EXPECT_EQ(why.kind, "nccl-failed");
    EXPECT_NE(why.text.find("rank 5"), std::string::npos) << why.text;
    EXPECT_NE(why.text.find("all_reduce"), std::string::npos) << why.text;
    EXPECT_EQ(why.text.back(), '.');
  }
  EXPECT_NE(nccl_failure(0, NcclStatus::kSystemError, "x", "").text.find("--shm-size"),
            std::string::npos);
}

}  // namespace
}  // namespace parallelarium
