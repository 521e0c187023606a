// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/picture/search_paint.h"

#include <QCoreApplication>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/search_words.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kMargin = 16, kGap = 14, kHead = 22, kLine = 18;
constexpr double kSideBySide = 640, kScatterShare = 0.6;
constexpr double kScatterHeight = 270, kLowScatter = 200;  // the latter leaves the table room
constexpr double kArrow = 30, kTip = 9;
constexpr std::size_t kMostReasons = 8, kMostChanges = 6;

struct Search {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

QPainterPath arrow_in(const QRectF& rect, bool begins) {
  QPainterPath path(rect.topLeft());
  path.lineTo(rect.right() - kTip, rect.top());
  path.lineTo(rect.right(), rect.center().y());
  path.lineTo(rect.right() - kTip, rect.bottom());
  path.lineTo(rect.left(), rect.bottom());
  if (!begins) path.lineTo(rect.left() + kTip, rect.center().y());
  path.closeSubpath();
  return path;
}

}  // namespace

double paint_funnel(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                    const Theme& theme, SearchHits* hits, TextLog* texts) {
  const PlanAnswer& answer = *picture.answer;
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width(), kHead), funnel_title(answer),
           theme, texts);
  struct Part {
    std::int64_t count;
    QString word;
    int loses;  // the class that the arrow loses; -1: none
    double share;
  };
  const Part parts[] = {{answer.candidates, Search::tr("candidates"), PlanAnswer::kRefused, 0.26},
                        {answer.valid, Search::tr("are valid"), PlanAnswer::kDoesNotFit, 0.24},
                        {answer.fitting, Search::tr("may fit"), PlanAnswer::kBounded, 0.24},
                        {answer.counts[PlanAnswer::kSimulated], Search::tr("simulated"), -1, 0.26}};
  double x = rect.left();
  const double top = rect.top() + kHead;
  const QFont bold = theme.font(13, true), plain = theme.font(12);
  for (const Part& part : parts) {
    const QRectF box(x, top, rect.width() * part.share - 4, kArrow);
    const bool last = part.loses < 0;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillPath(arrow_in(box, x == rect.left()), last ? theme.accent : theme.accent_soft);
    const QColor ink = theme.ink_on(last ? theme.accent : theme.accent_soft);
    const QString count = count_text(part.count);
    const QRectF inside = box.adjusted(kTip + 5, 0, -kTip - 2, 0);
    const double wide = QFontMetricsF(bold).horizontalAdvance(count);
    put_text(painter, inside, Qt::AlignVCenter, count, bold, ink, texts);
    put_elided(painter, inside.adjusted(wide + 7, 0, 0, 0), Qt::AlignVCenter, part.word, plain, ink,
               texts);
    if (!last) {
      const auto of = PlanAnswer::Class(part.loses);
      const bool opens = answer.counts[part.loses] > 0 && !answer.losses[part.loses].empty();
      const QString arrow = !opens                         ? QString()
                            : picture.opened == part.loses ? QStringLiteral(" ▾")
                                                           : QStringLiteral("\u00a0▸");
      const QRectF under(box.left(), box.bottom() + 4, box.width() - 4, kLine);
      put_elided(painter, under, Qt::AlignVCenter,
                 QStringLiteral("− %1 %2%3")
                     .arg(count_text(answer.counts[part.loses]), class_text(of), arrow),
                 plain, opens ? theme.accent_line : theme.muted, texts);
      if (hits && opens) hits->losses.emplace_back(under, of);
    }
    x += rect.width() * part.share;
  }
  double y = top + kArrow + 4 + kLine;
  if (picture.opened >= 0) {
    y += 4;
    std::size_t shown = 0;
    for (const PlanLoss& loss : answer.losses[picture.opened]) {
      if (shown++ == kMostReasons) break;
      put_text(painter, QRectF(rect.left(), y, 64, kLine), Qt::AlignVCenter | Qt::AlignRight,
               count_text(loss.count), plain, theme.text, texts);
      y += put_lines(painter, QRectF(rect.left() + 76, y, rect.width() - 76, kLine),
                     with_firm_units(Search::tr("for example: %1").arg(loss_text(loss))), plain,
                     theme.text, texts);
      const QRectF link(rect.left() + 76, y, rect.width() - 76, kLine);
      const double tall = put_lines(
          painter, link,
          with_firm_units(
              Search::tr("%1; open this one in Explore\u00a0▸").arg(axes_text(loss.example))),
          plain, theme.accent_line, texts);
      if (hits)
        hits->examples.emplace_back(QRectF(link.topLeft(), QSizeF(link.width(), tall)),
                                    &loss.example);
      y += tall + 4;
    }
  }
  return y - rect.top();
}

