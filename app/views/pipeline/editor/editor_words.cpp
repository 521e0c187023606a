// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/editor/editor_words.h"

#include <QObject>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/pipeline/editor/floor_words.h"

namespace parallelarium {

namespace {

bool at_most(double value, double bound) { return value <= bound * (1 + 1e-9); }

QString detail_of(const OrderFault& fault) {
  if (fault.sentence.id == "order-before")
    return QObject::tr(
        "A rank works through its row from the left: what stands behind cannot help "
        "what stands before.");
  if (fault.sentence.id == "order-circle")
    return QObject::tr("Each of them would do later what another waits for now.");
  return {};
}

QString length_words(const OrderEdit& edit) {
  QString words;
  const double length = edit.times().makespan;
  if (edit.floor() && edit.floor()->exact && at_most(length, edit.floor()->at_least))
    words = no_shorter_text(edit.limits());
  else if (edit.par() && at_most(length, *edit.par()))
    words = QObject::tr("Par is reached.");
  else if (edit.par())
    words = QObject::tr("Par is %1.").arg(forwards_text(edit.in_forwards(*edit.par())));
  // Before success a lesson names no schedule.
  const bool names = !edit.task() || !edit.par() || at_most(length, *edit.par());
  if (names && !edit.recognised().isEmpty())
    words += (words.isEmpty() ? QString() : QStringLiteral(" ")) +
             QObject::tr("This is %1.").arg(edit.recognised());
  return words;
}

Quantity pair_of(const char* key, const QString& title, Figure first, Figure second) {
  Quantity quantity;
  quantity.key = QLatin1String(key);
  quantity.title = title;
  quantity.predicted = std::move(first);
  quantity.observed = std::move(second);
  return quantity;
}

// " from 3 to 5", in forwards.
QString span_words(const OrderEdit& edit, const TimedAction& action) {
  return QLatin1Char(' ') + QObject::tr("from %1 to %2")
                                .arg(forwards_figure(edit.in_forwards(action.begin)),
                                     forwards_figure(edit.in_forwards(action.end)));
}

// The stage that is nearest to its limit, or farthest above it; without limits the one that holds
// most.
std::size_t tightest_stage(const OrderEdit& edit) {
  const auto& ranks = edit.times().ranks;
  const auto over = [&](std::size_t rank) {
    return ranks[rank].held - (rank < edit.limits().size() ? edit.limits()[rank] : 0);
  };
  std::size_t tight = 0;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank)
    if (over(rank) > over(tight)) tight = rank;
  return tight;
}

Figure figure(const QString& text, const QString& source) {
  Figure made;
  made.text = text;
  made.source = source;
  return made;
}

}  // namespace

EditorVerdict verdict_of(const OrderEdit& edit) {
  using Tone = EditorVerdict::Tone;
  if (!edit.problem().isEmpty()) return {Tone::kWarning, edit.problem(), {}, false};
  const DraftTimes& times = edit.times();
  if (!edit.faults().empty()) {
    const OrderFault& fault = edit.faults().front();
    const bool hangs = fault.sentence.id == "order-before" || fault.sentence.id == "order-circle";
    return {Tone::kWarning, sentence(fault.sentence), detail_of(fault), hangs};
  }
  if (const int rank = edit.over_limit(); rank >= 0)
    return {Tone::kWarning,
            QObject::tr("%1 holds %2 micro-batches, but may hold %3.")
                .arg(row_name(edit.draft(), rank),
                     number_text(edit.times().ranks[static_cast<std::size_t>(rank)].held),
                     number_text(edit.limits()[static_cast<std::size_t>(rank)])),
            QObject::tr("A micro-batch is held from its forward until its backward has ended."),
            false};
  if (times.whole())
    return {Tone::kGood,
            QObject::tr("The order is legal and %1 long.")
                .arg(forwards_text(edit.in_forwards(times.makespan))),
            length_words(edit), false};
  QString detail = QObject::tr("No rank is stuck.");
  for (std::size_t rank = 0; rank < times.ranks.size(); ++rank)
    if (const auto& wait = times.ranks[rank].wait) {
      if (wait->rank == static_cast<int>(rank)) {
        detail = QObject::tr("%1 waits for its own %2: place it before.")
                     .arg(row_name(edit.draft(), wait->rank),
                          action_text(wait->needs, edit.draft().chunks));
        break;
      }
      detail = QObject::tr("%1 waits for %2 of stage %3.")
                   .arg(row_name(edit.draft(), static_cast<int>(rank)),
                        action_text(wait->needs, edit.draft().chunks))
                   .arg(wait->rank);
      break;
    }
  if (times.placed == 0)
    detail =
        edit.task() && !edit.task()->ghosts
            ? QObject::tr(
                  "Click into a row, or move to it with Tab, and type F, B or the whole row.")
            : (edit.split()
                   ? QObject::tr("Click one of the dashed actions, or type F, I, W or a whole row.")
                   : QObject::tr("Click one of the dashed actions, or type F, B or a whole row."));
  return {Tone::kPlain,
          QObject::tr("%1 of %2 actions are placed.").arg(times.placed).arg(times.wanted), detail,
          false};
}

