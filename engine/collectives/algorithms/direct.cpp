// SPDX-License-Identifier: Apache-2.0
// Everything in one step: whoever has what another rank needs sends it there at once. The fewest
// steps and, where the network is one switch, no more bytes than needed but for the all-reduce,
// whose n - 1 whole arrays per rank are what makes it slow.
#include "engine/collectives/algorithms/writer.h"

namespace parallelarium {

namespace {

// What came from the others, in scratch, and the own cells, in rank order.
std::vector<Cells> in_rank_order(Writer& writer, int rank, const Cells& own,
                                 std::vector<Cells>& places) {
  const std::int32_t scratch = writer.add_scratch(rank, own.count * (writer.ranks() - 1));
  std::vector<Cells> parts;
  std::int64_t offset = 0;
  places.assign(static_cast<std::size_t>(writer.ranks()), own);
  for (int from = 0; from < writer.ranks(); ++from) {
    if (from != rank) {
      places[static_cast<std::size_t>(from)] = {scratch, offset, own.count};
      offset += own.count;
    }
    parts.push_back(places[static_cast<std::size_t>(from)]);
  }
  return parts;
}

// Rank `to` gets cells `own` of every other rank and combines them in rank order.
struct Meeting {
  int to = 0;
  Cells own;
  int chunk = 0;
  std::vector<Cells> places, parts;
};

void send_all(Writer& writer, std::vector<Meeting>& meetings) {
  for (Meeting& meeting : meetings)
    meeting.parts = in_rank_order(writer, meeting.to, meeting.own, meeting.places);
  writer.begin_step();
  // By sender, nearest receiver first, so that not all begin with the same one.
  const int n = writer.ranks();
  for (int distance = 1; distance < n; ++distance) {
    for (Meeting& meeting : meetings) {
      const int from = (meeting.to - distance + n) % n;
      const MessagePart part{meeting.chunk, meeting.own,
                             meeting.places[static_cast<std::size_t>(from)]};
      writer.message(from, meeting.to, std::span(&part, 1), Arrival::kWaits);
    }
  }
  for (const Meeting& meeting : meetings)
    writer.combine(meeting.to, meeting.own, meeting.parts, true);
}

void broadcast_from(Writer& writer, int root) {
  writer.begin_step();
  for (int distance = 1; distance < writer.ranks(); ++distance)
    writer.pass(root, (root + distance) % writer.ranks(), 0);
}

}  // namespace

Result<Collective> direct_collective(const CollectiveSpec& spec) {
  const int n = spec.ranks;
  const bool whole = spec.kind == CollectiveKind::kBroadcast ||
                     spec.kind == CollectiveKind::kReduce ||
                     spec.kind == CollectiveKind::kAllReduce;
  Writer writer(spec, whole ? 1 : n);
  std::vector<Meeting> meetings;
  switch (spec.kind) {
    case CollectiveKind::kBroadcast:
      broadcast_from(writer, spec.root);
      break;
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather:
      writer.begin_step();
      for (int distance = 1; distance < n; ++distance) {
        const int other = (spec.root + distance) % n;
        if (spec.kind == CollectiveKind::kScatter) {
          writer.pass(spec.root, other, other);
        } else {
          writer.pass(other, spec.root, other);
        }
      }
      break;
    case CollectiveKind::kAllGather:
      writer.begin_step();
      for (int distance = 1; distance < n; ++distance) {
        for (int rank = 0; rank < n; ++rank) writer.pass(rank, (rank + distance) % n, rank);
      }
      break;
    case CollectiveKind::kReduce:
      meetings.push_back({spec.root, writer.chunk(0), 0, {}, {}});
      break;
    case CollectiveKind::kReduceScatter:
      for (int rank = 0; rank < n; ++rank)
        meetings.push_back({rank, writer.chunk(rank), rank, {}, {}});
      break;
    default:
      for (int rank = 0; rank < n; ++rank) meetings.push_back({rank, writer.chunk(0), 0, {}, {}});
  }
  if (!meetings.empty()) send_all(writer, meetings);
  return std::move(writer).done();
}

// One rank combines everything and sends it back: its link carries n - 1 whole arrays each way.
Result<Collective> all_reduce_through_root(const CollectiveSpec& spec) {
  Writer writer(spec, 1);
  std::vector<Meeting> meetings = {{0, writer.chunk(0), 0, {}, {}}};
  send_all(writer, meetings);
  broadcast_from(writer, 0);
  return std::move(writer).done();
}

}  // namespace parallelarium
