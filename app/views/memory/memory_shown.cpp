// SPDX-License-Identifier: GPL-3.0-or-later
// From the Session to what the Memory view shows; and the exported picture.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/memory/memory_state.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/memory.h"

namespace parallelarium {
namespace {

constexpr int kWidth = 1200, kHeight = 820, kFooter = 56;

struct Shown {
  Q_DECLARE_TR_FUNCTIONS(memory)
};

QString title_of(const Setup& setup, const Prediction& prediction) {
  QStringList parts{Shown::tr("Memory per rank"), Shown::tr("ZeRO %1").arg(setup.zero)};
  const int shared = setup.mesh.dp * setup.mesh.cp;
  if (shared > 1) parts << Shown::tr("%1 data-parallel ranks").arg(shared);
  parts << QString::fromStdString(setup.precision.name);
  parts << Shown::tr("%1 parameters").arg(parameters_text(prediction.parameters.total));
  if (holds_stages_twice(setup)) parts << Shown::tr("stages held twice");
  return parts.join(QStringLiteral(" \u00b7 "));
}

// The rank of `pin` with that global number, or -1.
int rank_of(const RunRecord& pin, int global_rank) {
  const auto& ranks = pin.prediction->program.ranks;
  for (std::size_t at = 0; at < ranks.size(); ++at)
    if (ranks[at].rank == global_rank) return int(at);
  return -1;
}

// What was counted in a pinned run, or planned in a pinned prediction; none: it has no such rank.
std::optional<CountedParts> pinned_parts(const RunRecord* pin, int global_rank) {
  const int at = pin ? rank_of(*pin, global_rank) : -1;
  if (at < 0) return std::nullopt;
  const Program& program = pin->prediction->program;
  const PeakParts plan = peak_parts(program, program.ranks[std::size_t(at)]);
  if (pin->observed())
    for (const MemoryRow& counted : pin->observation.memory)
      if (counted.rank == global_rank)
        return counted_parts(counted, memory_of(program)[std::size_t(at)], plan);
  return CountedParts{plan.parts, plan.total, 0, true};
}

void fill_ranks(const Session& session, const RunRecord* pin, MemoryShown& shown) {
  const Prediction& prediction = *session.subject().prediction();
  const std::vector<MemoryRow> rows = memory_of(prediction.program);
  const bool many = prediction.setup.mesh.ranks() > prediction.setup.mesh.pp;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const RankProgram& rank = prediction.program.ranks[at];
    BarGroup group;
    const bool by_rank = many && !prediction.program.representatives;
    group.label = by_rank ? QString::number(rank.rank) : Shown::tr("stage %1").arg(rank.stage);
    group.planned = peak_parts(prediction.program, rank);
    if (shown.run)
      for (const MemoryRow& counted : shown.run->observation.memory)
        if (counted.rank == rank.rank)
          group.counted = counted_parts(counted, rows[at], *group.planned);
    group.pinned = pinned_parts(pin, rank.rank);
    group.framed = int(at) == shown.rank_index;
    group.stale = shown.stale;
    shown.ranks.groups.push_back(group);
    shown.rank_of_group.push_back(int(at));
  }
  shown.ranks.limit = prediction.capacity_bytes;
}

}  // namespace

std::int64_t MemoryShown::limit_in_sight() const {
  if (hidden) return 0;
  const bool drawn = parallelarium::limit_in_sight(stages) ||
                     parallelarium::limit_in_sight(curve.limit, curve.most);
  return drawn ? stages.limit : 0;
}

