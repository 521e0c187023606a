// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/probe_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/layer/layer_tensor.h"
#include "engine/plan/text/message_json.h"
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

  // Checks the collectives of one layer, micro-batch, direction and training step.
  void check(const LayerChoice& choice, int step) {
    const LayerSteps layer = layer_steps(setup_, program_, choice);
    const auto first = static_cast<std::ptrdiff_t>(found_.size());
    for (std::size_t at = 0; at < layer.steps.size(); ++at) {
      const LayerStep& of = layer.steps[at];
      const bool ring = is_first_of_ring(of);
      if (!ring && (of.kind != LayerStepKind::kCollective || of.axis != Axis::kTp)) continue;
      const std::size_t last = ring ? last_of_ring(layer, at) : at;
      const std::set<std::int32_t> sent = buffers_of(layer, of),
                                   left_behind = buffers_of(layer, layer.steps[last]);
      std::optional<End> before, after;
      for (std::size_t left = at; left-- > 0 && !before;)
        before = end_of(layer, layer.steps[left], sent, true);
      for (std::size_t right = last + 1; right < layer.steps.size() && !after; ++right)
        after = end_of(layer, layer.steps[right], left_behind, false);
      if (before && after) compare(layer, at, *before, *after, step);
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
  struct End {
    Probe probe;
    std::string tensor;
  };

  const RankProgram& built(const LayerSteps& layer, std::size_t rank) const {
    return program_.ranks[static_cast<std::size_t>(layer.ranks[rank].built)];
  }

  // A ring of TP passes blocks on while it multiplies them.
  static bool is_first_of_ring(const LayerStep& step) {
    return step.kind == LayerStepKind::kExchange && step.blocks > 1 && step.block == 0;
  }
  // Where the ranks have what the ring establishes: tokens from the first exchange on, a sum when
  // the last part has been added.
  static std::size_t last_of_ring(const LayerSteps& layer, std::size_t first) {
    const LayerStep& of = layer.steps[first];
    const std::vector<LayerTensor>& sent = of.ranks.front().tensors;
    if (sent.empty() || !sent.front().partial) return first;
    std::size_t last = first;
    while (last + 1 < layer.steps.size() && !(layer.steps[last].piece == Piece::kCombine &&
                                              layer.steps[last].block + 1 == of.blocks))
      ++last;
    return last;
  }

  std::set<std::int32_t> buffers_of(const LayerSteps& layer, const LayerStep& step) const {
    std::set<std::int32_t> buffers;
    const int op = step.ranks.front().first_op;
    if (op < 0) return buffers;
    const RankProgram& rank = built(layer, 0);
    for (const Operand& operand : rank.operands_of(rank.ops[static_cast<std::size_t>(op)]))
      buffers.insert(operand.buffer);
    return buffers;
  }

  // The tensor of a piece that stands in one of the buffers.
  std::optional<End> end_of(const LayerSteps& layer, const LayerStep& step,
                            const std::set<std::int32_t>& buffers, bool written) const {
    const int index = step.ranks.front().first_op;
    if (step.kind != LayerStepKind::kCompute || index < 0) return std::nullopt;
    const RankProgram& rank = built(layer, 0);
    const Op& op = rank.ops[static_cast<std::size_t>(index)];
    const auto operands = rank.operands_of(op);
    for (const OpTensor& tensor :
         op_tensors_at(setup_, program_.shape, rank, op, layer.ranks.front().at))
      if (tensor.written == written && buffers.count(operands[tensor.operand].buffer) > 0)
        return End{{layer.choice.layer, step.piece, layer.choice.microbatch, step.phase, 1},
                   tensor.name};
    return std::nullopt;
  }

  void compare(const LayerSteps& layer, std::size_t at, End before, End after, int step) {
    before.probe.step = after.probe.step = step;
    ProbedIdentity identity;
    identity.collective = layer.steps[at].collective;
    identity.layer_step = static_cast<int>(at);
    identity.before = before.probe;
    identity.after = after.probe;
    identity.tensor_before = before.tensor;
    identity.tensor_after = after.tensor;
    identity.kind = IdentityKind::kShards;
    WholeTensor whole;
    // Each replica of an EP group adds up its own tokens; the first is checked.
    const auto elsewhere = [](const LayerRank& rank) { return rank.at.dp > 0; };
    for (const LayerRank& rank : layer.ranks) {
      if (elsewhere(rank)) continue;
      const ProbedTensor* part = probed_tensor(probes_, before.probe, before.tensor, rank.rank);
      if (!part) return;
      const bool adds = has(part->what.partial, Axis::kTp);
      if (!adds && rank.at.tp > 0 && has(part->what.replicated, Axis::kTp)) continue;
      whole.put(*part, adds);
      if (adds) identity.kind = IdentityKind::kSum;
      identity.ranks.push_back(rank.rank);
    }
    identity.largest_value = whole.largest();
    for (const LayerRank& rank : layer.ranks) {
      if (elsewhere(rank)) continue;
      const ProbedTensor* result = probed_tensor(probes_, after.probe, after.tensor, rank.rank);
      const auto difference = result ? whole.difference_from(*result) : std::nullopt;
      if (!difference) return;
      identity.largest_difference = std::max(identity.largest_difference, *difference);
    }
    const ProbedTensor* one = probed_tensor(one_rank_, after.probe, after.tensor, 0);
    if (one) identity.one_rank_difference = whole.difference_from(*one);
    // A ring does what a collective does.
    if (layer.steps[at].kind == LayerStepKind::kExchange)
      identity.collective = identity.kind == IdentityKind::kSum ? CollectiveKind::kReduceScatter
                                                                : CollectiveKind::kAllGather;
    found_.push_back(std::move(identity));
  }

  const Setup& setup_;
  const Program& program_;
  const std::vector<ProbedRank>& probes_;
  const std::vector<ProbedRank>& one_rank_;
  std::vector<ProbedIdentity> found_;
};

}  // namespace

