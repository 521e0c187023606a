// SPDX-License-Identifier: Apache-2.0
// Probes copy the tensors that go into a piece of the model and come out of it, from each rank
// during a step. A probe is a wish of the run and never a part of the Program. So a training is the
// same bit for bit with and without it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/tensors/op_tensors.h"

namespace parallelarium {

// The ops to look at: those of this piece and phase, on every rank and replica that has them.
struct Probe {
  int layer = -1;  // from 0; -1: the piece is outside of the layers
  Piece piece = Piece::kMlpIn;
  int microbatch = 0;  // of its replica, from 0
  Phase phase = Phase::kForward;
  int step = 1;  // of the training, from 1, warm-up included
  bool operator==(const Probe&) const = default;
};

// "layer=0,piece=mlp-in,microbatch=0,phase=forward", with ",step=3" if it is not the first. `layer`
// may be left out for a piece outside of the layers, and `microbatch` (0) and `phase` (forward)
// always. Error "probe" says what cannot be read, and what there is.
Result<Probe> parse_probe(std::string_view text);
std::string text_of(const Probe& probe);

// Whether some rank of the Program has what the probe asks for. Error "probe" says what is not
// there, and what there is.
Result<void> check_probe(const Setup& setup, const Program& program, const Probe& probe);

// The values of a tensor, without padding.
struct ProbedTensor {
  OpTensor what;
  // Row-major, as kF32 (bf16 too), kF64, kI32 or kU8.
  DataType type = DataType::kF32;
  std::vector<std::byte> bytes;
  double value(std::size_t index) const;
  std::size_t size() const { return bytes.size() / static_cast<std::size_t>(size_of(type)); }
};

// L2 norm, mean, least and largest of a tensor's elements; 0 if it has none.
struct TensorFigures {
  double norm = 0, mean = 0, min = 0, max = 0;
};
TensorFigures figures_of(const ProbedTensor& tensor);

// A tensor as a matrix that is averaged down to at most kMostCells a side, so that a picture can
// show it. An activation has tokens by everything else. A weight or its gradient has inputs by
// outputs; the embedding's table has words by widths. Scores have queries by keys, as the mean over
// all heads and sequences. It is empty for sums of rows by head. `piece` is the tensor's.
struct TensorCells {
  int rows = 0, columns = 0;
  std::vector<double> means;  // row by row
};
inline constexpr int kMostCells = 12;  // on one side
TensorCells cells_of(const ProbedTensor& tensor, Piece piece);

// What one rank had for one probe.
struct ProbedRank {
  int rank = 0;
  int replica = 0;  // along dp
  Probe probe;
  std::vector<ProbedTensor> tensors;
  // For rows of experts, in the order of the tensors that have them: the token, counted through the
  // micro-batches of the EP group's ranks, [ranks, B, T]; and which of the token's choices the row
  // is.
  std::vector<std::int32_t> row_tokens, row_choices;
  bool has_rows() const {
    return std::any_of(tensors.begin(), tensors.end(),
                       [](const ProbedTensor& tensor) { return tensor.what.by_row(); });
  }
  // What the rank's own router chose: [B, T, k] experts and then their rows, -1 for none.
  // name_rows() clears it.
  std::vector<std::int32_t> routes;
};

// An entry of "probes" in `run --json`. `file` is the file with its tensors, or empty.
nlohmann::json to_json(const ProbedRank& probed, const std::string& file);

}  // namespace parallelarium
