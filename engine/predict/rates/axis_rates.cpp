// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/rates/axis_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/collectives/algorithm_names.h"
#include "engine/plan/machine/nodes.h"
#include "engine/plan/machine/torus.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

constexpr std::size_t kAxes = 6;  // of Axis

struct SentAlong {
  std::int64_t bytes = 0;
  const Group* ring = nullptr;  // the largest group of a collective in which data go round
  bool reduces = false;         // one of them is an all-reduce
};

std::array<SentAlong, kAxes> sent_by_axis(const Prediction& prediction, const Repeats& repeats) {
  const Program& program = prediction.program;
  const auto at = static_cast<std::size_t>(representative_of(program, prediction.setup.mesh, 0));
  const RankProgram& rank = program.ranks[at];
  const auto sent_by = [&](const Op& op, const Group& group) -> std::int64_t {
    if (op.kind == OpKind::kSend) return op.bytes * op.repeat;
    if (op.kind != OpKind::kCollective || group.ranks.size() < 2) return 0;
    if (op.purpose == Purpose::kTokens && !prediction.rows.even())
      return prediction.rows.volume(op, rank.rank).sent * op.repeat;
    const auto place = std::find(group.ranks.begin(), group.ranks.end(), rank.rank);
    return op.repeat * collective_volume(op.collective, op.type, op.bytes,
                                         static_cast<int>(group.ranks.size()),
                                         static_cast<int>(place - group.ranks.begin()))
                           .sent;
  };
  std::array<SentAlong, kAxes> sent{};
  for_each_run_once(repeats, at, rank.ops.size(),
                    [&](std::size_t first, std::size_t last, Nanoseconds, std::int64_t times) {
                      for (std::size_t op = first; op < last; ++op) {
                        const std::int32_t group = rank.ops[op].group;
                        if (group < 0) continue;
                        const Group& of = program.groups[static_cast<std::size_t>(group)];
                        SentAlong& by = sent[static_cast<std::size_t>(of.axis)];
                        by.bytes += times * sent_by(rank.ops[op], of);
                        if (rank.ops[op].kind != OpKind::kCollective ||
                            rank.ops[op].collective == CollectiveKind::kAllToAll)
                          continue;
                        by.reduces |= rank.ops[op].collective == CollectiveKind::kAllReduce;
                        if (!by.ring || by.ring->ranks.size() < of.ranks.size()) by.ring = &of;
                      }
                    });
  return sent;
}

// Of a device, that the group of rank 0 uses at once. A pipeline sends to one neighbour at a time.
int links_inside(const Mesh& mesh, const Nodes& nodes, Axis axis) {
  if (nodes.torus.empty() || axis == Axis::kPp) return 1;
  return std::max(1, torus_reach(nodes.torus, group_of(mesh, axis, 0)).links);
}

double sustained_speed(const Link& link) {
  return link.bytes_per_second.value * link.sustained.value;
}

// Of a group on several nodes. `ring`: it goes round in collectives, no faster than its ranks in a
// node do; else its ranks swap tokens, or send messages to the next.
void note_cards(const Setup& setup, const Nodes& nodes, const Group* ring, AxisRate& rate) {
  const std::vector<int> ranks = ring ? ring->ranks : group_of(setup.mesh, rate.axis, 0);
  const auto cards = [&](const Nodes& on) {
    const NicsOfGroup nics = nics_of(on, ranks, setup.collectives == kOneRing);
    return ring ? nics.rings : rate.axis == Axis::kEp ? nics.swaps : nics.leaving;
  };
  rate.links = cards(nodes);
  Nodes even = nodes;
  even.oversubscription = 1;
  if (rate.links < cards(even)) {
    rate.nodes_per_leaf = nodes.nodes_per_leaf;
    rate.oversubscription = nodes.oversubscription;
  }
  if (!ring || fewest_on_a_node(nodes, ranks) == 1) return;
  if (rate.bytes_per_second() <= sustained_speed(nodes.inside)) return;
  rate.network = rate.link;
  rate.cards = rate.links;
  rate.link = nodes.inside;
  rate.links = 1;
}

std::string capitals(Axis axis) {
  std::string text(name_of(axis));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
  return text;
}

}  // namespace

