// SPDX-License-Identifier: GPL-3.0-or-later
// The Layer view's strip: what is predicted of the chosen rank stands beside what a run counted and
// measured of the same layer.
#include <gtest/gtest.h>

#include "app/look/figures.h"
#include "app/views/layer/layer_view.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

const QString kNoBytes = bytes_difference_text(0, 0, QLocale::c());

class LayerStrip : public testing::Test {
 protected:
  void open(const std::vector<std::pair<const char*, const char*>>& fields) {
    auto setup = session.setup();
    for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value)) << field;
    session.history().change(setup, QStringLiteral("open"));
    session.wait_for_prediction();
    ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
  }
  // `slower`: how many times as long as predicted all takes.
  void run(Source source, double slower = 2, bool older = false) {
    RunRecord record = made_up_run(session.setup(), slower, source);
    if (older) record.observation.sent_bytes.clear();
    session.restore(session.setup(), {std::move(record)}, std::nullopt);
    session.wait_for_prediction();
  }
  std::vector<Quantity> strip(const LayerLook& look) {
    return layer_quantities(session, layer_picture(session, look), QLocale::c());
  }
  Session session;
};

TEST_F(LayerStrip, HasAFigureOfTheRunInEveryCell) {
  open({{"pp", "1"}, {"tp", "2"}});
  for (const Quantity& quantity : strip({})) EXPECT_TRUE(quantity.observed.text.isEmpty());
  run(Source::kMeasured);
  for (const LayerPlace place : {LayerPlace::kLayer, LayerPlace::kEmbedding, LayerPlace::kHead})
    for (const bool backward : {false, true}) {
      LayerLook look;
      look.choice.place = place;
      look.choice.backward = backward;
      look.rank = 1;
      const std::vector<Quantity> all = strip(look);
      ASSERT_EQ(all.size(), 5u);
      for (std::size_t at = 0; at < 4; ++at) {
        SCOPED_TRACE(all[at].key.toStdString() + (backward ? " backward" : " forward"));
        EXPECT_FALSE(all[at].predicted.text.isEmpty());
        EXPECT_FALSE(all[at].observed.text.isEmpty());
        EXPECT_FALSE(all[at].difference.isEmpty());
      }
      for (const std::size_t bytes : {1, 2}) {
        EXPECT_EQ(all[bytes].observed.source, QLatin1String("counted"));
        EXPECT_EQ(all[bytes].difference, kNoBytes);
      }
    }
}

TEST_F(LayerStrip, ComputesHalfAsFastWhereARunTakesTwiceTheTime) {
  open({{"pp", "1"}, {"tp", "2"}});
  run(Source::kMeasured, 2);
  const std::vector<Quantity> fast = strip({});
  run(Source::kMeasured, 4);
  const std::vector<Quantity> slow = strip({});
  EXPECT_NEAR(slow[0].observed_value / fast[0].observed_value, 2, 1e-2);
  EXPECT_NEAR(slow[3].observed_value / fast[3].observed_value, 0.5, 1e-2);
  EXPECT_EQ(slow[1].observed_value, fast[1].observed_value);
}

TEST_F(LayerStrip, KeepsForTheBackwardWhatTheForwardKept) {
  open({{"pp", "1"}, {"tp", "2"}});
  LayerLook forward, backward;
  backward.choice.backward = true;
  EXPECT_GT(strip(forward)[2].predicted_value, 0);
  EXPECT_EQ(strip(forward)[2].predicted_value, strip(backward)[2].predicted_value);
}

TEST_F(LayerStrip, SaysOfARehearsalThatItsTimesAreSet) {
  open({{"pp", "1"}, {"tp", "2"}});
  run(Source::kPaced);
  const std::vector<Quantity> all = strip({});
  EXPECT_EQ(all[0].difference, QLatin1String("set"));
  EXPECT_EQ(all[1].difference, kNoBytes);
  EXPECT_EQ(all[3].difference, QLatin1String("set"));
}

TEST_F(LayerStrip, SaysWhyADocumentOfAnOlderVersionHasNoBytes) {
  open({{"pp", "1"}, {"tp", "2"}});
  run(Source::kMeasured, 2, true);
  EXPECT_EQ(strip({})[1].observed.text, QString());
  EXPECT_EQ(strip({})[1].observed.source, QLatin1String("run by an older version"));
}

TEST_F(LayerStrip, TellsNothingThatALessonAsks) {
  open({{"pp", "1"}, {"tp", "2"}});
  run(Source::kMeasured);
  const std::pair<const char*, std::size_t> asked[] = {
      {"layer.sent_bytes", 1}, {"layer.kept_bytes", 2}, {"layer.flops", 3}, {"layer.seconds", 3}};
  for (const auto& [key, cell] : asked) {
    session.locks().set_hidden({QString::fromLatin1(key)});
    const Quantity quantity = strip({})[cell];
    EXPECT_TRUE(quantity.predicted.hidden) << key;
    EXPECT_TRUE(quantity.observed.text.isEmpty()) << key;
    EXPECT_TRUE(quantity.difference.isEmpty()) << key;
    EXPECT_FALSE(strip({})[cell == 1 ? 2 : 1].observed.text.isEmpty()) << key;
  }
}

}  // namespace
}  // namespace parallelarium