double paint_changes(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                     const Theme& theme, SearchHits* hits, TextLog* texts) {
  double y = rect.top();
  const QFont bold = theme.font(12, true), small = theme.font(11);
  if (!picture.value_head.isEmpty()) {
    put_caps(painter, QRectF(rect.left(), y, rect.width(), kHead), picture.value_head, theme,
             texts);
    y += kHead;
    const bool opens = picture.value_plan != nullptr;
    const double tall =
        put_lines(painter, QRectF(rect.left(), y, rect.width(), kLine - 2),
                  firm_text(picture.value_said) + (opens ? QStringLiteral("\u00a0▸") : QString()),
                  theme.font(12), opens ? theme.accent_line : theme.text, texts);
    if (opens && hits)
      hits->plans.push_back({QRectF(rect.left(), y, rect.width(), tall), picture.value_plan});
    y += tall + 10;
  }
  put_caps(painter, QRectF(rect.left(), y, rect.width(), kHead), picture.why_head, theme, texts);
  y += kHead;
  std::size_t shown = 0;
  for (const PlanWhy& why : picture.why) {
    if (shown++ == kMostChanges) break;
    const QString value = change_value(*picture.answer, why);
    const double wide = QFontMetricsF(bold).horizontalAdvance(value) + 8;
    double taken = 0;
    if (!why.change.text.empty()) {
      const QRectF line(rect.left(), y, rect.width() - wide, kLine);
      const QString change = firm_text(sentence(why.change));
      // Alone it has the place to say all of a long change.
      if (picture.why.size() == 1)
        taken = put_lines(painter, line, change, bold, theme.text, texts) - kLine;
      else
        put_elided(painter, line, Qt::AlignVCenter, change, bold, theme.text, texts);
      put_text(painter, QRectF(rect.left(), y, rect.width(), kLine),
               Qt::AlignVCenter | Qt::AlignRight, value, bold,
               why.seconds ? theme.text : theme.warning, texts);
    }
    QString reason = firm_text(sentence(why.sentence));
    const QString change = firm_text(sentence(why.change));
    if (reason.startsWith(change)) reason = capitalised(reason.mid(change.size()).trimmed());
    if (!why.change.text.empty()) y += std::max(0.0, taken) + kLine - 2;
    for (const QString& line : broken_lines(reason, small, rect.width(), 2)) {
      put_elided(painter, QRectF(rect.left(), y, rect.width(), kLine - 3), Qt::AlignVCenter, line,
                 small, theme.muted, texts);
      y += kLine - 3;
    }
    painter.fillRect(QRectF(rect.left(), y + 2, rect.width(), 1), theme.hairline);
    y += 5;
  }
  return y - rect.top();
}

