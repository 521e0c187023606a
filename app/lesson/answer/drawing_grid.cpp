// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer/drawing_grid.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

constexpr int kLabel = 18, kRow = 26, kSlotHead = 16, kLeastCell = 14;

QString cell_text(const std::optional<Action>& action) {
  if (!action) return {};
  return QLatin1Char(letter_of(action->kind)) + QString::number(action->microbatch);
}

}  // namespace

DrawingGrid::DrawingGrid(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("LessonDrawing"));
  speak_as(*this, {QAccessible::Canvas, [this] { return all_words(); }});
  setAccessibleName(tr("Drawing to check, by stage and slot"));
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setCursor(Qt::PointingHandCursor);
}

void DrawingGrid::set_drawing(const Drawing& drawing, const Marks& marks) {
  drawing_ = drawing;
  marks_ = marks;
  faults_.clear();
  for (const DrawnFault& fault : faults_of(drawing)) faults_.insert({fault.stage, fault.slot});
  shows_faults_ = done_ = moved_ = false;
  stage_ = slot_ = 0;
  setFixedHeight(sizeHint().height());
  tell();
  update();
}

void DrawingGrid::show_faults(bool shown) {
  shows_faults_ = shown;
  tell();
  update();
}

void DrawingGrid::set_done(bool done) {
  done_ = done;
  setCursor(done ? Qt::ArrowCursor : Qt::PointingHandCursor);
  update();
}

QSize DrawingGrid::sizeHint() const {
  return {minimumSizeHint().width() * 3 / 2,
          kSlotHead + static_cast<int>(drawing_.rows.size()) * kRow + 2};
}

QSize DrawingGrid::minimumSizeHint() const {
  return {kLabel + static_cast<int>(drawing_.slots()) * kLeastCell + 2, kSlotHead + kRow};
}

QRect DrawingGrid::cell_rect(int stage, int slot) const {
  const int slots = std::max(1, static_cast<int>(drawing_.slots()));
  const int room = width() - kLabel - 1;
  const int left = kLabel + room * slot / slots, right = kLabel + room * (slot + 1) / slots;
  return {left, kSlotHead + stage * kRow, right - left, kRow};
}

std::pair<int, int> DrawingGrid::cell_at(const QPoint& at) const {
  for (int stage = 0; stage < static_cast<int>(drawing_.rows.size()); ++stage)
    for (int slot = 0; drawing_.has(stage, slot); ++slot)
      if (cell_rect(stage, slot).contains(at)) return {stage, slot};
  return {-1, -1};
}

void DrawingGrid::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int slots = static_cast<int>(drawing_.slots());
  for (int slot = 0; slot < slots; ++slot)
    put_label(painter, QRectF(cell_rect(0, slot)).translated(0, -kSlotHead).adjusted(0, 0, 0, -10),
              QString::number(slot), theme.font(9), theme.muted, nullptr);
  for (int stage = 0; stage < static_cast<int>(drawing_.rows.size()); ++stage) {
    const QRectF first = cell_rect(stage, 0);
    put_label(painter, QRectF(0, first.top(), kLabel - 2, first.height()), QString::number(stage),
              theme.font(11, true), theme.text, nullptr);
    for (int slot = 0; drawing_.has(stage, slot); ++slot) {
      const std::optional<Action>& action =
          drawing_.rows[static_cast<std::size_t>(stage)][static_cast<std::size_t>(slot)];
      const QRectF cell = QRectF(cell_rect(stage, slot)).adjusted(1, 2, -1, -2);
      const bool marked = marks_.count({stage, slot}) > 0;
      const OpColor color =
          action && action->kind == ActionKind::kBackward ? OpColor::kBackward : OpColor::kForward;
      painter.setBrush(action ? QBrush(theme.tint(color)) : theme.bubble());
      painter.setPen(QPen(action ? theme.solid(color) : theme.bubble_line, 1));
      painter.drawRoundedRect(cell, 2, 2);
      if (action)
        put_label(painter, cell, cell_text(action), theme.font(cell.width() < 19 ? 9 : 11),
                  theme.ink_on(theme.tint(color)), nullptr);
      if (marked) {
        const bool sound = shows_faults_ && faults_.count({stage, slot}) == 0;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(shows_faults_ && !sound ? theme.good : theme.warning, 2,
                            sound ? Qt::DotLine : Qt::SolidLine));
        painter.drawRoundedRect(cell, 2, 2);
        painter.drawLine(cell.topLeft() + QPointF(1, 1), cell.bottomRight() - QPointF(1, 1));
      }
      if (hasFocus() && stage == stage_ && slot == slot_) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme.text, 1, Qt::DashLine));
        painter.drawRect(cell.adjusted(-1, -1.5, 1, 1.5));
      }
    }
  }
}

