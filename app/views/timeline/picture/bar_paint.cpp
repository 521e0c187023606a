// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/bar_paint.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

constexpr double kLeastMergedText = 30;  // narrower blocks of merged bars say nothing
constexpr double kLabelAir = 4;          // of a bar beside its label
constexpr double kChunkMark = 2;         // width of the mark of a chunk,
constexpr int kSmallFont = 9;            // and of the numbers in bars that have one, where need be
constexpr double kLeastWait = 2;         // pixels of waiting inside a bar
constexpr double kRounded = 12;          // bars of this width and more get round corners,
constexpr double kMostRounded =
    32;  // unless there is one for each so many pixels: nobody sees them

struct BarColors {
  QColor fill, line;  // line is invalid where a bar has no outline
  bool dashed = false;
  QPen pen() const {
    QPen pen(line, 1, Qt::SolidLine, Qt::FlatCap);
    if (dashed) pen.setDashPattern({3, 2});
    return pen;
  }
};

std::array<BarColors, kOpColors> colors_of(const BarLook& look) {
  std::array<BarColors, kOpColors> colors;
  for (int index = 0; index < kOpColors; ++index) {
    const auto color = static_cast<OpColor>(index);
    QColor solid = look.theme->solid(color), tint = look.theme->tint(color);
    BarColors& out = colors[static_cast<std::size_t>(index)];
    const bool pinned = look.style == LaneStyle::kPinned;
    if (look.moment == Moment::kFuture || pinned)
      out = {look.theme->surface, solid, pinned};
    else if (look.style == LaneStyle::kPredicted)
      // What a compute lane sends is exposed; communication's tint means overlapped.
      out = {color == OpColor::kCommunication ? solid : tint, solid};
    else
      out = {solid, QColor()};
  }
  return colors;
}

struct Piece2D {
  QRectF rect;
  std::size_t color;
};

// Without antialiasing: edges are whole pixels. The raster engine fills single rectangles faster
// than drawRects() does; files get one call for each colour, since there a change of colour is a
// group of its own.
void fill_rects(QPainter& painter, const std::vector<Piece2D>& pieces,
                const std::array<BarColors, kOpColors>& colors) {
  painter.setRenderHint(QPainter::Antialiasing, false);
  const bool pixels = has_pixels(painter);
  std::array<QList<QRectF>, kOpColors> lines, fills;
  const auto put = [&](std::array<QList<QRectF>, kOpColors>& lists, std::size_t color,
                       const QRectF& rect, const QColor& ink) {
    if (pixels)
      painter.fillRect(rect, ink);
    else
      lists[color].append(rect);
  };
  for (const Piece2D& piece : pieces) {
    const BarColors& color = colors[piece.color];
    if (!color.line.isValid()) {
      put(fills, piece.color, piece.rect, color.fill);
      continue;
    }
    const bool hollow = piece.rect.width() > 2 && piece.rect.height() > 2;
    if (hollow && color.dashed) {
      painter.setPen(color.pen());
      painter.setBrush(color.fill);
      painter.drawRect(piece.rect.adjusted(0.5, 0.5, -0.5, -0.5));
      continue;
    }
    put(lines, piece.color, piece.rect, color.line);
    if (hollow) put(fills, piece.color, piece.rect.adjusted(1, 1, -1, -1), color.fill);
  }
  if (pixels) return;
  painter.setPen(Qt::NoPen);
  for (std::size_t color = 0; color < colors.size(); ++color) {
    painter.setBrush(colors[color].line);
    if (!lines[color].isEmpty()) painter.drawRects(lines[color]);
    painter.setBrush(colors[color].fill);
    if (!fills[color].isEmpty()) painter.drawRects(fills[color]);
  }
}

// A block of merged bars: its height is divided by the time its bars spend in each kind.
void add_shares(std::vector<Piece2D>& pieces, const BarList& list, const BarRun& run,
                const QRectF& rect) {
  const auto &from = list.busy[run.first], &to = list.busy[run.last + 1];
  std::int64_t total = 0;
  for (std::size_t kind = 0; kind < kOpColors; ++kind) total += to[kind] - from[kind];
  std::int64_t before = 0;
  for (std::size_t kind = 0; kind < kOpColors; ++kind) {
    const std::int64_t part = to[kind] - from[kind];
    if (part <= 0) continue;
    const auto y = [&](std::int64_t sum) {
      return rect.top() + std::round(rect.height() * static_cast<double>(sum) /
                                     static_cast<double>(std::max<std::int64_t>(1, total)));
    };
    const QRectF piece(rect.left(), y(before), rect.width(), y(before + part) - y(before));
    if (piece.height() > 0) pieces.push_back({piece, kind});
    before += part;
  }
}

