// SPDX-License-Identifier: Apache-2.0
// A Program says what every rank does in one training step or one collective.
//
// It holds facts about work (which bytes, which FLOPs, in what order), never times: the predictor
// and the engine each turn one Program into a Timeline.
//
// Meaning. Each rank owns three lanes. A lane starts its ops strictly in order; an op starts when
// the lane is free and every op in `after` has ended. Lanes of a rank overlap freely. This is the
// contract of CUDA streams and events. A Send ends with its Recv (rendezvous: no hidden buffering).
// The k-th send from a to b in a group meets the k-th receive; there are no tags. Ops of one
// `batch` (adjacent in their lane) start together, progress concurrently and end together.
//
// A rank's ops are in issue order. That is every lane's order, and the order in which buffers open
// and close. So the memory peak is a function of the Program alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/model/model.h"
#include "engine/plan/order/order.h"
#include "engine/plan/program/mesh.h"
#include "engine/plan/program/pieces.h"

namespace parallelarium {

enum class OpKind : std::uint8_t { kCompute, kSend, kRecv, kCollective };
enum class Lane : std::uint8_t { kCompute, kPipeline, kData };
inline constexpr int kLanes = 3;
enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kScatter,
  kGather,
  kReduce
};
inline constexpr int kCollectiveKinds = 8;
enum class Reduction : std::uint8_t { kNone, kSum, kMax, kProd, kMin, kAvg };
enum class Purpose : std::uint8_t {
  kNone,
  kActivations,
  kGradients,
  kParameters,
  kTokens,
  kKeysValues,
  kEmbedding,
  kNorm,
  kLoss,
  kReplicated,  // gradients of what every rank of a TP group holds whole
  kRegather,    // sequence parallelism: activations gathered once more for a weight gradient
  kCounts
};
enum class DataType : std::uint8_t { kF32, kBf16, kF64, kI32, kU8 };
enum class Category : std::uint8_t { kParameters, kGradients, kOptimizer, kActivations, kBuffers };
inline constexpr int kCategories = 5;
using CategoryBytes = std::array<std::int64_t, kCategories>;
enum class Access : std::uint8_t { kRead, kWrite, kAccumulate };

std::string_view name_of(OpKind kind);
std::string_view name_of(Lane lane);
std::string_view name_of(CollectiveKind kind);  // "all_reduce"
std::string_view name_of(Reduction reduction);  // "none" "sum" "max" "prod" "min" "avg"
std::string_view name_of(DataType type);        // "float32" "bfloat16" "float64" "int32"
std::string_view name_of(Purpose purpose);
std::string_view name_of(Category category);
std::int64_t size_of(DataType type);  // bytes of one element

inline constexpr std::int16_t kTensorShare = -2;  // Operand::shard

