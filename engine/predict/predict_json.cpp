// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "engine/plan/machine/nodes_text.h"
#include "engine/predict/predict.h"
#include "engine/predict/rates/axis_rates.h"

namespace parallelarium {

nlohmann::json to_json(const Prediction& prediction, int rank) {
  using nlohmann::json;
  json memory = json::array();
  for (const MemoryRow& row : prediction.memory) memory.push_back(to_json(row));
  json remarks = json::array();
  for (const Message& remark : remarks_of(prediction)) remarks.push_back(remark.text);
  json formulas = json::array();
  for (const Formula& formula : prediction.formulas) {
    formulas.push_back({{"kind", formula.name.kind},
                        {"name", formula.name.text},
                        {"expression", formula.expression.text},
                        {"values", formula.values},
                        {"value", formula.value},
                        {"unit", formula.unit},
                        {"source", formula.source.text},
                        {"note", formula.note.text}});
  }
  const int ranks = prediction.setup.mesh.ranks();
  const bool known = rank >= 0 && rank < ranks;
  const std::vector<TrafficRow> traffic =
      known ? expected_traffic(prediction, rank) : prediction.traffic;
  const RateShares shares = rate_shares(prediction);
  json assumed = json::array();
  for (const RateShares::Assumed& each : shares.largest_assumed)
    assumed.push_back({{"what", each.what}, {"share", each.share}});
  const LinkSharing sharing = link_sharing(prediction);
  json slowed = json::array();
  for (const LinkSharing::Slowed& each : sharing.slowed)
    slowed.push_back({{"what", each.what}, {"count", each.count}, {"seconds", each.seconds}});
  json step = to_json(prediction.step, false);
  step["flops_convention"] = "full";
  return {
      {"setup", to_json(prediction.setup)},  // or as it was asked for, where that is known
      {"resolved", to_json(prediction.setup)},
      {"machine", to_json(prediction.machine)},
      {"source", "predicted"},
      {"rates",
       {{"word", prediction.word},
        {"measured", shares.measured},
        {"interpolated", shares.interpolated},
        {"assumed", shares.assumed},
        {"largest_assumed", std::move(assumed)}}},
      {"link_sharing",
       {{"rank", sharing.rank}, {"seconds", sharing.seconds}, {"slowed", std::move(slowed)}}},
      {"level", prediction.program.level == Level::kPiece ? "piece" : "stage"},
      {"ranks", ranks},
      {"ranks_built", prediction.program.ranks.size()},
      {"nodes", nodes_json(prediction.setup.mesh, nodes_of(prediction.setup, prediction.machine))},
      {"model",
       {{"parameters", prediction.parameters.total},
        {"active_parameters", prediction.parameters.active},
        {"step_flops", prediction.step_flops}}},
      {"memory",
       {{"capacity_bytes", prediction.capacity_bytes},
        {"needed_bytes", prediction.needed_bytes},
        {"fits", prediction.fits()},
        {"ranks", std::move(memory)}}},
      {"traffic", to_json(traffic)},
      {"bubble", to_json(prediction.bubble)},
      {"step", std::move(step)},
      {"communication", to_json(axis_rates(prediction))},
      {"remarks", std::move(remarks)},
      {"formulas", std::move(formulas)}};
}

}  // namespace parallelarium
