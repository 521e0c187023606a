// SPDX-License-Identifier: Apache-2.0
// One action of an Order, cut into pieces. A Draft is an op whose buffers are still named by tensor
// and layer; emit.cpp turns it into an op of one micro-batch. Passes rewrite lists of Drafts.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// The sizes of one rank's work, after every axis has cut its share.
struct LocalSizes {
  Shape shape;                      // H, K, F, V divided by TP; T by CP
  std::int64_t N = 0;               // tokens of a micro-batch on this rank: B * T
  std::int64_t N_norm = 0;          // tokens of a norm: N, divided by TP under sequence parallelism
  std::int64_t boundary = 0;        // elements that a rank sends to the next stage
  std::int64_t T_full = 0;          // keys that a query can meet
  std::int64_t A = 0;               // width of QKV
  std::int64_t F_in = 0;            // width of MLP in: F, or 2F for SwiGLU
  std::int64_t value_width = 0;     // width of the attention context: H * D, or heads * value_dim
  std::int64_t qkv_parameters = 0;  // weights of the QKV piece
  DataType type = DataType::kF32;   // of activations and parameters
  Precision precision;
  // With experts, per micro-batch: tokens that this rank routes, the most rows that it sends, the
  // most rows that its experts take, and the rows that they take with even routing.
  std::int64_t routed = 0, sent_rows = 0, expert_rows = 0, even_rows = 0;
};
LocalSizes local_sizes(const Setup& setup);

struct DraftOperand {
  Tensor tensor = Tensor::kScratch;
  std::int16_t layer = -1;
  Access access = Access::kRead;
  DataType type = DataType::kF32;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t opens = 0;  // bytes of the buffer that this operand opens; 0: it is already open
  std::int64_t per_microbatch = 0;  // added to offset for each micro-batch (token buffers)
  std::int32_t slot = -1;           // filled by emit
  std::int16_t shard = -1;          // Operand::shard
  std::int16_t part = 0;            // tells buffers of one tensor and layer apart: a ring's blocks
  std::int16_t bucket = -1;  // the bucket of this temporary buffer (kGathered, kBucketGradients)
  bool kept = false;         // it waits for its backward: an activation, whatever its tensor is
};

struct Draft {
  Op op;
  Axis axis = Axis::kWorld;  // of a collective's group
  std::vector<DraftOperand> operands;
  std::vector<Work> work;
  // Where parameters are gathered ahead, the bucket that it is the first of its action to read, of
  // several the one that comes last; -1: none.
  std::int16_t awaits = -1;
};

// A stretch of layers on one rank: a chunk of an Order.
struct Chunk {
  std::vector<int> layers;  // ascending, consecutive; empty if it holds a table or head alone
  bool first = false;       // holds the embedding
  bool last = false;        // holds final norm, head and loss
  bool copy = false;        // another rank holds the stage too, and its copy counts (DualPipe)
  int begin = 0;            // its first layer; without layers, the next layer
  int end() const { return begin + static_cast<int>(layers.size()); }
  bool holds(int layer) const { return layer >= begin && layer < end(); }
};

// The place of each parameter of a rank: tables first, then layers in order, then final norm and
// head.
std::vector<ParameterSlice> parameter_layout(const Setup& setup, const std::vector<Chunk>& chunks);
// The slice, or null. At most one slice may match.
const ParameterSlice* find_slice(const std::vector<ParameterSlice>& slices, Parameter parameter,
                                 int layer);

// The ops of one action on one chunk, in compute-lane order, without any communication.
// A linear piece always has separate ops for kInputGrad and kWeightGrad; a whole backward has both.
std::vector<Draft> action_pieces(const Setup& setup, const LocalSizes& sizes, const Chunk& chunk,
                                 const std::vector<ParameterSlice>& slices, ActionKind kind);

// In Drafts, transfers that go together have the same `op.batch`, counted from 0 in the action.
// `peer` is the peer's coordinate along `axis` minus the rank's own. A collective over `axis` in
// the compute lane, in place; `bytes` as in Op::bytes.
Draft collective_draft(CollectiveKind kind, Axis axis, Purpose purpose, std::int64_t bytes,
                       DataType type, const Draft& beside);

// The lane of a ring inside pieces. Messages between stages wait for their partner and would hold
// the ring up, so with several stages the ring uses the data lane.
inline Lane lane_of_rings(const Setup& setup) {
  return setup.mesh.pp > 1 ? Lane::kData : Lane::kPipeline;
}

// Whether this is a Send of a ring. An op that computes with the same tokens does not wait for it,
// unless it writes them.
inline bool passes_on(const Draft& draft) {
  return draft.op.kind == OpKind::kSend && draft.axis != Axis::kPp;
}

// Passes over the pieces of an action (each is the identity when its axis is 1).
std::vector<Draft> tensor_pass(const Setup& setup, const LocalSizes& sizes,
                               std::vector<Draft> drafts);
std::vector<Draft> context_pass(const Setup& setup, const LocalSizes& sizes,
                                std::vector<Draft> drafts);
std::vector<Draft> experts_pass(const Setup& setup, const LocalSizes& sizes,
                                std::vector<Draft> drafts);

// Puts the exchanges of Ulysses around an attention op.
std::vector<Draft> exchange_heads(std::int64_t cp, const LocalSizes& sizes, bool fused,
                                  Draft attention);

// What one chunk does in each kind of action that the order has. `input` and `weight` are the parts
// of a split backward.
struct ActionDrafts {
  std::vector<Draft> forward, backward, input, weight;
};
// Sends activations that wait for their backward to the host's memory and back
// (Setup::offload_activations).
void offload_activations(ActionDrafts& actions);

bool is_expert_layer(const Model& model, int layer);
// The category in which a tensor is counted; then that of a buffer which this operand opens or
// uses.
Category category_of(Tensor tensor);
inline Category category_of(const DraftOperand& operand) {
  return operand.kept ? Category::kActivations : category_of(operand.tensor);
}

}  // namespace parallelarium
