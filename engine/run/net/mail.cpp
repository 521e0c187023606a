// SPDX-License-Identifier: Apache-2.0
#include "engine/run/net/mail.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "engine/plan/program/program.h"

namespace parallelarium {

namespace {

constexpr auto kReasonComes = std::chrono::seconds{2};  // of a failure that another rank tells

struct MailHeader {
  std::uint8_t data = 0;  // 0: the receiver is ready; 1: the bytes follow
  std::uint8_t what = 0;
  std::uint8_t collective = 0;  // of the collective
  std::uint8_t padding = 0;
  std::int32_t group = 0;
  std::int64_t sequence = 0;
  std::int64_t bytes = 0;
};

}  // namespace

struct Mail::Peer {
  Socket socket;
  std::mutex sending;
  std::thread reader;
  // Under the mutex of Mail:
  std::map<MailKey, std::pair<MailHeader, TimePoint>> ready;  // the peer can receive
  std::map<MailKey, Parcel*> posted;                          // this rank can receive

  // The bytes of `header` go into the parcel that waits for them. False: the connection is broken.
  bool fill(const MailKey& key, const MailHeader& header, TimePoint now, std::mutex& mutex,
            std::condition_variable& filled) {
    Parcel* parcel = nullptr;
    {
      const std::lock_guard lock(mutex);
      const auto found = posted.find(key);
      if (found == posted.end() || found->second->bytes != header.bytes) return false;
      parcel = found->second;
      posted.erase(found);
      parcel->met = std::max(parcel->met, now);
      parcel->reading = true;
    }
    const bool whole = socket.receive(parcel->data, static_cast<std::size_t>(header.bytes));
    const std::lock_guard lock(mutex);
    parcel->done = whole;
    parcel->reading = false;
    filled.notify_all();
    return whole;
  }
};

Mail::Mail(World& world, Stop& stop)
    : world_(world), stop_(stop), peers_(static_cast<std::size_t>(world.size())) {
  std::vector<Socket> links = world.take_links();
  for (std::size_t rank = 0; rank < links.size(); ++rank) {
    if (!links[rank]) continue;
    peers_[rank] = std::make_unique<Peer>();
    peers_[rank]->socket = std::move(links[rank]);
    peers_[rank]->reader = std::thread([this, rank] { read_from(static_cast<int>(rank)); });
  }
}

Mail::~Mail() {
  ended_ = true;
  for (const auto& peer : peers_)
    if (peer != nullptr) peer->socket.shut();
  for (const auto& peer : peers_)
    if (peer != nullptr) peer->reader.join();
}

// All parcels together: buffers are offered first, then whatever is awaited goes out.
Result<void> Mail::move(std::vector<Parcel>& parcels) {
  const TimePoint now = Clock::now();
  for (Parcel& parcel : parcels) {
    parcel.met = now;
    if (parcel.send) continue;
    Peer& peer = *peers_[static_cast<std::size_t>(parcel.peer)];
    {
      const std::lock_guard lock(mutex_);
      peer.posted[parcel.key] = &parcel;
    }
    if (!send_to(parcel.peer, parcel, false)) return give_up(parcels);
  }
  while (true) {
    const std::uint32_t seen = news_.load(std::memory_order_acquire);
    bool all = true;
    for (Parcel& parcel : parcels) {
      if (parcel.send && !is_done(parcel)) {
        Result<bool> sent = try_send(parcel);
        if (!sent) {
          static_cast<void>(give_up(parcels));
          return sent.error();
        }
      }
      all = is_done(parcel) && all;
    }
    if (all) return {};
    if (!stop_.wait_while(news_, seen)) return give_up(parcels);
  }
}

bool Mail::is_done(const Parcel& parcel) const {
  const std::lock_guard lock(mutex_);
  return parcel.done;
}

Result<bool> Mail::try_send(Parcel& parcel) {
  Peer& peer = *peers_[static_cast<std::size_t>(parcel.peer)];
  MailHeader wanted;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peer.ready.find(parcel.key);
    if (found == peer.ready.end()) return false;
    wanted = found->second.first;
    parcel.met = std::max(parcel.met, found->second.second);
    peer.ready.erase(found);
  }
  if (wanted.collective != parcel.collective) {
    return fail(message("collective-differs.peer",
                        "Rank {} came to an {} of its group, rank {} to an {}.", world_.rank(),
                        name_of(static_cast<CollectiveKind>(parcel.collective)), parcel.peer,
                        name_of(static_cast<CollectiveKind>(wanted.collective))));
  }
  if (wanted.bytes != parcel.bytes) {
    return fail(message("transfer-size", "Rank {} sends {} bytes to rank {}, which expects {}.",
                        world_.rank(), parcel.bytes, parcel.peer, wanted.bytes));
  }
  if (!send_to(parcel.peer, parcel, true)) return stopped();
  const std::lock_guard lock(mutex_);
  parcel.done = true;
  return true;
}

// After this no reader thread touches the parcels: they are this call's.
Result<void> Mail::give_up(std::vector<Parcel>& parcels) {
  if (!stop_.raised()) stop_.sleep_until(Clock::now() + kReasonComes);
  for (Parcel& parcel : parcels) {
    if (parcel.send) continue;
    Peer& peer = *peers_[static_cast<std::size_t>(parcel.peer)];
    std::unique_lock lock(mutex_);
    const auto found = peer.posted.find(parcel.key);
    if (found != peer.posted.end() && found->second == &parcel) peer.posted.erase(found);
    if (parcel.reading) peer.socket.shut();
    read_.wait(lock, [&] { return !parcel.reading; });
  }
  return stopped();
}

bool Mail::send_to(int rank, const Parcel& parcel, bool data) {
  const MailHeader header{std::uint8_t(data), std::uint8_t(parcel.key.what), parcel.collective, 0,
                          parcel.key.group,   parcel.key.sequence,           parcel.bytes};
  Peer& peer = *peers_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(peer.sending);
  return peer.socket.send(&header, sizeof header) &&
         (!data || peer.socket.send(parcel.data, static_cast<std::size_t>(parcel.bytes)));
}

void Mail::read_from(int rank) {
  Peer& peer = *peers_[static_cast<std::size_t>(rank)];
  MailHeader header;
  while (peer.socket.receive(&header, sizeof header)) {
    const MailKey key{static_cast<MailKind>(header.what), header.group, header.sequence};
    const TimePoint now = Clock::now();
    if (header.data == 0) {
      const std::lock_guard lock(mutex_);
      peer.ready[key] = {header, now};
    } else if (!peer.fill(key, header, now, mutex_, read_)) {
      break;
    }
    news_.fetch_add(1, std::memory_order_release);
    Stop::wake(news_);
  }
  if (!ended_) world_.lost(rank);
}

Message Mail::fail(Message why) {
  stop_.raise(why);
  return why;
}

}  // namespace parallelarium
