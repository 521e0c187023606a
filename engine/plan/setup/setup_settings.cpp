// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/setup/setup_settings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "engine/plan/machine/machine.h"
#include "engine/plan/model/model_settings.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/setup/setup_objects.h"

namespace parallelarium {
namespace {

using Is = Of<Setup>;
using Row = SetupSetting;
// GCC 12 breaks down where the first row of all is one with names of members.
const Row kFirst = Row();

bool has_experts(const Setup& setup) { return setup.model.experts.count > 0; }

// ---- The model. ----

// A split into stages is of the layers that there were.
void follow_model(Setup& setup, const Setup& before) {
  follow_shape(setup.model, before.model);
  if (setup.model.layers != before.model.layers) setup.stage_layers.clear();
}

SettingTable<Setup> model_rows() {
  SettingTable<Setup> rows = {
      {.key = "model",
       .option = "model",
       .value = model_value(),
       .values = [](const Setup&) { return model_names(); },
       .follow = [](Setup& setup, const Setup&) { setup.stage_layers.clear(); },
       .section = Section::kModel,
       .label = "Model",
       .help = "a preset's name, or its shape as {...}"}};
  for (const Setting<Model>& row : model_settings()) {
    if (row.option.empty()) continue;
    rows.push_back(lifted(row, &Setup::model, "model."));
    rows.back().follow = follow_model;
  }
  return rows;
}

// ---- Devices and mesh. ----

// A row of the mesh, but for what all of them have alike.
Row degree(int Mesh::*member, Row row) {
  row.key = "mesh." + row.option;
  row.value = Is::whole(kDegrees, &Setup::mesh, member);
  row.section = Section::kParallelism;
  return row;
}

SettingTable<Setup> mesh_rows() {
  return {
      {.key = "machine",
       .option = "machine",
       .value = machine_value(),
       .values = [](const Setup&) { return machine_names(); },
       .from_file = machine_from_file,
       .section = Section::kDevices,
       .label = "Devices",
       .help = "a machine's name: local, dgx-h100, ..., or a file of changes to one"},
      {.key = "nodes",
       .option = "nodes",
       .value = Is::whole({0, 100'000}, &Setup::nodes),
       .written = where_changed<Setup>(&Setup::nodes),
       .section = Section::kMoreParallelism,
       .label = "Nodes (0: as needed)",
       .help = "nodes of the machine; 0: as many as the ranks need"},
      degree(&Mesh::dp, {.key = "",
                         .option = "dp",
                         .label = "Data",
                         .symbol = "DP",
                         .help = "data-parallel replicas"}),
      degree(&Mesh::tp, {.key = "",
                         .option = "tp",
                         .follow =
                             [](Setup& setup, const Setup&) {
                               // Sequence parallelism splits over the TP ranks.
                               if (setup.mesh.tp == 1)
                                 setup.sequence_parallel = setup.ring_tensor = false;
                             },
                         .label = "Tensor",
                         .symbol = "TP",
                         .help = "tensor-parallel ranks"}),
      degree(&Mesh::pp, {.key = "",
                         .option = "pp",
                         .follow = follow_stages,
                         .label = "Pipeline",
                         .symbol = "PP",
                         .help = "pipeline stages"}),
      degree(&Mesh::cp, {.key = "",
                         .option = "cp",
                         .label = "Context",
                         .symbol = "CP",
                         .help = "context-parallel ranks"}),
      degree(&Mesh::ep,
             {.key = "",
              .option = "ep",
              .applies = [](const Setup& setup) { return setup.mesh.ep > 1 || has_experts(setup); },
              .needs = "needs experts",
              .label = "Expert",
              .symbol = "EP",
              .help = "expert-parallel ranks, out of DP; of TP x CP x DP where experts are whole"}),
      {.key = "mesh.expert_tensor",
       .option = "expert-tensor",
       .value = Is::flag(&Setup::mesh, &Mesh::expert_tensor),
       .written = where_changed<Setup>(&Setup::mesh, &Mesh::expert_tensor),
       .applies = has_experts,
       .needs = "needs experts",
       .section = Section::kMoreParallelism,
       .label = "Experts cut by TP",
       .symbol = "ETP",
       .help = "TP cuts experts, too, and EP is out of DP; or experts are whole (ETP 1), and EP is "
               "out of TP x CP x DP: true or false",
       .captions = {{.value = "true", .text = "ETP = TP: a part of each expert"},
                    {.value = "false", .text = "ETP 1: whole experts"}}},
      {.key = "mesh.order",
       .option = "order",
       .value = Is::choice(kRankOrders, &Setup::mesh, &Mesh::order),
       .section = Section::kMoreParallelism,
       .label = "Rank order",
       .help = "rank order, innermost axis first: tp-cp-ep-dp-pp, tp-cp-ep-pp-dp"},
      {.key = "sequence_parallel",
       .option = "sequence-parallel",
       .value = Is::flag(&Setup::sequence_parallel),
       .applies = [](const Setup& setup) { return setup.mesh.tp > 1 || setup.sequence_parallel; },
       .needs = "needs TP above 1",
       .follow =
           [](Setup& setup, const Setup&) {
             setup.ring_tensor = setup.ring_tensor && setup.sequence_parallel;
           },
       .section = Section::kParallelism,
       .label = "Sequence",
       .symbol = "SP",
       .help = "split norms along the sequence: true or false",
       .captions = {{.value = "false", .text = "off"}, {.value = "true", .text = "on"}}},
      {.key = "sequence_regather",
       .option = "sequence-regather",
       .value = Is::flag(&Setup::sequence_regather),
       .written = where_changed<Setup>(&Setup::sequence_regather),
       .applies = [](const Setup& setup) { return setup.sequence_parallel; },
       .needs = "needs sequence parallelism",
       .section = Section::kMoreParallelism,
       .label = "SP gathers again",
       .help = "SP: gather inputs again for weight gradients, or keep them: true or false"},
      {.key = "zero",
       .option = "zero",
       .value = Is::whole({0, 3}, &Setup::zero),
       .section = Section::kParallelism,
       .label = "ZeRO",
       .help = "ZeRO stage 0, 1, 2 or 3",
       .captions = {{.value = "0", .text = "0", .tip = "nothing is shared out"},
                    {.value = "1", .text = "1", .tip = "optimizer state is shared out"},
                    {.value = "2",
                     .text = "2",
                     .tip = "optimizer state and gradients are shared out"},
                    {.value = "3",
                     .text = "3",
                     .tip = "optimizer state, gradients and parameters are shared out"}}},
      {.key = "zero_group",
       .option = "zero-group",
       .value = Is::whole({0, 65'536}, &Setup::zero_group),
       .section = Section::kMoreParallelism,
       .label = "ZeRO group (0: all of DP)",
       .help = "ranks of DP and CP that share model states; 0: all"},
      {.key = "zero_prefetch",
       .option = "zero-prefetch",
       .value = Is::whole({0, 16}, &Setup::zero_prefetch),
       .written = where_changed<Setup>(&Setup::zero_prefetch),
       .section = Section::kMoreParallelism,
       .label = "ZeRO 3 prefetch, layers",
       .unit = "layers",
       .help = "layers that ZeRO 3 gathers ahead of the computing one"},
      {.key = "zero_reshard",
       .option = "zero-reshard",
       .value = Is::flag(&Setup::zero_reshard),
       .written = where_changed<Setup>(&Setup::zero_reshard),
       .applies = [](const Setup& setup) { return setup.zero == 3; },
       .needs = "needs ZeRO 3",
       .section = Section::kMoreParallelism,
       .label = "ZeRO 3 reshards",
       .help = "ZeRO 3: free parameters after a forward and gather them again: true or false"},
      {.key = "zero_accumulate",
       .option = "zero-accumulate",
       .value = Is::flag(&Setup::zero_accumulate),
       .written = where_changed<Setup>(&Setup::zero_accumulate),
       .applies = [](const Setup& setup) { return setup.zero == 2; },
       .needs = "needs ZeRO 2",
       .section = Section::kMoreParallelism,
       .label = "ZeRO 2 accumulates",
       .help = "ZeRO 2: accumulate whole gradients and reduce them once a step: true or false"},
      {.key = "overlap_gradients",
       .option = "overlap-gradients",
       .value = Is::flag(&Setup::overlap_gradients),
       .written = where_changed<Setup>(&Setup::overlap_gradients),
       .section = Section::kMoreParallelism,
       .label = "Overlap gradients",
       .help = "reduce gradients while the backward computes, or make it wait: true or false"},
      {.key = "overlap_parameters",
       .option = "overlap-parameters",
       .value = Is::flag(&Setup::overlap_parameters),
       .written = where_changed<Setup>(&Setup::overlap_parameters),
       .applies = [](const Setup& setup) { return setup.zero == 1 || setup.zero == 2; },
       .needs = "needs ZeRO 1 or 2",
       .section = Section::kMoreParallelism,
       .label = "Overlap parameters",
       .help = "ZeRO 1 and 2: gather parameters while the next forward computes, or before the "
               "step ends: true or false"},
      {.key = "gradient_reduction",
       .option = "gradient-reduction",
       .value = Is::choice(kGradientReductions, &Setup::gradient_reduction),
       .written = where_changed<Setup>(&Setup::gradient_reduction),
       .applies = [](const Setup& setup) { return setup.precision.gradient_bytes == 2; },
       .needs = "needs 16-bit gradients",
       .section = Section::kMoreParallelism,
       .label = "Gradient reduction",
       .help = "type in which replicas add up gradients: same or fp32",
       .captions = {{.value = "same", .text = "same: as they are held"},
                    {.value = "fp32", .text = "fp32: widened for it"}}},
      {.key = "overlap_tensor",
       .option = "overlap-tensor",
       .value = Is::flag(&Setup::overlap_tensor),
       .written = where_changed<Setup>(&Setup::overlap_tensor),
       .applies = [](const Setup& setup) { return setup.mesh.tp > 1; },
       .needs = "needs TP above 1",
       .section = Section::kMoreParallelism,
       .label = "Overlap tensor",
       .help = "sum TP's input gradients during weight gradients: true or false"},
      {.key = "ring_tensor",
       .option = "ring-tensor",
       .value = Is::flag(&Setup::ring_tensor),
       .written = where_changed<Setup>(&Setup::ring_tensor),
       .applies = [](const Setup& setup) { return setup.sequence_parallel; },
       .needs = "needs sequence parallelism",
       .section = Section::kMoreParallelism,
       .label = "Ring of TP products",
       .help = "asynchronous TP: cut forward products and their sums, so that tokens travel during "
               "them: true or false"},
      {.key = "overlap_pipeline",
       .option = "overlap-pipeline",
       .value = Is::flag(&Setup::overlap_pipeline),
       .written = where_changed<Setup>(&Setup::overlap_pipeline),
       .applies = [](const Setup& setup) { return setup.mesh.pp > 1; },
       .needs = "needs PP above 1",
       .section = Section::kMoreParallelism,
       .label = "Overlap pipeline",
       .help = "send between stages while they compute, or make them wait: true or false"},
      {.key = "scatter_gather",
       .option = "scatter-gather",
       .value = Is::flag(&Setup::scatter_gather),
       .written = where_changed<Setup>(&Setup::scatter_gather),
       .applies =
           [](const Setup& setup) {
             return setup.mesh.pp > 1 && setup.mesh.tp > 1 && !setup.sequence_parallel;
           },
       .needs = "needs PP and TP above 1, without sequence parallelism",
       .section = Section::kMoreParallelism,
       .label = "Scatter/gather",
       .help = "each TP rank sends its share to the next stage, which gathers it: true or false"}};
}

// ---- Experts. ----

SettingTable<Setup> expert_rows() {
  constexpr Range kCoefficient{0, 1'000};
  constexpr Stride kFromThousandth{0, 1e-3};
  SettingTable<Setup> rows = {
      {.key = "balance_loss",
       .option = "balance-loss",
       .value = Is::number(kCoefficient, &Setup::balance_loss),
       .written = where_changed<Setup>(&Setup::balance_loss),
       .stride = kFromThousandth,
       .label = "Balance loss, α (0: none)",
       .help = "coefficient of the experts' balance loss; 0: none"},
      {.key = "z_loss",
       .option = "z-loss",
       .value = Is::number(kCoefficient, &Setup::z_loss),
       .written = where_changed<Setup>(&Setup::z_loss),
       .stride = kFromThousandth,
       .label = "Router z-loss (0: none)",
       .help = "coefficient of the routers' z-loss; 0: none"},
      {.key = "bias_rate",
       .option = "bias-rate",
       .value = Is::number(kCoefficient, &Setup::bias_rate),
       .written = where_changed<Setup>(&Setup::bias_rate),
       .stride = kFromThousandth,
       .label = "Bias ±γ per step (0: none)",
       .help = "change of an expert's selection bias per step; 0: no bias"},
      {.key = "expert_placement",
       .option = "expert-placement",
       .value = Is::choice(kExpertPlacements, &Setup::expert_placement),
       .written = where_changed<Setup>(&Setup::expert_placement),
       .label = "Placement",
       .help = "blocked or round-robin",
       .captions = {{.value = "blocked", .text = "neighbours: 0 1, 2 3, ..."},
                    {.value = "round-robin", .text = "in turn: 0 4, 1 5, ..."}}},
      {.key = "expert_dispatch",
       .option = "expert-dispatch",
       .value = Is::choice(kExpertDispatches, &Setup::expert_dispatch),
       .written = where_changed<Setup>(&Setup::expert_dispatch),
       .label = "Dispatch",
       .help = "how a token goes to its experts: copies, once-per-node or tensor-shares, where "
               "each TP rank sends its own tokens alone",
       .captions = {{.value = "copies", .text = "once for each of its experts"},
                    {.value = "once-per-node", .text = "once for each of their nodes"},
                    {.value = "tensor-shares", .text = "from one TP rank alone"}}},
      {.key = "fp8_dispatch",
       .option = "fp8-dispatch",
       .value = Is::flag(&Setup::fp8_dispatch),
       .written = where_changed<Setup>(&Setup::fp8_dispatch),
       .label = "Dispatch in FP8",
       .help = "tokens travel to experts in FP8: true or false"},
      {.key = "expert_gates",
       .option = "expert-gates",
       .value = Is::choice(kExpertGates, &Setup::expert_gates),
       .written = where_changed<Setup>(&Setup::expert_gates),
       .label = "Router's weights",
       .help = "what a router's weights multiply: results of experts, or activations between their "
               "products",
       .captions = {{.value = "results", .text = "results: which are kept"},
                    {.value = "activations", .text = "activations: no results are kept"}}},
      {.key = "overlap_experts",
       .option = "overlap-experts",
       .value = Is::flag(&Setup::overlap_experts),
       .written = where_changed<Setup>(&Setup::overlap_experts),
       .label = "Overlap experts",
       .help = "exchange tokens of one half of a DualPipe pair during the other: true or false"},
      {.key = "skew",
       .option = "skew",
       .value = Is::number({0, 1}, &Setup::skew),
       .written = where_changed<Setup>(&Setup::skew),
       .stride = {0.05},
       .label = "Skew, share sent to expert 0",
       .help = "share of the tokens that is sent to expert 0 on purpose, from 0 to 1; expert 0 "
               "also gets its part of the rest"}};
  for (Row& row : rows) {
    row.applies = has_experts;
    row.needs = "needs experts";
    row.section = Section::kExperts;
  }
  return rows;
}

}  // namespace

const SettingTable<Setup>& setup_settings() {
  static const SettingTable<Setup> kTable = [] {
    SettingTable<Setup> table;
    for (auto* part : {model_rows, mesh_rows, step_rows, expert_rows, run_rows, filling_rows})
      for (Row& row : part()) table.push_back(std::move(row));
    return table;
  }();
  return kTable;
}

// ---- Setting by name. ----

Result<void> set_field(Setup& setup, std::string_view name, std::string_view value) {
  const SetupSetting* row = find_setting(setup_settings(), name);
  if (row != nullptr) return turn(setup, *row, value);
  std::vector<std::string> names;
  for (const SetupSetting& each : setup_settings()) names.push_back(each.option);
  Message error = message("field-unknown", "There is no setting “{}”; there are {}.", shown(name),
                          fmt::format("{}", fmt::join(names, ", ")));
  error.alternatives = names;
  return error;
}

Result<void> set_typed(Setup& setup, std::string_view name, const std::string& value) {
  const SetupSetting* row = find_setting(setup_settings(), name);
  if (row == nullptr) return set_field(setup, name, value);
  const Result<void> set = turn_typed(setup, *row, value);
  if (set || row->from_file == nullptr || !is_file(value)) return set;
  return message("found-in", "{}: {}", shown(value), set.error());
}

Result<void> set_fields(Setup& setup,
                        std::vector<std::pair<std::string, std::string>> names_and_values) {
  const auto place = [](const auto& field) { return find_setting(setup_settings(), field.first); };
  std::stable_sort(names_and_values.begin(), names_and_values.end(),
                   [&](const auto& a, const auto& b) {
                     return std::less<const SetupSetting*>()(place(a), place(b));
                   });
  for (const auto& [name, value] : names_and_values)
    if (Result<void> set = set_field(setup, name, value); !set) return set;
  return {};
}

}  // namespace parallelarium
