// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/holders.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <tuple>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/holders/holders_story.h"
#include "engine/passes/replicate.h"
#include "engine/passes/shard/shard_drafts.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

struct Holders {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

constexpr int kMergeFrom = 14;  // columns that stand alone

bool look_alike(const HeldState& a, const HeldState& b) {
  return a.as == b.as && a.whole == b.whole && a.op < 0 && b.op < 0 &&
         std::abs(a.begin - b.begin) < 1e-9 && std::abs(a.end - b.end) < 1e-9;
}

bool look_alike(const std::vector<HeldBucket>& a, const std::vector<HeldBucket>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const HeldBucket& one, const HeldBucket& other) {
                      for (int kind = 0; kind < kHeldKinds; ++kind)
                        if (!look_alike(state_of_kind(one, kind), state_of_kind(other, kind)))
                          return false;
                      return one.experts == other.experts;
                    });
}

// The model's buckets in the order of their layers: tables, layers, final norm and head.
QStringList slot_names(const Program& program) {
  QStringList names{Holders::tr("tables")};
  for (int layer = 0; layer < program.shape.layers; ++layer) names << QString::number(layer);
  return names << Holders::tr("head");
}

int slot_of(const HeldBucket& held, int layers) {
  return held.layer >= 0 ? held.layer + 1 : held.tables ? 0 : layers + 1;
}

// "ranks 0 to 3", "ranks 0, 2, 4"
QString ranks_words(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return Holders::tr("rank %1").arg(ranks.front());
  if (ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size()))
    return Holders::tr("ranks %1 to %2").arg(ranks.front()).arg(ranks.back());
  QStringList names;
  for (const int rank : ranks) names << QString::number(rank);
  if (names.size() > 5) names = {names[0], names[1], QStringLiteral("\u2026"), names.last()};
  return Holders::tr("ranks %1").arg(names.join(QStringLiteral(", ")));
}

SharingRanks by_groups(const Program& program, const Setup& setup) {
  SharingRanks all;
  std::vector<std::size_t> group_of(static_cast<std::size_t>(program.world), SIZE_MAX);
  for (int rank = 0; rank < program.world; ++rank) {
    const Coordinates at = coordinates_of(setup.mesh, rank);
    std::size_t& group = group_of[static_cast<std::size_t>(rank)];
    if (group == SIZE_MAX) {
      const std::size_t next = all.groups.size();
      all.groups.push_back(replica_ranks(setup, Replicas::kShard, false, at));
      for (const int member : all.groups.back()) group_of[static_cast<std::size_t>(member)] = next;
    }
    all.ranks.push_back({rank, at.pp, group});
  }
  std::stable_sort(all.ranks.begin(), all.ranks.end(),
                   [](const SharingRank& a, const SharingRank& b) {
                     return std::tie(a.stage, a.group) < std::tie(b.stage, b.group);
                   });
  return all;
}

// The ranks among which ZeRO cuts what that rank (an index) holds.
const std::vector<int>& sharing_of(const SharingRanks& all, const Program& program, int index) {
  const int rank = program.ranks[static_cast<std::size_t>(index)].rank;
  const auto at = std::find_if(all.ranks.begin(), all.ranks.end(),
                               [&](const SharingRank& each) { return each.rank == rank; });
  return all.groups[at->group];
}

// Of a rank that is not built, from its representative.
Holdings holdings_of(const Program& program, const Timeline& timeline, const Setup& setup,
                     int rank) {
  const int index = representative_of(program, setup.mesh, rank);
  const RankProgram& like = program.ranks[static_cast<std::size_t>(index)];
  if (like.rank == rank) return {program, timeline, setup.mesh, index};
  return {std::make_shared<const RankProgram>(moved_rank(setup, like, rank)),
          timeline.ranks[static_cast<std::size_t>(index)].spans, setup.mesh};
}

