// SPDX-License-Identifier: Apache-2.0
// Shows the operands of a Compute op as named tensors. It tells what each dimension counts, what
// the axes of parallelism cut, what is a partial sum, and what is the same on several ranks. It
// reads the op's operands as plan/program/pieces.h lists them, and the sizes that the passes have
// cut.
//
// Legend: see plan/program/pieces.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// The indices [begin, end) of a dimension of the whole tensor that a rank has because of one axis.
// If two axes cut a dimension, the rank has the indices that are in both cuts.
struct TensorCut {
  Axis axis = Axis::kTp;
  std::vector<ChunkRange> ranges;  // ascending
};

struct TensorDimension {
  // A letter of the legend: "B" "T" "C" "H" "K" "D" "F" "V" "E" "k"; "N" = B T; "R": rows, each a
  // token on its way to one of its experts.
  std::string name;
  std::int64_t size = 0;             // on this rank
  std::int64_t whole = 0;            // in the whole tensor
  std::int64_t stride = 0;           // elements of the operand from one index to the next
  std::vector<std::int64_t> places;  // if not empty, the place of each index instead
  std::vector<TensorCut> cuts;
  // The indices of the whole tensor that this rank has, in its order.
  std::vector<ChunkRange> held() const;
  bool counts_tokens() const { return name == "B" || name == "T" || name == "N" || name == "R"; }
};

struct OpTensor {
  std::string name;      // of this op alone: "y", "q", "w-gate", "dw"
  bool written = false;  // the op leaves it; else the op finds it
  std::size_t operand = 0;
  std::int64_t offset = 0;  // elements of the operand before the tensor
  // In a ring of TP: the rank of TP whose tokens the tensor has; -1: it is no block of a ring.
  int block = -1;
  DataType type = DataType::kF32;
  std::vector<TensorDimension> dimensions;  // row-major order
  // The tensor is a partial sum: ranks along these axes have to be added up.
  std::vector<Axis> partial;
  // Ranks along these axes have the same tensor.
  std::vector<Axis> replicated;

  std::int64_t elements() const;
  // Whether its first dimension is rows. Only the step knows how many there are; sizes and cuts are
  // those of even routing.
  bool by_row() const { return !dimensions.empty() && dimensions.front().name == "R"; }
  // Calls visit(element of the operand) for each element, in row-major order.
  template <class Visit>
  void for_each_element(const Visit& visit) const {
    std::vector<std::int64_t> index(dimensions.size(), 0);
    for (std::int64_t left = elements(); left > 0; --left) {
      std::int64_t at = offset;
      for (std::size_t d = 0; d < index.size(); ++d) {
        const TensorDimension& dimension = dimensions[d];
        at += dimension.places.empty() ? index[d] * dimension.stride
                                       : dimension.places[static_cast<std::size_t>(index[d])];
      }
      visit(at);
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < dimensions[d].size) break;
        index[d] = 0;
      }
    }
  }
};

// The tensors of the op; those that it finds come first. In a ring of TP a send finds what it
// sends, and a receive leaves what it receives. Empty for ops that are not described: other
// communication, updates, copies between layouts, and some that are predicted only.
// The op must be in `rank`, which was built piece by piece, and `shape` be made from `setup`.
std::vector<OpTensor> tensors_of(const Setup& setup, const Shape& shape, const RankProgram& rank,
                                 const Op& op);

// Whether a run can probe the op, that is, copy its tensors.
bool is_probed(const Setup& setup, const Shape& shape, const RankProgram& rank, const Op& op);

// A name of the Program as one word: "mlp-in", "norm-1", "input-gradient".
std::string key_of(std::string_view name);

}  // namespace parallelarium
