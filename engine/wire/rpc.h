// SPDX-License-Identifier: Apache-2.0
// JSON-RPC 2.0 envelopes and the parameters of the methods of messages.h.
// Source: https://www.jsonrpc.org/specification, sections 4 to 6; codes below -32000 follow the
// Language Server Protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

enum class RpcCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kRunFailed = -32000,  // a run or a calibration failed
  kBusy = -32001,       // another run or calibration is under way
  kCancelled = -32800,
};

// A call (with an id) or a notification (without; `id` is then null).
struct RpcRequest {
  nlohmann::json id;
  std::string method;
  nlohmann::json params = nlohmann::json::object();
  bool is_notification() const { return id.is_null(); }
};

// The id that an answer to this JSON has, a request or not: null where it has none, or a wrong one.
nlohmann::json rpc_id_of(const nlohmann::json& json);

// Error: why this JSON is no request; it refuses batches.
Result<RpcRequest> rpc_request_from_json(const nlohmann::json& json);

nlohmann::json rpc_request(const nlohmann::json& id, std::string_view method,
                           nlohmann::json params);
nlohmann::json rpc_notification(std::string_view method, nlohmann::json params);
nlohmann::json rpc_result(const nlohmann::json& id, nlohmann::json result);
// {"code","message","data"}: data is the whole Message.
nlohmann::json rpc_error(const nlohmann::json& id, RpcCode code, const Message& why);

// Parameters of `run`.
struct RunRequest {
  Setup setup;
  bool verify = false;
  std::vector<std::string> probes;  // as `run --probe` reads them
  // Above 0: also run an order that waits for ever, until no rank has moved for this time.
  double let_it_hang_seconds = 0;
};
inline constexpr double kMostHangSeconds = 600;
Result<RunRequest> run_request_from_json(const nlohmann::json& params);

}  // namespace parallelarium
