// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/holders.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/holders/shared_messages.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

struct Holders {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

constexpr int kMostRows = 8;    // ranks shown
constexpr int kMergeFrom = 14;  // columns that stand alone
constexpr int kHashDigits = 6;

// `Bucket`: HeldBucket, or a const one.
template <class Bucket>
auto& state_of(Bucket& bucket, int kind) {
  return kind == 0 ? bucket.parameters : kind == 1 ? bucket.gradients : bucket.optimizer;
}

bool look_alike(const HeldState& a, const HeldState& b) {
  return a.as == b.as && a.whole == b.whole && a.op < 0 && b.op < 0 &&
         std::abs(a.begin - b.begin) < 1e-9 && std::abs(a.end - b.end) < 1e-9;
}

bool look_alike(const std::optional<HeldBucket>& a, const std::optional<HeldBucket>& b) {
  if (!a || !b) return !a && !b;
  for (int kind = 0; kind < kHeldKinds; ++kind)
    if (!look_alike(state_of(*a, kind), state_of(*b, kind))) return false;
  return true;
}

// The model's buckets in the order of their layers: tables, layers, final norm and head.
QStringList slot_names(const Program& program) {
  QStringList names{Holders::tr("tables")};
  for (int layer = 0; layer < program.shape.layers; ++layer) names << QString::number(layer);
  return names << Holders::tr("head");
}

// Which slot a bucket of the rank is: those without a layer are the tables before, the head after.
int slot_of(const RankProgram& rank, std::size_t bucket, const HeldBucket& held, int layers) {
  if (held.layer >= 0) return held.layer + 1;
  const bool first = bucket == 0 && (rank.layers.empty() || rank.layers.front() == 0);
  return first ? 0 : layers + 1;
}

// The first ranks and the last.
std::vector<int> shown_ranks(int count) {
  std::vector<int> shown;
  for (int rank = 0; rank < count; ++rank)
    if (count <= kMostRows || rank < kMostRows - 1 || rank == count - 1) shown.push_back(rank);
  return shown;
}

void merge_alike(HoldersPicture& picture) {
  if (static_cast<int>(picture.columns.size()) <= kMergeFrom) return;
  std::vector<HoldersColumn> columns;
  std::vector<std::vector<std::optional<HeldBucket>>> cells(picture.rows.size());
  for (std::size_t at = 0; at < picture.columns.size(); ++at) {
    const bool layer = at > 0 && at + 1 < picture.columns.size();
    bool same = layer && columns.size() > 1;
    for (std::size_t row = 0; same && row < picture.rows.size(); ++row)
      same = look_alike(picture.rows[row].cells[at], cells[row].back());
    if (same) {
      HoldersColumn& last = columns.back();
      last.last = picture.columns[at].last;
      last.name = QStringLiteral("%1\u2013%2").arg(last.first - 1).arg(last.last - 1);
      for (std::size_t row = 0; row < picture.rows.size(); ++row)
        if (cells[row].back() && picture.rows[row].cells[at])
          for (int kind = 0; kind < kHeldKinds; ++kind)
            state_of(*cells[row].back(), kind).bytes +=
                state_of(*picture.rows[row].cells[at], kind).bytes;
      continue;
    }
    columns.push_back(picture.columns[at]);
    for (std::size_t row = 0; row < picture.rows.size(); ++row)
      cells[row].push_back(picture.rows[row].cells[at]);
  }
  picture.columns = std::move(columns);
  for (std::size_t row = 0; row < picture.rows.size(); ++row)
    picture.rows[row].cells = std::move(cells[row]);
}

void note_moving(const Program& program, HoldersPicture& picture) {
  for (std::size_t column = 0; column < picture.columns.size(); ++column)
    for (const HoldersRow& row : picture.rows) {
      if (!row.cells[column]) continue;
      const HeldState* state = nullptr;
      for (int kind = 0; kind < 2; ++kind)
        if (state_of(*row.cells[column], kind).op >= 0) state = &state_of(*row.cells[column], kind);
      if (!state) continue;
      const Op& op = program.ranks[static_cast<std::size_t>(row.index)]
                         .ops[static_cast<std::size_t>(state->op)];
      picture.moving.push_back({static_cast<int>(column), sentence(describe(op)), state->done});
      break;
    }
}

QString as_words(const HeldState& state) {
  switch (state.as) {
    case HeldAs::kShard:
      return (state.whole ? Holders::tr("shard, %1 to %2 of it; memory is reserved for all of it")
                          : Holders::tr("shard, %1 to %2 of it"))
          .arg(share_text(state.begin), share_text(state.end));
    case HeldAs::kPartialSum:
      return Holders::tr("partial sum of its own data");
    case HeldAs::kCopy:
      return Holders::tr("copy");
    case HeldAs::kAbsent:
      break;
  }
  return state.bytes > 0 ? Holders::tr("absent: memory is reserved, nothing is in it yet")
                         : Holders::tr("absent");
}

QString kind_name(int kind) {
  return kind == 0   ? Holders::tr("parameters")
         : kind == 1 ? Holders::tr("gradients")
                     : Holders::tr("optimizer state");
}

QString column_name(const HoldersColumn& column) {
  bool layer = false;
  column.name.section(QChar(0x2013), 0, 0).toInt(&layer);
  if (!layer) return column.name;
  return column.first == column.last ? Holders::tr("layer %1").arg(column.name)
                                     : Holders::tr("layers %1").arg(column.name);
}

// What the compute lane of that rank (an index) does then, in words; empty where it does nothing.
QString computed_at(const Program& program, const Timeline& timeline, int index, Nanoseconds now) {
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(index)];
  const std::vector<Span>& spans = timeline.ranks[static_cast<std::size_t>(index)].spans;
  for (std::size_t at = 0; at < spans.size(); ++at)
    if (rank.ops[at].lane == Lane::kCompute && spans[at].begin <= now && now < spans[at].end)
      return sentence(describe(rank.ops[at]));
  return {};
}

}  // namespace

