// SPDX-License-Identifier: GPL-3.0-or-later
// Steps in time, predicted above measured, and the table of costs.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/collectives/picture/collective_paint.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/timeline/picture/bar_paint.h"

namespace parallelarium {
namespace {

struct FigureWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

constexpr double kColumn = 86;  // of figures in the table
constexpr double kWords = 126;  // of what they are
constexpr int kFormulaFont = 11;
constexpr double kLeastFormula = 40;  // as wide as the head of the column

const Formula* formula_about(const CollectivePlan& plan, const char* kind) {
  for (const Formula& formula : plan.formulas)
    if (formula.name.kind == kind) return &formula;
  return nullptr;
}

// "= 2.92 ms, × 1.81: copies share the computer's memory"; empty where the formula gives what is
// predicted, or more.
QString factor_text(const CollectivePlan& plan, const Formula* time) {
  if (!time || time->value <= 0) return {};
  const QString value = value_text(time->value, time->unit);
  const double times = plan.cost.seconds / time->value;
  constexpr double kLeastTimes = 1.01;  // below it reads "× 1.00"
  if (times < kLeastTimes || value == seconds_text(plan.cost.seconds)) return {};
  const Topology topology = plan.network.topology;
  const QString cause = topology == Topology::kMemory
                            ? FigureWords::tr("copies share the computer's memory")
                        : topology == Topology::kRing || topology == Topology::kTorus
                            ? FigureWords::tr("messages share the links there are")
                            : sentence(time->note);
  const QString factor = FigureWords::tr("= %1, \u00d7 %2").arg(value, number_text(times));
  return cause.isEmpty() ? factor : FigureWords::tr("%1: %2").arg(factor, cause);
}

// Bars of one rank's steps in one lane.
void paint_lane(QPainter& painter, const CollectivePicture& picture, const CollectiveLayout& layout,
                int rank, bool observed, const Theme& theme) {
  const CollectiveMotion& motion = observed ? *picture.observed : *picture.predicted;
  const QColor line = theme.solid(OpColor::kCommunication),
               tint = theme.tint(OpColor::kCommunication);
  const QRectF lane = layout.lane(rank, observed);
  const Nanoseconds horizon = picture.horizon();
  for (int step = 0; step < motion.steps(); ++step) {
    const Span span = motion.step_span(step, rank);
    if (span.end <= span.begin) continue;
    const double x0 = layout.x_of(span.begin, horizon), x1 = layout.x_of(span.end, horizon);
    const QRectF bar(x0 + 0.5, lane.top() + 0.5, std::max(1.0, x1 - x0 - 1), lane.height() - 1);
    const bool future = observed && span.begin > picture.playhead;
    const bool chosen =
        picture.selected.step == step &&
        (motion.move(picture.selected).from == rank || motion.move(picture.selected).to == rank);
    painter.setPen(chosen                ? QPen(theme.accent_line, 1.8)
                   : observed && !future ? QPen(Qt::NoPen)
                                         : QPen(line, 1));
    painter.setBrush(observed ? (future ? theme.surface : line) : tint);
    if (bar.width() > 3)
      painter.drawRoundedRect(bar, 2, 2);
    else
      painter.fillRect(bar, observed ? line : mixed(tint, line, 0.5));
    // The bar under the playhead fills as it passes.
    if (observed && !future && span.end > picture.playhead) {
      const double now = layout.x_of(picture.playhead, horizon);
      painter.setPen(QPen(line, 1));
      painter.setBrush(theme.surface);
      painter.drawRoundedRect(bar, 2, 2);
      painter.fillRect(QRectF(bar.left(), bar.top(), std::max(0.0, now - bar.left()), bar.height()),
                       line);
    }
  }
}

QString lanes_title(const CollectivePicture& picture) {
  QString text = FigureWords::tr("Steps in time") + QStringLiteral(" \u00b7 ") +
                 prediction_source_text(picture.plan->word);
  if (picture.observed)
    text +=
        QLatin1Char(' ') + FigureWords::tr("above %1").arg(source_text(picture.observed->source()));
  return text.toUpper();
}

// How long the first ranks of a run had begun when its last one came, which its time leaves out;
// 0 where nobody could read the difference.
Nanoseconds before_the_last(const CollectivePicture& picture) {
  if (!picture.observed || picture.hides_run()) return Nanoseconds(0);
  const double seconds = picture.run->seen.seconds;
  const Nanoseconds whole = picture.observed->duration();
  if (seconds_text(seconds) == time_text(whole)) return Nanoseconds(0);
  return std::max(Nanoseconds(0), whole - Nanoseconds(std::llround(seconds * 1e9)));
}

// The end of the time axis, and what of it the run's time is.
QString end_text(const CollectivePicture& picture) {
  const QString end = time_text(picture.horizon());
  return before_the_last(picture).count() == 0
             ? end
             : FigureWords::tr("run: %1 from the dotted line")
                       .arg(seconds_text(picture.run->seen.seconds)) +
                   QStringLiteral(" \u00b7 ") + end;
}

// What the right end of the lanes' head says.
QString lanes_note(const CollectivePicture& picture) {
  if (picture.hides_predicted() && picture.hides_run()) return kHidden;
  if (picture.observed && !picture.hides_run() && picture.run) {
    const QString which = FigureWords::tr("repeat %1 of %2, the median")
                              .arg(picture.run->seen.timeline.step)
                              .arg(picture.run->seen.timeline.steps);
    const bool evidence = picture.run->seen.source == Source::kMeasured;
    return evidence ? which
                    : which + QStringLiteral(" \u00b7 ") + FigureWords::tr("not evidence of speed");
  }
  if (picture.run && picture.stale && picture.times_compare && !picture.hides_run())
    return FigureWords::tr("run of other settings: %1")
        .arg(collective_title(picture.run->plan->collective.spec));
  if (!picture.times_compare)
    return FigureWords::tr("assumed links, %1 and %2; a run is on this computer")
        .arg(seconds_text(picture.plan->network.latency_seconds),
             rate_text(picture.plan->network.bytes_per_second));
  return FigureWords::tr("press Run to see your ranks do it");
}

}  // namespace

void paint_steps(QPainter& painter, const CollectivePicture& picture,
                 const CollectiveLayout& layout, const Theme& theme, TextLog* texts) {
  QFont caps = theme.caps();
  caps.setCapitalization(QFont::MixedCase);
  const QString title = lanes_title(picture), note = lanes_note(picture);
  const double taken =
      std::min(QFontMetricsF(caps).horizontalAdvance(title), layout.lanes_head.width());
  put_elided(painter, layout.lanes_head, Qt::AlignVCenter, title, caps, theme.muted, texts);
  const double room = layout.lanes_head.width() - taken - 20;
  const double note_width =
      std::min(room, QFontMetricsF(theme.font(11)).horizontalAdvance(note) + 1);
  if (room > 60)
    put_elided(
        painter,
        QRectF(layout.lanes_head.right() - note_width, layout.lanes_head.top(), note_width, 18),
        Qt::AlignVCenter, note, theme.font(11), theme.muted, texts);
  const QFont name = theme.font(layout.lane_pitch > 20 ? 12 : 10);
  for (int rank = 0; rank < layout.ranks; ++rank) {
    const QRectF above = layout.lane(rank, false), below = layout.lane(rank, true);
    put_text(painter, QRectF(layout.lanes.left(), above.top(), 66, below.bottom() - above.top()),
             Qt::AlignVCenter, FigureWords::tr("Rank %1").arg(rank), name, theme.text, texts);
    if (!picture.hides_predicted()) paint_lane(painter, picture, layout, rank, false, theme);
    if (picture.observed && !picture.hides_run() && rank < picture.observed->plan().ranks())
      paint_lane(painter, picture, layout, rank, true, theme);
  }
  const double y = layout.lanes.bottom() + 2;
  if (!picture.hides_predicted()) {
    QString last;
    double free = 0;
    for (int step = 0; step < picture.predicted->steps(); ++step) {
      const QString phase = phase_of(*picture.plan, step);
      if (phase == last) continue;
      last = phase;
      const double x = layout.x_of(picture.predicted->step_span(step).begin, picture.horizon());
      const double width = QFontMetricsF(theme.font(11)).horizontalAdvance(phase);
      if (x < free || phase.isEmpty()) continue;
      put_text(painter, QRectF(x, y, width + 4, 15), Qt::AlignVCenter, phase, theme.font(11),
               theme.muted, texts);
      free = x + width + 12;
    }
    const QString end = end_text(picture);
    const double width = QFontMetricsF(theme.font(11)).horizontalAdvance(end);
    if (layout.lane_left + layout.lane_width - width > free)
      put_text(painter, QRectF(layout.lane_left, y, layout.lane_width, 15),
               Qt::AlignVCenter | Qt::AlignRight, end, theme.font(11), theme.muted, texts);
  }
  // The time of a run counts from when its last rank has come; some have begun before.
  if (const Nanoseconds before = before_the_last(picture); before.count() > 0) {
    const double x = layout.x_of(before, picture.horizon());
    painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
    painter.drawLine(QPointF(x, layout.lanes.top() - 3), QPointF(x, layout.lanes.bottom() + 2));
  }
  if (picture.hides_predicted() && (picture.hides_run() || !picture.observed)) return;
  const double x = layout.x_of(picture.playhead, picture.horizon());
  painter.setPen(QPen(theme.mark, 1.5));
  painter.drawLine(QPointF(x, layout.lanes.top() - 6), QPointF(x, layout.lanes.bottom() + 4));
}

std::vector<CostRow> cost_rows(const CollectivePicture& picture) {
  const CollectivePlan& plan = *picture.plan;
  const CollectiveHidden& hidden = picture.hidden;
  const CollectiveRun* run = picture.stale || hidden.run ? nullptr : picture.run;
  const auto most = [](const std::vector<std::int64_t>& bytes) {
    return bytes.empty() ? std::int64_t{0} : *std::max_element(bytes.begin(), bytes.end());
  };
  const auto spread = [&](const std::vector<std::int64_t>& bytes) {
    if (bytes.empty()) return bytes_text(0);
    const auto [least, greatest] = std::minmax_element(bytes.begin(), bytes.end());
    return *least == *greatest ? bytes_text(*greatest)
                               : FigureWords::tr("\u2264 %1").arg(bytes_text(most(bytes)));
  };
  const auto formula = [&](const char* kind) { return formula_about(plan, kind); };
  const auto told = [&](CostRow row, const Formula* by, bool asked, const QString& more = {}) {
    if (by && !asked) {
      if (row.formula.isEmpty()) row.formula = sentence(by->expression);
      QStringList equal{sentence(by->expression), QString::fromStdString(by->values),
                        value_text(by->value, by->unit)};
      equal.removeDuplicates();
      row.source = equal.join(QStringLiteral(" = ")) + QLatin1Char('\n') + sentence(by->source);
      if (!by->note.text.empty()) row.source += QLatin1Char('\n') + sentence(by->note);
      if (!more.isEmpty()) row.source += QLatin1Char('\n') + more;
    }
    if (asked && run) row.observed = kHidden;
    if (asked || hidden.predicted) row.predicted = kHidden;
    if (asked || hidden.predicted || hidden.formulas)
      row.formula.clear(), row.source.clear(), row.factor.clear();
    return row;
  };
  const QString none = QStringLiteral("\u2013");
  const QString counted =
      run ? FigureWords::tr(
                "A run's time is from when its last rank began to when its last one ended.")
          : QString();
  const Formula* factor = formula("bandwidth");
  QString bus = QStringLiteral("S / t");
  if (factor && factor->expression.text != "1")
    bus += QStringLiteral(" \u00b7 ") + sentence(factor->expression);
  return {told({FigureWords::tr("Sent per rank"),
                {},
                spread(plan.cost.sent_bytes),
                run ? spread(run->seen.sent_bytes) : none,
                {}},
               formula("traffic"), hidden.sent_bytes),
          told({FigureWords::tr("Steps"),
                {},
                count_text(plan.steps()),
                run ? count_text(run->plan->steps()) : none,
                {}},
               formula("steps"), hidden.steps),
          told({FigureWords::tr("Time"),
                {},
                seconds_text(plan.cost.seconds),
                run ? seconds_text(run->seen.seconds) : none,
                {},
                factor_text(plan, formula("time"))},
               formula("time"), hidden.seconds, counted),
          told({FigureWords::tr("Algorithm bandwidth"),
                QStringLiteral("S / t"),
                rate_text(plan.cost.algorithm_bandwidth),
                run ? rate_text(run->seen.algorithm_bandwidth) : none,
                {}},
               nullptr, hidden.algorithm_bandwidth),
          told({FigureWords::tr("Bus bandwidth"),
                bus,
                rate_text(plan.cost.bus_bandwidth),
                run ? rate_text(run->seen.bus_bandwidth) : none,
                {}},
               factor, hidden.bus_bandwidth)};
}

namespace {

// "a", "+ b", "+ (c + d)".
QStringList terms_of(const QString& formula) {
  QStringList terms{QString()};
  int depth = 0;
  for (const QChar letter : formula) {
    depth += int(letter == QLatin1Char('(')) - int(letter == QLatin1Char(')'));
    if (letter == QLatin1Char('+') && depth == 0) {
      terms.back() = terms.back().trimmed();
      terms << QString();
    }
    terms.back() += letter;
  }
  return terms;
}

// Between what the rows are and the figures; 0 where that is too narrow for any.
double formula_column(double width) {
  const double room = width - kWords - 2 * kColumn - 2;
  return room < kLeastFormula ? 0 : room;
}

bool fits_beside(const QString& formula, double width) {
  const QFontMetricsF metrics(light_theme().font(kFormulaFont));
  const double column = formula_column(width);
  return formula.isEmpty() || (column > 0 && metrics.horizontalAdvance(formula) <= column);
}

}  // namespace

QStringList lines_below(const CostRow& row, double width) {
  const QFont font = light_theme().font(kFormulaFont);
  const QFontMetricsF metrics(font);
  QStringList lines;
  // Broken between terms where one line is too short.
  if (!fits_beside(row.formula, width))
    for (const QString& term : terms_of(row.formula)) {
      const QString longer = lines.isEmpty() ? term : lines.back() + QLatin1Char(' ') + term;
      if (!lines.isEmpty() && metrics.horizontalAdvance(longer) <= width)
        lines.back() = longer;
      else
        lines << term;
    }
  if (!row.factor.isEmpty()) lines << broken_lines(row.factor, font, width, 3);
  return lines;
}

void paint_costs(QPainter& painter, const CollectivePicture& picture,
                 const CollectiveLayout& layout, const Theme& theme, TextLog* texts) {
  const QRectF rect = layout.cost;
  if (painter.hasClipping() && !painter.clipBoundingRect().intersects(rect.united(layout.verdict)))
    return;
  QFont caps = theme.caps();
  caps.setCapitalization(QFont::MixedCase);
  put_elided(painter, QRectF(rect.left(), rect.top(), rect.width(), 18), Qt::AlignVCenter,
             FigureWords::tr("Cost of this run").toUpper(), caps, theme.muted, texts);
  const QFont plain = theme.font(12), bold = theme.font(12, true), small = theme.font(kFormulaFont);
  const bool fresh = picture.run && !picture.stale;
  const QRectF head(rect.left(), rect.top() + 22, rect.width(), 18);
  const double last = head.right() - kColumn, before = last - kColumn;
  const double column = formula_column(rect.width());
  if (column > 0)
    put_text(painter, QRectF(rect.left() + kWords, head.top(), 80, 18), Qt::AlignVCenter,
             FigureWords::tr("formula"), small, theme.muted, texts);
  put_text(painter, QRectF(before, head.top(), kColumn - 4, 18), Qt::AlignVCenter | Qt::AlignRight,
           prediction_source_text(picture.plan->word).section(QLatin1Char(','), 0, 0), small,
           theme.muted, texts);
  put_elided(painter, QRectF(last, head.top(), kColumn, 18), Qt::AlignVCenter | Qt::AlignRight,
             fresh ? source_text(picture.run->seen.source) : FigureWords::tr("not run"), small,
             theme.muted, texts);
  const std::vector<CostRow> rows = cost_rows(picture);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const QRectF line = layout.cost_row(int(at));
    painter.fillRect(QRectF(line.left(), line.bottom() - 1, line.width(), 1), theme.grid);
    put_elided(painter, QRectF(line.left(), line.top(), kWords - 4, 26), Qt::AlignVCenter,
               rows[at].what, plain, theme.text, texts);
    if (fits_beside(rows[at].formula, rect.width()))
      put_text(painter, QRectF(line.left() + kWords, line.top(), column, 26), Qt::AlignVCenter,
               rows[at].formula, small, theme.muted, texts);
    double y = line.top() + 22;
    for (const QString& part : lines_below(rows[at], rect.width())) {
      put_text(painter, QRectF(line.left(), y, line.width(), 14), Qt::AlignVCenter, part, small,
               theme.muted, texts);
      y += 13;
    }
    put_text(painter, QRectF(before, line.top(), kColumn - 4, 26),
             Qt::AlignVCenter | Qt::AlignRight, rows[at].predicted, plain, theme.text, texts);
    put_text(painter, QRectF(last, line.top(), kColumn, 26), Qt::AlignVCenter | Qt::AlignRight,
             rows[at].observed, bold, theme.text, texts);
  }
  QString verdict = FigureWords::tr("Run it, and every cell of every rank is compared.");
  QColor ink = theme.muted;
  if (fresh && !picture.hides_run()) {
    const CollectiveObservation& seen = picture.run->seen;
    if (seen.correct) {
      verdict = FigureWords::tr("%1: verified cell by cell.")
                    .arg(result_sentence(picture.plan->collective.spec));
      ink = theme.good;
    } else {
      verdict = FigureWords::tr("%1 cells are wrong.").arg(count_text(seen.wrong_cells));
      if (!seen.wrong.empty())
        verdict += QLatin1Char(' ') +
                   FigureWords::tr("The first: rank %1, element %2 is %3, not %4.")
                       .arg(seen.wrong[0].rank)
                       .arg(seen.wrong[0].element)
                       .arg(number_text(seen.wrong[0].found), number_text(seen.wrong[0].expected));
      ink = theme.mark;
    }
  }
  // Two lines at most.
  const QFontMetricsF metrics(plain);
  QString first = verdict, second;
  if (metrics.horizontalAdvance(verdict) > layout.verdict.width()) {
    int cut = int(verdict.size());
    while (cut > 0 && metrics.horizontalAdvance(verdict.left(cut)) > layout.verdict.width())
      cut = int(verdict.lastIndexOf(QLatin1Char(' '), cut - 1));
    if (cut > 0) first = verdict.left(cut), second = verdict.mid(cut + 1);
  }
  put_elided(painter, QRectF(layout.verdict.topLeft(), QSizeF(layout.verdict.width(), 17)),
             Qt::AlignVCenter, first, plain, ink, texts);
  put_elided(painter,
             QRectF(layout.verdict.left(), layout.verdict.top() + 17, layout.verdict.width(), 17),
             Qt::AlignVCenter, second, plain, ink, texts);
}

}  // namespace parallelarium
