// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of all columns as rows, and the causes of a difference as bars that add up.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/sentence.h"
#include "app/views/compare/compare_paint.h"
#include "app/views/compare/compare_words.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kCompareHead = 22, kCompareRow = 20;
constexpr double kMetric = 160, kValue = 78, kDifference = 96;
constexpr double kCause = 205, kCauseValue = 84, kCauseBar = 12;

struct CompareTable {
  Q_DECLARE_TR_FUNCTIONS(CompareView)
};

QColor cause_color(CauseKind kind, const Theme& theme) {
  if (kind == CauseKind::kCompute) return theme.solid(OpColor::kBackward);
  if (kind == CauseKind::kRecompute) return theme.solid(OpColor::kForward);
  if (kind == CauseKind::kOptimizer) return theme.solid(OpColor::kOptimizer);
  return theme.solid(OpColor::kCommunication);
}

void fill_cause(QPainter& painter, const QRectF& bar, const Cause& cause, const Theme& theme) {
  if (cause.is_bubble()) {
    paint_hatching(painter, bar, theme);
  } else if (cause.kind == CauseKind::kRest) {
    painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar);
  } else {
    painter.fillRect(bar, cause_color(cause.kind, theme));
  }
}

}  // namespace

void paint_letter(QPainter& painter, const QPointF& top_left, std::size_t column, bool chosen,
                  const Theme& theme, TextLog* texts) {
  const QRectF box(top_left, QSizeF(kLetterChip, kLetterChip));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.text, 1));
  painter.setBrush(chosen ? QBrush(theme.text) : QBrush(theme.surface));
  painter.drawRoundedRect(box, 3, 3);
  put_text(painter, box, Qt::AlignCenter, letter_of(column), theme.font(11, true),
           chosen ? theme.surface : theme.text, texts);
}

double figures_width(const ComparedEntries& comparison) {
  const auto columns = double(comparison.entries.size());
  return kMetric + columns * kValue + std::max(0.0, columns - 1) * kDifference;
}

double paint_compared_figures(QPainter& painter, const QRectF& rect,
                              const ComparedEntries& comparison, const Theme& theme,
                              CompareHits* hits, TextLog* texts) {
  const std::size_t columns = comparison.entries.size();
  const QFont plain = theme.font(12), bold = theme.font(12, true);
  const double stretch = std::min(1.25, rect.width() / figures_width(comparison));
  const double value = kValue * stretch, difference = kDifference * stretch;
  const double first = rect.left() + kMetric * stretch;
  double y = rect.top();
  const QString head = columns > 1 ? CompareTable::tr("Differences") : CompareTable::tr("Figures");
  put_caps(painter, QRectF(rect.left(), y, kMetric * stretch, kCompareHead), head, theme, texts);
  const double last = first + double(columns) * value + double(columns - 1) * difference;
  for (std::size_t at = 0; at < columns; ++at) {
    const QRectF cell(first + double(at) * value, y, value, kCompareHead);
    const bool chosen = at > 0 && at == comparison.chosen;
    paint_letter(painter, QPointF(cell.right() - kLetterChip, cell.top() + 3), at, chosen, theme,
                 texts);
    if (hits && at > 0) hits->columns.emplace_back(cell, at);
    if (at == 0) continue;
    const QRectF less(first + double(columns) * value + double(at - 1) * difference, y, difference,
                      kCompareHead);
    put_text(painter, less, Qt::AlignVCenter | Qt::AlignRight,
             QStringLiteral("%1 − A").arg(letter_of(at)), bold, theme.text, texts);
    if (hits) hits->columns.emplace_back(less, at);
  }
  y += kCompareHead;
  for (std::size_t row = 0; row < comparison.beside.rows.size(); ++row) {
    put_elided(painter, QRectF(rect.left(), y, kMetric * stretch - 4, kCompareRow),
               Qt::AlignVCenter, compared_text(comparison.beside.rows[row].metric), plain,
               theme.text, texts);
    const auto note = [&](const QRectF& cell, const QString& why) {
      if (hits && !why.isEmpty()) hits->reasons.emplace_back(cell, why);
    };
    for (std::size_t at = 0; at < columns; ++at) {
      const QRectF cell(first + double(at) * value + 4, y, value - 4, kCompareRow);
      put_elided(painter, cell, Qt::AlignVCenter | Qt::AlignRight, value_cell(comparison, row, at),
                 plain, theme.text, texts);
      note(cell, why_no_value(comparison, row, at));
      if (at == 0) continue;
      const bool stands = difference_stands(comparison, row, at);
      const QRectF less(first + double(columns) * value + double(at - 1) * difference + 4, y,
                        difference - 4, kCompareRow);
      put_elided(painter, less, Qt::AlignVCenter | Qt::AlignRight,
                 difference_cell(comparison, row, at), stands ? bold : plain,
                 stands ? theme.text : theme.muted, texts);
      note(less, why_no_difference(comparison, row, at));
    }
    y += kCompareRow;
    painter.fillRect(QRectF(rect.left(), y - 1, last - rect.left(), 1), theme.hairline);
  }
  const std::vector<QStringList> published = published_rows(comparison);
  if (!published.empty()) {
    y += 8;
    put_caps(painter, QRectF(rect.left(), y, rect.width(), kCompareHead),
             CompareTable::tr("As it was published"), theme, texts);
    y += kCompareHead;
  }
  for (const QStringList& row : published) {
    put_elided(painter, QRectF(rect.left(), y, kMetric * stretch - 4, kCompareRow),
               Qt::AlignVCenter, row[0], plain, theme.text, texts);
    for (std::size_t at = 0; at < columns; ++at)
      put_elided(painter, QRectF(first + double(at) * value + 4, y, value - 4, kCompareRow),
                 Qt::AlignVCenter | Qt::AlignRight, row[qsizetype(at) + 1], plain, theme.text,
                 texts);
    y += kCompareRow;
    painter.fillRect(QRectF(rect.left(), y - 1, last - rect.left(), 1), theme.hairline);
  }
  y += 4;
  for (const QString& note : compare_notes(comparison))
    y += put_lines(painter, QRectF(rect.left(), y, rect.width(), 18), note, theme.font(11),
                   theme.muted, texts);
  return y - rect.top();
}

