// SPDX-License-Identifier: Apache-2.0
// TCP between the processes of a run: whole messages, deadlines, no exceptions, no SIGPIPE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/plan/result.h"
#include "engine/run/stop.h"

namespace parallelarium {

// Owns a file descriptor of a stream socket.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int handle) : handle_(handle) {}
  ~Socket();
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  int handle() const { return handle_; }
  explicit operator bool() const { return handle_ >= 0; }

  // Moves all of it, or returns false: the other side is gone.
  bool send(const void* data, std::size_t bytes) const;
  bool receive(void* data, std::size_t bytes) const;
  // Whether something can be read (or the other side is gone) before `deadline`.
  bool readable(TimePoint deadline) const;
  // Wakes all who block in it, on both sides.
  void shut() const;
  std::string peer_address() const;  // "10.0.0.3"

 private:
  int handle_ = -1;
};

// Listens on `port` (0: any free one), of the loopback if `local`, else of every address. Error
// "port-taken".
Result<Socket> listen_on(int port, bool local);
int port_of(const Socket& listener);
// The next connection before `deadline`; none if nobody came.
Socket accept_from(const Socket& listener, TimePoint deadline);
// Tries until `deadline`, since the other side may not listen yet. Error "host-unknown".
// None if nobody answered.
Result<Socket> connect_to(const std::string& address, int port, TimePoint deadline);
bool is_loopback(const std::string& address);

}  // namespace parallelarium
