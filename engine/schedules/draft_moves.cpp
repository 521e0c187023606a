// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "engine/schedules/draft.h"

namespace parallelarium {

namespace {

// The action of the pattern that comes next in a line, with micro-batches that do not exist left
// out; none where the line has no pattern or its pattern has ended.
class LinePattern {
 public:
  LinePattern(const std::vector<Action>& line, int microbatches) : microbatches_(microbatches) {
    for (std::size_t period = 1; 2 * period <= line.size() && last_.empty(); ++period) {
      const int step = line[line.size() - 1].microbatch - line[line.size() - 1 - period].microbatch;
      bool repeats = step != 0;
      for (std::size_t back = 1; back <= period && repeats; ++back) {
        const Action &now = line[line.size() - back], &before = line[line.size() - back - period];
        repeats = now.kind == before.kind && now.chunk == before.chunk &&
                  now.overlapped_with_next == before.overlapped_with_next &&
                  now.microbatch - before.microbatch == step;
      }
      if (repeats) take(line, period, step);
    }
    if (!last_.empty() || line.empty()) return;
    // Nothing repeats yet: the whole line is the pattern's first time.
    int lowest = line.front().microbatch, highest = lowest;
    for (const Action& action : line) {
      lowest = std::min(lowest, action.microbatch);
      highest = std::max(highest, action.microbatch);
    }
    take(line, line.size(), highest - lowest + 1);
  }

  std::optional<Action> next() {
    for (std::size_t tried = 0; tried < last_.size(); ++tried) {
      Action& action = last_[at_];
      at_ = (at_ + 1) % last_.size();
      action.microbatch += step_;
      if (action.microbatch >= 0 && action.microbatch < microbatches_) return action;
    }
    return std::nullopt;
  }

 private:
  void take(const std::vector<Action>& line, std::size_t period, int step) {
    last_.assign(line.end() - static_cast<std::ptrdiff_t>(period), line.end());
    step_ = step;
  }

  std::vector<Action> last_;
  std::size_t at_ = 0;
  int step_ = 1;
  const int microbatches_;
};

}  // namespace

Order repeated_to_the_end(Order draft, const std::vector<Durations>& stages, bool split) {
  std::vector<LinePattern> patterns;
  for (const auto& line : draft.ranks) patterns.emplace_back(line, draft.microbatches);
  // What each rank would do next; it stays until it runs.
  std::vector<std::optional<Action>> wanted;
  for (LinePattern& pattern : patterns) wanted.push_back(pattern.next());
  for (bool moved = true; moved;) {
    moved = false;
    Order longer = draft;
    for (std::size_t rank = 0; rank < wanted.size(); ++rank)
      if (wanted[rank]) longer.ranks[rank].push_back(*wanted[rank]);
    const DraftTimes times = time_draft(longer, stages, split);
    for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
      if (!wanted[rank] || times.ranks[rank].wait) continue;
      draft.ranks[rank].push_back(*wanted[rank]);
      wanted[rank] = patterns[rank].next();
      moved = true;
    }
  }
  return draft;
}

Order without_actions(const Order& like) {
  Order empty = like;
  for (auto& line : empty.ranks) line.clear();
  return empty;
}

Order one_after_another(const Order& like, bool split) {
  Order order = without_actions(like);
  // The lowest rank that holds a stage does its work, where two hold it the one of the
  // micro-batch's parity, so that both work.
  const auto add = [&](ActionKind kind, int stage, int microbatch) {
    std::vector<std::pair<std::size_t, int>> holders;
    for (std::size_t rank = 0; rank < order.stage_of.size(); ++rank)
      for (std::size_t chunk = 0; chunk < order.stage_of[rank].size(); ++chunk)
        if (order.stage_of[rank][chunk] == stage)
          holders.emplace_back(rank, static_cast<int>(chunk));
    if (holders.empty()) return;
    const auto& [rank, chunk] = holders[static_cast<std::size_t>(microbatch) % holders.size()];
    order.ranks[rank].push_back({kind, microbatch, chunk, false});
  };
  for (int microbatch = 0; microbatch < order.microbatches; ++microbatch) {
    for (int stage = 0; stage < order.stages; ++stage) add(ActionKind::kForward, stage, microbatch);
    for (int stage = order.stages - 1; stage >= 0; --stage) {
      add(split ? ActionKind::kInputGrad : ActionKind::kBackward, stage, microbatch);
      if (split) add(ActionKind::kWeightGrad, stage, microbatch);
    }
  }
  return order;
}

Order filled_up(Order draft, bool split) {
  using Work = std::pair<int, int>;                           // stage, micro-batch
  std::map<std::pair<Work, ActionKind>, std::size_t> placed;  // on which rank
  for (std::size_t rank = 0; rank < draft.ranks.size(); ++rank)
    for (const Action& action : draft.ranks[rank])
      if (const auto chunk = static_cast<std::size_t>(action.chunk);
          chunk < draft.stage_of[rank].size())
        placed[{{draft.stage_of[rank][chunk], action.microbatch}, action.kind}] = rank;
  const auto has = [&](const Work& work, ActionKind kind) {
    return placed.count({work, kind}) > 0;
  };
  // On the rank that has some of the work already; else on the first that holds the stage.
  const auto add = [&](const Work& work, ActionKind kind) {
    const auto other = std::find_if(placed.begin(), placed.end(),
                                    [&](const auto& one) { return one.first.first == work; });
    for (std::size_t rank = 0; rank < draft.ranks.size(); ++rank)
      for (std::size_t chunk = 0; chunk < draft.stage_of[rank].size(); ++chunk) {
        if (draft.stage_of[rank][chunk] != work.first) continue;
        if (other != placed.end() && other->second != rank) continue;
        draft.ranks[rank].push_back({kind, work.second, static_cast<int>(chunk), false});
        placed[{work, kind}] = rank;
        return;
      }
  };
  for (int microbatch = 0; microbatch < draft.microbatches; ++microbatch) {
    for (int stage = 0; stage < draft.stages; ++stage)
      if (!has({stage, microbatch}, ActionKind::kForward))
        add({stage, microbatch}, ActionKind::kForward);
    for (int stage = draft.stages - 1; stage >= 0; --stage) {
      const Work work(stage, microbatch);
      if (has(work, ActionKind::kBackward)) continue;
      const bool parts =
          split || has(work, ActionKind::kInputGrad) || has(work, ActionKind::kWeightGrad);
      if (!parts) add(work, ActionKind::kBackward);
      for (const ActionKind kind : {ActionKind::kInputGrad, ActionKind::kWeightGrad})
        if (parts && !has(work, kind)) add(work, kind);
    }
  }
  return draft;
}

}  // namespace parallelarium