std::vector<AxisRate> axis_rates(const Prediction& prediction, const Repeats& repeats) {
  const Mesh& mesh = prediction.setup.mesh;
  std::vector<AxisRate> rates;
  if (prediction.machine.local) return rates;
  const Nodes nodes = nodes_of(prediction.setup, prediction.machine);
  const auto sent = sent_by_axis(prediction, repeats);
  for (const AxisReach& reach : axis_reaches(mesh, nodes)) {
    const SentAlong& by = sent[static_cast<std::size_t>(reach.axis)];
    if (by.bytes == 0) continue;
    AxisRate& rate = rates.emplace_back();
    rate.axis = reach.axis;
    rate.sent_bytes = by.bytes;
    rate.between = reach.most_nodes > 1;
    rate.link = rate.between ? nodes.between : nodes.inside;
    if (by.ring && !rate.between) rate.links = links_inside(mesh, nodes, reach.axis);
    if (!rate.between) continue;
    rate.reduced = by.reduces && prediction.machine.in_network_reduction &&
                   prediction.setup.collectives != kOneRing;
    const bool rings = reach.axis != Axis::kPp && reach.axis != Axis::kEp;
    note_cards(prediction.setup, nodes, rings ? by.ring : nullptr, rate);
  }
  return rates;
}

namespace {

Message links_text(double links) {
  return links == std::floor(links) ? figure(fmt::format("{:.0f}", links))
                                    : figure(three_digits(links));
}

// What slows or helps the network beside its rate.
Message with_network(Message said, const AxisRate& rate) {
  if (rate.nodes_per_leaf > 0)
    said = message("axis-rate-leaf",
                   "{}; what leaves a leaf group of {} nodes gets 1/{} of its network cards' rate",
                   std::move(said), rate.nodes_per_leaf, links_text(rate.oversubscription));
  if (rate.reduced)
    said = message("axis-rate-reduced",
                   "{}; switches add up, so that an all-reduce sends its array through the network "
                   "once and not almost twice",
                   std::move(said));
  return said;
}

}  // namespace

Message said_of(const AxisRate& rate) {
  const auto speed = [](double of) { return figure(count_text(of, "B/s")); };
  const Sourced& link = rate.link.bytes_per_second;
  const Sourced& share = rate.link.sustained;
  const auto wire_of = [](const Link& of, bool between) {
    return !of.wire.empty() ? plain(of.wire)
           : between        ? message("axis-rate-network", "the network")
                            : message("axis-rate-node", "links of the node");
  };
  const Message wire = wire_of(rate.link, rate.between && !rate.network);
  Message from = message("axis-rate-link", "{} ({})", speed(link.value), message_of(link.origin));
  if (rate.links != 1)
    from = message("axis-rate-links", "{} links of {}", links_text(rate.links), std::move(from));
  if (share != Sourced{1})
    from = message("axis-rate-share", "{} ({}) of {}", figure(percent_text(share.value)),
                   message_of(share.origin), std::move(from));
  const Message sent = figure(bytes_text(static_cast<double>(rate.sent_bytes)));
  if (rate.network) {
    const double card = sustained_speed(*rate.network);
    Message cards = speed(card * rate.cards);
    if (rate.cards != 1)
      cards = message("axis-rate-cards", "{} ({} links of {})", std::move(cards),
                      links_text(rate.cards), speed(card));
    return with_network(
        message("axis-rate-both",
                "{}: a rank sends {}. Between nodes its whole node sends over {} at {} at most. In "
                "the node all of that passes through each GPU, over {} at {} at most, which limits "
                "it: {}",
                capitals(rate.axis), sent, wire_of(*rate.network, true), std::move(cards), wire,
                speed(rate.bytes_per_second()), std::move(from)),
        rate);
  }
  return with_network(
      message("axis-rate", "{}: a rank sends {} over {} at {} at most: {}", capitals(rate.axis),
              sent, wire, speed(rate.bytes_per_second()), std::move(from)),
      rate);
}

nlohmann::json to_json(const std::vector<AxisRate>& rates) {
  nlohmann::json list = nlohmann::json::array();
  for (const AxisRate& rate : rates) {
    list.push_back({{"axis", name_of(rate.axis)},
                    {"sent_bytes", rate.sent_bytes},
                    {"between_nodes", rate.between},
                    {"network_bytes_per_second",
                     rate.network ? nlohmann::json(sustained_speed(*rate.network) * rate.cards)
                                  : nlohmann::json(nullptr)},
                    {"wire", rate.link.wire},
                    {"links", rate.links},
                    {"link_bytes_per_second", rate.link.bytes_per_second.value},
                    {"origin", text_of(rate.link.bytes_per_second.origin)},
                    {"sustained", rate.link.sustained.value},
                    {"sustained_origin", text_of(rate.link.sustained.origin)},
                    {"bytes_per_second", rate.bytes_per_second()},
                    {"in_network_reduction", rate.reduced}});
    if (rate.links == std::floor(rate.links)) list.back()["links"] = std::int64_t(rate.links);
    if (rate.nodes_per_leaf > 0) {
      list.back()["nodes_per_leaf"] = rate.nodes_per_leaf;
      list.back()["oversubscription"] = rate.oversubscription;
    }
    put_text(list.back(), "sentence", said_of(rate));
  }
  return list;
}

}  // namespace parallelarium
