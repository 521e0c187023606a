// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keyboard of the order editor.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollArea>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cstdlib>
#include <set>

#include "app/views/pipeline/editor/editor_run.h"
#include "app/views/pipeline/editor/order_editor.h"

namespace parallelarium {

namespace {

// But F2, which opens a row as text.
bool is_function_key(int key) {
  return key >= Qt::Key_F1 && key <= Qt::Key_F35 && key != Qt::Key_F2;
}

// A canvas is opaque, and paints only what of it has to be new.
void begin_canvas(QPainter& painter, const QEvent& event, const Theme& theme) {
  const QRect rect = static_cast<const QPaintEvent&>(event).rect();
  painter.setClipRect(rect);
  painter.fillRect(rect, theme.surface);
}

}  // namespace

bool OrderEditor::low() const {
  constexpr int kLowBelow = 600;
  return height() < kLowBelow;
}

void OrderEditor::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (was_low_ == low()) return;
  was_low_ = low();
  scroll_->widget()->layout()->setSpacing(was_low_ ? 5 : 8);
  verdict_->layout()->setContentsMargins(12, was_low_ ? 4 : 7, 12, was_low_ ? 4 : 7);
  refresh();
}

void OrderEditor::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) update();
}

bool OrderEditor::eventFilter(QObject* watched, QEvent* event) {
  if (watched == text_) {
    const int key = event->type() == QEvent::KeyPress ? static_cast<QKeyEvent*>(event)->key() : 0;
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {  // not also the rows' key
      commit_text();
      return true;
    }
    if (key == Qt::Key_Escape || event->type() == QEvent::FocusOut) text_->hide();
    if (key == Qt::Key_Escape) rows_->setFocus();
    return key == Qt::Key_Escape;
  }
  if (!edit_.open() || !edit_.problem().isEmpty()) return QWidget::eventFilter(watched, event);
  if (event->type() == QEvent::Resize && (watched == rows_ || watched == times_)) {
    place_text_box();
    if (watched == times_)  // a narrower legend takes more lines
      times_->setFixedHeight(static_cast<int>(editor_times(picture(), times_->width())
                                                  .whole_height(int(edit_.draft().ranks.size()))) +
                             1);
    return false;
  }
  if (watched == times_ && times_event(event)) return true;
  if (watched == rows_ && rows_event(event)) return true;
  return QWidget::eventFilter(watched, event);
}

bool OrderEditor::times_event(QEvent* event) {
  const EditorPicture shown = picture();
  const EditorTimes at = editor_times(shown, times_->width());
  switch (event->type()) {
    case QEvent::Paint: {
      QPainter painter(times_);
      const Theme& theme = theme_for(palette());
      begin_canvas(painter, *event, theme);
      paint_editor_times(painter, shown, at, theme, nullptr);
      return true;
    }
    case QEvent::MouseMove: {
      const std::optional<Spot> before = ghost_;
      ghost_ = ghost_at(shown, at, static_cast<QMouseEvent*>(event)->position());
      times_->setCursor(ghost_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
      if (ghost_ != before) times_->update();
      return true;
    }
    case QEvent::Leave:
      ghost_.reset();
      times_->update();
      return false;
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      const std::optional<Spot> ghost = ghost_at(shown, at, help->pos());
      QString words = ghost ? ghost_words(edit_, *ghost) : QString();
      if (const std::optional<Spot> ran = run_action_at(shown, at, help->pos()))
        words = run_action_words(shown, *ran);
      QToolTip::showText(help->globalPos(), words, times_);
      return true;
    }
    case QEvent::MouseButtonPress: {
      const QPointF point = static_cast<QMouseEvent*>(event)->position();
      rows_->setFocus(Qt::MouseFocusReason);
      if (const std::optional<Spot> ghost = ghost_at(shown, at, point)) {
        const auto rank = static_cast<std::size_t>(ghost->rank);
        const Action action =
            edit_.times().ranks[rank].next[static_cast<std::size_t>(ghost->index)].action;
        cursor_ = {ghost->rank, static_cast<int>(edit_.draft().ranks[rank].size()) + 1};
        anchor_ = -1;
        edit_.place(rank, action);
        choose({ghost->rank, cursor_.index - 1});
      } else if (const std::optional<Spot> action = action_at(shown, at, point)) {
        move_cursor({action->rank, action->index + 1}, false);
        choose(*action);
      }
      return true;
    }
    default:
      return false;
  }
}

