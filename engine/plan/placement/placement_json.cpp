// SPDX-License-Identifier: Apache-2.0
// A Computer inside what `devices --json` prints, on its way to the window.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/placement.h"
#include "engine/plan/text/message_json.h"

namespace parallelarium {

namespace {

template <class Value>
Value value_or(const nlohmann::json& object, const char* key, Value otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<Value, bool>)
    return found->is_boolean() ? found->get<bool>() : otherwise;
  else if constexpr (std::is_integral_v<Value>)
    return found->is_number_integer() ? found->get<Value>() : otherwise;
  else
    return found->is_string() ? found->get<Value>() : otherwise;
}

std::optional<Message> reason(const nlohmann::json& object, const char* key) {
  Message why = message_at(object, key);
  if (why.text.empty()) return std::nullopt;
  return why;
}

// What is not a set of GPUs with a reason is left out.
std::vector<GpusApart> apart_from_json(const nlohmann::json& devices) {
  std::vector<GpusApart> apart;
  const auto sets = devices.find("apart");
  if (sets == devices.end() || !sets->is_array()) return apart;
  for (const nlohmann::json& set : *sets) {
    if (!set.is_object()) continue;
    const auto gpus = set.find("gpus");
    const std::optional<Message> why = reason(set, "why");
    const auto is_number = [](const nlohmann::json& gpu) { return gpu.is_number_integer(); };
    if (!why || gpus == set.end() || !gpus->is_array() || gpus->size() < 2 ||
        !std::all_of(gpus->begin(), gpus->end(), is_number))
      continue;
    apart.push_back({gpus->get<std::vector<int>>(), *why});
  }
  return apart;
}

void put_reason(nlohmann::json& object, const char* key, const std::optional<Message>& why) {
  if (why)
    put_text(object, key, *why);
  else
    object[key] = nullptr;
}

}  // namespace

Computer computer_from_json(const nlohmann::json& devices) {
  Computer computer;
  if (!devices.is_object()) return computer;
  computer.cores = std::max(1, value_or(devices, "cores", 1));
  computer.no_gpus = reason(devices, "no_gpus");
  computer.gpus_apart = reason(devices, "gpus_apart");
  computer.apart = apart_from_json(devices);
  if (const auto turns = devices.find("groups_take_turns");
      turns != devices.end() && turns->is_boolean())
    computer.groups_take_turns = turns->get<bool>();
  const auto gpus = devices.find("gpus");
  if (gpus == devices.end() || !gpus->is_array() || computer.no_gpus) return computer;
  for (const nlohmann::json& json : *gpus) {
    if (!json.is_object()) continue;
    ComputerGpu& gpu = computer.gpus.emplace_back();
    gpu.name = value_or(json, "name", std::string());
    gpu.uuid = value_or(json, "uuid", std::string());
    gpu.memory_bytes = value_or(json, "memory_bytes", std::int64_t{0});
    gpu.bf16 = value_or(json, "bf16_tensor_cores", true);
    gpu.display = value_or(json, "display", false);
    if (!value_or(json, "usable", false)) {
      gpu.unusable = reason(json, "why");
      if (!gpu.unusable) gpu.unusable = message("gpu-unusable", "{} cannot be used.", gpu.name);
    }
  }
  return computer;
}

void add_to_json(const Computer& computer, nlohmann::json& devices) {
  devices["cores"] = computer.cores;
  put_reason(devices, "no_gpus", computer.gpus.empty() ? computer.no_gpus : std::nullopt);
  put_reason(devices, "gpus_apart", computer.gpus_apart);
  if (computer.groups_take_turns) devices["groups_take_turns"] = *computer.groups_take_turns;
  devices["apart"] = nlohmann::json::array();
  for (const GpusApart& set : computer.apart)
    put_text(devices["apart"].emplace_back(nlohmann::json{{"gpus", set.gpus}}), "why", set.why);
  nlohmann::json& gpus = devices["gpus"];
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const bool known = i < computer.gpus.size();
    const ComputerGpu gpu = known ? computer.gpus[i] : ComputerGpu{};
    const std::optional<Message>& why = known ? gpu.unusable : computer.no_gpus;
    gpus[i]["usable"] = known && !gpu.unusable;
    put_reason(gpus[i], "why", why);
    gpus[i]["uuid"] = gpu.uuid;
    gpus[i]["bf16_tensor_cores"] = gpu.bf16;
    gpus[i]["display"] = gpu.display;
  }
}

}  // namespace parallelarium
