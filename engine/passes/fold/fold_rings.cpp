// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/fold/fold_rings.h"

#include <algorithm>
#include <tuple>

#include "engine/passes/arrange/arrange.h"

namespace parallelarium {

namespace {

// Of rings of TP; the compute lane where there are none.
Lane ring_lane(const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts)
    if (draft.axis == Axis::kTp && draft.op.lane != Lane::kCompute) return draft.op.lane;
  return Lane::kCompute;
}

bool joins(const std::vector<Draft>& drafts, std::size_t at) {
  return at > 0 && drafts[at].op.batch >= 0 && drafts[at - 1].op.batch == drafts[at].op.batch;
}

class RingCheck {
 public:
  RingCheck(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits,
            const std::vector<bool>& outer)
      : drafts_(drafts), waits_(waits), outer_(outer), lane_(ring_lane(drafts)) {}

  // Takes out of the rings inside drafts [begin, end), one op, what waits for something outside of
  // them, or is awaited there. Those before must have been asked.
  void take_out(std::size_t begin, std::size_t end, std::vector<bool>& inside) {
    // The first of them may wait for what the lane did before: then all of the op does.
    const bool idle = busy_until_ <= std::max(awaited_, waits_[begin]);
    std::int32_t awaited = -1;
    bool computes = false;
    for (std::size_t at = begin; at < end; ++at) {
      const Op& op = drafts_[at].op;
      computes = computes || op.kind == OpKind::kCompute;
      if (op.lane == Lane::kCompute) awaited = std::max(awaited, waits_[at]);
      if (op.lane == lane_ && lane_ != Lane::kCompute) busy_until_ = static_cast<std::int32_t>(at);
    }
    awaited_ = std::max(awaited_, awaited);
    bool begun = false;
    for (std::size_t at = begin, next = at; at < end; at = next) {
      for (next = at + 1; next < end && joins(drafts_, next);) ++next;
      if (!inside[at]) continue;
      const bool fits = idle && computes && static_cast<std::int32_t>(next) - 1 <= awaited &&
                        (begun || begins_inside(at, next, begin)) && !touches_outer(at, next);
      begun = begun || fits;
      std::fill(inside.begin() + static_cast<std::ptrdiff_t>(at),
                inside.begin() + static_cast<std::ptrdiff_t>(next), fits);
    }
  }
  bool is_idle() const { return busy_until_ <= awaited_; }

 private:
  // Of a batch; what comes behind the first of a ring waits for it, too.
  bool begins_inside(std::size_t at, std::size_t end, std::size_t first) const {
    return *std::max_element(waits_.begin() + static_cast<std::ptrdiff_t>(at),
                             waits_.begin() + static_cast<std::ptrdiff_t>(end)) >=
           static_cast<std::int32_t>(first);
  }
  bool touches_outer(std::size_t at, std::size_t end) const {
    for (; at < end; ++at)
      for (const DraftOperand& operand : drafts_[at].operands)
        if (operand.slot >= 0 && outer_[static_cast<std::size_t>(operand.slot)]) return true;
    return false;
  }

  const std::vector<Draft>& drafts_;
  const std::vector<std::int32_t>& waits_;
  const std::vector<bool>& outer_;
  const Lane lane_;
  // The last draft of the rings' lane so far, and the last for which computing has waited.
  std::int32_t busy_until_ = -1, awaited_ = -1;
};

std::size_t op_end(const std::vector<bool>& cuts, std::size_t begin) {
  std::size_t end = begin + 1;
  while (!cuts[end]) ++end;
  return end;
}

}  // namespace

std::vector<bool> in_rings(const std::vector<Draft>& drafts) {
  std::vector<bool> inside;
  for (const Draft& draft : drafts)
    inside.push_back(draft.axis == Axis::kTp && draft.op.lane != Lane::kCompute);
  return inside;
}

