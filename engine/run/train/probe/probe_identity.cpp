// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/probe_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/layer/layer_tensor.h"
#include "engine/plan/text/message_json.h"

namespace parallelarium {

namespace {

// Calls visit(element of the whole tensor, element of the rank's part).
template <class Visit>
void for_each_place(const OpTensor& tensor, const Visit& visit) {
  std::vector<std::vector<std::int64_t>> held;
  for (const TensorDimension& dimension : tensor.dimensions) {
    auto& indices = held.emplace_back();
    for (const ChunkRange& range : dimension.held())
      for (std::int64_t index = range.begin; index < range.end; ++index) indices.push_back(index);
  }
  std::vector<std::size_t> at(held.size(), 0);
  const std::int64_t elements = tensor.elements();
  for (std::int64_t element = 0; element < elements; ++element) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      place = place * tensor.dimensions[d].whole + held[d][at[d]];
    visit(static_cast<std::size_t>(place), static_cast<std::size_t>(element));
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < held[d].size()) break;
      at[d] = 0;
    }
  }
}

std::size_t whole_elements(const OpTensor& tensor) {
  std::int64_t elements = 1;
  for (const TensorDimension& dimension : tensor.dimensions) elements *= dimension.whole;
  return static_cast<std::size_t>(elements);
}

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
    for (std::size_t at = 0; at < layer.steps.size(); ++at) {
      const LayerStep& of = layer.steps[at];
      if (of.kind != LayerStepKind::kCollective || of.axis != Axis::kTp) continue;
      const std::set<std::int32_t> buffers = buffers_of(layer, of);
      std::optional<End> before, after;
      for (std::size_t left = at; left-- > 0 && !before;)
        before = end_of(layer, layer.steps[left], buffers, true);
      for (std::size_t right = at + 1; right < layer.steps.size() && !after; ++right)
        after = end_of(layer, layer.steps[right], buffers, false);
      if (before && after) compare(layer, at, *before, *after, step);
    }
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

  const ProbedTensor* tensor_of(const End& end, int rank) const {
    return tensor_in(probes_, end, rank);
  }

  static const ProbedTensor* tensor_in(const std::vector<ProbedRank>& probes, const End& end,
                                       int rank) {
    for (const ProbedRank& probed : probes) {
      if (probed.rank != rank || !(probed.probe == end.probe)) continue;
      for (const ProbedTensor& tensor : probed.tensors)
        if (tensor.what.name == end.tensor) return &tensor;
    }
    return nullptr;
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
    std::vector<double> whole;
    for (const LayerRank& rank : layer.ranks) {
      const ProbedTensor* part = tensor_of(before, rank.rank);
      if (!part) return;
      const bool adds = has(part->what.partial, Axis::kTp);
      if (!adds && rank.at.tp > 0 && has(part->what.replicated, Axis::kTp)) continue;
      whole.resize(whole_elements(part->what), 0);
      for_each_place(part->what, [&](std::size_t place, std::size_t element) {
        whole[place] += part->value(element);
      });
      identity.sum = identity.sum || adds;
      identity.ranks.push_back(rank.rank);
    }
    for (const double value : whole)
      identity.largest_value = std::max(identity.largest_value, std::fabs(value));
    for (const LayerRank& rank : layer.ranks) {
      const ProbedTensor* result = tensor_of(after, rank.rank);
      if (!result || whole_elements(result->what) != whole.size()) return;
      for_each_place(result->what, [&](std::size_t place, std::size_t element) {
        identity.largest_difference =
            std::max(identity.largest_difference, std::fabs(whole[place] - result->value(element)));
      });
    }
    const ProbedTensor* one = tensor_in(one_rank_, after, 0);
    if (one && whole_elements(one->what) == whole.size()) {
      double most = 0;
      for_each_place(one->what, [&](std::size_t place, std::size_t element) {
        most = std::max(most, std::fabs(whole[place] - one->value(element)));
      });
      identity.one_rank_difference = most;
    }
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
  std::string ranks;
  for (const int rank : identity.ranks)
    ranks += fmt::format("{}{}", ranks.empty() ? "" : identity.sum ? " + " : ", ", rank);
  std::string name(name_of(identity.collective));
  std::replace(name.begin(), name.end(), '_', '-');
  const std::string difference = fmt::format("{:.1g}", identity.largest_difference);
  const std::string value = fmt::format("{:.2g}", identity.largest_value);
  if (identity.sum)
    return message("probe-identity.sum",
                   "Layer {}, {}: the partial sums {} of {} of ranks {}, added up, equal {} of {} "
                   "behind it; largest difference {} of values up to {}.",
                   identity.before.layer, name, identity.tensor_before,
                   key_of(name_of(identity.before.piece)), ranks, identity.tensor_after,
                   key_of(name_of(identity.after.piece)), difference, value);
  return message("probe-identity.shards",
                 "Layer {}, {}: the shards {} of {} of ranks {}, put together, equal {} of {} "
                 "behind it; largest difference {} of values up to {}.",
                 identity.before.layer, name, identity.tensor_before,
                 key_of(name_of(identity.before.piece)), ranks, identity.tensor_after,
                 key_of(name_of(identity.after.piece)), difference, value);
}

Message one_rank_sentence_of(const ProbedIdentity& identity) {
  return message("probe-identity.one-rank", "One rank's {} of {} differs by {} at most.",
                 identity.tensor_after, key_of(name_of(identity.after.piece)),
                 fmt::format("{:.1g}", *identity.one_rank_difference));
}

nlohmann::json to_json(const ProbedIdentity& identity) {
  nlohmann::json json = {{"collective", name_of(identity.collective)},
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
                         {"sum", identity.sum},
                         {"ranks", identity.ranks},
                         {"largest_difference", identity.largest_difference},
                         {"largest_value", identity.largest_value},
                         {"sentence", to_json(sentence_of(identity))}};
  if (identity.one_rank_difference) {
    json["one_rank_difference"] = *identity.one_rank_difference;
    json["one_rank_sentence"] = to_json(one_rank_sentence_of(identity));
  }
  return json;
}

}  // namespace parallelarium
