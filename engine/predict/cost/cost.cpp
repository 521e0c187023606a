// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/collectives/algorithm_names.h"
#include "engine/predict/cost/pieces/work_seconds.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

namespace {

// Peers that NCCL's sends and receives of one group go to at once. Source: NCCL 2.30.7,
// src/include/device.h, NCCL_MAX_DEV_WORK_P2P_PER_BATCH.
constexpr int kPeersAtOnce = 8;

std::int64_t rounded(double seconds) { return static_cast<std::int64_t>(seconds * 1e9 + 0.5); }

// Of rates by numbers of ranks: the fewest that are enough; where none are, the most.
template <class Rate>
bool is_nearer(const Rate& rate, const Rate* nearest, int ranks) {
  if (nearest == nullptr) return true;
  return rate.ranks >= ranks ? nearest->ranks < ranks || rate.ranks < nearest->ranks
                             : nearest->ranks < ranks && rate.ranks > nearest->ranks;
}

double sustained_rate(const Link& link) {
  return link.bytes_per_second.value * link.sustained.value;
}

}  // namespace

Sharing sharing_of(const Setup& setup, const Machine& machine) {
  // Ranks of a rehearsal mostly sleep: none of their lanes waits for a core.
  if (machine.lanes_share_core && setup.run.backend != Backend::kPaced) return Sharing::kCore;
  if (ranks_share_gpu(setup, machine)) return Sharing::kGpu;
  return machine.overlap_slowdown.value > 1 ? Sharing::kOverlap : Sharing::kNone;
}

CostModel::CostModel(const Program& program, const Machine& machine, const Setup& setup,
                     const ExpertRows* rows)
    : rows_(rows),
      folds_(program.folds),
      nodes_(nodes_of(setup, machine)),
      swaps_at_once_(machine.local ? 1 : kPeersAtOnce),
      on_cores_(machine.ranks_share_memory()),
      shares_links_(!machine.local && nodes_.medium == NodeMedium::kLinks),
      one_ring_(setup.collectives == kOneRing),
      in_network_reduction_(machine.in_network_reduction),
      sharing_(sharing_of(setup, machine)),
      overlap_slowdown_(machine.overlap_slowdown.value),
      pairs_(machine.pairs),
      collectives_(machine.collectives),
      times_(machine.collective_times) {
  // Ranks that share a GPU have a host each, so that while one waits for its own others work.
  const int hosts = sharing_ == Sharing::kGpu ? std::max(1, program.world) : 1;
  if (sharing_ == Sharing::kGpu) {
    // NCCL is not between them.
    pairs_.clear();
    collectives_.clear();
    times_.clear();
  } else if (const Result<std::vector<int>> gpus = device_list(setup.run.devices)) {
    gpus_ = *gpus;
    host_message_seconds_ = machine.host_message_seconds.value;
  }
  if (setup.run.slow_rank.factor != 1) {
    slow_factor_ = setup.run.slow_rank.factor;
    const int built = representative_of(program, setup.mesh, setup.run.slow_rank.rank);
    slow_rank_ = program.ranks[static_cast<std::size_t>(built)].rank;
  }
  work_seconds_.reserve(program.works.size());
  for (const auto& works : program.works) {
    double seconds = 0, host = 0;
    for (const Work& work : works) {
      seconds +=
          work_seconds(work, program.shape, machine, storage_of(work, setup), setup.products);
      if (machine.host_seconds.value > 0) host += work_host_seconds(work, program.shape, machine);
    }
    work_seconds_.push_back(std::max(seconds, host / hosts));
  }
  for (const Fold& fold : folds_) {
    std::int64_t sum = 0;
    for (const Fold::Part& part : fold.parts)
      sum += rounded(work_seconds_[static_cast<std::size_t>(part.work)]);
    even_nanoseconds_.push_back(sum);
  }
  for (const Group& group : program.groups) {
    const Link& link = slowest_link(group.ranks);
    const int on_node = fewest_on_a_node(nodes_, group.ranks);
    const TorusReach torus = torus_of(group.ranks);
    const int links = std::max(1, torus.links);
    const bool one_node = on_node == static_cast<int>(group.ranks.size());
    groups_.push_back({link.latency_seconds.value, sustained_rate(link) * (one_node ? links : 1),
                       static_cast<int>(group.ranks.size()), on_node,
                       one_node ? NicsOfGroup{} : nics_of(nodes_, group.ranks, one_ring_),
                       leaving_of(setup, group, on_node), sustained_rate(nodes_.inside) * links,
                       torus, group.axis == Axis::kPp});
  }
  reduce_seconds_ = over(1, combine_rate(machine, DataType::kF32));
  reduce_half_seconds_ = over(1, combine_rate(machine, DataType::kBf16));
}

