// SPDX-License-Identifier: Apache-2.0
// The operands of a Compute op as tensors that have names: what each dimension counts, what the
// axes of parallelism cut, what is a partial sum, and what is the same on several ranks. It reads
// the op's operands as plan/program/pieces.h lists them, and the sizes that the passes have cut.
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

// By one axis a rank has these indices [begin, end) of a dimension of the whole tensor. Where two
// axes cut a dimension, the rank has what both say.
struct TensorCut {
  Axis axis = Axis::kTp;
  std::vector<ChunkRange> ranges;  // ascending
};

struct TensorDimension {
  // Of the legend: "B" "T" "C" "H" "K" "D" "F" "V" "E" "k"; "N" = B T; "R": rows, each a token on
  // its way to one of its experts.
  std::string name;
  std::int64_t size = 0;             // on this rank
  std::int64_t whole = 0;            // of the whole tensor
  std::int64_t stride = 0;           // elements of the operand from one index to the next
  std::vector<std::int64_t> places;  // if not empty, where each index stands instead
  std::vector<TensorCut> cuts;
  // The indices of the whole tensor that this rank has, in its order.
  std::vector<ChunkRange> held() const;
  bool counts_tokens() const { return name == "B" || name == "T" || name == "N" || name == "R"; }
};

struct OpTensor {
  std::string name;      // of this op alone: "y", "q", "w-gate", "dw"
  bool written = false;  // what the op leaves; else what it finds
  std::size_t operand = 0;
  std::int64_t offset = 0;  // elements of the operand before the tensor
  // Of a ring of TP: the rank of TP whose tokens the tensor has; -1: it is no block of a ring.
  int block = -1;
  DataType type = DataType::kF32;
  std::vector<TensorDimension> dimensions;  // row-major order
  // Ranks of these axes have to be added up to get the whole tensor.
  std::vector<Axis> partial;
  // Ranks of these axes have the same.
  std::vector<Axis> replicated;

  std::int64_t elements() const;
  // Whether it stands row by row. How many rows there are only the step knows; sizes and cuts are
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

// The tensors of the op, first what it finds; of what a ring of TP sends, that it finds it, and of
// what it receives, that it leaves it. Empty where the op is none of those that are described:
// other communication, updates, copies between layouts, some that are predicted only.
// The op must stand in `rank`, which was built piece by piece, and `shape` must be made from
// `setup`.
std::vector<OpTensor> tensors_of(const Setup& setup, const Shape& shape, const RankProgram& rank,
                                 const Op& op);

// Whether probes of a run, which copy an op's tensors, can ask for those of the op.
bool is_probed(const Setup& setup, const Shape& shape, const RankProgram& rank, const Op& op);

// "mlp-in", "norm-1"; "input-gradient": a name of the Program as one word.
std::string key_of(std::string_view name);

}  // namespace parallelarium
