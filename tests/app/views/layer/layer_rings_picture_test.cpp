// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a layer whose products a ring of TP cuts: every block has its column, and all of
// them have room.
#include <gtest/gtest.h>

#include <QImage>
#include <algorithm>

#include "app/views/layer/picture/layer_picture.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

LayerPicture picture_of_ring(Session& session, const char* tp, bool backward) {
  auto setup = session.setup();
  EXPECT_TRUE(set_fields(setup, {{"pp", "1"},
                                 {"heads", "8"},
                                 {"kv-heads", "8"},
                                 {"tp", tp},
                                 {"sequence-parallel", "on"},
                                 {"ring-tensor", "on"}}));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  EXPECT_TRUE(session.problems().empty());
  LayerLook look;
  look.choice.backward = backward;
  look.attention_open = look.mlp_open = true;
  LayerPicture picture = layer_picture(session, look);
  picture.playhead = picture.predicted->window.end;
  return picture;
}

TEST(LayerRingPicture, EveryBlockHasAColumnWithinTheWidth) {
  for (const char* tp : {"2", "4", "8"})
    for (const bool backward : {false, true})
      for (const double width : {836.0, 720.0}) {
        Session session;
        const LayerPicture picture = picture_of_ring(session, tp, backward);
        const LayerLayout layout = layer_layout(picture, QSizeF(width, 700), light_theme());
        std::size_t columns = 0;
        for (const LayerHalf& half : layout.halves) {
          ASSERT_TRUE(half.open);
          columns += half.columns.size();
          for (const LayerColumn& column : half.columns)
            EXPECT_LE(column.left + column.width, width) << tp << " backward " << backward;
          for (const int step : half.steps)
            EXPECT_EQ(picture.layer->steps[std::size_t(step)].attention, half.attention);
        }
        EXPECT_EQ(columns, picture.layer->steps.size());
        EXPECT_GE(layout.halves.size(), 4u) << "two lines or more for each half";
      }
}

// A column of a block draws its tokens where they stand among all of them, and a sum of all parts
// is no partial sum any more.
TEST(LayerRingPicture, NamesItsBlocksAndSaysWhatTravels) {
  Session session;
  const LayerPicture picture = picture_of_ring(session, "4", false);
  QStringList heads, facts;
  for (std::size_t step = 0; step < picture.layer->steps.size(); ++step) {
    const LayerStep& of = picture.layer->steps[step];
    if (of.blocks == 1) continue;
    if (of.kind == LayerStepKind::kCompute) heads << layer_head_name(of);
    if (of.kind == LayerStepKind::kExchange)
      for (const FactLine& line : describe_layer_step(picture, int(step), 1).facts)
        facts << line.word + QLatin1Char(' ') + line.value;
  }
  EXPECT_EQ(heads.mid(0, 4).join(QLatin1Char(' ')), QStringLiteral("QKV 1/4 2/4 3/4 4/4"));
  EXPECT_EQ(heads.mid(4, 7).join(QLatin1Char(' ')),
            QStringLiteral("projection 1/4 2/4 + 3/4 + 4/4 +"));
  // Rank 1 has tokens 32 to 63 and sends them on first; those of rank 0 come.
  ASSERT_GT(facts.size(), 2);
  EXPECT_EQ(facts[0], QStringLiteral("goes y, tokens 32\u201363, shard \u00b7 to rank 2"));
  EXPECT_EQ(facts[1], QStringLiteral("comes y, tokens 0\u201331, shard"));
}

}  // namespace
}  // namespace parallelarium