// The head of that rank's group; empty where there is one group, or each rank is one.
QString group_name(const SharingRanks& all, std::size_t at) {
  const std::vector<SharingRank>& ranks = all.ranks;
  const SharingRank& rank = ranks[at];
  const std::vector<int>& members = all.groups[rank.group];
  if (all.groups.size() == 1 || members.size() == 1) return {};
  int number = 0, groups = 1;  // in its stage
  for (std::size_t each = 1; each < ranks.size(); ++each) {
    if (ranks[each].stage != rank.stage || ranks[each - 1].stage != rank.stage ||
        ranks[each].group == ranks[each - 1].group)
      continue;
    ++groups;
    if (each <= at) ++number;
  }
  QStringList where;
  if (ranks.front().stage != ranks.back().stage) where << Holders::tr("stage %1").arg(rank.stage);
  if (groups > 1) where << Holders::tr("group %1").arg(number);
  return where.join(QStringLiteral(", ")) + QStringLiteral(": ") + ranks_words(members);
}

void add_layer(ColumnActivations& all, const ColumnActivations& layer) {
  if (all.place == HeldPlace::kLayer) all.bytes += layer.bytes;
  all.least_bytes = std::min(all.least_bytes, layer.least_bytes);
  all.most_bytes = std::max(all.most_bytes, layer.most_bytes);
  all.most_microbatches = std::max(all.most_microbatches, layer.most_microbatches);
  std::vector<int> together;
  std::set_union(all.microbatches.begin(), all.microbatches.end(), layer.microbatches.begin(),
                 layer.microbatches.end(), std::back_inserter(together));
  all.microbatches = std::move(together);
}

void merge_alike(HoldersPicture& picture) {
  if (static_cast<int>(picture.columns.size()) <= kMergeFrom) return;
  std::vector<HoldersColumn> columns;
  std::vector<std::vector<std::vector<HeldBucket>>> cells(picture.rows.size());
  std::vector<std::vector<ColumnActivations>> activations(picture.rows.size());
  for (std::size_t at = 0; at < picture.columns.size(); ++at) {
    const bool layer = at > 0 && at + 1 < picture.columns.size();
    bool same = layer && columns.size() > 1;
    for (std::size_t row = 0; same && row < picture.rows.size(); ++row)
      same = look_alike(picture.rows[row].cells[at], cells[row].back());
    if (same) {
      HoldersColumn& last = columns.back();
      last.last = picture.columns[at].last;
      last.name = QStringLiteral("%1\u2013%2").arg(last.first - 1).arg(last.last - 1);
      for (std::size_t row = 0; row < picture.rows.size(); ++row) {
        add_layer(activations[row].back(), picture.rows[row].activations[at]);
        for (std::size_t bucket = 0; bucket < cells[row].back().size(); ++bucket)
          for (int kind = 0; kind < kHeldKinds; ++kind) {
            HeldState& sum = state_of_kind(cells[row].back()[bucket], kind);
            const HeldState& more = state_of_kind(picture.rows[row].cells[at][bucket], kind);
            sum.bytes += more.bytes;
            sum.passing_bytes += more.passing_bytes;
          }
      }
      continue;
    }
    columns.push_back(picture.columns[at]);
    for (std::size_t row = 0; row < picture.rows.size(); ++row) {
      cells[row].push_back(picture.rows[row].cells[at]);
      activations[row].push_back(picture.rows[row].activations[at]);
    }
  }
  picture.columns = std::move(columns);
  for (std::size_t row = 0; row < picture.rows.size(); ++row) {
    picture.rows[row].cells = std::move(cells[row]);
    picture.rows[row].activations = std::move(activations[row]);
  }
}

// Of all ranks, so that bars of every page have one scale.
int most_microbatches(const Program& program, const Timeline& timeline) {
  int most = 0;
  for (int rank = 0; rank < static_cast<int>(program.ranks.size()); ++rank)
    most = std::max(most, ActivationsHeld(program, timeline, rank).most_microbatches());
  return most;
}

