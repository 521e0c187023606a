// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/fold/fold.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

#include "engine/passes/arrange/arrange.h"
#include "engine/passes/fold/fold_rings.h"

namespace parallelarium {

namespace {

bool has_slot(const DraftOperand& operand) { return operand.slot >= 0; }

// Where a draft stands: which of the lists that one micro-batch goes through, and where in it.
struct Place {
  std::size_t list = 0, draft = 0;
};

// A buffer that only the compute lane touches.
struct InnerBuffer {
  std::size_t category = 0;
  std::int64_t bytes = 0;
  Place opened, closed;
};

// The lists of Drafts that one micro-batch goes through, and of each draft whether it is a part of
// a ring that is folded with what computes.
using Lists = std::vector<const std::vector<Draft>*>;
using Inside = std::vector<std::vector<bool>>;

// Slots of buffers that another lane touches, too: of transfers, ZeRO's buckets, and blocks of a
// ring that is not inside folds.
std::vector<bool> outer_slots(const Lists& lists, const FoldedSlots& slots, const Inside& inside) {
  std::vector<bool> outer(static_cast<std::size_t>(slots.count), false);
  for (const std::int32_t slot : slots.transfers)
    if (slot >= 0) outer[static_cast<std::size_t>(slot)] = true;
  for (std::size_t list = 0; list < lists.size(); ++list)
    for (std::size_t at = 0; at < lists[list]->size(); ++at) {
      const Draft& draft = (*lists[list])[at];
      const bool other = draft.op.lane != Lane::kCompute && !inside[list][at];
      for (const DraftOperand& operand : draft.operands)
        if (has_slot(operand) && (other || operand.bucket >= 0))
          outer[static_cast<std::size_t>(operand.slot)] = true;
    }
  return outer;
}

// Whether a new op begins at each draft (and at the end of the list). Ops of other lanes stand for
// themselves. An op begins where the compute lane may wait for another lane, which is where it
// first touches what that lane touched, and ends where another lane may wait for it. `computed`: a
// slot that the compute lane touched last before; -1: none.
std::vector<bool> cuts_of(const std::vector<Draft>& drafts, const std::vector<bool>& outer,
                          const std::vector<bool>& inside, const FoldedSlots& ranks, bool whole,
                          std::int32_t computed) {
  std::vector<bool> cuts(drafts.size() + 1, false);
  if (drafts.empty()) return cuts;
  cuts.front() = cuts.back() = true;
  for (std::size_t begin = 0; !whole && begin < drafts.size(); begin = stretch_end(drafts, begin))
    cuts[begin] = true;
  struct Touched {
    std::ptrdiff_t last = -1;  // draft of the compute lane
    bool elsewhere = true;     // by another lane since
  };
  std::vector<Touched> slots(outer.size());
  if (computed >= 0) slots[static_cast<std::size_t>(computed)].elsewhere = false;
  for (std::size_t at = 0; at < drafts.size(); ++at) {
    const Draft& draft = drafts[at];
    if (inside[at]) continue;
    const bool computes = draft.op.lane == Lane::kCompute && draft.op.batch < 0;
    const Purpose purpose = draft.op.purpose;
    const bool over_tp = draft.op.kind != OpKind::kCompute && draft.axis == Axis::kTp;
    const bool meets = (ranks.uneven && purpose == Purpose::kTokens) ||
                       (ranks.uneven_over_tp && over_tp) ||
                       (ranks.unbalanced && purpose == Purpose::kKeysValues);
    if (!computes || meets) cuts[at] = cuts[at + 1] = true;
    if (!whole && draft.awaits >= 0) cuts[at] = true;
    for (const DraftOperand& operand : draft.operands) {
      if (!has_slot(operand) || !outer[static_cast<std::size_t>(operand.slot)]) continue;
      Touched& slot = slots[static_cast<std::size_t>(operand.slot)];
      const bool ends = !computes || operand.opens > 0;
      if (ends && slot.last >= 0) cuts[static_cast<std::size_t>(slot.last) + 1] = true;
      if (computes && (slot.elsewhere || operand.opens > 0)) cuts[at] = true;
      slot.elsewhere = !computes;
      if (computes) slot.last = static_cast<std::ptrdiff_t>(at);
    }
  }
  for (const Touched& slot : slots)
    if (slot.last >= 0) cuts[static_cast<std::size_t>(slot.last) + 1] = true;
  return cuts;
}

bool same_collective(const Draft& known, const Draft& draft) {
  const auto key = [](const Draft& of) {
    return std::tuple(of.op.kind, of.op.group, of.op.collective, of.op.purpose, of.op.reduction,
                      of.op.bytes, of.op.type, of.op.block, of.op.layer);
  };
  return key(known) == key(draft);
}

// One way of a micro-batch through a chunk: forward and backward, or forward and both parts.
class Way {
 public:
  Way(Program& program, const Lists& lists, bool whole, FoldedSlots& slots)
      : program_(program), lists_(lists), whole_(whole), slots_(slots) {
    choose_rings();
    find_inner();
  }