// Of those on the node of the first.
TorusReach CostModel::torus_of(const std::vector<int>& ranks) const {
  if (nodes_.torus.empty()) return {};
  std::vector<int> places;
  for (const int rank : ranks)
    if (nodes_.node_of(rank) == nodes_.node_of(ranks.front()))
      places.push_back(rank % nodes_.devices);
  return torus_reach(nodes_.torus, places);
}

int CostModel::hops_between(int a, int b) const {
  if (nodes_.torus.empty() || nodes_.node_of(a) != nodes_.node_of(b)) return 1;
  return torus_hops(nodes_.torus, a % nodes_.devices, b % nodes_.devices);
}

double CostModel::nics_between(const Op& op, int rank) const {
  if (nodes_.node_of(rank) == nodes_.node_of(op.peer)) return 1;
  NicsOfGroup nics;
  if (op.group >= 0)
    nics = groups_[static_cast<std::size_t>(op.group)].nics;
  else
    nics = nics_of(nodes_, {std::min(rank, op.peer), std::max(rank, op.peer)}, one_ring_);
  return nodes_.leaf_of(rank) == nodes_.leaf_of(op.peer) ? nics.message : nics.leaving;
}

// Messages one after another in a collective of n ranks: a ring's, until a tree needs fewer and may
// be taken.
double CostModel::messages_of(CollectiveKind kind, int n) const {
  const double tree = 2 * std::ceil(std::log2(static_cast<double>(n)));
  const double once = one_ring_ ? n - 1 : std::min<double>(n - 1, tree);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * once;
    case CollectiveKind::kAllToAll:
      return (n - 2) / swaps_at_once_ + 1;
    default:
      return once;
  }
}

// A token goes to each node once. Of `k` experts that it chooses among those of `reach` nodes, with
// even routing, a node holds none with the probability of `k` draws without replacement from the
// others. Source of the limit: DeepSeek-V3 (arXiv 2412.19437), section 2.1.2.
double CostModel::leaving_of(const Setup& setup, const Group& group, int on_node) {
  const Experts& experts = setup.model.experts;
  if (setup.expert_dispatch != ExpertDispatch::kOncePerNode || group.axis != Axis::kEp) return 1;
  const double nodes = static_cast<double>(group.ranks.size()) / on_node;
  double reach = nodes;
  if (experts.groups > 0)
    reach = std::clamp(experts.group_limit * std::max(1.0, nodes / experts.groups), 1.0, nodes);
  const double each = experts.count / nodes, all = each * reach;
  double none = 1;
  for (int drawn = 0; drawn < experts.top_k; ++drawn)
    none *= std::max(0.0, all - each - drawn) / std::max(1.0, all - drawn);
  return reach * (1 - none) / experts.top_k;
}

// Of the nodes that the group spans; all of its ranks where it spans one.
const Link& CostModel::link_between(int a, int b) const {
  const auto gpu_of = [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    return at < gpus_.size() ? gpus_[at] : rank;
  };
  for (const PairLink& pair : pairs_)
    if (pair.from == gpu_of(a) && pair.to == gpu_of(b)) return pair.link;
  return nodes_.node_of(a) == nodes_.node_of(b) ? nodes_.inside : nodes_.between;
}

