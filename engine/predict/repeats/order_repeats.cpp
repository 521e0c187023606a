// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/repeats/order_repeats.h"

#include <algorithm>

#include "engine/passes/build.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

bool has_rounds(const Setup& setup) { return setup.schedule == Schedule("interleaved"); }

// Micro-batches of a round, after which an Order does the same again.
int round_of(const Setup& setup) {
  return has_rounds(setup)
             ? interleaved_round(setup.mesh.pp, setup.microbatches, setup.microbatch_group)
             : 1;
}

bool same_action(const Action& a, const Action& b, int later) {
  return a.kind == b.kind && a.chunk == b.chunk && a.microbatch + later == b.microbatch &&
         a.overlapped_with_next == b.overlapped_with_next;
}

// Writes down what a Program gets of each rank, one after another.
class StepList : public NominalSink {
 public:
  StepList(const Order& order, NominalSteps& steps) : order_(order), steps_(steps) {
    steps.ranks.resize(order.ranks.size());
    steps.starts.resize(order.ranks.size());
  }
  bool is_paired(int, std::size_t) const override { return false; }
  void start(int rank, std::size_t index, bool) override {
    const auto at = static_cast<std::size_t>(rank);
    const Action& action = order_.ranks[at][index];
    steps_.starts[at].push_back(steps_.ranks[at].size());
    steps_.ranks[at].push_back({NominalStep::What::kStart, action.kind, false, action.microbatch,
                                action.chunk, action.chunk, -1});
  }
  void transfer(const NominalTransfer& moved) override {
    NominalStep step{
        NominalStep::What::kSend, moved.action->kind, moved.exchanged, moved.action->microbatch,
        moved.action->chunk,      moved.to_chunk,     moved.to};
    if (moved.from == moved.to) step.what = NominalStep::What::kStay;
    steps_.ranks[static_cast<std::size_t>(moved.from)].push_back(step);
    if (moved.from == moved.to) return;
    step.what = NominalStep::What::kReceive;
    step.peer = moved.from;
    steps_.ranks[static_cast<std::size_t>(moved.to)].push_back(step);
  }

 private:
  const Order& order_;
  NominalSteps& steps_;
};

// Whether `all` are `fewer` with steps [begin, cut) so many times more behind themselves. A step is
// an action or a NominalStep.
template <class Step>
bool repeated(const std::vector<Step>& all, const std::vector<Step>& fewer, std::size_t begin,
              std::size_t cut, const OrderRepeats& repeats) {
  const std::size_t length = cut - begin, times = static_cast<std::size_t>(repeats.times);
  if (all.size() != fewer.size() + times * length) return false;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const std::size_t passed = at < cut ? 0 : std::min((at - cut) / length + 1, times);  // bodies
    Step expected = fewer[at - passed * length];
    expected.microbatch += static_cast<int>(passed) * repeats.microbatches;
    if (!(expected == all[at])) return false;
  }
  return true;
}

// Whether steps [first, second) are those of [second, end), so many micro-batches later.
bool repeats_itself(const std::vector<NominalStep>& steps, std::size_t first, std::size_t second,
                    std::size_t end, int microbatches) {
  if (second - first != end - second) return false;
  for (std::size_t at = first; at < second; ++at) {
    NominalStep expected = steps[at];
    expected.microbatch += microbatches;
    if (!(expected == steps[at + second - first])) return false;
  }
  return true;
}

// The actions of a line between which it repeats itself, around its middle.
struct AlikeActions {
  std::size_t first = 0, last = 0;
};
AlikeActions alike_actions(const std::vector<Action>& line, std::size_t middle, std::size_t length,
                           int microbatches) {
  const auto same = [&](std::size_t at) {
    return same_action(line[at - length], line[at], microbatches);
  };
  AlikeActions alike{middle, middle};
  while (alike.last < line.size() && alike.last >= length && same(alike.last)) ++alike.last;
  while (alike.first > length && same(alike.first - 1)) --alike.first;
  alike.first -= std::min(alike.first, length);
  return alike;
}