  // Of every list in turn.
  std::vector<std::vector<Draft>> fold() {
    for (const std::vector<Draft>* list : lists_)
      for (const Draft& draft : *list) batches_ = std::max(batches_, draft.op.batch + 1);
    name_kept();
    std::vector<std::vector<Draft>> folded(lists_.size());
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      const std::size_t size = lists_[list]->size();
      for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
        end = begin + 1;
        while (!cuts_[list][end]) ++end;
        append(folded[list], list, begin, end);
      }
    }
    return folded;
  }

 private:
  // Fewer until none waits for another op than its own, or is waited for by one.
  void choose_rings() {
    bool may = whole_ ? slots_.rings != FoldedRings::kNone : slots_.rings == FoldedRings::kAll;
    for (std::size_t list = 0; list < lists_.size() && may; ++list) {
      waits_.push_back(ring_waits(*lists_[list], static_cast<std::size_t>(slots_.count)));
      may = ring_lane_ends(*lists_[list], waits_[list]);
    }
    for (const std::vector<Draft>* list : lists_)
      inside_.push_back(may ? in_rings(*list) : std::vector<bool>(list->size(), false));
    computed_ = slots_.transfers.front();
    for (const std::vector<Draft>* list : lists_)
      for (const Draft& draft : *list)
        for (const DraftOperand& operand : draft.operands)
          if (draft.op.lane != Lane::kCompute && operand.slot == slots_.transfers.front())
            computed_ = -1;
    for (bool changes = true; changes;) {
      outer_ = outer_slots(lists_, slots_, inside_);
      cuts_.clear();
      for (std::size_t list = 0; list < lists_.size(); ++list)
        cuts_.push_back(cuts_of(*lists_[list], outer_, inside_[list], slots_, whole_,
                                list == 0 ? -1 : computed_));
      changes = false;
      for (std::size_t list = 0; list < lists_.size() && may; ++list)
        changes = take_out_rings(*lists_[list], waits_[list], cuts_[list], outer_, inside_[list]) ||
                  changes;
    }
  }

