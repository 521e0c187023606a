// SPDX-License-Identifier: Apache-2.0
#include "engine/run/net/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace parallelarium {

namespace {

constexpr auto kRetry = std::chrono::milliseconds{50};

int milliseconds_to(TimePoint deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

// Messages are small and awaited: never held back to be sent with the next.
void ask_for_speed(int handle) {
  const int yes = 1;
  setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Socket::~Socket() {
  if (handle_ >= 0) close(handle_);
}

bool Socket::send(const void* data, std::size_t bytes) const {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::send(handle_, at, bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool Socket::receive(void* data, std::size_t bytes) const {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::recv(handle_, at, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool Socket::readable(TimePoint deadline) const {
  pollfd wanted{handle_, POLLIN, 0};
  int found = 0;
  do found = poll(&wanted, 1, milliseconds_to(deadline));
  while (found < 0 && errno == EINTR);
  return found > 0;
}

void Socket::shut() const {
  if (handle_ >= 0) shutdown(handle_, SHUT_RDWR);
}

std::string Socket::peer_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[NI_MAXHOST] = {};
  if (getpeername(handle_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return {};
  return text;
}

Result<Socket> listen_on(int port, bool local) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(socket.handle(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(local ? INADDR_LOOPBACK : INADDR_ANY);
  if (bind(socket.handle(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.handle(), 128) != 0) {
    return message("port-taken",
                   "Port {} cannot be listened on ({}); set MASTER_PORT to a free one for all "
                   "ranks.",
                   port, std::strerror(errno));
  }
  return socket;
}

int port_of(const Socket& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener.handle(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Socket accept_from(const Socket& listener, TimePoint deadline) {
  while (listener.readable(deadline)) {
    Socket socket(accept4(listener.handle(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    ask_for_speed(socket.handle());
    return socket;
  }
  return {};
}

Result<Socket> connect_to(const std::string& address, int port, TimePoint deadline) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  const int failed = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) {
    return message("host-unknown",
                   "The host of rank 0, {}, is not known here ({}); set MASTER_ADDR.", address,
                   gai_strerror(failed));
  }
  Socket connected;
  while (!connected && Clock::now() < deadline) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(socket.handle(), found->ai_addr, found->ai_addrlen) == 0) {
      ask_for_speed(socket.handle());
      connected = std::move(socket);
    } else {
      std::this_thread::sleep_for(kRetry);
    }
  }
  freeaddrinfo(found);
  return connected;
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address.rfind("127.", 0) == 0;
}

}  // namespace parallelarium
