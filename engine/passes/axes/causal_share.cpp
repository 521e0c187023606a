// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/axes/causal_share.h"

#include <map>
#include <utility>
#include <vector>

namespace parallelarium {

namespace {

class CausalWork {
 public:
  CausalWork(const Setup& setup, Program& program)
      : ring_(setup.context_parallel == ContextParallel::kRing),
        cp_(setup.mesh.cp),
        program_(program) {}

  void share(RankProgram& rank) {
    const int cp_rank = program_.representatives ? cp_ - 1 : rank.at.cp;
    for (Op& op : rank.ops) {
      if (op.piece == Piece::kAttention && op.work >= 0)
        op.work = work_of(op.work, op.block, cp_rank);
      if (op.fold >= 0) op.fold = fold_of(op.fold, cp_rank);
    }
  }

 private:
  std::int32_t work_of(std::int32_t whole, int block, int cp_rank) {
    const CausalShare share =
        ring_ ? share_of_block(cp_rank, block) : share_of_all_blocks(cp_rank, cp_);
    if (share.is_even()) return whole;
    const auto next = static_cast<std::int32_t>(program_.works.size());
    const auto [entry, added] = works_.try_emplace({whole, share.times}, next);
    if (!added) return entry->second;
    std::vector<Work> works = program_.works[static_cast<std::size_t>(whole)];
    for (Work& work : works) {
      work.flops *= static_cast<double>(share.times) / static_cast<double>(share.over);
      work.bytes = work.bytes * share.times / share.over;
      work.elements = work.elements * share.times / share.over;
    }
    program_.works.push_back(std::move(works));
    return next;
  }

  std::int32_t fold_of(std::int32_t whole, int cp_rank) {
    const auto next = static_cast<std::int32_t>(program_.folds.size());
    const auto [entry, added] = folds_.try_emplace({whole, cp_rank}, next);
    if (!added) return entry->second;
    Fold fold = program_.folds[static_cast<std::size_t>(whole)];
    for (Fold::Part& part : fold.parts)
      if (part.piece == Piece::kAttention) part.work = work_of(part.work, part.block, cp_rank);
    program_.folds.push_back(std::move(fold));
    return next;
  }

  const bool ring_;
  const int cp_;
  Program& program_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> works_;
  std::map<std::pair<std::int32_t, int>, std::int32_t> folds_;
};

}  // namespace

CausalShare share_of_block(int rank, int block) {
  if (block == 0) return {1, 1};
  return {block <= rank ? 2 : 0, 1};
}

CausalShare share_of_all_blocks(int rank, int ranks) { return {2 * rank + 1, ranks}; }

void share_causal_work(const Setup& setup, Program& program) {
  if (!is_unbalanced(setup)) return;
  CausalWork work(setup, program);
  for (RankProgram& rank : program.ranks) work.share(rank);
}

}  // namespace parallelarium
