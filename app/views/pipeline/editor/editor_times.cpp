// SPDX-License-Identifier: GPL-3.0-or-later
#include <QObject>
#include <algorithm>
#include <cmath>
#include <vector>

#include "app/look/figures.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

constexpr double kTimesHead = 40, kTimesRight = 16;
constexpr double kSmoothFrom = 12;  // width of a forward

QColor kind_fill(ActionKind kind, const Theme& theme) { return theme.tint(color_of_kind(kind)); }

QColor kind_line(ActionKind kind, const Theme& theme) { return theme.solid(color_of_kind(kind)); }

// 1, 2 or 5 times a power of ten, so that ticks stand at least 44 pixels apart.
double forward_step(double forwards, double width) {
  double step = 1;
  while (width / (forwards / step) < 44) {
    for (const double factor : {2.0, 2.5, 2.0}) {
      step *= factor;
      if (width / (forwards / step) >= 44) break;
    }
  }
  return step;
}

void paint_editor_axis(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                       const Theme& theme, TextLog* texts) {
  const int ranks = static_cast<int>(picture.draft->ranks.size());
  const double bottom = at.height(ranks);
  // The run has the same axis.
  const double run_top = at.run_rect(0, ranks).top(), run_bottom = at.whole_height(ranks);
  const double forwards = at.end / picture.unit;
  const QFont font = theme.font(11);
  std::vector<QRectF> numbers;  // of the axis
  for (double tick = 0, step = forward_step(forwards, at.width); tick <= forwards + 1e-9;
       tick += step) {
    const double x = at.x_of(tick * picture.unit);
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(x, kTimesHead - 4), QPointF(x, bottom));
    if (at.run) painter.drawLine(QPointF(x, run_top), QPointF(x, run_bottom));
    const double wide = label_width(font, number_text(tick)) + 4;
    numbers.emplace_back(x - wide / 2, kTimesHead - 22, wide, 16);
    put_text(painter, QRectF(x - 30, kTimesHead - 22, 60, 16), Qt::AlignCenter, number_text(tick),
             font, theme.muted, texts);
  }
  // What a unit is, and what a dashed bar.
  put_text(painter, QRectF(2, kTimesHead - 22, kEditorLabel, 16), Qt::AlignVCenter,
           QObject::tr("FORWARDS"), theme.caps(), theme.muted, texts);
  const QString unit = unit_words(picture);
  const double unit_end = at.left + label_width(font, unit) + 80;
  const bool free = (!picture.floor || at.x_of(*picture.floor) > unit_end) &&
                    (!picture.par || at.x_of(*picture.par) > unit_end);
  if (free)
    put_elided(painter, QRectF(at.left, 0, at.width, 16), Qt::AlignVCenter, unit, font, theme.muted,
               texts);
  // Floor and par may be close: the earlier one's name stands at its left, the other's at its
  // right.
  const auto mark = [&](double seconds, const QString& name, bool left, const QPen& pen) {
    const double x = at.x_of(seconds);
    painter.setPen(pen);
    // Through no number of the axis: the line begins below it.
    const bool strikes = std::any_of(numbers.begin(), numbers.end(), [&](const QRectF& number) {
      return number.left() < x + 1 && x - 1 < number.right();
    });
    painter.drawLine(QPointF(x, strikes ? kTimesHead - 5 : 16), QPointF(x, bottom));
    const QFont bold = theme.font(11, true);
    const double width = label_width(bold, name) + 2;
    const QRectF rect(left ? x - width - 3 : x + 4, 0, width, 16);
    put_text(painter, rect, Qt::AlignVCenter, name, bold, pen.color(), texts);
  };
  if (picture.floor && *picture.floor <= at.end)
    mark(*picture.floor,
         QObject::tr("floor %1").arg(forwards_figure(*picture.floor / picture.unit)), true,
         QPen(theme.text, 1.6));
  if (picture.par)
    mark(*picture.par, QObject::tr("par %1").arg(forwards_figure(*picture.par / picture.unit)),
         false, QPen(theme.accent_line, 1.6, Qt::DashLine));
}

void paint_placed(QPainter& painter, const QRectF& bar, const Action& action, int chunks,
                  bool told_of, const Theme& theme, TextLog* texts) {
  painter.setPen(QPen(told_of ? theme.text : kind_line(action.kind, theme), told_of ? 2 : 1));
  painter.setBrush(kind_fill(action.kind, theme));
  painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  const QFont font = theme.font(bar.height() > 24 ? 12 : 11);
  QString text = chunks > 1 ? QStringLiteral("%1.%2").arg(action.microbatch).arg(action.chunk)
                            : QString::number(action.microbatch);
  if (label_width(font, text) > bar.width() - 2) text = QString::number(action.microbatch);
  if (label_width(font, text) <= bar.width() - 2)
    put_label(painter, bar, text, font, theme.ink_on(kind_fill(action.kind, theme)), texts);
}

