// SPDX-License-Identifier: Apache-2.0
// How the processes of a run find each other.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"
#include "engine/run/net/bytes.h"
#include "engine/run/net/world_parts.h"

namespace parallelarium {

namespace {

constexpr std::uint64_t kMostHello = 1 << 20;  // anybody may connect
constexpr int kAsks = 16;                      // the shortest round trip of so many counts

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

// "Rank 3", "Ranks 1 and 2"
Message named(const std::vector<int>& ranks) {
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return ranks.size() == 1 ? message("named-rank", "Rank {}", numbers.front())
                           : message("named-ranks", "Ranks {}", join_and(numbers));
}

}  // namespace

Result<void> World::lead(const std::string& digest) {
  const TimePoint deadline = Clock::now() + times_.meeting;
  const bool local = is_loopback(place_.address);
  Result<Socket> listener = listen_on(place_.port, local);
  if (!listener) return listener.error();
  Result<Socket> messages = listen_on(0, local);
  if (!messages) return messages.error();
  peers_.resize(static_cast<std::size_t>(place_.size));
  devices_.resize(peers_.size());  // the first is its own already
  std::vector<std::string> addresses(peers_.size(), place_.address);
  std::vector<int> ports(peers_.size(), port_of(*messages));
  int missing = place_.size - 1;
  std::optional<Message> wrong;
  while (missing > 0 && !wrong) {
    Socket socket = accept_from(*listener, deadline);
    if (!socket) break;
    std::uint32_t kind = 0;
    std::string payload;
    // Who is no rank is not answered.
    if (!socket.readable(deadline) || !receive_message(socket, kind, payload, kMostHello)) continue;
    BytesReader hello(payload);
    const int rank = hello.take<std::int32_t>(), size = hello.take<std::int32_t>();
    const std::string theirs = hello.text(), host = hello.text();
    const int port = hello.take<std::int32_t>();
    const std::string device = hello.text();
    if (!hello.good() || static_cast<Kind>(kind) != Kind::kHello) continue;
    const bool known = rank > 0 && rank < place_.size;
    if (size != place_.size || !known || peers_[static_cast<std::size_t>(rank)] != nullptr) {
      wrong =
          message("rank-twice",
                  "A process came as rank {} of {}, and this run has {} ranks, each once; another "
                  "run may use port {}: set MASTER_PORT.",
                  rank, size, place_.size, place_.port);
    } else if (theirs != digest) {
      wrong = message("rank-differs",
                      "Rank {} on {} was started with another Setup or version; give all ranks the "
                      "same options.",
                      rank, host);
    }
    auto peer = std::make_unique<Peer>();
    peer->rank = rank;
    peer->host = host;
    const auto at = static_cast<std::size_t>(known ? rank : 0);
    addresses[at] = socket.peer_address();
    ports[at] = port;
    if (known) devices_[at] = device;
    peer->socket = std::move(socket);
    if (wrong)
      send_message(peer->socket, static_cast<std::uint32_t>(Kind::kRefused), as_json_text(*wrong));
    if (known && peers_[at] == nullptr) peers_[at] = std::move(peer);
    --missing;
  }
  if (!wrong && missing > 0) {
    std::vector<int> absent;
    for (int rank = 1; rank < place_.size; ++rank)
      if (peers_[static_cast<std::size_t>(rank)] == nullptr) absent.push_back(rank);
    wrong = message(
        "rank-absent",
        "{} did not come to {}:{} within {} s; start all {} ranks, and let them reach "
        "that port.",
        named(absent), place_.address, place_.port,
        figure(fmt::format("{:.3g}", std::chrono::duration<double>(times_.meeting).count())),
        place_.size);
  }
  peers_.erase(std::remove(peers_.begin(), peers_.end(), nullptr), peers_.end());
  if (wrong) {
    send_all(Kind::kRefused, wrong->text);
    return *wrong;
  }
  Bytes roster;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    roster.put_text(addresses[rank]);
    roster.put(static_cast<std::int32_t>(ports[rank]));
  }
  for (const auto& peer : peers_) {
    if (Result<void> asked = ask_for_time(*peer); !asked) return asked;
    if (!send(*peer, Kind::kRoster, roster.text())) return process_ended(peer->rank, peer->host);
  }
  return link(roster.text(), *messages);
}

