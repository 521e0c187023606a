// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/sent_paint.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

struct SentWords {
  Q_DECLARE_TR_FUNCTIONS(timeline)
};

constexpr double kLeastBar = 2;     // pixels, so that it is seen
constexpr double kOutlined = 8;     // lanes of this height show what is overlapped as outlines,
constexpr double kNamed = 10;       // and of this height names
constexpr double kSides = 8;        // pixels of a bar whose outline leaves room between its sides
constexpr double kLeastName = 14;   // pixels of a bar
constexpr double kMostlyOne = 0.1;  // of a bar: so little of the other colour hides under no name

bool computes(const BarList& pieces, const BarRun& run) {
  if (run.first == run.last) return pieces.bars[run.first].kind == OpKind::kCompute;
  constexpr auto kSent = static_cast<std::size_t>(OpColor::kCommunication);
  const auto &from = pieces.busy[run.first], &to = pieces.busy[run.last + 1];
  std::int64_t all = 0;
  for (std::size_t kind = 0; kind < kOpColors; ++kind) all += to[kind] - from[kind];
  return 2 * (to[kSent] - from[kSent]) < all;
}

// Pixels that the bars of a run take together, without what is between them.
double pixels_taken(const BarList& list, const BarRun& run, const TimeAxis& axis) {
  const auto &from = list.busy[run.first], &to = list.busy[run.last + 1];
  std::int64_t sent = 0;
  for (std::size_t kind = 0; kind < kOpColors; ++kind) sent += to[kind] - from[kind];
  return axis.x_of(axis.range.begin + Nanoseconds(sent)) - axis.left;
}

// Calls draw(x0, x1) for each stretch of [x0, x1] in which the row computes; returns how wide they
// are together.
template <class Draw>
double for_each_overlap(const BarList& pieces, const TimeAxis& axis, double x0, double x1,
                        Draw&& draw) {
  const TimeAxis part{{axis.time_at(x0), axis.time_at(x1)}, x0, x1 - x0};
  double sum = 0, from = x0, to = x0;
  const auto flush = [&] {
    if (to > from) draw(from, to);
    sum += to - from;
  };
  for_each_run(pieces, part, [&](const BarRun& run) {
    if (!computes(pieces, run)) return;
    const double begin = std::max(x0, run.x0), end = std::min(x1, run.x1);
    if (begin > to + 1) {  // less than a pixel between two pieces is none
      flush();
      from = begin;
    }
    to = std::max(to, end);
  });
  flush();
  return sum;
}

}  // namespace

QString sent_lane_name(const Picture& picture, Lane which) {
  if (which == Lane::kCompute) return SentWords::tr("inside layers");
  Connects all;
  for (const PictureLane& lane : picture.lanes) {
    if (!lane.rows || lane.hidden) continue;
    const Connects& own = lane.rows->connects[static_cast<std::size_t>(which)];
    all.stages = all.stages || own.stages;
    all.replicas = all.replicas || own.replicas;
    all.tensor = all.tensor || own.tensor;
    all.context = all.context || own.context;
  }
  QStringList whom;
  if (all.stages) whom << SentWords::tr("stages");
  if (all.replicas) whom << SentWords::tr("replicas");
  if (all.tensor) whom << SentWords::tr("TP ranks");
  if (all.context) whom << SentWords::tr("CP ranks");
  const QString last = whom.takeLast();
  return SentWords::tr("between %1")
      .arg(whom.isEmpty() ? last
                          : SentWords::tr("%1 and %2").arg(whom.join(QStringLiteral(", ")), last));
}

SentColors sent_colors(const BarLook& look, double height) {
  const Theme& theme = *look.theme;
  QColor solid = theme.solid(OpColor::kCommunication), tint = theme.tint(OpColor::kCommunication);
  if (look.moment == Moment::kFuture || look.style == LaneStyle::kPinned) {
    solid = mixed(solid, theme.surface, 0.65);
    tint = theme.surface;
  }
  // Nothing holds a thin bar together but its own colour.
  return {solid, height < kOutlined ? mixed(solid, theme.surface, 0.5) : tint};
}

void paint_sent_bars(QPainter& painter, const Row& row, Lane which, const TimeAxis& axis,
                     const QRectF& box, const BarLook& look, TextLog* texts) {
  const BarList& list = row.sent(which);
  const BarList& pieces = row.lane(Lane::kCompute, Zoom::kPieces);
  const SentColors colors = sent_colors(look, box.height());
  const double edge = box.height() < kOutlined ? 0 : 1;
  const double far_left = axis.left - 8, far_right = axis.left + axis.width + 8;
  struct Name {
    QRectF rect;
    QString text;
    QColor ink;
    bool plate;
  };
  std::vector<Name> names;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for_each_run(list, axis, [&](const BarRun& run) {
    const double x0 = snapped_to_pixel(painter, std::max(run.x0, far_left));
    double x1 = snapped_to_pixel(painter, std::min(run.x1, far_right));
    if (x1 - x0 > 4) x1 -= 1;
    // The area is the time: what is too short to be told apart is as high as its share.
    const bool many = run.last > run.first;
    const double share_of_time =
        std::min(1.0, pixels_taken(list, run, axis) / std::max(kLeastBar, run.x1 - run.x0));
    const double height = std::max(kLeastBar, std::round(box.height() * share_of_time));
    const QRectF rect(x0, box.bottom() - height, std::max(kLeastBar, x1 - x0), height);
    painter.fillRect(rect, colors.exposed);
    double overlapped = 0;
    const double side = rect.width() < kSides ? 0 : edge;
    if (which != Lane::kCompute && run.x1 > run.x0)
      overlapped = for_each_overlap(
          pieces, axis, std::max(run.x0, far_left), std::min(run.x1, far_right),
          [&](double from, double to) {
            const QRectF light =
                QRectF(from, rect.top() + edge, to - from, rect.height() - 2 * edge)
                    .intersected(rect.adjusted(side, 0, -side, 0));
            const double left = snapped_to_pixel(painter, light.left());
            const double right = snapped_to_pixel(painter, light.right());
            if (right > left)
              painter.fillRect(QRectF(left, light.top(), right - left, light.height()),
                               colors.overlapped);
          });
    QRectF shown(rect.left(), box.top(), rect.width(), box.height());
    shown.setLeft(std::max(shown.left(), axis.left));
    shown.setRight(std::min(shown.right(), axis.left + axis.width));
    const double room = shown.width() - 4;
    if (box.height() < kNamed || room < kLeastName) return;
    const double share = overlapped / std::max(1.0, rect.width());
    const bool plate = height < box.height() || (share > kMostlyOne && share < 1 - kMostlyOne);
    const QStringList forms =
        many ? QStringList{QObject::tr("%n ops", nullptr,
                                       static_cast<int>(run.last - run.first + 1))}
             : sent_labels(list.bars[run.first]);
    for (const QString& form : forms) {
      if (label_width(look.font, form) + (plate ? 8 : 0) > room) continue;
      const QColor ink = plate
                             ? look.theme->text
                             : look.theme->ink_on(share > 0.5 ? colors.overlapped : colors.exposed);
      names.push_back({shown, form, ink, plate});
      break;
    }
  });
  for (const Name& name : names) {
    if (name.plate) {
      const double width = label_width(look.font, name.text) + 8;
      painter.fillRect(
          QRectF(name.rect.center().x() - width / 2, box.top() + 2, width, box.height() - 4),
          look.theme->surface);
    }
    put_label(painter, name.rect, name.text, look.font, name.ink, texts);
  }
}

}  // namespace parallelarium
