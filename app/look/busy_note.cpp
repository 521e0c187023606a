// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/busy_note.h"

#include <QAccessible>
#include <QGuiApplication>

namespace parallelarium {

namespace {

constexpr int kMargin = 16;

}  // namespace

BusyNote::BusyNote(const QWidget* over, const QString& sentence) {
  QGuiApplication::setOverrideCursor(Qt::WaitCursor);
  if (!over || !over->isVisible()) return;
  label_ = new QLabel(sentence, over->window());
  label_->setObjectName(QStringLiteral("BusyNote"));
  label_->setFrameShape(QFrame::StyledPanel);
  label_->setAutoFillBackground(true);
  label_->setMargin(kMargin);
  label_->adjustSize();
  label_->move(label_->parentWidget()->rect().center() - label_->rect().center());
  label_->show();
  label_->repaint();
  QAccessibleEvent event(label_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

BusyNote::~BusyNote() {
  delete label_;
  QGuiApplication::restoreOverrideCursor();
}

}  // namespace parallelarium