MemoryShown memory_shown(const Session& session, const ZeroPlans& plans, int rank_index) {
  MemoryShown shown;
  const Prediction& prediction = *session.subject().prediction();
  const Setup& setup = prediction.setup;
  shown.rank_index = rank_index;
  shown.hidden = session.locks().hidden(QStringLiteral("memory.peak_bytes")) ||
                 session.locks().hidden(QStringLiteral("lane.predicted"));
  shown.hides_bytes = session.locks().hidden(QStringLiteral("memory.bytes_per_parameter"));
  shown.hides_traffic = session.locks().hidden(QStringLiteral("traffic.sent_bytes"));
  shown.stale = !session.problems().empty();
  const bool fresh = session.runs().current() && session.runs().current()->observed() &&
                     !session.runs().current_is_stale() &&
                     !session.locks().hidden(QStringLiteral("lane.run"));
  shown.run = fresh ? session.runs().current() : nullptr;
  shown.program = &prediction.program;
  shown.timeline = &prediction.timeline;
  shown.timeline_rank = rank_index;
  if (shown.run && rank_index < int(prediction.program.ranks.size())) {
    const auto& ranks = shown.run->prediction->program.ranks;
    const int global = prediction.program.ranks[std::size_t(rank_index)].rank;
    for (std::size_t at = 0; at < ranks.size(); ++at)
      if (ranks[at].rank == global) {
        shown.program = &shown.run->prediction->program;
        shown.timeline = &shown.run->observation.timeline;
        shown.timeline_rank = int(at);
      }
  }
  shown.title = title_of(setup, prediction);
  if (prediction.program.ranks.empty()) return shown;

  const RunRecord* pin = session.runs().pinned();
  if (pin && session.locks().hidden(pin->observed() ? QStringLiteral("lane.run")
                                                    : QStringLiteral("lane.predicted")))
    pin = nullptr;
  const int global = prediction.program.ranks[std::size_t(rank_index)].rank;
  if (pin) shown.pinned = pinned_title(*pin, session.resolved());
  bool any_counted = false;
  const bool shares = setup.mesh.dp * setup.mesh.cp > 1;  // else all ZeRO stages are alike
  const QString where = rank_text(prediction.program, rank_index);
  for (const ZeroColumn& column : plans.columns(session, rank_index)) {
    if (!shares && !column.is_set) continue;
    BarGroup group;
    group.label = shares ? Shown::tr("ZeRO %1").arg(column.zero) : where;
    group.planned = column.planned;
    group.counted =
        session.locks().hidden(QStringLiteral("lane.run")) ? std::nullopt : column.counted;
    if (pin && pin->observation.setup.zero == column.zero) group.pinned = pinned_parts(pin, global);
    group.framed = column.is_set;
    group.stale = shown.stale;
    group.instead = column.refusal.isEmpty() ? QStringLiteral("\u2026") : column.refusal;
    any_counted = any_counted || group.counted.has_value();
    shown.stages.groups.push_back(group);
    shown.zero_of_group.push_back(column.zero);
  }
  shown.stages.limit = prediction.capacity_bytes;
  const QString dot = QStringLiteral(" \u00b7 ");
  shown.stages_title =
      (shares ? Shown::tr("ZERO STAGES") : Shown::tr("PEAK MEMORY")) + dot +
      (any_counted ? Shown::tr("PREDICTED, AND COUNTED IN THE RUN") : Shown::tr("PREDICTED"));
  fill_ranks(session, pin, shown);
  shown.ranks_title =
      (prediction.program.representatives ? Shown::tr("ONE RANK OF EVERY STAGE")
                                          : Shown::tr("EVERY RANK")) +
      dot + (shown.run ? Shown::tr("PREDICTED, AND COUNTED IN THE RUN") : Shown::tr("PREDICTED"));
  shown.traffic = traffic_terms(prediction, shown.run, rank_index);
  if (session.locks().hidden(QStringLiteral("formulas")))
    for (TrafficTerm& term : shown.traffic) term.formula = term.explained = QString();
  shown.curve =
      memory_curve(*shown.program, *shown.timeline, shown.timeline_rank, prediction.capacity_bytes);
  shown.messages = shared_messages(*shown.program, *shown.timeline, shown.timeline_rank);
  if (const int at = pin ? rank_of(*pin, global) : -1; at >= 0)
    shown.curve.pin(memory_curve(
        pin->prediction->program,
        pin->observed() ? pin->observation.timeline : pin->prediction->timeline, at, 0));
  shown.curve_title =
      Shown::tr("MEMORY OVER ONE STEP") + dot + where.toUpper() + dot +
      (shown.run ? Shown::tr("%1, sizes counted").arg(source_text(shown.timeline->source))
                 : prediction_source_text(prediction.word));
  return shown;
}