// What the row's rank holds now of each column's activations.
void note_activations(const ActivationsHeld& held, Nanoseconds now, int layers, HoldersRow& row) {
  row.activations.resize(row.cells.size());
  for (const HeldActivations& each : held.at(now)) {
    row.activation_bytes += each.bytes;
    const ColumnActivations here{each, each.bytes, each.bytes, each.microbatches.size()};
    if (each.place != HeldPlace::kStage) {
      const int slot = each.place == HeldPlace::kTables ? 0
                       : each.place == HeldPlace::kHead ? layers + 1
                                                        : each.layer + 1;
      row.activations[static_cast<std::size_t>(slot)] = here;
      continue;
    }
    for (std::size_t column = 0; column < row.cells.size(); ++column)
      if (!row.cells[column].empty()) row.activations[column] = here;
  }
}

// Both on this rank, and the gradients of the tables have begun.
bool head_adds_to_tables(const HoldersRow& row) {
  const std::vector<HeldBucket>&tables = row.cells.front(), &head = row.cells.back();
  return !head.empty() && std::any_of(tables.begin(), tables.end(), [](const HeldBucket& bucket) {
    return bucket.gradients.as != HeldAs::kAbsent;
  });
}

// "after the forward" at that very moment of the first row; else empty.
QString moment_words(const Holdings& holdings, Nanoseconds now) {
  const std::array<Nanoseconds, kHeldMoments> moments = holdings.moments();
  const QString words[kHeldMoments] = {Holders::tr("After the forward"),
                                       Holders::tr("After the backward"),
                                       Holders::tr("In the update")};
  for (std::size_t at = 0; at < moments.size(); ++at)
    if (moments[at] == now) return words[at];
  return {};
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

// "ZeRO 3 · DP 4 in groups of 2 (HSDP) · TP 2"
QString holders_title(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  QString title =
      Holders::tr("ZeRO %1").arg(setup.zero) + QStringLiteral(" \u00b7 DP %1").arg(mesh.dp);
  if (setup.zero > 0 && setup.zero_group > 0)
    title +=
        (setup.zero == 3 ? Holders::tr(" in groups of %1 (HSDP)") : Holders::tr(" in groups of %1"))
            .arg(setup.zero_group);
  const std::pair<const char*, int> others[] = {
      {"CP", mesh.cp}, {"PP", mesh.pp}, {"TP", mesh.tp}, {"EP", mesh.ep}};
  for (const auto& [name, degree] : others)
    if (degree > 1) title += QStringLiteral(" \u00b7 %1 %2").arg(QLatin1String(name)).arg(degree);
  return title;
}

std::optional<HoldersInstead> instead_of(const Session& session, const Mesh& mesh) {
  if (session.locks().hidden(QStringLiteral("lane.predicted")) ||
      session.locks().hidden(QStringLiteral("memory.peak_bytes")))
    return HoldersInstead{Holders::tr("Hidden until you answer."), {}};
  if (mesh.ranks() > 1) return std::nullopt;
  return HoldersInstead{Holders::tr("One rank holds everything of its layers: nobody shares them."),
                        Holders::tr("DP 4")};
}

// Of the rank that is `at` in kept.sharing: what it holds at `now`.
HoldersRow row_of(const Prediction& prediction, const Timeline& timeline, HoldersKept& kept, int at,
                  Nanoseconds now, std::size_t columns) {
  const Program& program = prediction.program;
  const int layers = program.shape.layers;
  HoldersRow row;
  const SharingRank& sharing = kept.sharing->ranks[static_cast<std::size_t>(at)];
  const std::vector<int>& group = kept.sharing->groups[sharing.group];
  row.rank = sharing.rank;
  row.hue = group.size() == 1
                ? row.rank
                : static_cast<int>(std::find(group.begin(), group.end(), row.rank) - group.begin());
  row.index = representative_of(program, prediction.setup.mesh, row.rank);
  row.name = Holders::tr("Rank %1").arg(row.rank);
  auto holdings = kept.holdings.find(row.rank);
  if (holdings == kept.holdings.end())
    holdings =
        kept.holdings.emplace(row.rank, holdings_of(program, timeline, prediction.setup, row.rank))
            .first;
  row.cells.resize(columns);
  for (const HeldBucket& bucket : holdings->second.at(now)) {
    row.cells[static_cast<std::size_t>(slot_of(bucket, layers))].push_back(bucket);
    for (int kind = 0; kind < kHeldKinds; ++kind) {
      row.bytes[kind] += state_of_kind(bucket, kind).bytes;
      row.passing_bytes[kind] += state_of_kind(bucket, kind).passing_bytes;
    }
  }
  const ActivationsHeld& held =
      kept.activations.try_emplace(row.index, program, timeline, row.index).first->second;
  note_activations(held, now, layers, row);
  row.buffers =
      kept.buffers.try_emplace(row.index, program, timeline, row.index).first->second.at(now);
  row.head_adds = program.shape.tied && head_adds_to_tables(row);
  return row;
}

// Whether that rank (an index) updates fewer parameters than the model has: ZeRO, TP, PP or EP
// leave others to other ranks.
bool updates_a_part(const Prediction& prediction, int index) {
  const RankProgram& rank = prediction.program.ranks[static_cast<std::size_t>(index)];
  std::int64_t held = 0;
  for (const ParameterSlice& slice : rank.parameters)
    if (!slice.shared_copy) held += slice.count;
  return held < prediction.parameters.total ||
         std::any_of(rank.buckets.begin(), rank.buckets.end(),
                     [](const Bucket& bucket) { return bucket.own_count < bucket.count; });
}

// The row's loss, norms and hash, and whether that is the one of the rank that must hold the same.
void note_run(const Observation& seen, const Prediction& prediction, HoldersRow& row) {
  for (const RankState& state : seen.ranks_state) {
    if (state.rank != row.rank) continue;
    if (state.loss) row.loss = QLocale().toString(*state.loss, 'f', 3);
    if (state.gradient_norm) row.own_norm = QLocale().toString(*state.gradient_norm, 'g', 4);
    row.norm = QLocale().toString(state.gradient_norm_reduced, 'g', 4);
    row.part_norm = updates_a_part(prediction, row.index);
    const bool copy = !state.copy_after.empty();
    const auto print = copy ? &RankState::copy_after : &RankState::weights_after;
    row.hash = QString::fromStdString(state.*print).left(kHashDigits);
    row.own_part = !copy && prediction.setup.zero > 0;
    for (const RankState& other : seen.ranks_state)
      if (other.rank == (copy ? state.copy_of : state.replica_of))
        row.agrees = other.*print == state.*print;
  }
}

// What goes on at `now`, and what the first row's rank sends next and, where `bytes`, in a step.
void note_words(const Program& program, const Timeline& timeline, HoldersKept& kept,
                Nanoseconds now, const LessonLocks& locks, bool bytes, HoldersPicture& picture) {
  const HoldersRow& first = picture.rows.front();
  QStringList words;
  const QString moment = moment_words(kept.holdings.at(first.rank), now);
  if (!moment.isEmpty()) words << moment;
  for (const HoldersPicture::Moving& moving : picture.moving) {
    const QString done =
        Holders::tr("%1, %2 done").arg(capitalised(moving.name), share_text(moving.done));
    if (!words.contains(done)) words << done;  // other groups do the same
  }
  if (picture.moving.empty()) words << Holders::tr("Nothing is under way between the ranks.");
  picture.moment = words.join(QStringLiteral(" \u00b7 "));
  const auto [messages, is_new] = kept.messages.try_emplace(first.index);
  if (is_new)
    messages->second = {
        shared_messages(program, timeline, first.index),
        shared_sent_words(program, first.index, sharing_of(*kept.sharing, program, first.index))};
  QStringList of_rank{next_shared_words(program.ranks[static_cast<std::size_t>(first.index)],
                                        messages->second.all, now, locks.hidden_of_ops())};
  const QString work = computed_at(program, timeline, first.index, now);
  if (!work.isEmpty()) of_rank << Holders::tr("Rank %1: %2").arg(first.rank).arg(work);
  of_rank.removeAll(QString());
  picture.messages << of_rank.join(QStringLiteral(" \u00b7 "));
  if (const auto& [inside, between] = messages->second.sent; bytes) {
    if (!inside.isEmpty())
      picture.messages << Holders::tr("sent by rank %1 in a step: %2").arg(first.rank).arg(inside);
    if (!between.isEmpty())
      picture.messages
          << Holders::tr("sent between the groups, whose shards are copies: %1").arg(between);
  }
  picture.messages.removeAll(QString());
}

}  // namespace

