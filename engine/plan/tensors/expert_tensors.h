// SPDX-License-Identifier: Apache-2.0
// The tensors of a layer's routed experts. Rows, each a token on its way to one of its experts, are
// the dimension "R". Only the step knows how many a rank has, and which. Here they are as many as
// even routing sends.
#pragma once

#include <string>

#include "engine/plan/tensors/op_tensor_writer.h"

namespace parallelarium {

class ExpertTensors : public OpTensorWriter {
 public:
  using OpTensorWriter::OpTensorWriter;

  // Writes the tensors of kRouter, kDispatch, kExpert and kUnpermute, and nothing for other pieces.
  void write();

 private:
  void router();
  void dispatch();
  void experts();
  void unpermute();

  TensorDimension choices() const { return all("k", model_.experts.top_k); }
  // As many rows as even routing makes of `tokens` tokens.
  TensorDimension rows_of(std::int64_t tokens) const;
  OpTensor& rows(const std::string& name, std::size_t operand, bool written, std::int64_t tokens,
                 const TensorDimension& width) {
    OpTensor& tensor = add(name, operand, written, {}, {rows_of(tokens), width});
    if (has_whole_experts(setup_)) alone();  // they are tokens of one TP rank
    return tensor;
  }
  // Rows of the rank's own experts.
  OpTensor& taken(const std::string& name, std::size_t operand, bool written,
                  const TensorDimension& width) {
    return rows(name, operand, written, home_tokens(setup_), width);
  }
  // The tensors between an expert's products: "u", or "gate" and "up", or their gradients.
  void inner(const std::string& prefix, std::size_t operand, bool written);
  // The matrices of the rank's own experts, or (written) their gradients.
  void matrices(std::size_t operand, bool written);
  TensorDimension width() const {
    return has_whole_experts(setup_) ? all("F", s_.experts.ffn) : share("F", s_.experts.ffn);
  }
  // The dimensions of tensors of the tokens that the rank routes.
  Dimensions routed(std::int64_t width) const {
    return tokens_of(routes_own_tokens(setup_), width);
  }
  // If TP cuts experts, each of its ranks has a partial sum of what comes out of them.
  void partial(OpTensor& tensor) const {
    if (!has_whole_experts(setup_)) partial_over_tp(tensor);
  }
  bool gates_travel() const { return setup_.expert_gates == ExpertGates::kActivations; }
};

}  // namespace parallelarium