// What the bars of a lane are painted with.
struct BarPieces {
  struct Label {
    QRectF rect;
    QString text;
    QColor ink;
    bool plate, small = false;
  };
  struct Mark {
    QRectF rect;
    QColor ink;
  };
  std::vector<Piece2D> small, wide;
  std::vector<Label> labels;
  QList<QRectF> stripes;  // what a backward spends on computing its forward again
  QList<QRectF> inside;   // what a bar seen from far spends on communication
  QList<QRectF> waits;    // where a bar seen from far waits
  std::vector<Mark> chunks;
};

// Where a bar waits, in the visible part; whether there is any.
bool add_waits(QList<QRectF>& waits, const BarList& list, std::size_t index, const TimeAxis& axis,
               const QRectF& rect) {
  if (!list.waits_long(index) || rect.height() <= 4) return false;
  const Bar& bar = list.bars[index];
  const Nanoseconds from = std::max(bar.span.begin, axis.range.begin);
  const Nanoseconds to = std::min(bar.span.end, axis.range.end);
  const auto before = waits.size();
  for (auto wait = std::partition_point(list.waits.begin(), list.waits.end(),
                                        [&](const Span& of) { return of.end <= from; });
       wait != list.waits.end() && wait->begin < to; ++wait) {
    const double x0 = std::max(rect.left(), axis.x_of(wait->begin));
    const double x1 = std::min(rect.right(), axis.x_of(wait->end));
    if (x1 - x0 >= kLeastWait) waits.append(QRectF(x0, rect.top() + 1, x1 - x0, rect.height() - 2));
  }
  return waits.size() > before;
}

BarPieces pieces_of(QPainter& painter, const BarList& list, const TimeAxis& axis, const QRectF& box,
                    const BarLook& look, const std::array<BarColors, kOpColors>& colors) {
  const double far_left = axis.left - 8, far_right = axis.left + axis.width + 8;
  BarPieces pieces;
  for_each_run(list, axis, [&](const BarRun& run) {
    const double x0 = snapped_to_pixel(painter, std::max(run.x0, far_left));
    double x1 = snapped_to_pixel(painter, std::min(run.x1, far_right));
    if (x1 - x0 > 4) x1 -= 1;  // a hairline between neighbours
    const QRectF rect(x0, box.top(), std::max(1.0, x1 - x0), box.height());
    const bool merged = run.last > run.first;
    if (merged) {
      add_shares(pieces.small, list, run, rect);
      if (rect.width() < kLeastMergedText || box.height() < 14) return;
      const QString text =
          QObject::tr("%n ops", nullptr, static_cast<int>(run.last - run.first + 1));
      if (label_width(look.font, text) + 12 < rect.width())
        pieces.labels.push_back({rect, text, look.theme->text, true});
      return;
    }
    const Bar& bar = list.bars[run.first];
    const auto color = static_cast<std::size_t>(color_of(bar));
    (rect.width() >= kRounded ? pieces.wide : pieces.small).push_back({rect, color});
    const bool striped = rect.width() >= 4 && box.height() >= 14;
    if (const double share = list.recompute_share(run.first); share > 0 && striped)
      pieces.stripes.append(
          QRectF(rect.left() + 1, rect.bottom() - 4, (rect.width() - 2) * share, 3));
    if (const double share = list.inside_share(run.first); share > 0 && striped) {
      const double width = (rect.width() - 2) * share;
      pieces.inside.append(QRectF(rect.right() - 1 - width, rect.bottom() - 4, width, 3));
    }
    const bool waits = add_waits(pieces.waits, list, run.first, axis, rect);
    const bool marked = look.chunks > 1 && bar.microbatch >= 0;
    const QColor ink = waits ? look.theme->text : look.theme->ink_on(colors[color].fill);
    if (marked) pieces.chunks.push_back({chunk_mark(rect, bar.chunk, look.chunks), ink});
    // By the bar's own length, so that bars of equal length say the same wherever their edges fall
    // on pixels.
    const double room = std::min(run.x1, axis.left + axis.width) - std::max(run.x0, axis.left) -
                        kLabelAir - (marked ? kChunkMark : 0);
    if (room < 6 || box.height() < 10) return;
    // In the visible part, so that a bar that fills the view still says what it is.
    QRectF shown = rect;
    shown.setLeft(std::max(shown.left(), axis.left));
    shown.setRight(std::min(shown.right(), axis.left + axis.width));
    if (marked) shown.setLeft(shown.left() + kChunkMark);
    const QStringList forms = bar_labels(bar);
    for (auto form = std::max<qsizetype>(0, forms.size() - 1 - look.form); form < forms.size();
         ++form) {
      if (label_width(look.font, forms[form]) > room) continue;
      pieces.labels.push_back({shown, forms[form], ink, waits});
      return;
    }
    const QString& shortest = forms.back();
    if (marked && label_width(look.theme->font(kSmallFont), shortest) <= room)
      pieces.labels.push_back({shown, shortest, ink, waits, true});
  });
  if (static_cast<double>(pieces.wide.size()) * kMostRounded > axis.width) {
    pieces.small.insert(pieces.small.end(), pieces.wide.begin(), pieces.wide.end());
    pieces.wide.clear();
  }
  return pieces;
}

