// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/rates/roofline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/tensors/op_tensors.h"
#include "engine/predict/cost/pieces/executed_work.h"
#include "engine/predict/cost/pieces/work_seconds.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

Message name_of_level(const std::string& level) {
  if (level == "registers") return message("rung-registers", "registers");
  if (level == "shared") return message("rung-shared", "shared memory");
  if (level == "memory") return message("ceiling-memory", "memory of a device");
  return message("rung-cache", "{} cache", level);
}

// The device's memory comes first of those that move bytes, then the caches before it.
// Of a device: where a node has fewer network cards than devices, its part of one.
Link network_of_device(const Machine& machine) {
  Link link = machine.inter_node;
  link.bytes_per_second.value *= machine.nics_of_device();
  return link;
}

std::vector<RooflineCeiling> ceilings_of(const Machine& machine,
                                         const std::vector<MemoryRung>& rungs) {
  std::vector<RooflineCeiling> ceilings;
  const double memory = machine.memory_bytes_per_second.value;
  const auto arithmetic = [&](Message name, const Sourced& rate) {
    if (rate.value > 0)
      ceilings.push_back(
          {std::move(name), rate.value, 0, rate.origin, over(rate.value, memory), 0, {}, 0});
  };
  const auto bytes = [&](Message name, const Sourced& rate) {
    if (rate.value > 0)
      ceilings.push_back({std::move(name), 0, rate.value, rate.origin, 0, 0, {}, 0});
  };
  const auto link = [&](Message name, const Link& of) {
    bytes(std::move(name), of.bytes_per_second);
    if (of.bytes_per_second.value <= 0) return;
    ceilings.back().latency_seconds = of.latency_seconds.value;
    ceilings.back().latency_origin = of.latency_seconds.origin;
  };
  if (machine.bf16)
    arithmetic(message("ceiling-half", "products of 16 bit"), machine.half_flops_per_second);
  arithmetic(message("ceiling-fp32", "products of 32 bit"), machine.fp32_flops_per_second);
  arithmetic(message("ceiling-fp8", "products of 8 bit"), machine.fp8_flops_per_second);
  bytes(message("ceiling-memory", "memory of a device"), machine.memory_bytes_per_second);
  for (const MemoryRung& rung : rungs)
    if (rung.level != "memory") bytes(name_of_level(rung.level), rung.bytes_per_second);
  bytes(message("ceiling-host", "memory of its host"), machine.host_bytes_per_second);
  if (machine.devices_per_node > 1)
    link(message("ceiling-node", "link in a node"), machine.intra_node);
  if (!machine.local)  // the only node
    link(message("ceiling-network", "network between nodes"), network_of_device(machine));
  return ceilings;
}

LadderRow row_of(const std::string& level, Message name, const Link& link) {
  if (!link.wire.empty()) name = message("rung-wire", "{}, {}", name, link.wire);
  return {level, std::move(name), 0, link.latency_seconds, link.bytes_per_second, 0};
}

double peak_of(const Work& work, const Setup& setup, const Machine& machine) {
  if (is_fp8(work, setup.products)) return machine.fp8_flops_per_second.value;
  return machine.peak_flops_per_second(static_cast<int>(size_of(storage_of(work, setup)))).value;
}

// Counts its products under their ceiling.
RooflinePoint point_of(const Op& op, const Prediction& prediction,
                       std::vector<RooflineCeiling>& ceilings) {
  RooflinePoint point{op.piece, op.phase};
  const Shape& shape = prediction.program.shape;
  for (const Work& work : prediction.program.works[static_cast<std::size_t>(op.work)]) {
    const double products = executed_flops(work, shape);
    const double peak = peak_of(work, prediction.setup, prediction.machine);
    point.flops += products + element_flops(work, shape);
    point.bytes += static_cast<double>(work.bytes);
    point.peak_seconds += over(products, peak);
    const auto under = std::find_if(
        ceilings.begin(), ceilings.end(),
        [&](const RooflineCeiling& ceiling) { return ceiling.flops_per_second == peak; });
    if (peak > 0 && under != ceilings.end()) under->layer_flops += products;
  }
  const double moving = over(point.bytes, prediction.machine.memory_bytes_per_second.value);
  const double start = prediction.machine.launch_seconds.value;
  point.bound = start > std::max(point.peak_seconds, moving) ? RooflineBound::kLaunch
                : point.peak_seconds > moving                ? RooflineBound::kCompute
                                                             : RooflineBound::kMemory;
  return point;
}

}  // namespace

