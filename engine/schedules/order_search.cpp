// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/order_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

namespace parallelarium {

namespace {

// How far every stage is: micro-batches that it has done, in their order.
struct Done {
  std::vector<std::uint16_t> forward, back, weight;
  bool operator==(const Done&) const = default;
};

// A partial order, whose actions were added in the order in which they begin.
struct Partial {
  // When each rank is free, and when what it sent to other ranks arrives, stage by stage. Of two
  // partial orders that have done the same these are as many.
  std::vector<double> times;
  std::int32_t last = -1;  // in the list of steps
  double bound = 0;        // no order that begins so ends earlier

  bool is_no_later_than(const Partial& other) const {
    return std::equal(times.begin(), times.end(), other.times.begin(),
                      [](double x, double y) { return x <= y; });
  }
};

struct Step {
  std::int32_t before = -1;
  std::uint16_t stage = 0;
  ActionKind kind = ActionKind::kForward;
};

struct Node {
  Done done;
  std::vector<Partial> partials;  // none no later than another
};

class Search {
 public:
  Search(const OrderShape& shape, const std::vector<double>& limits, double below,
         std::size_t budget)
      : shape_(shape), below_(below), budget_(budget), stages_(shape.stages.size()) {
    for (std::size_t rank = 0; rank < shape.held.size(); ++rank)
      places_.push_back(rank < limits.size() ? std::floor(limits[rank] / shape.share + 1e-9)
                                             : INFINITY);
  }

  // The steps of the best order in `best`; false where none ends before `below`.
  bool run(std::vector<Step>& best, bool& complete) {
    const std::size_t levels =
        stages_ * static_cast<std::size_t>(shape_.microbatches) * (shape_.splits ? 3 : 2);
    const std::size_t width = is_proved(shape_) ? std::numeric_limits<std::size_t>::max()
                                                : budget_ / (levels * shape_.held.size());
    complete = false;
    if (width < 2) return false;
    complete = true;
    Node first;
    first.done = {std::vector<std::uint16_t>(stages_), std::vector<std::uint16_t>(stages_),
                  std::vector<std::uint16_t>(stages_)};
    first.partials.push_back({std::vector<double>(shape_.held.size())});
    std::vector<Node> level = {std::move(first)};
    for (std::size_t at = 0; at < levels; ++at) {
      std::unordered_map<std::string, std::size_t> known;
      std::vector<Node> next;
      for (const Node& node : level) expand(node, known, next);
      complete = keep(next, width) && complete;
      if (next.empty()) return false;
      level = std::move(next);
    }
    const Partial* shortest = nullptr;
    for (const Node& node : level)
      for (const Partial& partial : node.partials)
        if (shortest == nullptr || end_of(partial) < end_of(*shortest)) shortest = &partial;
    if (shortest == nullptr || end_of(*shortest) >= below_) return false;
    for (std::int32_t step = shortest->last; step >= 0;
         step = steps_[static_cast<std::size_t>(step)].before)
      best.push_back(steps_[static_cast<std::size_t>(step)]);
    std::reverse(best.begin(), best.end());
    return true;
  }

 private:
  static double end_of(const Partial& partial) {
    return *std::max_element(partial.times.begin(), partial.times.end());
  }

  static std::string key_of(const Done& done) {
    std::string key;
    for (const auto* counts : {&done.forward, &done.back, &done.weight})
      key.append(reinterpret_cast<const char*>(counts->data()),
                 counts->size() * sizeof(std::uint16_t));
    return key;
  }

  void expand(const Node& node, std::unordered_map<std::string, std::size_t>& known,
              std::vector<Node>& next) {
    for (std::size_t stage = 0; stage < stages_; ++stage) {
      for (const ActionKind kind :
           {ActionKind::kForward, ActionKind::kInputGrad, ActionKind::kWeightGrad}) {
        if (!may(node.done, kind, stage)) continue;
        Done done = node.done;
        ++counts(done, kind)[stage];
        const auto [entry, fresh] = known.try_emplace(key_of(done), next.size());
        if (fresh) next.push_back({std::move(done), {}});
        Node& to = next[entry->second];
        for (const Partial& partial : node.partials) add(to, node.done, partial, kind, stage);
      }
    }
  }

  static std::vector<std::uint16_t>& counts(Done& done, ActionKind kind) {
    return kind == ActionKind::kForward     ? done.forward
           : kind == ActionKind::kInputGrad ? done.back
                                            : done.weight;
  }