bool OrderEditor::rows_event(QEvent* event) {
  switch (event->type()) {
    case QEvent::Paint: {
      QPainter painter(rows_);
      const Theme& theme = theme_for(palette());
      begin_canvas(painter, *event, theme);
      paint_editor_rows(painter, picture(), rows_geometry(), theme, nullptr);
      return true;
    }
    case QEvent::FocusIn:
    case QEvent::FocusOut:
      typing_ = false;
      rows_->update();
      return false;
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseMove:
    case QEvent::MouseButtonRelease:
      return rows_mouse(event);
    case QEvent::Wheel: {
      const QPoint delta = static_cast<QWheelEvent*>(event)->angleDelta();
      if (delta.x() == 0) return false;  // up and down scroll the page
      row_scroll_ = editor_rows(picture(), rows_->width(), row_scroll_ - delta.x()).scroll;
      rows_->update();
      return true;
    }
    case QEvent::ShortcutOverride: {
      // Letters, Delete and F2 are the editor's while it has the focus.
      const auto& key = static_cast<const QKeyEvent&>(*event);
      const bool plain = (key.modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == 0;
      if (plain && key.key() != Qt::Key_Tab && key.key() != Qt::Key_Backtab &&
          key.key() != Qt::Key_Escape && !is_function_key(key.key())) {
        event->accept();
        return true;
      }
      if (key.matches(QKeySequence::Copy) || key.matches(QKeySequence::Paste) ||
          key.matches(QKeySequence::Cut) || key.matches(QKeySequence::SelectAll)) {
        event->accept();
        return true;
      }
      return false;
    }
    case QEvent::KeyPress:
      return rows_key(static_cast<QKeyEvent&>(*event));
    default:
      return false;
  }
}

bool OrderEditor::rows_mouse(QEvent* event) {
  const auto* mouse = static_cast<QMouseEvent*>(event);
  const EditorPicture shown = picture();
  bool on_action = false;
  const std::optional<Spot> spot = row_spot(shown, rows_geometry(), mouse->position(), &on_action);
  if (event->type() == QEvent::MouseButtonDblClick) {
    edit_text();
    return true;
  }
  if (event->type() == QEvent::MouseButtonPress && mouse->button() == Qt::LeftButton && spot) {
    rows_->setFocus(Qt::MouseFocusReason);
    dragging_ = on_action && shown.editable;
    dragged_ = spot->index;
    const bool select = mouse->modifiers() & Qt::ShiftModifier;
    move_cursor({spot->rank, on_action ? spot->index + 1 : spot->index}, select);
    if (on_action) choose(*spot);
    return true;
  }
  if (event->type() == QEvent::MouseMove && dragging_ && spot && spot->rank == cursor_.rank) {
    move_cursor({spot->rank, spot->index}, false);  // where it would stand
    return true;
  }
  if (event->type() == QEvent::MouseButtonRelease && dragging_) {
    dragging_ = false;
    if (!spot || spot->rank != cursor_.rank) return true;
    // It lands where the cursor stands: between two actions.
    const int to = spot->index > dragged_ ? spot->index - 1 : spot->index;
    if (to == dragged_) return true;
    cursor_.index = to + 1;
    edit_.move(static_cast<std::size_t>(cursor_.rank), static_cast<std::size_t>(dragged_),
               static_cast<std::size_t>(to));
    choose({cursor_.rank, to});
    return true;
  }
  return false;
}

void OrderEditor::move_cursor(Spot to, bool select) {
  to.rank = std::clamp(to.rank, 0, static_cast<int>(edit_.draft().ranks.size()) - 1);
  const auto size = static_cast<int>(edit_.draft().ranks[static_cast<std::size_t>(to.rank)].size());
  to.index = std::clamp(to.index, 0, size);
  if (select && to.rank == cursor_.rank)
    anchor_ = anchor_ < 0 ? cursor_.index : anchor_;
  else
    anchor_ = -1;
  cursor_ = to;
  typing_ = false;
  keep_cursor_visible();
  rows_->update();
  rows_->setAccessibleDescription(cursor_words(edit_, cursor_));
}

void OrderEditor::keep_cursor_visible() {
  const EditorRows at = rows_geometry();
  const double x = at.cell_rect(cursor_.rank, cursor_.index).left();
  if (x < at.left + at.cell) row_scroll_ = at.scroll - (at.left + at.cell - x);
  if (x > at.left + at.track - at.cell)
    row_scroll_ = at.scroll + x - (at.left + at.track - at.cell);
  row_scroll_ = editor_rows(picture(), rows_->width(), row_scroll_).scroll;
  const QRectF track = at.track_rect(cursor_.rank);
  scroll_->ensureVisible(0, rows_->y() + static_cast<int>(track.center().y()), 0,
                         static_cast<int>(at.row));
}

bool OrderEditor::rows_key(QKeyEvent& key) {
  const bool shift = key.modifiers() & Qt::ShiftModifier;
  if (key.modifiers() & Qt::AltModifier) {
    if (key.key() == Qt::Key_Left || key.key() == Qt::Key_Right) {
      move_action(key.key() == Qt::Key_Left ? -1 : 1);
      return true;
    }
    return false;
  }
  switch (key.key()) {
    case Qt::Key_Left:
      move_cursor({cursor_.rank, cursor_.index - 1}, shift);
      return true;
    case Qt::Key_Right:
      move_cursor({cursor_.rank, cursor_.index + 1}, shift);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      move_cursor({cursor_.rank + (key.key() == Qt::Key_Up ? -1 : 1), cursor_.index}, false);
      return true;
    case Qt::Key_Home:
      move_cursor({cursor_.rank, 0}, shift);
      return true;
    case Qt::Key_End:
      move_cursor({cursor_.rank, 1 << 30}, shift);
      return true;
    default:
      return picture().editable && edit_key(key);
  }
}

bool OrderEditor::edit_key(QKeyEvent& key) {
  if (key.matches(QKeySequence::Copy)) return copy(), true;
  if (key.matches(QKeySequence::Paste)) return paste(), true;
  if (key.matches(QKeySequence::Cut)) return copy(), remove(false), true;
  if (key.matches(QKeySequence::SelectAll)) {
    move_cursor({cursor_.rank, 0}, false);
    move_cursor({cursor_.rank, 1 << 30}, true);
    return true;
  }
  if (key.modifiers() & Qt::ControlModifier) return false;
  switch (key.key()) {
    case Qt::Key_Delete:
      // What is outlined goes; else what stands behind the cursor.
      remove(action_ == Spot{cursor_.rank, cursor_.index - 1});
      return true;
    case Qt::Key_Backspace:
      remove(true);
      return true;
    case Qt::Key_F2:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      edit_text();
      return true;
    default:
      return type_key(key);
  }
}

void OrderEditor::remove(bool back) {
  const auto rank = static_cast<std::size_t>(cursor_.rank);
  const auto size = static_cast<int>(edit_.draft().ranks[rank].size());
  int first = cursor_.index, count = 1;
  if (anchor_ >= 0 && anchor_ != cursor_.index) {
    first = std::min(anchor_, cursor_.index);
    count = std::abs(anchor_ - cursor_.index);
  } else if (back) {
    --first;
  }
  if (first < 0 || first + count > size) return;
  cursor_.index = first;
  anchor_ = -1;
  typing_ = false;
  edit_.erase(rank, static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

// The action before the cursor, and the cursor with it.
void OrderEditor::move_action(int by) {
  const auto rank = static_cast<std::size_t>(cursor_.rank);
  const int from = cursor_.index - 1, to = from + by;
  if (!picture().editable || from < 0 || to < 0 ||
      to >= static_cast<int>(edit_.draft().ranks[rank].size()))
    return;
  cursor_.index += by;
  anchor_ = -1;
  edit_.move(rank, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
  choose({cursor_.rank, cursor_.index - 1});
  keep_cursor_visible();
}

void OrderEditor::copy() {
  if (anchor_ < 0 || anchor_ == cursor_.index)
    return say_wrong(tr("Select the actions to copy with Shift and the arrow keys."));
  const auto& line = edit_.draft().ranks[static_cast<std::size_t>(cursor_.rank)];
  copied_.assign(line.begin() + std::min(anchor_, cursor_.index),
                 line.begin() + std::max(anchor_, cursor_.index));
  int lowest = copied_.front().microbatch, highest = lowest;
  for (const Action& action : copied_) {
    lowest = std::min(lowest, action.microbatch);
    highest = std::max(highest, action.microbatch);
  }
  // A block goes on where it ends: F1 B0 after itself is F2 B1.
  std::set<int> forwards;
  for (const Action& action : copied_)
    if (action.kind == ActionKind::kForward) forwards.insert(action.microbatch);
  copy_step_ = forwards.empty() ? highest - lowest + 1 : static_cast<int>(forwards.size());
  pastes_ = 0;
}

// Each time the block's micro-batches follow those of the time before.
void OrderEditor::paste() {
  if (copied_.empty()) return say_wrong(tr("Nothing was copied."));
  ++pastes_;
  std::vector<Action> block;
  for (Action action : copied_) {
    action.microbatch += pastes_ * copy_step_;
    if (action.microbatch < edit_.draft().microbatches) block.push_back(action);
  }
  if (block.empty()) {
    --pastes_;
    return say_wrong(tr("No micro-batch is left for this block."));
  }
  const auto index = static_cast<std::size_t>(cursor_.index);
  cursor_.index += static_cast<int>(block.size());
  anchor_ = -1;
  typing_ = false;
  edit_.insert(static_cast<std::size_t>(cursor_.rank), index, std::move(block));
  keep_cursor_visible();
}

}  // namespace parallelarium
