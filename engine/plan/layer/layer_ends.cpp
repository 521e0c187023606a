// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_ends.h"

#include <algorithm>

#include "engine/plan/layer/layer_tensor.h"

namespace parallelarium {

namespace {

using Places = std::vector<Operand>;

bool overlaps(const Operand& a, const Operand& b) {
  const auto begin = [](const Operand& of) { return of.offset * size_of(of.type); };
  const auto end = [](const Operand& of) { return (of.offset + of.count) * size_of(of.type); };
  return a.buffer == b.buffer && begin(a) < end(b) && begin(b) < end(a);
}

bool overlaps(const Operand& of, const Places& places) {
  return std::any_of(places.begin(), places.end(),
                     [&](const Operand& place) { return overlaps(of, place); });
}

class EndFinder {
 public:
  EndFinder(const Setup& setup, const Program& program) : setup_(setup), program_(program) {}

  // The last op before `op` that leaves a tensor in one of the places.
  std::optional<LayerEnd> maker(int rank, int op, const Places& places) const {
    const RankProgram& of = built(rank);
    while (--op >= 0) {
      if (!touches(of, op, places, OpKind::kRecv)) continue;
      if (auto end = end_at(rank, op, places, true)) return end;
      // What came from another stage was made there.
      const int sender = is_between_stages(of, op) ? other_end(rank, op) : -1;
      if (sender < 0) continue;
      const int from = peer_of(of, op);
      const auto sent = built(from).operands_of(built(from).ops[static_cast<std::size_t>(sender)]);
      return maker(from, sender, {sent.begin(), sent.end()});
    }
    return std::nullopt;
  }

  // The first op behind `op` that finds a tensor in one of the places.
  std::optional<LayerEnd> user(int rank, int op, const Places& places) const {
    const RankProgram& of = built(rank);
    while (++op < static_cast<int>(of.ops.size())) {
      if (!touches(of, op, places, OpKind::kSend)) continue;
      if (auto end = end_at(rank, op, places, false)) return end;
      const int receiver = is_between_stages(of, op) ? other_end(rank, op) : -1;
      if (receiver < 0) continue;
      const int to = peer_of(of, op);
      const auto came = built(to).operands_of(built(to).ops[static_cast<std::size_t>(receiver)]);
      return user(to, receiver, {came.begin(), came.end()});
    }
    return std::nullopt;
  }

 private:
  const RankProgram& built(int rank) const {
    return program_.ranks[static_cast<std::size_t>(rank)];
  }

  // Of pieces and of one kind of transfer.
  static bool touches(const RankProgram& of, int op, const Places& places, OpKind transfer) {
    const Op& at = of.ops[static_cast<std::size_t>(op)];
    if (at.kind != OpKind::kCompute && at.kind != transfer) return false;
    const auto operands = of.operands_of(at);
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Operand& operand) { return overlaps(operand, places); });
  }

  std::optional<LayerEnd> end_at(int rank, int op, const Places& places, bool written) const {
    const RankProgram& of = built(rank);
    const Op& at = of.ops[static_cast<std::size_t>(op)];
    if (at.kind != OpKind::kCompute) return std::nullopt;
    const auto operands = of.operands_of(at);
    for (const OpTensor& tensor : op_tensors_at(setup_, program_.shape, of, at, of.at))
      if (tensor.written == written && overlaps(operands[tensor.operand], places))
        return LayerEnd{rank, op, tensor.name};
    return std::nullopt;
  }

  bool is_between_stages(const RankProgram& of, int op) const {
    const Op& at = of.ops[static_cast<std::size_t>(op)];
    return at.kind != OpKind::kCompute && at.group >= 0 &&
           program_.groups[static_cast<std::size_t>(at.group)].axis == Axis::kPp;
  }
  int peer_of(const RankProgram& of, int op) const {
    return representative_of(program_, setup_.mesh, of.ops[static_cast<std::size_t>(op)].peer);
  }

