// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/stage_strip.h"

#include <QAccessible>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <map>

#include "app/look/spoken.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

constexpr double kTop = 4, kHeight = 64, kBoxShare = 0.735, kMostBox = 220, kLeastBox = 52;
constexpr double kLeastGap = 24;
constexpr double kLeastShown = 0.01;  // of the step: how long a message is on its way at least

struct Brush2D {
  QPainter& painter;
  const Theme& theme;
  TextLog* texts;
};

QString short_op(const Bar& bar) {
  const QString number = bar.microbatch < 0 ? QString() : bar_labels(bar).back();
  if (number.isEmpty()) return {};
  switch (bar.action) {
    case ActionKind::kForward:
      return QLatin1Char('F') + number;
    case ActionKind::kBackward:
      return QLatin1Char('B') + number;
    case ActionKind::kInputGrad:
      return QLatin1Char('I') + number;
    case ActionKind::kWeightGrad:
      return QLatin1Char('W') + number;
  }
  return {};
}

// The micro-batches that a stage holds, as squares; "+3" for those without room.
void paint_held(const Brush2D& brush, const QRectF& area, const std::vector<int>& held) {
  const QFont font = brush.theme.font(11);
  if (held.empty()) {
    const QString text = QObject::tr("holds nothing");
    const QString shorter = QStringLiteral("\u2013");
    const bool fits = QFontMetricsF(font).horizontalAdvance(text) <= area.width();
    put_text(brush.painter, area, Qt::AlignVCenter, fits ? text : shorter, font, brush.theme.muted,
             brush.texts);
    return;
  }
  const double size = std::min(22.0, area.height());
  const double pitch = size + (area.width() > 100 ? 4 : 2);
  const auto room = static_cast<std::size_t>(std::max(1.0, (area.width() + 2) / pitch));
  const std::size_t count = held.size() > room ? std::max<std::size_t>(1, room) - 1 : held.size();
  const QColor fill = brush.theme.memory(Category::kActivations);
  for (std::size_t index = 0; index < count; ++index) {
    const QRectF rect(area.left() + static_cast<double>(index) * pitch,
                      area.center().y() - size / 2, size, size);
    brush.painter.setPen(
        QPen(mixed(fill, brush.theme.dark ? Qt::black : QColor(0x80, 0x60, 0), 0.3), 1));
    brush.painter.setBrush(fill);
    brush.painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    put_text(brush.painter, rect, Qt::AlignCenter, QString::number(held[index]), font,
             brush.theme.ink_on(fill), brush.texts);
  }
  if (count == held.size()) return;
  const QRectF rest(area.left() + static_cast<double>(count) * pitch, area.top(),
                    area.right() - area.left() - static_cast<double>(count) * pitch, area.height());
  QString text = count == 0 ? QObject::tr("%1 held").arg(held.size())
                            : QStringLiteral("+%1").arg(held.size() - count);
  if (QFontMetricsF(font).horizontalAdvance(text) > rest.width())
    text = QString::number(held.size() - count);
  put_text(brush.painter, rest, Qt::AlignVCenter, text, font, brush.theme.muted, brush.texts);
}