namespace {

// What becomes of candidates, before there are any.
double paint_ends(QPainter& painter, const QRectF& rect, const Theme& theme, TextLog* texts) {
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width(), kHead),
           Search::tr("How each candidate ends"), theme, texts);
  const std::pair<QString, QString> ends[] = {
      {Search::tr("refused"), Search::tr("A rule of the settings forbids it.")},
      {Search::tr("does not fit"), Search::tr("A stage needs more memory than may be used.")},
      {Search::tr("ruled out"),
       Search::tr("By a lower bound that is proved it takes no less time and memory "
                  "than a plan that was simulated; or it is none of the fastest, and "
                  "too long to be simulated for its memory alone. It may tie with the "
                  "plans that are listed, but is not faster.")},
      {Search::tr("simulated"), Search::tr("It is predicted op by op, as in Explore. The fastest "
                                           "is found for certain.")}};
  constexpr double kName = 110;
  double y = rect.top() + kHead;
  for (const auto& [name, meaning] : ends) {
    put_text(painter, QRectF(rect.left(), y, kName, kLine), Qt::AlignVCenter, name,
             theme.font(12, true), theme.text, texts);
    y += put_lines(painter, QRectF(rect.left() + kName, y, rect.width() - kName, kLine), meaning,
                   theme.font(12), theme.muted, texts) +
         4;
  }
  return y - rect.top() + 12;
}

double paint_today(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                   const Theme& theme, SearchHits* hits, TextLog* texts) {
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width(), kHead), Search::tr("Today"),
           theme, texts);
  double y = rect.top() + kHead;
  const QFont bold = theme.font(12, true);
  y += put_lines(painter, QRectF(rect.left(), y, rect.width(), kLine), picture.today, bold,
                 theme.text, texts);
  if (!picture.today_figures.empty()) {
    constexpr double kNames = 90;
    const double wide =
        (std::min(rect.width(), 760.0) - kNames) / double(picture.today_figures.size());
    const QFont small = theme.font(11), plain = theme.font(12);
    put_text(painter, QRectF(rect.left(), y + kLine, kNames, kLine), Qt::AlignVCenter,
             Search::tr("today"), plain, theme.text, texts);
    put_text(painter, QRectF(rect.left(), y + 2 * kLine, kNames, kLine), Qt::AlignVCenter,
             Search::tr("the best"), plain, theme.text, texts);
    double x = rect.left() + kNames;
    for (const TodayFigure& figure : picture.today_figures) {
      const QRectF cell(x, y, wide - 8, kLine);
      const int flags = Qt::AlignVCenter | Qt::AlignRight;
      put_elided(painter, cell, flags, figure.title, small, theme.muted, texts);
      put_elided(painter, cell.translated(0, kLine), flags, figure.today, bold, theme.text, texts);
      put_elided(painter, cell.translated(0, 2 * kLine), flags, figure.best, plain, theme.text,
                 texts);
      x += wide;
    }
    y += 3 * kLine + 4;
  }
  for (const QString& line : picture.today_said) {
    const bool opens = picture.today_change && &line == &picture.today_said.back();
    const double tall = put_lines(painter, QRectF(rect.left(), y, rect.width(), kLine),
                                  firm_text(line) + (opens ? QStringLiteral("\u00a0▸") : QString()),
                                  theme.font(12), opens ? theme.accent_line : theme.muted, texts);
    if (opens && hits)
      hits->plans.push_back({QRectF(rect.left(), y, rect.width(), tall), picture.today_change});
    y += tall;
  }
  return y - rect.top();
}

double paint_title(QPainter& painter, double width, const SearchPicture& picture,
                   const Theme& theme, TextLog* texts) {
  constexpr double kTop = 10;
  const QRectF line(kMargin, kTop, width - 2 * kMargin - picture.beside_head, kLine);
  return kTop + put_lines(painter, line, picture.title, theme.font(14, true), theme.text, texts);
}

}  // namespace

double search_title_bottom(double width, const SearchPicture& picture, const Theme& theme) {
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  return paint_title(painter, width, picture, theme, nullptr);
}