  void find_inner() {
    std::vector<std::ptrdiff_t> current(outer_.size(), -1);
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      for (std::size_t at = 0; at < lists_[list]->size(); ++at) {
        for (const DraftOperand& operand : (*lists_[list])[at].operands) {
          if (!has_slot(operand) || outer_[static_cast<std::size_t>(operand.slot)]) continue;
          std::ptrdiff_t& buffer = current[static_cast<std::size_t>(operand.slot)];
          if (operand.opens > 0) {
            buffer = static_cast<std::ptrdiff_t>(inner_.size());
            inner_.push_back({static_cast<std::size_t>(category_of(operand)),
                              operand.opens,
                              {list, at},
                              {list, at}});
          }
          assert(buffer >= 0);
          inner_[static_cast<std::size_t>(buffer)].closed = {list, at};
        }
      }
      opens_.emplace_back(lists_[list]->size());
      closes_.emplace_back(lists_[list]->size());
    }
    for (const InnerBuffer& buffer : inner_) {
      opens_[buffer.opened.list][buffer.opened.draft][buffer.category] += buffer.bytes;
      closes_[buffer.closed.list][buffer.closed.draft][buffer.category] += buffer.bytes;
    }
  }

  // Buffers of one category that are open from one op to another.
  struct Kept {
    std::int64_t bytes = 0;
    std::int32_t slot = -1;
  };
  // By the places where those ops begin, and by category.
  using KeptKey = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>;

  void name_kept() {
    std::vector<std::vector<std::size_t>> begins;  // of the op that each draft is part of
    for (const std::vector<bool>& of_list : cuts_) {
      std::vector<std::size_t>& begin = begins.emplace_back();
      for (std::size_t at = 0; at + 1 < of_list.size(); ++at)
        begin.push_back(of_list[at] ? at : begin.back());
    }
    for (const InnerBuffer& buffer : inner_) {
      const auto [open_list, open_at] = buffer.opened;
      const auto [close_list, close_at] = buffer.closed;
      Kept& kept = kept_[{open_list, begins[open_list][open_at], close_list,
                          begins[close_list][close_at], buffer.category}];
      if (kept.slot < 0) kept.slot = slots_.count++;
      kept.bytes += buffer.bytes;
    }
    find_touching();
  }

  // Which of them each op opens or closes, in their order: by list and by where the op begins.
  void find_touching() {
    touching_.clear();
    for (const std::vector<Draft>* list : lists_) touching_.emplace_back(list->size());
    for (const auto& entry : kept_) {
      const auto& [open_list, open_at, close_list, close_at, category] = entry.first;
      touching_[open_list][open_at].push_back(&entry);
      if (open_list != close_list || open_at != close_at)
        touching_[close_list][close_at].push_back(&entry);
    }
  }

  // How much less drafts [begin, end) hold at most than with all that they open open at once.
  void count_bytes(std::size_t list, std::size_t begin, std::size_t end, Fold& fold) const {
    CategoryBytes now{}, all{}, most{}, at_peak{};
    std::int64_t peak = 0;
    for (std::size_t at = begin; at < end; ++at) {
      std::int64_t sum = 0;
      for (std::size_t category = 0; category < kCategories; ++category) {
        all[category] += opens_[list][at][category];
        now[category] += opens_[list][at][category];
        most[category] = at == begin ? now[category] : std::max(most[category], now[category]);
        sum += now[category];
      }
      if (at == begin || sum > peak) {
        peak = sum;
        at_peak = now;
      }
      for (std::size_t category = 0; category < kCategories; ++category)
        now[category] -= closes_[list][at][category];
    }
    for (std::size_t category = 0; category < kCategories; ++category) {
      fold.most_less[category] = all[category] - most[category];
      fold.peak_less[category] = all[category] - at_peak[category];
    }
  }

  static DraftOperand touch(std::size_t category, const Kept& kept, bool opens) {
    DraftOperand operand;
    operand.tensor = category == static_cast<std::size_t>(Category::kActivations)
                         ? Tensor::kStageActivations
                         : Tensor::kScratch;
    operand.access = opens ? Access::kWrite : Access::kRead;
    operand.type = DataType::kU8;
    operand.count = kept.bytes;
    operand.opens = opens ? kept.bytes : 0;
    operand.slot = kept.slot;
    return operand;
  }

  // The ops that stand for drafts [begin, end) of a list: what they compute, and their collectives,
  // equal ones as one.
  void append(std::vector<Draft>& result, std::size_t list, std::size_t begin, std::size_t end) {
    const std::vector<Draft>& drafts = *lists_[list];
    if (drafts[begin].op.lane != Lane::kCompute || drafts[begin].op.batch >= 0) {
      assert(end == begin + 1);
      result.push_back(drafts[begin]);
      return;
    }
    const std::size_t first = result.size();
    Fold fold;
    count_bytes(list, begin, end, fold);
    if (list < waits_.size()) add_steps(drafts, begin, end, inside_[list], waits_[list], fold);
    std::vector<Draft> moved;  // by rings
    std::vector<Fold::Step> turns;
    Draft& op = result.emplace_back();
    op.op = drafts[begin].op;
    if (!whole_) op.awaits = drafts[begin].awaits;
    op.op.kind = OpKind::kCompute;
    op.op.piece = Piece::kStage;
    op.op.work = -1;
    for (std::size_t at = begin; at < end; ++at) {
      Op piece = drafts[at].op;
      if (piece.layer != result[first].op.layer) result[first].op.layer = -1;
      if (piece.kind == OpKind::kCompute) {
        turns.push_back({static_cast<std::int32_t>(fold.parts.size())});
        fold.parts.push_back({piece.layer, piece.piece, piece.phase, piece.block, piece.work});
        continue;
      }
      if (whole_ && piece.purpose != Purpose::kTokens) piece.layer = -1;
      Draft collective;
      collective.op = piece;
      if (piece.lane == Lane::kCompute) {
        const std::size_t behind = add_equal(result, first + 1, collective) - first - 1;
        turns.push_back({-1, static_cast<std::int32_t>(behind)});
        continue;
      }
      collective.axis = drafts[at].axis;
      collective.op.lane = Lane::kCompute;
      collective.op.batch = batches_;
      collective.op.fold = static_cast<std::int32_t>(program_.folds.size());
      add_equal(moved, 0, collective);
    }
    if (!moved.empty()) ++batches_;
    Op& stage = result[first].op;
    stage.phase = kPhases[list];
    if (fold.parts.size() == 1) {  // it stands for one piece
      stage.piece = fold.parts[0].piece;
      stage.phase = fold.parts[0].phase;
      stage.block = fold.parts[0].block;
    }
    if (fold.parts.empty())
      result.erase(result.begin() + static_cast<std::ptrdiff_t>(first));
    else if (fold.moved.empty() && result.size() > first + 1)
      fold.steps = std::move(turns);
    result[first].op.fold = static_cast<std::int32_t>(program_.folds.size());
    program_.folds.push_back(std::move(fold));
    result.insert(result.end(), moved.begin(), moved.end());
    add_operands(result, first, list, begin, end);
  }

  // Behind the drafts from `first` on, or as one more of an equal one. Returns which one it is.
  static std::size_t add_equal(std::vector<Draft>& drafts, std::size_t first, const Draft& draft) {
    std::size_t at = first;
    while (at < drafts.size() && !same_collective(drafts[at], draft)) ++at;
    if (at == drafts.size())
      drafts.push_back(draft);
    else
      ++drafts[at].op.repeat;
    return at;
  }

  // The first op opens and touches all that the drafts do. The last touches once more what another
  // lane touches; what is kept inside is no longer held while the collectives at the end go on.
  void add_operands(std::vector<Draft>& result, std::size_t first, std::size_t list,
                    std::size_t begin, std::size_t end) {
    std::vector<DraftOperand> touched;
    for (std::size_t at = begin; at < end; ++at) {
      for (const DraftOperand& operand : (*lists_[list])[at].operands) {
        if (!has_slot(operand) || !outer_[static_cast<std::size_t>(operand.slot)]) continue;
        const auto known =
            std::find_if(touched.begin(), touched.end(),
                         [&](const DraftOperand& one) { return one.slot == operand.slot; });
        if (known == touched.end())
          touched.push_back(operand);
        else if (operand.access != Access::kRead && known->access == Access::kRead)
          known->access = Access::kAccumulate;
      }
    }
    result[first].operands = touched;
    for (const auto* entry : touching_[list][begin]) {
      const auto& [open_list, open_at, close_list, close_at, category] = entry->first;
      const bool opens = open_list == list && open_at == begin;
      result[first].operands.push_back(touch(category, entry->second, opens));
    }
    if (first + 1 == result.size()) return;
    for (DraftOperand& operand : touched) {
      operand.opens = 0;
      if (operand.access == Access::kWrite) operand.access = Access::kAccumulate;
    }
    result.back().operands = std::move(touched);
  }

  Program& program_;
  const Lists lists_;
  const bool whole_;
  FoldedSlots& slots_;
  Inside inside_;
  std::vector<std::vector<std::int32_t>> waits_;  // by list, where rings may be inside
  std::int32_t computed_ = -1;  // what a stage receives, which waits for its backward in its place
  std::vector<bool> outer_;
  std::vector<std::vector<bool>> cuts_;  // by list
  std::int32_t batches_ = 0;             // the next number that no draft has
  std::vector<InnerBuffer> inner_;
  std::vector<std::vector<CategoryBytes>> opens_, closes_;  // by list and draft
  std::map<KeptKey, Kept> kept_;
  std::vector<std::vector<std::vector<const std::pair<const KeptKey, Kept>*>>> touching_;
  static constexpr Phase kPhases[] = {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad};
};

}  // namespace

FoldedActions fold_actions(Program& program, const ActionDrafts& pieces, FoldedSlots& slots) {
  FoldedActions result;
  result.across = slots.across;
  const auto fold = [&](const Lists& lists, std::initializer_list<FoldedDrafts*> to) {
    for (const bool whole : {false, true}) {
      if (whole && !slots.across) continue;
      std::vector<std::vector<Draft>> folded = Way(program, lists, whole, slots).fold();
      for (std::size_t list = 0; list < to.size(); ++list)
        (whole ? to.begin()[list]->whole : to.begin()[list]->stretches) = std::move(folded[list]);
    }
  };
  if (!pieces.input.empty() || !pieces.weight.empty())
    fold({&pieces.forward, &pieces.input, &pieces.weight},
         {&result.split_forward, &result.input, &result.weight});
  if (!pieces.backward.empty())
    fold({&pieces.forward, &pieces.backward}, {&result.forward, &result.backward});
  return result;
}

}  // namespace parallelarium