  // kInputGrad stands for the whole backward, too.
  bool may(const Done& done, ActionKind kind, std::size_t stage) const {
    switch (kind) {
      case ActionKind::kForward: {
        if (done.forward[stage] == shape_.microbatches) return false;
        if (stage > 0 && done.forward[stage - 1] == done.forward[stage]) return false;
        const std::size_t rank = shape_.rank_of[stage];
        double held = 1;
        for (const std::size_t own : shape_.held[rank])
          held += done.forward[own] - (shape_.splits ? done.weight[own] : done.back[own]);
        return held <= places_[rank];
      }
      case ActionKind::kInputGrad:
        return done.back[stage] < done.forward[stage] &&
               (stage + 1 == stages_ || done.back[stage + 1] > done.back[stage]);
      default:
        return shape_.splits && done.weight[stage] < done.back[stage];
    }
  }

  bool leaves_rank(std::size_t from, std::size_t to) const {
    return shape_.rank_of[from] != shape_.rank_of[to];
  }
  // What a stage has sent to the next one, or as gradients to the one before, and is not used yet.
  std::size_t sent(const Done& done, std::size_t stage, bool gradients) const {
    if (gradients ? stage == 0 : stage + 1 == stages_) return 0;
    const std::size_t to = gradients ? stage - 1 : stage + 1;
    if (!leaves_rank(stage, to)) return 0;
    const auto& counts = gradients ? done.back : done.forward;
    return std::size_t(counts[stage] - counts[to]);
  }
  // Where in Partial::times the first of them stands.
  std::size_t place(const Done& done, std::size_t stage, bool gradients) const {
    std::size_t at = shape_.held.size();
    for (std::size_t before = 0; before < stage; ++before)
      at += sent(done, before, false) + sent(done, before, true);
    return at + (gradients ? sent(done, stage, false) : 0);
  }

  void add(Node& to, const Done& before, const Partial& from, ActionKind kind, std::size_t stage) {
    const std::size_t rank = shape_.rank_of[stage];
    Partial partial = from;
    std::vector<double>& times = partial.times;
    double begin = times[rank], length = shape_.stages[stage].weight_grad;
    const auto take = [&](std::size_t sender, bool gradients) {
      const auto arrival =
          times.begin() + static_cast<std::ptrdiff_t>(place(before, sender, gradients));
      begin = std::max(begin, *arrival);
      times.erase(arrival);
    };
    const auto send = [&](std::size_t at, double transfer) {
      times.insert(times.begin() + static_cast<std::ptrdiff_t>(at), begin + length + transfer);
    };
    if (kind == ActionKind::kForward) {
      std::size_t end = place(before, stage, false) + sent(before, stage, false);
      if (stage > 0 && leaves_rank(stage, stage - 1)) {
        take(stage - 1, false);
        --end;
      }
      length = shape_.stages[stage].forward;
      if (stage + 1 < stages_ && leaves_rank(stage, stage + 1)) send(end, shape_.transfer(stage));
    } else if (kind == ActionKind::kInputGrad) {
      if (stage + 1 < stages_ && leaves_rank(stage, stage + 1)) take(stage + 1, true);
      length = shape_.back(stage);
      if (stage > 0 && leaves_rank(stage, stage - 1))
        send(place(before, stage, true) + sent(before, stage, true), shape_.transfer(stage - 1));
    }
    times[rank] = begin + length;
    for (double& time : times) time = std::max(time, begin);  // nothing else begins sooner
    partial.bound = bound_of(to.done, partial);
    if (partial.bound >= below_ * (1 - 1e-12)) return;
    for (const Partial& known : to.partials)
      if (known.is_no_later_than(partial)) return;
    to.partials.erase(
        std::remove_if(to.partials.begin(), to.partials.end(),
                       [&](const Partial& known) { return partial.is_no_later_than(known); }),
        to.partials.end());
    steps_.push_back({from.last, static_cast<std::uint16_t>(stage), kind});
    partial.last = static_cast<std::int32_t>(steps_.size()) - 1;
    to.partials.push_back(std::move(partial));
  }

  // What remains of every rank's work, and of the way of each stage's last micro-batch.
  double bound_of(const Done& done, const Partial& partial) const {
    double most = 0;
    for (std::size_t rank = 0; rank < shape_.held.size(); ++rank) {
      double left = partial.times[rank], tail = INFINITY;
      for (const std::size_t stage : shape_.held[rank]) {
        const double forwards = shape_.microbatches - done.forward[stage];
        const double backs = shape_.microbatches - done.back[stage];
        const double weights = shape_.microbatches - done.weight[stage];
        left += forwards * shape_.stages[stage].forward + backs * shape_.back(stage) +
                (shape_.splits ? weights * shape_.stages[stage].weight_grad : 0);
        tail = std::min(tail, shape_.splits || backs == 0 ? 0 : shape_.out[stage]);
        if (forwards > 0)
          most = std::max(most, partial.times[rank] + forwards * shape_.stages[stage].forward +
                                    shape_.trip[stage] + shape_.out[stage]);
        if (backs > 0)
          most =
              std::max(most, partial.times[rank] + backs * shape_.back(stage) + shape_.out[stage]);
      }
      most = std::max(most, left + tail);
    }
    return most;
  }