// As RankEmitter::emit() has it. Memory that is used again adds nothing that delays: what a ring
// opens waits for what computes no later than what it sends waits for, but for a block behind the
// next product, which is there in time.
std::vector<std::int32_t> ring_waits(const std::vector<Draft>& drafts, std::size_t slots) {
  struct Touched {
    std::int32_t last[2] = {-1, -1};  // by what computes, and by a ring
    std::int32_t sent = -1;
  };
  const Lane lane = ring_lane(drafts);
  std::vector<Touched> touched(slots);
  std::vector<std::int32_t> waits(drafts.size(), -1);
  std::int32_t computed = -1;
  for (std::size_t at = 0; at < drafts.size(); ++at) {
    const Draft& draft = drafts[at];
    const bool computes = draft.op.lane == Lane::kCompute;
    if (!computes && draft.op.lane != lane) continue;
    const auto index = static_cast<std::int32_t>(at);
    std::int32_t& wait = waits[at];
    if (!computes && waits_for_computing(draft)) wait = computed;
    for (const DraftOperand& operand : draft.operands) {
      if (operand.slot < 0) continue;
      Touched& slot = touched[static_cast<std::size_t>(operand.slot)];
      if (operand.opens > 0) slot = {};
      wait = std::max(wait, slot.last[computes ? 1 : 0]);
      if (computes && operand.access != Access::kRead) wait = std::max(wait, slot.sent);
      (passes_on(draft) ? slot.sent : slot.last[computes ? 0 : 1]) = index;
    }
    if (computes) computed = index;
  }
  return waits;
}

bool take_out_rings(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits,
                    const std::vector<bool>& cuts, const std::vector<bool>& outer,
                    std::vector<bool>& inside) {
  RingCheck check(drafts, waits, outer);
  const std::vector<bool> before = inside;
  for (std::size_t begin = 0, end = 0; begin < drafts.size(); begin = end) {
    end = op_end(cuts, begin);
    check.take_out(begin, end, inside);
  }
  return inside != before;
}

bool ring_lane_ends(const std::vector<Draft>& drafts, const std::vector<std::int32_t>& waits) {
  if (drafts.empty()) return true;
  std::vector<bool> inside(drafts.size(), false);
  const std::vector<bool> none;  // is not asked: nothing is inside
  RingCheck check(drafts, waits, none);
  check.take_out(0, drafts.size(), inside);
  return check.is_idle();
}

void add_steps(const std::vector<Draft>& drafts, std::size_t begin, std::size_t end,
               const std::vector<bool>& inside, const std::vector<std::int32_t>& waits,
               Fold& fold) {
  if (std::find(inside.begin() + static_cast<std::ptrdiff_t>(begin),
                inside.begin() + static_cast<std::ptrdiff_t>(end),
                true) == inside.begin() + static_cast<std::ptrdiff_t>(end))
    return;
  const auto same = [](const Op& a, const Op& b) {
    const auto key = [](const Op& of) {
      return std::tuple(of.kind, of.lane, of.group, of.peer, of.collective, of.purpose,
                        of.reduction, of.bytes, of.type);
    };
    return key(a) == key(b);
  };
  std::int32_t parts = 0;
  for (std::size_t at = begin; at < end; ++at) {
    const Op& op = drafts[at].op;
    Fold::Step& step = fold.steps.emplace_back();
    if (waits[at] >= static_cast<std::int32_t>(begin))
      step.after = waits[at] - static_cast<std::int32_t>(begin);
    step.joins = at > begin && joins(drafts, at);
    if (op.kind == OpKind::kCompute) {
      step.part = parts++;
      continue;
    }
    const auto known = std::find_if(fold.moved.begin(), fold.moved.end(),
                                    [&](const Op& moved) { return same(moved, op); });
    step.moves = static_cast<std::int32_t>(known - fold.moved.begin());
    if (known == fold.moved.end()) fold.moved.push_back(op);
  }
}

}  // namespace parallelarium
