// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/sheet.h"

#include <QKeyEvent>
#include <QPushButton>

namespace parallelarium {

// Before QDialog looks for a button to make the default one.
void Sheet::setVisible(bool visible) {
  if (visible)
    for (QPushButton* button : findChildren<QPushButton*>())
      if (!button->isDefault()) button->setAutoDefault(false);
  QDialog::setVisible(visible);
}

// A button that is no automatic default leaves Enter to its dialog.
void Sheet::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  auto* button = qobject_cast<QPushButton*>(focusWidget());
  if (!enter || !button) return QDialog::keyPressEvent(event);
  if (!event->isAutoRepeat()) button->click();
}

}  // namespace parallelarium
