// SPDX-License-Identifier: Apache-2.0
// Programs written by hand, a few ops each, for tests of what reads them.
#pragma once

#include <utility>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

class TinyProgram {
 public:
  // `built` of `world` ranks are built, and all are in one group.
  explicit TinyProgram(int world, int built = -1) {
    program.world = world;
    Group group;
    for (int rank = 0; rank < world; ++rank) group.ranks.push_back(rank);
    program.groups.push_back(group);
    program.representatives = built >= 0 && built < world;
    for (int rank = 0; rank < (built < 0 ? world : built); ++rank) {
      RankProgram& ranked = program.ranks.emplace_back();
      ranked.rank = ranked.stage = rank;
    }
    durations.resize(program.ranks.size());
  }

  // Each returns the op's index in its rank; times in nanoseconds.
  int compute(int rank, int time, std::vector<std::int32_t> after = {},
              Lane lane = Lane::kCompute) {
    Op op;
    op.lane = lane;
    return add(rank, op, time, std::move(after));
  }
  int send(int rank, int peer, int time, std::vector<std::int32_t> after = {}, int batch = -1) {
    return transfer(OpKind::kSend, rank, peer, time, std::move(after), batch);
  }
  int recv(int rank, int peer, int time, std::vector<std::int32_t> after = {}, int batch = -1) {
    return transfer(OpKind::kRecv, rank, peer, time, std::move(after), batch);
  }
  int collective(int rank, int time, std::vector<std::int32_t> after = {},
                 Lane lane = Lane::kData) {
    Op op;
    op.kind = OpKind::kCollective;
    op.lane = lane;
    op.piece = Piece::kTransfer;
    op.purpose = Purpose::kGradients;
    op.group = 0;
    op.bytes = 12;
    return add(rank, op, time, std::move(after));
  }

  Op& op(int rank, int index) {
    return program.ranks[static_cast<std::size_t>(rank)].ops[static_cast<std::size_t>(index)];
  }

  Program program;
  std::vector<std::vector<Nanoseconds>> durations;

 private:
  int transfer(OpKind kind, int rank, int peer, int time, std::vector<std::int32_t> after,
               int batch) {
    Op op;
    op.kind = kind;
    op.lane = Lane::kPipeline;
    op.piece = Piece::kTransfer;
    op.purpose = Purpose::kActivations;
    op.peer = peer;
    op.group = 0;
    op.batch = batch;
    op.bytes = 8;
    return add(rank, op, time, std::move(after));
  }
  int add(int rank, Op op, int time, std::vector<std::int32_t> after) {
    RankProgram& ranked = program.ranks[static_cast<std::size_t>(rank)];
    op.after_first = static_cast<std::int32_t>(ranked.after.size());
    op.after_count = static_cast<std::int32_t>(after.size());
    ranked.after.insert(ranked.after.end(), after.begin(), after.end());
    ranked.ops.push_back(op);
    durations[static_cast<std::size_t>(rank)].emplace_back(time);
    return static_cast<int>(ranked.ops.size()) - 1;
  }
};

}  // namespace parallelarium
