// SPDX-License-Identifier: GPL-3.0-or-later
// What the selection panel says about an op.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/selection/selection_panel.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture/whole_bars.h"

namespace parallelarium {

namespace {

struct Selected {
  Q_DECLARE_TR_FUNCTIONS(selection)
};

// The bar that an op stands for; or nothing.
std::optional<Bar> bar_of(const Program& program, const Timeline& timeline, OpRef op, Zoom zoom) {
  if (op.rank < 0 || op.rank >= int(program.ranks.size()) || op.rank >= int(timeline.ranks.size()))
    return std::nullopt;
  const auto& ops = program.ranks[std::size_t(op.rank)].ops;
  if (op.op < 0 || op.op >= int(ops.size())) return std::nullopt;
  std::vector<Bar> bars = bars_of(program, timeline, op.rank);
  if (zoom != Zoom::kPieces && ops[std::size_t(op.op)].lane == Lane::kCompute) {
    std::erase_if(bars, [](const Bar& bar) { return bar.lane != Lane::kCompute; });
    bars = whole_bars(bars, zoom).bars;
  }
  for (const Bar& bar : bars)
    if (bar.first_op <= op.op && op.op <= bar.last_op && bar.lane == ops[std::size_t(op.op)].lane)
      return bar;
  return std::nullopt;
}

// What an action or layer spends inside. `hides`: a lesson asks about times.
void add_inside(SelectionText& text, const Program& program, const Timeline& timeline, OpRef op,
                const Bar& whole, bool hides) {
  Nanoseconds computing{0}, communicating{0};
  int collectives = 0;
  for (const Bar& part : bars_of(program, timeline, op.rank)) {
    if (part.lane != Lane::kCompute || part.first_op < whole.first_op ||
        part.last_op > whole.last_op)
      continue;
    const bool computes = part.kind == OpKind::kCompute;
    (computes ? computing : communicating) += part.span.end - part.span.begin;
    collectives += computes ? 0 : 1;
  }
  if (collectives == 0) return;
  text.facts.push_back({Selected::tr("computing inside"), shown_time(computing, hides)});
  text.facts.push_back(
      {Selected::tr("%1 collectives inside").arg(collectives), shown_time(communicating, hides)});
}

// What fills the idle time that ends at `end`: waiting for a sender, then for the link, is one gap
// on the screen.
void add_waits(SelectionText& text, const std::vector<IdleGap>& gaps, Nanoseconds end, bool hides) {
  auto last = std::find_if(gaps.begin(), gaps.end(),
                           [&](const IdleGap& gap) { return gap.span.end == end; });
  if (last == gaps.end()) return;
  auto first = last++;
  while (first != gaps.begin() && std::prev(first)->span.end == first->span.begin) --first;
  if (last - first > 1)
    text.facts.push_back({Selected::tr("idle before"), shown_time(end - first->span.begin, hides)});
  for (auto gap = first; gap != last; ++gap) {
    const QString length = shown_time(gap->span.end - gap->span.begin, hides);
    if (gap->why.id == "idle-wait")
      text.facts.push_back(
          {Selected::tr("waited %1 for").arg(length), sentence(gap->why.arguments.front())});
    else
      text.facts.push_back({Selected::tr("idle %1:").arg(length), sentence(gap->why)});
  }
}

}  // namespace

SelectionText describe_selection(const Session& session) {
  SelectionText text;
  const OpRef op = session.subject().selected();
  if (op.rank < 0) return text;
  const RunRecord* run = session.runs().current();
  const bool in_run = session.subject().selected_in_run() && run;
  const bool fresh = run && !session.runs().current_is_stale();
  const Zoom zoom = session.subject().selected_zoom();
  if (session.locks().hidden(in_run ? QStringLiteral("lane.run")
                                    : QStringLiteral("lane.predicted")))
    return text;
  // One Program under both sides, unless the run is of other settings.
  const std::shared_ptr<const Prediction> base =
      run && (in_run || fresh) ? run->prediction : session.subject().prediction();
  const Timeline& clicked = in_run ? run->observation.timeline : base->timeline;
  const HiddenOfOps hides = session.locks().hidden_of_ops();
  const auto length_of = [&](const Bar& one) {
    return shown_time(one.span.end - one.span.begin, hides.times);
  };
  const std::optional<Bar> bar = bar_of(base->program, clicked, op, zoom);
  if (!bar) return text;
  text.headline = bar_sentence(base->program, op.rank, *bar);

  if (!session.locks().hidden(QStringLiteral("lane.predicted")) && session.problems().empty())
    if (const auto expected = bar_of(base->program, base->timeline, op, zoom))
      text.facts.push_back({Selected::tr("predicted"), length_of(*expected)});
  if (run && (in_run || fresh) && !session.locks().hidden(QStringLiteral("lane.run"))) {
    const RankTimeline& seen = run->observation.timeline.ranks[std::size_t(op.rank)];
    if (const auto happened = bar_of(base->program, run->observation.timeline, op, zoom)) {
      text.facts.push_back({source_text(run->observation.source), length_of(*happened)});
      Nanoseconds shortest{0}, longest{0};
      for (int at = happened->first_op; at <= happened->last_op; ++at) {
        if (std::size_t(at) >= seen.shortest.size()) break;
        shortest += seen.shortest[std::size_t(at)];
        longest += seen.longest[std::size_t(at)];
      }
      if (happened->first_op == happened->last_op && longest > Nanoseconds(0))
        text.facts.push_back(
            {Selected::tr("over %1 steps").arg(run->observation.timeline.steps),
             Selected::tr("%1 to %2")
                 .arg(shown_time(shortest, hides.times), shown_time(longest, hides.times))});
    }
  }
  const Op& first = base->program.ranks[std::size_t(op.rank)].ops[std::size_t(bar->first_op)];
  if (first.bytes > 0 && bar->kind != OpKind::kCompute)
    text.facts.push_back(
        {Selected::tr("carries"), hides.bytes ? kHidden : bytes_text(first.bytes)});
  if (bar->lane != Lane::kCompute) return text;
  if (zoom != Zoom::kPieces) add_inside(text, base->program, clicked, op, *bar, hides.times);
  add_waits(text, idle_gaps(base->program, clicked, op.rank), bar->span.begin, hides.times);
  return text;
}

QString selection_sentence(const SelectionText& text) {
  QStringList facts;
  for (const FactLine& fact : text.facts)
    facts << (fact.word.isEmpty() ? fact.value : fact.word + QLatin1Char(' ') + fact.value);
  const QString all = facts.join(QStringLiteral("; "));
  return all.isEmpty() ? text.headline : text.headline + QStringLiteral(": ") + all;
}

}  // namespace parallelarium
