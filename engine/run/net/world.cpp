// SPDX-License-Identifier: Apache-2.0
#include "engine/run/net/world.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/plan/text/message_json.h"
#include "engine/run/net/bytes.h"
#include "engine/run/net/world_parts.h"

namespace parallelarium {

namespace {

constexpr std::uint32_t kMagic = 0x50524C31;  // "PRL1", also tells the order of bytes
constexpr auto kBeat = std::chrono::milliseconds{50};
constexpr auto kGrace = std::chrono::milliseconds{500};

struct FrameHeader {
  std::uint32_t magic = kMagic;
  std::uint32_t kind = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

bool send_message(const Socket& socket, std::uint32_t kind, const std::string& payload) {
  const FrameHeader header{kMagic, kind, payload.size()};
  std::string whole(reinterpret_cast<const char*>(&header), sizeof header);
  whole += payload;
  return socket.send(whole.data(), whole.size());
}

bool receive_message(const Socket& socket, std::uint32_t& kind, std::string& payload,
                     std::uint64_t most_bytes) {
  FrameHeader header;
  if (!socket.receive(&header, sizeof header)) return false;
  if (header.magic != kMagic || header.bytes > most_bytes) return false;
  kind = header.kind;
  payload.resize(header.bytes);
  return socket.receive(payload.data(), payload.size());
}

Message process_ended(int rank, const std::string& host, const std::optional<Message>& doing) {
  return doing ? message("rank-lost.at",
                         "The process of rank {} on {} ended before the run did; it was last at "
                         "{}.",
                         rank, host, *doing)
               : message("rank-lost", "The process of rank {} on {} ended before the run did.",
                         rank, host);
}

Message process_silent(int rank, const std::string& host, std::chrono::nanoseconds silent,
                       const std::optional<Message>& doing) {
  const Message seconds =
      figure(fmt::format("{:.3g}", std::chrono::duration<double>(silent).count()));
  return doing ? message("rank-silent.at",
                         "The process of rank {} on {} has said nothing for {} s, so it is stopped "
                         "or its host is gone; it was last at {}.",
                         rank, host, seconds, *doing)
               : message("rank-silent",
                         "The process of rank {} on {} has said nothing for {} s, so it is stopped "
                         "or its host is gone.",
                         rank, host, seconds);
}

World::World(const ProcessPlace& place, const WorldTimes& times, const std::string& device)
    : place_(place), times_(times), devices_{device} {}

World::~World() {
  ended_ = true;
  for (const auto& peer : peers_) peer->socket.shut();
  if (thread_.joinable()) thread_.join();
}

Result<std::unique_ptr<World>> World::join(const ProcessPlace& place, const std::string& digest,
                                           const WorldTimes& times, const std::string& device) {
  std::unique_ptr<World> world(new World(place, times, device));
  if (Result<void> met = place.rank == 0 ? world->lead(digest) : world->follow(digest); !met)
    return met.error();
  return world;
}

std::chrono::nanoseconds World::clock_error(int rank) const {
  for (const auto& peer : peers_)
    if (peer->rank == rank) return peer->clock_error;
  return std::chrono::nanoseconds{0};
}

bool World::send(Peer& peer, Kind kind, const std::string& payload) {
  const std::lock_guard lock(peer.sending);
  return send_message(peer.socket, static_cast<std::uint32_t>(kind), payload);
}

bool World::send_all(Kind kind, const std::string& payload) {
  bool all = true;
  for (const auto& peer : peers_) all = send(*peer, kind, payload) && all;
  return all;
}

std::optional<Message> World::doing_of(int rank) const {
  if (!doings_ || place_.rank != 0) return std::nullopt;
  return doings_(rank);
}

void World::begin(Stop& stop, RunProgress& progress, Doings doings) {
  doings_ = std::move(doings);
  stop_ = &stop;
  progress_ = &progress;
  outcome_.resize(static_cast<std::size_t>(place_.size));
  for (const auto& peer : peers_) peer->heard = Clock::now();
  thread_ = std::thread([this] { keep_informed(); });
}

void World::keep_informed() {
  TimePoint told = Clock::now();
  while (!ended_) {
    std::vector<pollfd> wanted;
    for (const auto& peer : peers_)
      wanted.push_back({peer->gone ? -1 : peer->socket.handle(), POLLIN, 0});
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(kBeat).count();
    const int ready = poll(wanted.data(), wanted.size(), static_cast<int>(wait));
    for (std::size_t i = 0; ready > 0 && i < peers_.size(); ++i) {
      if (wanted[i].revents != 0) hear(*peers_[i]);
    }
    if (Clock::now() - told >= kBeat) {
      told = Clock::now();
      tell_progress();
    }
    if (stop_->raised()) give_up(stop_->why());
    for (const auto& peer : peers_) {
      const auto silent = Clock::now() - peer->heard;
      const auto most = peer->has_begun ? times_.silence : std::max(times_.silence, times_.meeting);
      if (peer->gone || ended_ || silent < most) continue;
      stop_->raise(process_silent(peer->rank, peer->host, silent, doing_of(peer->rank)));
    }
  }
}

void World::hear(Peer& peer) {
  std::uint32_t kind = 0;
  std::string payload;
  if (receive_message(peer.socket, kind, payload)) {
    peer.heard = Clock::now();
    peer.has_begun = true;
    handle(peer, static_cast<Kind>(kind), payload);
    return;
  }
  peer.gone = true;
  if (!ended_ && dismissed_ == 0)
    stop_->raise(process_ended(peer.rank, peer.host, doing_of(peer.rank)));
}

void World::handle(Peer& peer, Kind kind, const std::string& payload) {
  BytesReader reader(payload);
  switch (kind) {
    case Kind::kAsk: {
      Bytes time;
      time.put(nanoseconds_of(Clock::now()));
      send(peer, Kind::kTime, time.text());
      break;
    }
    case Kind::kClock:
      offset_ = std::chrono::nanoseconds{reader.take<std::int64_t>()};
      break;
    case Kind::kProgress: {
      if (!leads()) break;
      RankProgress& theirs = *(*progress_)[static_cast<std::size_t>(peer.rank)];
      for (LaneProgress& lane : theirs.lanes) {
        lane.op = reader.take<std::int32_t>();
        lane.doing = static_cast<Doing>(reader.take<std::uint8_t>());
        lane.changes = reader.take<std::uint64_t>();
      }
      theirs.steps_done = reader.take<std::int32_t>();
      break;
    }
    case Kind::kStop: {
      const nlohmann::json why = nlohmann::json::parse(reader.text(), nullptr, false);
      if (peer.rank == 0) leader_told_ = true;
      stop_->raise(message_from_json(why));
      break;
    }
    case Kind::kArrive:
      arrive();
      break;
    case Kind::kGo: {
      {
        const std::lock_guard lock(mutex_);
        round_time_ = time_at(reader.take<std::int64_t>()) + offset_;
      }
      ++rounds_;
      Stop::wake(rounds_);
      break;
    }
    case Kind::kShare: {
      {
        const std::lock_guard lock(mutex_);
        share_ = payload;
      }
      shared_ = 1;
      Stop::wake(shared_);
      break;
    }
    case Kind::kOutcome: {
      {
        const std::lock_guard lock(mutex_);
        outcome_[static_cast<std::size_t>(peer.rank)] = payload;
      }
      ++outcomes_;
      Stop::wake(outcomes_);
      break;
    }
    case Kind::kDismiss:
      dismissed_ = 1;
      Stop::wake(dismissed_);
      break;
    default:
      break;
  }
}

void World::tell_progress() {
  if (leads()) {
    for (const auto& peer : peers_)
      if (!peer->gone) send(*peer, Kind::kProgress, "");
    return;
  }
  Bytes bytes;
  const RankProgress& own = *(*progress_)[static_cast<std::size_t>(place_.rank)];
  for (const LaneProgress& lane : own.lanes) {
    bytes.put(lane.op.load());
    bytes.put(static_cast<std::uint8_t>(lane.doing.load()));
    bytes.put(lane.changes.load());
  }
  bytes.put(static_cast<std::int32_t>(own.steps_done.load()));
  send(*peers_.front(), Kind::kProgress, bytes.text());
}

bool World::leader_tells() const { return !leads() && (leader_told_ || !peers_.front()->gone); }

void World::give_up(const Message& why) {
  if (told_stop_) return;
  told_stop_ = true;
  Bytes bytes;
  bytes.put_text(as_json_text(why));
  send_all(Kind::kStop, bytes.text());
}

// On rank 0: one more is at the barrier; the last lets all go.
void World::arrive() {
  std::int64_t now = 0;
  {
    const std::lock_guard lock(mutex_);
    if (++arrived_ % place_.size != 0) return;
    round_time_ = Clock::now();
    now = nanoseconds_of(round_time_);
  }
  Bytes go;
  go.put(now);
  send_all(Kind::kGo, go.text());
  ++rounds_;
  Stop::wake(rounds_);
}

Result<TimePoint> World::barrier() {
  const std::uint32_t round = rounds_.load();
  if (leads())
    arrive();
  else
    send(*peers_.front(), Kind::kArrive, "");
  if (!stop_->wait_while(rounds_, round)) return stopped();
  const std::lock_guard lock(mutex_);
  return round_time_;
}

Result<std::string> World::share(const std::string& bytes) {
  if (leads()) {
    send_all(Kind::kShare, bytes);
    return bytes;
  }
  if (!stop_->wait_while(shared_, 0)) return stopped();
  const std::lock_guard lock(mutex_);
  return share_;
}

Result<std::vector<std::string>> World::finish(const std::string& own) {
  const auto end = [&] {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  };
  bool whole = !stop_->raised();
  if (whole && leads()) {
    const auto all = static_cast<std::uint32_t>(place_.size - 1);
    for (std::uint32_t now = outcomes_; whole && now < all; now = outcomes_)
      whole = stop_->wait_while(outcomes_, now);
  } else if (whole) {
    whole = send(*peers_.front(), Kind::kOutcome, own);
  }
  if (!whole || stop_->raised()) {
    end();
    if (stop_->raised()) give_up(stop_->why());
    return stop_->raised() ? stop_->why() : process_ended(0, place_.address);
  }
  if (!leads()) {
    const bool heard = stop_->wait_while(dismissed_, 0);
    end();
    if (!heard) return stop_->why();
    return std::vector<std::string>{};
  }
  end();
  for (const auto& peer : peers_)
    if (Result<void> asked = ask_for_time(*peer); !asked) return asked.error();
  send_all(Kind::kDismiss, "");
  std::vector<std::string> outcomes = std::move(outcome_);
  outcomes[0] = own;
  return outcomes;
}

void World::lost(int peer) {
  if (ended_ || dismissed_ != 0) return;
  if (!stop_->sleep_until(Clock::now() + kGrace) || ended_ || dismissed_ != 0) return;
  std::string host = "its host";
  for (const auto& known : peers_)
    if (known->rank == peer) host = known->host;
  stop_->raise(process_ended(peer, host, doing_of(peer)));
}

}  // namespace parallelarium
