// SPDX-License-Identifier: GPL-3.0-or-later
// The exported picture: the same lanes as on screen, and all that a reader without the program
// needs to know.
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/pipeline/held_figure.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/paint/legend.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture_source.h"

namespace parallelarium {
namespace {

constexpr int kWidth = 1200, kTitle = 40, kFooter = 56, kPlot = 200;

// What the Session shows, without what is only there while one works: no words before the run, no
// faint lanes.
Picture exported_picture(const Session& session, const PictureOptions& options) {
  PictureSource source;
  Picture picture = source.picture(session, true);
  picture.range = options.whole_step ? TimeRange{Nanoseconds(0), session.subject().horizon()}
                                     : session.subject().visible();
  picture.folds = false;
  if (options.playhead) picture.playhead = session.playback().playhead();
  std::erase_if(picture.lanes, [](const PictureLane& lane) { return !lane.rows; });
  for (PictureLane& lane : picture.lanes) lane.fills = lane.fills && options.playhead;
  return picture;
}

bool shows_plot(const Session& session, const PictureOptions& options) {
  return options.held_plot && !session.locks().hidden(QStringLiteral("held.peak")) &&
         session.subject().prediction()->setup.mesh.pp > 1;
}

QString source_sentence(const Picture& picture) {
  QStringList parts;
  for (const PictureLane& lane : picture.lanes) {
    if (!lane.rows || lane.hidden || lane.style == LaneStyle::kPinned) continue;
    const QString& what = lane.short_title;
    if (picture.hides.times) {
      parts << what;
      continue;
    }
    parts << QObject::tr("%1: step %2").arg(what, time_text(lane.rows->timeline->duration));
    if (lane.style == LaneStyle::kObserved && lane.rows->timeline->source == Source::kPaced)
      parts.last() += QObject::tr(", durations set");
  }
  return parts.join(QStringLiteral(" \u00b7 "));
}

// Under the line of the title, where it does not fit into it.
LegendPlace legend_place(const Session& session, double width) {
  const QString title = picture_title(session.subject().prediction()->setup);
  const double from =
      16 + QFontMetricsF(light_theme().font(14, true)).horizontalAdvance(title) + 24;
  return {QRectF(from, 8, width - 16 - from, 26), QRectF(16, 34, width - 32, kLegendLine)};
}

// Above the lanes.
int head_height(const Session& session, const Picture& picture, double width) {
  return kTitle + static_cast<int>(kLegendLine) *
                      legend_lines(legend_place(session, width), picture, light_theme());
}

}  // namespace

QSize picture_size(const Session& session, const PictureOptions& options) {
  const Picture picture = exported_picture(session, options);
  const double rows = comfortable_height(picture);
  return QSize(kWidth, head_height(session, picture, kWidth) + static_cast<int>(std::ceil(rows)) +
                           kFooter + (shows_plot(session, options) ? kPlot : 0));
}

void paint_picture(QPainter& painter, QSizeF size, const Session& session,
                   const PictureOptions& options, TextLog* texts) {
  const Theme& theme = options.dark ? dark_theme() : light_theme();
  const Picture picture = exported_picture(session, options);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);

  const QFont bold = theme.font(14, true), small = theme.font(11);
  const QRectF head(16, 8, size.width() - 32, 26);
  const QString title = picture_title(session.subject().prediction()->setup);
  put_elided(painter, head, Qt::AlignVCenter, title, bold, theme.text, texts);
  const int top = head_height(session, picture, size.width());

  const bool with_plot = shows_plot(session, options) && size.height() > 360;
  const double plot_height = with_plot ? std::min<double>(kPlot, size.height() / 3) : 0;
  const QSizeF lanes(size.width(), size.height() - top - kFooter - plot_height);
  const PictureLayout layout = layout_of(picture, lanes, theme);
  paint_legend(&painter, legend_place(session, size.width()), picture, zoom_of(picture, layout),
               theme, texts);
  painter.save();
  painter.translate(0, top);
  painter.setClipRect(QRectF(QPointF(0, 0), lanes), Qt::IntersectClip);
  paint_timeline(painter, picture, layout, theme, lanes, 0, texts);
  painter.restore();

  const PictureLane* animated = animated_lane(picture);
  if (with_plot && animated)
    paint_held_figure(painter, QRectF(0, top + lanes.height(), size.width(), plot_height),
                      *animated->rows, animated->short_title, theme, layout.axis(picture.range),
                      texts);

  const double y = size.height() - kFooter + 6;
  painter.fillRect(QRectF(16, y - 2, size.width() - 32, 1), theme.hairline);
  const auto line = [&](int index) {
    return QRectF(16, y + 3 + index * 15, size.width() - 32, 14);
  };
  put_elided(painter, line(0), Qt::AlignVCenter, source_sentence(picture), small, theme.text,
             texts);
  put_elided(painter, line(1), Qt::AlignVCenter,
             setup_footer(session.subject().prediction()->setup), small, theme.muted, texts);
  const QString maker = QObject::tr("Parallelarium");
  const double maker_width = QFontMetricsF(small).horizontalAdvance(maker) + 16;
  put_elided(painter, line(2).adjusted(0, 0, -maker_width, 0), Qt::AlignVCenter,
             machine_footer(*session.subject().prediction()), small, theme.muted, texts);
  put_text(painter, line(2), Qt::AlignVCenter | Qt::AlignRight, maker, small, theme.muted, texts);
  painter.restore();
}

}  // namespace parallelarium
