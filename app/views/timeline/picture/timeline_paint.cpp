// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/timeline_paint.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/timeline/picture/bar_paint.h"
#include "app/views/timeline/picture/sent_paint.h"

namespace parallelarium {
namespace {

constexpr double kTickSpacing = 64;
constexpr double kTitleWords = 14;  // high
constexpr double kFaint = 0.42;
constexpr double kLiveText = 22, kLiveCurve = 64, kLiveWidth = 320;  // of a run under way

// Of the bars of a lane, and of the band above them.
struct LabelForms {
  int bars = kLongestForm, band = kLongestForm;
};

QFont bar_font(const PictureLayout& layout, const Theme& theme) {
  return theme.font(layout.pitch >= 24 ? 11 : 10);
}
QFont band_font(const Theme& theme) { return theme.font(9); }

void paint_ticks(QPainter& painter, const Picture& picture, const PictureLayout& layout,
                 const Theme& theme, QSizeF size, TextLog* texts) {
  const TimeAxis axis = layout.axis(picture.range);
  const QFont font = theme.font(11);
  const QFontMetricsF metrics(font);
  double free_from = 0;
  if (!tells_time(picture)) return;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (const Tick& tick : ticks_of(axis, kTickSpacing)) {
    const double x = snapped_to_pixel(painter, axis.x_of(tick.time));
    if (x < axis.left - 1 || x > axis.left + axis.width + 1) continue;
    painter.fillRect(QRectF(x, layout.tick_band - 8, 1, size.height() - layout.tick_band + 8),
                     theme.grid);
    const QString& label = picture.hides.times ? kHidden : tick.label;
    const double width = metrics.horizontalAdvance(label);
    const double left = std::min(x - width / 2, size.width() - width - 4);
    if (left < free_from) continue;
    put_text(painter, QRectF(left, layout.tick_band - 23, width, 12), Qt::AlignVCenter, label, font,
             theme.muted, texts);
    free_from = left + width + 8;
  }
}

// The loss of every step so far, from the first one's height down to the least.
void paint_live_losses(QPainter& painter, const std::vector<double>& losses, const QRectF& rect,
                       const Theme& theme) {
  std::vector<double> finite;
  for (const double loss : losses)
    if (std::isfinite(loss)) finite.push_back(loss);
  if (finite.size() < 2) return;
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const double span = std::max(*high - *low, 1e-9);
  QPolygonF line;
  for (std::size_t step = 0; step < finite.size(); ++step)
    line << QPointF(rect.left() + rect.width() * double(step) / double(finite.size() - 1),
                    rect.top() + rect.height() * (*high - finite[step]) / span);
  painter.setPen(QPen(theme.accent_line, 1.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setBrush(theme.accent_line);
  painter.drawEllipse(line.back(), 2.5, 2.5);
}

QFont link_font(const Theme& theme) {
  QFont font = theme.font(12);
  font.setUnderline(true);
  return font;
}

// Puts the text into the middle, in as many lines as have room. What is left is cut off the last.
void put_in_middle(QPainter& painter, const QRectF& rect, const QString& text, const QFont& font,
                   const QColor& color, TextLog* texts) {
  const double spacing = QFontMetricsF(font).lineSpacing();
  const int room = std::max(1, static_cast<int>(rect.height() / spacing));
  const QStringList lines = broken_lines(text, font, rect.width(), room);
  const double height = spacing * static_cast<double>(lines.size());
  QRectF line(rect.left(), rect.center().y() - height / 2, rect.width(), spacing);
  for (const QString& one : lines) {
    put_elided(painter, line, Qt::AlignCenter, one, font, color, texts);
    line.translate(0, spacing);
  }
}

// Before the first run: what to do, where the rows will be.
void paint_empty(QPainter& painter, const PictureLane& lane, const RowBox& box, const Theme& theme,
                 TextLog* texts) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.control_line, 1, Qt::DashLine));
  painter.setBrush(theme.surface);
  painter.drawRoundedRect(box.bar.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  const double wanted = kLiveText + kLiveCurve;
  const bool curve = lane.live_losses.size() > 1 && box.bar.height() >= wanted + 8;
  QRectF text = box.bar.adjusted(12, 0, -12, 0);
  if (const QRectF line = other_line(lane, box, theme); !line.isEmpty()) {
    put_elided(painter, line, Qt::AlignCenter, lane.other_text, link_font(theme), theme.accent_line,
               texts);
    text.setBottom(text.center().y());
  }
  if (curve) {
    text = QRectF(text.left(), box.bar.center().y() - wanted / 2, text.width(), kLiveText);
    const double width = std::min(kLiveWidth, text.width());
    paint_live_losses(
        painter, lane.live_losses,
        QRectF(text.center().x() - width / 2, text.bottom() + 4, width, kLiveCurve - 8), theme);
  }
  put_in_middle(painter, text, with_firm_units(lane.empty_text), theme.font(13), theme.muted,
                texts);
}

void paint_label(QPainter& painter, const Picture& picture, const RowBox& box, const Theme& theme,
                 double pitch, TextLog* texts) {
  const bool second = box.label == picture.lanes[static_cast<std::size_t>(box.lane)].short_title;
  const QFont font = theme.font(pitch >= 22 && !second ? 12 : 11);
  put_elided(painter, box.label_rect, Qt::AlignVCenter | Qt::AlignLeft, box.label, font,
             second ? theme.muted : theme.text, texts);
  if (!box.group_start || !picture.folds) return;
  const QPointF center(box.label_rect.left() - 8, box.label_rect.center().y());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.muted, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  if (box.hidden_ranks > 0)
    painter.drawPolyline(
        QPolygonF{center + QPointF(-1.5, -3), center + QPointF(1.5, 0), center + QPointF(-1.5, 3)});
  else
    painter.drawPolyline(
        QPolygonF{center + QPointF(-3, -1.5), center + QPointF(0, 1.5), center + QPointF(3, -1.5)});
}

void paint_row(QPainter& painter, const Picture& picture, const PictureLayout& layout,
               const RowBox& box, const Theme& theme, Moment moment, const LabelForms& forms,
               TextLog* texts) {
  const PictureLane& lane = picture.lanes[static_cast<std::size_t>(box.lane)];
  const Row& row = lane.rows->rows[static_cast<std::size_t>(box.row)];
  const TimeAxis axis = layout.axis(picture.range);
  paint_label(painter, picture, box, theme, layout.pitch, texts);
  if (lane.hidden) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.window);
    painter.drawRoundedRect(box.bar, 2, 2);
    put_text(painter, box.bar, Qt::AlignCenter, kHidden, theme.font(13, true), theme.muted, texts);
    return;
  }
  if (layout.names_sent)
    for (const Lane which : layout.sent) {
      if (row.sent(which).bars.empty()) continue;
      const QRectF band = sent_band(layout, box, row, which);
      put_elided(painter,
                 QRectF(box.label_rect.left(), band.top(), box.label_rect.width(), band.height()),
                 Qt::AlignVCenter | Qt::AlignLeft, sent_lane_name(picture, which),
                 theme.font(kSentFont), theme.muted, texts);
    }
  painter.save();
  painter.setClipRect(QRectF(axis.left, box.bar.top() - 1, axis.width + 1, layout.pitch + 1),
                      Qt::IntersectClip);
  const double x0 = std::max(axis.left, axis.x_of(Nanoseconds(0)));
  const double x1 = std::min(axis.left + axis.width, axis.x_of(lane.rows->end));
  paint_hatching(painter, QRectF(x0, box.bar.top(), x1 - x0, box.bar.height()), theme);
  BarLook look{
      &theme,     lane.style,       lane.fills ? moment : Moment::kPast, bar_font(layout, theme),
      forms.bars, lane.rows->chunks};
  const Zoom zoom = zoom_of(picture, layout);
  const QRectF bars = bar_band(box, row.opens(), zoom, zoom);
  paint_bars(painter, row.lane(Lane::kCompute, zoom), axis, bars, look, texts);
  if (bars != box.bar) {
    look.font = band_font(theme);
    look.form = forms.band;
    paint_bars(painter, row.lane(Lane::kCompute, farther(zoom)), axis,
               bar_band(box, true, zoom, farther(zoom)), look, texts);
  }
  for (const Lane which : layout.sent) {
    if (row.sent(which).bars.empty()) continue;
    const QRectF band = sent_band(layout, box, row, which);
    look.font = band.height() >= 15 ? theme.font(kSentFont) : band_font(theme);
    paint_sent_bars(painter, row, which, axis, band, look, texts);
  }
  painter.restore();
}

