// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/probe_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/plan/layer/layer_ends.h"
#include "engine/plan/layer/layer_json.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"
#include "engine/run/train/probe/context_identity.h"
#include "engine/run/train/probe/probe_whole.h"

namespace parallelarium {

namespace {

bool has(const std::vector<Axis>& axes, Axis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

class IdentityCheck {
 public:
  IdentityCheck(const Setup& setup, const Program& program, const std::vector<ProbedRank>& probes,
                const std::vector<ProbedRank>& one_rank)
      : setup_(setup), program_(program), probes_(probes), one_rank_(one_rank) {}

  // Checks the collectives of one layer, or of embedding or head, in one micro-batch, direction and
  // training step.
  void check(const LayerChoice& choice, int step) {
    const LayerSteps layer = layer_steps(setup_, program_, choice);
    const auto first = static_cast<std::ptrdiff_t>(found_.size());
    for (std::size_t at = 0; at < layer.steps.size(); ++at) {
      const LayerEnds ends = ends_of(setup_, program_, layer, at);
      if (ends.made_by && ends.used_by) compare(layer, at, *ends.made_by, *ends.used_by, step);
    }
    for (ProbedIdentity& identity : context_identities(layer, step, probes_, one_rank_))
      found_.push_back(std::move(identity));
    std::stable_sort(found_.begin() + first, found_.end(),
                     [](const ProbedIdentity& a, const ProbedIdentity& b) {
                       return a.layer_step < b.layer_step;
                     });
  }
  std::vector<ProbedIdentity> take() { return std::move(found_); }

 private:
  const Op& op_of(const LayerEnd& end) const {
    return program_.ranks[static_cast<std::size_t>(end.rank)].ops[static_cast<std::size_t>(end.op)];
  }
  // What was probed of the end's tensor on a rank of the layer's group. The end may stand in
  // another stage, on the rank there with the same other coordinates.
  const ProbedTensor* seen(const LayerEnd& end, const Probe& probe, Coordinates at) const {
    at.pp = program_.ranks[static_cast<std::size_t>(end.rank)].at.pp;
    return probed_tensor(probes_, probe, end.tensor, rank_of(setup_.mesh, at));
  }

  void compare(const LayerSteps& layer, std::size_t at, const LayerEnd& made_by,
               const LayerEnd& used_by, int step) {
    const auto probe_of = [&](const LayerEnd& end) {
      const Op& op = op_of(end);
      return Probe{op.layer, op.piece, op.microbatch, op.phase, step};
    };
    const LayerStep& collective = layer.steps[at];
    ProbedIdentity identity;
    identity.collective = collective.collective;
    identity.of = layer.choice;
    identity.layer_step = static_cast<int>(at);
    identity.before = probe_of(made_by);
    identity.after = probe_of(used_by);
    identity.tensor_before = made_by.tensor;
    identity.tensor_after = used_by.tensor;
    const bool largest = is_of_largest(layer, collective);
    if (largest) identity.kind = IdentityKind::kLargest;
    WholeTensor whole;
    // Each replica of an EP group adds up its own tokens; the first is checked.
    const auto elsewhere = [](const LayerRank& rank) { return rank.at.dp > 0; };
    for (const LayerRank& rank : layer.ranks) {
      if (elsewhere(rank)) continue;
      const ProbedTensor* part = seen(made_by, identity.before, rank.at);
      if (!part) return;
      const bool adds = has(part->what.partial, Axis::kTp);
      if (!adds && rank.at.tp > 0 && has(part->what.replicated, Axis::kTp)) continue;
      whole.put(*part, adds ? Joined::kSum : largest ? Joined::kLargest : Joined::kEqual);
      if (adds) identity.kind = IdentityKind::kSum;
      identity.ranks.push_back(rank.rank);
    }
    if (!whole.complete()) return;
    identity.largest_value = whole.largest();
    for (const LayerRank& rank : layer.ranks) {
      if (elsewhere(rank)) continue;
      const ProbedTensor* result = seen(used_by, identity.after, rank.at);
      const auto difference = result ? whole.difference_from(*result) : std::nullopt;
      if (!difference) return;
      identity.largest_difference = std::max(identity.largest_difference, *difference);
    }
    const ProbedTensor* one = probed_tensor(one_rank_, identity.after, used_by.tensor, 0);
    if (one) identity.one_rank_difference = whole.difference_from(*one);
    // A ring does what a collective does.
    if (collective.kind == LayerStepKind::kExchange)
      identity.collective = identity.kind == IdentityKind::kSum ? CollectiveKind::kReduceScatter
                                                                : CollectiveKind::kAllGather;
    found_.push_back(std::move(identity));
  }

  bool is_of_largest(const LayerSteps& layer, const LayerStep& collective) const {
    const LayerEnd op{layer.ranks.front().built, collective.ranks.front().first_op, {}};
    return op_of(op).reduction == Reduction::kMax;
  }

  const Setup& setup_;
  const Program& program_;
  const std::vector<ProbedRank>& probes_;
  const std::vector<ProbedRank>& one_rank_;
  std::vector<ProbedIdentity> found_;
};

LayerChoice choice_of(const Probe& probe) {
  const LayerPlace place = probe.layer >= 0                   ? LayerPlace::kLayer
                           : probe.piece == Piece::kEmbedding ? LayerPlace::kEmbedding
                                                              : LayerPlace::kHead;
  return {std::max(probe.layer, 0), probe.microbatch, probe.phase != Phase::kForward, place};
}

}  // namespace

std::vector<ProbedIdentity> identities_of(const Setup& setup, const Program& program,
                                          const std::vector<ProbedRank>& probes,
                                          const std::vector<ProbedRank>& one_rank) {
  IdentityCheck check(setup, program, probes, one_rank);
  std::vector<std::pair<LayerChoice, int>> seen;
  for (const ProbedRank& probed : probes) {
    const Probe& probe = probed.probe;
    if (probed.replica > 0) continue;
    const std::pair of{choice_of(probe), probe.step};
    if (std::find(seen.begin(), seen.end(), of) != seen.end()) continue;
    seen.push_back(of);
    check.check(of.first, of.second);
  }
  return check.take();
}

namespace {

bool in_layer(const ProbedIdentity& identity) { return identity.of.place == LayerPlace::kLayer; }

Message place_of(const ProbedIdentity& identity) {
  if (in_layer(identity)) return message("probe-identity.in-layer", "Layer {}", identity.of.layer);
  if (identity.of.place == LayerPlace::kEmbedding)
    return message("probe-identity.in-embedding", "Embedding");
  return message("probe-identity.in-head", "Head and loss");
}

// "norm 1", and of another layer "norm 1 in layer 2".
Message piece_of(const ProbedIdentity& identity, const Probe& probe) {
  const Message piece = word("piece", name_of(probe.piece));
  if (probe.layer < 0 || (in_layer(identity) && probe.layer == identity.of.layer)) return piece;
  return message("probe-identity.piece-in-layer", "{} in layer {}", piece, probe.layer);
}

Message ring_sums_sentence(const ProbedIdentity& identity, const std::string& ranks,
                           const Message& difference, const Message& value) {
  if (identity.home)
    return message(
        "probe-identity.ring-home",
        "{}, ring: gradients of keys and values that ranks {} have after ring step {} "
        "are those that come home to the next ranks; largest difference {} of values up to "
        "{}.",
        place_of(identity), ranks, identity.round + 1, difference, value);
  return message(
      "probe-identity.ring-sums",
      "{}, ring: gradients of keys and values that ranks {} have after ring step {} "
      "are those to which the next ranks add in ring step {}; largest difference {} of values "
      "up to {}.",
      place_of(identity), ranks, identity.round + 1, identity.round + 2, difference, value);
}

}  // namespace

Message sentence_of(const ProbedIdentity& identity) {
  const IdentityKind kind = identity.kind;
  std::string ranks;
  for (const int rank : identity.ranks)
    ranks += fmt::format("{}{}",
                         ranks.empty()                ? ""
                         : kind == IdentityKind::kSum ? " + "
                                                      : ", ",
                         rank);
  std::string key(name_of(identity.collective));
  std::replace(key.begin(), key.end(), '_', '-');
  const Message name = word("collective", key);
  const Message place = place_of(identity);
  const Message left = piece_of(identity, identity.before);
  const Message right = piece_of(identity, identity.after);
  const Message difference = figure(fmt::format("{:.1g}", identity.largest_difference));
  const Message value = figure(fmt::format("{:.2g}", identity.largest_value));
  switch (kind) {
    case IdentityKind::kSum:
      return message("probe-identity.sum",
                     "{}, {}: the partial sums “{}” of {}, of ranks {}, added up, equal “{}” of {} "
                     "behind it; largest difference {} of values up to {}.",
                     place, name, identity.tensor_before, left, ranks, identity.tensor_after, right,
                     difference, value);
    case IdentityKind::kLargest:
      return message(
          "probe-identity.largest",
          "{}, {}: of “{}” of {}, of ranks {}, the largest of each element is “{}” of {} "
          "behind it; largest difference {} of values up to {}.",
          place, name, identity.tensor_before, left, ranks, identity.tensor_after, right,
          difference, value);
    case IdentityKind::kTurned:
      return message(
          "probe-identity.turned",
          "{}, {}: “{}” of {}, of ranks {}, put together, have the elements of “{}” of {} "
          "behind it, which is cut another way; largest difference {} of values up to "
          "{}.",
          place, name, identity.tensor_before, left, ranks, identity.tensor_after, right,
          difference, value);
    case IdentityKind::kRing:
      return message("probe-identity.ring",
                     "{}, ring: keys and values of ring step {} on ranks {} are those that the "
                     "next ranks have in ring step {}; largest difference {} of values up to {}.",
                     place, identity.round + 1, ranks, identity.round + 2, difference, value);
    case IdentityKind::kRingSums:
      return ring_sums_sentence(identity, ranks, difference, value);
    case IdentityKind::kOutputs:
      return message("probe-identity.outputs",
                     "{}: “{}” of {}, of ranks {}, put together, differs from one rank's by {} at "
                     "most, of values up to {}.",
                     place, identity.tensor_before, left, ranks, difference, value);
    case IdentityKind::kShards:
      break;
  }
  return message(
      "probe-identity.shards",
      "{}, {}: the shards “{}” of {}, of ranks {}, put together, equal “{}” of {} behind it; "
      "largest difference {} of values up to {}.",
      place, name, identity.tensor_before, left, ranks, identity.tensor_after, right, difference,
      value);
}

Message one_rank_sentence_of(const ProbedIdentity& identity) {
  // Which round a key came in is no matter of one rank.
  const bool ring = identity.kind == IdentityKind::kRing;
  return message("probe-identity.one-rank", "One rank's “{}” of {}: largest difference {}.",
                 ring ? "k, v" : identity.tensor_after, piece_of(identity, identity.after),
                 figure(fmt::format("{:.1g}", *identity.one_rank_difference)));
}

namespace {

std::string_view name_of(IdentityKind kind) {
  switch (kind) {
    case IdentityKind::kSum:
      return "sum";
    case IdentityKind::kLargest:
      return "largest";
    case IdentityKind::kShards:
      return "shards";
    case IdentityKind::kTurned:
      return "turned";
    case IdentityKind::kRing:
      return "ring";
    case IdentityKind::kRingSums:
      return "ring-sums";
    case IdentityKind::kOutputs:
      return "outputs";
  }
  return "";
}

nlohmann::json layer_json(int layer) {
  return layer < 0 ? nlohmann::json(nullptr) : nlohmann::json(layer);
}

nlohmann::json end_json(const Probe& probe, const std::string& tensor) {
  return {{"layer", layer_json(probe.layer)},
          {"piece", key_of(name_of(probe.piece))},
          {"phase", key_of(name_of(probe.phase))},
          {"tensor", tensor}};
}

}  // namespace

nlohmann::json to_json(const ProbedIdentity& identity) {
  const IdentityKind kind = identity.kind;
  const bool collective = kind != IdentityKind::kRing && kind != IdentityKind::kRingSums &&
                          kind != IdentityKind::kOutputs;
  nlohmann::json json = {{"kind", name_of(kind)},
                         {"collective", collective ? nlohmann::json(name_of(identity.collective))
                                                   : nlohmann::json(nullptr)},
                         {"part", name_of(identity.of.place)},
                         {"direction", identity.of.backward ? "backward" : "forward"},
                         {"layer_step", identity.layer_step},
                         {"layer", layer_json(in_layer(identity) ? identity.of.layer : -1)},
                         {"microbatch", identity.of.microbatch},
                         {"step", identity.before.step},
                         {"before", end_json(identity.before, identity.tensor_before)},
                         {"after", end_json(identity.after, identity.tensor_after)},
                         {"sum", kind == IdentityKind::kSum},
                         {"ranks", identity.ranks},
                         {"largest_difference", identity.largest_difference},
                         {"largest_value", identity.largest_value},
                         {"sentence", to_json(sentence_of(identity))}};
  if (identity.one_rank_difference) {
    json["one_rank_difference"] = *identity.one_rank_difference;
    if (kind != IdentityKind::kOutputs)  // its sentence says so already
      json["one_rank_sentence"] = to_json(one_rank_sentence_of(identity));
  }
  return json;
}

}  // namespace parallelarium
