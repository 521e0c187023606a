// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/roofline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/tensors/op_tensors.h"
#include "engine/predict/cost/executed_work.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/cost/work_seconds.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

std::vector<RooflineCeiling> ceilings_of(const Machine& machine) {
  std::vector<RooflineCeiling> ceilings;
  const double memory = machine.memory_bytes_per_second.value;
  const auto arithmetic = [&](Message name, const Sourced& rate) {
    if (rate.value > 0)
      ceilings.push_back({std::move(name), rate.value, 0, rate.origin, over(rate.value, memory)});
  };
  const auto bytes = [&](Message name, const Sourced& rate) {
    if (rate.value > 0) ceilings.push_back({std::move(name), 0, rate.value, rate.origin, 0});
  };
  arithmetic(message("ceiling-fp8", "products of 8 bit"), machine.fp8_flops_per_second);
  if (machine.bf16)
    arithmetic(message("ceiling-half", "products of 16 bit"), machine.half_flops_per_second);
  arithmetic(message("ceiling-fp32", "products of 32 bit"), machine.fp32_flops_per_second);
  bytes(message("ceiling-memory", "memory of a device"), machine.memory_bytes_per_second);
  bytes(message("ceiling-host", "memory of its host"), machine.host_bytes_per_second);
  if (machine.devices_per_node > 1)
    bytes(message("ceiling-node", "link in a node"), machine.intra_node.bytes_per_second);
  bytes(message("ceiling-network", "network between nodes"), machine.inter_node.bytes_per_second);
  return ceilings;
}

double peak_of(const Work& work, const Setup& setup, const Machine& machine) {
  if (is_fp8(work, setup.products)) return machine.fp8_flops_per_second.value;
  return machine.peak_flops_per_second(static_cast<int>(size_of(storage_of(work, setup)))).value;
}

RooflinePoint point_of(const Op& op, const Prediction& prediction) {
  RooflinePoint point{op.piece, op.phase};
  double arithmetic = 0;
  for (const Work& work : prediction.program.works[static_cast<std::size_t>(op.work)]) {
    const double flops = executed_flops(work, prediction.program.shape);
    point.flops += flops;
    point.bytes += static_cast<double>(work.bytes);
    arithmetic += over(flops, peak_of(work, prediction.setup, prediction.machine));
  }
  const double moving = over(point.bytes, prediction.machine.memory_bytes_per_second.value);
  const double start = prediction.machine.launch_seconds.value;
  point.bound = start > std::max(arithmetic, moving) ? RooflineBound::kLaunch
                : arithmetic > moving                ? RooflineBound::kCompute
                                                     : RooflineBound::kMemory;
  return point;
}

}  // namespace

std::string_view name_of(RooflineBound bound) {
  constexpr std::string_view kNames[] = {"compute", "memory", "launch"};
  return kNames[static_cast<std::size_t>(bound)];
}

Result<Roofline> roofline_of(const Setup& setup, const Machine& machine, int layer) {
  const Model& model = setup.model;
  if (layer == -1) layer = model.experts.count > 0 ? model.experts.first_dense : 0;
  if (layer < 0 || layer >= model.layers)
    return message("roofline-layer", "There is no layer {}; this model has layers 0 to {}.", layer,
                   model.layers - 1);
  const Result<Prediction> prediction = predict(setup, machine);
  if (!prediction) return prediction.error();
  const Program& program = prediction->program;
  const CostModel cost(program, prediction->machine, prediction->setup, &prediction->rows);
  Roofline roofline;
  roofline.layer = layer;
  roofline.ceilings = ceilings_of(machine);
  for (const RankProgram& rank : program.ranks) {
    if (std::find(rank.layers.begin(), rank.layers.end(), layer) == rank.layers.end()) continue;
    roofline.rank = rank.rank;
    const auto add = [&](const Op& op) {
      if (op.kind != OpKind::kCompute || op.layer != layer || op.microbatch != 0 || op.work < 0)
        return;
      RooflinePoint point = point_of(op, *prediction);
      point.seconds = cost.seconds(op, rank.rank);
      // Blocks of one attention, and shared experts beside an expert's own, are one piece.
      const auto same = std::find_if(
          roofline.points.begin(), roofline.points.end(), [&](const RooflinePoint& other) {
            return other.piece == point.piece && other.phase == point.phase;
          });
      if (same == roofline.points.end()) {
        roofline.points.push_back(point);
        return;
      }
      same->flops += point.flops;
      same->bytes += point.bytes;
      same->seconds += point.seconds;
    };
    for (const Op& op : rank.ops) {
      if (op.fold < 0)
        add(op);
      else
        for (const Fold::Part& part : program.folds[static_cast<std::size_t>(op.fold)].parts)
          add(op_of(part, op));
    }
    break;
  }
  return roofline;
}

nlohmann::json to_json(const Roofline& roofline) {
  nlohmann::json ceilings = nlohmann::json::array(), points = nlohmann::json::array();
  for (const RooflineCeiling& ceiling : roofline.ceilings) {
    nlohmann::json entry = {{"name", ceiling.name.text}, {"origin", ceiling.origin}};
    if (ceiling.flops_per_second > 0) {
      entry["flops_per_second"] = ceiling.flops_per_second;
      entry["ridge_flops_per_byte"] = ceiling.ridge;
    } else {
      entry["bytes_per_second"] = ceiling.bytes_per_second;
    }
    ceilings.push_back(std::move(entry));
  }
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
          {"points", std::move(points)}};
}

}  // namespace parallelarium
