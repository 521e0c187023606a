// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/plan/order/order_faults.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

std::string names() {
  std::string text;
  for (const ScheduleInfo& info : schedules()) text += (text.empty() ? "" : ", ") + info.name;
  return text;
}

Message unknown(const std::string& schedule) {
  Message text =
      message("schedule-unknown.built", "There is no schedule “{}”; those of this version are {}.",
              shown(schedule), names());
  text.field = "schedule";
  for (const ScheduleInfo& info : schedules()) text.alternatives.push_back(info.name);
  return text;
}

struct Sizes {
  int ranks, microbatches, chunks, group;
  const ActionTimes& times;
};

struct Generator {
  std::string_view name;
  Sentence summary;
  // check_schedule_sizes must accept these.
  Order (*make)(const Sizes& sizes);
};

// One for each of kScheduleRules, in the same order.
constexpr std::array<Generator, kScheduleRules.size()> kGenerators = {{
    {"naive", Sentence{"schedule-naive", "One micro-batch at a time; every rank but one is idle."},
     [](const Sizes& of) { return naive_order(of.ranks, of.microbatches); }},
    {"gpipe",
     Sentence{"schedule-gpipe",
              "All forwards, then all backwards; every rank holds all micro-batches."},
     [](const Sizes& of) { return gpipe_order(of.ranks, of.microbatches); }},
    {"1f1b",
     Sentence{"schedule-1f1b",
              "One forward, one backward in turn; the bubble of GPipe, at most one micro-batch "
              "held for a "
              "stage and for each that follows."},
     [](const Sizes& of) { return one_f_one_b_order(of.ranks, of.microbatches); }},
    {"interleaved",
     Sentence{"schedule-interleaved",
              "1F1B over several chunks on each rank; the bubble divided by the chunks, for as "
              "many times "
              "more transfers."},
     [](const Sizes& of) {
       return interleaved_order(of.ranks, of.microbatches, of.chunks, of.group);
     }},
    {"zb-h1",
     Sentence{"schedule-zb-h1",
              "1F1B with the backward split in two: weight gradients wait and fill a part of the "
              "bubble, at "
              "the memory of 1F1B."},
     [](const Sizes& of) { return zb_h1_order(of.ranks, of.microbatches); }},
    {"zb-h2",
     Sentence{"schedule-zb-h2",
              "More warm-up forwards and longer waiting weight gradients: no bubble between the "
              "first and "
              "last action of a rank, at twice the memory of 1F1B."},
     [](const Sizes& of) { return zb_h2_order(of.ranks, of.microbatches); }},
    {"zb-1p",
     Sentence{
         "schedule-zb-1p",
         "The automatic schedule of Zero Bubble, which fills gaps with weight gradients by the "
         "times of the model's layers, at the memory of 1F1B."},
     [](const Sizes& of) {
       return zb_automatic_order("zb-1p", of.ranks, of.microbatches, of.ranks, of.times);
     }},
    {"zb-2p",
     Sentence{
         "schedule-zb-2p",
         "The automatic schedule of Zero Bubble at twice the memory of 1F1B, which leaves next "
         "to no bubble."},
     [](const Sizes& of) {
       return zb_automatic_order("zb-2p", of.ranks, of.microbatches, 2 * of.ranks, of.times);
     }},
    {"zb-v",
     Sentence{"schedule-zb-v",
              "Two chunks folded like a V: no bubble between the first and last action of a rank, "
              "at the "
              "memory of 1F1B. Placed for equal forward, input and weight times."},
     [](const Sizes& of) { return zb_v_order(of.ranks, of.microbatches); }},
    {"v-half",
     Sentence{"schedule-v-half",
              "Two chunks folded like a V so that a rank holds about half of the activations of "
              "1F1B, with about half of its bubble."},
     [](const Sizes& of) { return v_half_order(of.ranks, of.microbatches); }},
    {"v-min",
     Sentence{"schedule-v-min",
              "Two chunks folded like a V so that a rank holds about a third of the activations of "
              "1F1B, with about two thirds of its bubble."},
     [](const Sizes& of) { return v_min_order(of.ranks, of.microbatches); }},
    {"dualpipe",
     Sentence{"schedule-dualpipe",
              "Micro-batches from both ends at once, a forward overlapped with a backward; every "
              "stage and "
              "its parameters are held twice."},
     [](const Sizes& of) { return dualpipe_order(of.ranks, of.microbatches); }},
    {"dualpipe-v",
     Sentence{
         "schedule-dualpipe-v",
         "DualPipe cut in half: one V on half as many ranks, each with two chunks of the model."},
     [](const Sizes& of) { return dualpipe_v_order(of.ranks, of.microbatches); }},
}};
static_assert(std::equal(kGenerators.begin(), kGenerators.end(), kScheduleRules.begin(),
                         [](const Generator& generator, const ScheduleRule& rule) {
                           return generator.name == rule.name && generator.make != nullptr;
                         }),
              "every schedule needs a generator of its own, in the order of the rules");

