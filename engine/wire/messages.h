// SPDX-License-Identifier: Apache-2.0
// What app and engine say to each other: JSON-RPC 2.0 with Content-Length framing, as in the
// Language Server Protocol.
//
//   initialize  {version}                     -> {version, engine, host, devices}
//   devices     {}                            -> the object of `devices --json`
//   calibrate   {}                            -> the Machine file          (progress, cancellable)
//   run         {setup, verify}               -> {observation, proof?}     (progress, cancellable)
//   shutdown    {}                            -> {}
// Notifications: `$/progress` {id, share, what} from the engine, `$/cancelRequest` {id} to it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/plan/report.h"
#include "engine/plan/result.h"

namespace parallelarium {

inline constexpr int kProtocolVersion = 1;

// "Content-Length: N\r\n\r\n" + body.
std::string frame(const nlohmann::json& message);

// Cuts a byte stream into messages. Survives any bytes: a bad header or body is an error with one
// sentence, after which the reader is unusable.
class FrameReader {
 public:
  void append(std::string_view bytes);
  // The next whole message, nothing if more bytes are needed, or what is wrong with the stream.
  Result<std::optional<nlohmann::json>> next();

 private:
  std::string pending_;
};

// The whole Observation, lossless; what `run` answers and a document keeps.
nlohmann::json to_json(const Observation& observation);
Result<Observation> observation_from_json(const nlohmann::json& json);

// {"format":"parallelarium-document/1","setup",...}
nlohmann::json to_json(const Message& message);
Message message_from_json(const nlohmann::json& json);

}  // namespace parallelarium
