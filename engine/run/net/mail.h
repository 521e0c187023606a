// SPDX-License-Identifier: Apache-2.0
// Messages between this rank's process and the others, over one TCP connection to each.
//
// A receiver tells the sender that its buffer is ready; only then the bytes travel, straight into
// it. One thread for each peer reads and waits for nothing but that peer's bytes, so two ranks may
// write to each other at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/run/net/world.h"
#include "engine/run/stop.h"

namespace parallelarium {

// A transfer, or one of the two halves of a collective.
enum class MailKind : std::uint8_t { kTransfer, kFirstHalf, kSecondHalf };
struct MailKey {
  MailKind what = MailKind::kTransfer;
  std::int32_t group = 0;
  std::int64_t sequence = 0;
  auto operator<=>(const MailKey&) const = default;
};

// One direction of one message.
struct Parcel {
  bool send = false;
  int peer = 0;  // global rank
  MailKey key;
  std::uint8_t collective = 0;  // CollectiveKind; both sides must agree
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  // Filled on the way:
  TimePoint met{};  // when the second side was there
  bool done = false;
  bool reading = false;  // the peer's thread fills it
};

// Safe from several threads at once.
class Mail {
 public:
  // References outlive it. Takes the world's links.
  Mail(World& world, Stop& stop);
  ~Mail();
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  // Moves all parcels, in whatever order the peers come. Errors: "stopped"; "transfer-size" and
  // "collective-differs", which also stop the run.
  Result<void> move(std::vector<Parcel>& parcels);
  // From now on a connection may close without an error.
  void end() { ended_ = true; }

 private:
  struct Peer;
  bool is_done(const Parcel& parcel) const;
  Result<bool> try_send(Parcel& parcel);
  Result<void> give_up(std::vector<Parcel>& parcels);
  bool send_to(int rank, const Parcel& parcel, bool data);
  void read_from(int rank);
  Message fail(Message why);

  World& world_;
  Stop& stop_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; none for this one
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  std::condition_variable read_;
  std::atomic<std::uint32_t> news_{0};  // counts up when a wait may be over
};

}  // namespace parallelarium
