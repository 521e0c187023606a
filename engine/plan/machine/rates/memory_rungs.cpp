// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/rates/memory_rungs.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/machine_files.h"
#include "engine/plan/machine/rates/machine_tables.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {
namespace {

// Its place among the levels; behind all where it is none of them.
std::size_t rank_of(const MemoryRung& rung) {
  return static_cast<std::size_t>(
      std::find(std::begin(kMemoryLevels), std::end(kMemoryLevels), rung.level) -
      std::begin(kMemoryLevels));
}

Result<MemoryRung> read_rung(const nlohmann::json& json, const std::string& prefix) {
  MemoryRung rung;
  SettingsReader reader(json, prefix);
  reader.text("level", rung.level);
  if (rank_of(rung) == std::size(kMemoryLevels))
    reader.fail(message("rung-level", "{} must be one of {}.", reader.dotted("level"),
                        fmt::format("{}", fmt::join(kMemoryLevels, ", "))));
  reader.whole("bytes", rung.bytes, 0, std::int64_t{1} << 50);
  read_dotted(reader, "latency_seconds", rung.latency_seconds, read_sourced);
  read_dotted(reader, "bytes_per_second", rung.bytes_per_second, read_sourced);
  if (auto done = reader.finish(); !done) return done.error();
  return rung;
}

Result<std::vector<MemoryRung>> measured_rungs(const Machine& machine) {
  const bool gpus = machine.name == kLocalGpus;
  const std::string path = local_ladder_path(gpus);
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return std::vector<MemoryRung>{};
  const Result<nlohmann::json> json = read_kept(path);
  const auto broken = [&](const Message& why) {
    return message("ladder-broken", "{} cannot be used ({}): measure it again with {}.",
                   shown(path), why, gpus ? "calibrate --memory --gpus" : "calibrate --memory");
  };
  if (!json) return broken(json.error());
  Result<std::vector<MemoryRung>> rungs = ladder_from_json(*json);
  if (!rungs) return broken(rungs.error());
  const auto device = json->find("device");
  if (gpus && (device == json->end() || !device->is_string() ||
               !is_among(machine, device->get<std::string>())))
    return std::vector<MemoryRung>{};
  return rungs;
}

}  // namespace

Result<std::vector<MemoryRung>> rungs_of(const Machine& machine) {
  if (machine.local) return measured_rungs(machine);
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with("machines/") || machine_of_file(file) != machine.name) continue;
    const Result<nlohmann::json> json = preset_json(file);
    if (!json) return json.error();
    return ladder_from_json(*json);
  }
  return std::vector<MemoryRung>{};
}

std::string local_ladder_path(bool gpus) {
  return kept_path(gpus ? "gpu_memory.json" : "memory.json");
}
Result<void> save_local_ladder(const nlohmann::json& measured, bool gpus) {
  return keep(local_ladder_path(gpus), measured);
}

nlohmann::json to_json(const MemoryRung& rung) {
  nlohmann::json json = {{"level", rung.level}};
  if (rung.bytes > 0) json["bytes"] = rung.bytes;
  if (rung.latency_seconds.value > 0) json["latency_seconds"] = to_json(rung.latency_seconds);
  if (rung.bytes_per_second.value > 0) json["bytes_per_second"] = to_json(rung.bytes_per_second);
  return json;
}

Result<std::vector<MemoryRung>> ladder_from_json(const nlohmann::json& json) {
  std::vector<MemoryRung> ladder;
  nlohmann::json alone = nlohmann::json::object();
  if (json.is_object() && json.contains("ladder")) alone["ladder"] = json.at("ladder");
  SettingsReader reader(alone, "");
  read_list(reader, "ladder", ladder, read_rung);
  const auto stay = [](const MemoryRung& a, const MemoryRung& b) {
    return rank_of(a) >= rank_of(b);
  };
  if (std::adjacent_find(ladder.begin(), ladder.end(), stay) != ladder.end())
    reader.fail(message("ladder-order", "The levels of {} must stand in this order: {}.",
                        reader.dotted("ladder"),
                        fmt::format("{}", fmt::join(kMemoryLevels, ", "))));
  if (auto done = reader.finish(); !done) return done.error();
  return ladder;
}

}  // namespace parallelarium
