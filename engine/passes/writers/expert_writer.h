// SPDX-License-Identifier: Apache-2.0
// Writes the pieces of a layer with experts as for one rank. experts.cpp adds the exchanges of EP,
// and names rows as they travel.
#pragma once

#include <algorithm>

#include "engine/passes/writers/piece_writer.h"
#include "engine/plan/model/routing.h"

namespace parallelarium {

// Parts of kExpertTokens and kGradExpertTokens. Without EP nothing travels, and nobody uses kSent
// and kResults.
enum ExpertPart : std::int16_t {
  kSent,      // rows by place, on their way to the experts
  kReceived,  // rows in the order of the experts
  kInner,
  kActivated,
  kResults,   // results of the experts, on their way back
  kReturned,  // rows by place again
  // If each TP rank sends its own tokens: the rows that came to one of them, and those that it
  // sends back.
  kShare,
  kShareResults,
};

// Parts of kRouterGates. From kRowGates on they belong to rows, on both sides of an exchange. These
// are used if gates multiply what is between an expert's products (ExpertGates::kActivations).
enum GatePart : std::int16_t {
  kGates,  // gates of the choices
  kGateGradients,
  kRowGates,  // by place, on their way to the experts
  kReceivedGates,
  kReceivedGateGradients,
  kReturnedGateGradients,
  kShareGates,
  kShareGateGradients,
};

class ExpertWriter : protected PieceWriter {
 protected:
  using PieceWriter::PieceWriter;

  void experts_forward(int layer) {
    const std::int64_t E = experts().count, k = experts().top_k;
    begin(Piece::kRouter, phase_, layer, z_.routed * E);
    product(z_.routed, E, s_.C);
    read(Tensor::kNorm2Out, layer, z_.routed * s_.C);
    parameter(Parameter::kRouterWeight, layer);
    write_float(Tensor::kRouterLogits, layer, z_.routed * E);
    write_float(Tensor::kRouterGates, layer, z_.routed * k);
    add(Tensor::kRoutes, layer, Access::kWrite, routes_elements(z_.routed, E, k), 0,
        routes_elements(z_.routed, E, k) * 4, DataType::kI32);
    const std::int64_t place = place_among(Parameter::kRouterWeight, layer);
    add(Tensor::kRouterRecord, -1, Access::kWrite, record_elements(E),
        place * setup_.microbatches * record_elements(E));
    per_microbatch(record_elements(E));
    if (setup_.bias_rate > 0) {
      read_float(Tensor::kRouterBias, -1, E, place * E);
      add(Tensor::kRouterLoads, -1, Access::kAccumulate, E, place * E);
    }

    begin(Piece::kDispatch, phase_, layer, even_sent() * s_.C);
    read(Tensor::kNorm2Out, layer, z_.routed * s_.C);
    read_routes(layer);
    if (gates_travel()) {
      read_float(Tensor::kRouterGates, layer, z_.routed * k);
      write_gates(layer, kReceivedGates, z_.sent_rows);
    }
    write_rows(Tensor::kExpertTokens, layer, kReceived, z_.sent_rows, s_.C);

    if (experts().shared > 0) mlp_forward(layer, true);

    expert_op(phase_, layer);
    read_rows(Tensor::kExpertTokens, layer, kReceived, s_.C);
    read_counts(layer);
    parameter(Parameter::kExpertWeights, layer);
    if (gates_travel()) read_gates(layer, kReceivedGates, z_.expert_rows);
    if (keeps_copies()) keep_rows(Tensor::kExpertTokens, layer, kReceived, s_.C);
    write_rows(Tensor::kExpertTokens, layer, kInner, z_.expert_rows, inner());
    if (keeps_copies()) keep_rows(Tensor::kExpertTokens, layer, kInner, inner());
    write_rows(Tensor::kExpertTokens, layer, kActivated, z_.expert_rows, s_.experts.ffn);
    if (keeps_copy(Recompute::kActivation))
      keep_rows(Tensor::kExpertTokens, layer, kActivated, s_.experts.ffn);
    write_rows(Tensor::kExpertTokens, layer, kReturned, z_.expert_rows, s_.C);

    begin(Piece::kUnpermute, phase_, layer, even_sent() * s_.C);
    read_sent(Tensor::kExpertTokens, layer, kReturned);
    if (!gates_travel()) read_float(Tensor::kRouterGates, layer, z_.routed * k);
    read_routes(layer);
    if (experts().shared > 0) {
      read(Tensor::kMlpOutOut, layer, z_.routed * s_.C);
      part(kSharedOutput);
    }
    write(Tensor::kMlpOutOut, layer, z_.routed * s_.C);
  }

