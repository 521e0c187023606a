// SPDX-License-Identifier: GPL-3.0-or-later
// A timeline widget on a Session of its own.
#pragma once

#include <gtest/gtest.h>

#include <QTest>

#include "app/views/timeline/timeline_view.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {

class Timelines : public testing::Test {
 protected:
  void open(const PlanSetup& setup, bool with_run) {
    std::vector<RunRecord> runs;
    if (with_run) runs.push_back(made_up_run(setup, 1.05));
    session.restore(setup, std::move(runs), std::nullopt);
    session.wait_for_prediction();
    view.resize(1000, 480);
    view.show();
    QApplication::processEvents();
  }
  QPoint middle_of(int lane, int row, int bar) {
    const Row& of = view.picture().lanes[std::size_t(lane)].rows->rows[std::size_t(row)];
    const Bar& at = of.lane(Lane::kCompute).bars[std::size_t(bar)];
    return rect_of_bar(view.picture(), view.layout_of_rows(), lane, at, of.rank_index, 0)
        .center()
        .toPoint();
  }
  // The bar of an action in a row of the predicted lane.
  int bar_of(int row, ActionKind action, int microbatch, int lane = 0) {
    const auto& bars = view.picture()
                           .lanes[std::size_t(lane)]
                           .rows->rows[std::size_t(row)]
                           .lane(Lane::kCompute)
                           .bars;
    for (std::size_t bar = 0; bar < bars.size(); ++bar)
      if (bars[bar].action == action && bars[bar].microbatch == microbatch) return int(bar);
    return -1;
  }
  const Bar* selected_bar(int lane = 0) {
    return view.picture().lanes[std::size_t(lane)].rows->bar_of(session.subject().selected());
  }
  void key(Qt::Key key) { QTest::keyClick(&view, key); }

  Session session;
  TimelineView view{session};
};

}  // namespace parallelarium
