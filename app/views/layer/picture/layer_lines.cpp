// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/layer_lines.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct LineWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kLinesMargin = 16, kFigureLine = 16, kBetweenCuts = 8;

const LayerRankStep& part_in(const LayerBrush& brush, int step, int rank) {
  return brush.picture.layer->steps[std::size_t(step)].ranks[std::size_t(rank)];
}

QString words_about_scale(const LayerPicture& picture, const LayerLayout& layout) {
  const bool draws =
      std::any_of(layout.halves.begin(), layout.halves.end(), [](const LayerHalf& half) {
        return std::any_of(half.boxes.begin(), half.boxes.end(),
                           [](const LayerBox& box) { return box.mark == LayerMark::kTensor; });
      });
  if (!draws) return {};
  if (picture.shows_differences())
    return LineWords::tr(
        "Numbers of the first training step, averaged down to cells. Difference: of both sides of "
        "a collective; one rank: from what it computes alone. \u2013: nothing to compare, a click "
        "says why.");
  const QString scale = layout.one_scale
                            ? LineWords::tr("Matrices are to one scale.")
                            : LineWords::tr("Widths are to one scale, tokens to another.");
  return rows_are_drawn(picture, layout) ? scale + QLatin1Char(' ') + row_runs_legend(picture)
                                         : scale;
}

}  // namespace

QStringList scale_lines(const LayerPicture& picture, const LayerLayout& layout) {
  const QFont font = light_theme().font(11);  // both themes have the same fonts
  const double wide = layout.size.width() - 2 * kLinesMargin;
  QStringList lines;
  for (const QString& word :
       words_about_scale(picture, layout).split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const QString longer = lines.isEmpty() ? word : lines.back() + QLatin1Char(' ') + word;
    if (lines.isEmpty() || label_width(font, longer) > wide)
      lines << word;
    else
      lines.back() = longer;
  }
  return lines;
}

void put_centred(const LayerBrush& brush, const QRectF& rect, const QString& text,
                 const QFont& font, const QColor& color) {
  if (label_width(font, text) <= rect.width())
    return put_label(brush.painter, rect, text, font, color, brush.texts);
  put_elided(brush.painter, rect, Qt::AlignCenter, text, font, color, brush.texts);
}

void paint_cuts(const LayerBrush& brush, const LayerHalf& half) {
  const QFont font = brush.theme.font(10);
  struct Cut {
    double left = 0, right = 0;  // of the column
    QStringList texts;
  };
  std::vector<Cut> cuts;
  for (const LayerColumn& column : half.columns) {
    const QStringList texts = layer_cut_texts(brush.picture.layer->steps[std::size_t(column.step)]);
    if (!texts.isEmpty()) cuts.push_back({column.left, column.left + column.width, texts});
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.left < b.left; });
  const double y = half.top + 2 * kLayerNameLine - 2;
  double from = kLinesMargin;
  for (std::size_t at = 0; at < cuts.size(); ++at) {
    const Cut& cut = cuts[at];
    const double to = at + 1 < cuts.size()
                          ? cuts[at + 1].left - kBetweenCuts
                          : std::max(cut.right, brush.layout.size.width() - kLinesMargin);
    const double left = std::min(from, cut.left), room = to - left;
    const QString text = longest_that_fits(cut.texts, font, room);
    const double wide = std::min(label_width(font, text), room);
    const double x =
        std::clamp((cut.left + cut.right - wide) / 2, left, std::max(left, left + room - wide));
    put_elided(brush.painter, QRectF(x, y, wide, 15), Qt::AlignVCenter, text, font,
               brush.theme.accent_line, brush.texts);
    from = x + wide + kBetweenCuts;
  }
}

void paint_figures(const LayerBrush& brush, const LayerHalf& half) {
  const Theme& theme = brush.theme;
  const int rank = brush.picture.look.rank;
  double y = half.figures_top;
  const auto row = [&](const QString& title, auto&& text_of) {
    brush.painter.fillRect(QRectF(kLinesMargin, y, brush.layout.size.width() - 2 * kLinesMargin, 1),
                           theme.hairline);
    put_elided(brush.painter, QRectF(kLinesMargin, y, 86, kFigureLine), Qt::AlignVCenter, title,
               theme.font(11, true), theme.muted, brush.texts);
    for (const LayerColumn& column : half.columns) {
      const QString text = text_of(column.step);
      const bool none = text == QLatin1String("0") || text == QLatin1String("\u2013");
      put_centred(brush, QRectF(column.left, y, column.width, kFigureLine), text,
                  theme.font(11, !none), none ? theme.muted : theme.text);
    }
    y += kFigureLine;
  };
  if (brush.picture.look.figures) {
    const QString none = QStringLiteral("\u2013");
    row(QStringLiteral("FLOP"), [&](int step) {
      const LayerRankStep& part = part_in(brush, step, rank);
      if (part.flops <= 0) return none;
      return brush.picture.hides_flops ? kHidden : value_text(part.flops, "flops");
    });
    row(LineWords::tr("FLOP per byte"), [&](int step) {
      const LayerRankStep& part = part_in(brush, step, rank);
      if (part.flops <= 0 || part.moved_bytes <= 0) return none;
      return brush.picture.hides_flops ? kHidden
                                       : number_text(part.flops / double(part.moved_bytes));
    });
  }
  const LayerInside* inside = brush.picture.look.inside.get();
  if (brush.picture.shows_differences())
    row(LineWords::tr("difference"), [&](int step) {
      const InsideIdentity* identity = inside->identity_of(step);
      return identity ? QLocale().toString(identity->largest_difference, 'g', 1)
                      : QStringLiteral("\u2013");
    });
  if (brush.picture.shows_differences())
    row(LineWords::tr("one rank"), [&](int step) {
      const InsideIdentity* identity = inside->identity_of(step);
      return identity && identity->one_rank_difference
                 ? QLocale().toString(*identity->one_rank_difference, 'g', 1)
                 : QStringLiteral("\u2013");
    });
  row(LineWords::tr("sent"), [&](int step) { return layer_sent_text(brush.picture, step, rank); });
  if (!brush.picture.layer->choice.backward)
    row(LineWords::tr("kept"),
        [&](int step) { return layer_kept_text(brush.picture, step, rank); });
}

}  // namespace parallelarium
