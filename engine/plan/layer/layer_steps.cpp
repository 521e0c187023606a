// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_steps.h"

#include <algorithm>
#include <map>

#include "engine/plan/layer/layer_tensor.h"
#include "engine/plan/tensors/ring_block.h"

namespace parallelarium {

namespace {

bool is_backward_phase(Phase phase) {
  return phase == Phase::kInputGrad || phase == Phase::kWeightGrad || phase == Phase::kRecompute;
}

// Parameters and their gradients belong to the step, not to a micro-batch of a layer.
bool is_op_in_direction(const Program& program, const Op& op, const LayerChoice& choice) {
  // What is hidden behind products may be in the lane of data, too: of TP, of a ring of CP, and
  // what experts exchange.
  const auto is_over = [&](Axis axis) {
    return op.group >= 0 && program.groups[static_cast<std::size_t>(op.group)].axis == axis;
  };
  const bool inside = op.microbatch >= 0 && (op.purpose == Purpose::kKeysValues ||
                                             is_over(Axis::kTp) || is_over(Axis::kEp));
  return (op.lane != Lane::kData || inside) && is_op_of_choice(program, op, choice) &&
         is_backward_phase(op.phase) == choice.backward &&
         (choice.backward || op.phase == Phase::kForward);
}

bool in_attention(Piece piece) {
  switch (piece) {
    case Piece::kNorm1:
    case Piece::kQkv:
    case Piece::kAttention:
    case Piece::kProjection:
    case Piece::kResidual1:
    case Piece::kPermute:
      return true;
    default:
      return false;
  }
}

LayerStep step_of(const Program& program, const Op& op) {
  LayerStep step;
  step.kind = op.kind == OpKind::kCompute      ? LayerStepKind::kCompute
              : op.kind == OpKind::kCollective ? LayerStepKind::kCollective
                                               : LayerStepKind::kExchange;
  step.piece = op.piece;
  step.phase = op.phase;
  step.collective = op.collective;
  step.purpose = op.purpose;
  step.block = op.block;
  if (op.group >= 0) step.axis = program.groups[static_cast<std::size_t>(op.group)].axis;
  return step;
}

bool is_same_step(const LayerStep& a, const LayerStep& b) {
  return a.kind == b.kind && a.piece == b.piece && a.phase == b.phase && a.block == b.block &&
         a.blocks == b.blocks && a.purpose == b.purpose && a.axis == b.axis &&
         a.number == b.number &&
         (a.kind != LayerStepKind::kCollective || a.collective == b.collective);
}

class LayerWalk {
 public:
  LayerWalk(const Setup& setup, const Program& program, LayerSteps& out)
      : setup_(setup), program_(program), out_(out) {}

  // The ops of one rank become parts of steps, new ones where no rank before did the same.
  void add_rank(std::size_t index) {
    const LayerRank& of = out_.ranks[index];
    const RankProgram& built = program_.ranks[static_cast<std::size_t>(of.built)];
    const Op* piece = nullptr;  // the last
    std::size_t place = 0;
    std::int32_t batch = -1;
    for (const std::size_t at : ops_of(of.built)) {
      const Op& op = built.ops[at];
      LayerStep step = step_of(program_, op);
      if (op.kind == OpKind::kCompute) piece = &op;
      const bool ring = ring_block_of(setup_, program_.shape, built, op).has_value();
      if (ring) step.blocks = setup_.mesh.tp;
      if (op.purpose == Purpose::kLoss && piece) step.number = number_of(built, *piece, op, of.at);
      const bool goes_on = op.batch >= 0 && op.batch == batch;
      batch = op.batch;
      if (!goes_on) place = find_or_insert(step, place) + 1;
      LayerRankStep& part = out_.steps[place - 1].ranks[index];
      add_op(part, built, static_cast<int>(at), of);
      bool& probed = out_.steps[place - 1].probed;
      probed = probed || is_probed(setup_, program_.shape, built, op);
      if (ring || op.kind == OpKind::kCompute)
        for (LayerTensor& tensor : layer_tensors(setup_, program_.shape, built, op, of.at))
          part.tensors.push_back(std::move(tensor));
    }
  }

 private:
  // A built rank may stand for many.
  const std::vector<std::size_t>& ops_of(int built) {
    const auto [known, is_new] = ops_.try_emplace(built);
    const std::vector<Op>& all = program_.ranks[static_cast<std::size_t>(built)].ops;
    for (std::size_t at = 0; is_new && at < all.size(); ++at)
      if (is_op_in_direction(program_, all[at], out_.choice)) known->second.push_back(at);
    return known->second;
  }