const Link& CostModel::slowest_link(const std::vector<int>& ranks) const {
  if (ranks.empty()) return nodes_.inside;
  // The ranks ascend, so the first and the last tell whether all share a node.
  const Link* slowest = &link_between(ranks.front(), ranks.back());
  for (std::size_t i = 0; i < ranks.size() && !pairs_.empty(); ++i) {
    for (std::size_t j = i + 1; j < ranks.size(); ++j) {
      const Link& link = link_between(ranks[i], ranks[j]);
      if (link.bytes_per_second.value < slowest->bytes_per_second.value) slowest = &link;
    }
  }
  return *slowest;
}

const Link* CostModel::measured(CollectiveKind kind, int ranks) const {
  const CollectiveRate* nearest = nullptr;
  for (const CollectiveRate& rate : collectives_) {
    if (rate.collective != name_of(kind) || rate.link.bytes_per_second.value <= 0) continue;
    if (is_nearer(rate, nearest, ranks)) nearest = &rate;
  }
  // More ranks than cores are never run at their own speed: their messages are counted instead.
  if (nearest == nullptr || (on_cores_ && nearest->ranks < ranks)) return nullptr;
  return &nearest->link;
}

double CostModel::message_seconds(const Link& link, double bytes, bool of_stages) const {
  const double lasting = over(bytes, sustained_rate(link));
  if (of_stages && &link == &nodes_.inside)
    for (const CollectiveTimes& times : times_)
      if (times.collective == kSendTimes)
        return std::max(times.at(0),
                        times.at(bytes) + lasting - over(bytes, times.link_bytes_per_second));
  return link.latency_seconds.value + lasting;
}

std::int64_t CostModel::launch_nanoseconds(const Op& op, int rank) const {
  if (op.lane == Lane::kCompute || op.peer < 0) return 0;
  if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) return 0;
  if (&link_between(rank, op.peer) != &nodes_.inside) return 0;
  for (const CollectiveTimes& times : times_)
    if (times.collective == kSendTimes) return rounded(times.at(0) / 2);
  return 0;
}

const CollectiveTimes* CostModel::timed(CollectiveKind kind, const GroupCost& group) const {
  if (group.on_node != group.size) return nullptr;
  const CollectiveTimes* nearest = nullptr;
  for (const CollectiveTimes& times : times_)
    if (times.collective == name_of(kind) && is_nearer(times, nearest, group.size))
      nearest = &times;
  return nearest;
}

// What a step's links do not sustain is added to a lone collective's time; so are the messages of
// more ranks than it was measured among.
double CostModel::timed_seconds(const CollectiveTimes& times, CollectiveKind kind, double bytes,
                                const GroupCost& group) const {
  const double slower =
      over(bytes, group.bytes_per_second) - over(bytes, times.link_bytes_per_second);
  const double more = messages_of(kind, group.size) - messages_of(kind, times.ranks);
  return std::max(times.at(0), times.at(bytes) + slower) + std::max(0.0, more) * group.latency;
}

// Ranks take turns on the GPU.
double CostModel::within_gpu_seconds(const Op& op, int ranks) const {
  const DirectWork work = direct_work(op.collective, ranks);
  const double bytes = work.chunks * static_cast<double>(op.bytes) / ranks;
  return work.launches * nodes_.inside.latency_seconds.value +
         over(bytes, 2 * nodes_.inside.bytes_per_second.value);
}

bool CostModel::is_reduced(CollectiveKind kind, const GroupCost& group) const {
  return in_network_reduction_ && !one_ring_ && group.on_node < group.size &&
         (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter);
}

// What switches add up goes to them and back, as NCCL counts it for CollNet: in a node its parts
// are summed before and handed out after. Source: NCCL 2.30.7, src/graph/tuning.cc.
double CostModel::latency_of(CollectiveKind kind, const GroupCost& group) const {
  const int ways = kind == CollectiveKind::kAllReduce ? 2 : 1;  // scattered, then gathered
  if (is_reduced(kind, group))
    return group.latency + (group.on_node > 1 ? ways : 0) * nodes_.inside.latency_seconds.value;
  const bool in_torus = group.torus.links > 0 && group.on_node == group.size;
  return (in_torus ? ways * group.torus.hops : messages_of(kind, group.size)) * group.latency;
}