void DrawingGrid::toggle(int stage, int slot) {
  stage_ = stage;
  slot_ = slot;
  moved_ = true;
  if (!done_) {
    if (marks_.erase({stage, slot}) == 0) marks_.insert({stage, slot});
    shows_faults_ = false;
    Q_EMIT marked();
  }
  tell();
  update();
}

void DrawingGrid::mousePressEvent(QMouseEvent* event) {
  const auto [stage, slot] = cell_at(event->position().toPoint());
  if (stage >= 0) toggle(stage, slot);
}

void DrawingGrid::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up      ? -1
                   : event->key() == Qt::Key_Right || event->key() == Qt::Key_Down ? 1
                                                                                   : 0;
  if (event->key() == Qt::Key_Space) return toggle(stage_, slot_);
  if (step == 0) return QWidget::keyPressEvent(event);
  moved_ = true;
  const bool across = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
  int stage = stage_ + (across ? 0 : step);
  stage = std::clamp(stage, 0, static_cast<int>(drawing_.rows.size()) - 1);
  const int last = static_cast<int>(drawing_.rows[static_cast<std::size_t>(stage)].size()) - 1;
  slot_ = std::clamp(slot_ + (across ? step : 0), 0, last);
  stage_ = stage;
  tell();
  update();
}

bool DrawingGrid::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto [stage, slot] = cell_at(help->pos());
  if (stage < 0)
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), words_of(stage, slot), this, cell_rect(stage, slot));
  return true;
}

// With faults shown, why a marked action is one, or that it is none.
QString DrawingGrid::words_of(int stage, int slot) const {
  const bool marked = marks_.count({stage, slot}) > 0;
  if (shows_faults_ && marked) {
    for (const DrawnFault& fault : faults_of(drawing_))
      if (fault.stage == stage && fault.slot == slot) return sentence(fault.sentence());
    return sentence(sound_sentence(drawing_, stage, slot));
  }
  const QString text =
      cell_text(drawing_.rows[static_cast<std::size_t>(stage)][static_cast<std::size_t>(slot)]);
  const QString what = text.isEmpty() ? tr("idle") : text;
  return marked ? tr("Stage %1, slot %2: %3, marked").arg(stage).arg(slot).arg(what)
                : tr("Stage %1, slot %2: %3").arg(stage).arg(slot).arg(what);
}

QString DrawingGrid::all_words() const {
  QString rows;
  for (std::size_t stage = 0; stage < drawing_.rows.size(); ++stage) {
    rows += tr("Stage %1: ").arg(stage);
    for (const std::optional<Action>& action : drawing_.rows[stage])
      rows += (action ? cell_text(action) : tr("idle")) + QLatin1Char(' ');
    rows = rows.trimmed() + QStringLiteral(".\n");
  }
  return rows.trimmed();
}

void DrawingGrid::tell() {
  if (drawing_.rows.empty()) return;
  const QString before = asked_.isEmpty() || moved_ ? QString() : asked_ + QLatin1Char('\n');
  describe(*this, before + words_of(stage_, slot_));
}

void DrawingGrid::set_asked(const QString& asked) {
  asked_ = asked;
  tell();
}

}  // namespace parallelarium