QString score_text(const OrderEdit& edit) {
  QStringList parts;
  const auto add = [&](const QString& name, std::optional<double> seconds) {
    parts << name + QChar(0x00a0) +
                 (seconds && std::isfinite(*seconds) ? forwards_figure(edit.in_forwards(*seconds))
                                                     : QStringLiteral("–"));
  };
  const bool whole = edit.times().whole() && edit.faults().empty();
  add(edit.over_limit() >= 0 ? QObject::tr("this order, over the limit")
                             : QObject::tr("this order"),
      whole ? std::optional(edit.times().makespan) : std::nullopt);
  add(QObject::tr("your best"), edit.tries().best);
  if (edit.par()) add(QObject::tr("par"), edit.par());
  if (edit.floor())
    add(QObject::tr("floor"), edit.floor()->at_least);
  else if (edit.looks_for_floor())
    parts << QObject::tr("floor …");
  return parts.join(QStringLiteral("   ·   "));
}

QString path_text(const OrderEdit& edit) {
  const DraftTimes& times = edit.times();
  if (edit.path().empty()) return {};
  double transfers = 0;
  QStringList ways;
  int rank = -1;
  for (const DraftPlace& place : edit.path()) {
    const DraftRank& line = times.ranks[static_cast<std::size_t>(place.rank)];
    const auto index = static_cast<std::size_t>(place.index);
    transfers += line.began[index].transfer;
    const QString name = action_text(line.ran[index].action, edit.draft().chunks);
    if (place.rank == rank)
      ways.back() += QChar(' ') + name;
    else
      ways << QStringLiteral("%1: %2").arg(row_name(edit.draft(), place.rank), name);
    rank = place.rank;
  }
  const int most = 6;  // changes of the rank that a reader follows; of more, how it ends
  if (ways.size() > most) ways = ways.mid(0, most - 1) << QStringLiteral("…") << ways.back();
  const QString way = ways.join(QStringLiteral(", "));
  QString text =
      edit.path().size() == 1
          ? QObject::tr("Critical path (1 action): %1.").arg(way)
          : QObject::tr("Critical path (%1 actions): %2.").arg(edit.path().size()).arg(way);
  if (transfers > 0)
    text += QChar(' ') +
            QObject::tr("%1 of it are transfers.").arg(forwards_text(edit.in_forwards(transfers)));
  double chosen = 0;
  for (const ChosenWait& wait : edit.chosen_waits()) chosen += wait.end - wait.begin;
  if (chosen > 0)
    text += QChar(' ') + QObject::tr(
                             "Ranks wait %1, all together, while a later action of theirs "
                             "could begin.")
                             .arg(forwards_text(edit.in_forwards(chosen)));
  return text;
}

QString run_text(const Session& session) {
  const RunRecord* run = session.runs().current();
  if (!run || !run->observed() || session.runs().current_is_stale()) return {};
  const bool hidden = session.locks().hidden_of_ops().times;
  return QObject::tr("Run on %1 ranks (%2): a step took %3, predicted were %4.")
      .arg(run->prediction->setup.mesh.ranks())
      .arg(source_text(run->observation.timeline.source),
           shown_time(run->observation.timeline.duration, hidden),
           shown_time(run->prediction->timeline.duration, hidden));
}

