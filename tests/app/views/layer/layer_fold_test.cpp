// SPDX-License-Identifier: GPL-3.0-or-later
// How many ranks of a layer are drawn, and how the others are shown.
#include <gtest/gtest.h>

#include <QTest>

#include "app/views/layer/layer_view.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/views/layer/layer_texts.h"

namespace parallelarium {
namespace {

// Eight ranks at a glance: the first two, the chosen one and the last.
class LayerFold : public testing::Test {
 protected:
  void set_ranks(const std::vector<std::pair<const char*, const char*>>& fields) {
    auto setup = session.setup();
    for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value)) << field;
    session.history().change(setup, QStringLiteral("set ranks"));
    session.wait_for_prediction();
    ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
  }
  std::vector<int> rows_of_experts() {
    return layer_layout(layer_picture(session, {}), QSizeF(1010, 640), light_theme())
        .halves.back()
        .ranks;
  }
  Session session;
};

TEST_F(LayerFold, ShowsFewOfManyRanksAndAllOnAClick) {
  set_ranks({{"pp", "1"}, {"tp", "8"}, {"heads", "8"}});
  LayerView view(session);
  view.resize(1010, 680);
  view.show();
  const auto rows = [&] { return view.layout_now().halves.back().ranks; };
  EXPECT_EQ(rows(), (std::vector{0, 1, 7}));
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  EXPECT_EQ(rows(), (std::vector{0, 1, 2, 7})) << "the chosen rank is shown";
  const LayerHalf folded = view.layout_now().halves.back();
  EXPECT_EQ(folded.alike, 4);
  EXPECT_LT(folded.bottom, view.height()) << "the whole path is seen at once";
  QTest::mouseClick(&view.canvas(), Qt::LeftButton, {},
                    (folded.fold.topLeft() + QPointF(20, 9)).toPoint());
  EXPECT_EQ(rows().size(), 8u);
  QTest::keyClick(&view.canvas(), Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(rows().size(), 4u);
}

TEST_F(LayerFold, SaysHowManyRanksAreLeftOut) {
  set_ranks({{"pp", "1"}, {"tp", "8"}, {"heads", "8"}});
  const auto says = [&](const LayerLook& look, const char* words) {
    for (const PaintedText& text : layer_texts(session, look))
      if (text.text.contains(QLatin1String(words))) return true;
    return false;
  };
  EXPECT_TRUE(says({}, "5 more ranks alike, with other shards"));
  LayerLook all;
  all.all_ranks = true;
  EXPECT_FALSE(says(all, "more ranks"));
  EXPECT_TRUE(says(all, "click to fold"));
}

TEST_F(LayerFold, LeavesFourRanksAlone) {
  set_ranks({{"pp", "1"}, {"tp", "4"}});
  const LayerPicture picture = layer_picture(session, {});
  for (const LayerHalf& half : layer_layout(picture, QSizeF(1010, 640), light_theme()).halves) {
    EXPECT_EQ(half.ranks.size(), 4u);
    EXPECT_FALSE(half.folds);
  }
}

// The causal square has all eight ranks, time the first, the chosen and the last.
TEST_F(LayerFold, LeavesRanksOutOfTheTimeOfManyContextRanks) {
  set_ranks({{"pp", "1"}, {"cp", "8"}, {"attention", "fused"}});
  const LayerPicture picture = layer_picture(session, {});
  const LayerLayout layout = layer_layout(picture, QSizeF(860, 600), light_theme());
  EXPECT_EQ(layout.ranks.size(), 8u);
  EXPECT_EQ(layout.lane_ranks, (std::vector{0, 7}));
  EXPECT_LE(layout.bottom, 620);
}

// Experts take two lines, so that of their ranks fewer are drawn, but both of a TP pair.
TEST_F(LayerFold, ShowsTwoRanksOfExpertsThatTensorParallelismLeavesWhole) {
  set_ranks({{"pp", "1"}, {"dp", "4"}, {"ep", "4"}, {"model", "moe-tiny"}});
  EXPECT_EQ(rows_of_experts(), (std::vector{0, 3}));
  set_ranks({{"dp", "2"}, {"ep", "2"}, {"tp", "2"}});
  EXPECT_EQ(rows_of_experts(), (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace parallelarium