void paint_round(QPainter& painter, const std::vector<Piece2D>& pieces,
                 const std::array<BarColors, kOpColors>& colors) {
  painter.setRenderHint(QPainter::Antialiasing, true);
  for (const Piece2D& piece : pieces) {
    const BarColors& color = colors[piece.color];
    painter.setBrush(color.fill);
    if (color.line.isValid()) {
      painter.setPen(color.pen());
      painter.drawRoundedRect(piece.rect.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    } else {
      painter.setPen(Qt::NoPen);
      painter.drawRoundedRect(piece.rect, 2, 2);
    }
  }
}

// Strips at the bottom of bars, of what a bar spends on something: what is still to come is an
// outline, as its bar is.
void paint_strips(QPainter& painter, const QList<QRectF>& strips, const BarColors& colors,
                  const BarLook& look) {
  const QColor ink = colors.line.isValid() ? colors.line : colors.fill;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (const QRectF& strip : strips) {
    painter.fillRect(strip, ink);
    if (look.moment == Moment::kFuture && strip.width() > 2)
      painter.fillRect(strip.adjusted(1, 1, -1, -1), colors.fill);
  }
}

}  // namespace

QRectF chunk_mark(const QRectF& bar, int chunk, int chunks) {
  const double height = (bar.height() - 2) / chunks;
  return QRectF(bar.left() + 1, bar.top() + 1 + height * chunk,
                std::min(kChunkMark, std::max(1.0, bar.width() - 2)), height);
}

int label_form(const BarList& list, const TimeAxis& axis, const QFont& font) {
  // No label is narrower than a digit. Of the bars that begin within such a width only the last can
  // be wider than it, so that among a million bars few are looked at.
  const double narrowest = label_width(font, QStringLiteral("0")) + kLabelAir;
  const Nanoseconds column = std::max(Nanoseconds(1), axis.length_of(narrowest));
  const auto& bars = list.bars;
  int form = kLongestForm;
  auto bar = bars.begin() + static_cast<std::ptrdiff_t>(list.first_after(axis.range.begin));
  while (form > 0 && bar != bars.end() && bar->span.begin < axis.range.end) {
    const Nanoseconds end = bar->span.begin + column;
    std::ptrdiff_t step = 1;  // gallop, then search
    while (step < bars.end() - bar && bar[step].span.begin < end) step *= 2;
    const auto next = std::partition_point(bar + step / 2, bar + std::min(step, bars.end() - bar),
                                           [&](const Bar& at) { return at.span.begin < end; });
    const Bar& last = *std::prev(next);
    bar = next;
    const double x0 = axis.x_of(last.span.begin), x1 = axis.x_of(last.span.end);
    if (x1 - x0 < narrowest || x0 < axis.left || x1 > axis.left + axis.width) continue;
    const QStringList labels = bar_labels(last);
    const double room = x1 - x0 - kLabelAir;
    int fits = -1;
    while (fits + 1 < labels.size() && label_width(font, labels[labels.size() - 2 - fits]) <= room)
      ++fits;
    if (fits >= 0 && fits + 1 < labels.size()) form = std::min(form, fits);
  }
  return form;
}

void paint_bars(QPainter& painter, const BarList& list, const TimeAxis& axis, const QRectF& box,
                const BarLook& look, TextLog* texts) {
  const auto colors = colors_of(look);
  const BarPieces pieces = pieces_of(painter, list, axis, box, look, colors);
  fill_rects(painter, pieces.small, colors);
  paint_round(painter, pieces.wide, colors);
  for (const QRectF& wait : pieces.waits) {
    painter.fillRect(wait, look.theme->surface);
    paint_hatching(painter, wait, *look.theme);
  }
  paint_strips(painter, pieces.stripes, colors[static_cast<std::size_t>(OpColor::kForward)], look);
  paint_strips(painter, pieces.inside, colors[static_cast<std::size_t>(OpColor::kCommunication)],
               look);
  for (const BarPieces::Mark& mark : pieces.chunks) painter.fillRect(mark.rect, mark.ink);
  for (const BarPieces::Label& label : pieces.labels) {
    const QFont font = label.small ? look.theme->font(kSmallFont) : look.font;
    if (label.plate) {
      // Within the bar's outline.
      QRectF plate(0, 0, label_width(font, label.text) + 10,
                   std::min(14.0, label.rect.height() - 4));
      plate.moveCenter(label.rect.center());
      painter.setPen(Qt::NoPen);
      painter.setBrush(look.theme->surface);
      painter.drawRoundedRect(plate, 3, 3);
    }
    put_label(painter, label.rect, label.text, font, label.ink, texts);
  }
}

}  // namespace parallelarium
