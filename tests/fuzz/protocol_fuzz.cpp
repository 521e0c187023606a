// SPDX-License-Identifier: Apache-2.0
// Any bytes on the engine's standard input: framing, envelopes and the parameters of `run`; and any
// bytes that the window may read as an observation.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/wire/messages.h"
#include "engine/wire/rpc.h"

using namespace parallelarium;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void look_at(const nlohmann::json& json) {
  const Result<RpcRequest> request = rpc_request_from_json(json);
  if (request) {
    const Result<RunRequest> run = run_request_from_json(request->params);
    if (run)
      require(run_request_from_json({{"setup", to_json(run->setup)}}).ok());
    else
      require(!run.error().text.empty());
  } else {
    require(!request.error().text.empty());
  }
  const Result<Observation> observation = observation_from_json(json);
  if (observation) require(observation_from_json(to_json(*observation)).ok());
  static_cast<void>(message_from_json(json));
}

}  // namespace

// The first byte says how the rest is cut: 0 is one body without a frame, so that the fuzzer need
// not guess lengths.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  FrameReader reader;
  if (data[0] == 0) {
    reader.append("Content-Length: " + std::to_string(bytes.size()) + "\r\n\r\n");
    reader.append(bytes);
  } else {
    for (std::size_t at = 0; at < bytes.size(); at += data[0])
      reader.append(bytes.substr(at, data[0]));
  }
  while (true) {
    const Result<std::optional<nlohmann::json>> next = reader.next();
    if (!next) {
      require(!next.error().text.empty());
      if (!reader.is_lost()) continue;
      require(!reader.next().ok());
      break;
    }
    if (!next->has_value()) break;
    look_at(**next);
    // What was read can be written and is read the same.
    FrameReader again;
    again.append(frame(**next));
    const Result<std::optional<nlohmann::json>> copy = again.next();
    require(copy.ok() && copy->has_value() && **copy == **next);
  }
  return 0;
}