void paint_box(const Brush2D& brush, const QRectF& box, int stage, const StageMoment& moment,
               bool selected, bool hides_held) {
  brush.painter.setPen(
      QPen(selected ? brush.theme.accent_line : brush.theme.control_line, selected ? 1.6 : 1));
  brush.painter.setBrush(brush.theme.surface);
  brush.painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
  const double pad = box.width() >= 110 ? 10 : 6;
  const QRectF head(box.left() + pad, box.top() + 7, box.width() - 2 * pad, 18);
  const QFont bold = brush.theme.font(12, true), small = brush.theme.font(11);
  const auto width = [](const QFont& font, const QString& text) {
    return QFontMetricsF(font).horizontalAdvance(text);
  };
  QString title = QObject::tr("Stage %1").arg(stage);
  QString op = moment.bar ? bar_labels(*moment.bar).front() : QObject::tr("idle");
  if (width(bold, title) + width(small, op) + 8 > head.width() && moment.bar)
    op = short_op(*moment.bar);
  if (width(bold, title) + width(small, op) + 6 > head.width()) title = QString::number(stage);
  put_text(brush.painter, head, Qt::AlignVCenter, title, bold, brush.theme.text, brush.texts);
  if (width(bold, title) + width(small, op) + 4 <= head.width())
    put_text(brush.painter, head, Qt::AlignVCenter | Qt::AlignRight, op, small, brush.theme.muted,
             brush.texts);
  const QRectF below(head.left(), box.top() + 30, head.width(), 24);
  if (hides_held)
    put_text(brush.painter, below, Qt::AlignVCenter, kHidden, small, brush.theme.muted,
             brush.texts);
  else
    paint_held(brush, below, moment.held);
}

// One numbered message with a point that says where it goes.
void paint_message(const Brush2D& brush, QPointF center, bool to_right, const QString& text,
                   bool with_text) {
  const QFont font = brush.theme.font(11);
  const double width = std::max(22.0, QFontMetricsF(font).horizontalAdvance(text) + 8);
  const QRectF rect(center.x() - width / 2, center.y() - 8.5, width, 17);
  const QColor fill = brush.theme.solid(OpColor::kCommunication);
  brush.painter.setPen(Qt::NoPen);
  brush.painter.setBrush(fill);
  brush.painter.drawRoundedRect(rect, 4, 4);
  const double tip = to_right ? rect.right() : rect.left(), way = to_right ? 5 : -5;
  brush.painter.drawPolygon(QPolygonF{QPointF(tip - way * 0.2, center.y() - 5),
                                      QPointF(tip + way, center.y()),
                                      QPointF(tip - way * 0.2, center.y() + 5)});
  if (with_text)
    put_text(brush.painter, rect, Qt::AlignCenter, text, font, brush.theme.ink_on(fill),
             brush.texts);
}

// All messages of one door: those on their way, and one chip for those that wait.
void paint_door(const Brush2D& brush, const StripLook& look, const std::vector<Travel>& travels) {
  const Travel& first = travels.front();
  const bool to_right = first.to > first.from;
  const QRectF from = look.geometry.box_of(first.from, kHeight);
  const QRectF to = look.geometry.box_of(first.to, kHeight);
  const double y = from.top() + (first.gradient ? 44 : 17);
  // Neighbours meet in their gap; a way over several boxes leads over them.
  const double x0 = to_right ? from.right() + 8 : from.left() - 8;
  const double x1 = to_right ? to.left() - 9 : to.right() + 9;
  std::vector<const Travel*> waiting;
  for (const Travel& travel : travels)
    if (travel.share >= 1) waiting.push_back(&travel);
  // The foremost has its number; those close behind it show that there are more.
  double free_from = waiting.empty() ? x1 + 100 : x1;
  if (!to_right) free_from = waiting.empty() ? x1 - 100 : x1;
  std::vector<const Travel*> moving;
  for (const Travel& travel : travels)
    if (travel.share < 1) moving.push_back(&travel);
  std::vector<bool> numbered;
  for (const Travel* travel : moving) {
    const double x = x0 + (x1 - x0) * travel->share;
    numbered.push_back(std::abs(x - free_from) >= 30);
    if (numbered.back()) free_from = x;
  }
  for (std::size_t index = moving.size(); index-- > 0;)
    paint_message(brush, {x0 + (x1 - x0) * moving[index]->share, y}, to_right,
                  QString::number(moving[index]->microbatch), numbered[index]);
  if (waiting.empty()) return;
  QString text = QString::number(waiting.front()->microbatch);
  if (waiting.size() > 1) text += QStringLiteral(" +%1").arg(waiting.size() - 1);
  paint_message(brush, {x1, y}, to_right, text, true);
}

}  // namespace

