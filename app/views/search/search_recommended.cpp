// SPDX-License-Identifier: GPL-3.0-or-later
// The plans to look at first, with what limits each and how far its step can be trusted.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/search/search_words.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kAdviceHead = 22, kAdviceLine = 18, kStep = 120, kMemory = 84;

constexpr int kMostAdviceLines = 3;

struct AdviceTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

}  // namespace

double paint_recommended(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                         const Theme& theme, SearchHits* hits, TextLog* texts) {
  const PlanAnswer& answer = *picture.answer;
  if (answer.recommended.empty()) return 0;
  const QFont plain = theme.font(12), bold = theme.font(12, true), small = theme.font(11);
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width(), kAdviceHead),
           AdviceTexts::tr("Recommended"), theme, texts);
  const bool several = answer.gpu_counts().size() > 1;
  double y = rect.top() + kAdviceHead, merits = 0;
  for (const PlanAdvice& advice : answer.recommended)
    merits = std::max(merits, label_width(bold, merits_text(answer, advice.merits)) + 14);
  for (const PlanAdvice& advice : answer.recommended) {
    const FoundPlan& plan = advice.plan;
    const bool selected = picture.selected && picture.selected->setup == plan.setup;
    const QString needs = needs_text(picture.framework, plan.setup);
    const QString axes =
        several ? AdviceTexts::tr("%1 GPUs, %2").arg(plan.gpus).arg(axes_text(plan.setup))
                : axes_text(plan.setup);
    const double axes_left = merits + kStep + kMemory;
    const QStringList lines =
        broken_lines(firm_text(axes), plain, rect.width() - axes_left, kMostAdviceLines);
    const QStringList limits = broken_lines(
        AdviceTexts::tr("limited by: %1").arg(limits_text(plan, answer.capacity_bytes)), small,
        rect.width() - merits, kMostAdviceLines);
    const auto tall = double(lines.size() + limits.size()) + (needs.isEmpty() ? 0 : 1);
    const QRectF row(rect.left(), y, rect.width(), tall * kAdviceLine + 2);
    if (selected) painter.fillRect(row.adjusted(-4, 0, 4, -2), theme.accent_soft);
    const QColor ink = selected ? theme.ink_on(theme.accent_soft) : theme.text;
    const QRectF line(rect.left(), y, rect.width(), kAdviceLine);
    put_elided(painter, QRectF(line.left(), y, merits, kAdviceLine), Qt::AlignVCenter,
               merits_text(answer, advice.merits), bold, ink, texts);
    put_elided(painter, QRectF(line.left() + merits, y, kStep - 8, kAdviceLine), Qt::AlignVCenter,
               step_text(answer, plan), bold, ink, texts);
    put_elided(painter, QRectF(line.left() + merits + kStep, y, kMemory - 8, kAdviceLine),
               Qt::AlignVCenter, bytes_text(plan.bytes), plain, ink, texts);
    for (qsizetype at = 0; at < lines.size(); ++at)
      put_elided(painter, line.adjusted(axes_left, 0, 0, 0).translated(0, kAdviceLine * double(at)),
                 Qt::AlignVCenter, lines[at], plain, ink, texts);
    double under = y + kAdviceLine * double(lines.size()) - 1;
    for (const QString& limit : limits) {
      put_elided(painter, QRectF(line.left() + merits, under, line.width() - merits, kAdviceLine),
                 Qt::AlignVCenter, limit, small, selected ? ink : theme.muted, texts);
      under += kAdviceLine - 1;
    }
    put_elided(painter, QRectF(line.left() + merits, under, line.width() - merits, kAdviceLine),
               Qt::AlignVCenter, needs, small, selected ? ink : theme.warning, texts);
    if (hits) hits->plans.push_back({row, &plan});
    y += row.height() + 2;
  }
  QStringList why;
  for (const Message& each : answer.recommended_why) why << sentence(each);
  if (!why.isEmpty())
    y += put_lines(painter, QRectF(rect.left(), y, rect.width(), kAdviceLine),
                   why.join(QLatin1Char(' ')), small, theme.text, texts);
  if (answer.near_rows)
    y += put_lines(painter, QRectF(rect.left(), y, rect.width(), kAdviceLine),
                   with_firm_units(sentence(*answer.near_rows)), small, theme.text, texts);
  QString trust = sentence(answer.trust) + QLatin1Char(' ') + memory_trust_text(answer);
  if (answer.tie_threshold)
    trust += QLatin1Char(' ') + AdviceTexts::tr("Steps less than %1 apart are ties.")
                                    .arg(share_text(*answer.tie_threshold));
  y += put_lines(painter, QRectF(rect.left(), y, rect.width(), kAdviceLine), with_firm_units(trust),
                 small, theme.muted, texts);
  const QRectF link(rect.left(), y, rect.width(), kAdviceLine);
  y += put_lines(painter, link,
                 AdviceTexts::tr("Published runs of %1 …\u00a0▸").arg(model_title(answer)), small,
                 theme.accent_line, texts);
  if (hits) hits->published = QRectF(link.topLeft(), QPointF(link.right(), y));
  return y - rect.top() + 8;
}

}  // namespace parallelarium
