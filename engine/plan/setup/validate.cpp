// SPDX-License-Identifier: Apache-2.0
// Why a Setup cannot be: one rule per function, each answering in sentences with valid values.
#include <algorithm>
#include <optional>

#include "engine/plan/machine/machine.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/setup/validate_rules.h"

namespace parallelarium {
namespace {

// Above these a prediction would not be instant, or 64-bit counts of bytes could overflow.
constexpr double kMostRanks = 1'000'000;
constexpr double kMostActions = 500'000;
constexpr double kMostTokens = 1e15;
constexpr double kMostBytes = 1e18;

void check_ranges(const Setup& setup, Messages& wrong) {
  const auto within = [&](const std::string& field, double value, Range range) {
    if (!(value >= range.low && value <= range.high))
      wrong.push_back(out_of_range(field, value, range.low, range.high));
  };
  // The model checks its own. Searches validate millions, so the rows are chosen once.
  static const std::vector<const SetupSetting*> rows = [] {
    const SettingTable<Setup>& table = setup_settings();
    std::vector<const SetupSetting*> ranged;
    for (const SetupSetting& row : table)
      if (row.value.range.high > 0 && !is_inside(table, row.key)) ranged.push_back(&row);
    return ranged;
  }();
  for (const SetupSetting* row : rows)
    if (const nlohmann::json value = row->value.get(setup); value.is_number())  // or "auto"
      within(row->key, value.get<double>(), row->value.range);
  const Precision& precision = setup.precision;
  if (is_auto(precision) || setup.attention == Attention::kAuto)
    add(wrong,
        message("setup-auto",
                "Precision and attention are still auto; choose them for the devices."),
        is_auto(precision) ? "precision" : "attention", {is_auto(precision) ? "fp32" : "unfused"});
  const auto two_or_four = [&](const char* field, int bytes, bool none) {
    if (bytes == 2 || bytes == 4 || (none && bytes == 0)) return;
    add(wrong,
        message("precision-bytes", "{} is {}; it must be {}.", field, bytes,
                join_or(none ? std::vector<std::string>{"0", "2", "4"}
                             : std::vector<std::string>{"2", "4"})),
        field, {"2", "4"});
  };
  two_or_four("precision.parameter_bytes", precision.parameter_bytes, false);
  two_or_four("precision.gradient_bytes", precision.gradient_bytes, false);
  two_or_four("precision.master_bytes", precision.master_bytes, true);
  within("precision.moments_bytes", precision.moments_bytes, {0, 16});
}

void check_machine(const Setup& setup, Messages& wrong) {
  static const std::vector<std::string> names = machine_names();  // searches validate millions
  if (std::find(names.begin(), names.end(), setup.machine.name()) == names.end()) {
    add(wrong,
        message("machine-unknown", "There is no machine “{}”; there are {}.",
                shown(setup.machine.name()), join_or(names)),
        "machine", names);
    return;
  }
  const bool offloads = setup.offload_activations || setup.offload_optimizer;
  if (!offloads && (setup.nodes == 0 || setup.machine == "local")) return;
  const Result<Machine> machine = machine_of(setup.machine);
  if (!machine) return;
  if (offloads && machine->host_bytes_per_second.value == 0)
    add(wrong,
        message("offload-host",
                "{} has no memory of a host beside that of its devices, or does not say how fast "
                "it is reached (host_bytes_per_second).",
                title_of(*machine)),
        setup.offload_activations ? "offload_activations" : "offload_optimizer", {"false"});
  if (setup.nodes == 0 || setup.machine == "local") return;
  const int here = setup.nodes * machine->devices_per_node, ranks = setup.mesh.ranks();
  if (ranks <= here) return;
  const int needed = (ranks + machine->devices_per_node - 1) / machine->devices_per_node;
  add(wrong,
      message("nodes-few", "{} ranks need {} nodes of {} devices; nodes is {}.", ranks, needed,
              machine->devices_per_node, setup.nodes),
      "nodes", {std::to_string(needed)});
}

void check_slow_rank(const Setup& setup, Messages& wrong) {
  const auto& [rank, factor] = setup.run.slow_rank;
  const int ranks = setup.mesh.ranks();
  if (factor == 1 || rank < ranks) return;
  add(wrong,
      message("slow-rank-outside", "Rank {} cannot be the slow one: this Setup has ranks 0 to {}.",
              rank, ranks - 1),
      "run.slow_rank.rank", {std::to_string(ranks - 1)});
}

void check_products(const Setup& setup, Messages& wrong) {
  if (setup.products == ProductType::kSame) {
    if (setup.kept == KeptType::kFp8)
      add(wrong,
          message("kept-fp8-products",
                  "Activations wait in FP8 where products are made of it; choose products fp8."),
          "kept_activations", {"same"});
    return;
  }
  if (setup.precision.parameter_bytes != 2 && !is_auto(setup.precision))
    add(wrong,
        message("fp8-precision", "Products in FP8 are made of 16-bit numbers; choose mixed-16."),
        "products", {"same"});
  // GPUs here are asked for by the backend, and may not have been calibrated yet.
  if (setup.machine == "local" && setup.run.backend == Backend::kCuda) {
    const Result<Machine> gpus = find_machine(kLocalGpus);
    if (gpus && gpus->fp8_flops_per_second.value == 0)
      add(wrong,
          message("fp8-calibration",
                  "No products in FP8 were measured on {}. GPUs of compute capability 8.9 or newer "
                  "multiply it: calibrate them again.",
                  title_of(*gpus)),
          "products", {"same"});
    return;
  }
  const Result<Machine> machine = machine_of(setup.machine);
  if (machine && machine->fp8_flops_per_second.value == 0)
    add(wrong,
        message("fp8-machine", "{} does not say how fast it multiplies FP8.", title_of(*machine)),
        "products", {"same"});
}

void check_recompute(const Setup& setup, Messages& wrong) {
  if (!names(setup.recompute, Recompute::kSecondProducts)) return;
  const auto without = [&](Message why) { add(wrong, std::move(why), "recompute", {"none"}); };
  if (setup.model.latent.kv_rank > 0)
    without(message("second-products-latent",
                    "Computing second products again is not known for latent attention, whose "
                    "queries, keys and values are several products each."));
  if (setup.kept == KeptType::kFp8)
    without(message("second-products-kept",
                    "Computing second products again does not go with activations that are kept in "
                    "FP8; keep them as they are, or compute others again."));
  if (setup.mesh.cp > 1 && setup.context_parallel == ContextParallel::kUlysses)
    without(message("second-products-ulysses",
                    "Ulysses keeps the queries, keys and values that ranks exchanged, so computing "
                    "keys again would save nothing; choose ring or all-gather."));
}

void check_size(const Setup& setup, Messages& wrong) {
  const Mesh& mesh = setup.mesh;
  const double ranks = 1.0 * mesh.dp * mesh.tp * mesh.pp * mesh.cp;
  if (ranks > kMostRanks)
    add(wrong,
        message("ranks-many", "DP, TP, PP and CP make {} ranks; at most {} can be predicted.",
                fmt::format("{:.0f}", ranks), ten_digits(kMostRanks)),
        "mesh.dp", {"1"});
  const double stages = 1.0 * mesh.pp * chunks_of(setup);
  if (stages * setup.microbatches > kMostActions) {
    const std::string most =
        fmt::format("{:.0f}", std::max(1.0, std::floor(kMostActions / stages)));
    add(wrong,
        message("actions-many",
                "{} stages times {} micro-batches are too many; at most {} micro-batches fit.",
                ten_digits(stages), setup.microbatches, most),
        "microbatches", {most});
  }
  const Model& model = setup.model;
  const double T = static_cast<double>(model.sequence);
  if (T * static_cast<double>(setup.global_batch()) > kMostTokens)
    add(wrong, message("tokens-many", "A step would have more than 10^15 tokens."), "microbatches",
        {"1"});
  // An upper bound of what one rank could hold: every tensor of every micro-batch of the model. A
  // fused attention keeps no scores.
  const double tokens = T / setup.mesh.cp;
  const double scores = setup.attention == Attention::kFused ? 0 : 2 * T / setup.mesh.tp;
  const double width =
      static_cast<double>(model.hidden) * 16 + static_cast<double>(model.ffn) * 8 +
      model.heads * (scores + 8 * static_cast<double>(model.head_dim)) +
      static_cast<double>(model.experts.ffn) * 8 * (model.experts.top_k + model.experts.shared + 1);
  const double bytes = 8.0 * setup.micro_batch * setup.microbatches * tokens *
                       (model.layers * width + static_cast<double>(model.vocab));
  if (bytes > kMostBytes)
    add(wrong,
        message("bytes-many",
                "The activations of a step would be more than 10^18 bytes; use a shorter sequence "
                "or a smaller micro-batch."),
        "model.sequence");
}

// The first stage without a layer that must have one: the first may hold the embedding alone, and
// the last the head.
std::optional<std::size_t> empty_stage(const std::vector<int>& layers) {
  for (std::size_t stage = 1; stage + 1 < layers.size(); ++stage)
    if (layers[stage] == 0) return stage;
  if (layers.size() == 1 && layers.front() == 0) return 0;
  return std::nullopt;
}

void check_stages(const Setup& setup, Messages& wrong) {
  const int layers = setup.model.layers, stages = stages_of(setup);
  const int per_rank = stages / setup.mesh.pp;
  if (!setup.stage_layers.empty()) {
    const Message name = of_settings("Stage layers");
    std::int64_t sum = 0;
    for (const int count : setup.stage_layers) sum += count;
    if (setup.stage_layers.size() != static_cast<std::size_t>(stages))
      add(wrong,
          message("stage-layers-count", "“{}” names {} stages, but there are {}.", name,
                  setup.stage_layers.size(), stages),
          "stage_layers", {"even"});
    else if (sum != layers)
      add(wrong,
          message("stage-layers-sum", "“{}” must add up to {} layers; it adds up to {}.", name,
                  layers, sum),
          "stage_layers", {"even"});
    else if (const auto empty = empty_stage(setup.stage_layers))
      add(wrong,
          message("stage-layers-empty",
                  "“{}” leaves stage {} without a layer; only the first and the last stage "
                  "may have none.",
                  name, *empty),
          "stage_layers", {"even"});
    return;
  }
  const std::vector<int>& published = setup.model.stage_layers;
  if (published.size() == static_cast<std::size_t>(stages)) {
    if (!empty_stage(published)) return;
  } else if (layers % stages == 0) {
    return;
  }
  const Message name = per_rank > 1 ? message("stages", "{} stages", stages)
                                    : plain(fmt::format("PP {}", setup.mesh.pp));
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  if (rule != nullptr && rule->chunks == 2 && per_rank == 2 && layers % per_rank != 0) {
    add(wrong,
        message("schedule-layers",
                "{} holds two stages on each rank, which do not divide {} layers; say the split in "
                "“{}”, or use 1f1b.",
                title_of(*rule), layers, of_settings("Stage layers")),
        "schedule", {"1f1b"});
    return;
  }
  if (per_rank > 1 && layers % per_rank != 0) {
    const auto chunks = as_text(divisors_near(layers, per_rank, 1'000));
    add(wrong,
        message("chunks-layers", "{} chunks do not divide {} layers; {} would.", per_rank, layers,
                join_or(chunks)),
        "chunks", chunks);
    return;
  }
  auto divisors = divisors_near(layers / per_rank, setup.mesh.pp);
  const int split = static_cast<int>(published.size()) / per_rank;  // its own uneven split
  if (split > 0 && split * per_rank == static_cast<int>(published.size()) &&
      std::find(divisors.begin(), divisors.end(), split) == divisors.end())
    divisors.push_back(split);
  std::sort(divisors.begin(), divisors.end());
  if (const auto odd = [](std::int64_t ranks) { return ranks % 2 != 0; };
      rule != nullptr && rule->even_ranks && !std::all_of(divisors.begin(), divisors.end(), odd))
    divisors.erase(std::remove_if(divisors.begin(), divisors.end(), odd), divisors.end());
  const auto stages_text = as_text(divisors);
  auto stages_said = stages_text;
  if (!stages_said.empty()) stages_said.front() = "PP " + stages_said.front();
  if (stages > layers)
    add(wrong,
        per_rank > 1
            ? message("stages-layers-few", "{} stages are more than the {} layers; {} would do.",
                      stages, layers, join_or(stages_said))
            : message("pp-layers-few", "{} is more than the {} layers; {} would do.", name, layers,
                      join_or(stages_said)),
        "mesh.pp", stages_text);
  else
    add(wrong,
        message("pp-layers",
                "{} layers cannot be cut evenly for {}; {} would do, or layers given stage by "
                "stage (“{}”).",
                layers, name, join_or(stages_said), of_settings("Stage layers")),
        "mesh.pp", stages_text);
}

// What a chunk takes before the next chunk does must keep every rank busy, also what is left over.
// Source: Megatron-LM, schedules.py.
void check_microbatch_group(const Setup& setup, Messages& wrong) {
  const int group = setup.microbatch_group, ranks = setup.mesh.pp, all = setup.microbatches;
  const auto fits = [&](int size) {
    return size >= std::min(ranks, all) && (all % size == 0 || all % size >= ranks);
  };
  if (group == 0 || fits(group)) return;
  std::vector<std::string> near = {"0"};
  for (int size = ranks; size <= all && near.size() < 3; ++size)
    if (fits(size)) near.push_back(std::to_string(size));
  add(wrong,
      message("microbatch-group",
              "Groups of {} micro-batches leave ranks without work: a group, and what is left of "
              "{}, needs as many as the {} ranks or more; {} would do.",
              group, all, ranks, join_or(near)),
      "microbatch_group", near);
}

void check_schedule(const Setup& setup, Messages& wrong) {
  if (const ScheduleRule* rule = find_schedule_rule(setup.schedule)) {
    const Result<void> sizes =
        check_schedule_sizes(*rule, setup.mesh.pp, setup.microbatches, setup.chunks);
    if (!sizes) wrong.push_back(sizes.error());
    if (rule->chunks == 0) check_microbatch_group(setup, wrong);
    return;
  }
  if (setup.schedule.order() != nullptr) return;
  std::vector<std::string> names;
  for (const ScheduleRule& rule : kScheduleRules) names.emplace_back(rule.name);
  add(wrong,
      message("schedule-unknown",
              "There is no schedule “{}” in this version; choose {}, or give an order of your own.",
              shown(setup.schedule.name()), join_or(names)),
      "schedule", names);
}

}  // namespace

std::vector<Message> validate(const Setup& setup) {
  Messages wrong;
  check_ranges(setup, wrong);
  for (Message& error : check_model(setup.model)) wrong.push_back(std::move(error));
  if (!wrong.empty()) return wrong;  // the rules below divide by these numbers
  check_products(setup, wrong);
  check_recompute(setup, wrong);
  check_size(setup, wrong);
  if (!wrong.empty()) return wrong;
  check_schedule(setup, wrong);
  check_stages(setup, wrong);
  check_tensor(setup, wrong);
  check_context(setup, wrong);
  check_experts(setup, wrong);
  check_zero(setup, wrong);
  check_machine(setup, wrong);
  check_slow_rank(setup, wrong);
  if (const auto devices = device_list(setup.run.devices); !devices)
    wrong.push_back(devices.error());
  return wrong;
}

}  // namespace parallelarium
