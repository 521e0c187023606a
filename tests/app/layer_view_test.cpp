// SPDX-License-Identifier: GPL-3.0-or-later
// The Layer view: its picture in many settings, its keys, and what it says.
#include "app/views/layer/layer_view.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QTest>

#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

struct Given {
  const char* field;
  const char* value;
};

void set_up(Session& session, const std::vector<Given>& fields) {
  Setup setup = session.setup();
  for (const Given& given : fields) ASSERT_TRUE(set_field(setup, given.field, given.value));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

const std::vector<std::vector<Given>> kSetups = {
    {{"pp", "1"}},
    {{"pp", "1"}, {"tp", "2"}},
    {{"pp", "1"}, {"tp", "4"}, {"sequence-parallel", "on"}},
    {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}},
    {{"pp", "1"}, {"tp", "2"}, {"cp", "2"}, {"context-parallel", "ulysses"}},
    {{"pp", "1"}, {"tp", "2"}, {"model", "moe-tiny"}},
    {{"pp", "2"}, {"tp", "2"}, {"model", "llama-tiny"}, {"recompute", "full"}}};

TEST(LayerView, NoTextOfItsPictureLiesOverAnother) {
  for (const auto& fields : kSetups) {
    Session session;
    set_up(session, fields);
    for (const bool backward : {false, true}) {
      LayerLook look;
      look.choice.backward = backward;
      look.attention_open = look.figures = true;
      const QSize size = layer_picture_size(session, look);
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_layer_picture(painter, size, session, false, look, &texts);
      EXPECT_GT(texts.size(), 20u);
      for (std::size_t a = 0; a < texts.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
          const QRectF both = texts[a].rect.intersected(texts[b].rect);
          EXPECT_FALSE(both.width() > 1 && both.height() > 3)
              << texts[a].text.toStdString() << " over " << texts[b].text.toStdString();
        }
    }
  }
}

TEST(LayerView, KeysWalkThroughPiecesRanksAndLayersAndOpenAHalf) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  LayerView view(session);
  view.resize(900, 600);
  view.show();
  SelectionText told;
  QObject::connect(&view, &View::described, [&](const SelectionText& text) { told = text; });
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  EXPECT_GE(view.look().step, 0);
  EXPECT_FALSE(told.headline.isEmpty());
  const int step = view.look().step;
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  EXPECT_EQ(view.look().step, step + 1);
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  EXPECT_EQ(view.look().rank, 1);
  QTest::keyClick(&view.canvas(), Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(view.look().choice.layer, 1);
  EXPECT_FALSE(view.look().attention_open);
  QTest::keyClick(&view.canvas(), Qt::Key_Return);
  EXPECT_TRUE(view.look().attention_open);
}

TEST(LayerView, SaysInWordsWhatIsSharedAndSummed) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  const QString text = layer_sentence(layer_picture(session, {}));
  for (const char* word : {"partial sum", "copy", "shard", "g all-reduce", "nothing sent"})
    EXPECT_TRUE(text.contains(QLatin1String(word))) << word;
}

}  // namespace
}  // namespace parallelarium