QSize memory_picture_size() { return {kWidth, kHeight}; }

void paint_memory_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                          int rank_index, TextLog* texts) {
  const Theme& theme = dark ? dark_theme() : light_theme();
  const Prediction& prediction = *session.subject().prediction();
  ZeroPlans plans;
  plans.keep(prediction.setup, ZeroPlans::compute(prediction.setup));
  const MemoryShown shown = memory_shown(session, plans, rank_index);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
  const double width = size.width(), foot = size.height() - kFooter;
  put_elided(painter, QRectF(16, 8, width - 32, 24), Qt::AlignVCenter, shown.title,
             theme.font(14, true), theme.text, texts);
  paint_memory_legend(painter, QRectF(16, 34, width - 32, 20), shown.run != nullptr, shown.pinned,
                      shown.limit_in_sight(), theme, texts);
  const double side = std::min(280.0, width * 0.34), upper = 64,
               middle = upper + (foot - upper) * 0.52;
  const QRectF left(16, upper, width - side - 56, middle - upper - 12);
  const QRectF right(width - side - 16, upper, side, middle - upper - 12);
  paint_caption(painter, QRectF(left.left(), left.top(), left.width(), 20), shown.stages_title,
                theme, texts);
  if (shown.hidden) {
    put_text(painter, left, Qt::AlignCenter, kHidden, theme.font(15, true), theme.muted, texts);
  } else {
    const BarLayout bars = bar_layout(shown.stages, left.adjusted(0, 22, 0, 0), theme);
    paint_bars(painter, shown.stages, bars, theme, -1, texts);
  }
  if (!shown.hides_bytes && !shown.hidden)
    paint_byte_table(painter, right, prediction.setup, false, theme, texts);
  if (!shown.hides_traffic)
    paint_traffic(painter, right.adjusted(0, byte_table_height() + 10, 0, 0), shown.traffic,
                  shown.stale, theme, texts);
  if (!shown.hidden) {
    const TimeAxis axis{{Nanoseconds(0), shown.curve.end}, kCurveAxis, width - kCurveAxis - 16};
    paint_memory_curve(painter, QRectF(0, middle, width, foot - middle - 4), shown.curve,
                       shown.run != nullptr, shown.curve_title, theme, axis, texts);
  }
  const QFont small = theme.font(11);
  painter.fillRect(QRectF(16, foot + 4, width - 32, 1), theme.hairline);
  const auto line = [&](int index) { return QRectF(16, foot + 9 + index * 15, width - 32, 14); };
  QString source = rank_text(prediction.program, rank_index) + QStringLiteral(" \u00b7 ");
  source += shown.run ? QObject::tr("sizes predicted, and counted in the run (%1)")
                            .arg(source_text(shown.run->observation.source))
                      : QObject::tr("sizes predicted");
  put_elided(painter, line(0), Qt::AlignVCenter, source, small, theme.text, texts);
  put_elided(painter, line(1), Qt::AlignVCenter, setup_footer(prediction.setup), small, theme.muted,
             texts);
  const QString maker = QObject::tr("Parallelarium");
  const double taken = QFontMetricsF(small).horizontalAdvance(maker) + 16;
  put_elided(painter, line(2).adjusted(0, 0, -taken, 0), Qt::AlignVCenter,
             machine_footer(prediction), small, theme.muted, texts);
  put_text(painter, line(2), Qt::AlignVCenter | Qt::AlignRight, maker, small, theme.muted, texts);
  painter.restore();
}

}  // namespace parallelarium
