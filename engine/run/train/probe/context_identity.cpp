// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/context_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/plan/layer/layer_steps.h"
#include "engine/run/train/probe/probe_whole.h"

namespace parallelarium {

namespace {

bool is_over(const std::vector<Axis>& axes, Axis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool same_places(const OpTensor& a, const OpTensor& b) {
  for (std::size_t d = 0; d < std::min(a.dimensions.size(), b.dimensions.size()); ++d) {
    const std::vector<ChunkRange> left = a.dimensions[d].held(), right = b.dimensions[d].held();
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ChunkRange& x, const ChunkRange& y) {
                      return x.begin == y.begin && x.end == y.end;
                    }))
      return false;
  }
  return true;
}

// Positions are turned back behind what CP sends: "dk-turned" is "dk" there.
constexpr std::string_view kTurned = "-turned";

bool is_turned(const std::string& name) { return name.ends_with(kTurned); }

std::string turned_back(const std::string& name) {
  return is_turned(name) ? name.substr(0, name.size() - kTurned.size()) : name;
}

class ContextCheck {
 public:
  ContextCheck(const LayerSteps& layer, int step, const std::vector<ProbedRank>& probes,
               const std::vector<ProbedRank>& one_rank)
      : layer_(layer), step_(step), probes_(probes), one_rank_(one_rank) {}

  std::vector<ProbedIdentity> check() {
    for (const ContextMove& move : layer_.context.moves) {
      if (at(move.step).kind == LayerStepKind::kCollective)
        check_collective(move.step);
      else if (move.gradient)
        check_ring_sums(move);
      else
        check_ring(move);
    }
    if (!layer_.choice.backward && layer_.context.drawn()) check_outputs();
    return std::move(found_);
  }

 private:
  const LayerStep& at(int step) const { return layer_.steps[static_cast<std::size_t>(step)]; }
  Probe probe_of(int step) const {
    return {layer_.choice.layer, at(step).piece, layer_.choice.microbatch, at(step).phase, step_};
  }
  bool computes(int step) const {
    return at(step).kind == LayerStepKind::kCompute && !at(step).ranks.front().tensors.empty();
  }
  const ProbedTensor* seen(const Probe& probe, const std::string& name, int rank) const {
    return probed_tensor(probes_, probe, name, rank);
  }

  // What the left piece leaves and the right one finds, though at other places or added up.
  std::vector<std::string> exchanged(const Probe& left, const Probe& right) const {
    std::vector<std::string> names;
    const int rank = layer_.ranks.front().rank;
    for (const ProbedRank& probed : probes_) {
      if (probed.rank != rank || !(probed.probe == left)) continue;
      for (const ProbedTensor& before : probed.tensors) {
        const ProbedTensor* after = seen(right, turned_back(before.what.name), rank);
        if (after && before.what.written && !after->what.written &&
            (is_over(before.what.partial, Axis::kCp) || !same_places(before.what, after->what)))
          names.push_back(before.what.name);
      }
    }
    return names;
  }

  bool check_between(int step, const Probe& left, const Probe& right) {
    const std::vector<std::string> names = exchanged(left, right);
    if (names.empty()) return false;
    ProbedIdentity identity;
    identity.kind = at(step).collective == CollectiveKind::kAllToAll ? IdentityKind::kTurned
                                                                     : IdentityKind::kShards;
    identity.collective = at(step).collective;
    identity.layer_step = step;
    identity.before = left;
    identity.after = right;
    std::vector<std::string> found;
    for (const std::string& name : names) found.push_back(turned_back(name));
    if (compare(identity, names, found)) keep(std::move(identity));
    return true;
  }

  // The nearest pieces on both sides between which tensors change their places. What a backward
  // gathers once more, the forward's QKV made.
  void check_collective(int step) {
    const int count = static_cast<int>(layer_.steps.size());
    for (int right = step + 1; right < count; ++right) {
      if (!computes(right)) continue;
      for (int left = step; left-- > 0;)
        if (computes(left) && check_between(step, probe_of(left), probe_of(right))) return;
      const Probe forward{layer_.choice.layer, Piece::kQkv, layer_.choice.microbatch,
                          Phase::kForward, step_};
      if (layer_.choice.backward && check_between(step, forward, probe_of(right))) return;
    }
  }

  // What ranks have in one round they find with their left neighbour's in the next.
  void check_ring(const ContextMove& move) {
    const auto& rounds = layer_.context.rounds;
    if (move.round + 1 >= static_cast<int>(rounds.size())) return;
    const auto names = [&](int round) {
      const std::string suffix = round == 0 ? std::string() : fmt::format("-step-{}", round + 1);
      return std::vector<std::string>{"k" + suffix, "v" + suffix};
    };
    ProbedIdentity identity;
    identity.kind = IdentityKind::kRing;
    identity.layer_step = move.step;
    identity.round = move.round;
    identity.before = identity.after = probe_of(rounds[static_cast<std::size_t>(move.round)].step);
    if (compare(identity, names(move.round), names(move.round + 1))) keep(std::move(identity));
  }

