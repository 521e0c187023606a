// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives under way between the rows of the pane "Who holds what", and the chunks that they
// carry.
#include <QCoreApplication>
#include <algorithm>
#include <utility>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/holders/holders.h"
#include "engine/passes/replicate.h"
#include "engine/plan/program/collective_steps.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

struct HoldersMoving {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

// Where a share of the bucket's array lies in its column's cell.
struct PlaceInCell {
  double before = 0, own = 1, all = 1;  // parameters
  HeldBucket bucket;
  double at(double share) const {
    return (before + own * (bucket.from + (bucket.to - bucket.from) * share)) / std::max(1.0, all);
  }
};

// Of the bucket that is under way.
PlaceInCell place_in_cell(const std::vector<HeldBucket>& cell, int kind) {
  PlaceInCell place;
  double all = 0;
  bool found = false;
  for (const HeldBucket& each : cell) {
    if (!found && state_of_kind(each, kind).op >= 0) {
      place = {all, static_cast<double>(each.elements), 1, each};
      found = true;
    }
    all += static_cast<double>(each.elements);
  }
  place.all = all;
  return place;
}

// The chunks that ranks send in the steps that are under way.
void note_steps(const Program& program, const Timeline& timeline, Nanoseconds now,
                const HoldersPicture& picture, HoldersPicture::Moving& moving) {
  for (const int from : moving.rows) {
    const HoldersRow& row = picture.rows[static_cast<std::size_t>(from)];
    const PlaceInCell place =
        place_in_cell(row.cells[static_cast<std::size_t>(moving.column)], moving.kind);
    const auto index = static_cast<std::size_t>(row.index);
    for (const MovingChunk& chunk : moving_chunks(program.ranks[index], timeline.ranks[index].spans,
                                                  state_of_kind(place.bucket, moving.kind).op, now))
      for (const int to : moving.rows)
        if (picture.rows[static_cast<std::size_t>(to)].rank == chunk.to)
          moving.chunks.push_back(
              {from, to, place.at(chunk.begin), place.at(chunk.end), chunk.done});
  }
}

// The own part of each rank of a group goes to all others (all-gather), or all others' values of it
// come to that rank (reduce-scatter); an all-reduce is the second, then the first.
void note_chunks(const Op& op, const HoldersPicture& picture, HoldersPicture::Moving& moving) {
  if (op.collective != CollectiveKind::kAllGather &&
      op.collective != CollectiveKind::kReduceScatter &&
      op.collective != CollectiveKind::kAllReduce)
    return;
  const std::vector<int>& group = moving.group;
  const bool both = op.collective == CollectiveKind::kAllReduce;
  const bool gathers = op.collective == CollectiveKind::kAllGather || (both && moving.done >= 0.5);
  const double share = !both ? moving.done : gathers ? 2 * moving.done - 1 : 2 * moving.done;
  for (const int owner : moving.rows) {
    const int rank = picture.rows[static_cast<std::size_t>(owner)].rank;
    const auto place = std::find(group.begin(), group.end(), rank) - group.begin();
    const PlaceInCell in_cell = place_in_cell(picture.rows[static_cast<std::size_t>(owner)]
                                                  .cells[static_cast<std::size_t>(moving.column)],
                                              moving.kind);
    const double begin = static_cast<double>(place) / static_cast<double>(group.size());
    const double end = static_cast<double>(place + 1) / static_cast<double>(group.size());
    for (const int other : moving.rows)
      if (other != owner)
        moving.chunks.push_back({gathers ? owner : other, gathers ? other : owner,
                                 in_cell.at(begin), in_cell.at(end), share});
  }
}

}  // namespace

void note_moving(const Program& program, const Timeline& timeline, const Setup& setup,
                 Nanoseconds now, bool bytes, HoldersPicture& picture) {
  for (std::size_t column = 0; column < picture.columns.size(); ++column) {
    const std::size_t before = picture.moving.size();
    for (std::size_t at = 0; at < picture.rows.size(); ++at) {
      const HoldersRow& row = picture.rows[at];
      const HeldState* state = nullptr;
      int of_kind = 0;
      for (const HeldBucket& bucket : row.cells[column])
        for (int kind = 0; kind < 2; ++kind)
          if (state_of_kind(bucket, kind).op >= 0) {
            state = &state_of_kind(bucket, kind);
            of_kind = kind;
          }
      if (!state) continue;
      const RankProgram& rank = program.ranks[static_cast<std::size_t>(row.index)];
      const Op& op = rank.ops[static_cast<std::size_t>(state->op)];
      const Group& built = program.groups[static_cast<std::size_t>(op.group)];
      std::vector<int> group =
          rank.rank == row.rank ? built.ranks
                                : moved_group(setup, built, coordinates_of(setup.mesh, row.rank));
      const auto known = std::find_if(
          picture.moving.begin() + static_cast<std::ptrdiff_t>(before), picture.moving.end(),
          [&](const HoldersPicture::Moving& moving) { return moving.group == group; });
      if (known != picture.moving.end()) {
        known->rows.push_back(static_cast<int>(at));
        continue;
      }
      QString name = sentence(describe(whole_of(op)));
      if (bytes)
        name += QStringLiteral(", ") +
                HoldersMoving::tr("%1 per rank")
                    .arg(bytes_text(sent_in_collective(program, rank, state->op)));
      picture.moving.push_back({static_cast<int>(column),
                                std::move(group),
                                {static_cast<int>(at)},
                                name,
                                state->done,
                                of_kind});
    }
    for (std::size_t at = before; at < picture.moving.size(); ++at) {
      HoldersPicture::Moving& moving = picture.moving[at];
      const HoldersRow& row = picture.rows[static_cast<std::size_t>(moving.rows.front())];
      const RankProgram& rank = program.ranks[static_cast<std::size_t>(row.index)];
      for (const HeldBucket& bucket : row.cells[column])
        if (const std::int32_t op = state_of_kind(bucket, moving.kind).op;
            op >= 0 && moving.chunks.empty()) {
          const Op& begins = rank.ops[static_cast<std::size_t>(op)];
          if (begins.kind == OpKind::kCollective)
            note_chunks(begins, picture, moving);
          else
            note_steps(program, timeline, now, picture, moving);
        }
    }
  }
}

}  // namespace parallelarium
