// SPDX-License-Identifier: Apache-2.0
// Runs a OneRankProgram on a Device.
#pragma once

#include <memory>
#include <vector>

#include "engine/train/device.h"
#include "engine/train/parameters.h"
#include "engine/train/pieces/execute.h"
#include "tests/train/one_rank_program.h"

namespace parallelarium {

class OneRank {
 public:
  OneRank(const Shape& shape, int microbatches)
      : program_(shape, microbatches), device_(make_cpu_device()) {
    arena_ = *device_->allocate(program_.rank().arena_bytes);
    device_->zero(arena_, program_.rank().arena_bytes);
  }
  ~OneRank() { device_->release(arena_); }
  OneRank(const OneRank&) = delete;
  OneRank& operator=(const OneRank&) = delete;

  const OneRankProgram& program() const { return program_; }

  void initialise(std::uint64_t seed) {
    for (const ParameterSlice& slice : program_.rank().parameters)
      set_parameter(slice, initial_values(seed, slice.parameter, slice.layer, slice.count,
                                          program_.shape().layers));
  }
  void set_parameter(const ParameterSlice& slice, const std::vector<float>& values) {
    device_->copy_to_device(address(Tensor::kParameters) + 4 * slice.offset, values.data(),
                            4 * slice.count);
  }
  // tokens, targets: [microbatches * B * T].
  void set_text(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& targets) {
    device_->copy_to_device(address(Tensor::kTokens), tokens.data(), bytes(Tensor::kTokens));
    device_->copy_to_device(address(Tensor::kTargets), targets.data(), bytes(Tensor::kTargets));
  }

  // Executes the ops from the first to the optimizer, which runs only when asked for. The mean loss
  // per token, or NaN when an op failed.
  double step(const StepScalars& scalars, bool optimize) {
    device_->zero(address(Tensor::kLossSum), 8);
    for (const Op& op : program_.rank().ops) {
      if (op.piece == Piece::kOptimizer && !optimize) continue;
      if (!execute_op(*device_, program_.shape(), program_.rank(), op, arena_, scalars))
        return std::numeric_limits<double>::quiet_NaN();
    }
    double sum = 0;
    device_->copy_to_host(&sum, address(Tensor::kLossSum), 8);
    return sum / static_cast<double>(program_.shape().global_tokens);
  }

  double square_sum() {
    double sum = 0;
    device_->copy_to_host(&sum, address(Tensor::kSquareSum), 8);
    return sum;
  }
  std::vector<float> read(Tensor tensor) {
    std::vector<float> values(static_cast<std::size_t>(bytes(tensor) / 4));
    device_->copy_to_host(values.data(), address(tensor), bytes(tensor));
    return values;
  }

 private:
  std::byte* address(Tensor tensor) const { return arena_ + program_.buffer(tensor).offset; }
  std::int64_t bytes(Tensor tensor) const { return program_.buffer(tensor).bytes; }

  OneRankProgram program_;
  std::unique_ptr<Device> device_;
  std::byte* arena_ = nullptr;
};

}  // namespace parallelarium
