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

}  // namespace

double paint_legend(QPainter& painter, const QRectF& rect, const Picture& picture, Zoom zoom,
                    const Theme& theme, TextLog* texts) {
  const QFont font = theme.font(11);
  const QFontMetricsF metrics(font);
  std::vector<Entry> entries = entries_of(picture, zoom);
  const auto width_of = [&](const Entry& entry) {
    return 20 + metrics.horizontalAdvance(entry.text);
  };
  double gap = 20;
  const auto whole = [&] {
    double sum = -gap;
    for (const Entry& entry : entries) sum += width_of(entry) + gap;
    return sum;
  };
  for (const double narrower : {12.0, 8.0})
    if (whole() > rect.width()) gap = narrower;
  // What says least goes first; forward and backward stay. Of an order that splits its backwards,
  // the weight gradients are what there is to see.
  for (const int kind :
       {static_cast<int>(OpColor::kOptimizer), kOverlapped, kBubble,
        static_cast<int>(OpColor::kCommunication), static_cast<int>(OpColor::kWeight), kChunks,
        static_cast<int>(OpColor::kBackward), static_cast<int>(OpColor::kForward)})
    if (whole() > rect.width())
      std::erase_if(entries, [&](const Entry& entry) { return entry.color == kind; });
  if (entries.empty()) return 0;
  const double width = whole();
  double x = rect.right() - width;
  for (const Entry& entry : entries) {
    const QRectF swatch(x, rect.center().y() - 6, 14, 12);
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
    put_text(painter, QRectF(x + 20, rect.top(), width_of(entry) - 20, rect.height()),
             Qt::AlignVCenter, entry.text, font, theme.muted, texts);
    x += width_of(entry) + gap;
  }
  return width;
}

}  // namespace parallelarium
