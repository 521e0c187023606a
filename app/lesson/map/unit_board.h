// SPDX-License-Identifier: GPL-3.0-or-later
// The units of the course in columns, with an arrow from each to those that build on it. Arrows run
// in the gaps between the columns and in a lane above them, never over a unit.
#pragma once

#include <QWidget>
#include <vector>

namespace parallelarium {

class UnitBoard : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kGap = 20;   // between columns and between units
  static constexpr int kLane = 16;  // above the columns

  explicit UnitBoard(QWidget* parent = nullptr) : QWidget(parent) {}
  // A child that is the box of that unit.
  void add(std::size_t unit, QWidget* box, int column);
  // `later` builds on `earlier`; drawn where both are there.
  void add_arrow(std::size_t earlier, std::size_t later) { arrows_.push_back({earlier, later}); }
  // The arrows to and from that unit are drawn in the accent.
  void choose(std::size_t unit);

  struct Route {
    std::size_t earlier, later;
    QPolygonF line;  // from the one to the other; its last piece has the head
  };
  std::vector<Route> routes() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Place {
    std::size_t unit;
    QWidget* box;
    int column;
  };
  const Place* find(std::size_t unit) const;
  bool is_first(const Place& place) const;  // of its column
  std::vector<Place> places_;
  std::vector<std::pair<std::size_t, std::size_t>> arrows_;
  std::size_t chosen_ = 0;
};

}  // namespace parallelarium
