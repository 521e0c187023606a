// SPDX-License-Identifier: Apache-2.0
// What happens in one layer of one micro-batch, or before the first and behind the last, on every
// rank of its TP and CP group, in a layer of experts of its EP group too: the ops of the Program in
// their order, ranks side by side, with the tensors that each op finds and leaves, FLOPs, bytes,
// and what stays for the backward. Read off the Program that is predicted and run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/layer/layer_context.h"
#include "engine/plan/layer/layer_kept.h"
#include "engine/plan/layer/layer_vocabulary.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/tensors/op_tensors.h"

namespace parallelarium {

// A layer, or what stands before the first and behind the last.
enum class LayerPlace : std::uint8_t { kLayer, kEmbedding, kHead };

struct LayerChoice {
  int layer = 0;  // of kLayer
  int microbatch = 0;
  bool backward = false;
  LayerPlace place = LayerPlace::kLayer;
  bool operator==(const LayerChoice&) const = default;
};

enum class TensorRole : std::uint8_t { kActivation, kWeight, kWeightGradient };

// A tensor as the matrix that the papers draw: tokens by width, weights [in, out]. Of scores, the
// matrix of one head; of experts' weights, that of one expert.
struct LayerTensor {
  std::string name;      // as OpTensor::name
  bool written = false;  // what the op leaves; else what it finds
  TensorRole role = TensorRole::kActivation;
  std::int64_t rows = 1, columns = 1;            // of the whole tensor
  std::int64_t held_rows = 1, held_columns = 1;  // on this rank
  // Where the rank's part stands in the whole; ascending.
  std::vector<ChunkRange> row_ranges, column_ranges;
  std::vector<ChunkRange> heads;    // of queries, context and scores; empty: it has no heads
  std::vector<ChunkRange> experts;  // whose weights the rank has; empty: none of experts
  int all_experts = 0;              // of the layer; 0: not weights of experts
  // Rows are tokens on their way to experts: the rank's own alone, as many as even routing sends.
  bool by_row = false;
  int block = -1;     // as OpTensor::block
  int tokens_of = 0;  // ranks with the same number have the same tokens; -1: it is of no tokens
  std::int64_t bytes = 0;  // on this rank
  bool partial = false;    // ranks of TP or CP have to be added up
  bool copy = false;       // a rank beside this one has the same; of shards too
  bool scores = false;     // [heads, queries, keys]
  bool is_matrix() const { return rows > 1 && columns > 1; }
  int held_experts() const;
  bool is_shard() const {
    return held_rows < rows || held_columns < columns || held_experts() < all_experts;
  }
};

// This is what one rank does in a step.
struct LayerRankStep {
  int first_op = -1, last_op = -1;  // of the built rank; -1: this rank has no part in it
  double flops = 0;
  std::int64_t moved_bytes = 0;  // that the op reads and writes at least; Compute only
  std::int64_t sent_bytes = 0;
  int sends_to = -1;            // in an exchange, as LayerSteps::ranks; else -1
  std::int64_t kept_bytes = 0;  // activations that stay for the backward because of this step
  std::vector<LayerTensor> tensors;
};

enum class LayerStepKind : std::uint8_t {
  kCompute,
  kCollective,
  kExchange,  // sends and receives of one batch
  // The conjugate of a collective: where the other direction communicates, this one sends nothing.
  kNothingSent,
};

struct LayerStep {
  LayerStepKind kind = LayerStepKind::kCompute;
  bool attention = true;  // in the attention half; else in the MLP's
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Purpose purpose = Purpose::kNone;
  Axis axis = Axis::kWorld;  // along which it communicates
  int block = 0;             // as Op::block
  // Into so many blocks of tokens a ring of TP cuts the product that this step is a part of; of an
  // exchange, what it sends and receives are tensors of its ranks.
  int blocks = 1;
  // "f", "g" and "ḡ" of tensor and sequence parallelism; else empty.
  // Source: Shoeybi et al. 2019, figure 3; Korthikanti et al. 2022, figures 4 and 5.
  std::string symbol;
  bool probed = false;  // as is_probed(): probes of a run tell its tensors
  // Of a collective of the loss: the number of each token that it adds up, "max", "sum", "target",
  // as OpTensor::name.
  std::string number;
  std::vector<LayerRankStep> ranks;  // as LayerSteps::ranks
};

struct LayerRank {
  int rank = 0;   // global
  int built = 0;  // the built rank that stands for it, as an index in Program::ranks
  Coordinates at;
  int experts_with = 0;  // the first rank of its EP group, and its own place in it
  int home = 0;
};

struct LayerSteps {
  LayerChoice choice;
  bool experts = false;  // the MLP half is a mixture of experts
  // Of the first replica, of experts those of the first EP group: by replica, CP, then TP.
  std::vector<LayerRank> ranks;
  std::optional<RoutedLayer> routed;  // of experts: who sends tokens to whom, as predicted
  std::vector<LayerStep> steps;       // empty where the Program is made of whole stages
  LayerContext context;               // where CP cuts
  LayerKept kept;                     // of a layer's forward
  LayerVocabulary vocabulary;         // of the embedding and the head
};

// Whether `op` belongs to the choice and its micro-batch, in either direction.
bool is_op_of_choice(const Program& program, const Op& op, const LayerChoice& choice);

// The choice that is nearest to `choice` and exists.
LayerChoice valid_layer_choice(const Setup& setup, LayerChoice choice);

// `program` must be built from `setup`. It walks once over the ops of the group's ranks.
LayerSteps layer_steps(const Setup& setup, const Program& program, LayerChoice choice);

// The other ranks, as LayerSteps::ranks, that have the same of a tensor as `rank` has. Heads of
// keys and values that are fewer than ranks of TP make such neighbours. Empty: no rank has, or the
// tensor is a partial sum.
std::vector<int> ranks_with_same(const LayerStep& step, int tensor, int rank);

// Rows of a tensor that have one end of their way in common.
struct RowRun {
  int home = 0;     // the rank of the EP group that they go to or come from
  int expert = -1;  // whose they are; -1: of several
  std::int64_t rows = 0;
  // Of an expert: what it may take at most of all ranks of the EP group (0: no limit), and the
  // tokens that found it full.
  std::int64_t capacity = 0, dropped = 0;
};
// Of what a piece of rank `home` of the EP group finds and leaves row by row, in its order: what it
// sends and gets back by rank, what its experts take by expert. Empty: the piece has no such rows.
std::vector<RowRun> row_runs(const RoutedLayer& routed, Piece piece, int home);

// The sums over all steps of one rank, as an index in LayerSteps::ranks; without tensors and ops.
LayerRankStep layer_total(const LayerSteps& steps, int rank);

}  // namespace parallelarium