namespace {

// All that the search found, below `y`; returns where that ends.
double paint_answer(QPainter& painter, double width, double y, const SearchPicture& picture,
                    const Theme& theme, SearchHits* hits, TextLog* texts) {
  const double inner = width - 2 * kMargin;
  const QFont plain = theme.font(12);
  const PlanAnswer& answer = *picture.answer;
  y += paint_recommended(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts);
  y += paint_funnel(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts) + kGap;
  if (answer.plans.empty()) {
    if (answer.least) {
      put_caps(painter, QRectF(kMargin, y, inner, kHead), Search::tr("None fits"), theme, texts);
      y += kHead;
      y += put_lines(painter, QRectF(kMargin, y, inner, kLine),
                     Search::tr("%1 comes nearest: it has %2 or more too much on one GPU.")
                         .arg(axes_text(answer.least->second), bytes_text(answer.least->first)),
                     theme.font(13), theme.text, texts);
      y += put_lines(painter, QRectF(kMargin, y, inner, kLine),
                     picture.limit_bytes < picture.device_bytes
                         ? Search::tr("A higher limit of memory, more GPUs, a shorter sequence or "
                                      "free axes would help.")
                         : Search::tr("More GPUs, a shorter sequence or free axes would help."),
                     plain, theme.muted, texts);
    }
    if (answer.points.empty()) return y + kMargin;
    y += kGap;
    paint_scatter(painter, QRectF(kMargin, y, inner, kScatterHeight), picture, theme, hits, texts);
    return y + kScatterHeight + kMargin;
  }
  const bool beside = width >= kSideBySide;
  const double left = beside ? inner * kScatterShare - 12 : inner;
  if (beside) {
    const double taken = paint_changes(
        painter, QRectF(kMargin + left + 28, y, inner - left - 28, 0), picture, theme, hits, texts);
    const double tall = std::clamp(taken, kLowScatter, kScatterHeight);
    paint_scatter(painter, QRectF(kMargin, y, left, tall), picture, theme, hits, texts);
    y += std::max(taken, tall) + kGap;
    y += paint_best(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts);
    y += paint_rules(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts);
  } else {
    paint_scatter(painter, QRectF(kMargin, y, left, kScatterHeight), picture, theme, hits, texts);
    y += kScatterHeight + kGap;
    y += paint_best(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts);
    y += paint_rules(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts) + kGap;
    y += paint_changes(painter, QRectF(kMargin, y, inner, 0), picture, theme, hits, texts);
  }
  return y + kMargin;
}

}  // namespace

double paint_search(QPainter& painter, double width, const SearchPicture& picture,
                    const Theme& theme, SearchHits* hits, TextLog* texts) {
  const double inner = width - 2 * kMargin;
  const QFont plain = theme.font(12);
  double y = paint_title(painter, width, picture, theme, texts);
  y = std::max(y, picture.beside_head > 0 ? 44.0 : 0.0) + picture.under_head;
  if (!picture.remark.isEmpty())
    y += put_lines(painter, QRectF(kMargin, y, inner, kLine), picture.remark, plain, theme.warning,
                   texts);
  if (!picture.status.isEmpty())
    y += put_lines(painter, QRectF(kMargin, y + 4, inner, kLine), picture.status, plain,
                   theme.muted, texts) +
         4;
  if (!picture.today.isEmpty())
    y += 8 + paint_today(painter, QRectF(kMargin, y + 8, inner, 0), picture, theme, hits, texts);
  if (!picture.answer)
    return y + paint_ends(painter, QRectF(kMargin, y + 12, inner, 0), theme, texts) + kMargin;
  painter.setOpacity(picture.outdated ? kDimmed : 1);
  const double bottom = paint_answer(painter, width, y + 8, picture, theme, hits, texts);
  painter.setOpacity(1);
  return bottom;
}

double search_height(double width, const SearchPicture& picture, const Theme& theme) {
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  return std::ceil(paint_search(painter, width, picture, theme, nullptr, nullptr));
}

}  // namespace parallelarium
