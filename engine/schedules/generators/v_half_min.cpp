// SPDX-License-Identifier: Apache-2.0
// V-Half and V-Min. A block says in which slot a rank does each action of one micro-batch; the next
// micro-batch's block begins six slots later, so that two forwards, two input and two weight parts
// fill every slot in the middle of the step. How long a block is decides how many are under way at
// once, and so what a rank holds.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// In the order that a micro-batch takes through a rank; its weight parts go where a slot is free.
constexpr int kParts = 4;
constexpr std::array<Action, kParts> kPartActions = {{{ActionKind::kForward, 0, 0},
                                                      {ActionKind::kForward, 0, 1},
                                                      {ActionKind::kInputGrad, 0, 1},
                                                      {ActionKind::kInputGrad, 0, 0}}};
constexpr int kPeriod = 6;
using Block = std::array<int, kParts>;

// Of rank r of p. The gap keeps actions of neighbouring micro-batches out of one slot.
Block v_min_block(int p, int r) {
  const int gap = p % 3 == 0 ? 2 : 0;
  return {r, 2 * p - 1 - r, 2 * p + gap + r, 4 * p + gap - 1 - r};
}
Block v_half_block(int p, int r) {
  const int gap = p % 2 == 0 ? 3 : 0;
  return {2 * r, 3 * p - 2 - r, 3 * p + gap - 1 + 2 * r, 6 * p + gap - 2 - r};
}

