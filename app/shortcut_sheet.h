// SPDX-License-Identifier: GPL-3.0-or-later
// F1: every action with its shortcut, made from the actions themselves.
#pragma once

#include <QAction>
#include <QDialog>
#include <vector>

namespace parallelarium {

// Actions whose shortcuts work in one place: "Anywhere", "While the timeline has the focus".
struct ShortcutSection {
  QString where;
  QList<QAction*> actions;
};

class ShortcutSheet : public QDialog {
  Q_OBJECT

 public:
  // `more`: actions that lead to other help, as buttons at the top.
  ShortcutSheet(const std::vector<ShortcutSection>& sections, const QList<QAction*>& more,
                QWidget* parent = nullptr);
};

}  // namespace parallelarium
