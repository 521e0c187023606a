// SPDX-License-Identifier: Apache-2.0
// Walks all ranks together in simulated time. It starts every action when its inputs are there, and
// appends each transfer to both of its ranks at once. That order is every lane's order and the
// host's issue order. Since it is one order for all ranks, rendezvous transfers cannot hang.
#pragma once

#include <vector>

#include "engine/passes/emit.h"
#include "engine/passes/fold/fold.h"
#include "engine/plan/order/order.h"
#include "engine/plan/result.h"

namespace parallelarium {

// The Drafts of one chunk of one rank for each kind of action, ready for the emitter.
struct ChunkDrafts : ActionDrafts {
  Chunk chunk;
  FoldedActions folded;                                                // stage level
  double seconds[4] = {};                                              // nominal, by ActionKind
  std::int32_t stretches[4] = {};                                      // by ActionKind
  std::int32_t slots = 0;                                              // size of its slot table
  std::int32_t input_slot = -1, output_slot = -1, gradient_slot = -1;  // what its transfers carry
  std::int32_t input_gradient_slot =
      -1;  // an input part writes it; a whole backward works in place
  // Where a receive puts its data: the slots of input and gradient, or of the shares that they are
  // gathered from.
  std::int32_t received_slot = -1, received_gradient_slot = -1;
  // Stage level. `split`: whether the micro-batch's backward is split.
  const FoldedDrafts& folded_of(ActionKind kind, bool split) const {
    switch (kind) {
      case ActionKind::kInputGrad:
        return folded.input;
      case ActionKind::kWeightGrad:
        return folded.weight;
      case ActionKind::kBackward:
        return folded.backward;
      case ActionKind::kForward:
        break;
    }
    return split ? folded.split_forward : folded.forward;
  }
  const std::vector<Draft>& of(ActionKind kind) const {
    switch (kind) {
      case ActionKind::kForward:
        return forward;
      case ActionKind::kInputGrad:
        return input;
      case ActionKind::kWeightGrad:
        return weight;
      case ActionKind::kBackward:
        break;
    }
    return backward;
  }
};

// One built rank: its emitter and its chunks.
struct RankPlan {
  RankEmitter* emitter = nullptr;
  bool folds = false;        // stage level
  bool folds_rings = false;  // it folds rings of TP; sharding may then keep their lane busy
  bool pairs = false;        // exchanges of tokens hide inside pairs (Setup::overlap_experts)
  std::vector<ChunkDrafts> chunks;
  // By bucket, the op that gathers it for the first forward, until one has waited for it; -1: none.
  std::vector<std::int32_t> coming;
  Lane transfers = Lane::kPipeline;  // kCompute: computing waits for them (Setup::overlap_pipeline)
};

// A duration that decides the order alone, so that a Program does not depend on a Machine. It
// assumes 100 TFLOP/s, 2 TB/s of memory, 1 TB/s between ranks, and no latency.
double nominal_seconds(const std::vector<Draft>& drafts);
// Whether some drafts are messages that go together from neighbour to neighbour.
bool has_rings(const std::vector<Draft>& drafts);

// Whether a draft of another lane waits for its turn in the compute lane. This is so for what the
// data lane moves, and for what goes beside a product of TP. A ring's blocks go ahead.
bool waits_for_computing(const Draft& draft);

// A stretch of an action: the drafts of one layer, of the embedding, or of final norm, head and
// loss.
struct Stretch {
  int chunk = 0;
  std::int32_t microbatch = -1;
  std::span<const Draft> drafts;
  SlotTable table;
};
// The end of the stretch of one layer that begins at `begin` in an action's drafts.
std::size_t stretch_end(const std::vector<Draft>& drafts, std::size_t begin);
std::int32_t stretches_of(const std::vector<Draft>& drafts);

// arrange() calls these around each stretch, so that the sharding pass can add its collectives.
class ActionHooks {
 public:
  virtual ~ActionHooks() = default;
  virtual void before(RankPlan& plan, const Stretch& stretch) = 0;
  virtual void after(RankPlan& plan, const Stretch& stretch) = 0;
  // Whether neither before() nor after() adds anything during the rank's action of that index. The
  // action is then emitted without a call for each of its stretches; skip() says how many it had.
  virtual bool is_quiet(const RankPlan& plan, std::size_t action) const = 0;
  virtual void skip(RankPlan& plan, std::int32_t stretches) = 0;
};

// A Send or Recv between two stages: `bytes` of activations or of their gradients.
struct BoundaryTransfer {
  OpKind kind = OpKind::kSend;
  Lane lane = Lane::kPipeline;
  Purpose purpose = Purpose::kActivations;
  int peer = -1;   // global rank
  int layer = -1;  // of activations: the layer that takes them
  std::int32_t slot = 0;
  std::int64_t bytes = 0;
  DataType type = DataType::kF32;
  // Whether it moves a share of a buffer that other ranks of the TP group have too. Otherwise it
  // moves all of it.
  bool share = false;
};
// Writes the transfer into a Draft with one operand. The operand keeps its access and what it
// opens.
void fill_transfer(Draft& draft, const BoundaryTransfer& transfer);

// An op of a rank that comes before an op that it waits for. Only an order that waits for ever has
// such ops. Only the caller can add the edge, once nothing reads edges as going back.
struct ForwardEdge {
  std::size_t plan = 0;  // index in the plans
  std::int32_t op = -1, waits_for = -1;
};

// Appends the ops of all actions and transfers. One boundary transfer moves `boundary_bytes`.
// Error: "order-stuck" (the order cannot finish). If `waits` is given, such an order is built too,
// up to where its ranks wait: see emit_waits().
Result<void> arrange(const Order& order, std::vector<RankPlan>& plans, std::int64_t boundary_bytes,
                     DataType type, const std::vector<int>& ranks_of_plans,
                     const std::vector<std::int32_t>& pipeline_groups, ActionHooks& hooks,
                     std::vector<ForwardEdge>* waits = nullptr);

// Appends the ops at which the ranks of an order wait for ever, when nothing more can be walked.
// `walked`: actions of each rank. A rank that waits for another rank gets three things: the receive
// in which it waits, the first op of the action that needs it, and behind these the sends that
// others wait for. A rank that waits for its own later action gets the first op of both actions.
// None of these ops does more than wait, so they have no operands and the sends no value.
// only_waits(order) must hold.
std::vector<ForwardEdge> emit_waits(const Order& order, const std::vector<int>& walked,
                                    std::vector<RankPlan>& plans, std::int64_t boundary_bytes,
                                    DataType type, const std::vector<int>& ranks_of_plans,
                                    const std::vector<std::int32_t>& pipeline_groups);

}  // namespace parallelarium