  std::size_t find_or_insert(const LayerStep& step, std::size_t from) {
    for (std::size_t at = from; at < out_.steps.size(); ++at)
      if (is_same_step(out_.steps[at], step)) return at;
    const auto added =
        out_.steps.insert(out_.steps.begin() + static_cast<std::ptrdiff_t>(from), step);
    added->ranks.resize(out_.ranks.size());
    return from;
  }

  // What the piece has left where the collective works.
  std::string number_of(const RankProgram& built, const Op& piece, const Op& collective,
                        const Coordinates& at) const {
    const auto places = built.operands_of(collective), left = built.operands_of(piece);
    for (const OpTensor& tensor : op_tensors_at(setup_, program_.shape, built, piece, at)) {
      const Operand& of = left[tensor.operand];
      if (tensor.written && !places.empty() && of.buffer == places[0].buffer &&
          of.offset == places[0].offset)
        return tensor.name;
    }
    return {};
  }

  void add_op(LayerRankStep& part, const RankProgram& built, int index, const LayerRank& of) {
    const Op& op = built.ops[static_cast<std::size_t>(index)];
    if (part.first_op < 0) part.first_op = index;
    part.last_op = index;
    if (op.kind == OpKind::kCompute) {
      if (op.work >= 0) {
        for (const Work& work : program_.works[static_cast<std::size_t>(op.work)]) {
          part.flops += work.flops;
          part.moved_bytes += work.bytes;
        }
      }
    } else if (op.kind == OpKind::kSend) {
      part.sent_bytes += op.bytes;
      part.sends_to = receiver_of(built, op, of);
    } else if (op.kind == OpKind::kCollective) {
      const Group& group = program_.groups[static_cast<std::size_t>(op.group)];
      const auto place = std::find(group.ranks.begin(), group.ranks.end(), built.rank);
      part.sent_bytes +=
          collective_volume(op.collective, op.type, op.bytes, static_cast<int>(group.ranks.size()),
                            static_cast<int>(place - group.ranks.begin()))
              .sent;
    }
  }

  // A built rank may stand for others, whose neighbours are as far from them along CP and TP.
  int receiver_of(const RankProgram& built, const Op& op, const LayerRank& of) const {
    const auto to = coordinates_of(setup_.mesh, op.peer);
    const int cp = setup_.mesh.cp, tp = setup_.mesh.tp;
    const int place = (of.at.cp + to.cp - built.at.cp + cp) % cp;
    return (of.at.dp * cp + place) * tp + (of.at.tp + to.tp - built.at.tp + tp) % tp;
  }