  // The k-th send of a group meets the k-th receive; -1: it meets none.
  int other_end(int rank, int op) const {
    const RankProgram &own = built(rank), &other = built(peer_of(own, op));
    const Op& at = own.ops[static_cast<std::size_t>(op)];
    const auto meets = [&](const Op& of, OpKind kind, int peer) {
      return of.kind == kind && of.group == at.group && of.peer == peer;
    };
    int before = 0;
    for (int each = 0; each < op; ++each)
      before += meets(own.ops[static_cast<std::size_t>(each)], at.kind, at.peer);
    const OpKind kind = at.kind == OpKind::kSend ? OpKind::kRecv : OpKind::kSend;
    for (std::size_t each = 0; each < other.ops.size(); ++each)
      if (meets(other.ops[each], kind, own.rank) && before-- == 0) return static_cast<int>(each);
    return -1;
  }

  const Setup& setup_;
  const Program& program_;
};

bool is_of_tensor_parallelism(const LayerStep& step) {
  // A ring of TP passes blocks on while it multiplies them.
  const bool ring = step.kind == LayerStepKind::kExchange && step.blocks > 1 && step.block == 0;
  return ring || (step.kind == LayerStepKind::kCollective && step.axis == Axis::kTp);
}

// Where the ranks have what a ring establishes: tokens from the first exchange on, a sum when the
// last part has been added. A collective is its own last step.
std::size_t last_of(const LayerSteps& layer, std::size_t first) {
  const LayerStep& of = layer.steps[first];
  const std::vector<LayerTensor>& sent = of.ranks.front().tensors;
  if (of.kind != LayerStepKind::kExchange || sent.empty() || !sent.front().partial) return first;
  std::size_t last = first;
  while (last + 1 < layer.steps.size() &&
         !(layer.steps[last].piece == Piece::kCombine && layer.steps[last].block + 1 == of.blocks))
    ++last;
  return last;
}

// What the ops of a step read on the first rank, or what they write.
Places places_of(const RankProgram& of, const LayerStep& step, bool written) {
  Places places;
  const Op& first = of.ops[static_cast<std::size_t>(step.ranks.front().first_op)];
  for (int at = step.ranks.front().first_op; at <= step.ranks.front().last_op; ++at) {
    const Op& op = of.ops[static_cast<std::size_t>(at)];
    // Ops of another lane may stand between those of a batch.
    if (at > step.ranks.front().first_op && (first.batch < 0 || op.batch != first.batch)) continue;
    for (const Operand& operand : of.operands_of(op))
      if (operand.access != (written ? Access::kRead : Access::kWrite)) places.push_back(operand);
  }
  return places;
}

}  // namespace

LayerEnds ends_of(const Setup& setup, const Program& program, const LayerSteps& layer,
                  std::size_t step) {
  LayerEnds ends;
  const LayerStep& first = layer.steps[step];
  if (!is_of_tensor_parallelism(first)) return ends;
  const LayerStep& last = layer.steps[last_of(layer, step)];
  if (first.ranks.front().first_op < 0 || last.ranks.front().first_op < 0) return ends;
  const int rank = layer.ranks.front().built;
  const RankProgram& built = program.ranks[static_cast<std::size_t>(rank)];
  const EndFinder finder(setup, program);
  ends.made_by = finder.maker(rank, first.ranks.front().first_op, places_of(built, first, false));
  ends.used_by = finder.user(rank, last.ranks.front().last_op, places_of(built, last, true));
  return ends;
}

std::vector<LayerPiece> pieces_beside(const Setup& setup, const Program& program,
                                      const LayerSteps& layer) {
  std::vector<LayerPiece> pieces;
  const auto add = [&](const LayerPiece& piece) {
    if (std::find(pieces.begin(), pieces.end(), piece) == pieces.end()) pieces.push_back(piece);
  };
  for (std::size_t step = 0; step < layer.steps.size(); ++step) {
    const LayerEnds ends = ends_of(setup, program, layer, step);
    for (const auto& end : {ends.made_by, ends.used_by}) {
      if (!end) continue;
      const Op& op =
          program.ranks[static_cast<std::size_t>(end->rank)].ops[static_cast<std::size_t>(end->op)];
      add({op.layer, op.piece, op.phase});
    }
  }
  // A backward gathers once more the keys and values that the forward's QKV made.
  for (const ContextMove& move : layer.context.moves)
    if (layer.choice.backward && !move.gradient &&
        layer.steps[static_cast<std::size_t>(move.step)].kind == LayerStepKind::kCollective)
      add({layer.choice.layer, Piece::kQkv, Phase::kForward});
  return pieces;
}

}  // namespace parallelarium
