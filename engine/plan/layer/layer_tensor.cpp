// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_tensor.h"

#include <algorithm>

namespace parallelarium {

namespace {

using Dimensions = std::vector<TensorDimension>;

struct MatrixSide {
  std::int64_t whole = 1, held = 1;
  std::vector<ChunkRange> ranges = {{0, 1}};
};

// Several dimensions as one, the last of them innermost.
MatrixSide side_of(const TensorDimension* begin, const TensorDimension* end) {
  MatrixSide side;
  for (const TensorDimension* at = end; at != begin;) {
    --at;
    std::vector<ChunkRange> ranges;
    const bool full = side.ranges.size() == 1 && side.held == side.whole;
    for (const ChunkRange& of : at->held()) {
      if (full) {
        ranges.push_back({of.begin * side.whole, of.end * side.whole});
        continue;
      }
      for (std::int64_t index = of.begin; index < of.end; ++index)
        for (const ChunkRange& inner : side.ranges)
          ranges.push_back({index * side.whole + inner.begin, index * side.whole + inner.end});
    }
    side.ranges = std::move(ranges);
    side.whole *= at->whole;
    side.held *= at->size;
  }
  return side;
}

// `looks_up`: of the embedding, whose tables' rows are looked up.
void set_sides(LayerTensor& tensor, const Dimensions& all, bool looks_up) {
  const TensorDimension *begin = all.data(), *end = begin + all.size(), *middle = begin;
  if (tensor.role != TensorRole::kActivation) {
    // [out, in] in memory; where C is what comes out, it stands first. Gains and biases are rows.
    if (all.size() > 1 && all.front().name == "C")
      middle = begin + 1;
    else
      middle = all.size() > 1 && all.back().name == "C" ? end - 1 : end;
  } else if (tensor.scores) {
    begin = end - 2;
    middle = end - 1;
  } else {
    while (middle != end && middle->counts_tokens()) ++middle;
  }
  MatrixSide rows = side_of(begin, middle), columns = side_of(middle, end);
  if (tensor.role != TensorRole::kActivation && !looks_up) std::swap(rows, columns);
  tensor.rows = rows.whole;
  tensor.held_rows = rows.held;
  tensor.row_ranges = std::move(rows.ranges);
  tensor.columns = columns.whole;
  tensor.held_columns = columns.held;
  tensor.column_ranges = std::move(columns.ranges);
}

TensorRole role_of(Tensor tensor) {
  switch (tensor) {
    case Tensor::kParameters:
    case Tensor::kGathered:
      return TensorRole::kWeight;
    case Tensor::kGradients:
    case Tensor::kBucketGradients:
      return TensorRole::kWeightGradient;
    default:
      return TensorRole::kActivation;
  }
}

bool is_of_experts(Piece piece) {
  return piece == Piece::kRouter || piece == Piece::kDispatch || piece == Piece::kExpert;
}

// Takes the dimension that counts experts out of a tensor of their weights.
void take_experts(LayerTensor& tensor, Dimensions& all) {
  const auto experts = std::find_if(all.begin(), all.end(),
                                    [](const TensorDimension& each) { return each.name == "E"; });
  if (tensor.role == TensorRole::kActivation || all.size() < 3 || experts == all.end()) return;
  tensor.experts = experts->held();
  tensor.all_experts = static_cast<int>(experts->whole);
  all.erase(experts);
}

// Which rows a rank has, only routing says: those of other ranks have no places beside them.
void take_rows(LayerTensor& tensor) {
  tensor.by_row = true;
  tensor.rows = tensor.held_rows;
  tensor.row_ranges = {{0, tensor.held_rows}};
}

// Where each rank of TP sends its own tokens alone, its rows are no other's.
bool is_alone(const Setup& setup, const LayerTensor& tensor, Piece piece) {
  return tensor.by_row && routes_own_tokens(setup) &&
         (piece != Piece::kExpert || !setup.mesh.expert_tensor);
}

int tokens_of(const Setup& setup, const LayerTensor& tensor, Piece piece, const Coordinates& at) {
  if (tensor.role == TensorRole::kWeight && is_of_experts(piece)) return -1;
  return at.dp * setup.mesh.tp + (is_alone(setup, tensor, piece) ? at.tp : 0);
}

bool inside_group(const std::vector<Axis>& axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [](Axis axis) { return axis == Axis::kTp || axis == Axis::kCp; });
}

}  // namespace

std::vector<OpTensor> op_tensors_at(const Setup& setup, const Shape& shape,
                                    const RankProgram& built, const Op& op, const Coordinates& at) {
  // What the op touches and which ops opened that, as the program of the rank itself would have it.
  RankProgram own;
  own.rank = rank_of(setup.mesh, at);
  own.at = at;
  Op alone = op;
  alone.operand_first = 0;
  for (const Operand& operand : built.operands_of(op)) {
    Buffer& buffer =
        own.buffers.emplace_back(built.buffers[static_cast<std::size_t>(operand.buffer)]);
    if (buffer.opened_by >= 0) {
      own.ops.push_back(built.ops[static_cast<std::size_t>(buffer.opened_by)]);
      buffer.opened_by = static_cast<std::int32_t>(own.ops.size() - 1);
    }
    own.operands.push_back(operand);
    own.operands.back().buffer = static_cast<std::int32_t>(own.buffers.size() - 1);
  }
  return tensors_of(setup, shape, own, alone);
}

std::vector<LayerTensor> layer_tensors(const Setup& setup, const Shape& shape,
                                       const RankProgram& built, const Op& op,
                                       const Coordinates& at) {
  const auto operands = built.operands_of(op);
  std::vector<LayerTensor> tensors;
  for (const OpTensor& of : op_tensors_at(setup, shape, built, op, at)) {
    LayerTensor& tensor = tensors.emplace_back();
    tensor.name = of.name;
    tensor.written = of.written;
    tensor.block = of.block;
    const std::int32_t buffer = operands[of.operand].buffer;
    tensor.role = role_of(built.buffers[static_cast<std::size_t>(buffer)].tensor);
    tensor.bytes = of.elements() * size_of(of.type);
    tensor.partial = inside_group(of.partial);
    Dimensions all = of.dimensions;
    const bool activation = tensor.role == TensorRole::kActivation;
    tensor.scores = activation && all.size() == 4 && all[1].name == "H" && all[3].name == "T";
    if (activation)
      for (const TensorDimension& dimension : all)
        if (dimension.name == "H" || dimension.name == "K") tensor.heads = dimension.held();
    take_experts(tensor, all);
    set_sides(tensor, all, op.piece == Piece::kEmbedding);
    if (of.by_row()) take_rows(tensor);
    tensor.tokens_of = tokens_of(setup, tensor, op.piece, at);
    tensor.copy = inside_group(of.replicated) && !is_alone(setup, tensor, op.piece);
  }
  return tensors;
}

}  // namespace parallelarium
