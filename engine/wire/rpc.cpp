// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/rpc.h"

#include "engine/wire/messages.h"
#include "engine/wire/reading.h"

namespace parallelarium {

nlohmann::json rpc_id_of(const nlohmann::json& json) {
  if (!json.is_object()) return nullptr;
  const auto id = json.find("id");
  const bool is_id = id != json.end() && (id->is_number_integer() || id->is_string());
  return is_id ? *id : nlohmann::json();
}

Result<RpcRequest> rpc_request_from_json(const nlohmann::json& json) {
  if (!json.is_object())
    return message("rpc-not-object", "A protocol message must be one JSON object.");
  const auto version = json.find("jsonrpc");
  if (version == json.end() || *version != "2.0")
    return message("rpc-version", "A protocol message must say \"jsonrpc\": \"2.0\".");
  RpcRequest request;
  const auto method = json.find("method");
  if (method == json.end() || !method->is_string())
    return message("rpc-method", "A protocol message must name its \"method\" as text.");
  request.method = method->get<std::string>();
  request.id = rpc_id_of(json);
  if (request.id.is_null() && json.contains("id"))
    return message("rpc-id", "The \"id\" of a protocol message must be a whole number or text.");
  if (const auto params = json.find("params"); params != json.end() && !params->is_null()) {
    if (!params->is_object())
      return message("rpc-params", "The \"params\" of a protocol message must be an object.");
    request.params = *params;
  }
  return request;
}

nlohmann::json rpc_request(const nlohmann::json& id, std::string_view method,
                           nlohmann::json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

nlohmann::json rpc_notification(std::string_view method, nlohmann::json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

nlohmann::json rpc_result(const nlohmann::json& id, nlohmann::json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

nlohmann::json rpc_error(const nlohmann::json& id, RpcCode code, const Message& why) {
  return {
      {"jsonrpc", "2.0"},
      {"id", id},
      {"error", {{"code", static_cast<int>(code)}, {"message", why.text}, {"data", to_json(why)}}}};
}

Result<RunRequest> run_request_from_json(const nlohmann::json& params) {
  RunRequest request;
  ObjectReader reader(params, "params");
  reader.read("verify", request.verify);
  if (params.is_object() && params.contains("probe"))
    if (const nlohmann::json* probes = reader.array("probe"))
      for (const nlohmann::json& probe : *probes)
        request.probes.push_back(probe.is_string() ? probe.get<std::string>() : probe.dump());
  reader.read("let_it_hang_seconds", request.let_it_hang_seconds);
  if (!(request.let_it_hang_seconds >= 0 && request.let_it_hang_seconds <= kMostHangSeconds))
    reader.fail("let_it_hang_seconds",
                message("value-between", "between {} and {}", 0, kMostHangSeconds));
  const nlohmann::json* setup = reader.object("setup");
  if (reader.error()) return *reader.error();
  Result<Setup> read = setup_from_json(*setup);
  if (!read) return read.error();
  request.setup = std::move(*read);
  return request;
}

}  // namespace parallelarium
