// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/legend.h"

#include <algorithm>
#include <array>
#include <vector>

#include "app/views/shared/paint/paint_tools.h"
#include "app/views/timeline/picture/bar_paint.h"

namespace parallelarium {
namespace {

struct Entry {
  QString text;
  int color;  // an OpColor, or one of those below
};
constexpr int kBubble = -1, kOverlapped = -2, kChunks = -3;
constexpr double kBeforeWord = 20;       // the swatch, and what is free behind it
constexpr double kGaps[] = {20, 12, 8};  // between entries; the widest that fits

int chunks_of(const Picture& picture) {
  int chunks = 1;
  for (const PictureLane& lane : picture.lanes)
    if (lane.rows) chunks = std::max(chunks, lane.rows->chunks);
  return chunks;
}

std::vector<Entry> entries_of(const Picture& picture, Zoom zoom) {
  std::array<bool, kOpColors> shown{};
  bool overlaps = false;
  shown[static_cast<int>(OpColor::kForward)] = shown[static_cast<int>(OpColor::kBackward)] = true;
  for (const PictureLane& lane : picture.lanes) {
    if (!lane.rows) continue;
    for (const Row& row : lane.rows->rows) {
      overlaps = overlaps || !row.sent(Lane::kPipeline).bars.empty() ||
                 !row.sent(Lane::kData).bars.empty();
      for (const Lane lane : {Lane::kCompute, Lane::kPipeline, Lane::kData}) {
        const BarList& list = row.lane(lane, zoom);
        for (int kind = 0; kind < kOpColors && !list.busy.empty(); ++kind)
          if (list.busy.back()[static_cast<std::size_t>(kind)] > 0)
            shown[static_cast<std::size_t>(kind)] = true;
      }
    }
  }
  const std::array<QString, kOpColors> names = {
      QObject::tr("Forward"), QObject::tr("Backward"), QObject::tr("Weight gradient"),
      QObject::tr("Send / receive"), QObject::tr("Optimizer")};
  std::vector<Entry> entries;
  for (int kind = 0; kind < kOpColors; ++kind) {
    if (!shown[static_cast<std::size_t>(kind)]) continue;
    entries.push_back({names[static_cast<std::size_t>(kind)], kind});
    if (kind == static_cast<int>(OpColor::kCommunication) && overlaps)
      entries.push_back({QObject::tr("overlapped"), kOverlapped});
  }
  entries.push_back({QObject::tr("Bubble"), kBubble});
  if (const int chunks = chunks_of(picture); chunks > 1)
    entries.push_back({QObject::tr("chunk 0 to %1").arg(chunks - 1), kChunks});
  return entries;
}

void paint_swatch(QPainter& painter, const QRectF& swatch, const Entry& entry,
                  const Picture& picture, const Theme& theme) {
  painter.setRenderHint(QPainter::Antialiasing);
  if (entry.color == kOverlapped) {
    painter.setPen(QPen(theme.solid(OpColor::kCommunication), 1));
    painter.setBrush(theme.tint(OpColor::kCommunication));
    painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  } else if (entry.color == kBubble) {
    paint_hatching(painter, swatch, theme);
    painter.setPen(QPen(theme.control_line, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  } else if (entry.color == kChunks) {
    const int chunks = chunks_of(picture);
    const double wide = swatch.width() / chunks;
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int chunk = 0; chunk < chunks; ++chunk)
      painter.fillRect(
          chunk_mark(QRectF(swatch.left() + wide * chunk, swatch.top(), wide, swatch.height()),
                     chunk, chunks),
          theme.text);
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.solid(static_cast<OpColor>(entry.color)));
    painter.drawRoundedRect(swatch, 2, 2);
  }
}

}  // namespace

int paint_legend(QPainter* painter, const LegendPlace& place, const Picture& picture, Zoom zoom,
                 const Theme& theme, TextLog* texts) {
  const QFont font = theme.font(11);
  const std::vector<Entry> entries = entries_of(picture, zoom);
  const auto width_of = [&](const Entry& entry) {
    return kBeforeWord + label_width(font, entry.text);
  };
  double words = 0;
  for (const Entry& entry : entries) words += width_of(entry);
  const auto gaps = static_cast<double>(entries.size() - 1);
  double gap = kGaps[0];
  bool fits = false;  // beside
  for (const double wide : kGaps)
    if (!fits) {
      gap = wide;
      fits = words + gaps * gap <= place.beside.width();
    }
  if (!fits) gap = kGaps[1];
  const QRectF& rect = fits ? place.beside : place.below;
  const double high = fits ? rect.height() : kLegendLine;
  double x = fits ? rect.right() - words - gaps * gap : rect.left(), y = rect.top();
  int lines = 1;
  for (const Entry& entry : entries) {
    if (!fits && x > rect.left() && x + width_of(entry) > rect.right()) {
      x = rect.left();
      y += high;
      ++lines;
    }
    if (painter) {
      paint_swatch(*painter, QRectF(x, y + high / 2 - 6, 14, 12), entry, picture, theme);
      put_text(*painter, QRectF(x + kBeforeWord, y, width_of(entry) - kBeforeWord, high),
               Qt::AlignVCenter, entry.text, font, theme.muted, texts);
    }
    x += width_of(entry) + gap;
  }
  return fits ? 0 : lines;
}

int legend_lines(const LegendPlace& place, const Picture& picture, const Theme& theme) {
  int most = 0;
  for (const Zoom zoom : {Zoom::kActions, Zoom::kLayers, Zoom::kPieces})
    most = std::max(most, paint_legend(nullptr, place, picture, zoom, theme, nullptr));
  return most;
}

}  // namespace parallelarium
