// SPDX-License-Identifier: Apache-2.0
// The roofline of a Machine and the pieces of one layer under it: FLOPs for each byte that a piece
// moves, and what it is predicted to take. Source: Williams, Waterman & Patterson 2009, "Roofline:
// an insightful visual performance model", CACM 52(4).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/machine/memory_rungs.h"
#include "engine/plan/program/pieces.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// A rate that the machine does not exceed. What a Machine does not know is no ceiling of it.
struct RooflineCeiling {
  Message name;                 // "products of 16 bit", "memory of a device", "L2 cache"
  double flops_per_second = 0;  // of arithmetic; else 0
  double bytes_per_second = 0;  // of memory or a link, in one direction; else 0
  std::string origin;
  // Of arithmetic: FLOPs a byte from which the memory of a device keeps up with it.
  double ridge = 0;
  // Until the first byte of a message is there; 0: of no link, or not known.
  double latency_seconds = 0;
  std::string latency_origin = {};
  double layer_flops = 0;  // of arithmetic: what the layer's products compute in its type
};

// A step from registers to another node. What is 0 is not known.
struct LadderRow {
  std::string level;         // of kMemoryLevels, or "host", "node", "network"
  Message name;              // "L2 cache", "link in a node, NVLink"
  std::int64_t bytes = 0;    // how much there is of it, of one device
  Sourced latency_seconds;   // until what was asked for is there; of a link, its first byte
  Sourced bytes_per_second;  // of a link, in one direction
  // The nearest rate before it, of the device or a link, is so many times its own; 0: not known.
  double times_slower = 0;
  bool is_link() const { return level == "node" || level == "network"; }
};
// The device's own rungs, its memory and its links, nearest first: levels of which something is
// known, "memory" always.
std::vector<LadderRow> ladder_of(const Machine& machine, const std::vector<MemoryRung>& rungs);

enum class RooflineBound : std::uint8_t { kCompute, kMemory, kLaunch };
std::string_view name_of(RooflineBound bound);  // "compute", "memory", "launch"

// What a rank computes of one piece of the layer in one phase of a micro-batch.
struct RooflinePoint {
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  // What kernels execute, which is half of fused attention's scores (element_flops where it is no
  // product), and what they move at least.
  double flops = 0, bytes = 0;
  double seconds = 0;           // as the prediction costs it
  double measured_seconds = 0;  // as a run took it, mean over its micro-batches; 0: not measured
  double peak_seconds = 0;      // what its products take at the machine's peak rates
  // What takes longest at the ceilings: its arithmetic, its bytes, or the start of an op.
  RooflineBound bound = RooflineBound::kMemory;
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  // FLOPs per second that it is predicted to reach, and those that it reached; 0: not known.
  double rate() const { return seconds > 0 ? flops / seconds : 0; }
  double measured_rate() const { return measured_seconds > 0 ? flops / measured_seconds : 0; }
};

// A piece in all its phases.
struct RooflinePiece {
  Piece piece = Piece::kStage;
  std::vector<int> points;  // its own, forward first
  double forward_seconds = 0, backward_seconds = 0;
  double share = 0;  // of the seconds of all pieces
};

struct Roofline {
  int layer = 0, rank = 0;  // whose pieces these are
  std::vector<RooflineCeiling> ceilings;
  std::vector<LadderRow> ladder;
  std::vector<RooflinePoint> points;  // in the order in which they are computed
  std::vector<RooflinePiece> pieces;  // likewise
  // Of all points together.
  double forward_seconds = 0, seconds = 0;
  double memory_share = 0;  // of the seconds: that of points that memory bounds
  double intensity = 0;     // FLOPs for each byte
  double of_peak = 0;       // what products take at peak rates, of the seconds
  double ridge = 0;         // of the ceiling under which most of its products are; 0: none known
};

// `layer` -1: the first with experts, or the first of all. Errors: as of predict(), and that there
// is no such layer.
Result<Roofline> roofline_of(const Setup& setup, const Machine& machine, int layer = -1);
// The same of a prediction that is there. `run`: a measured timeline of its Program, or null.
Result<Roofline> roofline_of(const Prediction& prediction, int layer = -1,
                             const Timeline* run = nullptr);

nlohmann::json to_json(const Roofline& roofline);

}  // namespace parallelarium