class Slots {
 public:
  Slots(int ranks, int microbatches, Block (*block)(int, int))
      : ranks_(ranks),
        microbatches_(microbatches),
        shift_(std::bit_width(static_cast<unsigned>(microbatches))),
        lines_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      Line& line = lines_[static_cast<std::size_t>(rank)];
      const Block first = block(ranks, rank);
      const int end = first.back() + kPeriod * microbatches;
      line.cells.assign(static_cast<std::size_t>(end + 2 * microbatches), kFree);
      for (int part = 0; part < kParts; ++part)
        for (int j = 0; j < microbatches; ++j)
          set(line, part, j, first[static_cast<std::size_t>(part)] + kPeriod * j);
    }
  }

  // Moves every action to the first free slot after what it needs, earliest first, where the rank
  // then holds no more than the most that a rank of the repeated blocks holds. When no new
  // micro-batch comes, what is left to send goes before weight parts.
  void close_up() {
    for (Line& line : lines_) {
      put_weights(line);
      most_ = std::max(most_, peak_of(line));
    }
    for (const auto& [slot, rank, cell] : in_order()) move_up(rank, cell, slot);
    run_eagerly();
    const int last = lines_[0].at[0].back();
    for (Line& line : lines_) drop_weights(line);
    has_weights_ = false;
    for (const auto& [slot, rank, cell] : in_order())
      if (slot > last) move_up(rank, cell, slot);
    for (Line& line : lines_) put_weights(line);
  }

  std::vector<Action> actions(int rank) const {
    std::vector<Action> actions;
    for (const int cell : lines_[static_cast<std::size_t>(rank)].cells) {
      if (cell == kFree) continue;
      const int part = part_of(cell);
      Action action = kPartActions[static_cast<std::size_t>(part % kParts)];
      if (part >= kParts) action.kind = ActionKind::kWeightGrad;
      action.microbatch = microbatch_of(cell);
      actions.push_back(action);
    }
    return actions;
  }

 private:
  static constexpr int kFree = -1;
  // Weight parts are numbered like the input parts that they follow, kParts later.
  struct Line {
    std::vector<int> cells;  // by slot: cell_of()
    std::array<std::vector<int>, std::size_t{2} * kParts> at;
  };

  // Each move asks every cell for its part, and to divide took a third of the time of an order. The
  // part of a free cell is -1.
  int cell_of(int part, int j) const { return part << shift_ | j; }
  int part_of(int cell) const { return cell >> shift_; }
  int microbatch_of(int cell) const { return cell & ((1 << shift_) - 1); }

  void set(Line& line, int part, int j, int slot) const {
    std::vector<int>& at = line.at[static_cast<std::size_t>(part)];
    if (at.empty()) at.assign(static_cast<std::size_t>(microbatches_), kFree);
    at[static_cast<std::size_t>(j)] = slot;
    line.cells[static_cast<std::size_t>(slot)] = cell_of(part, j);
  }

  // Of all ranks: slot, rank, cell.
  std::vector<std::array<int, 3>> in_order() const {
    std::vector<std::array<int, 3>> all;
    std::size_t slots = 0;
    for (const Line& line : lines_) slots = std::max(slots, line.cells.size());
    for (std::size_t slot = 0; slot < slots; ++slot)
      for (int rank = 0; rank < ranks_; ++rank) {
        const std::vector<int>& cells = lines_[static_cast<std::size_t>(rank)].cells;
        if (slot < cells.size() && cells[slot] != kFree)
          all.push_back({static_cast<int>(slot), rank, cells[slot]});
      }
    return all;
  }

  // Puts weight parts into free slots, in the order of the input parts.
  void put_weights(Line& line) const {
    drop_weights(line);
    std::vector<int> waiting;
    std::size_t next = 0;
    for (std::size_t slot = 0; slot < line.cells.size(); ++slot) {
      const int cell = line.cells[slot], part = part_of(cell);
      if (part == 2 || part == 3) waiting.push_back(cell_of(part + kParts, microbatch_of(cell)));
      if (cell != kFree || next == waiting.size()) continue;
      const int weight = waiting[next++];
      set(line, part_of(weight), microbatch_of(weight), static_cast<int>(slot));
    }
  }
  // Chunks of micro-batches that the rank holds at most. Where weight parts have no slots yet, each
  // takes the next free one.
  int peak_of(const Line& line) const {
    int held = 0, peak = 0, waiting = 0;
    for (const int cell : line.cells) {
      const int part = part_of(cell);
      if (part == 0 || part == 1) peak = std::max(peak, ++held);
      if (part == 2 || part == 3) ++waiting;
      if (part >= kParts || (part < 0 && !has_weights_ && waiting > 0)) {
        --held;
        --waiting;
      }
    }
    return peak;
  }
  void drop_weights(Line& line) const {
    for (int& cell : line.cells)
      if (part_of(cell) >= kParts) cell = kFree;
  }

  // Gives every action the slot in which it would begin, in the order that stands.
  void run_eagerly() {
    const std::vector<std::array<int, 3>> all = in_order();
    for (Line& line : lines_) std::fill(line.cells.begin(), line.cells.end(), kFree);
    std::vector<int> ended(lines_.size(), -1);
    for (const auto& [slot, rank, cell] : all) {
      int& end = ended[static_cast<std::size_t>(rank)];
      const int part = part_of(cell), j = microbatch_of(cell);
      end = std::max(end, needs_until(rank, part, j)) + 1;
      set(lines_[static_cast<std::size_t>(rank)], part, j, end);
    }
  }

  // The last slot of what the action needs and of its own kind's micro-batch before.
  int needs_until(int rank, int part, int j) const {
    const auto slot_of = [&](int of_rank, int of_part, int of_j) {
      return lines_[static_cast<std::size_t>(of_rank)]
          .at[static_cast<std::size_t>(of_part)][static_cast<std::size_t>(of_j)];
    };
    int until = j > 0 ? slot_of(rank, part, j - 1) : -1;
    if (part >= kParts) return std::max(until, slot_of(rank, part - kParts, j));
    if (part > 0) until = std::max(until, slot_of(rank, part - 1, j));
    // Forwards of chunk 0 and input parts of chunk 1 go down the ranks, the others up.
    const int from = part % 2 == 0 ? rank - 1 : rank + 1;
    if (from >= 0 && from < ranks_) until = std::max(until, slot_of(from, part, j));
    return until;
  }

  void move_up(int rank, int cell, int slot) {
    Line& line = lines_[static_cast<std::size_t>(rank)];
    const int part = part_of(cell), j = microbatch_of(cell);
    for (int to = needs_until(rank, part, j) + 1; to < slot; ++to) {
      if (line.cells[static_cast<std::size_t>(to)] != kFree) continue;
      line.cells[static_cast<std::size_t>(slot)] = kFree;
      set(line, part, j, to);
      // Input parts hold no more than before, but may take a weight part's slot.
      if ((part >= 2 && has_weights_) || peak_of(line) <= most_) return;
      line.cells[static_cast<std::size_t>(to)] = kFree;
      set(line, part, j, slot);
    }
  }
  const int ranks_, microbatches_, shift_;
  int most_ = 0;
  bool has_weights_ = true;
  std::vector<Line> lines_;
};

Order v_order(const char* name, int ranks, int microbatches, Block (*block)(int, int)) {
  Order order = v_pipeline(name, ranks, microbatches);
  Slots slots(ranks, microbatches, block);
  slots.close_up();
  for (int rank = 0; rank < ranks; ++rank)
    order.ranks[static_cast<std::size_t>(rank)] = slots.actions(rank);
  return order;
}

}  // namespace

Order v_half_order(int ranks, int microbatches) {
  return v_order("v-half", ranks, microbatches, v_half_block);
}
Order v_min_order(int ranks, int microbatches) {
  return v_order("v-min", ranks, microbatches, v_min_block);
}

}  // namespace parallelarium