  void experts_backward(int layer) {
    const std::int64_t E = experts().count, k = experts().top_k;
    if (input_) {
      begin(Piece::kUnpermute, Phase::kInputGrad, layer, even_sent() * s_.C);
      read_branch_gradient(Piece::kResidual2, layer, z_.routed * s_.C);
      if (!gates_travel()) {
        read_sent(Tensor::kExpertTokens, layer, kReturned);
        read_float(Tensor::kRouterGates, layer, z_.routed * k);
      }
      read_routes(layer);
      write_rows(Tensor::kGradExpertTokens, layer, kReceived, z_.sent_rows, s_.C);
      if (!gates_travel()) {
        write_float(Tensor::kRouterGates, layer, z_.routed * k);
        part(kGateGradients);
      }
    }
    if (experts().shared > 0) mlp_backward(layer, true);
    if (input_) {
      expert_op(Phase::kInputGrad, layer);
      read_rows(Tensor::kGradExpertTokens, layer, kReceived, s_.C);
      read_counts(layer);
      parameter(Parameter::kExpertWeights, layer);
      read_kept_rows(Tensor::kExpertTokens, layer, kInner, inner(), keeps_copies());
      write_rows(Tensor::kGradExpertTokens, layer, kInner, z_.expert_rows, inner());
      write_rows(Tensor::kGradExpertTokens, layer, kActivated, z_.expert_rows, s_.experts.ffn);
      if (activates_again()) {
        write_rows(Tensor::kExpertTokens, layer, kActivated, z_.expert_rows, s_.experts.ffn);
        if (keeps_copy(Recompute::kActivation))
          keep_rows(Tensor::kExpertTokens, layer, kActivated, s_.experts.ffn);
      }
      if (gates_travel()) {
        read_gates(layer, kReceivedGates, z_.expert_rows);
        write_gates(layer, kReceivedGateGradients, z_.expert_rows);
      }
      if (copies_gradients()) {
        keep_rows(Tensor::kGradExpertTokens, layer, kReceived, s_.C);
        keep_rows(Tensor::kGradExpertTokens, layer, kInner, inner());
      }
      write_rows(Tensor::kGradExpertTokens, layer, kReturned, z_.expert_rows, s_.C);
      if (activates_again()) drafts().back().work.push_back(activation_again());

      begin(Piece::kRouter, Phase::kInputGrad, layer, z_.routed * E);
      if (gates_travel()) {
        read_gates(layer, kReceivedGateGradients, z_.sent_rows);
      } else {
        read_float(Tensor::kRouterGates, layer, z_.routed * k);
        part(kGateGradients);
      }
      read_float(Tensor::kRouterLogits, layer, z_.routed * E);
      read_float(Tensor::kRouterGates, layer, z_.routed * k);
      read_routes(layer);
      write_float(Tensor::kRouterLogits, layer, z_.routed * E);
      part(1);

      begin(Piece::kDispatch, Phase::kInputGrad, layer, even_sent() * s_.C);
      product(z_.routed, s_.C, E);
      read_sent(Tensor::kGradExpertTokens, layer, kReturned);
      read_routes(layer);
      read_float(Tensor::kRouterLogits, layer, z_.routed * E);
      part(1);
      parameter(Parameter::kRouterWeight, layer);
      if (experts().shared > 0) {
        read(Tensor::kGradBranch, layer, z_.routed * s_.C);
        part(kSharedGradient);
      }
      write(Tensor::kGradBranch, layer, z_.routed * s_.C);
    }
    if (weight_) {
      expert_op(Phase::kWeightGrad, layer);
      const bool later = copies_gradients();
      read_kept_rows(Tensor::kGradExpertTokens, layer, kReceived, s_.C, later);
      read_counts(layer);
      read_kept_rows(Tensor::kGradExpertTokens, layer, kInner, inner(), later);
      read_kept_rows(Tensor::kExpertTokens, layer, kReceived, s_.C, keeps_copies());
      read_kept_rows(Tensor::kExpertTokens, layer, kActivated, s_.experts.ffn,
                     keeps_copy(Recompute::kActivation));
      gradient(Parameter::kExpertWeights, layer);
      begin(Piece::kRouter, Phase::kWeightGrad, layer, z_.routed * E);
      product(E, s_.C, z_.routed);
      read_float(Tensor::kRouterLogits, layer, z_.routed * E);
      part(1);
      if (copies_norms())
        read_copy(Tensor::kNorm2Out, layer, z_.routed * s_.C);
      else
        read(Tensor::kNorm2Out, layer, z_.routed * s_.C);
      gradient(Parameter::kRouterWeight, layer);
    }
  }