Result<void> World::follow(const std::string& digest) {
  const TimePoint deadline = Clock::now() + times_.meeting;
  Result<Socket> connected = connect_to(place_.address, place_.port, deadline);
  if (!connected) return connected.error();
  const auto no_leader = [&] {
    return message("rank-absent.leader",
                   "Rank 0 did not answer on {}:{}; it failed first, or that port is closed.",
                   place_.address, place_.port);
  };
  if (!*connected) return no_leader();
  Result<Socket> messages = listen_on(0, is_loopback(place_.address));
  if (!messages) return messages.error();
  Bytes hello;
  hello.put(static_cast<std::int32_t>(place_.rank));
  hello.put(static_cast<std::int32_t>(place_.size));
  hello.put_text(digest);
  hello.put_text(host_name());
  hello.put(static_cast<std::int32_t>(port_of(*messages)));
  hello.put_text(devices_.front());
  peers_.push_back(std::make_unique<Peer>());
  Peer& leader = *peers_.front();
  leader.host = place_.address;
  leader.socket = std::move(*connected);
  if (!send(leader, Kind::kHello, hello.text())) return no_leader();
  // Rank 0 may wait for others longer than this one has waited for it.
  const TimePoint patience = Clock::now() + 2 * times_.meeting;
  while (true) {
    std::uint32_t kind = 0;
    std::string payload;
    if (!leader.socket.readable(patience) || !receive_message(leader.socket, kind, payload))
      return no_leader();
    switch (static_cast<Kind>(kind)) {
      case Kind::kRefused:
        return message("rank-refused", "{}",
                       message_from_json(nlohmann::json::parse(payload, nullptr, false)));
      case Kind::kRoster:
        return link(payload, *messages);
      default:
        handle(leader, static_cast<Kind>(kind), payload);
    }
  }
}

// Connects to every rank of a lower number, and is found by the higher ones.
Result<void> World::link(const std::string& roster, const Socket& listener) {
  const TimePoint deadline = Clock::now() + times_.meeting;
  BytesReader reader(roster);
  links_.resize(static_cast<std::size_t>(place_.size));
  for (int rank = 0; rank < place_.size; ++rank) {
    const std::string address = reader.text();
    const int port = reader.take<std::int32_t>();
    if (rank >= place_.rank) continue;
    Result<Socket> socket = connect_to(address, port, deadline);
    if (!socket) return socket.error();
    const std::int32_t me = place_.rank;
    if (!*socket || !socket->send(&me, sizeof me)) {
      return message("rank-absent.unreachable",
                     "Rank {} cannot reach rank {} at {}:{}; is a firewall between "
                     "the hosts?",
                     place_.rank, rank, address, port);
    }
    links_[static_cast<std::size_t>(rank)] = std::move(*socket);
  }
  for (int missing = place_.size - 1 - place_.rank; missing > 0; --missing) {
    Socket socket = accept_from(listener, deadline);
    std::int32_t rank = -1;
    if (!socket || !socket.receive(&rank, sizeof rank) || rank <= place_.rank ||
        rank >= place_.size) {
      return message("rank-absent.others",
                     "Rank {} waited in vain for {} other ranks to connect to it.", place_.rank,
                     missing);
    }
    links_[static_cast<std::size_t>(rank)] = std::move(socket);
  }
  return {};
}

// On rank 0, while nobody else reads from the peer. The second time, how far the first answer
// is off by now counts as error too.
Result<void> World::ask_for_time(Peer& peer) {
  std::chrono::nanoseconds shortest = std::chrono::hours{1}, offset{0};
  for (int i = 0; i < kAsks; ++i) {
    const TimePoint before = Clock::now();
    std::uint32_t kind = 0;
    std::string payload;
    if (!send(peer, Kind::kAsk, "")) return process_ended(peer.rank, peer.host);
    do {
      if (!peer.socket.readable(before + times_.silence))
        return process_silent(peer.rank, peer.host, times_.silence);
      if (!receive_message(peer.socket, kind, payload)) return process_ended(peer.rank, peer.host);
    } while (static_cast<Kind>(kind) != Kind::kTime);  // progress may be on its way still
    const TimePoint after = Clock::now();
    BytesReader reader(payload);
    const TimePoint theirs = time_at(reader.take<std::int64_t>());
    if (after - before >= shortest) continue;
    shortest = after - before;
    offset = theirs - (before + shortest / 2);
  }
  if (!peer.asked) peer.offset = offset;
  peer.asked = true;
  peer.clock_error = shortest / 2 + (std::max(offset, peer.offset) - std::min(offset, peer.offset));
  Bytes clock;
  clock.put(peer.offset.count());
  if (!send(peer, Kind::kClock, clock.text())) return process_ended(peer.rank, peer.host);
  return {};
}

}  // namespace parallelarium