std::vector<ProbedIdentity> identities_of(const Setup& setup, const Program& program,
                                          const std::vector<ProbedRank>& probes,
                                          const std::vector<ProbedRank>& one_rank) {
  IdentityCheck check(setup, program, probes, one_rank);
  std::vector<std::pair<LayerChoice, int>> seen;
  for (const ProbedRank& probed : probes) {
    const Probe& probe = probed.probe;
    if (probed.replica > 0 || probe.layer < 0) continue;
    const std::pair of{LayerChoice{probe.layer, probe.microbatch, probe.phase != Phase::kForward},
                       probe.step};
    if (std::find(seen.begin(), seen.end(), of) != seen.end()) continue;
    seen.push_back(of);
    check.check(of.first, of.second);
  }
  return check.take();
}

Message sentence_of(const ProbedIdentity& identity) {
  const IdentityKind kind = identity.kind;
  std::string ranks;
  for (const int rank : identity.ranks)
    ranks += fmt::format("{}{}",
                         ranks.empty()                ? ""
                         : kind == IdentityKind::kSum ? " + "
                                                      : ", ",
                         rank);
  std::string name(name_of(identity.collective));
  std::replace(name.begin(), name.end(), '_', '-');
  const int layer = identity.before.layer;
  const std::string left = key_of(name_of(identity.before.piece));
  const std::string right = key_of(name_of(identity.after.piece));
  const std::string difference = fmt::format("{:.1g}", identity.largest_difference);
  const std::string value = fmt::format("{:.2g}", identity.largest_value);
  switch (kind) {
    case IdentityKind::kSum:
      return message("probe-identity.sum",
                     "Layer {}, {}: the partial sums {} of {} of ranks {}, added up, equal {} of "
                     "{} behind it; largest difference {} of values up to {}.",
                     layer, name, identity.tensor_before, left, ranks, identity.tensor_after, right,
                     difference, value);
    case IdentityKind::kTurned:
      return message("probe-identity.turned",
                     "Layer {}, {}: {} of {} of ranks {}, put together, have the elements of {} of "
                     "{} behind it, which is cut another way; largest difference {} of values up "
                     "to {}.",
                     layer, name, identity.tensor_before, left, ranks, identity.tensor_after, right,
                     difference, value);
    case IdentityKind::kRing:
      return message("probe-identity.ring",
                     "Layer {}, ring: keys and values of round {} on ranks {} are those that the "
                     "next ranks have in round {}; largest difference {} of values up to {}.",
                     layer, identity.round, ranks, identity.round + 1, difference, value);
    case IdentityKind::kOutputs:
      return message("probe-identity.outputs",
                     "Layer {}: {} of {} of ranks {}, put together, differs from one rank's by {} "
                     "at most, of values up to {}.",
                     layer, identity.tensor_before, left, ranks, difference, value);
    case IdentityKind::kShards:
      break;
  }
  return message("probe-identity.shards",
                 "Layer {}, {}: the shards {} of {} of ranks {}, put together, equal {} of {} "
                 "behind it; largest difference {} of values up to {}.",
                 layer, name, identity.tensor_before, left, ranks, identity.tensor_after, right,
                 difference, value);
}

Message one_rank_sentence_of(const ProbedIdentity& identity) {
  // Which round a key came in is no matter of one rank.
  const bool ring = identity.kind == IdentityKind::kRing;
  return message("probe-identity.one-rank", "One rank's {} of {}: largest difference {}.",
                 ring ? "k, v" : identity.tensor_after, key_of(name_of(identity.after.piece)),
                 fmt::format("{:.1g}", *identity.one_rank_difference));
}

nlohmann::json to_json(const ProbedIdentity& identity) {
  const IdentityKind kind = identity.kind;
  const bool collective = kind != IdentityKind::kRing && kind != IdentityKind::kOutputs;
  nlohmann::json json = {{"kind", kind == IdentityKind::kSum      ? "sum"
                                  : kind == IdentityKind::kShards ? "shards"
                                  : kind == IdentityKind::kTurned ? "turned"
                                  : kind == IdentityKind::kRing   ? "ring"
                                                                  : "outputs"},
                         {"collective", collective ? nlohmann::json(name_of(identity.collective))
                                                   : nlohmann::json(nullptr)},
                         {"layer_step", identity.layer_step},
                         {"layer", identity.before.layer},
                         {"microbatch", identity.before.microbatch},
                         {"step", identity.before.step},
                         {"before",
                          {{"piece", key_of(name_of(identity.before.piece))},
                           {"phase", key_of(name_of(identity.before.phase))},
                           {"tensor", identity.tensor_before}}},
                         {"after",
                          {{"piece", key_of(name_of(identity.after.piece))},
                           {"phase", key_of(name_of(identity.after.phase))},
                           {"tensor", identity.tensor_after}}},
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