 private:
  const Experts& experts() const { return model_.experts; }
  bool gates_travel() const { return setup_.expert_gates == ExpertGates::kActivations; }
  // If all of a layer's experts are computed again, so is what is between their products.
  bool activates_again() const {
    return again(Recompute::kActivation) && !names(setup_.recompute, Recompute::kExperts);
  }
  // Rows that the rank itself permutes, if routing is even.
  std::int64_t even_sent() const { return z_.even_rows * z_.routed / home_tokens(setup_); }
  std::int64_t inner() const { return s_.experts.ffn * (model_.mlp == Mlp::kSwiglu ? 2 : 1); }

  // Counts one product for all matrices of an expert, for even routing.
  void expert_op(Phase phase, int layer) {
    const std::int64_t here = experts().count / setup_.mesh.ep;
    begin(Piece::kExpert, phase, layer, z_.even_rows * s_.C);
    const std::int64_t rows = std::max<std::int64_t>(1, z_.even_rows / here);
    const std::int64_t width = inner() + s_.experts.ffn;
    if (phase == Phase::kWeightGrad)
      product(width, s_.C, rows, here);
    else
      product(rows, width, s_.C, here);
    work().flops = 2.0 * static_cast<double>(z_.even_rows) *
                   static_cast<double>((inner() + s_.experts.ffn) * s_.C);
  }
  // The work to compute experts' activations again, for their weight gradients.
  Work activation_again() const {
    Work work{Piece::kActivation, Phase::kRecompute};
    work.repeat = experts().count / setup_.mesh.ep;
    work.elements = z_.even_rows * s_.experts.ffn;
    work.bytes = z_.even_rows * (inner() + s_.experts.ffn) * size_of(z_.type);
    return work;
  }
  void read_routes(int layer) {
    const std::int64_t count = routes_elements(z_.routed, experts().count, experts().top_k);
    add(Tensor::kRoutes, layer, Access::kRead, count, 0, 0, DataType::kI32);
  }
  void read_counts(int layer) {
    add(Tensor::kRoutes, layer, Access::kRead, experts().count,
        counts_offset(z_.routed, experts().count, experts().top_k), 0, DataType::kI32);
  }
  void write_rows(Tensor tensor, int layer, ExpertPart which, std::int64_t rows,
                  std::int64_t width) {
    write(tensor, layer, rows * width);
    part(which);
  }
  void read_rows(Tensor tensor, int layer, ExpertPart which, std::int64_t width) {
    read(tensor, layer, z_.expert_rows * width);
    part(which);
  }
  void write_gates(int layer, GatePart which, std::int64_t rows) {
    write_float(Tensor::kRouterGates, layer, rows);
    part(which);
  }
  void read_gates(int layer, GatePart which, std::int64_t rows) {
    read_float(Tensor::kRouterGates, layer, rows);
    part(which);
  }
  void keep_rows(Tensor tensor, int layer, ExpertPart which, std::int64_t width) {
    keep_copy(tensor, layer, z_.expert_rows * width, which);
  }
  void read_kept_rows(Tensor tensor, int layer, ExpertPart which, std::int64_t width, bool copied) {
    if (copied)
      read_copy(tensor, layer, z_.expert_rows * width, which);
    else
      read_rows(tensor, layer, which, width);
  }
  void read_sent(Tensor tensor, int layer, ExpertPart which) {
    read(tensor, layer, z_.sent_rows * s_.C);
    part(which);
  }
};

}  // namespace parallelarium