// Of what each rank sends. A ring through several nodes leaves each of them by the cards that
// nics_of() says, until the links inside are slower. Switches that add up (SHARP) take an array
// from each node once and bring its sum back once, where a ring carries it almost twice each way;
// of a reduce-scatter they bring a rank its own part alone, which leaves the way in to others.
// Source: Graham et al. 2020 (SHARP Streaming-Aggregation), whose all-reduces go at 95 % of the
// network's bandwidth; NVIDIA's manual of its SHARP plugin for NCCL: a reduce-scatter then overlaps
// with an all-gather. In an all-to-all each rank sends to the other nodes by its own card: tokens
// once to a node where the Setup says so. The links inside then bring every copy to its expert,
// meanwhile.
LinkSeconds CostModel::use_of(CollectiveKind kind, Purpose purpose, double bytes,
                              const GroupCost& group) const {
  if (group.on_node == group.size) {
    if (kind == CollectiveKind::kAllToAll && group.torus.links > 0) {
      const double whole = bytes * group.size / (group.size - 1);  // with what stays
      return {over(whole * group.torus.swap, sustained_rate(nodes_.inside)), 0, 0};
    }
    return {over(bytes, group.bytes_per_second), 0, 0};
  }
  const double rate = group.inside, card = group.bytes_per_second;
  const double others = group.size - 1;
  if (kind != CollectiveKind::kAllToAll) {
    const double rings = over(bytes, group.nics.rings * card);
    if (!is_reduced(kind, group)) return {over(bytes, rate), rings, rings};
    if (kind == CollectiveKind::kReduceScatter)
      return {over(bytes, rate), rings, rings * std::min(1.0, group.on_node / others)};
    // Once where a ring sends 2 (n - 1) / n of the array; in a node scattered and gathered.
    const double once = rings * group.size / (2 * others);
    const double inside = bytes * group.size / others * (group.on_node - 1) / group.on_node;
    return {over(inside, rate), once, once};
  }
  double leaving = (group.size - group.on_node) / others, inside = 1 - leaving;
  if (purpose == Purpose::kTokens && group.leaving != 1) {
    leaving *= group.leaving;
    inside = group.size / others * (group.on_node - 1) / group.on_node;
  }
  const double swapped = over(bytes * leaving, group.nics.swaps * card);
  return {over(bytes * inside, rate), swapped, swapped};
}

LinkSeconds CostModel::link_seconds(const Op& op, int rank) const {
  if (!shares_links_ || op.kind == OpKind::kCompute) return {};
  if (op.kind != OpKind::kCollective) {
    const Link& link = link_between(rank, op.peer);
    const double seconds = over(static_cast<double>(op.bytes), sustained_rate(link));
    if (&link == &nodes_.between) {
      const double card = seconds * op.repeat / nics_between(op, rank);
      return {0, card, card};
    }
    const int links = nodes_.torus.empty() ? 1 : torus_reach(nodes_.torus, {0}).of_links;
    return {seconds * hops_between(rank, op.peer) * op.repeat / std::max(1, links), 0, 0};
  }
  if (op.group < 0) return {};
  const GroupCost& group = groups_[static_cast<std::size_t>(op.group)];
  if (group.size <= 1) return {};
  const Volume volume = collective_volume(op.collective, op.type, op.bytes, group.size, 0);
  LinkSeconds use = use_of(op.collective, op.purpose,
                           static_cast<double>(std::max(volume.sent, volume.received)), group);
  if (group.on_node == 1) use.inside = 0;  // no two of its ranks share a node
  if (group.torus.links > 0) use.inside *= double(group.torus.links) / group.torus.of_links;
  const double times = op.repeat * (rows_ == nullptr ? 1 : rows_->share(op, rank));
  return {use.inside * times, use.card_out * times, use.card_in * times};
}