double paint_causes(QPainter& painter, const QRectF& rect, const ComparedEntries& comparison,
                    const Theme& theme, TextLog* texts) {
  double y = rect.top();
  put_caps(painter, QRectF(rect.left(), y, rect.width(), kCompareHead), causes_title(comparison),
           theme, texts);
  y += kCompareHead;
  const QFont plain = theme.font(12), bold = theme.font(12, true);
  const Explained& explained = comparison.explained;
  if (comparison.hidden_causes || explained.causes.empty()) {
    const QString said = comparison.hidden_causes ? CompareTable::tr("Hidden until you answer.")
                         : explained.without_causes
                             ? sentence(*explained.without_causes)
                             : CompareTable::tr("The steps are equal, part by part.");
    return y - rect.top() +
           put_lines(painter, QRectF(rect.left(), y, rect.width(), 18), said, plain, theme.muted,
                     texts);
  }
  // Each bar begins where the one before ends, so that the last ends at the whole difference.
  double at = 0, least = 0, most = 0;
  for (const Cause& cause : explained.causes) {
    at += cause.seconds;
    least = std::min(least, at);
    most = std::max(most, at);
  }
  const QRectF bars(rect.left() + kCause, y, rect.width() - kCause - kCauseValue, 0);
  const double scale = most > least ? bars.width() / (most - least) : 0;
  const auto place = [&](double seconds) { return bars.left() + (seconds - least) * scale; };
  const auto line = [&](const QString& name, double seconds, const QFont& font) {
    put_elided(painter, QRectF(rect.left(), y, kCause - 8, kCompareRow), Qt::AlignVCenter, name,
               font, theme.text, texts);
    put_text(painter, QRectF(rect.right() - kCauseValue, y, kCauseValue, kCompareRow),
             Qt::AlignVCenter | Qt::AlignRight, seconds_difference_text(seconds), bold, theme.text,
             texts);
  };
  const double top = y;
  const auto rows = double(explained.causes.size());
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.fillRect(QRectF(place(0), top, 1, (rows + 1) * kCompareRow), theme.control_line);
  double sum = 0;
  for (const Cause& cause : explained.causes) {
    line(sentence(words_of(cause)), cause.seconds, plain);
    const double from = place(sum), to = place(sum + cause.seconds);
    const QRectF bar(std::min(from, to), y + (kCompareRow - kCauseBar) / 2,
                     std::max(1.0, std::abs(to - from)), kCauseBar);
    fill_cause(painter, bar, cause, theme);
    sum += cause.seconds;
    painter.fillRect(QRectF(place(sum), bar.bottom(), 1, kCompareRow - kCauseBar),
                     theme.control_line);
    y += kCompareRow;
  }
  painter.fillRect(QRectF(rect.left(), y, rect.width(), 1), theme.control_line);
  line(CompareTable::tr("together"), sum, bold);
  painter.fillRect(QRectF(std::min(place(0), place(sum)), y + 6, std::abs(sum) * scale, 8),
                   theme.text);
  y += kCompareRow + 4;
  y += put_lines(painter, QRectF(rect.left(), y, rect.width(), 18),
                 CompareTable::tr("Means over the ranks. Bars to the right make the step longer."),
                 theme.font(11), theme.muted, texts);
  return y - rect.top();
}

}  // namespace parallelarium