Message mismatch(Message text, const char* field, int found) {
  text.field = field;
  text.alternatives = {std::to_string(found)};
  return text;
}

// Of an order that somebody still builds, which lacks actions even of its own micro-batches: how
// much of it there is.
std::optional<Message> unfinished(const Order& order, int microbatches) {
  int placed = 0;
  bool splits = false;
  for (const auto& actions : order.ranks) {
    placed += static_cast<int>(actions.size());
    for (const Action& action : actions) splits = splits || action.kind == ActionKind::kWeightGrad;
  }
  const int of_each = order.stages * (splits ? 3 : 2);
  if (placed >= order.microbatches * of_each) return std::nullopt;
  const int wanted = microbatches * of_each;
  return message("order-unfinished", "The order has {} of {} actions.", placed, wanted);
}

}  // namespace

const std::vector<ScheduleInfo>& schedules() {
  static const std::vector<ScheduleInfo> kSchedules = [] {
    std::vector<ScheduleInfo> list;
    for (std::size_t at = 0; at < kScheduleRules.size(); ++at) {
      const ScheduleRule& rule = kScheduleRules[at];
      list.push_back({std::string(rule.name), std::string(rule.title),
                      message(kGenerators[at].summary), rule.splits_backward, rule.chunks});
    }
    return list;
  }();
  return kSchedules;
}

Result<Order> make_order(const Schedule& schedule, int ranks, int microbatches, int chunks,
                         int group, const ActionTimes& times, bool may_wait) {
  if (const ScheduleRule* rule = find_schedule_rule(schedule)) {
    if (ranks < 1 || microbatches < 1) {
      return message("order-sizes", "A schedule needs at least one stage and one micro-batch.");
    }
    const Result<void> sizes = check_schedule_sizes(*rule, ranks, microbatches, chunks);
    if (!sizes) return sizes.error();
    return kGenerators[static_cast<std::size_t>(rule - kScheduleRules.data())].make(
        {ranks, microbatches, chunks, group, times});
  }
  const Order* order = schedule.order();
  if (order == nullptr) return unknown(schedule.name());
  const int found = static_cast<int>(order->ranks.size());
  if (ranks > 0 && found != ranks) {
    return mismatch(message("order-mesh", "The order has {} ranks, but PP is {}.", found, ranks),
                    "mesh.pp", found);
  }
  if (microbatches > order->microbatches)
    if (std::optional<Message> how_much = unfinished(*order, microbatches)) return *how_much;
  if (microbatches > 0 && order->microbatches != microbatches) {
    return mismatch(
        message("order-microbatches", "Micro-batches: the order has {}, but {} are set.",
                order->microbatches, microbatches),
        "microbatches", order->microbatches);
  }
  if (chunks > 0 && order->chunks != chunks) {
    return mismatch(
        message("order-chunks.set", "Chunks per rank: the order has {}, but the setting is {}.",
                order->chunks, chunks),
        "chunks", order->chunks);
  }
  const std::vector<Message> wrong = check_order(*order);
  if (wrong.empty() || (may_wait && only_waits(*order))) return *order;
  if (wrong.size() == 1) return wrong.front();
  Message first =
      message("order-faults", "{} It is one of {} faults.", wrong.front(), wrong.size());
  first.kind = wrong.front().kind;
  return refuse(std::move(first), wrong.front().field, wrong.front().alternatives);
}

Result<Order> make_order(const Setup& setup, bool may_wait) {
  return make_order(setup.schedule, setup.mesh.pp, setup.microbatches, setup.chunks,
                    setup.microbatch_group, action_times_of(setup), may_wait);
}

}  // namespace parallelarium
