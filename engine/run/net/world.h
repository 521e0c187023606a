// SPDX-License-Identifier: Apache-2.0
// The processes of a run, one for each rank: they find each other, keep a common clock, know where
// each of them is, and end together.
//
// Every process keeps one TCP connection to rank 0. Over it ranks tell where their lanes are, so
// that rank 0 watches over processes as over threads. A rank that fails tells why, and rank 0 tells
// all. A closed connection means that the process has ended. Rank 0 asks each rank for its time
// when they meet and when they part. The error of that rank's clock is half the shortest round
// trip, plus how far the answer moved in between.
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
  // All processes must come within this time, and then make their devices within as long again.
  std::chrono::nanoseconds meeting{60'000'000'000};
  // A process that is silent for this time counts as stopped. It is shorter than the time of a
  // hang, since its sentence names the process.
  std::chrono::nanoseconds silence{15'000'000'000};
};

class World {
 public:
  // Meets the other processes; blocks. `digest`: what all must agree on, such as the Setup. Errors:
  // port taken, host unknown, a rank that did not come, a rank that came with another Setup.
  // `device`: what this process tells the others of its device.
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
  // On rank 0: what each rank told of its device.
  const std::vector<std::string>& devices() const { return devices_; }
  // The connections to the other ranks for messages, by rank. Call it once.
  std::vector<Socket> take_links() { return std::move(links_); }

  // Tells all others why the run ends, if it ends before begin().
  void give_up(const Message& why);
  // Whether rank 0 is another process and tells the user what happened, or did so before it ended.
  bool leader_tells() const;
  // From here to finish() every process keeps the others informed. `progress`, by rank index: reads
  // this rank's; on rank 0 writes all others'. References outlive finish(). `doings`: the words for
  // what a rank is doing, for the reason why a run ended.
  using Doings = std::function<Message(int rank)>;
  void begin(Stop& stop, RunProgress& progress, Doings doings = {});
  // Waits for all ranks. Returns the same moment on each, by its own clock.
  Result<TimePoint> barrier();
  // Gives rank 0's `bytes`, at most 128, to all. Every rank calls it once.
  Result<std::string> share(const std::string& bytes);
  // Gives `own` to rank 0, which gets everybody's by rank; the others get nothing. Ends what
  // begin() began. If the run was stopped, it also tells everybody so.
  Result<std::vector<std::string>> finish(const std::string& own);

  // On rank 0, after finish(): how far a rank's clock may be off rank 0's.
  std::chrono::nanoseconds clock_error(int rank) const;
  // Call it when a peer's connection for messages has closed: its process has ended, unless news of
  // another reason for the end is on its way.
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
  std::optional<Message> doing_of(int rank) const;  // empty if this process is not told

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
