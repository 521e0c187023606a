// SPDX-License-Identifier: Apache-2.0
// Writes Drafts operand by operand. It knows sizes and types, but no pieces.
#pragma once

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "engine/passes/pieces.h"

namespace parallelarium {

class DraftWriter {
 public:
  DraftWriter(const LocalSizes& sizes, const std::vector<ParameterSlice>& slices)
      : z_(sizes), slices_(slices) {}

  std::vector<Draft> take() { return std::move(drafts_); }

  Draft& begin(Piece piece, Phase phase, int layer, std::int64_t elements) {
    constexpr std::size_t kOperands = 6;  // enough for most pieces
    Draft& draft = drafts_.emplace_back();
    draft.operands.reserve(kOperands);
    draft.op.piece = piece;
    draft.op.phase = phase;
    draft.op.layer = static_cast<std::int16_t>(layer);
    Work work;
    work.piece = piece;
    work.phase = phase;
    work.elements = elements;
    draft.work.push_back(work);
    return draft;
  }

  void add(Tensor tensor, int layer, Access access, std::int64_t count, std::int64_t offset = 0,
           std::int64_t opens = 0, DataType type = DataType::kF32) {
    DraftOperand operand;
    operand.tensor = tensor;
    operand.layer = static_cast<std::int16_t>(layer);
    operand.access = access;
    operand.type = type;
    operand.offset = offset;
    operand.count = count;
    operand.opens = opens;
    Draft& draft = drafts_.back();
    draft.operands.push_back(operand);
    draft.work.back().bytes += count * size_of(type) * (access == Access::kAccumulate ? 2 : 1);
  }
  void read(Tensor tensor, int layer, std::int64_t count) {
    add(tensor, layer, Access::kRead, count, 0, 0, z_.type);
  }
  // Gives the buffer of the last operand a number among those of the same tensor and layer.
  void part(std::int16_t part) { drafts_.back().operands.back().part = part; }
  void per_microbatch(std::int64_t elements) {
    drafts_.back().operands.back().per_microbatch = elements;
  }
  // Opens the tensor's buffer and writes all of it.
  void write(Tensor tensor, int layer, std::int64_t count) {
    add(tensor, layer, Access::kWrite, count, 0, count * size_of(z_.type), z_.type);
  }
  void write_float(Tensor tensor, int layer, std::int64_t count) {
    add(tensor, layer, Access::kWrite, count, 0, count * 4);
  }
  void read_float(Tensor tensor, int layer, std::int64_t count, std::int64_t offset = 0) {
    add(tensor, layer, Access::kRead, count, offset);
  }
  void parameter(Parameter which, int layer) {
    const ParameterSlice& slice = slice_of(which, layer);
    add(Tensor::kParameters, -1, Access::kRead, slice.count, slice.offset, 0, z_.type);
  }
  void gradient(Parameter which, int layer) {
    const ParameterSlice& slice = slice_of(which, layer);
    add(Tensor::kGradients, -1, Access::kAccumulate, slice.count, slice.offset, 0,
        z_.precision.gradient_bytes == 2 ? DataType::kBf16 : DataType::kF32);
  }
  void tokens(Tensor tensor) {
    add(tensor, -1, Access::kRead, z_.N, 0, 0, DataType::kI32);
    drafts_.back().operands.back().per_microbatch = z_.N;
  }
  void product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t repeat = 1) {
    Work& work = drafts_.back().work.back();
    work.m = m;
    work.n = n;
    work.k = k;
    work.repeat = repeat;
    work.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                 static_cast<double>(repeat);
  }

  // How many slices of the parameter come before that of the layer.
  std::int64_t place_among(Parameter which, int layer) const {
    std::int64_t before = 0;
    for (const ParameterSlice& slice : slices_)
      before += slice.parameter == which && slice.layer < layer ? 1 : 0;
    return before;
  }

  // The work of the last draft.
  Work& work() { return drafts_.back().work.back(); }
  std::vector<Draft>& drafts() { return drafts_; }

 private:
  // Pieces ask layer by layer, forwards or backwards, and slices are ordered by layer. So the
  // search begins one layer before the last slice found.
  const ParameterSlice& slice_of(Parameter which, int layer) {
    constexpr std::size_t kLayerBefore = 32;
    std::size_t at = near_ - std::min(near_, kLayerBefore);
    for (std::size_t looked = 0; looked < slices_.size(); ++looked, ++at) {
      if (at == slices_.size()) at = 0;
      if (slices_[at].parameter != which || slices_[at].layer != layer) continue;
      near_ = at;
      return slices_[at];
    }
    assert(false);
    return slices_.front();
  }

  const LocalSizes& z_;
  const std::vector<ParameterSlice>& slices_;
  std::size_t near_ = 0;
  std::vector<Draft> drafts_;
};

}  // namespace parallelarium
