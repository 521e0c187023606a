// SPDX-License-Identifier: GPL-3.0-or-later
// A column of text in a panel that asks for all of it again and again.
#pragma once

#include <QString>
#include <QVBoxLayout>
#include <deque>
#include <utility>
#include <vector>

namespace parallelarium {

// Its labels are made anew only from the first that changes: a change of the view or of the setup
// asks several times, and text that wraps takes long to lay out. Those that go are kept for a
// while, hidden: an order that is edited has a formula, none, and the same again.
class LineColumn : public QVBoxLayout {
 public:
  struct Line {
    QString text, role;  // rich text, and the style of its label
    bool caps = false;   // a heading
    bool operator==(const Line&) const = default;
  };
  using QVBoxLayout::QVBoxLayout;
  const std::vector<Line>& shown() const { return shown_; }
  void add(Line line) { added_.push_back(std::move(line)); }
  // Shows what was added since the last time; false if that is there already.
  bool show_added();
  // Keeps no label that is not shown.
  void forget_spare();

 private:
  QWidget* label_of(const Line& line);

  std::vector<Line> added_, shown_;
  std::deque<std::pair<Line, QWidget*>> spare_;  // hidden, the longest ago first
};

}  // namespace parallelarium