HoldersPicture holders_picture(const Session& session, HoldingsOfRanks& kept) {
  HoldersPicture picture;
  const Prediction& predicted = *session.subject().prediction();
  const RunRecord* run = session.runs().current();
  const bool fresh = run && run->observed() && !session.runs().current_is_stale() &&
                     !session.locks().hidden(QStringLiteral("lane.run"));
  const Prediction& prediction = fresh ? *run->prediction : predicted;
  const Program& program = prediction.program;
  const Timeline& timeline = fresh ? run->observation.timeline : prediction.timeline;
  picture.from_run = fresh;
  const Mesh& mesh = prediction.setup.mesh;
  const int sharing = mesh.dp * mesh.cp;
  picture.title = Holders::tr("ZeRO %1").arg(prediction.setup.zero) +
                  QStringLiteral(" \u00b7 DP %1").arg(mesh.dp);
  if (mesh.cp > 1) picture.title += QStringLiteral(" \u00b7 CP %1").arg(mesh.cp);
  if (mesh.pp > 1) picture.title += QStringLiteral(" \u00b7 PP %1").arg(mesh.pp);
  if (mesh.tp > 1) picture.title += QStringLiteral(" \u00b7 TP %1").arg(mesh.tp);
  if (session.locks().hidden(QStringLiteral("lane.predicted")) ||
      session.locks().hidden(QStringLiteral("memory.peak_bytes"))) {
    picture.instead = HoldersInstead{Holders::tr("Hidden until you answer."), {}};
    return picture;
  }
  if (sharing == 1) {
    picture.instead =
        HoldersInstead{Holders::tr("One rank holds everything of its layers: nobody shares them."),
                       Holders::tr("DP 4")};
    return picture;
  }
  const int layers = program.shape.layers;
  for (const QString& name : slot_names(program)) {
    const int slot = static_cast<int>(picture.columns.size());
    picture.columns.push_back({slot, slot, name});
  }
  const Nanoseconds now = session.playback().playhead();
  const int count = static_cast<int>(program.ranks.size());
  for (const int index : shown_ranks(count)) {
    const RankProgram& rank = program.ranks[static_cast<std::size_t>(index)];
    HoldersRow row;
    row.index = index;
    row.rank = rank.rank;
    row.name = Holders::tr("Rank %1").arg(rank.rank);
    row.cells.resize(picture.columns.size());
    const std::vector<HeldBucket> held =
        kept.try_emplace(index, program, timeline, index).first->second.at(now);
    for (std::size_t bucket = 0; bucket < held.size(); ++bucket) {
      const int slot = slot_of(rank, bucket, held[bucket], layers);
      row.cells[static_cast<std::size_t>(slot)] = held[bucket];
      for (int kind = 0; kind < kHeldKinds; ++kind)
        row.bytes[kind] += state_of(held[bucket], kind).bytes;
    }
    if (fresh)
      for (const RankState& state : run->observation.ranks_state)
        if (state.rank == rank.rank) {
          if (state.loss) row.loss = QLocale().toString(*state.loss, 'f', 3);
          row.hash = QString::fromStdString(state.weights_after).left(kHashDigits);
          row.own_part = prediction.setup.zero > 0;
          for (const RankState& other : run->observation.ranks_state)
            if (other.rank == state.replica_of)
              row.agrees = other.weights_after == state.weights_after;
        }
    picture.rows.push_back(std::move(row));
  }
  picture.more_ranks = count - static_cast<int>(picture.rows.size());
  merge_alike(picture);
  note_moving(program, picture);
  QStringList now_words;
  for (const HoldersPicture::Moving& moving : picture.moving)
    now_words << Holders::tr("%1, %2 done").arg(capitalised(moving.name), share_text(moving.done));
  if (now_words.isEmpty()) now_words << Holders::tr("Nothing is under way between the ranks.");
  const QString work = computed_at(program, timeline, picture.rows.front().index, now);
  if (!work.isEmpty())
    now_words << Holders::tr("Rank %1: %2").arg(picture.rows.front().rank).arg(work);
  picture.moment = now_words.join(QStringLiteral(" \u00b7 "));
  picture.messages =
      shared_messages_words(program, timeline, picture.rows.front().index, now,
                            !session.locks().hidden(QStringLiteral("traffic.sent_bytes")));
  return picture;
}

