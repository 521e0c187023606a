// SPDX-License-Identifier: Apache-2.0
// Copies what probes ask for from the memory of one rank while its ops run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/run/arena.h"
#include "engine/run/train/executor/executor.h"
#include "engine/run/train/probe/probe.h"

namespace parallelarium {

class Prober : public OpProbe {
 public:
  // Allocates all memory that it will need, so that a step allocates nothing. References outlive
  // this object.
  Prober(const Setup& setup, const Shape& shape, const RankProgram& rank, const Arena& arena,
         const std::vector<Probe>& probes);

  // Bytes of host memory for the copies.
  std::int64_t bytes() const { return bytes_; }
  // Sets the step that begins now; see Probe::step. No op may be running.
  void begin_step(int step) { step_ = step; }
  // Whether any probe looks at this step.
  bool looks_at(int step) const;

  // Copy operands as the op finds them and as it leaves them. Called by the thread of its lane.
  Result<void> before(std::int32_t op, Device& device) override;
  Result<void> after(std::int32_t op, Device& device) override;

  // Returns all that was copied. No op may be running.
  std::vector<ProbedRank> take();

 private:
  // One operand of one op, before or after it. An op of a ring of TP copies its own block only,
  // since the ring's lane may write the other blocks meanwhile.
  struct Copy {
    int step = 0;
    std::int32_t op = -1;
    bool written = false;
    std::size_t operand = 0;
    std::int64_t first = 0, count = 0;  // elements of the operand
    const std::byte* from = nullptr;
    std::vector<std::byte> to;
    bool is_of(const Copy& other) const {
      return step == other.step && op == other.op && written == other.written &&
             operand == other.operand && first == other.first && count == other.count;
    }
  };
  struct Part {
    OpTensor tensor;
    std::size_t copy = 0;
  };
  // A tensor. In a ring of TP it has blocks, in the order of their tokens.
  struct Wanted {
    std::vector<Part> parts;
    const OpTensor& tensor() const { return parts.front().tensor; }
  };
  struct ProbeCopies {
    Probe probe;
    std::vector<Wanted> tensors;
    int routes = -1;  // the copy that says which rows are whose; -1: there are no rows
  };
  void want(const Probe& probe);
  void want(OpTensor tensor, int step, std::int32_t op, std::vector<Wanted>& wanted);
  const Operand& operand_of(const Copy& copy) const;
  Copy whole_operand(int step, std::int32_t op, bool written, std::size_t operand) const;
  // Adds the copy unless it is there, and returns its place in copies_.
  std::size_t add(Copy copy);
  void copy(std::int32_t op, bool written, Device& device);

  const Setup& setup_;
  const Shape& shape_;
  const RankProgram& rank_;
  const Arena& arena_;
  std::vector<Copy> copies_;
  std::vector<bool> probed_;  // by op
  std::vector<ProbeCopies> wanted_;
  std::int64_t bytes_ = 0;
  int step_ = 0;
};

}  // namespace parallelarium