std::vector<Quantity> editor_quantities(const OrderEdit& edit, const Session& session) {
  const DraftTimes& times = edit.times();
  const bool whole = times.whole() && edit.faults().empty();
  const QString none = QStringLiteral("–"), yours = QObject::tr("yours"),
                bound = QObject::tr("floor");
  const std::optional<double> floor = edit.floor() && std::isfinite(edit.floor()->at_least)
                                          ? std::optional(edit.floor()->at_least)
                                          : std::nullopt;
  const bool hangs = std::any_of(times.ranks.begin(), times.ranks.end(), [](const DraftRank& line) {
    return line.wait && line.wait->for_ever;
  });
  int ran = 0;
  for (const DraftRank& line : times.ranks) ran += static_cast<int>(line.ran.size());
  const std::size_t tight = tightest_stage(edit);
  const double held = times.ranks.empty() ? 0 : times.ranks[tight].held;
  const QString limit = edit.limits().empty() ? none : number_text(edit.limits()[tight]);
  const bool by_stage = limits_differ(edit.limits());
  std::vector<Quantity> five;
  five.push_back(pair_of("order.makespan", QObject::tr("Length, forwards"),
                         figure(whole   ? forwards_figure(edit.in_forwards(times.makespan))
                                : hangs ? QObject::tr("never ends")
                                        : none,
                                yours),
                         figure(floor ? forwards_figure(edit.in_forwards(*floor)) : none, bound)));
  five.push_back(pair_of("order.bubble", QObject::tr("Bubble of whole step"),
                         figure(whole ? share_text(times.bubble_in(times.makespan)) : none, yours),
                         figure(floor ? share_text(edit.floor_bubble()) : none, bound)));
  // Its floor says nothing of an order that breaks the limits.
  if (edit.over_limit() >= 0)
    for (Quantity& quantity : five) quantity.note = QObject::tr("over the limit");
  five.push_back(pair_of("order.held", QObject::tr("Most held"), figure(number_text(held), yours),
                         figure(limit, by_stage ? QObject::tr("limit of stage %1").arg(tight)
                                                : QObject::tr("limit"))));
  five.push_back(pair_of("order.ran", QObject::tr("Actions that run"),
                         figure(QObject::tr("%1 of %2").arg(ran).arg(times.wanted), yours), {}));
  const RunRecord* run = session.runs().current();
  const bool seen = run && run->observed() && !session.runs().current_is_stale();
  Figure last = figure(QObject::tr("none"), QObject::tr("of this order"));
  if (!edit.hang_report().isEmpty())
    last = figure(QObject::tr("hung"), QObject::tr("ended after %1 s").arg(kHangSeconds));
  else if (seen)
    last = figure(
        shown_time(run->observation.timeline.duration, session.locks().hidden_of_ops().times),
        source_text(run->observation.timeline.source));
  five.push_back(pair_of("order.run", QObject::tr("Last run"), std::move(last), {}));
  return five;
}

SelectionText action_words(const OrderEdit& edit, Spot spot) {
  SelectionText text;
  const auto rank = static_cast<std::size_t>(spot.rank);
  if (spot.rank < 0 || rank >= edit.draft().ranks.size()) return text;
  const auto& line = edit.draft().ranks[rank];
  if (spot.index < 0 || static_cast<std::size_t>(spot.index) >= line.size()) return text;
  const Action& action = line[static_cast<std::size_t>(spot.index)];
  text.headline = edit.words_of(rank, action);
  text.facts.push_back({QObject::tr("place in its row"),
                        QObject::tr("%1 of %2").arg(spot.index + 1).arg(line.size())});
  const DraftRank& times = edit.times().ranks[rank];
  if (static_cast<std::size_t>(spot.index) < times.ran.size()) {
    const TimedAction& ran = times.ran[static_cast<std::size_t>(spot.index)];
    text.facts.push_back(
        {QObject::tr("begins, in forwards"), forwards_figure(edit.in_forwards(ran.begin))});
    text.facts.push_back({QObject::tr("ends"), forwards_figure(edit.in_forwards(ran.end))});
    if (!edit.task())
      text.facts.push_back({QObject::tr("takes"), seconds_text(ran.end - ran.begin)});
    const DraftPlace place{spot.rank, spot.index};
    const bool critical =
        std::find(edit.path().begin(), edit.path().end(), place) != edit.path().end();
    text.facts.push_back({QObject::tr("on the critical path"),
                          critical ? QObject::tr("yes: the order is longer if it takes longer")
                                   : QObject::tr("no")});
  } else if (times.wait && times.wait->index == static_cast<std::size_t>(spot.index)) {
    const DraftWait& wait = *times.wait;
    const QString needs = action_text(wait.needs, edit.draft().chunks);
    text.facts.push_back(
        {QObject::tr("needs"), QObject::tr("%1 of stage %2").arg(needs).arg(wait.rank)});
    text.facts.push_back(
        {QObject::tr("that one"), wait.position < 0
                                      ? QObject::tr("is not placed yet")
                                      : QObject::tr("stands at place %1").arg(wait.position + 1)});
  } else {
    text.facts.push_back({QObject::tr("runs"), QObject::tr("no: it stands behind one that waits")});
  }
  return text;
}

