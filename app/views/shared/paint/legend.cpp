// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/legend.h"

#include <algorithm>
#include <array>
#include <vector>

#include "app/views/shared/paint/paint_tools.h"
#include "app/views/timeline/picture/bar_paint.h"

namespace parallelarium {
namespace {

// Beside each OpColor.
constexpr int kBubble = -1, kOverlapped = -2, kChunks = -3, kInside = -4, kAgain = -5;
constexpr double kBeforeWord = 20;       // the swatch, and what is free behind it
constexpr double kGaps[] = {20, 12, 8};  // between entries; the widest that fits

int chunks_of(const Picture& picture) {
  int chunks = 1;
  for (const PictureLane& lane : picture.lanes)
    if (lane.rows) chunks = std::max(chunks, lane.rows->chunks);
  return chunks;
}

// A bar with a strip at its bottom.
void paint_strip_mark(QPainter& painter, const QRectF& swatch, const QColor& strip,
                      const Theme& theme) {
  painter.setPen(QPen(theme.control_line, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  painter.fillRect(QRectF(swatch.left() + 2, swatch.bottom() - 5, swatch.width() - 4, 3), strip);
}

void paint_swatch(QPainter& painter, const QRectF& swatch, int color, int chunks,
                  const Theme& theme) {
  painter.setRenderHint(QPainter::Antialiasing);
  if (color == kOverlapped) {
    painter.setPen(QPen(theme.solid(OpColor::kCommunication), 1));
    painter.setBrush(theme.tint(OpColor::kCommunication));
    painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  } else if (color == kBubble) {
    paint_hatching(painter, swatch, theme);
    painter.setPen(QPen(theme.control_line, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  } else if (color == kInside || color == kAgain) {
    paint_strip_mark(painter, swatch,
                     theme.solid(color == kInside ? OpColor::kCommunication : OpColor::kForward),
                     theme);
  } else if (color == kChunks) {
    const double wide = swatch.width() / chunks;
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int chunk = 0; chunk < chunks; ++chunk)
      painter.fillRect(
          chunk_mark(QRectF(swatch.left() + wide * chunk, swatch.top(), wide, swatch.height()),
                     chunk, chunks),
          theme.text);
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.solid(static_cast<OpColor>(color)));
    painter.drawRoundedRect(swatch, 2, 2);
  }
}

bool sends_inside(const BarList& list) {
  constexpr auto kSent = static_cast<std::size_t>(OpColor::kCommunication);
  if (list.parts.empty() || list.busy.back()[kSent] == 0) return false;
  for (std::size_t bar = 0; bar < list.bars.size(); ++bar)
    if (list.inside_share(bar) > 0) return true;
  return false;
}

std::vector<LegendWord> words_of(const Picture& picture, Zoom zoom) {
  std::array<bool, kOpColors> shown{};
  bool overlaps = false, inside = false, again = false;
  shown[static_cast<int>(OpColor::kForward)] = shown[static_cast<int>(OpColor::kBackward)] = true;
  for (const PictureLane& lane : picture.lanes) {
    if (!lane.rows) continue;
    for (const Row& row : lane.rows->rows) {
      overlaps = overlaps || !row.sent(Lane::kPipeline).bars.empty() ||
                 !row.sent(Lane::kData).bars.empty();
      for (const Lane lane : {Lane::kCompute, Lane::kPipeline, Lane::kData}) {
        const BarList& list = row.lane(lane, zoom);
        inside = inside || sends_inside(list);
        again = again || !list.recompute.empty();
        for (int kind = 0; kind < kOpColors && !list.busy.empty(); ++kind)
          if (list.busy.back()[static_cast<std::size_t>(kind)] > 0)
            shown[static_cast<std::size_t>(kind)] = true;
      }
    }
  }
  const std::array<QString, kOpColors> names = {
      QObject::tr("Forward"), QObject::tr("Backward"), QObject::tr("Weight gradient"),
      QObject::tr("Communication"), QObject::tr("Optimizer")};
  const int chunks = chunks_of(picture);
  std::vector<LegendWord> words;
  const auto add = [&](const QString& text, int color) {
    words.push_back({text, [color, chunks](QPainter& painter, const QRectF& at, const Theme& of) {
                       paint_swatch(painter, at, color, chunks, of);
                     }});
  };
  for (int kind = 0; kind < kOpColors; ++kind) {
    if (!shown[static_cast<std::size_t>(kind)]) continue;
    add(names[static_cast<std::size_t>(kind)], kind);
    if (kind == static_cast<int>(OpColor::kCommunication) && overlaps)
      add(QObject::tr("overlapped"), kOverlapped);
  }
  if (inside) add(QObject::tr("sent inside a bar"), kInside);
  if (again) add(QObject::tr("forward again"), kAgain);
  add(QObject::tr("Bubble"), kBubble);
  if (chunks > 1) add(QObject::tr("chunk 0 to %1").arg(chunks - 1), kChunks);
  return words;
}

}  // namespace

int paint_legend(QPainter* painter, const LegendPlace& place, const Picture& picture, Zoom zoom,
                 const Theme& theme, TextLog* texts) {
  const QFont font = theme.font(11);
  const std::vector<LegendWord> words = words_of(picture, zoom);
  const auto width_of = [&](const LegendWord& word) {
    return kBeforeWord + label_width(font, word.text);
  };
  double sum = 0;
  for (const LegendWord& word : words) sum += width_of(word);
  const auto gaps = static_cast<double>(words.size() - 1);
  const QRectF& line = place.beside;
  const auto* gap = std::find_if(std::begin(kGaps), std::end(kGaps),
                                 [&](double wide) { return sum + gaps * wide <= line.width(); });
  if (gap == std::end(kGaps)) {
    if (painter)
      paint_legend_words(*painter, words, place.below.topLeft(), place.below.width(), theme, texts);
    return legend_lines(words, place.below.width());
  }
  double x = line.right() - sum - gaps * *gap;
  for (const LegendWord& word : words) {
    if (painter) {
      word.mark(*painter, QRectF(x, line.center().y() - 6, 14, 12), theme);
      put_text(*painter,
               QRectF(x + kBeforeWord, line.top(), width_of(word) - kBeforeWord, line.height()),
               Qt::AlignVCenter, word.text, font, theme.muted, texts);
    }
    x += width_of(word) + *gap;
  }
  return 0;
}

int legend_lines(const LegendPlace& place, const Picture& picture, const Theme& theme) {
  int most = 0;
  for (const Zoom zoom : {Zoom::kActions, Zoom::kLayers, Zoom::kPieces})
    most = std::max(most, paint_legend(nullptr, place, picture, zoom, theme, nullptr));
  return most;
}

}  // namespace parallelarium