std::vector<LadderRow> ladder_of(const Machine& machine, const std::vector<MemoryRung>& rungs) {
  std::vector<LadderRow> rows;
  for (const MemoryRung& rung : rungs)
    rows.push_back({rung.level, name_of_level(rung.level), rung.bytes, rung.latency_seconds,
                    rung.bytes_per_second, 0});
  if (rows.empty() || rows.back().level != "memory")
    rows.push_back({"memory", name_of_level("memory"), 0, {}, {}, 0});
  LadderRow& memory = rows.back();
  if (memory.bytes == 0) memory.bytes = static_cast<std::int64_t>(machine.memory_bytes.value);
  if (memory.bytes_per_second.value <= 0) memory.bytes_per_second = machine.memory_bytes_per_second;
  if (machine.host_bytes_per_second.value > 0)
    rows.push_back({"host",
                    message("ceiling-host", "memory of its host"),
                    0,
                    {},
                    machine.host_bytes_per_second,
                    0});
  if (machine.devices_per_node > 1)
    rows.push_back(row_of("node", message("ceiling-node", "link in a node"), machine.intra_node));
  if (!machine.local)  // the only node
    rows.push_back(row_of("network", message("ceiling-network", "network between nodes"),
                          network_of_device(machine)));
  double nearer = 0;
  for (LadderRow& row : rows) {
    // The host's memory does not lie on the way from registers to the network.
    if (row.level == "host" || row.bytes_per_second.value <= 0) continue;
    row.times_slower = nearer / row.bytes_per_second.value;
    nearer = row.bytes_per_second.value;
  }
  return rows;
}

std::string_view name_of(RooflineBound bound) {
  constexpr std::string_view kNames[] = {"compute", "memory", "launch"};
  return kNames[static_cast<std::size_t>(bound)];
}

Result<Roofline> roofline_of(const Setup& setup, const Machine& machine, int layer) {
  const Result<Prediction> prediction = predict(setup, machine);
  if (!prediction) return prediction.error();
  return roofline_of(*prediction, layer);
}

namespace {

// Adds the compute ops of the layer on one rank to their pieces.
class Pieces {
 public:
  Pieces(const Prediction& prediction, const RankProgram& rank, Roofline& roofline)
      : prediction_(prediction),
        rank_(rank),
        cost_(prediction.program, prediction.machine, prediction.setup, &prediction.rows),
        roofline_(roofline) {}

  void add_predicted() {
    const Program& program = prediction_.program;
    for (const Op& op : rank_.ops) {
      if (op.fold < 0)
        add(op);
      else if (op.kind == OpKind::kCompute)
        for (const Fold::Part& part : program.folds[static_cast<std::size_t>(op.fold)].parts)
          add(op_of(part, op));
    }
  }

  void add_measured(const std::vector<Span>& spans) {
    int microbatches = 0;
    for (std::size_t at = 0; at < rank_.ops.size(); ++at) {
      const Op& op = rank_.ops[at];
      microbatches = std::max(microbatches, op.microbatch + 1);
      if (op.fold >= 0 || op.kind != OpKind::kCompute || op.layer != roofline_.layer || op.work < 0)
        continue;
      if (RooflinePoint* point = find(op.piece, op.phase))
        point->measured_seconds += seconds_of(spans[at].end - spans[at].begin);
    }
    for (RooflinePoint& point : roofline_.points)
      point.measured_seconds /= std::max(1, microbatches);
  }

 private:
  RooflinePoint* find(Piece piece, Phase phase) {
    const auto same = std::find_if(
        roofline_.points.begin(), roofline_.points.end(),
        [&](const RooflinePoint& point) { return point.piece == piece && point.phase == phase; });
    return same == roofline_.points.end() ? nullptr : &*same;
  }

  void add(const Op& op) {
    if (op.kind != OpKind::kCompute || op.layer != roofline_.layer || op.microbatch != 0 ||
        op.work < 0)
      return;
    RooflinePoint point = point_of(op, prediction_, roofline_.ceilings);
    point.seconds = cost_.seconds(op, rank_.rank);
    // Blocks of one attention, and shared experts beside an expert's own, are one piece.
    RooflinePoint* same = find(point.piece, point.phase);
    if (!same) {
      roofline_.points.push_back(point);
      return;
    }
    same->flops += point.flops;
    same->bytes += point.bytes;
    same->seconds += point.seconds;
    same->peak_seconds += point.peak_seconds;
  }

  const Prediction& prediction_;
  const RankProgram& rank_;
  CostModel cost_;
  Roofline& roofline_;
};

void add_pieces(Roofline& roofline) {
  for (std::size_t at = 0; at < roofline.points.size(); ++at) {
    const RooflinePoint& point = roofline.points[at];
    auto own = std::find_if(roofline.pieces.begin(), roofline.pieces.end(),
                            [&](const RooflinePiece& piece) { return piece.piece == point.piece; });
    if (own == roofline.pieces.end()) own = roofline.pieces.insert(own, {point.piece, {}, 0, 0, 0});
    own->points.push_back(static_cast<int>(at));
    (point.phase == Phase::kForward ? own->forward_seconds : own->backward_seconds) +=
        point.seconds;
  }
}

void add_totals(Roofline& roofline) {
  double memory = 0, flops = 0, bytes = 0, peak = 0;
  for (const RooflinePoint& point : roofline.points) {
    roofline.seconds += point.seconds;
    if (point.phase == Phase::kForward) roofline.forward_seconds += point.seconds;
    if (point.bound == RooflineBound::kMemory) memory += point.seconds;
    flops += point.flops;
    bytes += point.bytes;
    peak += point.peak_seconds;
  }
  for (RooflinePiece& piece : roofline.pieces)
    piece.share = over(piece.forward_seconds + piece.backward_seconds, roofline.seconds);
  roofline.memory_share = over(memory, roofline.seconds);
  roofline.intensity = over(flops, bytes);
  roofline.of_peak = over(peak, roofline.seconds);
  double most = 0;
  for (const RooflineCeiling& ceiling : roofline.ceilings) {
    if (ceiling.layer_flops <= most) continue;
    most = ceiling.layer_flops;
    roofline.ridge = ceiling.ridge;
  }
}

}  // namespace

