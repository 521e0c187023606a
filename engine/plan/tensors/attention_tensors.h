// SPDX-License-Identifier: Apache-2.0
// The tensors of QKV and attention. With context parallelism, attention also sees keys and values
// of other ranks: of all at once (all-gather), of one after another (ring), or whole sequences of
// some heads (Ulysses).
#pragma once

#include <string>

#include "engine/plan/tensors/op_tensor_writer.h"

namespace parallelarium {

class AttentionTensors : public OpTensorWriter {
 protected:
  using OpTensorWriter::OpTensorWriter;

  TensorDimension width() const { return all("D", s_.D); }
  Dimensions heads_and_width() const { return {heads(), width()}; }
  void qkv_forward();
  void qkv_input_grad();
  void qkv_weight_grad();
  void attention_forward();
  void attention_input_grad();
  void permute_input_grad();

 private:
  // Where the heads of one attention op are in memory: queries, then keys, then values.
  struct Layout {
    Dimensions outer;               // tokens, rows of all heads
    TensorDimension queries, keys;  // heads
    bool by_heads = false;          // Ulysses
  };
  Layout own_layout() const;
  Layout layout_of(std::size_t qkv) const;
  void queries(const std::string& name, std::size_t qkv, bool written, const Layout& layout);
  void keys_values(const std::string& prefix, std::size_t qkv, bool written, const Layout& layout,
                   const std::string& suffix = "");
  // The same in the buffer of the ring or the all-gather.
  void others_keys_values(const std::string& prefix, std::size_t operand, bool written,
                          const std::string& suffix = "");
  bool all_gathered(std::size_t operand) const {
    return operands_[operand].count > local_tokens() * 2 * s_.K * s_.D;
  }
  bool shares_keys(const Layout& layout) const;
  // [B, H, T] and [B, H, T, T].
  Dimensions by_head(const Layout& layout, bool scores) const;
  void context(const std::string& name, std::size_t operand, bool written, const Layout& layout);
  // The suffix of a gradient whose positions are not yet turned back. With CP this happens where a
  // rank's gradients are whole again.
  std::string turned() const {
    return cp() > 1 && !s_.local && !s_.learned_positions ? "-turned" : "";
  }
};

}  // namespace parallelarium