SelectionText holders_words(const HoldersPicture& picture, int row, int column) {
  SelectionText text;
  if (row < 0 || row >= static_cast<int>(picture.rows.size()) || column < 0 ||
      column >= static_cast<int>(picture.columns.size()))
    return text;
  const HoldersRow& line = picture.rows[static_cast<std::size_t>(row)];
  const HoldersColumn& where = picture.columns[static_cast<std::size_t>(column)];
  text.headline = line.name + QStringLiteral(" \u00b7 ") + column_name(where);
  const std::optional<HeldBucket>& cell = line.cells[static_cast<std::size_t>(column)];
  if (!cell) {
    text.facts.push_back({QString(), Holders::tr("absent: another stage has it")});
    return text;
  }
  for (int kind = 0; kind < kHeldKinds; ++kind) {
    const HeldState& state = state_of(*cell, kind);
    text.facts.push_back(
        {kind_name(kind), bytes_text(state.bytes) + QStringLiteral(" \u00b7 ") + as_words(state)});
  }
  for (const HoldersPicture::Moving& moving : picture.moving)
    if (moving.column == column)
      text.facts.push_back({Holders::tr("under way"),
                            Holders::tr("%1, %2 done").arg(moving.name, share_text(moving.done))});
  return text;
}

QString holders_description(const HoldersPicture& picture) {
  if (picture.instead) return picture.title + QStringLiteral(". ") + picture.instead->sentence;
  QString text = picture.title + QStringLiteral(". ") + picture.moment;
  if (!picture.messages.isEmpty()) text += QLatin1Char('\n') + picture.messages;
  for (const HoldersRow& row : picture.rows) {
    text += QLatin1Char('\n') + row.name + QStringLiteral(": ");
    QStringList cells;
    for (std::size_t column = 0; column < picture.columns.size(); ++column) {
      if (!row.cells[column]) continue;
      QStringList kinds;
      for (int kind = 0; kind < kHeldKinds; ++kind)
        kinds << kind_name(kind) + QLatin1Char(' ') + as_words(state_of(*row.cells[column], kind));
      cells << column_name(picture.columns[column]) + QLatin1Char(' ') +
                   kinds.join(QStringLiteral(", "));
    }
    text += cells.join(QStringLiteral("; "));
  }
  return text;
}

}  // namespace parallelarium