QRectF StripGeometry::box_of(int stage, double height) const {
  return QRectF(left + stage * (box + gap), kTop, box, height);
}

StripGeometry strip_geometry(int stages, double left, double width) {
  StripGeometry geometry;
  geometry.left = left;
  geometry.stages = stages;
  const double unit = width / (std::max(1, stages) - (1 - kBoxShare));
  geometry.box = std::clamp(std::floor(unit * kBoxShare), kLeastBox, kMostBox);
  geometry.gap = std::max(kLeastGap, std::floor(unit * (1 - kBoxShare)));
  const double left_over = width - geometry.gap * std::max(0, stages - 1);
  geometry.box =
      std::min(geometry.box, std::max(kLeastBox, std::floor(left_over / std::max(1, stages))));
  if (geometry.box == kMostBox) geometry.gap = std::min(geometry.gap, 80.0);
  return geometry;
}

std::vector<Travel> travels_at(const LaneRows& rows, Nanoseconds time) {
  std::vector<Travel> travels;
  const Nanoseconds least(
      std::llround(static_cast<double>(rows.timeline->duration.count()) * kLeastShown));
  for (const StageParcel& parcel : rows.parcels()) {
    if (parcel.begin > time) break;
    const Nanoseconds arrives = std::max(parcel.end, parcel.begin + least);
    if (time >= std::max(arrives, parcel.used)) continue;
    const auto way = static_cast<double>((arrives - parcel.begin).count());
    const double share = way > 0 ? static_cast<double>((time - parcel.begin).count()) / way : 1.0;
    travels.push_back(
        {parcel.from, parcel.to, parcel.microbatch, parcel.gradient, std::clamp(share, 0.0, 1.0)});
  }
  return travels;
}

void paint_stage_strip(QPainter& painter, const LaneRows& rows, Nanoseconds time,
                       const Theme& theme, const StripLook& look, QSizeF size, TextLog* texts) {
  painter.save();
  painter.setClipRect(QRectF(QPointF(0, 0), size), Qt::IntersectClip);
  painter.translate(-look.scroll, 0);
  painter.setRenderHint(QPainter::Antialiasing);
  const Brush2D brush{painter, theme, texts};
  int stage = -1;
  for (const Row& row : rows.rows) {
    if (row.stage == stage) continue;
    stage = row.stage;
    paint_box(brush, look.geometry.box_of(stage, kHeight), stage, moment_of(row, time),
              stage == look.selected_stage, look.hides_held);
  }
  std::map<std::tuple<int, int, bool>, std::vector<Travel>> doors;
  for (Travel travel : travels_at(rows, time)) {
    if (!look.tweened) travel.share = travel.share < 1 ? 0 : 1;
    doors[{travel.from, travel.to, travel.gradient}].push_back(travel);
  }
  for (const auto& [door, travels] : doors) paint_door(brush, look, travels);
  painter.restore();
}

StageStrip::StageStrip(Session& session, QWidget* parent)
    : QAbstractScrollArea(parent), session_(session) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);  // the timeline below reaches every op by key
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  speak_as(*this, {QAccessible::Graphic});
  setAccessibleName(tr("Stages at this moment"));
  connect(&session.playback(), &Playback::playhead_changed, this, [this] {
    viewport()->update();
    if (!session_.playback().playing()) setAccessibleDescription(description());
  });
  connect(&session.subject(), &Subject::selection_changed, this, [this] { viewport()->update(); });
  connect(&session.playback(), &Playback::motion_changed, this, [this] { viewport()->update(); });
  connect(&session.locks(), &LessonLocks::hidden_changed, this, [this] { viewport()->update(); });
}

StageStrip::~StageStrip() = default;