std::int64_t HoldersRow::buffer_bytes() const {
  std::int64_t sum = 0;
  for (const HeldBuffer& buffer : buffers) sum += buffer.bytes;
  return sum;
}

std::int64_t HoldersRow::all_bytes() const {
  return bytes[0] + bytes[1] + bytes[2] + activation_bytes + buffer_bytes();
}

HoldersPicture holders_picture(const Session& session, HoldersKept& kept, int page, int rows,
                               int rank) {
  HoldersPicture picture;
  const RunRecord* run = session.runs().current();
  const bool fresh = run && run->observed() && !session.runs().current_is_stale() &&
                     !session.locks().hidden(QStringLiteral("lane.run"));
  const Prediction& prediction = fresh ? *run->prediction : *session.subject().prediction();
  const Program& program = prediction.program;
  const Timeline& timeline = fresh ? run->observation.timeline : prediction.timeline;
  picture.from_run = fresh;
  picture.title = holders_title(prediction.setup);
  picture.instead = instead_of(session, prediction.setup.mesh);
  if (picture.instead) return picture;
  for (const QString& name : slot_names(program)) {
    const int slot = static_cast<int>(picture.columns.size());
    picture.columns.push_back({slot, slot, name});
  }
  if (!kept.most_microbatches) kept.most_microbatches = most_microbatches(program, timeline);
  picture.microbatches = *kept.most_microbatches;
  const Nanoseconds now = session.playback().playhead();
  if (!kept.sharing) kept.sharing = by_groups(program, prediction.setup);
  const std::vector<SharingRank>& ranks = kept.sharing->ranks;
  const int count = static_cast<int>(ranks.size());
  picture.all_rows = count;
  const auto wanted = std::find_if(ranks.begin(), ranks.end(),
                                   [&](const SharingRank& each) { return each.rank == rank; });
  if (wanted != ranks.end()) page = static_cast<int>(wanted - ranks.begin()) / rows;
  picture.first_row = page % ((count + rows - 1) / rows) * rows;
  for (int at = picture.first_row; at < std::min(count, picture.first_row + rows); ++at) {
    HoldersRow row = row_of(prediction, timeline, kept, at, now, picture.columns.size());
    const SharingRank& here = ranks[static_cast<std::size_t>(at)];
    const SharingRank& above = ranks[static_cast<std::size_t>(std::max(0, at - 1))];
    if (at == picture.first_row || here.group != above.group)
      row.group = group_name(*kept.sharing, static_cast<std::size_t>(at));
    if (fresh) note_run(run->observation, prediction, row);
    picture.rows.push_back(std::move(row));
  }
  merge_alike(picture);
  const bool bytes = !session.locks().hidden(QStringLiteral("traffic.sent_bytes"));
  note_moving(program, timeline, prediction.setup, now, bytes, picture);
  note_words(program, timeline, kept, now, session.locks(), bytes, picture);
  if (kept.story.empty()) {
    const HoldersRow& first = picture.rows.front();
    kept.story = holders_story(prediction.setup, program, timeline, first.index,
                               kept.holdings.at(first.rank), kept.messages.at(first.index).all,
                               fresh ? &run->observation : nullptr);
  }
  picture.story = kept.story;
  picture.story_step = story_step_at(picture.story, now);
  return picture;
}

}  // namespace parallelarium