  // The sums that ranks have after one round their next neighbours find in the next, and after the
  // last round where they are added to the rank's own.
  void check_ring_sums(const ContextMove& move) {
    const auto& rounds = layer_.context.rounds;
    const auto round = static_cast<std::size_t>(move.round);
    ProbedIdentity identity;
    identity.kind = IdentityKind::kRingSums;
    identity.layer_step = move.step;
    identity.round = move.round;
    identity.home = round + 1 == rounds.size();
    identity.before = identity.after = probe_of(rounds[round].step);
    if (identity.home) identity.after.piece = Piece::kPermute;
    for (const LayerRank& rank : layer_.ranks)
      for (const char* name : {"dk", "dv"})
        if (!compare_with_next(identity, rank, name)) return;
    for (const LayerRank& rank : layer_.ranks) identity.ranks.push_back(rank.rank);
    keep(std::move(identity));
  }

  bool compare_with_next(ProbedIdentity& identity, const LayerRank& rank, const char* name) const {
    const auto next =
        std::find_if(layer_.ranks.begin(), layer_.ranks.end(), [&](const LayerRank& other) {
          Coordinates at = rank.at;
          at.cp = (at.cp + 1) % static_cast<int>(layer_.context.blocks_of.size());
          return other.at == at;
        });
    if (next == layer_.ranks.end()) return false;
    // Learned positions are not turned.
    for (const std::string_view turned : {std::string_view(), kTurned}) {
      const std::string stem = std::string(name).append(turned);
      const std::string left = fmt::format("{}-step-{}", stem, identity.round + 1);
      const std::string right =
          identity.home ? stem + "-came" : fmt::format("{}-came-step-{}", stem, identity.round + 2);
      const ProbedTensor* made = seen(identity.before, left, rank.rank);
      const ProbedTensor* came = seen(identity.after, right, next->rank);
      if (!made || !came || made->size() != came->size()) continue;
      for (std::size_t i = 0; i < made->size(); ++i) {
        const double value = made->value(i);
        identity.largest_value = std::max(identity.largest_value, std::fabs(value));
        identity.largest_difference =
            std::max(identity.largest_difference, std::fabs(value - came->value(i)));
      }
      if (&rank == &layer_.ranks.front()) {
        add(identity.tensor_before, left);
        add(identity.tensor_after, right);
      }
      return true;
    }
    return false;
  }

  void check_outputs() {
    ProbedIdentity identity;
    identity.kind = IdentityKind::kOutputs;
    identity.layer_step = layer_.context.rounds.back().step;
    identity.before = identity.after = probe_of(identity.layer_step);
    if (!compare(identity, {"context"}, {}) || !identity.one_rank_difference) return;
    identity.largest_difference = *identity.one_rank_difference;
    keep(std::move(identity));
  }

  // The parts before, put together, beside what every rank has after.
  bool compare(ProbedIdentity& identity, const std::vector<std::string>& before,
               const std::vector<std::string>& after) const {
    for (std::size_t i = 0; i < before.size(); ++i) {
      WholeTensor whole;
      for (const LayerRank& rank : layer_.ranks) {
        const ProbedTensor* part = seen(identity.before, before[i], rank.rank);
        if (!part || is_over(part->what.partial, Axis::kTp)) return false;
        const bool adds = is_over(part->what.partial, Axis::kCp);
        if (adds) identity.kind = IdentityKind::kSum;
        if (i == 0) identity.ranks.push_back(rank.rank);
        // Of ranks that have the same partial sum, one is added.
        if (!adds || rank.at.tp == 0 || !is_over(part->what.replicated, Axis::kTp))
          whole.put(*part, adds ? Joined::kSum : Joined::kEqual);
      }
      if (!whole.complete()) return false;
      // Values have no positions.
      if (is_turned(before[i]) && !before[i].starts_with("dv"))
        whole.turn_back(seen(identity.before, before[i], layer_.ranks.front().rank)->what);
      add(identity.tensor_before, before[i]);
      identity.largest_value = std::max(identity.largest_value, whole.largest());
      double& most = identity.largest_difference;
      most = std::max(most, whole.contradiction());
      for (const LayerRank& rank : layer_.ranks) {
        if (after.empty()) break;
        const ProbedTensor* part = seen(identity.after, after[i], rank.rank);
        const auto difference = part ? whole.difference_from(*part) : std::nullopt;
        if (!difference) return false;
        most = std::max(most, *difference);
      }
      if (!after.empty()) add(identity.tensor_after, after[i]);
      // A later round of a ring has no counterpart on one rank; its keys are those of the first.
      const ProbedTensor* one =
          probed_tensor(one_rank_, identity.after, before[i].substr(0, before[i].find('-')), 0);
      const auto difference = one ? whole.difference_from(*one) : std::nullopt;
      if (difference)
        identity.one_rank_difference =
            std::max(*difference, identity.one_rank_difference.value_or(0));
    }
    return true;
  }
  void keep(ProbedIdentity identity) {
    identity.of = layer_.choice;
    found_.push_back(std::move(identity));
  }
  static void add(std::string& list, const std::string& name) {
    list += (list.empty() ? "" : ", ") + name;
  }

  const LayerSteps& layer_;
  const int step_;
  const std::vector<ProbedRank>&probes_, &one_rank_;
  std::vector<ProbedIdentity> found_;
};

}  // namespace

std::vector<ProbedIdentity> context_identities(const LayerSteps& layer, int step,
                                               const std::vector<ProbedRank>& probes,
                                               const std::vector<ProbedRank>& one_rank) {
  return ContextCheck(layer, step, probes, one_rank).check();
}

}  // namespace parallelarium
