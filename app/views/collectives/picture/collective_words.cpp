// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/collectives/picture/collective_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "app/look/figures.h"

namespace parallelarium {
namespace {

struct CollectiveTexts {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

QString number_of_chunks(int chunks) {
  return chunks == 1 ? CollectiveTexts::tr("one chunk")
                     : CollectiveTexts::tr("%1 chunks").arg(chunks);
}

// What happens to what arrives, at one receiver or at several.
QString fate(const CollectiveSpec& spec, bool reduce, bool several, bool one_chunk) {
  const bool adds = spec.reduction == Reduction::kSum || spec.reduction == Reduction::kAvg;
  if (!one_chunk) {
    if (reduce)
      return several ? CollectiveTexts::tr("who combine them with their own")
             : adds  ? CollectiveTexts::tr("who adds them to its own")
                     : CollectiveTexts::tr("who combines them with its own");
    return several ? CollectiveTexts::tr("who keep them") : CollectiveTexts::tr("who keeps them");
  }
  if (reduce)
    return several ? CollectiveTexts::tr("who combine it with their own")
           : adds  ? CollectiveTexts::tr("who adds it to its own")
                   : CollectiveTexts::tr("who combines it with its own");
  return several ? CollectiveTexts::tr("who keep it") : CollectiveTexts::tr("who keeps it");
}

// Messages of one step: chunks by (from, to).
std::map<std::pair<int, int>, int> messages_of(const std::vector<Move>& moves) {
  std::map<std::pair<int, int>, int> messages;
  for (const Move& move : moves) ++messages[{move.from, move.to}];
  return messages;
}

QString reduction_word(const CollectiveSpec& spec) {
  switch (spec.reduction) {
    case Reduction::kProd:
      return CollectiveTexts::tr("product");
    case Reduction::kMin:
      return CollectiveTexts::tr("smallest");
    case Reduction::kMax:
      return CollectiveTexts::tr("largest");
    case Reduction::kAvg:
      return CollectiveTexts::tr("average");
    default:
      return CollectiveTexts::tr("sum");
  }
}

}  // namespace

QString phase_of(const CollectivePlan& plan, int step) {
  const CollectiveSpec& spec = plan.collective.spec;
  if (spec.kind != CollectiveKind::kAllReduce || step < 0 || step >= plan.steps()) return {};
  const std::string& name = spec.algorithm;
  // One phase alone has no name of its own.
  if (name == "direct" || name == "recursive-doubling") return {};
  const auto& moves = plan.collective.steps[std::size_t(step)];
  const auto combining =
      std::count_if(moves.begin(), moves.end(), [](const Move& m) { return m.reduce; });
  const bool all = combining == std::ptrdiff_t(moves.size());
  if (moves.empty() || (combining > 0 && !all)) return {};
  const bool rooted = name == "root" || name == "tree" || name == "double-tree";
  if (all) return rooted ? CollectiveTexts::tr("reduce") : CollectiveTexts::tr("reduce-scatter");
  return rooted ? CollectiveTexts::tr("broadcast") : CollectiveTexts::tr("all-gather");
}

QString step_sentence(const CollectivePlan& plan, int step) {
  if (step < 0 || step >= plan.steps()) return {};
  const int n = plan.ranks();
  const auto& moves = plan.collective.steps[std::size_t(step)];
  const auto messages = messages_of(moves);
  if (messages.empty()) return CollectiveTexts::tr("nothing is sent");
  std::set<int> senders, receivers, shifts, chunks;
  for (const auto& [ends, count] : messages) {
    senders.insert(ends.first);
    receivers.insert(ends.second);
    shifts.insert((ends.second - ends.first + n) % n);
    chunks.insert(count);
  }
  const bool reduce =
      std::any_of(moves.begin(), moves.end(), [](const Move& m) { return m.reduce; });
  const int each = *chunks.begin();
  const QString what = chunks.size() == 1 ? number_of_chunks(each) : CollectiveTexts::tr("chunks");
  const auto done = [&](bool several) {
    return fate(plan.collective.spec, reduce, several, chunks.size() == 1 && each == 1);
  };
  const bool everyone = int(senders.size()) == n;
  const bool one_each = int(messages.size()) == int(senders.size());
  if (everyone && one_each && shifts.size() == 1) {
    const int shift = *shifts.begin();
    const QString who = shift == 1 ? CollectiveTexts::tr("its right neighbour")
                        : shift == n - 1
                            ? CollectiveTexts::tr("its left neighbour")
                            : CollectiveTexts::tr("the rank %1 to its right").arg(shift);
    return CollectiveTexts::tr("every rank sends %1 to %2, %3").arg(what, who, done(false));
  }
  if (everyone && int(messages.size()) == n * (n - 1))
    return CollectiveTexts::tr("every rank sends %1 to every other, %2").arg(what, done(true));
  if (senders.size() == 1 && messages.size() > 1)
    return CollectiveTexts::tr("rank %1 sends %2 to each of %3 ranks, %4")
        .arg(*senders.begin())
        .arg(what)
        .arg(messages.size())
        .arg(done(true));
  if (receivers.size() == 1 && messages.size() > 1)
    return CollectiveTexts::tr("%1 ranks send %2 each to rank %3, %4")
        .arg(messages.size())
        .arg(what)
        .arg(*receivers.begin())
        .arg(done(false));
  if (messages.size() == 1)
    return CollectiveTexts::tr("rank %1 sends %2 to rank %3, %4")
        .arg(*senders.begin())
        .arg(what)
        .arg(*receivers.begin())
        .arg(done(false));
  bool partners = one_each;
  for (const auto& [ends, count] : messages)
    partners = partners && messages.count({ends.second, ends.first}) > 0;
  if (partners) {
    const auto& first = messages.begin()->first;
    return CollectiveTexts::tr("partners %1 apart exchange %2, %3")
        .arg(first.second - first.first)
        .arg(what)
        .arg(done(true));
  }
  if (reduce && !std::all_of(moves.begin(), moves.end(), [](const Move& m) { return m.reduce; }))
    return CollectiveTexts::tr("%1 messages of %2, combined or kept")
        .arg(messages.size())
        .arg(what);
  return CollectiveTexts::tr("%1 messages of %2, %3")
      .arg(messages.size())
      .arg(what)
      .arg(done(true));
}

QString bytes_line(const CollectiveMotion& motion, Nanoseconds time, bool with_total) {
  const CollectivePlan& plan = motion.plan();
  const int step = motion.step_at(time);
  if (step < 0) return CollectiveTexts::tr("the rank has all that it needs");
  std::map<std::pair<int, int>, std::int64_t> links;
  for (const Move& move : plan.collective.steps[std::size_t(step)])
    links[{move.from, move.to}] += move.bytes;
  std::int64_t least = -1, most = 0;
  for (const auto& [ends, bytes] : links) {
    least = least < 0 ? bytes : std::min(least, bytes);
    most = std::max(most, bytes);
  }
  const bool all_send = int(links.size()) >= plan.ranks();
  const QString from = bytes_text(std::max<std::int64_t>(0, least)), to = bytes_text(most);
  const QString amount = from == to ? to : CollectiveTexts::tr("%1 to %2").arg(from, to);
  QString text = int(links.size()) > plan.ranks()
                     ? CollectiveTexts::tr("%1 in each of %2 messages of this step")
                           .arg(amount)
                           .arg(links.size())
                 : all_send ? CollectiveTexts::tr("%1 on every link in this step").arg(amount)
                 : links.size() == 1
                     ? CollectiveTexts::tr("%1 on one link in this step").arg(amount)
                     : CollectiveTexts::tr("%1 on each of %2 links in this step")
                           .arg(amount)
                           .arg(links.size());
  const auto& sent = plan.cost.sent_bytes;
  const auto busiest = std::max_element(sent.begin(), sent.end());
  if (!with_total || busiest == sent.end() || *busiest == 0) return text;
  const int rank = int(busiest - sent.begin());
  const bool alike =
      std::all_of(sent.begin(), sent.end(), [&](std::int64_t b) { return b == *busiest; });
  const QString who = alike ? CollectiveTexts::tr("each rank")
                            : CollectiveTexts::tr("rank %1, the busiest,").arg(rank);
  // In a run some ranks are ahead of others.
  std::int64_t behind = motion.sent_until(rank, time), ahead = behind;
  for (int other = 0; alike && other < plan.ranks(); ++other) {
    behind = std::min(behind, motion.sent_until(other, time));
    ahead = std::max(ahead, motion.sent_until(other, time));
  }
  const QString so_far =
      behind == ahead ? bytes_text(ahead)
                      : CollectiveTexts::tr("%1 to %2").arg(bytes_text(behind), bytes_text(ahead));
  return text + QStringLiteral(" \u00b7 ") +
         CollectiveTexts::tr("%1 has sent %2 of its %3").arg(who, so_far, bytes_text(*busiest));
}

QString result_sentence(const CollectiveSpec& spec) {
  const QString word = reduction_word(spec);
  const QString ranks = spec.ranks == 1 ? CollectiveTexts::tr("the one rank")
                                        : CollectiveTexts::tr("all %1 ranks").arg(spec.ranks);
  switch (spec.kind) {
    case CollectiveKind::kAllReduce:
      return CollectiveTexts::tr("Every chunk ends as the %1 of %2, on every rank")
          .arg(word, ranks);
    case CollectiveKind::kReduceScatter:
      return CollectiveTexts::tr("Every rank ends with its own chunk, the %1 of %2")
          .arg(word, ranks);
    case CollectiveKind::kReduce:
      return CollectiveTexts::tr("Every chunk ends as the %1 of %2, on rank %3")
          .arg(word, ranks)
          .arg(spec.root);
    case CollectiveKind::kAllGather:
      return CollectiveTexts::tr("Every rank ends with the chunks of %1").arg(ranks);
    case CollectiveKind::kGather:
      return CollectiveTexts::tr("Rank %1 ends with the chunks of %2").arg(spec.root).arg(ranks);
    case CollectiveKind::kScatter:
      return CollectiveTexts::tr("Every rank ends with its own chunk of what rank %1 had")
          .arg(spec.root);
    case CollectiveKind::kBroadcast:
      return CollectiveTexts::tr("Every rank ends with all that rank %1 had").arg(spec.root);
    case CollectiveKind::kAllToAll:
      return CollectiveTexts::tr("Every rank ends with what all the others had for it");
  }
  return {};
}

QString rounding_sentence(const CollectiveSpec& spec, const RoundingComparison& rounding) {
  CollectiveSpec other = spec;
  other.algorithm = rounding.other;
  const QString both =
      CollectiveTexts::tr("%1 against %2, same inexact inputs: ")
          .arg(algorithm_title(spec), algorithm_in_sentence(other.kind, other.algorithm));
  QString text;
  if (rounding.differing == 0 && spec.ranks == 2)
    text = CollectiveTexts::tr("every bit is the same, since two numbers have one sum");
  else if (rounding.differing == 0)
    text = CollectiveTexts::tr("every bit is the same");
  else
    text = CollectiveTexts::tr("%1 of %2 elements differ, by at most %3 in the last place")
               .arg(count_text(rounding.differing), count_text(rounding.elements),
                    rounding.most_steps == 1
                        ? CollectiveTexts::tr("1 unit")
                        : CollectiveTexts::tr("%1 units").arg(count_text(rounding.most_steps)));
  if (!rounding.ranks_agree)
    text += QStringLiteral("; ") + CollectiveTexts::tr("ranks differ among themselves");
  return both + text;
}

QString chunk_name(const CollectivePlan& plan, int chunk) {
  if (plan.collective.spec.kind != CollectiveKind::kAllToAll)
    return QStringLiteral("c%1").arg(chunk);
  return QStringLiteral("%1\u2192%2").arg(chunk / plan.ranks()).arg(chunk % plan.ranks());
}

QString move_sentence(const CollectivePlan& plan, const Move& move) {
  return CollectiveTexts::tr("Chunk %1 from rank %2 to rank %3")
      .arg(chunk_name(plan, move.chunk))
      .arg(move.from)
      .arg(move.to);
}

QString set_text(RankSet set) {
  QStringList ranks;
  for (int rank = 0; rank < 64; ++rank)
    if (set >> rank & 1) ranks << QString::number(rank);
  if (ranks.size() > 8) ranks = ranks.mid(0, 3) << QString(QChar(0x2026)) << ranks.back();
  return QLatin1Char('{') + ranks.join(QStringLiteral(", ")) + QLatin1Char('}');
}

SelectionText describe_move(const CollectiveMotion& predicted, const CollectiveMotion* observed,
                            MoveRef ref) {
  SelectionText text;
  const CollectivePlan& plan = predicted.plan();
  if (ref.step < 0 || ref.step >= plan.steps() ||
      ref.move >= int(plan.collective.steps[std::size_t(ref.step)].size()))
    return text;
  const Move& move = predicted.move(ref);
  text.headline = move_sentence(plan, move);
  text.facts.push_back({CollectiveTexts::tr("step"),
                        CollectiveTexts::tr("%1 of %2").arg(ref.step + 1).arg(plan.steps())});
  text.facts.push_back({CollectiveTexts::tr("carries"), bytes_text(move.bytes)});
  const auto& before = plan.holdings[std::size_t(ref.step)].sets;
  const RankSet there = before[std::size_t(move.to * plan.collective.chunks + move.chunk)];
  const RankSet comes = before[std::size_t(move.from * plan.collective.chunks + move.chunk)];
  if (move.reduce)
    text.facts.push_back({CollectiveTexts::tr("combines"),
                          CollectiveTexts::tr("%1 with %2").arg(set_text(comes), set_text(there))});
  else if (comes != 0)
    text.facts.push_back({CollectiveTexts::tr("brings"), set_text(comes)});
  const auto times = [&](const CollectiveMotion& motion, const QString& source) {
    const Span span = motion.span_of(ref);
    text.facts.push_back(
        {CollectiveTexts::tr("%1: waited").arg(source), time_text(motion.waited(ref))});
    text.facts.push_back(
        {CollectiveTexts::tr("%1: transferred in").arg(source), time_text(span.end - span.begin)});
  };
  times(predicted, prediction_source_text(plan.word));
  if (observed) times(*observed, source_text(observed->source()));
  return text;
}

QString frame_sentence(const CollectiveMotion& motion, Nanoseconds time,
                       const CollectiveHidden& hidden) {
  const CollectivePlan& plan = motion.plan();
  const int step = motion.step_at(time);
  QString text = collective_title(plan.collective.spec) + QStringLiteral(". ");
  if (step < 0) return text + CollectiveTexts::tr("One rank has nothing to send.");
  const QString phase = phase_of(plan, step);
  text += hidden.steps ? CollectiveTexts::tr("Step %1").arg(step + 1)
                       : CollectiveTexts::tr("Step %1 of %2").arg(step + 1).arg(plan.steps());
  if (!phase.isEmpty()) text += QStringLiteral(", ") + phase;
  text += QStringLiteral(": ") + step_sentence(plan, step) + QStringLiteral(". ");
  int under_way = 0, arrived = 0;
  for (const Flight& flight : motion.flights(time)) {
    under_way += flight.share > 0 && flight.share < 1;
    arrived += flight.share >= 1;
  }
  text += CollectiveTexts::tr("%1 chunks are under way, %2 of this step have arrived. ")
              .arg(under_way)
              .arg(arrived);
  text += bytes_line(motion, time, !hidden.sent_bytes) + QStringLiteral(". ");
  if (plan.collective.spec.kind == CollectiveKind::kAllToAll || plan.collective.chunks > 8 ||
      plan.ranks() > 8)
    return text;
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    QStringList chunks;
    for (int chunk = 0; chunk < plan.collective.chunks; ++chunk)
      if (const RankSet set = motion.held(rank, chunk, time))
        chunks << chunk_name(plan, chunk) + QLatin1Char(' ') + set_text(set);
    text += CollectiveTexts::tr("Rank %1 holds %2. ")
                .arg(rank)
                .arg(chunks.isEmpty() ? CollectiveTexts::tr("nothing")
                                      : chunks.join(QStringLiteral(", ")));
  }
  return text;
}

}  // namespace parallelarium
