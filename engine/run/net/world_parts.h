// SPDX-License-Identifier: Apache-2.0
// The files of World share its connections and the messages on them.
#pragma once

#include "engine/run/net/world.h"

namespace parallelarium {

enum class World::Kind : std::uint8_t {
  kHello,     // r to 0: rank, size, digest, host, port for messages, device
  kRoster,    // 0 to r: addresses and ports of all
  kRefused,   // 0 to r: why the run does not begin
  kAsk,       // 0 to r: what time is it
  kTime,      // r to 0: its time
  kClock,     // 0 to r: by how much r's clock is ahead
  kProgress,  // r to 0: where its lanes are; 0 to r: rank 0 is alive
  kStop,      // both ways: the run ends, and why
  kArrive,    // r to 0: at the barrier
  kGo,        // 0 to r: rank 0's time when the last had arrived
  kShare,     // 0 to r
  kOutcome,   // r to 0
  kDismiss    // 0 to r: everything has arrived
};

struct World::Peer {
  int rank = 0;
  std::string host;
  Socket socket;
  std::mutex sending;
  TimePoint heard = Clock::now();
  bool has_begun = false;  // begin() was called; before that, it may load libraries for long
  bool gone = false;
  std::chrono::nanoseconds offset{0}, clock_error{0};
  bool asked = false;
};

// Times of a clock travel as nanoseconds since its epoch.
inline std::int64_t nanoseconds_of(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
inline TimePoint time_at(std::int64_t nanoseconds) {
  return TimePoint(std::chrono::nanoseconds{nanoseconds});
}

// Sends or receives kind and payload as one message. False: the other side is gone, or is no
// Parallelarium.
bool send_message(const Socket& socket, std::uint32_t kind, const std::string& payload);
bool receive_message(const Socket& socket, std::uint32_t& kind, std::string& payload,
                     std::uint64_t most_bytes = std::uint64_t{1} << 34);

// `doing`: what the process last said it was doing; none: not known.
Message process_ended(int rank, const std::string& host, const std::optional<Message>& doing = {});
Message process_silent(int rank, const std::string& host, std::chrono::nanoseconds silent,
                       const std::optional<Message>& doing = {});

}  // namespace parallelarium
