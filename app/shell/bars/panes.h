// SPDX-License-Identifier: GPL-3.0-or-later
// The middle of the window as the keyboard walks it: Tab goes through every control, pane by pane
// and as they stand there, and F6 from pane to pane.
#pragma once

#include <QList>
#include <QPointer>
#include <QWidget>
#include <functional>
#include <map>
#include <vector>

namespace parallelarium {

// A part of the window.
struct Pane {
  QWidget* widget = nullptr;
  std::vector<QWidget*> first = {};  // parts of it that Tab reaches before the others: its tabs
  QWidget* entry = nullptr;          // what has the keys there at first; null: its first control
};

class Panes : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;
  // The panes from the first to the last, whenever they are asked for: they change with the room
  // that there is. Hidden ones and those that are elsewhere are left out.
  void set_panes(std::function<std::vector<Pane>()> panes);
  // To what had the focus last in the next pane or, with -1, the one before; there for the first
  // time, to its entry.
  void cycle(int direction);

 protected:
  // Where what has the focus is hidden or disabled, Qt asks for the next one: that is near it then.
  bool focusNextPrevChild(bool next) override;

 private:
  std::vector<Pane> shown() const;
  QList<QWidget*> stops_of(const Pane& pane) const;
  QWidget* near_lost(const QWidget* lost) const;

  std::function<std::vector<Pane>()> panes_;
  std::map<QWidget*, QPointer<QWidget>> last_focus_;  // by pane
};

}  // namespace parallelarium
