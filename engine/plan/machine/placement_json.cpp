// SPDX-License-Identifier: Apache-2.0
// A Computer inside what `devices --json` prints, on its way to the window.
#include <nlohmann/json.hpp>

#include "engine/plan/machine/placement.h"
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
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return message_from_json(*found);
}

nlohmann::json reason_json(const std::optional<Message>& why) {
  return why ? to_json(*why) : nlohmann::json(nullptr);
}

}  // namespace

Computer computer_from_json(const nlohmann::json& devices) {
  Computer computer;
  if (!devices.is_object()) return computer;
  computer.cores = std::max(1, value_or(devices, "cores", 1));
  computer.no_gpus = reason(devices, "no_gpus");
  computer.gpus_apart = reason(devices, "gpus_apart");
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
  devices["no_gpus"] = reason_json(computer.gpus.empty() ? computer.no_gpus : std::nullopt);
  devices["gpus_apart"] = reason_json(computer.gpus_apart);
  nlohmann::json& gpus = devices["gpus"];
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const bool known = i < computer.gpus.size();
    const ComputerGpu gpu = known ? computer.gpus[i] : ComputerGpu{};
    const std::optional<Message>& why = known ? gpu.unusable : computer.no_gpus;
    gpus[i]["usable"] = known && !gpu.unusable;
    gpus[i]["why"] = reason_json(why);
    gpus[i]["uuid"] = gpu.uuid;
    gpus[i]["bf16_tensor_cores"] = gpu.bf16;
    gpus[i]["display"] = gpu.display;
  }
}

}  // namespace parallelarium
