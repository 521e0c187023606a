// SPDX-License-Identifier: Apache-2.0
// The messages between app and engine: JSON-RPC 2.0 with Content-Length framing, as in the Language
// Server Protocol.
//
//   initialize  {version}                     -> {version, engine, host, devices}
//   devices     {}                            -> the object of `devices --json`
//   check       {}                            -> the object of `devices --check --json`
//                                                                          (progress, cancellable)
//   calibrate   {}                            -> {machine}                 (likewise)
//   run         {setup, verify, let_it_hang_seconds?} -> {observation, machine, proof?} or, where
//                                                it hung as it might, {hang, machine}  (likewise)
//   collective  {name, algorithm, ...}        -> the measured object of `collective --json`
//                                                (see collective_messages.h; likewise)
//   route       {setup, layer?, microbatch?, group?, routing?} -> the object of `route --json`
//   shutdown    {}                            -> {}, and the engine ends
// An answer with `"ends": true` is the last of this engine: a run that does not end by itself, or a
// fault of a GPU, ends with the process.
// Notifications from the engine. `$/progress` {id, phase, share, what, step?, losses?}: phase is
// "checking", "calibrating", "running" or "proving"; share goes from 0 to 1 within the phase; what
// is a Message (message_json.h), as is every sentence in an answer. `losses` of a run are the new
// ones of the steps up to `step`, warm-up included. A loss that is not finite is null. A run that
// begins again with a larger stretch sends its steps again. `$/devices` is the object of `devices
// --json`; it comes after each check of GPUs, even if what asked for the check then fails.
// Notification to the engine: `$/cancelRequest` {id}.
// `machine` of a run is the Machine of its prediction. A run on a computer that was never
// calibrated first calibrates it and stores the result.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/plan/program/report.h"
#include "engine/plan/result.h"
#include "engine/plan/text/message_json.h"

namespace parallelarium {

inline constexpr int kProtocolVersion = 1;

// A document: {format, setup, runs: [what `run` answers], ...}; see app/state/document/document.h.
inline constexpr char kDocumentFormat[] = "parallelarium-document/1";

// "Content-Length: N\r\n\r\n" + body.
std::string frame(const nlohmann::json& message);

// A message may have this many bytes and be nested this deep.
inline constexpr std::size_t kMostMessageBytes = std::size_t{1} << 30;
inline constexpr int kMostMessageDepth = 200;

// Cuts a byte stream into messages. Survives any bytes. A bad body costs that message alone: its
// length was said, so the next call reads on behind it. After a bad header nobody knows where a
// message begins: the reader is lost and repeats its error.
class FrameReader {
 public:
  void append(std::string_view bytes);
  // The next whole message, or none if more bytes are needed. The error says what is wrong with the
  // message, or with the stream if the reader is lost.
  Result<std::optional<nlohmann::json>> next();
  bool is_lost() const { return failure_.has_value(); }
  // Whether the stream may end here: nothing of a message is left over.
  bool is_between_messages() const { return !failure_ && begin_ == pending_.size(); }

 private:
  std::string pending_;
  std::size_t begin_ = 0;  // of the unread bytes in pending_
  std::optional<Message> failure_;
};

// The whole Observation, as `run` answers it and a document keeps it. It loses nothing, except that
// losses that are not finite become null and read as NaN.
nlohmann::json to_json(const Observation& observation);
Result<Observation> observation_from_json(const nlohmann::json& json);

}  // namespace parallelarium