  // The most promising ones where there are more than `width`; whether all were kept.
  static bool keep(std::vector<Node>& nodes, std::size_t width) {
    std::vector<double> bounds;
    for (const Node& node : nodes)
      for (const Partial& partial : node.partials) bounds.push_back(partial.bound);
    const bool all = bounds.size() <= width;
    if (!all) {
      std::nth_element(bounds.begin(), bounds.begin() + static_cast<std::ptrdiff_t>(width),
                       bounds.end());
      const double worst = bounds[width];
      std::size_t equal = width;  // of those at the border only as many as fit
      for (const Node& node : nodes)
        for (const Partial& partial : node.partials) equal -= partial.bound < worst ? 1 : 0;
      for (Node& node : nodes)
        node.partials.erase(std::remove_if(node.partials.begin(), node.partials.end(),
                                           [&](const Partial& partial) {
                                             if (partial.bound != worst)
                                               return partial.bound > worst;
                                             if (equal == 0) return true;
                                             --equal;
                                             return false;
                                           }),
                            node.partials.end());
    }
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                               [](const Node& node) { return node.partials.empty(); }),
                nodes.end());
    return all;
  }

  const OrderShape& shape_;
  const double below_;
  const std::size_t budget_, stages_;
  std::vector<double> places_;  // by rank: micro-batches of its stages that it may hold
  std::vector<Step> steps_;
};

}  // namespace

OrderShape::OrderShape(const Order& order, std::vector<Durations> durations)
    : stages(std::move(durations)),
      microbatches(order.microbatches),
      splits(splits_backward(order)),
      share(std::min(1.0, static_cast<double>(order.ranks.size()) / order.stages)),
      rank_of(static_cast<std::size_t>(order.stages)) {
  for (std::size_t rank = 0; rank < order.stage_of.size(); ++rank) {
    held.emplace_back();
    for (const int stage : order.stage_of[rank]) {
      held.back().push_back(static_cast<std::size_t>(stage));
      rank_of[static_cast<std::size_t>(stage)] = rank;
    }
  }
  const std::size_t count = stages.size();
  in.assign(count, 0);
  trip.assign(count, 0);
  out.assign(count, splits ? stages[0].weight_grad : 0);
  for (std::size_t stage = 1; stage < count; ++stage) {
    in[stage] = in[stage - 1] + stages[stage - 1].forward + transfer(stage - 1);
    out[stage] = out[stage - 1] + back(stage - 1) + transfer(stage - 1);
  }
  for (std::size_t stage = count; stage-- > 0;) {
    trip[stage] = back(stage);
    if (stage + 1 < count)
      trip[stage] += 2 * transfer(stage) + stages[stage + 1].forward + trip[stage + 1];
  }
}

bool is_proved(const OrderShape& shape) {
  return shape.held.size() <= 3 && shape.microbatches <= 4 &&
         shape.stages.size() <= 2 * shape.held.size();
}

bool splits_backward(const Order& order) {
  for (const auto& rank : order.ranks)
    for (const Action& action : rank)
      if (action.kind == ActionKind::kInputGrad || action.kind == ActionKind::kWeightGrad)
        return true;
  return false;
}

Searched search_orders(const OrderShape& shape, const Order& like,
                       const std::vector<double>& limits, double below, std::size_t budget) {
  Searched searched;
  std::vector<Step> steps;
  searched.found = Search(shape, limits, below, budget).run(steps, searched.complete);
  if (!searched.found) return searched;
  searched.order = like;
  for (auto& line : searched.order.ranks) line.clear();
  Done done = {std::vector<std::uint16_t>(shape.stages.size()),
               std::vector<std::uint16_t>(shape.stages.size()),
               std::vector<std::uint16_t>(shape.stages.size())};
  for (const Step& step : steps) {
    const std::size_t rank = shape.rank_of[step.stage];
    const auto& own = shape.held[rank];
    const bool whole = step.kind == ActionKind::kInputGrad && !shape.splits;
    auto& counts = step.kind == ActionKind::kForward     ? done.forward
                   : step.kind == ActionKind::kInputGrad ? done.back
                                                         : done.weight;
    searched.order.ranks[rank].push_back(
        {whole ? ActionKind::kBackward : step.kind, counts[step.stage]++,
         static_cast<int>(std::find(own.begin(), own.end(), step.stage) - own.begin()), false});
  }
  return searched;
}

}  // namespace parallelarium