// A range of one buffer that an op touches. Offset and count in elements of `type`.
struct Operand {
  std::int32_t buffer = -1;
  Access access = Access::kRead;
  DataType type = DataType::kF32;
  // >= 0: the rank's own part of RankProgram::buckets[shard], so that ranks differ in it.
  // kTensorShare: the rank's share of what all ranks of its TP group have.
  std::int16_t shard = -1;
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

struct Buffer {
  Tensor tensor = Tensor::kScratch;
  Category category = Category::kBuffers;
  std::int16_t layer = -1;       // -1: none
  std::int32_t microbatch = -1;  // -1: none
  std::int64_t bytes = 0;
  std::int64_t offset = -1;  // in the rank's one allocation, in bytes; set by plan_memory
  // The op that opens it and the last that uses it (indices of the rank's ops, in issue order);
  // -1, -1: held for the whole step.
  std::int32_t opened_by = -1;
  std::int32_t closed_by = -1;
};

// Work that a Compute op stands for, as the cost model needs it. Matrix products give m, n, k and
// their number. All pieces give the bytes that they move at least and the elements that they visit.
struct Work {
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t repeat = 1;    // equal products or calls in this entry
  double flops = 0;           // of all repeats
  std::int64_t bytes = 0;     // of all repeats
  std::int64_t elements = 0;  // of all repeats
};

struct Op {
  OpKind kind = OpKind::kCompute;
  Lane lane = Lane::kCompute;
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  CollectiveKind collective = CollectiveKind::kAllReduce;  // kCollective only
  // How a Collective, a kCombine or a combining Recv reduces its operands. Such a Recv combines
  // what comes with what is there (its operands accumulate) instead of overwriting it.
  Reduction reduction = Reduction::kNone;
  Purpose purpose = Purpose::kNone;  // communication only
  DataType type = DataType::kF32;    // of the payload
  std::int16_t layer = -1;
  std::int16_t chunk = 0;  // model chunk; in a collective's step: the first chunk of its message
  // The step of a ring of CP or TP. For attention and for tokens that travel, it tells whose tokens
  // they are, as steps against the ring; 0: the rank's own. For an all-to-all of expert tokens, 0:
  // to the experts, 1: back.
  std::int16_t block = 0;
  std::int32_t microbatch = -1;
  std::int32_t action =
      -1;                   // index in the rank's line of the Order; ops of one action make one bar
  std::int32_t peer = -1;   // global rank at the other end of a Send or Recv
  std::int32_t group = -1;  // index in Program::groups; communication only
  std::int32_t batch = -1;  // >= 0: starts and ends with its neighbours of the same batch
  std::int32_t work = -1;   // index in Program::works; Compute only
  std::int32_t fold = -1;   // stage level: index in Program::folds; a Compute op's work
  // The index of the first step of the collective that this op is a step of; -1: it is no step. The
  // steps follow one another.
  std::int32_t steps_from = -1;
  // Payload in bytes. A Send or Recv counts what travels: its operands' elements in their order, as
  // one message. A Collective counts the whole array, as nccl-tests does (all-reduce: the array;
  // all-gather and reduce-scatter: the gathered array).
  std::int64_t bytes = 0;
  std::int32_t repeat = 1;  // stage level: this many equal ops in a row, with `bytes` each
  std::int32_t after_first = 0, after_count = 0;      // in RankProgram::after
  std::int32_t operand_first = 0, operand_count = 0;  // in RankProgram::operands
};

struct ParameterSlice {
  Parameter parameter = Parameter::kTokenTable;
  std::int16_t layer = -1;
  bool shared_copy = false;  // a second copy of a tied table; left out of norms and counts
  std::int64_t offset = 0;   // elements, in kParameters and kGradients
  std::int64_t count = 0;
  std::int64_t rows = 1;  // count / rows = fan-in of a weight
  // Elements at the end that other ranks of the TP group hold too. One of these ranks counts them;
  // here they are left out of norms and counts.
  std::int64_t copied = 0;
};

// A stretch of parameters that ZeRO cuts over the ranks of a group: a layer, the tables, or final
// norm and head. Each rank owns one chunk (chunk_of): it keeps its states and updates it.
struct Bucket {
  std::int64_t begin = 0, count = 0;          // elements, as ParameterSlice::offset counts
  std::int64_t own_begin = 0, own_count = 0;  // the rank's own part, counted likewise
  std::int64_t held = 0;  // where the own part begins in buffers that hold only own parts
};

// What one rank does, in issue order.
struct RankProgram {
  int rank = 0;                 // global
  Coordinates at;               // its place on the mesh
  int stage = 0;                // coordinate along pp
  std::vector<int> layers;      // held layers, ascending
  std::vector<Action> actions;  // its line of the Order
  std::vector<Op> ops;
  std::vector<std::int32_t> after;  // earlier ops of the same rank, by index
  std::vector<Operand> operands;
  std::vector<Buffer> buffers;
  std::vector<ParameterSlice> parameters;
  std::vector<Bucket> buckets;   // ascending; empty without ZeRO
  std::int64_t arena_bytes = 0;  // the one allocation that holds every buffer

  std::span<const std::int32_t> after_of(const Op& op) const {
    return {after.data() + op.after_first, static_cast<std::size_t>(op.after_count)};
  }
  std::span<const Operand> operands_of(const Op& op) const {
    return {operands.data() + op.operand_first, static_cast<std::size_t>(op.operand_count)};
  }
};

struct Group {
  Axis axis = Axis::kWorld;
  std::vector<int> ranks;  // global, ascending
};

enum class Level : std::uint8_t { kPiece, kStage };

// The Compute ops that one op of the stage level stands for. They follow one another in the compute
// lane. No other lane waits for one in their midst, and none of these waits for another lane.
struct Fold {
  struct Part {
    std::int16_t layer = -1;
    Piece piece = Piece::kStage;
    Phase phase = Phase::kForward;
    std::int16_t block = 0;
    std::int32_t work = -1;  // index in Program::works
  };
  std::vector<Part> parts;
  // What computes and what moves, in issue order. It is set if a ring of TP goes round inside, or,
  // without `moved`, if the fold's collectives come between its parts. Empty: the parts follow one
  // another.
  struct Step {
    std::int32_t part = -1;   // index in `parts`; -1: the step moves something
    std::int32_t moves = -1;  // index in `moved`, or in the collectives behind the fold's op
    std::int32_t after = -1;  // the last step of the other lane that it waits for
    bool joins = false;       // starts and ends with the step before it
  };
  std::vector<Step> steps;
  std::vector<Op> moved;  // as the pieces have it; equal ops once
  // The op opens all its buffers at once, but its parts open them in turn. So fewer bytes are held
  // at most than with all open. This says how many fewer: for each category, and for each when
  // their sum is largest.
  CategoryBytes most_less{}, peak_less{};
};

// What the execution of experts needs to know beside operands.
struct ExpertShape {
  Experts model;
  std::int64_t ffn = 0;        // of this rank
  int ranks = 1;               // EP
  std::int64_t stripes = 1;    // EP if experts are placed round robin, else 1
  std::int64_t capacity = 0;   // tokens of a micro-batch that an expert takes; 0: all
  std::int64_t even_rows = 0;  // rows of a micro-batch that a rank's experts take with even routing
  double balance_loss = 0, z_loss = 0, bias_rate = 0, skew = 0;
};

// Elements from one row of V logits to the next. In any type every row begins at a multiple of 16
// bytes, as fast products and loads need it; the vocabulary of GPT-2, for one, is odd.
constexpr std::int64_t logits_pitch(std::int64_t V) { return (V + 7) / 8 * 8; }

// Sizes that kernels need beside their operands.
struct Shape {
  std::int64_t B = 0, T = 0, C = 0, H = 0, K = 0, D = 0, F = 0, V = 0;
  std::int64_t global_tokens = 0;  // tokens of one step's global batch
  int layers = 0;
  Mlp mlp = Mlp::kGelu;
  Norm norm = Norm::kLayer;
  bool biases = true;
  bool learned_positions = true;
  bool tied = true;
  std::int64_t sequence = 0;  // tokens of a whole sequence, before CP cuts it to T
  // A rank's T tokens are two runs, one from each end of the sequence, so that all ranks have equal
  // work under the causal mask (Dubey et al. 2024, section 3.3.2).
  bool zigzag = false;
  // How many CP ranks' keys and values a rank's queries meet block by block. 1: all that they see
  // is in one place.
  int key_blocks = 1;
  bool local = false;           // with CP, a rank's queries meet its own keys alone
  bool fused = false;           // attention keeps no probabilities
  bool fp8 = false;             // pieces that may multiply FP8 do (multiplies_fp8)
  bool half_gradients = false;  // gradients of weights have 16 bit
  // Over all ranks; TP V may exceed vocab: the last ranks' part is padded.
  std::int64_t heads = 0, vocab = 0;
  // Dropout rate of the probabilities, and of both branches where they join the stream.
  double dropout = 0;
  ExpertShape experts;

