// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/draft.h"

#include <algorithm>
#include <array>
#include <limits>

namespace parallelarium {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kKinds = 4;

// Where an action of a stage and micro-batch stands, and when it ended.
struct Place {
  int rank = -1, index = -1;
  double end = kNever;
};

class DraftWalk {
 public:
  DraftWalk(const Order& draft, const std::vector<Durations>& stages, bool split)
      : draft_(draft), stages_(stages), split_(split) {
    places_.resize(kKinds * count(draft.stages) * count(draft.microbatches));
    line_.resize(draft.ranks.size());
    times_.ranks.resize(draft.ranks.size());
  }

  DraftTimes run() {
    note_places();
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < line_.size(); ++rank)
        while (step(rank)) moved = true;
    }
    const std::vector<double> held = peak_in_flight(draft_);
    for (std::size_t rank = 0; rank < line_.size(); ++rank) {
      DraftRank& own = times_.ranks[rank];
      own.held = held[rank];
      own.wanted = wanted_of(rank);
      times_.wanted += own.wanted;
      times_.placed += static_cast<int>(draft_.ranks[rank].size());
      if (line_[rank].walked < draft_.ranks[rank].size()) {
        own.wait = wait_of(rank);
        times_.runs = false;
      } else {
        own.next = next_of(rank);
      }
    }
    find_for_ever();
    return std::move(times_);
  }

 private:
  struct Line {
    std::size_t walked = 0;
    double clock = 0;
  };

  static std::size_t count(int number) { return static_cast<std::size_t>(std::max(0, number)); }

  bool in_range(const Action& action) const {
    return action.microbatch >= 0 && action.microbatch < draft_.microbatches && action.chunk >= 0 &&
           action.chunk < draft_.chunks;
  }
  int stage_of(std::size_t rank, const Action& action) const {
    return draft_.stage_of[rank][count(action.chunk)];
  }
  Place& place(ActionKind kind, int stage, int microbatch) {
    return places_[(static_cast<std::size_t>(kind) * count(draft_.stages) + count(stage)) *
                       count(draft_.microbatches) +
                   count(microbatch)];
  }
  bool stands(ActionKind kind, int stage, int microbatch) {
    return place(kind, stage, microbatch).rank >= 0;
  }

  void note_places() {
    for (std::size_t rank = 0; rank < draft_.ranks.size(); ++rank) {
      for (std::size_t index = 0; index < draft_.ranks[rank].size(); ++index) {
        const Action& action = draft_.ranks[rank][index];
        if (!in_range(action)) continue;
        Place& there = place(action.kind, stage_of(rank, action), action.microbatch);
        if (there.rank < 0) there = {static_cast<int>(rank), static_cast<int>(index), kNever};
      }
    }
  }

  // What the action waits for, at most two; of kinds that a draft may leave open, the one that
  // stands, else what `split_` says.
  std::vector<std::pair<ActionKind, int>> needs_of(const Action& action, int stage) {
    switch (action.kind) {
      case ActionKind::kForward:
        if (stage == 0) return {};
        return {{ActionKind::kForward, stage - 1}};
      case ActionKind::kBackward:
      case ActionKind::kInputGrad: {
        if (stage + 1 == draft_.stages) return {{ActionKind::kForward, stage}};
        const bool whole = stands(ActionKind::kBackward, stage + 1, action.microbatch);
        const bool input = stands(ActionKind::kInputGrad, stage + 1, action.microbatch);
        const ActionKind above =
            whole || (!input && !split_) ? ActionKind::kBackward : ActionKind::kInputGrad;
        return {{ActionKind::kForward, stage}, {above, stage + 1}};
      }
      case ActionKind::kWeightGrad:
        return {{ActionKind::kInputGrad, stage}};
    }
    return {};
  }

  // When the action can start on that rank; kNever where something that it needs has not run.
  // `need` is set to that.
  double ready(std::size_t rank, const Action& action, std::pair<ActionKind, int>* need = nullptr,
               DraftBegin* why = nullptr) {
    const int stage = stage_of(rank, action);
    double begin = 0;
    for (const auto& [kind, at] : needs_of(action, stage)) {
      const Place& there = place(kind, at, action.microbatch);
      if (there.end == kNever) {
        if (need) *need = {kind, at};
        return kNever;
      }
      const bool own = there.rank == static_cast<int>(rank);
      const double transfer = own ? 0 : stages_[count(std::min(stage, at))].transfer;
      if (why) note_need(*why, there, own, transfer);
      begin = std::max(begin, there.end + transfer);
    }
    return begin;
  }

  static void note_need(DraftBegin& why, const Place& there, bool own, double transfer) {
    const DraftPlace place{there.rank, there.index};
    if (!own) {
      why.sender = place;
      why.sent_transfer = transfer;
    }
    if (there.end + transfer < why.ready ||
        (why.after.rank >= 0 && there.end + transfer == why.ready))
      return;
    why.after = place;
    why.transfer = transfer;
    why.ready = there.end + transfer;
  }

  std::size_t unit(std::size_t rank, std::size_t index) const {
    const auto& actions = draft_.ranks[rank];
    return actions[index].overlapped_with_next && index + 1 < actions.size() ? 2 : 1;
  }

  // Runs the next action, or overlapped pair, of the rank, if it can.
  bool step(std::size_t rank) {
    Line& line = line_[rank];
    const auto& actions = draft_.ranks[rank];
    if (line.walked == actions.size()) return false;
    const std::size_t size = unit(rank, line.walked);
    double begin = line.clock, length = 0, overlapped = 0;
    std::array<DraftBegin, 2> began;
    for (std::size_t index = line.walked; index < line.walked + size; ++index) {
      const Action& action = actions[index];
      if (!in_range(action)) return false;
      const int stage = stage_of(rank, action);
      const Place& there = place(action.kind, stage, action.microbatch);
      if (there.rank != static_cast<int>(rank) || there.index != static_cast<int>(index))
        return false;  // the second of two
      const double can = ready(rank, action, nullptr, &began[index - line.walked]);
      if (can == kNever) return false;
      begin = std::max(begin, can);
      length += duration_of(action.kind, stages_[count(stage)]);
      overlapped = std::max(overlapped, stages_[count(stage)].overlapped);
    }
    if (size == 2 && overlapped > 0) length = overlapped;
    DraftBegin last = size == 2 && began[1].ready > began[0].ready ? began[1] : began[0];
    if (line.walked > 0 && last.ready <= line.clock) {
      last.after = {static_cast<int>(rank), static_cast<int>(line.walked) - 1};
      last.transfer = 0;
    }
    for (std::size_t index = line.walked; index < line.walked + size; ++index) {
      const Action& action = actions[index];
      place(action.kind, stage_of(rank, action), action.microbatch).end = begin + length;
      times_.ranks[rank].ran.push_back({action, begin, begin + length});
      DraftBegin& why = began[index - line.walked];
      why.after = last.after;
      why.transfer = last.transfer;
      times_.ranks[rank].began.push_back(why);
    }
    line.walked += size;
    line.clock = begin + length;
    times_.busy += length;
    times_.makespan = std::max(times_.makespan, line.clock);
    return true;
  }

  DraftWait wait_of(std::size_t rank) {
    DraftWait wait;
    wait.index = line_[rank].walked;
    const std::size_t end = wait.index + unit(rank, wait.index);
    for (std::size_t index = wait.index; index < end; ++index) {
      const Action& action = draft_.ranks[rank][index];
      std::pair<ActionKind, int> need;
      if (!in_range(action) || ready(rank, action, &need) != kNever) continue;
      const Place& there = place(need.first, need.second, action.microbatch);
      wait.index = index;
      wait.rank = there.rank >= 0 ? there.rank : holder_of(need.second);
      wait.position = there.index;
      wait.needs = {need.first, action.microbatch, chunk_of(wait.rank, need.second), false};
      return wait;
    }
    wait.needs = draft_.ranks[rank][wait.index];  // it stands before, or means nothing
    wait.rank = static_cast<int>(rank);
    wait.for_ever = true;
    return wait;
  }

  int holder_of(int stage) const {
    for (std::size_t rank = 0; rank < draft_.stage_of.size(); ++rank)
      if (chunk_of(static_cast<int>(rank), stage) >= 0) return static_cast<int>(rank);
    return -1;
  }
  int chunk_of(int rank, int stage) const {
    if (rank < 0) return -1;
    const std::vector<int>& held = draft_.stage_of[count(rank)];
    const auto at = std::find(held.begin(), held.end(), stage);
    return at == held.end() ? -1 : static_cast<int>(at - held.begin());
  }

  // A wait is for ever where what it needs will not run: behind the action itself, where it stands
  // or could only be placed, or behind one that waits for ever, or in a circle. All others end when
  // something is placed.
  void find_for_ever() {
    enum class Seen { kNo, kOpen, kDone };
    std::vector<Seen> seen(line_.size(), Seen::kNo);
    for (std::size_t start = 0; start < line_.size(); ++start) {
      std::vector<std::size_t> way;
      std::size_t rank = start;
      bool for_ever = false;
      for (;;) {
        std::optional<DraftWait>& wait = times_.ranks[rank].wait;
        if (!wait) break;
        if (seen[rank] != Seen::kNo) {
          for_ever = seen[rank] == Seen::kOpen || wait->for_ever;
          break;
        }
        seen[rank] = Seen::kOpen;
        way.push_back(rank);
        if (wait->for_ever) {
          for_ever = true;
          break;
        }
        if (wait->rank == static_cast<int>(rank)) {
          for_ever = true;
          break;
        }
        if (wait->position < 0) break;
        rank = count(wait->rank);
      }
      for (const std::size_t each : way) {
        times_.ranks[each].wait->for_ever = for_ever;
        seen[each] = Seen::kDone;
      }
    }
  }

  bool splits(int stage, int microbatch) {
    if (stands(ActionKind::kInputGrad, stage, microbatch)) return true;
    return split_ && !stands(ActionKind::kBackward, stage, microbatch);
  }

  int wanted_of(std::size_t rank) {
    int wanted = 0;
    for (const int stage : draft_.stage_of[rank]) {
      for (int microbatch = 0; microbatch < draft_.microbatches; ++microbatch) {
        // A stage on two ranks: each micro-batch belongs to the rank where it was placed, or else
        // to either; half of the rest is each one's.
        const Place& forward = place(ActionKind::kForward, stage, microbatch);
        if (forward.rank >= 0 && forward.rank != static_cast<int>(rank)) continue;
        wanted += splits(stage, microbatch) ? 3 : 2;
      }
    }
    return wanted;
  }

  std::vector<NextAction> next_of(std::size_t rank) {
    std::vector<NextAction> next;
    int held = 0;
    for (const Action& action : draft_.ranks[rank]) held += change_of(action.kind);
    const double share = std::min(
        1.0, static_cast<double>(draft_.ranks.size()) / static_cast<double>(draft_.stages));
    static constexpr std::array<ActionKind, kKinds> kInTurn = {
        ActionKind::kForward, ActionKind::kBackward, ActionKind::kInputGrad,
        ActionKind::kWeightGrad};
    for (const ActionKind kind : kInTurn) {
      for (int chunk = 0; chunk < draft_.chunks; ++chunk) {
        const int stage = draft_.stage_of[rank][count(chunk)];
        for (int microbatch = 0; microbatch < draft_.microbatches; ++microbatch) {
          const Action action{kind, microbatch, chunk, false};
          if (stands(kind, stage, microbatch) || !fits(rank, action, stage)) continue;
          const double can = ready(rank, action);
          if (can == kNever) continue;
          const double begin = std::max(line_[rank].clock, can);
          next.push_back({action, begin, begin + duration_of(kind, stages_[count(stage)]),
                          (held + change_of(kind)) * share});
          break;
        }
      }
    }
    return next;
  }

  static int change_of(ActionKind kind) {
    if (kind == ActionKind::kForward) return 1;
    return kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad ? -1 : 0;
  }

  // Whether the rank may do this: the backward is whole or split as the micro-batch's other parts
  // there are, and a stage on two ranks has each micro-batch on one.
  bool fits(std::size_t rank, const Action& action, int stage) {
    const Place& forward = place(ActionKind::kForward, stage, action.microbatch);
    if (forward.rank >= 0 && forward.rank != static_cast<int>(rank)) return false;
    const bool parts = splits(stage, action.microbatch);
    return action.kind == ActionKind::kForward || parts == (action.kind != ActionKind::kBackward);
  }

  const Order& draft_;
  const std::vector<Durations>& stages_;
  const bool split_;
  std::vector<Place> places_;
  std::vector<Line> line_;
  DraftTimes times_;
};

}  // namespace

double DraftTimes::bubble_in(double length) const {
  const double total = length * static_cast<double>(ranks.size());
  return total > 0 ? std::max(0.0, 1 - busy / total) : 0;
}

DraftTimes time_draft(const Order& draft, const std::vector<Durations>& stages, bool split) {
  return DraftWalk(draft, stages, split).run();
}

}  // namespace parallelarium