// What the bars of a lane say, all of them in the same form: "backward 2", or only "2".
LabelForms forms_of(const Picture& picture, const PictureLayout& layout, const Theme& theme,
                    int lane) {
  const TimeAxis axis = layout.axis(picture.range);
  const LaneRows& rows = *picture.lanes[static_cast<std::size_t>(lane)].rows;
  const Zoom zoom = zoom_of(picture, layout);
  LabelForms forms;
  for (const RowBox& box : layout.rows) {
    if (box.lane != lane || box.row < 0) continue;
    const Row& row = rows.rows[static_cast<std::size_t>(box.row)];
    const auto least = [&](int form, Zoom of, const QFont& font) {
      return form == 0 ? 0 : std::min(form, label_form(row.lane(Lane::kCompute, of), axis, font));
    };
    forms.bars = least(forms.bars, zoom, bar_font(layout, theme));
    if (bar_band(box, row.opens(), zoom, zoom) != box.bar)
      forms.band = least(forms.band, farther(zoom), band_font(theme));
  }
  return forms;
}

// "ends 3.4 ms sooner", behind the end of the shorter lane's first row.
void paint_end(QPainter& painter, const Picture& picture, const PictureLayout& layout,
               const RowBox& box, const Theme& theme, TextLog* texts) {
  const PictureLane& lane = picture.lanes[static_cast<std::size_t>(box.lane)];
  if (lane.end_text.isEmpty() || lane.hidden) return;
  const TimeAxis axis = layout.axis(picture.range);
  const double x = axis.x_of(lane.rows->end) + 8;
  const QFont font = theme.font(11);
  const double room = axis.left + axis.width - x;
  if (x < axis.left || QFontMetricsF(font).horizontalAdvance(lane.end_text) > room) return;
  put_text(painter, QRectF(x, box.bar.top(), room, box.bar.height()), Qt::AlignVCenter,
           lane.end_text, font, theme.muted, texts);
}

}  // namespace

