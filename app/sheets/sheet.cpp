// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/sheet.h"

#include <QKeyEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace parallelarium {

// Before QDialog looks for a button to make the default one.
void Sheet::setVisible(bool visible) {
  if (visible)
    for (QPushButton* button : findChildren<QPushButton*>())
      if (!button->isDefault()) button->setAutoDefault(false);
  QDialog::setVisible(visible);
}

QVBoxLayout* Sheet::add_scrolled_column(QVBoxLayout* outer) {
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  auto* column = new QVBoxLayout(content);
  area->setWidget(content);
  outer->addWidget(area, 1);
  return column;
}

// A button that is no automatic default leaves Enter to its dialog.
void Sheet::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  auto* button = qobject_cast<QPushButton*>(focusWidget());
  if (!enter || !button) return QDialog::keyPressEvent(event);
  if (!event->isAutoRepeat()) button->click();
}

}  // namespace parallelarium
