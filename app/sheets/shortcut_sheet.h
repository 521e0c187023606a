// SPDX-License-Identifier: GPL-3.0-or-later
// F1: every action with its shortcut, made from the actions themselves. The single keys of the
// views can be changed here, and switched off.
#pragma once

#include <QAction>
#include <vector>

#include "app/sheets/sheet.h"

class QCheckBox;
class QGridLayout;
class QKeySequenceEdit;
class QLabel;

namespace parallelarium {

// Actions whose shortcuts work in one place: "Anywhere", "While the timeline has the focus".
struct ShortcutSection {
  QString where;
  QList<QAction*> actions;
};

class ShortcutSheet : public Sheet {
  Q_OBJECT

 public:
  // `more`: actions that lead to other help, as buttons at the top.
  ShortcutSheet(const std::vector<ShortcutSection>& sections, const QList<QAction*>& more,
                QWidget* parent = nullptr);

 Q_SIGNALS:
  void keys_changed();  // the preferences of view_keys.h

 private:
  void add_head(const QString& text);
  void add_line(QWidget* key, const QString& text);
  void add_view_keys();
  void show_keys();
  QGridLayout* grid_ = nullptr;
  QCheckBox* act_ = nullptr;
  std::vector<QKeySequenceEdit*> keys_;  // in the order of view_keys()
  QLabel* note_ = nullptr;               // why a key was not taken
};

}  // namespace parallelarium
