// SPDX-License-Identifier: Apache-2.0
// The file form of a Setup.
#include <algorithm>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/alternatives.h"
#include "engine/plan/setup/settings_reader.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {
namespace {

std::int64_t low(Range range) { return static_cast<std::int64_t>(range.low); }
std::int64_t high(Range range) { return static_cast<std::int64_t>(range.high); }

Result<Model> read_model(const nlohmann::json& json) {
  if (json.is_string()) return find_model(json.get<std::string>());
  return model_from_json(json);
}

Result<Precision> read_precision(const nlohmann::json& json) {
  if (json.is_string()) {
    const std::string name = json.get<std::string>();
    if (std::optional<Precision> named = find_precision(name)) return std::move(*named);
    const std::vector<std::string> names = precision_names();
    Message error = message("precision-unknown", "There is no precision “{}”; choose {}.",
                            shown(name), join_or(names));
    error.field = "precision";
    error.alternatives = names;
    return error;
  }
  Precision precision;
  precision.name = "custom";
  SettingsReader reader(json, "precision.");
  reader.whole("parameter_bytes", precision.parameter_bytes, 2, 4);
  reader.whole("gradient_bytes", precision.gradient_bytes, 2, 4);
  reader.whole("master_bytes", precision.master_bytes, 0, 4);
  reader.whole("moments_bytes", precision.moments_bytes, 0, 16);
  if (auto done = reader.finish(); !done) return done.error();
  return precision;
}

Result<Mesh> read_mesh(const nlohmann::json& json, Mesh mesh) {
  SettingsReader reader(json, "mesh.");
  reader.whole("dp", mesh.dp, low(kDegrees), high(kDegrees));
  reader.whole("tp", mesh.tp, low(kDegrees), high(kDegrees));
  reader.whole("pp", mesh.pp, low(kDegrees), high(kDegrees));
  reader.whole("cp", mesh.cp, low(kDegrees), high(kDegrees));
  reader.whole("ep", mesh.ep, low(kDegrees), high(kDegrees));
  reader.choice("order", mesh.order, kRankOrders);
  if (auto done = reader.finish(); !done) return done.error();
  return mesh;
}

Result<RunSettings> read_run(const nlohmann::json& json, RunSettings run) {
  SettingsReader reader(json, "run.");
  reader.choice("backend", run.backend, kBackends);
  reader.number("pace_seconds", run.pace_seconds, kPace.low, kPace.high);
  reader.whole("steps", run.steps, low(kSteps), high(kSteps));
  reader.whole("warmup", run.warmup, low(kWarmup), high(kWarmup));
  reader.seed("seed", run.seed);
  reader.text("text", run.text);
  reader.text("devices", run.devices);
  if (auto done = reader.finish(); !done) return done.error();
  return run;
}

// Reads a child through `read` into `into`; its error becomes the reader's.
template <class Value, class Read>
void read_child(SettingsReader& reader, const char* key, Value& into, const Read& read) {
  const nlohmann::json* json = reader.child(key);
  if (json == nullptr) return;
  Result<Value> value = read(*json);
  if (value)
    into = std::move(*value);
  else
    reader.fail(value.error());
}

Result<Setup> read_setup(const nlohmann::json& json) {
  Setup setup = new_setup();
  SettingsReader reader(json, "");
  std::string format = "parallelarium-setup/1";
  reader.text("format", format);
  if (format != "parallelarium-setup/1") {
    Message error =
        message("setup-format", "The format is “{}”; this version reads parallelarium-setup/1.",
                shown(format));
    error.field = "format";
    reader.fail(std::move(error));
  }
  read_child(reader, "model", setup.model, read_model);
  reader.text("machine", setup.machine);
  setup.machine = machine_called(setup.machine);
  reader.whole("nodes", setup.nodes, low(kNodes), high(kNodes));
  read_child(reader, "mesh", setup.mesh,
             [&](const nlohmann::json& child) { return read_mesh(child, setup.mesh); });
  reader.flag("sequence_parallel", setup.sequence_parallel);
  reader.whole("zero", setup.zero, low(kZero), high(kZero));
  reader.whole("zero_group", setup.zero_group, low(kZeroGroup), high(kZeroGroup));
  reader.whole("zero_prefetch", setup.zero_prefetch, low(kZeroPrefetch), high(kZeroPrefetch));
  read_child(reader, "precision", setup.precision, read_precision);
  reader.text("schedule", setup.schedule);
  reader.whole("chunks", setup.chunks, low(kChunks), high(kChunks));
  reader.whole("micro_batch", setup.micro_batch, low(kMicroBatch), high(kMicroBatch));
  reader.whole("microbatches", setup.microbatches, low(kMicrobatches), high(kMicrobatches));
  reader.choice("recompute", setup.recompute, kRecomputes);
  reader.choice("context_parallel", setup.context_parallel, kContextParallels);
  reader.choice("attention", setup.attention, kAttentions);
  reader.text("collectives", setup.collectives);
  reader.number("dropout", setup.dropout, kDropout.low, kDropout.high);
  reader.number("learning_rate", setup.learning_rate, kLearningRate.low, kLearningRate.high);
  reader.number("clip", setup.clip, kClip.low, kClip.high);
  reader.number("balance_loss", setup.balance_loss, kBalance.low, kBalance.high);
  reader.number("z_loss", setup.z_loss, kBalance.low, kBalance.high);
  reader.number("bias_rate", setup.bias_rate, kBalance.low, kBalance.high);
  reader.choice("expert_placement", setup.expert_placement, kExpertPlacements);
  reader.number("skew", setup.skew, kSkew.low, kSkew.high);
  reader.wholes("stage_layers", setup.stage_layers, 1, 10'000, kMostStages);
  read_child(reader, "run", setup.run,
             [&](const nlohmann::json& child) { return read_run(child, setup.run); });
  if (auto done = reader.finish(); !done) return done.error();
  return setup;
}

nlohmann::json model_json(const Model& model) {
  if (Result<Model> preset = find_model(model.name); preset && *preset == model) return model.name;
  return to_json(model);
}

nlohmann::json precision_json(const Precision& precision) {
  if (find_precision(precision.name) == precision) return precision.name;
  return {{"parameter_bytes", precision.parameter_bytes},
          {"gradient_bytes", precision.gradient_bytes},
          {"master_bytes", precision.master_bytes},
          {"moments_bytes", precision.moments_bytes}};
}

}  // namespace

Result<Setup> setup_from_json(const nlohmann::json& json) {
  if (json.is_object()) {
    const auto format = json.find("format");
    if (format != json.end() && *format == "parallelarium-document/1") {
      const auto setup = json.find("setup");
      if (setup == json.end())
        return message("document-setup", "The document holds no setup; save it again.");
      return read_setup(*setup);
    }
    // What `predict --json` and `run --json` print.
    if (const auto setup = json.find("setup"); setup != json.end() && setup->is_object())
      return read_setup(*setup);
  }
  return read_setup(json);
}

Result<std::optional<Setup>> resolved_from_json(const nlohmann::json& json) {
  if (!json.is_object()) return std::optional<Setup>();
  const auto setup_asked = json.find("setup"), resolved = json.find("resolved");
  if (setup_asked == json.end() || resolved == json.end()) return std::optional<Setup>();
  Result<Setup> setup = read_setup(*resolved);
  if (!setup) return setup.error();
  return std::optional<Setup>(std::move(*setup));
}

Result<Setup> setup_from_text(std::string_view text) {
  Result<nlohmann::json> json = parse_json(text);
  if (!json) return json.error();
  return setup_from_json(*json);
}

nlohmann::json to_json(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  const RunSettings& run = setup.run;
  nlohmann::json json = {{"format", "parallelarium-setup/1"},
                         {"model", model_json(setup.model)},
                         {"machine", setup.machine},
                         {"mesh",
                          {{"dp", mesh.dp},
                           {"tp", mesh.tp},
                           {"pp", mesh.pp},
                           {"cp", mesh.cp},
                           {"ep", mesh.ep},
                           {"order", name_of(mesh.order)}}},
                         {"sequence_parallel", setup.sequence_parallel},
                         {"zero", setup.zero},
                         {"zero_group", setup.zero_group},
                         {"precision", precision_json(setup.precision)},
                         {"schedule", setup.schedule},
                         {"chunks", setup.chunks},
                         {"micro_batch", setup.micro_batch},
                         {"microbatches", setup.microbatches},
                         {"recompute", word_of(kRecomputes, setup.recompute)},
                         {"context_parallel", word_of(kContextParallels, setup.context_parallel)},
                         {"attention", word_of(kAttentions, setup.attention)},
                         {"dropout", setup.dropout},
                         {"learning_rate", setup.learning_rate},
                         {"clip", setup.clip},
                         {"run",
                          {{"backend", word_of(kBackends, run.backend)},
                           {"pace_seconds", run.pace_seconds},
                           {"steps", run.steps},
                           {"warmup", run.warmup},
                           {"seed", run.seed},
                           {"text", run.text}}}};
  if (run.devices != "all") json["run"]["devices"] = run.devices;
  if (setup.nodes > 0) json["nodes"] = setup.nodes;
  if (setup.collectives != "direct") json["collectives"] = setup.collectives;
  const Setup usual;  // what concerns ZeRO 3 or experts alone is written where it was changed
  if (setup.zero_prefetch != usual.zero_prefetch) json["zero_prefetch"] = setup.zero_prefetch;
  if (setup.balance_loss != usual.balance_loss) json["balance_loss"] = setup.balance_loss;
  if (setup.z_loss != usual.z_loss) json["z_loss"] = setup.z_loss;
  if (setup.bias_rate != usual.bias_rate) json["bias_rate"] = setup.bias_rate;
  if (setup.expert_placement != usual.expert_placement)
    json["expert_placement"] = word_of(kExpertPlacements, setup.expert_placement);
  if (setup.skew != usual.skew) json["skew"] = setup.skew;
  if (!setup.stage_layers.empty()) json["stage_layers"] = setup.stage_layers;
  return json;
}

}  // namespace parallelarium
