// SPDX-License-Identifier: Apache-2.0
// Writes OpTensors one after another. It knows how axes cut tokens, heads, widths and vocabulary,
// but it knows no pieces.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/plan/tensors/op_tensors.h"
#include "engine/plan/tensors/ring_block.h"

namespace parallelarium {

class OpTensorWriter {
 public:
  using Dimensions = std::vector<TensorDimension>;
  OpTensorWriter(const Setup& setup, const Shape& shape, const RankProgram& rank, const Op& op)
      : setup_(setup),
        model_(setup.model),
        s_(shape),
        op_(op),
        at_(rank.at),
        rank_(rank),
        operands_(rank.operands_of(op)),
        block_(ring_block_of(setup, shape, rank, op)) {}

  std::vector<OpTensor> take();

 protected:
  // A recompute does what the forward did.
  bool forward() const { return op_.phase == Phase::kForward || op_.phase == Phase::kRecompute; }
  bool input() const { return op_.phase == Phase::kInputGrad; }
  int tp() const { return setup_.mesh.tp; }
  int cp() const { return setup_.mesh.cp; }
  std::int64_t local_tokens() const { return s_.B * s_.T; }
  std::size_t count() const { return operands_.size(); }
  Tensor tensor(std::size_t operand) const {
    return rank_.buffers[static_cast<std::size_t>(operands_[operand].buffer)].tensor;
  }

  // A dimension that every rank has whole.
  static TensorDimension all(const char* name, std::int64_t size) {
    return {name, size, size, 0, {}, {}};
  }
  Dimensions hidden() const { return {all("C", s_.C)}; }
  // A dimension of which every rank of TP has an equal share.
  TensorDimension share(const char* name, std::int64_t size) const;
  TensorDimension heads() const { return share("H", s_.H); }
  // If TP has more ranks than there are key/value heads, neighbours have the same head.
  TensorDimension kv_heads() const;
  bool shares_kv_heads() const { return tp() > model_.kv_heads; }
  // The vocabulary without the rows that pad the last ranks' part.
  TensorDimension vocabulary() const;
  // The dimensions of an activation of the op's tokens with `width` elements a row: [B, T], or [N]
  // if sequence parallelism cuts several sequences at once. In a ring's block they are those of one
  // rank of TP.
  Dimensions tokens(std::size_t operand, std::int64_t width) const {
    return tokens_of(is_own(operand, width), width);
  }
  // Whether an operand with rows of this width holds only the rank's own tokens (sequence
  // parallelism).
  bool is_own(std::size_t operand, std::int64_t width) const {
    return setup_.sequence_parallel && tp() > 1 &&
           operands_[operand].count < local_tokens() * width;
  }
  Dimensions tokens_of(bool own, std::int64_t width) const;
  // The same for the whole sequence.
  Dimensions whole_sequence(std::int64_t width) const;
  // [B, T] of the rank that is `steps` before this one in the ring.
  Dimensions tokens_of_ring(std::int64_t width, int steps) const;

  // Adds a tensor. It fills in the strides of `inner` for packed rows and keeps those of `outer`.
  // If the operand has all tokens, a ring's block begins at its place among them.
  OpTensor& add(const std::string& name, std::size_t operand, bool written, Dimensions outer,
                Dimensions inner, std::int64_t offset = 0);
  OpTensor& in(const std::string& name, std::size_t operand, Dimensions outer, Dimensions inner,
               std::int64_t offset = 0) {
    return add(name, operand, false, std::move(outer), std::move(inner), offset);
  }
  OpTensor& out(const std::string& name, std::size_t operand, Dimensions outer, Dimensions inner,
                std::int64_t offset = 0) {
    return add(name, operand, true, std::move(outer), std::move(inner), offset);
  }
  // Adds a parameter. It is the same in every replica; one of experts is the same in those replicas
  // that hold them.
  void parameter(const std::string& name, std::size_t operand, Dimensions dimensions,
                 std::int64_t offset = 0);
  // Adds a gradient of a parameter, which the op adds to: "dw-before" and "dw". `tp_adds`: TP ranks
  // have partial sums of it.
  void gradient(const std::string& name, std::size_t operand, const Dimensions& dimensions,
                std::int64_t offset = 0, bool tp_adds = false);
  void partial_over_tp(OpTensor& tensor) const {
    if (tp() > 1) tensor.partial.push_back(Axis::kTp);
  }
  // Says that no other rank has the last tensor, or adds to it.
  void alone() { kinds_.back() = Kind::kAlone; }

  const Setup& setup_;
  const Model& model_;
  const Shape& s_;
  const Op& op_;
  const Coordinates at_;
  const RankProgram& rank_;
  const std::span<const Operand> operands_;
  const std::optional<RingBlock> block_;

 private:
  // The number of replicas that have a parameter cut like this.
  int replicas_of(const Dimensions& dimensions) const;
  std::vector<ChunkRange> runs_of(int cp_rank) const;
  std::vector<ChunkRange> rows(std::int64_t first, std::int64_t count) const;
  // The rank of TP whose tokens are in an operand that has only one rank's tokens.
  int token_rank() const { return block_ ? block_->tp : at_.tp; }
  Dimensions sequences(std::int64_t width, int cp_rank) const;

  enum class Kind : std::uint8_t { kActivation, kParameter, kAlone };
  void fill_replicated(OpTensor& tensor, Kind kind) const;

  std::vector<OpTensor> tensors_;
  std::vector<Kind> kinds_;
};

}  // namespace parallelarium
