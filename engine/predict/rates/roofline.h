// SPDX-License-Identifier: Apache-2.0
// The roofline of a Machine, and the pieces of one layer under it: the FLOPs for each byte that a
// piece moves, and its predicted time. Source: Williams, Waterman & Patterson 2009, "Roofline: an
// insightful visual performance model", CACM 52(4).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/machine/rates/memory_rungs.h"
#include "engine/plan/program/pieces.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// A rate that the machine does not exceed. A rate that a Machine does not know is no ceiling.
struct RooflineCeiling {
  Message name;                 // "products of 16 bit", "memory of a device", "L2 cache"
  double flops_per_second = 0;  // of arithmetic; else 0
  double bytes_per_second = 0;  // of memory or a link, in one direction; else 0
  Origin origin;
  // For arithmetic: the FLOPs a byte from which on the memory of a device keeps up with it.
  double ridge = 0;
  // Time until the first byte of a message is there; 0: it is no link, or it is not known.
  double latency_seconds = 0;
  Origin latency_origin = {};
  double layer_flops = 0;  // for arithmetic: FLOPs of the layer's products in its type
};

// A rung from registers to another node. A value of 0 is not known.
struct LadderRow {
  std::string level;         // one of kMemoryLevels, or "host", "node", "network"
  Message name;              // "L2 cache", "link in a node, NVLink"
  std::int64_t bytes = 0;    // size for one device
  Sourced latency_seconds;   // until the data is there; for a link, its first byte
  Sourced bytes_per_second;  // for a link, in one direction
  // How many times its own rate the nearest rate before it is (of the device or a link); 0: not
  // known.
  double times_slower = 0;
  bool is_link() const { return level == "node" || level == "network"; }
};
// The device's own rungs, its memory and its links, nearest first. It has every level of which
// something is known, and always "memory".
std::vector<LadderRow> ladder_of(const Machine& machine, const std::vector<MemoryRung>& rungs);

enum class RooflineBound : std::uint8_t { kCompute, kMemory, kLaunch };
std::string_view name_of(RooflineBound bound);  // "compute", "memory", "launch"

// The work of one piece of the layer on a rank, in one phase of a micro-batch.
struct RooflinePoint {
  Piece piece = Piece::kStage;
  Phase phase = Phase::kForward;
  // The FLOPs that kernels execute, and the bytes that they move at least. Fused attention executes
  // half of its scores. element_flops() counts pieces that are no products.
  double flops = 0, bytes = 0;
  double seconds = 0;           // predicted
  double measured_seconds = 0;  // mean over a run's micro-batches; 0: not measured
  double peak_seconds = 0;      // time of its products at the machine's peak rates
  // The part that takes longest at the ceilings: its arithmetic, its bytes, or the start of an op.
  RooflineBound bound = RooflineBound::kMemory;
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  // Predicted and measured FLOPs per second; 0: not known.
  double rate() const { return seconds > 0 ? flops / seconds : 0; }
  double measured_rate() const { return measured_seconds > 0 ? flops / measured_seconds : 0; }
};

// A piece in all its phases.
struct RooflinePiece {
  Piece piece = Piece::kStage;
  std::vector<int> points;  // indices of its points, forward first
  double forward_seconds = 0, backward_seconds = 0;
  double share = 0;  // of the seconds of all pieces
};

struct Roofline {
  int layer = 0, rank = 0;  // whose pieces these are
  std::vector<RooflineCeiling> ceilings;
  std::vector<LadderRow> ladder;
  std::vector<RooflinePoint> points;  // in the order in which they are computed
  std::vector<RooflinePiece> pieces;  // in the order in which they are computed
  // For all points together:
  double forward_seconds = 0, seconds = 0;
  double memory_share = 0;  // share of the seconds in points that memory bounds
  double intensity = 0;     // FLOPs for each byte
  double of_peak = 0;       // time of products at peak rates over the seconds
  double ridge = 0;         // that of the ceiling over most of its products; 0: none known
};

// `layer` -1: the first layer with experts, or the first of all. Errors: those of predict(); there
// is no such layer.
Result<Roofline> roofline_of(const Setup& setup, const Machine& machine, int layer = -1);
// The same for an existing prediction. `run`: a measured timeline of its Program, or null.
Result<Roofline> roofline_of(const Prediction& prediction, int layer = -1,
                             const Timeline* run = nullptr);

nlohmann::json to_json(const Roofline& roofline);

}  // namespace parallelarium