  const Setup& setup_;
  const Program& program_;
  LayerSteps& out_;
  std::map<int, std::vector<std::size_t>> ops_;
};

// What a rank has of a tensor: ranks have the same where these are equal.
std::vector<std::int64_t> part_held(const LayerTensor& tensor) {
  std::vector<std::int64_t> part{tensor.tokens_of};
  for (const auto* ranges :
       {&tensor.row_ranges, &tensor.column_ranges, &tensor.heads, &tensor.experts}) {
    part.push_back(static_cast<std::int64_t>(ranges->size()));
    for (const ChunkRange& range : *ranges) part.insert(part.end(), {range.begin, range.end});
  }
  return part;
}

// Ranks of TP that share heads of keys and values have copies of a part, which no axis tells.
void set_copies(LayerStep& step) {
  std::size_t most = 0;
  for (const LayerRankStep& part : step.ranks) most = std::max(most, part.tensors.size());
  for (std::size_t tensor = 0; tensor < most; ++tensor) {
    std::map<std::vector<std::int64_t>, std::vector<LayerTensor*>> holders;
    for (LayerRankStep& part : step.ranks)
      if (tensor < part.tensors.size() && !part.tensors[tensor].partial)
        holders[part_held(part.tensors[tensor])].push_back(&part.tensors[tensor]);
    for (const auto& [held, of] : holders)
      for (LayerTensor* one : of) one->copy = one->copy || of.size() > 1;
  }
}

// Communication belongs to the half of the piece that waits for it, a sum of a ring to that of the
// product whose parts it adds up.
void set_halves(std::vector<LayerStep>& steps) {
  bool attention = false;
  for (LayerStep& step : steps) {
    if (step.kind == LayerStepKind::kCompute && step.piece != Piece::kCombine)
      attention = in_attention(step.piece);
    step.attention = attention;
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->kind == LayerStepKind::kCompute) attention = step->attention;
    step->attention = attention;
  }
}

void set_symbols(std::vector<LayerStep>& steps, bool backward) {
  for (LayerStep& step : steps) {
    if (step.kind != LayerStepKind::kCollective || step.axis != Axis::kTp ||
        (step.purpose != Purpose::kActivations && step.purpose != Purpose::kGradients &&
         step.purpose != Purpose::kEmbedding))
      continue;
    if (step.collective == CollectiveKind::kAllReduce) step.symbol = backward ? "f" : "g";
    if (step.collective == CollectiveKind::kAllGather) step.symbol = backward ? "\u1e21" : "g";
    if (step.collective == CollectiveKind::kReduceScatter) step.symbol = backward ? "g" : "\u1e21";
  }
}

// f before a product that is cut by columns; in the backward, g before one that is cut by rows, as
// the embedding is. Products of experts stand between a router and where results are added up.
void insert_conjugates(LayerSteps& out, bool backward) {
  const auto add_before = [&](Piece piece, const char* symbol) {
    const auto found = std::find_if(out.steps.begin(), out.steps.end(), [&](const LayerStep& step) {
      return step.kind == LayerStepKind::kCompute && step.piece == piece &&
             step.phase != Phase::kRecompute;
    });
    if (found == out.steps.end()) return;
    LayerStep step;
    step.kind = LayerStepKind::kNothingSent;
    step.attention = found->attention;
    step.phase = found->phase;
    step.axis = Axis::kTp;
    step.symbol = symbol;
    step.ranks.resize(out.ranks.size());
    out.steps.insert(found, step);
  };
  const std::vector<Piece> pieces =
      backward
          ? std::vector{Piece::kProjection, out.experts ? Piece::kUnpermute : Piece::kMlpOut,
                        Piece::kEmbedding}
          : std::vector{Piece::kQkv, out.experts ? Piece::kRouter : Piece::kMlpIn, Piece::kHead};
  for (const Piece piece : pieces) add_before(piece, backward ? "g" : "f");
}

// A collective at the end of the embedding leaves what the first layer finds.
void add_embedded(const Setup& setup, const Program& program, LayerSteps& out) {
  if (out.steps.empty() || out.steps.back().kind != LayerStepKind::kCollective) return;
  for (std::size_t rank = 0; rank < out.ranks.size(); ++rank) {
    const RankProgram& built = program.ranks[static_cast<std::size_t>(out.ranks[rank].built)];
    const auto norm = std::find_if(built.ops.begin(), built.ops.end(), [&](const Op& op) {
      return op.kind == OpKind::kCompute && op.piece == Piece::kNorm1 &&
             op.phase == Phase::kForward && op.layer == 0 && op.microbatch == out.choice.microbatch;
    });
    if (norm == built.ops.end()) continue;
    for (LayerTensor& tensor :
         layer_tensors(setup, program.shape, built, *norm, out.ranks[rank].at)) {
      if (tensor.written || tensor.role != TensorRole::kActivation) continue;
      tensor.written = true;
      out.steps.back().ranks[rank].tensors.push_back(std::move(tensor));
      break;
    }
  }
}

// The pipeline stage whose ranks compute this micro-batch of the layer; -1: none was built.
int stage_of(const Setup& setup, const Program& program, const LayerChoice& choice) {
  for (int stage = 0; stage < setup.mesh.pp; ++stage) {
    const int rank = rank_of(setup.mesh, {.dp = 0, .tp = 0, .pp = stage, .cp = 0});
    const RankProgram& built =
        program.ranks[static_cast<std::size_t>(representative_of(program, setup.mesh, rank))];
    if (std::any_of(built.ops.begin(), built.ops.end(), [&](const Op& op) {
          return op.kind == OpKind::kCompute && is_op_in_direction(program, op, choice);
        }))
      return stage;
  }
  return -1;
}

}  // namespace

bool is_op_of_choice(const Program& program, const Op& op, const LayerChoice& choice) {
  if (choice.place != LayerPlace::kLayer) return is_op_of_vocabulary(program, op, choice);
  return op.layer == choice.layer && op.microbatch == choice.microbatch;
}

LayerChoice valid_layer_choice(const Setup& setup, LayerChoice choice) {
  choice.layer = std::clamp(choice.layer, 0, static_cast<int>(setup.model.layers) - 1);
  choice.microbatch = std::clamp(choice.microbatch, 0, setup.microbatches - 1);
  return choice;
}