QRectF other_line(const PictureLane& lane, const RowBox& box, const Theme& theme) {
  if (lane.other_text.isEmpty()) return {};
  const QRectF room = box.bar.adjusted(12, box.bar.height() / 2, -12, -2);
  const QFontMetricsF metrics(link_font(theme));
  const double width = std::ceil(metrics.horizontalAdvance(lane.other_text)) + 2;
  QRectF line(0, 0, std::min(width, room.width()), std::min(metrics.height(), room.height()));
  line.moveCenter(room.center());
  return line;
}

bool tells_time(const Picture& picture) {
  return std::any_of(picture.lanes.begin(), picture.lanes.end(),
                     [](const PictureLane& lane) { return lane.rows && !lane.hidden; });
}

// Titles name their source in capitals themselves.
QFont title_font(const Theme& theme) {
  QFont font = theme.caps();
  font.setCapitalization(QFont::MixedCase);
  return font;
}

void paint_lanes(QPainter& painter, const Picture& picture, const PictureLayout& layout,
                 const Theme& theme, QSizeF size, double scroll, Moment moment, TextLog* texts) {
  painter.save();
  paint_ticks(painter, picture, layout, theme, size, texts);
  const double room = size.height() - layout.tick_band;
  painter.setClipRect(QRectF(0, layout.tick_band, size.width(), room), Qt::IntersectClip);
  painter.translate(0, layout.tick_band - scroll);
  for (const TitleBox& title : layout.titles) {
    if (title.rect.bottom() < scroll || title.rect.top() > scroll + room) continue;
    const PictureLane& lane = picture.lanes[static_cast<std::size_t>(title.lane)];
    put_elided(painter, title.rect.adjusted(0, 0, 0, -5), Qt::AlignBottom, lane.title,
               title_font(theme), theme.muted, texts);
  }
  std::map<int, LabelForms> begun;  // lanes whose first row is painted
  for (const RowBox& box : layout.rows) {
    const auto [forms, first] = begun.try_emplace(box.lane);
    if (first && box.row >= 0) forms->second = forms_of(picture, layout, theme, box.lane);
    if (box.bar.top() + layout.pitch < scroll && box.bar.bottom() < scroll) continue;
    if (box.bar.top() > scroll + room) continue;
    const PictureLane& lane = picture.lanes[static_cast<std::size_t>(box.lane)];
    painter.setOpacity(lane.dimmed ? kFaint : 1);
    if (box.row < 0) {
      paint_empty(painter, lane, box, theme, texts);
      continue;
    }
    paint_row(painter, picture, layout, box, theme, moment, forms->second, texts);
    if (first) paint_end(painter, picture, layout, box, theme, texts);
  }
  painter.restore();
}