void StageStrip::show_rows(std::shared_ptr<const LaneRows> rows, bool hidden) {
  rows_ = std::move(rows);
  hidden_ = hidden;
  update_scroll();
  setAccessibleDescription(description());
  viewport()->update();
}

void StageStrip::set_axis(int left, int width) {
  axis_left_ = left;
  axis_width_ = width;
  update_scroll();
  viewport()->update();
}

int StageStrip::stages() const {
  return rows_ && !rows_->rows.empty() ? rows_->rows.back().stage + 1 : 0;
}

void StageStrip::update_scroll() {
  const StripGeometry geometry = strip_geometry(stages(), axis_left_, axis_width_);
  const int width = static_cast<int>(std::ceil(geometry.left + geometry.width() + 16));
  horizontalScrollBar()->setRange(0, std::max(0, width - viewport()->width()));
  horizontalScrollBar()->setPageStep(viewport()->width());
  horizontalScrollBar()->setSingleStep(static_cast<int>(geometry.box + geometry.gap));
  updateGeometry();
}

QString StageStrip::description() const {
  if (!rows_ || hidden_) return tr("Hidden until you answer.");
  return moment_sentence(*rows_, session_.playback().playhead(), session_.locks().hidden_of_ops(),
                         !session_.locks().hidden(QStringLiteral("held.peak")));
}

QSize StageStrip::sizeHint() const {
  const bool scrolls = horizontalScrollBar()->maximum() > 0;
  return QSize(600, static_cast<int>(kTop + kHeight) + 6 + (scrolls ? 10 : 0));
}

QSize StageStrip::minimumSizeHint() const { return QSize(200, sizeHint().height()); }

void StageStrip::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const Theme& theme = theme_for(palette());
  painter.fillRect(viewport()->rect(), theme.surface);
  if (hidden_) {
    painter.setPen(theme.muted);
    painter.setFont(theme.font(15, true));
    painter.drawText(viewport()->rect(), Qt::AlignCenter, kHidden);
    return;
  }
  if (!rows_) return;
  if (!session_.problems().empty()) painter.setOpacity(kDimmed);
  StripLook look;
  look.hides_held = session_.locks().hidden(QStringLiteral("held.peak"));
  look.geometry = strip_geometry(stages(), axis_left_, axis_width_);
  look.scroll = horizontalScrollBar()->value();
  look.tweened = !session_.playback().reduced_motion();
  const OpRef selected = session_.subject().selected();
  if (const Row* row = selected.rank >= 0 ? rows_->row_of(selected.rank) : nullptr)
    look.selected_stage = row->stage;
  paint_stage_strip(painter, *rows_, session_.playback().playhead(), theme, look,
                    viewport()->size());
}

void StageStrip::resizeEvent(QResizeEvent*) { update_scroll(); }

void StageStrip::scrollContentsBy(int, int) { viewport()->update(); }

void StageStrip::wheelEvent(QWheelEvent* event) {
  QScrollBar* bar = horizontalScrollBar();
  if (bar->maximum() == 0) return event->ignore();
  const QPoint delta = event->angleDelta();
  bar->setValue(bar->value() - (delta.x() != 0 ? delta.x() : delta.y()));
}

// A click on a box selects what the stage does now.
void StageStrip::mousePressEvent(QMouseEvent* event) {
  if (!rows_ || hidden_ || event->button() != Qt::LeftButton) return;
  const StripGeometry geometry = strip_geometry(stages(), axis_left_, axis_width_);
  const QPointF at = event->position() + QPointF(horizontalScrollBar()->value(), 0);
  for (const Row& row : rows_->rows) {
    if (!geometry.box_of(row.stage, kHeight).contains(at)) continue;
    const StageMoment moment = moment_of(row, session_.playback().playhead());
    if (moment.bar)
      session_.subject().select({row.rank_index, moment.bar->first_op},
                                rows_->timeline->source != Source::kPredicted, Zoom::kActions);
    return;
  }
}

}  // namespace parallelarium
