// SPDX-License-Identifier: Apache-2.0
// Probes: the tensors that went into a piece of the model and came out of it, copied from each rank
// in the midst of a step. A probe is a wish of the run and never a part of the Program, so a
// training is the same bit for bit with and without it.
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

// Which ops are looked at: those of this piece and phase, on every rank and replica that has them.
struct Probe {
  int layer = -1;  // from 0; -1: the piece stands outside of the layers
  Piece piece = Piece::kMlpIn;
  int microbatch = 0;  // of its replica, from 0
  Phase phase = Phase::kForward;
  int step = 1;  // of the training, from 1, warm-up included
  bool operator==(const Probe&) const = default;
};

// "layer=0,piece=mlp-in,microbatch=0,phase=forward", with ",step=3" where it is not the first.
// `layer` may be left out of a piece outside of the layers, `microbatch` (0) and `phase` (forward)
// always. Error "probe": what cannot be read, and what there is.
Result<Probe> parse_probe(std::string_view text);
std::string text_of(const Probe& probe);

// Whether some rank of the Program has what the probe asks for. Error "probe": what it names is not
// there, and what there is.
Result<void> check_probe(const Setup& setup, const Program& program, const Probe& probe);

// A tensor as it was, without padding.
struct ProbedTensor {
  OpTensor what;
  // Row-major, kF32 (also of what is stored as bf16), kF64, kI32 or kU8.
  DataType type = DataType::kF32;
  std::vector<std::byte> bytes;
  double value(std::size_t index) const;
  std::size_t size() const { return bytes.size() / static_cast<std::size_t>(size_of(type)); }
};

// L2 norm, mean, least and largest of all its elements; 0 if it has none.
struct TensorFigures {
  double norm = 0, mean = 0, min = 0, max = 0;
};
TensorFigures figures_of(const ProbedTensor& tensor);

// A tensor as a matrix, averaged down to so many cells at most that a picture can show them: of an
// activation tokens by all else, of a weight or its gradient what goes in by what comes out (of the
// embedding's table words by widths), of scores queries by keys, the mean of all heads and
// sequences. Empty of sums of rows by head. `piece`: the tensor's.
struct TensorCells {
  int rows = 0, columns = 0;
  std::vector<double> means;  // row by row
};
inline constexpr int kMostCells = 12;  // of a side
TensorCells cells_of(const ProbedTensor& tensor, Piece piece);

// What one rank had of one probe.
struct ProbedRank {
  int rank = 0;
  int replica = 0;  // along dp
  Probe probe;
  std::vector<ProbedTensor> tensors;
  // Of the rows of experts, in the order of the tensors that have them: the token, counted through
  // the micro-batches of the EP group's ranks, [ranks, B, T], and which of its choices it is.
  std::vector<std::int32_t> row_tokens, row_choices;
  bool has_rows() const {
    return std::any_of(tensors.begin(), tensors.end(),
                       [](const ProbedTensor& tensor) { return tensor.what.by_row(); });
  }
  // What the rank's own router chose, [B, T, k] experts and then their rows, -1 for none; until
  // name_rows() has named them.
  std::vector<std::int32_t> routes;
};

// An entry of "probes" in `run --json`. `file`: where its tensors were written, or empty.
nlohmann::json to_json(const ProbedRank& probed, const std::string& file);

}  // namespace parallelarium