QString ghost_words(const OrderEdit& edit, Spot ghost) {
  const NextAction& next = edit.times()
                               .ranks[static_cast<std::size_t>(ghost.rank)]
                               .next[static_cast<std::size_t>(ghost.index)];
  return QObject::tr("Click: %1. It starts at %2, ends at %3, then the rank holds %4.")
      .arg(edit.words_of(static_cast<std::size_t>(ghost.rank), next.action),
           forwards_figure(edit.in_forwards(next.begin)),
           forwards_figure(edit.in_forwards(next.end)), number_text(next.held));
}

QString editor_description(const OrderEdit& edit) {
  const EditorVerdict verdict = verdict_of(edit);
  QString text = verdict.headline + QChar(' ') + verdict.detail;
  if (!edit.problem().isEmpty()) return text;
  const std::vector<std::string> lines = to_lines(edit.draft());
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    text += QStringLiteral("\n") + row_name(edit.draft(), static_cast<int>(rank)) +
            QStringLiteral(": ") +
            (lines[rank].empty() ? QObject::tr("empty") : QString::fromStdString(lines[rank]));
    QStringList next;
    for (const NextAction& may : edit.times().ranks[rank].next)
      next << action_text(may.action, edit.draft().chunks);
    if (!next.isEmpty() && (!edit.task() || edit.task()->ghosts))
      text += QObject::tr(". Next may come %1.").arg(next.join(QStringLiteral(", ")));
  }
  text += QStringLiteral("\n") + score_text(edit);
  if (const QString path = path_text(edit); !path.isEmpty()) text += QStringLiteral("\n") + path;
  return text;
}

QString goal_description(const OrderEdit& edit) {
  if (!edit.task()) return {};
  QStringList rows;
  for (std::size_t rank = 0; rank < edit.task()->goal.size(); ++rank) {
    QStringList works;
    double from = 0, to = -1;
    const auto add = [&] {
      if (to > from)
        works << QObject::tr("%1 to %2")
                     .arg(forwards_figure(edit.in_forwards(from)),
                          forwards_figure(edit.in_forwards(to)));
    };
    for (const TimedAction& action : edit.task()->goal[rank]) {
      if (action.begin > to + 1e-9) {
        add();
        from = action.begin;
      }
      to = action.end;
    }
    add();
    rows << QObject::tr("%1 works from %2.")
                .arg(row_name(edit.draft(), static_cast<int>(rank)),
                     works.join(QStringLiteral(", ")));
  }
  return rows.join(QLatin1Char('\n'));
}

QString times_description(const OrderEdit& edit) {
  if (!edit.problem().isEmpty()) return edit.problem();
  QStringList rows;
  for (std::size_t rank = 0; rank < edit.times().ranks.size(); ++rank) {
    QStringList actions;
    for (const TimedAction& action : edit.times().ranks[rank].ran)
      actions << action_text(action.action, edit.draft().chunks) + span_words(edit, action);
    rows << row_name(edit.draft(), static_cast<int>(rank)) + QStringLiteral(": ") +
                (actions.isEmpty() ? QObject::tr("nothing runs")
                                   : actions.join(QStringLiteral(", ")));
  }
  return rows.join(QLatin1Char('\n'));
}

QString cursor_words(const OrderEdit& edit, Spot cursor) {
  if (cursor.rank < 0) return {};
  const auto& line = edit.draft().ranks[static_cast<std::size_t>(cursor.rank)];
  const QString row = row_name(edit.draft(), cursor.rank);
  if (line.empty()) return QObject::tr("%1, an empty row").arg(row);
  if (cursor.index == 0)
    return QObject::tr("%1, before position 1 of %2, %3")
        .arg(row)
        .arg(line.size())
        .arg(action_text(line.front(), edit.draft().chunks));
  const auto at = static_cast<std::size_t>(cursor.index - 1);
  const auto& ran = edit.times().ranks[static_cast<std::size_t>(cursor.rank)].ran;
  const QString behind =
      at + 1 < line.size()
          ? QObject::tr("; before %1").arg(action_text(line[at + 1], edit.draft().chunks))
          : QString();
  return QObject::tr("%1, behind position %2 of %3, %4")
             .arg(row)
             .arg(cursor.index)
             .arg(line.size())
             .arg(action_text(line[at], edit.draft().chunks)) +
         (at < ran.size() ? span_words(edit, ran[at]) : QString()) + behind;
}

}  // namespace parallelarium
