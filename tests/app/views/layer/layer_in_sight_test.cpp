// SPDX-License-Identifier: GPL-3.0-or-later
// What of a layer is seen at once in a window of 1440 by 900.
#include <gtest/gtest.h>

#include "app/views/layer/layer_view.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class LayerInSight : public WindowFixture {
 protected:
  // Where blocks and lanes end in the view's picture, and how much of it is in sight.
  struct Ends {
    double blocks, lanes, sight;
  };
  Ends ends_of(const std::vector<std::pair<const char*, const char*>>& fields, bool backward) {
    parallelarium::Setup setup = default_setup();
    setup.mesh.pp = 1;
    for (const auto& [field, value] : fields) EXPECT_TRUE(set_field(setup, field, value)) << field;
    session().history().change(setup, QStringLiteral("test"));
    session().wait_for_prediction();
    window->resize(1440, 900);
    window->show_view(QStringLiteral("layer"));
    QApplication::processEvents();
    auto* view = window->findChild<LayerView*>();
    LayerLook look = view->look();
    look.choice.backward = backward;
    view->show_look(look);
    const LayerLayout layout = view->layout_now();
    Ends ends{0, layout.lanes_top + double(layout.lane_ranks.size()) * layout.lane_pitch,
              double(view->canvas().parentWidget()->height())};
    for (const LayerHalf& half : layout.halves) ends.blocks = std::max(ends.blocks, half.bottom);
    return ends;
  }
};

TEST_F(LayerInSight, BlocksOfAllRanksAndTheirLanes) {
  for (const bool backward : {false, true})
    for (const auto& fields : std::vector<std::vector<std::pair<const char*, const char*>>>{
             {{"tp", "2"}},
             {{"tp", "4"}},
             {{"tp", "4"}, {"sequence-parallel", "on"}},
             {{"model", "moe-tiny"}, {"tp", "4"}},
             {{"model", "moe-tiny"}, {"dp", "2"}, {"ep", "2"}},
             {{"model", "moe-tiny"}, {"dp", "4"}, {"ep", "4"}}}) {
      const Ends ends = ends_of(fields, backward);
      const std::string of = fields.back().first + std::string(" ") + fields.back().second;
      EXPECT_LE(ends.lanes, ends.sight - 20) << of << (backward ? ", backward" : "");
      EXPECT_LE(ends.blocks, ends.lanes);
    }
}

}  // namespace
}  // namespace parallelarium
