// SPDX-License-Identifier: GPL-3.0-or-later
// What the mesh pictures are made of: where ranks stand, what groups they are in, and which
// messages are on their way at a moment. Knows no widget.
#pragma once

#include <QString>
#include <vector>

#include "app/state/session.h"

namespace parallelarium {

// Ranks that do the same at the same time: those of one pipeline stage.
struct RankClass {
  int stage = 0;
  int built = 0;  // index in Program::ranks of the one that stands for them
  std::int64_t ranks = 0;
  int first = 0;  // the lowest global rank among them
  std::vector<int> layers;
  std::int64_t peak_bytes = 0;
};
std::vector<RankClass> rank_classes(const Prediction& prediction);

// One group of a rank, or one neighbour, with what the rank sends there in a step.
struct RankLink {
  Axis axis = Axis::kWorld;
  int peer = -1;           // global rank of a message's receiver; -1: a group
  std::vector<int> group;  // global ranks; empty for a peer
  QString what;            // "all-reduce of gradients"
  std::int64_t calls = 0, sent = 0;
};
// What a click on a rank shows.
struct RankFacts {
  int rank = 0, built = 0;
  Coordinates at;
  std::vector<int> layers;
  std::int64_t peak_bytes = 0;
  std::optional<std::int64_t> counted_bytes;
  std::vector<std::pair<Axis, std::vector<int>>> groups;  // of more than one rank
  std::vector<RankLink> links;
  std::int64_t sent = 0;
  std::optional<std::int64_t> counted_sent;
};
// The rank must be one of the mesh.
RankFacts rank_facts(const Prediction& prediction, const RunRecord* run, int rank);
// "Rank 5 \u00b7 DP 1, TP 1"
QString rank_headline(const RankFacts& facts, const Mesh& mesh);
// "0 4 8 12", or "0, 4, 8 … 60 (16 ranks)".
QString ranks_text(const std::vector<int>& ranks);
QString axis_text(Axis axis);  // "TP"
// "0–3, 8"
QString layers_text(const std::vector<int>& layers);

// Communication of every built rank, found by time.
class MeshMotion {
 public:
  MeshMotion() = default;
  MeshMotion(const Program& program, const Timeline& timeline);
  struct Message {
    int from = 0, to = 0;  // global ranks
    double share = 0;      // of the way
    Purpose purpose = Purpose::kNone;
  };
  struct Lit {
    int built = 0;
    int group = 0;  // in Program::groups
    int op = 0;
  };
  struct Moment {
    std::vector<Message> messages;
    std::vector<Lit> lit;  // one for each rank in a collective
  };
  Moment at(Nanoseconds time) const;
  // Bytes that a built rank has sent until `time` along an axis; to `stage` only where that is not
  // negative.
  std::int64_t sent_until(int built, Axis axis, int stage, Nanoseconds time) const;
  // The most that any rank sends along any link in the whole step.
  std::int64_t most() const { return most_; }

 private:
  struct Event {
    Span span;
    std::int32_t op = 0;
  };
  struct Link {
    Axis axis = Axis::kWorld;
    int stage = -1;  // of the receiver of messages
    std::vector<Nanoseconds> ends;
    std::vector<std::int64_t> sums;
  };
  struct RankMotion {
    std::vector<Event> lanes[kLanes];
    std::vector<Link> links;
  };
  const Program* program_ = nullptr;
  std::vector<RankMotion> ranks_;
  std::int64_t most_ = 0;
};

// What goes on at `time`, for screen readers: "At 59.0 ms: 4 ranks in an all-reduce of gradients
// (DP); activations from rank 0 to rank 4."
QString mesh_sentence(const Program& program, const MeshMotion& motion, Nanoseconds time,
                      const HiddenOfOps& hides);

}  // namespace parallelarium
