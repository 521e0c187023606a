// SPDX-License-Identifier: Apache-2.0
// Missing and doubled work: an oracle of its own, which knows what a transformer layer needs and
// nothing of the passes that wrote the Program.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/plan/check/check_parts.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

struct Part {
  int layer;  // -1: embedding, final norm, head and loss
  Piece piece;
  Phase phase;
  int block = 0;  // of a ring
  auto operator<=>(const Part&) const = default;
};

Message words_of(const Part& part) {
  Op op;
  op.layer = part.layer;
  op.piece = part.piece;
  op.phase = part.phase;
  op.microbatch = -1;
  if (part.block == 0) return describe(op);
  return message("block-of", "block {} of {}", part.block, describe(op));
}

bool is_expert_piece(Piece piece) { return piece == Piece::kRouter || piece == Piece::kExpert; }

// What an axis of parallelism adds: copies between layouts, and what the steps of a collective
// compute. And what moves between memories.
bool is_extra(const Op& op) {
  return op.piece == Piece::kPermute || op.piece == Piece::kCombine || op.piece == Piece::kOffload;
}

int ranks_along(Axis axis, const Program& program, const RankProgram& rank) {
  std::size_t most = 1;
  for (const Group& group : program.groups)
    if (group.axis == axis &&
        std::find(group.ranks.begin(), group.ranks.end(), rank.rank) != group.ranks.end())
      most = std::max(most, group.ranks.size());
  return static_cast<int>(most);
}

// What a chunk of a rank holds.
struct Held {
  std::set<int> layers;
  bool embedding = false, head = false;
};

// What an action must compute on what it holds. Layers in `experts` have experts in place of the
// MLP, or beside that of the shared ones.
std::set<Part> needed_parts(ActionKind kind, const Held& held, const std::set<int>& experts,
                            const Shape& shape) {
  std::set<Part> parts;
  const bool forward = kind == ActionKind::kForward;
  const bool input = kind == ActionKind::kBackward || kind == ActionKind::kInputGrad;
  const bool weight = kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad;
  const auto add = [&](int layer, Piece piece, bool trained) {
    if (forward) parts.insert({layer, piece, Phase::kForward});
    if (input) parts.insert({layer, piece, Phase::kInputGrad});
    if (weight && trained) parts.insert({layer, piece, Phase::kWeightGrad});
  };
  for (const int layer : held.layers) {
    for (const Piece piece : {Piece::kNorm1, Piece::kQkv, Piece::kProjection, Piece::kNorm2}) {
      add(layer, piece, true);
    }
    add(layer, Piece::kAttention, false);
    if (experts.count(layer) > 0) {
      add(layer, Piece::kRouter, true);
      add(layer, Piece::kDispatch, false);
      add(layer, Piece::kExpert, true);
      add(layer, Piece::kUnpermute, false);
    }
    if (experts.count(layer) == 0 || shape.experts.model.shared > 0) {
      add(layer, Piece::kMlpIn, true);
      add(layer, Piece::kMlpOut, true);
      add(layer, Piece::kActivation, false);
    }
    if (forward) {
      parts.insert({layer, Piece::kResidual1, Phase::kForward});
      parts.insert({layer, Piece::kResidual2, Phase::kForward});
    }
    if (input && shape.dropout > 0) {
      parts.insert({layer, Piece::kResidual1, Phase::kInputGrad});
      parts.insert({layer, Piece::kResidual2, Phase::kInputGrad});
    }
  }
  if (held.embedding) {
    if (forward) parts.insert({-1, Piece::kEmbedding, Phase::kForward});
    if (weight) parts.insert({-1, Piece::kEmbedding, Phase::kWeightGrad});
  }
  if (held.head) {
    add(-1, Piece::kFinalNorm, true);
    add(-1, Piece::kHead, true);
    add(-1, Piece::kLoss, false);
    if (forward) {
      if (shape.cuts_vocabulary()) parts.insert({-1, Piece::kLossMax, Phase::kForward});
      parts.insert({-1, Piece::kLossSum, Phase::kForward});
    }
  }
  return parts;
}

struct WorkSeen {
  std::vector<std::map<Part, int>> done;  // by action
  std::vector<Held> chunks;
  std::set<int> expert_layers;
  int tensor_ranks = 1, context_ranks = 1;
};

WorkSeen work_of(const Program& program, const RankProgram& rank) {
  WorkSeen work;
  work.tensor_ranks = ranks_along(Axis::kTp, program, rank);
  work.context_ranks = ranks_along(Axis::kCp, program, rank);
  work.done.resize(rank.actions.size());
  int chunks = 1;
  for (const Action& action : rank.actions) chunks = std::max(chunks, action.chunk + 1);
  work.chunks.resize(static_cast<std::size_t>(chunks));
  if (chunks == 1) work.chunks[0].layers = {rank.layers.begin(), rank.layers.end()};
  const auto count = [&](const Op& op) {
    if (is_extra(op)) return;
    ++work.done[static_cast<std::size_t>(op.action)][{op.layer, op.piece, op.phase, op.block}];
    if (is_expert_piece(op.piece)) work.expert_layers.insert(op.layer);
    const int chunk = rank.actions[static_cast<std::size_t>(op.action)].chunk;
    Held& held = work.chunks[static_cast<std::size_t>(chunk)];
    if (chunks > 1 && op.layer >= 0) held.layers.insert(op.layer);
    held.embedding = held.embedding || op.piece == Piece::kEmbedding;
    held.head = held.head || op.piece == Piece::kHead;
  };
  for (const Op& op : rank.ops) {
    if (op.kind != OpKind::kCompute || op.action < 0) continue;
    if (op.action >= static_cast<std::int32_t>(rank.actions.size())) continue;
    if (op.fold < 0) {
      count(op);
      continue;
    }
    for (const Fold::Part& part : program.folds[static_cast<std::size_t>(op.fold)].parts)
      count(op_of(part, op));
  }
  return work;
}