double CostModel::collective_seconds(const Op& op) const {
  if (op.group < 0) return 0;
  const GroupCost& group = groups_[static_cast<std::size_t>(op.group)];
  if (group.size <= 1) return 0;
  if (sharing_ == Sharing::kGpu) return within_gpu_seconds(op, group.size) * op.repeat;
  const Volume volume = collective_volume(op.collective, op.type, op.bytes, group.size, 0);
  const auto bytes = static_cast<double>(std::max(volume.sent, volume.received));
  if (const Link* link = measured(op.collective, group.size))
    return std::max(link->latency_seconds.value + bytes / link->bytes_per_second.value,
                    host_message_seconds_) *
           op.repeat;
  if (const CollectiveTimes* times = timed(op.collective, group))
    return std::max(timed_seconds(*times, op.collective, bytes, group), host_message_seconds_) *
           op.repeat;
  const LinkSeconds use = use_of(op.collective, op.purpose, bytes, group);
  double seconds =
      latency_of(op.collective, group) + std::max({use.inside, use.card_out, use.card_in});
  if (op.reduction != Reduction::kNone) {
    const double array = static_cast<double>(op.bytes) / static_cast<double>(size_of(op.type));
    seconds += reduce_seconds(op.type) * array * (group.size - 1) / group.size;
  }
  return std::max(seconds, host_message_seconds_) * op.repeat;
}

RateKind CostModel::rate_kind_of_message(const Op& op, int rank) const {
  if (op.kind == OpKind::kCollective) {
    const int size = op.group < 0 ? 1 : groups_[static_cast<std::size_t>(op.group)].size;
    const auto same = [&](const CollectiveRate& rate) {
      return rate.ranks == size && rate.collective == name_of(op.collective);
    };
    if (std::any_of(collectives_.begin(), collectives_.end(), same)) return RateKind::kMeasured;
    if (measured(op.collective, size) != nullptr) return RateKind::kInterpolated;
    const bool known = op.group >= 0 && timed(op.collective, groups_[op.group]) != nullptr;
    return known ? RateKind::kInterpolated : RateKind::kAssumed;
  }
  const Sourced& rate = link_between(rank, op.peer).bytes_per_second;
  return is_measured(rate.origin) ? RateKind::kMeasured : RateKind::kAssumed;
}

double CostModel::seconds(const Op& op, int rank) const {
  if (op.fold >= 0 && op.kind == OpKind::kCompute)
    return static_cast<double>(nanoseconds(op, rank)) * 1e-9;
  const double seconds = even_seconds(op, rank);
  return rows_ == nullptr ? seconds : seconds * rows_->share(op, rank);
}

std::int64_t CostModel::nanoseconds(const Op& op, int rank) const {
  if (op.kind == OpKind::kCompute && op.fold >= 0) {
    if ((rows_ == nullptr || rows_->even()) && slowness(rank) == 1)
      return even_nanoseconds_[static_cast<std::size_t>(op.fold)];
    std::int64_t sum = 0;
    for (const Fold::Part& part : folds_[static_cast<std::size_t>(op.fold)].parts)
      sum += nanoseconds(op_of(part, op), rank);
    return sum;
  }
  return rounded(seconds(op, rank) / op.repeat) * op.repeat;
}

double CostModel::even_seconds(const Op& op, int rank) const {
  switch (op.kind) {
    case OpKind::kCompute:
      return op.work < 0 ? 0 : work_seconds_[static_cast<std::size_t>(op.work)] * slowness(rank);
    case OpKind::kSend:
    case OpKind::kRecv: {
      const Link& link = link_between(rank, op.peer);
      // Both sides of a transfer take the longer time, so the receiver alone may count this.
      const double combining =
          op.reduction == Reduction::kNone
              ? 0
              : reduce_seconds(op.type) * static_cast<double>(op.bytes / size_of(op.type));
      // Along a torus each device passes on what its neighbours send as far.
      const int hops = hops_between(rank, op.peer);
      const double passing = (hops - 1) * link.latency_seconds.value;
      const bool of_stages = op.lane == Lane::kPipeline || op.group < 0 ||
                             groups_[static_cast<std::size_t>(op.group)].of_stages;
      const double carried = static_cast<double>(op.bytes) * hops / nics_between(op, rank);
      const double message = message_seconds(link, carried, of_stages);
      return std::max(message + passing + combining, host_message_seconds_) * op.repeat;
    }
    case OpKind::kCollective:
      return collective_seconds(op);
  }
  return 0;
}

}  // namespace parallelarium
