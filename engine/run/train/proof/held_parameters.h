// SPDX-License-Identifier: Apache-2.0
// Finds a rank's parameters, gradients and master copies in its memory, and the part of them that
// the rank owns. It owns what it updates: with ZeRO its chunk of every bucket, else everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"
#include "engine/run/arena.h"

namespace parallelarium {

class HeldParameters {
 public:
  // References outlive this object.
  HeldParameters(const Setup& setup, const RankProgram& rank, const Arena& arena)
      : setup_(setup), rank_(rank), arena_(arena) {}

  // Elements [first, first + count) of a slice, and their address.
  struct Part {
    std::int64_t first = 0, count = 0;
    std::byte* address = nullptr;
  };
  // Whether the rank owns less than it would without ZeRO.
  bool is_cut() const;
  // Whether the rank keeps more of the tensor than it owns.
  bool keeps_all(Tensor tensor) const;
  // The type of kParameters, kGradients or kMaster.
  DataType type_of(Tensor tensor) const;
  // The parts of a slice in the buffer of a tensor: the whole slice if `whole`, else what the rank
  // owns. The rank must hold the tensor. If `whole`, it must keep all of it.
  std::vector<Part> parts(Tensor tensor, const ParameterSlice& slice, bool whole) const;
  std::vector<Part> owned(Tensor tensor, const ParameterSlice& slice) const {
    return parts(tensor, slice, !is_cut());
  }

 private:
  const Setup& setup_;
  const RankProgram& rank_;
  const Arena& arena_;
};

}  // namespace parallelarium
