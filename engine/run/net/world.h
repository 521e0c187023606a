// SPDX-License-Identifier: Apache-2.0
// The processes of a run, one for each rank: how they find each other, keep a common clock, know
// where each of them is, and end together.
//
// Every process keeps one TCP connection to rank 0. Over it ranks tell where their lanes are, so
// that rank 0 watches over all of them as it does over threads; a rank that fails tells why, and
// rank 0 tells all; a connection that closes is a process that ended. Rank 0 asks each rank for its
// time when they meet and when they part: half the shortest round trip, plus how far the answer
// moved in between, is the error of that rank's clock.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/run/net/place.h"
#include "engine/run/net/socket.h"
#include "engine/run/stop.h"
#include "engine/run/train/progress.h"

namespace parallelarium {

struct WorldTimes {
  // Until all processes must have come, and each then have made its devices.
  std::chrono::nanoseconds meeting{60'000'000'000};
  // Of a process, before it counts as stopped: sooner than its ranks' ops count as hung, since it
  // names the process.
  std::chrono::nanoseconds silence{15'000'000'000};
};

class World {
 public:
  // Meets the other processes. `digest`: what all must agree on, such as the Setup. Blocks.
  // Errors, one sentence each: port taken, host unknown, who did not come, who came with another
  // Setup.
  // `device`: what others may know of this process's device.
  static Result<std::unique_ptr<World>> join(const ProcessPlace& place, const std::string& digest,
                                             const WorldTimes& times = {},
                                             const std::string& device = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  bool leads() const { return place_.rank == 0; }
  const ProcessPlace& place() const { return place_; }
  // On rank 0: what each said of its device, by rank.
  const std::vector<std::string>& devices() const { return devices_; }
  // Connections to the other ranks for their messages, by rank; taken once.
  std::vector<Socket> take_links() { return std::move(links_); }

  // Tells all others why the run ends, where it does before begin().
  void give_up(const Message& why);
  // Whether rank 0 is another process that tells the user what happened, or did before it ended.
  bool leader_tells() const;
  // From here to finish() every process keeps the others informed. `progress` by rank index: this
  // rank's is read, rank 0 writes all others'. References outlive the call of finish().
  // `doings`: what a rank is at, in words for who reads why the run ended.
  using Doings = std::function<Message(int rank)>;
  void begin(Stop& stop, RunProgress& progress, Doings doings = {});
  // All ranks: the same moment on each, on its own clock.
  Result<TimePoint> barrier();
  // From rank 0 to all: 128 bytes at most. Every rank calls it once.
  Result<std::string> share(const std::string& bytes);
  // Gives `own` to rank 0, which gets everybody's, by rank; the others get nothing. Ends what
  // begin() began, also after the run was stopped, of which it then tells everybody.
  Result<std::vector<std::string>> finish(const std::string& own);

  // On rank 0, after finish(): how far a rank's clock may be off this one's.
  std::chrono::nanoseconds clock_error(int rank) const;
  // A peer's connection for messages has closed: its process has ended, unless the run is ending
  // for another reason that will be heard of.
  void lost(int peer);

 private:
  enum class Kind : std::uint8_t;
  struct Peer;  // one end of a connection
  World(const ProcessPlace& place, const WorldTimes& times, const std::string& device);

  Result<void> lead(const std::string& digest);
  Result<void> follow(const std::string& digest);
  Result<void> link(const std::string& roster, const Socket& listener);
  Result<void> ask_for_time(Peer& peer);
  void keep_informed();
  void hear(Peer& peer);
  void handle(Peer& peer, Kind kind, const std::string& payload);
  void arrive();
  void tell_progress();
  bool send(Peer& peer, Kind kind, const std::string& payload);
  bool send_all(Kind kind, const std::string& payload);

  const ProcessPlace place_;
  const WorldTimes times_;
  std::vector<std::string> devices_;          // rank 0: of all; else: its own
  std::vector<std::unique_ptr<Peer>> peers_;  // rank 0: all others; else: rank 0
  std::vector<Socket> links_;
  std::optional<Message> doing_of(int rank) const;  // empty where this process is not told

  Doings doings_;
  Stop* stop_ = nullptr;
  RunProgress* progress_ = nullptr;
  std::thread thread_;
  std::atomic<bool> ended_{false}, leader_told_{false};
  bool told_stop_ = false;

  std::mutex mutex_;
  int arrived_ = 0;
  std::atomic<std::uint32_t> rounds_{0}, shared_{0}, outcomes_{0}, dismissed_{0};
  TimePoint round_time_;
  std::string share_;
  std::vector<std::string> outcome_;
  std::chrono::nanoseconds offset_{0};  // own clock minus rank 0's
};

}  // namespace parallelarium
