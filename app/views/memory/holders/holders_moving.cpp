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
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

struct HoldersMoving {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

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
    double all = 0, before = 0, own = 0;
    HeldBucket bucket;
    for (const HeldBucket& each : picture.rows[static_cast<std::size_t>(owner)]
                                      .cells[static_cast<std::size_t>(moving.column)]) {
      if (own == 0 && state_of_kind(each, moving.kind).op >= 0) {
        before = all;
        own = static_cast<double>(each.elements);
        bucket = each;
      }
      all += static_cast<double>(each.elements);
    }
    const double length = (bucket.to - bucket.from) / static_cast<double>(group.size());
    const auto in_cell = [&](double at) { return (before + own * at) / std::max(1.0, all); };
    const double begin = bucket.from + length * static_cast<double>(place);
    for (const int other : moving.rows)
      if (other != owner)
        moving.chunks.push_back({gathers ? owner : other, gathers ? other : owner, in_cell(begin),
                                 in_cell(begin + length), share});
  }
}

// What each rank of the group sends in the collective.
QString sent_words(const std::vector<int>& group, int rank, const Op& op) {
  const auto place = static_cast<int>(std::find(group.begin(), group.end(), rank) - group.begin());
  const Volume volume =
      collective_volume(op.collective, op.type, op.bytes, static_cast<int>(group.size()), place);
  return HoldersMoving::tr("%1 per rank").arg(bytes_text(volume.sent * op.repeat));
}

}  // namespace

void note_moving(const Program& program, const Setup& setup, bool bytes, HoldersPicture& picture) {
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
      QString name = sentence(describe(op));
      if (bytes) name += QStringLiteral(", ") + sent_words(group, row.rank, op);
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
            op >= 0 && moving.chunks.empty())
          note_chunks(rank.ops[static_cast<std::size_t>(op)], picture, moving);
    }
  }
}

}  // namespace parallelarium