// A few cuts by which the Order may be the shorter one repeated, the latest first.
std::vector<OrderRepeats> possible_cuts(const Order& order, const Order& shorter,
                                        int microbatches) {
  OrderRepeats repeats;
  repeats.microbatches = microbatches;
  repeats.times = (order.microbatches - shorter.microbatches) / repeats.microbatches;
  const std::size_t ranks = order.ranks.size();
  if (shorter.ranks.size() != ranks || shorter.stage_of != order.stage_of) return {};
  // By rank and micro-batch, the action behind its first backward on the rank; 0: none.
  std::vector<std::vector<std::size_t>> behind(
      ranks, std::vector<std::size_t>(static_cast<std::size_t>(shorter.microbatches), 0));
  std::vector<AlikeActions> alike;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::vector<Action>& line = shorter.ranks[rank];
    const std::size_t more = order.ranks[rank].size() - line.size();
    const auto times = static_cast<std::size_t>(repeats.times);
    if (order.ranks[rank].size() < line.size() || more == 0 || more % times != 0) return {};
    for (std::size_t at = 0; at < line.size(); ++at) {
      const bool backward =
          line[at].kind == ActionKind::kBackward || line[at].kind == ActionKind::kInputGrad;
      std::size_t& known = behind[rank][static_cast<std::size_t>(line[at].microbatch)];
      if (backward && known == 0) known = at + 1;
    }
    const std::size_t length = more / times;
    const std::size_t middle = behind[rank][behind[rank].size() / 2];
    if (middle < length) return {};
    alike.push_back(alike_actions(line, middle, length, repeats.microbatches));
    repeats.ranks.push_back({0, length});
  }
  // All ranks are cut behind one micro-batch. Some behind it are alike, too: the last forwards may
  // be folded unlike others, since their backwards add up gradients.
  constexpr std::size_t kBehind = 4;
  const auto cut_behind = [&](std::size_t last) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t length = repeats.ranks[rank].length;
      const std::size_t cut = repeats.ranks[rank].cut = behind[rank][last];
      const std::size_t more = kBehind * length / static_cast<std::size_t>(microbatches);
      if (cut + length + more > alike[rank].last || cut < alike[rank].first + 2 * length)
        return false;
    }
    return true;
  };
  std::vector<std::size_t> fitting;
  for (std::size_t last = behind.front().size(); last-- > 0;)
    if (cut_behind(last)) fitting.push_back(last);
  constexpr std::size_t kCuts = 3;
  std::vector<OrderRepeats> cuts;
  for (std::size_t part = 0; part < std::min(kCuts, fitting.size()); ++part) {
    cut_behind(fitting[part * fitting.size() / kCuts]);
    cuts.push_back(repeats);
  }
  return cuts;
}

}  // namespace

bool may_repeat(const Setup& setup) {
  return find_schedule_rule(setup.schedule) != nullptr && setup.skew == 0 &&
         !setup.offload_activations && !(setup.overlap_experts && setup.mesh.ep > 1);
}

std::optional<Order> shorter_order(const Setup& setup, int dropped) {
  // Its rounds are those of the whole step, even where fewer micro-batches would have others.
  const int group = has_rounds(setup) ? round_of(setup) : setup.microbatch_group;
  Result<Order> shorter = make_order(setup.schedule, setup.mesh.pp, setup.microbatches - dropped,
                                     setup.chunks, group, action_times_of(setup));
  if (!shorter) return std::nullopt;
  return std::move(*shorter);
}

NominalSteps nominal_steps(const Order& order, const std::vector<NominalRank>& ranks,
                           std::int64_t boundary_bytes) {
  NominalSteps steps;
  StepList list(order, steps);
  walk_nominally(order, ranks, boundary_bytes, list);
  return steps;
}

int repeating_microbatches(const Setup& setup, const Order& order, const NominalSteps& steps) {
  const int round = round_of(setup), most = 2 * setup.mesh.pp * round;
  for (int microbatches = round; microbatches <= most; microbatches += round) {
    bool same = true;
    for (std::size_t rank = 0; rank < order.ranks.size() && same; ++rank) {
      const std::vector<std::size_t>& starts = steps.starts[rank];
      const std::size_t actions = order.ranks[rank].size() *
                                  static_cast<std::size_t>(microbatches) /
                                  static_cast<std::size_t>(order.microbatches);
      const std::size_t middle = starts.size() / 2;
      if (actions == 0 || middle + 2 * actions >= starts.size()) return 0;
      same = repeats_itself(steps.ranks[rank], starts[middle], starts[middle + actions],
                            starts[middle + 2 * actions], microbatches);
    }
    if (same) return microbatches;
  }
  return 0;
}

std::vector<OrderRepeats> order_repeats(const Order& order, const NominalSteps& steps,
                                        const Order& shorter, const NominalSteps& fewer,
                                        int microbatches) {
  std::vector<OrderRepeats> cuts = possible_cuts(order, shorter, microbatches);
  std::erase_if(cuts, [&](const OrderRepeats& repeats) {
    for (std::size_t rank = 0; rank < repeats.ranks.size(); ++rank) {
      const auto [cut, length] = repeats.ranks[rank];
      const std::vector<std::size_t>& starts = fewer.starts[rank];
      if (!repeated(steps.ranks[rank], fewer.ranks[rank], starts[cut - length], starts[cut],
                    repeats))
        return true;
    }
    return false;
  });
  return cuts;
}

std::optional<RepeatedOrder> repeated_order(const Setup& setup) {
  // Enough for most schedules; what goes in and out takes as many as there are stages.
  constexpr int kPipelines = 2, kBodies = 4;
  const int body = round_of(setup), most = setup.microbatches / 2;
  int kept = kPipelines * setup.mesh.pp + kBodies * body;
  if (kept > most || find_schedule_rule(setup.schedule) == nullptr) return std::nullopt;
  const Result<Order> order = make_order(setup);
  if (!order) return std::nullopt;
  for (; kept <= most; kept += std::max(body, kept / 4)) {
    std::optional<Order> shorter = shorter_order(setup, (setup.microbatches - kept) / body * body);
    if (!shorter) return std::nullopt;
    for (OrderRepeats& repeats : possible_cuts(*order, *shorter, body)) {
      bool same = true;
      for (std::size_t rank = 0; rank < repeats.ranks.size() && same; ++rank) {
        const auto [cut, length] = repeats.ranks[rank];
        same = repeated(order->ranks[rank], shorter->ranks[rank], cut - length, cut, repeats);
      }
      if (same) return RepeatedOrder{std::move(*shorter), std::move(repeats)};
    }
  }
  return std::nullopt;
}

}  // namespace parallelarium