// A stage may hold the embedding or the head without a layer, so chunks that compute it hold it.
// Where none does, the first and the last layer should.
void find_ends(std::vector<WorkSeen>& works, int last_layer) {
  bool any_embedding = false, any_head = false;
  const auto for_chunks = [&](const auto& visit) {
    for (WorkSeen& work : works)
      for (Held& chunk : work.chunks) visit(chunk);
  };
  for_chunks([&](const Held& chunk) {
    any_embedding = any_embedding || chunk.embedding;
    any_head = any_head || chunk.head;
  });
  for_chunks([&](Held& chunk) {
    if (!any_embedding) chunk.embedding = chunk.layers.count(0) > 0;
    if (!any_head) chunk.head = chunk.layers.count(last_layer) > 0;
  });
}

// How many blocks the part has: one for each rank of its ring, where it goes round in one at all.
int blocks_of(const WorkSeen& work, const std::map<Part, int>& done, const Part& part) {
  const auto further = done.upper_bound(part);
  const bool cut = further != done.end() && further->first.block > 0 &&
                   std::tie(further->first.layer, further->first.piece, further->first.phase) ==
                       std::tie(part.layer, part.piece, part.phase);
  if (!cut) return 1;
  return part.piece == Piece::kAttention ? work.context_ranks : work.tensor_ranks;
}

// Lines for one action of one rank.
void check_action(const Program& program, const RankProgram& rank, const WorkSeen& work,
                  std::size_t index, std::vector<Message>& messages) {
  const Action& action = rank.actions[index];
  const std::map<Part, int>& done = work.done[index];
  const std::string named = fmt::format("{}{}", letter_of(action.kind), action.microbatch);
  const auto doubled = [&](const Message& what) {
    messages.push_back(
        message("program-doubled", "Rank {} computes {} twice in its {}.", rank.rank, what, named));
  };
  const auto missing = [&](const Message& what) {
    messages.push_back(
        message("program-missing", "Rank {} never computes {} in its {}.", rank.rank, what, named));
  };
  for (const auto& [part, count] : done) {
    if (count > 1) doubled(words_of(part));
  }
  const Held& held = work.chunks[static_cast<std::size_t>(action.chunk)];
  const std::set<Part> needed = needed_parts(action.kind, held, work.expert_layers, program.shape);
  const auto first_of = [](Part part) {
    part.block = 0;
    return part;
  };
  std::set<Part> parts = needed;
  for (const auto& [part, count] : done)
    if (part.phase == Phase::kRecompute) parts.insert(first_of(part));
  for (Part part : parts) {
    const int blocks = blocks_of(work, done, part);
    for (; part.block < blocks; ++part.block)
      if (done.count(part) == 0) missing(words_of(part));
  }
  for (const auto& [part, count] : done) {
    const Part first = first_of(part);
    if (parts.count(first) == 0 || part.block >= blocks_of(work, done, first)) {
      messages.push_back(message("program-foreign",
                                 "Rank {} computes {} in its {}, where it does not belong.",
                                 rank.rank, words_of(part), named));
    }
  }
}

void check_updates(const RankProgram& rank, std::vector<Message>& messages) {
  int optimizers = 0, zeroed = 0;
  for (const Op& op : rank.ops) {
    optimizers += op.piece == Piece::kOptimizer;
    zeroed += op.piece == Piece::kZeroGrad && op.phase == Phase::kUpdate;
  }
  const auto once = [&](int count, const Message& what) {
    if (count == 0)
      messages.push_back(message("program-missing.update",
                                 "Rank {} has no {} in its step; it needs one.", rank.rank, what));
    if (count > 1)
      messages.push_back(message("program-doubled.update",
                                 "Rank {} has {} of {} in its step; it needs one.", rank.rank,
                                 count, what));
  };
  once(optimizers, message("optimizer-update", "optimizer update"));
  once(zeroed, message("gradients-cleared", "clearing of its gradients"));
}

}  // namespace

void check_work(const Program& program, std::vector<Message>& messages) {
  std::set<int> held;
  std::vector<WorkSeen> works;
  bool trains = false;
  for (const RankProgram& rank : program.ranks) {
    works.push_back(work_of(program, rank));
    trains = trains || !rank.actions.empty();
    held.insert(rank.layers.begin(), rank.layers.end());
  }
  find_ends(works, program.shape.layers - 1);
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    if (rank.actions.empty()) continue;  // a Program of one collective has no line of an Order
    const WorkSeen& work = works[at];
    for (std::size_t index = 0; index < rank.actions.size(); ++index) {
      check_action(program, rank, work, index, messages);
      if (messages.size() >= kMostCheckMessages) return;
    }
    check_updates(rank, messages);
  }
  if (!trains) return;
  for (int layer = 0; layer < program.shape.layers; ++layer) {
    if (held.count(layer) == 0) {
      messages.push_back(message("program-layer", "No rank holds layer {}.", layer));
      return;
    }
  }
}

}  // namespace parallelarium