Result<Roofline> roofline_of(const Prediction& prediction, int layer, const Timeline* run) {
  const Model& model = prediction.setup.model;
  if (layer == -1) layer = model.experts.count > 0 ? model.experts.first_dense : 0;
  if (layer < 0 || layer >= model.layers)
    return message("roofline-layer", "There is no layer {}; this model has layers 0 to {}.", layer,
                   model.layers - 1);
  Roofline roofline;
  roofline.layer = layer;
  const Result<std::vector<MemoryRung>> rungs = rungs_of(prediction.machine);
  if (!rungs) return rungs.error();
  roofline.ceilings = ceilings_of(prediction.machine, *rungs);
  roofline.ladder = ladder_of(prediction.machine, *rungs);
  const auto& ranks = prediction.program.ranks;
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    const RankProgram& rank = ranks[at];
    if (std::find(rank.layers.begin(), rank.layers.end(), layer) == rank.layers.end()) continue;
    roofline.rank = rank.rank;
    Pieces pieces(prediction, rank, roofline);
    pieces.add_predicted();
    if (run && at < run->ranks.size()) pieces.add_measured(run->ranks[at].spans);
    break;
  }
  add_pieces(roofline);
  add_totals(roofline);
  return roofline;
}

nlohmann::json to_json(const Roofline& roofline) {
  nlohmann::json ceilings = nlohmann::json::array(), points = ceilings, ladder = ceilings,
                 pieces = ceilings;
  for (const RooflineCeiling& ceiling : roofline.ceilings) {
    nlohmann::json entry = {{"name", ceiling.name.text}, {"origin", text_of(ceiling.origin)}};
    if (ceiling.flops_per_second > 0) {
      entry["flops_per_second"] = ceiling.flops_per_second;
      entry["ridge_flops_per_byte"] = ceiling.ridge;
    } else {
      entry["bytes_per_second"] = ceiling.bytes_per_second;
      if (ceiling.latency_seconds > 0) {
        entry["latency_seconds"] = ceiling.latency_seconds;
        entry["latency_origin"] = text_of(ceiling.latency_origin);
      }
    }
    ceilings.push_back(std::move(entry));
  }
  for (const LadderRow& row : roofline.ladder) {
    nlohmann::json& entry =
        ladder.emplace_back(nlohmann::json{{"level", row.level}, {"name", row.name.text}});
    if (row.bytes > 0) entry["bytes"] = row.bytes;
    if (row.latency_seconds.value > 0) {
      entry["latency_seconds"] = row.latency_seconds.value;
      entry["latency_origin"] = text_of(row.latency_seconds.origin);
    }
    if (row.bytes_per_second.value > 0) {
      entry["bytes_per_second"] = row.bytes_per_second.value;
      entry["origin"] = text_of(row.bytes_per_second.origin);
    }
    if (row.times_slower > 0) entry["times_slower"] = row.times_slower;
  }
  for (const RooflinePiece& piece : roofline.pieces)
    pieces.push_back({{"piece", key_of(name_of(piece.piece))},
                      {"forward_seconds", piece.forward_seconds},
                      {"backward_seconds", piece.backward_seconds},
                      {"share", piece.share}});
  for (const RooflinePoint& point : roofline.points)
    points.push_back({{"piece", key_of(name_of(point.piece))},
                      {"phase", key_of(name_of(point.phase))},
                      {"flops", point.flops},
                      {"bytes", point.bytes},
                      {"intensity", point.intensity()},
                      {"seconds", point.seconds},
                      {"bound", name_of(point.bound)}});
  return {{"layer", roofline.layer},
          {"rank", roofline.rank},
          {"ceilings", std::move(ceilings)},
          {"ladder", std::move(ladder)},
          {"points", std::move(points)},
          {"pieces", std::move(pieces)},
          {"forward_seconds", roofline.forward_seconds},
          {"seconds", roofline.seconds},
          {"memory_share", roofline.memory_share},
          {"intensity", roofline.intensity},
          {"of_peak", roofline.of_peak},
          {"ridge_flops_per_byte", roofline.ridge}};
}

}  // namespace parallelarium
