// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/legend_words.h"

namespace parallelarium {
namespace {

constexpr double kLegendMark = 15, kLegendMarkHigh = 10, kBeforeLegendWord = 20,
                 kAfterLegendWord = 13;
constexpr int kLegendFont = 11;

// Calls `place` with each word and where its mark and its text stand; returns how many lines that
// takes.
template <class Place>
int place_legend_words(const std::vector<LegendWord>& words, double width, Place&& place) {
  const QFont font = light_theme().font(kLegendFont);  // both themes have the same fonts
  double x = 0;
  int line = 0;
  for (const LegendWord& word : words) {
    const double wide = kBeforeLegendWord + label_width(font, word.text) + 2;
    if (x > 0 && x + wide > width) x = 0, ++line;
    place(word, QRectF(x, line * kLegendLine, wide, kLegendLine));
    x += wide + kAfterLegendWord;
  }
  return line + 1;
}

}  // namespace

int legend_lines(const std::vector<LegendWord>& words, double width) {
  return place_legend_words(words, width, [](const LegendWord&, const QRectF&) {});
}

void paint_legend_words(QPainter& painter, const std::vector<LegendWord>& words,
                        const QPointF& from, double width, const Theme& theme, TextLog* texts) {
  place_legend_words(words, width, [&](const LegendWord& word, const QRectF& placed) {
    const QRectF at = placed.translated(from);
    word.mark(painter,
              QRectF(at.left() + 0.5, at.center().y() - kLegendMarkHigh / 2, kLegendMark,
                     kLegendMarkHigh),
              theme);
    put_text(painter, at.adjusted(kBeforeLegendWord, 0, 0, 0), Qt::AlignVCenter, word.text,
             theme.font(kLegendFont), theme.muted, texts);
  });
}

}  // namespace parallelarium