// What a line that stops waits for, over the rest of its time.
void paint_editor_wait(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                       int rank, const QRectF& row, double from, const Theme& theme,
                       TextLog* texts) {
  const DraftWait& wait = *picture.times->ranks[static_cast<std::size_t>(rank)].wait;
  const QString needs = action_text(wait.needs, picture.draft->chunks);
  QString text;
  if (!wait.for_ever && wait.rank == rank)
    text = QObject::tr("waits for its own %1, which has to stand before it").arg(needs);
  else if (!wait.for_ever)
    text =
        QObject::tr("waits for %1 of stage %2, which is not placed yet").arg(needs).arg(wait.rank);
  else if (wait.rank == rank && wait.position < 0)
    text = QObject::tr("%1 stands twice").arg(needs);
  else if (wait.rank == rank)
    text = QObject::tr("waits forever for its own %1, which stands behind").arg(needs);
  else
    text = QObject::tr("waits forever for %1 of stage %2").arg(needs).arg(wait.rank);
  if (wait.position >= 0 && !wait.for_ever)
    text = QObject::tr("waits for %1 of stage %2, which waits itself").arg(needs).arg(wait.rank);
  const QColor color = wait.for_ever ? theme.warning : theme.muted;
  const QRectF rest(from, row.top(), std::max(60.0, at.left + at.width - from), row.height());
  painter.setPen(QPen(color, 1, Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(rest.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
  put_elided(painter, rest.adjusted(8, 0, -6, 0), Qt::AlignVCenter, text, theme.font(12), color,
             texts);
}

void paint_editor_ghosts(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                         int rank, const Theme& theme, TextLog* texts) {
  const DraftRank& line = picture.times->ranks[static_cast<std::size_t>(rank)];
  const std::vector<QRectF> rects = ghost_rects(picture, at, rank);
  for (std::size_t index = 0; index < rects.size(); ++index) {
    const NextAction& next = line.next[index];
    const QRectF rect = rects[index].adjusted(0.5, 0.5, -0.5, -0.5);
    const bool pointed = picture.ghost == Spot{rank, static_cast<int>(index)};
    painter.setBrush(pointed ? kind_fill(next.action.kind, theme) : theme.surface);
    painter.setPen(
        QPen(kind_line(next.action.kind, theme), 1.2, pointed ? Qt::SolidLine : Qt::DashLine));
    painter.drawRoundedRect(rect, 2, 2);
    if (pointed) {
      painter.setPen(QPen(theme.accent_line, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(rect.adjusted(-2, -2, 2, 2), 4, 4);
    }
    const QFont font = theme.font(11);
    const QString name = action_text(next.action, picture.draft->chunks);
    QString text = QStringLiteral("+ ") + name;
    if (label_width(font, text) > rect.width() - 4) text = name;
    if (label_width(font, text) <= rect.width() - 1)
      put_label(painter, rect, text, font,
                pointed ? theme.ink_on(kind_fill(next.action.kind, theme)) : theme.text, texts);
  }
}

// A line below the row, with a gap between any two actions.
void paint_editor_goal(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                       int rank, const QRectF& row, const Theme& theme) {
  if (!picture.goal || static_cast<std::size_t>(rank) >= picture.goal->size()) return;
  for (const TimedAction& action : (*picture.goal)[static_cast<std::size_t>(rank)]) {
    const double from = at.x_of(action.begin) + 1, to = at.x_of(action.end) - 1;
    painter.fillRect(QRectF(from, row.bottom() + 1.5, std::max(1.0, to - from), 3),
                     theme.accent_line);
  }
}

}  // namespace

QString action_text(const Action& action, int chunks) {
  const QString text = QLatin1Char(letter_of(action.kind)) + QString::number(action.microbatch);
  return chunks > 1 ? text + QLatin1Char('.') + QString::number(action.chunk) : text;
}

OpColor color_of_kind(ActionKind kind) {
  return kind == ActionKind::kForward      ? OpColor::kForward
         : kind == ActionKind::kWeightGrad ? OpColor::kWeight
                                           : OpColor::kBackward;
}

void PlainBars::add(const QRectF& bar, const QColor& color) {
  const QRgb wanted = color.rgba();
  auto own = std::find_if(bars_.begin(), bars_.end(),
                          [&](const auto& one) { return one.first == wanted; });
  if (own == bars_.end()) own = bars_.insert(bars_.end(), {wanted, {}});
  own->second << bar;
}

void PlainBars::paint(QPainter& painter) const {
  if (!painter.testRenderHint(QPainter::Antialiasing) && has_pixels(painter))
    return paint_pixels(painter);
  painter.setPen(Qt::NoPen);
  for (const auto& [color, bars] : bars_) {
    painter.setBrush(QColor::fromRgba(color));
    painter.drawRects(bars);
  }
}

// Whole pixels, rounded as QPainter::fillRect() rounds. All lines of pixels of the row are the
// same: the first is made here, and all are painted at once.
void PlainBars::paint_pixels(QPainter& painter) const {
  if (bars_.empty()) return;
  const QTransform& to_device = painter.deviceTransform();
  const auto device_bar = [&](const QRectF& bar) {
    const QRectF there = to_device.mapRect(bar);
    return QRect(QPoint(qRound(there.left()), qRound(there.top())),
                 QPoint(qRound(there.right()), qRound(there.bottom())) - QPoint(1, 1));
  };
  QRect whole;
  for (const auto& [color, bars] : bars_)
    for (const QRectF& bar : bars) whole |= device_bar(bar);
  if (whole.isEmpty()) return;
  QImage image(whole.size(), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  auto* const first = reinterpret_cast<QRgb*>(image.scanLine(0));
  for (const auto& [color, bars] : bars_)
    for (const QRectF& bar : bars) {
      const QRect there = device_bar(bar);
      std::fill_n(first + (there.left() - whole.left()), there.width(), qPremultiply(color));
    }
  for (int line = 1; line < image.height(); ++line)
    std::copy_n(first, image.width(), reinterpret_cast<QRgb*>(image.scanLine(line)));
  painter.drawImage(to_device.inverted().mapRect(QRectF(whole)), image);
}

bool row_is_painted(const QPainter& painter, const QRectF& row) {
  constexpr double kAbove = 6, kBelow = 8, kBeside = 1e6;
  return !painter.hasClipping() ||
         painter.clipBoundingRect().intersects(row.adjusted(-kBeside, -kAbove, kBeside, kBelow));
}

QString row_name(const Order& order, int rank) {
  return order.chunks > 1 ? QObject::tr("Rank %1").arg(rank) : QObject::tr("Stage %1").arg(rank);
}

void paint_row_name(QPainter& painter, const Order& order, int rank, const QRectF& row,
                    const Theme& theme, TextLog* texts) {
  paint_chip(painter, QPointF(2, row.center().y() - kEditorChip / 2), kEditorChip, rank, theme,
             texts);
  const double left = kEditorChip + 7;
  put_elided(painter, QRectF(left, row.top(), kEditorLabel - left - 2, row.height()),
             Qt::AlignVCenter, row_name(order, rank), theme.font(12), theme.text, texts);
}

QString forwards_figure(double forwards) { return number_text(std::round(forwards * 100) / 100); }

QString forwards_text(double forwards) {
  const double shown = std::round(forwards * 100) / 100;
  return shown == 1 ? QObject::tr("1 forward") : QObject::tr("%1 forwards").arg(number_text(shown));
}

QRectF EditorTimes::row_rect(int rank) const {
  return QRectF(left, kTimesHead + rank * (row + gap), width, row);
}

double EditorTimes::height(int ranks) const { return kTimesHead + ranks * (row + gap); }

EditorTimes editor_times(const EditorPicture& picture, double width) {
  EditorTimes at;
  const int ranks = static_cast<int>(picture.draft->ranks.size());
  at.row = picture.low ? 22 : ranks <= 4 ? 38 : ranks <= 8 ? 28 : 20;
  at.gap = ranks > 8 ? 4 : picture.low ? 6 : 8;
  at.left = kEditorLabel;
  at.width = std::max(80.0, width - kEditorLabel - kTimesRight);
  // Room for what is placed, what may come next, par, floor, and a little more.
  double end = picture.times->makespan;
  for (const DraftRank& line : picture.times->ranks) {
    double ghosts = 0;
    for (const NextAction& next : line.next) ghosts += next.end - next.begin;
    if (picture.ghosts && !line.next.empty()) end = std::max(end, line.next.front().begin + ghosts);
  }
  if (picture.par) end = std::max(end, *picture.par);
  if (picture.floor && std::isfinite(*picture.floor)) end = std::max(end, *picture.floor);
  if (picture.goal)
    for (const auto& line : *picture.goal)
      if (!line.empty()) end = std::max(end, line.back().end);
  if (picture.run) end = std::max(end, picture.run->end);
  end = std::max(end, 4 * picture.unit);
  const double step = forward_step(end / picture.unit, at.width) * picture.unit;
  at.end = std::ceil(end * 1.03 / step) * step;
  at.legend_rows =
      editor_legend(nullptr, picture, QRectF(at.left, 0, at.width, 0), light_theme(), nullptr);
  at.dense = at.x_of(picture.unit) - at.left < kSmoothFrom;
  at.run = picture.run != nullptr;
  at.run_row = ranks <= 8 ? 24 : 18;
  return at;
}

std::vector<QRectF> ghost_rects(const EditorPicture& picture, const EditorTimes& at, int rank) {
  std::vector<QRectF> rects;
  if (!picture.ghosts || !picture.editable) return rects;
  const QRectF row = at.row_rect(rank);
  double x = 0;
  for (const NextAction& next : picture.times->ranks[static_cast<std::size_t>(rank)].next) {
    x = std::max(x, at.x_of(next.begin));
    const double named =
        label_width(light_theme().font(11), action_text(next.action, picture.draft->chunks)) + 10;
    const double width = std::max(named, at.x_of(next.end) - at.x_of(next.begin));
    rects.emplace_back(x, row.top(), width, row.height());
    x += width + 1;
  }
  return rects;
}

std::optional<Spot> ghost_at(const EditorPicture& picture, const EditorTimes& at, QPointF point) {
  const int ranks = static_cast<int>(picture.draft->ranks.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<QRectF> rects = ghost_rects(picture, at, rank);
    for (std::size_t index = 0; index < rects.size(); ++index)
      if (rects[index].contains(point)) return Spot{rank, static_cast<int>(index)};
  }
  return std::nullopt;
}

std::optional<Spot> action_at(const EditorPicture& picture, const EditorTimes& at, QPointF point) {
  const int ranks = static_cast<int>(picture.draft->ranks.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const QRectF row = at.row_rect(rank);
    if (point.y() < row.top() || point.y() >= row.bottom()) continue;
    const auto& ran = picture.times->ranks[static_cast<std::size_t>(rank)].ran;
    for (std::size_t index = 0; index < ran.size(); ++index)
      if (point.x() >= at.x_of(ran[index].begin) && point.x() < at.x_of(ran[index].end))
        return Spot{rank, static_cast<int>(index)};
  }
  return std::nullopt;
}

void paint_editor_times(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                        const Theme& theme, TextLog* texts) {
  painter.setRenderHint(QPainter::Antialiasing);
  paint_editor_axis(painter, picture, at, theme, texts);
  const int chunks = picture.draft->chunks;
  const int ranks = static_cast<int>(picture.draft->ranks.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const QRectF row = at.row_rect(rank);
    if (!row_is_painted(painter, row)) continue;
    const DraftRank& line = picture.times->ranks[static_cast<std::size_t>(rank)];
    paint_row_name(painter, *picture.draft, rank, row, theme, texts);
    paint_editor_goal(painter, picture, at, rank, row, theme);
    double idle_from = 0;
    PlainBars narrow;
    for (std::size_t index = 0; index < line.ran.size(); ++index) {
      const TimedAction& ran = line.ran[index];
      if (ran.begin > idle_from + 1e-12)
        paint_hatching(painter,
                       QRectF(QPointF(at.x_of(idle_from), row.top()),
                              QPointF(at.x_of(ran.begin), row.bottom())),
                       theme);
      idle_from = std::max(idle_from, ran.end);
      const QRectF bar(QPointF(at.x_of(ran.begin), row.top()),
                       QPointF(at.x_of(ran.end), row.bottom()));
      const bool told_of = picture.action == Spot{rank, static_cast<int>(index)};
      if (bar.width() < kLeastLabelled && !told_of) {
        narrow.add(bar, kind_fill(ran.action.kind, theme));
        narrow.add(QRectF(bar.left(), bar.top(), 1, bar.height()),
                   kind_line(ran.action.kind, theme));
      } else {
        paint_placed(painter, bar, ran.action, chunks, told_of, theme, texts);
      }
    }
    painter.setRenderHint(QPainter::Antialiasing, !at.dense);
    narrow.paint(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    if (line.wait)
      paint_editor_wait(painter, picture, at, rank, row, at.x_of(idle_from), theme, texts);
    else
      paint_editor_ghosts(painter, picture, at, rank, theme, texts);
  }
  paint_editor_chosen(painter, picture, at, theme);
  paint_editor_transfers(painter, picture, at, theme);
  paint_editor_path(painter, picture, at, theme);
  editor_legend(&painter, picture,
                QRectF(at.left, at.height(ranks), at.width, at.legend_rows * at.legend_row), theme,
                texts);
  paint_editor_run(painter, picture, at, theme, texts);
}

}  // namespace parallelarium
