// SPDX-License-Identifier: Apache-2.0
// What happens in one layer of one micro-batch (or before the first layer, or behind the last) on
// every rank of its TP and CP group. A layer of experts has the ranks of its EP group too. The
// steps are the ops of the Program in their order, with the ranks side by side. Each step tells the
// tensors that its op finds and leaves, FLOPs, bytes, and what stays for the backward. All is read
// off the Program that is predicted and run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/layer/context/layer_context.h"
#include "engine/plan/layer/layer_kept.h"
#include "engine/plan/layer/layer_vocabulary.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/tensors/op_tensors.h"

namespace parallelarium {

// A layer, or what is before the first layer and behind the last.
enum class LayerPlace : std::uint8_t { kLayer, kEmbedding, kHead };

struct LayerChoice {
  int layer = 0;  // for kLayer only
  int microbatch = 0;
  bool backward = false;
  LayerPlace place = LayerPlace::kLayer;
  bool operator==(const LayerChoice&) const = default;
};

enum class TensorRole : std::uint8_t { kActivation, kWeight, kWeightGradient };

// A tensor as the matrix that the papers draw: tokens by width, weights [in, out]. Scores are the
// matrix of one head, and experts' weights that of one expert.
struct LayerTensor {
  std::string name;      // as OpTensor::name
  bool written = false;  // the op leaves it; else the op finds it
  TensorRole role = TensorRole::kActivation;
  std::int64_t rows = 1, columns = 1;            // of the whole tensor
  std::int64_t held_rows = 1, held_columns = 1;  // on this rank
  // The place of the rank's part in the whole, ascending.
  std::vector<ChunkRange> row_ranges, column_ranges;
  std::vector<ChunkRange> heads;    // heads of queries, context and scores; empty: it has none
  std::vector<ChunkRange> experts;  // experts whose weights the rank has; empty: none
  int all_experts = 0;              // experts of the layer; 0: these are not weights of experts
  // The rows are tokens on their way to experts. They are the rank's own alone: as many as even
  // routing sends.
  bool by_row = false;
  int block = -1;          // as OpTensor::block
  int tokens_of = 0;       // ranks with the same number have the same tokens; -1: it has no tokens
  std::int64_t bytes = 0;  // on this rank
  bool partial = false;    // a partial sum: ranks of TP or CP have to be added up
  bool copy = false;       // another rank here has the same; shards can be copies too
  bool scores = false;     // [heads, queries, keys]
  bool is_matrix() const { return rows > 1 && columns > 1; }
  int held_experts() const;
  bool is_shard() const {
    return held_rows < rows || held_columns < columns || held_experts() < all_experts;
  }
};

// What one rank does in a step.
struct LayerRankStep {
  int first_op = -1, last_op = -1;  // ops of the built rank; -1: this rank has no part in the step
  double flops = 0;
  std::int64_t moved_bytes = 0;  // bytes that a Compute op reads and writes at least
  std::int64_t sent_bytes = 0;
  int sends_to = -1;            // in an exchange: index in LayerSteps::ranks; else -1
  std::int64_t kept_bytes = 0;  // activations that stay for the backward because of this step
  std::vector<LayerTensor> tensors;
};

enum class LayerStepKind : std::uint8_t {
  kCompute,
  kCollective,
  kExchange,  // sends and receives of one batch
  // The conjugate of a collective: in the step where the other direction communicates, this one
  // sends nothing.
  kNothingSent,
};

struct LayerStep {
  LayerStepKind kind = LayerStepKind::kCompute;
  bool attention = true;  // the step is in the attention half; else in the MLP's
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Purpose purpose = Purpose::kNone;
  Axis axis = Axis::kWorld;  // the axis along which it communicates
  int block = 0;             // as Op::block
  // How many blocks of tokens a ring of TP cuts the product into, if this step is a part of one. In
  // such an exchange, what ranks send and receive are tensors of the ranks.
  int blocks = 1;
  // The papers' "f", "g" or "ḡ" of tensor and sequence parallelism; else empty.
  // Source: Shoeybi et al. 2019, figure 3; Korthikanti et al. 2022, figures 4 and 5.
  std::string symbol;
  bool probed = false;  // as is_probed(): probes of a run show its tensors
  // For a collective of the loss: the number of each token that it combines, "max", "sum" or
  // "target", as OpTensor::name.
  std::string number;
  std::vector<LayerRankStep> ranks;  // as LayerSteps::ranks
};

struct LayerRank {
  int rank = 0;   // global
  int built = 0;  // index in Program::ranks of the built rank that stands for it
  Coordinates at;
  int experts_with = 0;  // the first rank of its EP group; `home` is its own place in that group
  int home = 0;
  std::int64_t kept_bytes = 0;  // activations that wait from the layer's forward for its backward
};

struct LayerSteps {
  LayerChoice choice;
  bool experts = false;  // the MLP half is a mixture of experts
  // The ranks of the first replica, by replica, CP, then TP. A layer of experts has those of the
  // first EP group.
  std::vector<LayerRank> ranks;
  std::optional<RoutedLayer> routed;  // with experts: who sends tokens to whom, as predicted
  std::vector<LayerStep> steps;       // empty if the Program is made of whole stages
  LayerContext context;               // set where CP cuts
  LayerKept kept;                     // set for the forward of a layer
  LayerVocabulary vocabulary;         // set for the embedding and the head
};

// Whether `op` belongs to the choice and its micro-batch, in either direction.
bool is_op_of_choice(const Program& program, const Op& op, const LayerChoice& choice);

// The choice that is nearest to `choice` and exists.
LayerChoice valid_layer_choice(const Setup& setup, LayerChoice choice);

// `program` must be built from `setup`. Cost: one walk over the ops of the group's ranks.
LayerSteps layer_steps(const Setup& setup, const Program& program, LayerChoice choice);

// The other ranks, as indices of LayerSteps::ranks, that have the same part of a tensor as `rank`.
// There are such neighbours if keys and values have fewer heads than TP has ranks. Empty: no other
// rank has the same part, or the tensor is a partial sum.
std::vector<int> ranks_with_same(const LayerStep& step, int tensor, int rank);

// Rows of a tensor that come from the same place or go to the same place.
struct RowRun {
  int home = 0;     // the rank of the EP group that they go to or come from
  int expert = -1;  // the expert that takes them; -1: several do
  std::int64_t rows = 0;
  // For an expert: the rows that it may take at most from all ranks of the EP group (0: no limit),
  // and the tokens that found it full.
  std::int64_t capacity = 0, dropped = 0;
};
// What a piece of rank `home` of the EP group finds and leaves row by row, in its order: by rank
// what it sends and gets back, by expert what its experts take. Empty: the piece has no such rows.
std::vector<RowRun> row_runs(const RoutedLayer& routed, Piece piece, int home);

// The sums over all steps of one rank, an index in LayerSteps::ranks. Tensors and ops are left out.
LayerRankStep layer_total(const LayerSteps& steps, int rank);

}  // namespace parallelarium