  // Whether ranks exchange the maxima of their logits before they add up exponentials.
  bool cuts_vocabulary() const { return V < vocab; }
  std::int64_t logits_pitch() const { return parallelarium::logits_pitch(V); }
};
// The positions of the T tokens of CP rank `cp`: one or two runs, one after another.
struct PositionRuns {
  int runs = 1;
  std::int64_t begin[2] = {0, 0};
  std::int64_t length = 0;  // of each
};
PositionRuns positions_of(const Shape& shape, int cp);

struct Program {
  Shape shape;
  Level level = Level::kPiece;
  int world = 0;  // ranks of the Setup
  // Which ranks are built: all of them, or with `representatives` those with tp = cp = dp = 0 of
  // every pipeline stage, by ascending stage. The others do the same at the same time.
  bool representatives = false;
  std::vector<RankProgram> ranks;
  std::vector<Group> groups;
  std::vector<std::vector<Work>> works;
  std::vector<Fold> folds;  // stage level
  std::int32_t batches = 0;

  std::int64_t op_count() const;
};

// The op that this part of a folded op stands for.
inline Op op_of(const Fold::Part& part, const Op& folded) {
  Op op = folded;
  op.layer = part.layer;
  op.piece = part.piece;
  op.phase = part.phase;
  op.block = part.block;
  op.work = part.work;
  op.fold = -1;
  return op;
}

// Whether the op stands for what a ring of TP moves inside a fold. It then takes the time that
// nothing hides of it, and follows what the fold computes.
inline bool is_ring_inside(const Program& program, const Op& op) {
  return op.fold >= 0 && op.kind != OpKind::kCompute &&
         !program.folds[static_cast<std::size_t>(op.fold)].steps.empty();
}

// The index in Program::ranks of the built rank that stands for `rank`: itself, or the one of its
// stage.
// `rank` must be in [0, program.world), and `mesh` must be the Program's.
int representative_of(const Program& program, const Mesh& mesh, int rank);

// Bytes that group member `index` sends (and receives) in a collective of `bytes` bytes over n
// ranks, done the direct way. Reduce-scatter and all-gather send what others need; an all-reduce is
// both. The root of a broadcast, scatter, gather or reduce is member 0. Chunks differ by at most
// one element of `type`. Source: nccl-tests PERFORMANCE.md for equal chunks.
struct Volume {
  std::int64_t sent = 0, received = 0;
};
Volume collective_volume(CollectiveKind kind, DataType type, std::int64_t bytes, int n, int index);
// The launches of the busiest of n members in a collective among members that see each other's
// memory (run/cpu/direct.h), and how many chunks these read or write. Each member combines its own
// chunk of all n arrays, then copies the chunks of the others. In an all-to-all members swap chunks
// with each other, and a chunk is a member's share.
struct DirectWork {
  int launches = 0, chunks = 0;
};
DirectWork direct_work(CollectiveKind kind, int n);
// Elements [begin, end) of chunk `index` when `count` elements are cut for n ranks.
struct ChunkRange {
  std::int64_t begin = 0, end = 0;
};
ChunkRange chunk_of(std::int64_t count, int n, int index);

// Sentences about everything that would make the Program hang or compute the wrong thing; empty if
// it is right. check() simulates with rendezvous, the strictest reading, and names a waiting circle
// rank by rank. It matches sends with receives (bytes, purpose) and collectives with each other. It
// finds missing or doubled work, operands outside their buffers or used while these are closed, and
// buffers that overlap.
std::vector<Message> check(const Program& program);

}  // namespace parallelarium