LayerSteps layer_steps(const Setup& setup, const Program& program, LayerChoice choice) {
  LayerSteps out;
  out.choice = valid_layer_choice(setup, choice);
  const bool layer = out.choice.place == LayerPlace::kLayer;
  out.experts =
      layer && setup.model.experts.count > 0 && out.choice.layer >= setup.model.experts.first_dense;
  if (program.level == Level::kStage || program.ranks.empty()) return out;
  const int stage = stage_of(setup, program, out.choice);
  if (stage < 0) return out;
  for (int dp = 0; dp < (out.experts ? setup.mesh.least_replicas() : 1); ++dp)
    for (int cp = 0; cp < setup.mesh.cp; ++cp)
      for (int tp = 0; tp < setup.mesh.tp; ++tp) {
        const Coordinates at{.dp = dp, .tp = tp, .pp = stage, .cp = cp};
        const int rank = rank_of(setup.mesh, at);
        out.ranks.push_back({rank, representative_of(program, setup.mesh, rank), at,
                             group_of(setup.mesh, Axis::kEp, rank).front(),
                             expert_place(setup.mesh, at).part, 0});
      }
  LayerWalk walk(setup, program, out);
  for (std::size_t rank = 0; rank < out.ranks.size(); ++rank) walk.add_rank(rank);
  if (out.choice.place == LayerPlace::kEmbedding && !out.choice.backward)
    add_embedded(setup, program, out);
  for (LayerStep& step : out.steps) set_copies(step);
  set_halves(out.steps);
  set_symbols(out.steps, out.choice.backward);
  set_kept(program, out);
  if (layer && !out.choice.backward) out.kept = layer_kept(setup, program, out);
  if (setup.mesh.tp > 1 && !setup.sequence_parallel) insert_conjugates(out, out.choice.backward);
  if (out.experts) {
    Result<RoutedLayer> routed = route_layer(setup, out.choice.layer, out.choice.microbatch, 0);
    if (routed) out.routed = std::move(*routed);
  }
  if (layer)
    out.context = layer_context(setup, program, out);
  else
    out.vocabulary = layer_vocabulary(setup, program, out);
  return out;
}

std::vector<int> ranks_with_same(const LayerStep& step, int tensor, int rank) {
  const auto tensor_of = [&](std::size_t of) -> const LayerTensor* {
    const std::vector<LayerTensor>& all = step.ranks[of].tensors;
    return static_cast<std::size_t>(tensor) < all.size() ? &all[static_cast<std::size_t>(tensor)]
                                                         : nullptr;
  };
  std::vector<int> same;
  const LayerTensor* own = tensor_of(static_cast<std::size_t>(rank));
  if (!own || own->partial) return same;
  for (std::size_t other = 0; other < step.ranks.size(); ++other) {
    const LayerTensor* of = tensor_of(other);
    if (of && !of->partial && static_cast<int>(other) != rank && part_held(*of) == part_held(*own))
      same.push_back(static_cast<int>(other));
  }
  return same;
}

int LayerTensor::held_experts() const {
  std::int64_t held = 0;
  for (const ChunkRange& range : experts) held += range.end - range.begin;
  return static_cast<int>(held);
}

std::vector<RowRun> row_runs(const RoutedLayer& routed, Piece piece, int home) {
  std::vector<RowRun> runs;
  if (piece == Piece::kDispatch || piece == Piece::kUnpermute)
    for (int to = 0; to < routed.ep; ++to)
      runs.push_back(
          {to, -1, routed.rows[static_cast<std::size_t>(home)][static_cast<std::size_t>(to)]});
  if (piece == Piece::kExpert)
    for (int expert = 0; expert < routed.experts; ++expert) {
      const auto at = static_cast<std::size_t>(expert);
      if (routed.rank_of_expert[at] == home)
        runs.push_back(
            {home, expert, routed.load[at], routed.capacity * routed.ep, routed.dropped[at]});
    }
  return runs;
}

LayerRankStep layer_total(const LayerSteps& steps, int rank) {
  LayerRankStep total;
  for (const LayerStep& step : steps.steps) {
    const LayerRankStep& part = step.ranks[static_cast<std::size_t>(rank)];
    total.flops += part.flops;
    total.moved_bytes += part.moved_bytes;
    total.sent_bytes += part.sent_bytes;
    total.kept_bytes += part.kept_bytes;
  }
  return total;
}

}  // namespace parallelarium
