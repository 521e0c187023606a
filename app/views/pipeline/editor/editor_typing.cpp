// SPDX-License-Identifier: GPL-3.0-or-later
// Typing in the rows of the order editor.
#include <QKeyEvent>
#include <QLineEdit>
#include <algorithm>

#include "app/views/pipeline/editor/order_editor.h"

namespace parallelarium {

// A letter places an action, digits behind it say of which micro-batch, "." of which chunk.
bool OrderEditor::type_key(const QKeyEvent& key) {
  switch (key.key()) {
    case Qt::Key_F:
      place_kind(ActionKind::kForward);
      return true;
    case Qt::Key_B:
      place_kind(ActionKind::kBackward);
      return true;
    case Qt::Key_I:
      place_kind(ActionKind::kInputGrad);
      return true;
    case Qt::Key_W:
      place_kind(ActionKind::kWeightGrad);
      return true;
    default:
      break;
  }
  const QString text = key.text();
  const bool digit = text.size() == 1 && text[0] >= QLatin1Char('0') && text[0] <= QLatin1Char('9');
  const bool dot = text == QLatin1String(".") && edit_.draft().chunks > 1;
  if (!typing_ || !(digit || dot) || cursor_.index == 0) return false;
  typed_ += text;
  const auto rank = static_cast<std::size_t>(cursor_.rank);
  const auto index = static_cast<std::size_t>(cursor_.index - 1);
  Action action = edit_.draft().ranks[rank][index];
  const int microbatch = typed_.section(QLatin1Char('.'), 0, 0).toInt();
  if (microbatch >= edit_.draft().microbatches) {
    typed_.chop(1);
    say_wrong(tr("There is no micro-batch %1: the last is %2.")
                  .arg(microbatch)
                  .arg(edit_.draft().microbatches - 1));
    return true;
  }
  action.microbatch = microbatch;
  if (const QString chunk = typed_.section(QLatin1Char('.'), 1); !chunk.isEmpty())
    action.chunk = std::min(chunk.toInt(), edit_.draft().chunks - 1);
  edit_.replace(rank, index, action);
  choose({cursor_.rank, cursor_.index - 1});
  typing_ = true;
  return true;
}

// At the end of a row the earliest that may come next, else the lowest that is not placed.
void OrderEditor::place_kind(ActionKind kind) {
  const auto rank = static_cast<std::size_t>(cursor_.rank);
  const Order& draft = edit_.draft();
  Action action{kind, 0, 0, false};
  const auto stands = [&](const Action& wanted) {
    return std::find(draft.ranks[rank].begin(), draft.ranks[rank].end(), wanted) !=
           draft.ranks[rank].end();
  };
  while (action.microbatch + 1 < draft.microbatches && stands(action)) ++action.microbatch;
  if (cursor_.index == static_cast<int>(draft.ranks[rank].size()))
    for (const NextAction& next : edit_.times().ranks[rank].next)
      if (next.action.kind == kind) {
        action = next.action;
        break;
      }
  const auto index = static_cast<std::size_t>(cursor_.index);
  ++cursor_.index;
  anchor_ = -1;
  edit_.insert(rank, index, {action});
  keep_cursor_visible();
  choose({cursor_.rank, cursor_.index - 1});
  typing_ = true;
  typed_.clear();
}

void OrderEditor::edit_text() {
  if (!picture().editable) return;
  const std::vector<std::string> lines = to_lines(edit_.draft());
  text_->setText(QString::fromStdString(lines[static_cast<std::size_t>(cursor_.rank)]));
  text_->setAccessibleName(tr("%1 as text").arg(row_name(edit_.draft(), cursor_.rank)));
  text_->show();
  place_text_box();
  text_->raise();
  text_->setFocus(Qt::OtherFocusReason);
  text_->end(false);
}

void OrderEditor::place_text_box() {
  if (text_->isHidden()) return;
  text_->setGeometry(rows_geometry().track_rect(cursor_.rank).toRect());
}

void OrderEditor::commit_text() {
  const QString why = edit_.set_line(static_cast<std::size_t>(cursor_.rank), text_->text());
  if (!why.isEmpty()) return say_wrong(why);
  text_->hide();
  rows_->setFocus();
  move_cursor({cursor_.rank, 1 << 30}, false);
  show_verdict();  // which is heard behind where the cursor is
}

}  // namespace parallelarium
