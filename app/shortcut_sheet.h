// SPDX-License-Identifier: GPL-3.0-or-later
// F1: every action with its shortcut, made from the actions themselves, and the keys of the
// timeline.
#pragma once

#include <QAction>
#include <QDialog>

namespace parallelarium {

class ShortcutSheet : public QDialog {
  Q_OBJECT

 public:
  explicit ShortcutSheet(const QList<QAction*>& actions, QWidget* parent = nullptr);
};

}  // namespace parallelarium