// Not across rows that are empty, nor through words of titles.
void draw_upright(QPainter& painter, const PictureLayout& layout, const Picture& picture,
                  const Theme& theme, double x, double top, QSizeF size, double scroll) {
  std::vector<std::pair<double, double>> gaps;
  for (const RowBox& box : layout.rows)
    if (box.row < 0) gaps.emplace_back(box.bar.top(), box.bar.bottom());
  for (const TitleBox& title : layout.titles) {
    const QString& words = picture.lanes[static_cast<std::size_t>(title.lane)].title;
    const double end = title.rect.left() + label_width(title_font(theme), words);
    if (x > title.rect.left() - 2 && x < std::min(end, title.rect.right()) + 2)
      gaps.emplace_back(title.rect.bottom() - 5 - kTitleWords, title.rect.bottom() - 3);
  }
  std::sort(gaps.begin(), gaps.end());
  const auto piece = [&](double from, double to) {
    if (to > from) painter.drawLine(QPointF(x, from), QPointF(x, to));
  };
  for (const auto& [from, to] : gaps) {
    piece(top, std::min(from + layout.tick_band - scroll, size.height()));
    top = std::max(top, to + layout.tick_band - scroll);
  }
  piece(top, size.height());
}

void paint_playhead(QPainter& painter, const PictureLayout& layout, const Picture& picture,
                    const Theme& theme, QSizeF size, double scroll) {
  if (!picture.playhead || !tells_time(picture)) return;
  const TimeAxis axis = layout.axis(picture.range);
  const double x = axis.x_of(*picture.playhead);
  if (x < axis.left - 0.5 || x > axis.left + axis.width + 0.5) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const double top = layout.tick_band - 9;
  painter.setPen(QPen(theme.mark, 1.5));
  draw_upright(painter, layout, picture, theme, x, top, size, scroll);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.mark);
  painter.drawPolygon(QPolygonF{QPointF(x - 6, top), QPointF(x + 6, top), QPointF(x, top + 8)});
  painter.restore();
}

void paint_timeline(QPainter& painter, const Picture& picture, const PictureLayout& layout,
                    const Theme& theme, QSizeF size, double scroll, TextLog* texts) {
  if (!picture.playhead) {
    paint_lanes(painter, picture, layout, theme, size, scroll, Moment::kPast, texts);
    return;
  }
  const TimeAxis axis = layout.axis(picture.range);
  const double x = std::clamp(axis.x_of(*picture.playhead), axis.left, axis.left + axis.width);
  painter.save();
  painter.setClipRect(QRectF(0, 0, x, size.height()), Qt::IntersectClip);
  paint_lanes(painter, picture, layout, theme, size, scroll, Moment::kPast, texts);
  painter.restore();
  painter.save();
  painter.setClipRect(QRectF(x, 0, size.width() - x, size.height()), Qt::IntersectClip);
  paint_lanes(painter, picture, layout, theme, size, scroll, Moment::kFuture, nullptr);
  painter.restore();
  paint_playhead(painter, layout, picture, theme, size, scroll);
}

}  // namespace parallelarium
