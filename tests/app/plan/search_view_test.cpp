// SPDX-License-Identifier: GPL-3.0-or-later
// The Search view: what it finds is what `plan` says, and what is used becomes the setup.
#include "app/views/search/search_view.h"

#include <QComboBox>
#include <QProcess>
#include <QPushButton>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/state/plan/plan_search.h"
#include "app/state/run/engine_process.h"
#include "app/views/search/search_paint.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

constexpr int kSearchMs = 60'000;

class SearchFixture : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
    window->show_room(Room::kPlan);
  }
  PlanSearch& search() { return PlanSearch::of(session()); }
  SearchView& view() { return window->view_of<SearchView>(); }
  QPushButton* button(const QString& text) {
    for (auto* button : window->findChildren<QPushButton*>())
      if (button->text() == text && button->isVisible()) return button;
    ADD_FAILURE() << "no button " << text.toStdString();
    return nullptr;
  }
  PlanWish small_wish() {
    PlanWish wish;
    wish.model = QStringLiteral("gpt2-124m");
    wish.gpus = QStringLiteral("2");
    wish.global_batch = 8;
    return wish;
  }
  void search_for(const PlanWish& wish) {
    search().set_wish(wish);
    QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
    EXPECT_TRUE(search().searching());
    ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
    QApplication::processEvents();
  }
};

TEST_F(SearchFixture, TheBestIsWhatTheCommandLineSaysAndBecomesTheSetup) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  ASSERT_FALSE(search().answer()->plans.empty());
  QProcess plan;
  plan.start(EngineProcess::find_program(),
             QStringLiteral("plan --model gpt2-124m --machine dgx-h100 --gpus 2 --global-batch 8 "
                            "--json")
                 .split(QLatin1Char(' ')));
  ASSERT_TRUE(plan.waitForFinished(kSearchMs));
  const auto json = nlohmann::json::parse(plan.readAllStandardOutput().toStdString());
  EXPECT_EQ(json.at("candidates"), search().answer()->candidates);
  const FoundPlan* selected = search().selected();
  ASSERT_NE(selected, nullptr);
  EXPECT_EQ(to_json(selected->setup), json.at("best").at(0).at("setup"));
  EXPECT_EQ(selected->seconds, json.at("best").at(0).at("step").at("seconds"));
  const auto before = session().setup(), found = selected->setup;
  QTest::mouseClick(button(QStringLiteral("Use it")), Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_EQ(session().setup(), found);
  EXPECT_TRUE(session().problems().empty());
  session().history().stack().undo();
  EXPECT_EQ(session().setup(), before);
}

TEST_F(SearchFixture, SaysWhatIsLeastWhereNothingFits) {
  PlanWish wish = small_wish();
  wish.model = QStringLiteral("llama3-70b");
  search_for(wish);
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  EXPECT_TRUE(search().answer()->plans.empty());
  EXPECT_TRUE(search().answer()->least);
  EXPECT_FALSE(button(QStringLiteral("Use it"))->isEnabled());
  EXPECT_TRUE(view().description().contains(QStringLiteral("None fits")));
}

TEST_F(SearchFixture, SaysWhyASearchCannotBe) {
  PlanWish wish = small_wish();
  wish.gpus = QStringLiteral("0");
  search_for(wish);
  EXPECT_FALSE(search().answer());
  EXPECT_TRUE(search().error().contains(QStringLiteral("131072")))
      << search().error().toStdString();
}

TEST_F(SearchFixture, KeysMoveAmongTheBestAndACancelledSearchSaysSo) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  ASSERT_GT(search().answer()->plans.size(), 2U);
  search().select(search().answer()->plans[0].setup);
  view().canvas().setFocus();
  QTest::keyClick(&view().canvas(), Qt::Key_Down);
  EXPECT_EQ(search().selected()->setup, search().answer()->plans[1].setup);
  QTest::keyClick(&view().canvas(), Qt::Key_Up);
  EXPECT_EQ(search().selected()->setup, search().answer()->plans[0].setup);
  PlanWish large;
  large.gpus = QStringLiteral("64");
  large.global_batch = 1024;
  search().set_wish(large);
  EXPECT_TRUE(search().is_stale());
  QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
  wait_until([] { return false; }, 200);
  if (search().searching()) QTest::mouseClick(button(QStringLiteral("Cancel")), Qt::LeftButton);
  EXPECT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  EXPECT_TRUE(search().answer()) << "the answer before stays";
}

// What was found until then stays, and says that it is not all.
TEST_F(SearchFixture, ACancelledSearchKeepsTheBestSoFar) {
  PlanWish wish;
  wish.gpus = QStringLiteral("64");
  wish.global_batch = 1024;
  search().set_wish(wish);
  QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
  // The best are simulated from a fifth of the progress on.
  ASSERT_TRUE(wait_until([&] { return search().progress() > 0.3; }, kSearchMs));
  QTest::mouseClick(button(QStringLiteral("Cancel")), Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  const PlanAnswer& answer = *search().answer();
  EXPECT_TRUE(answer.cancelled);
  EXPECT_FALSE(answer.plans.empty());
  EXPECT_GT(answer.undecided, 0);
  EXPECT_EQ(std::accumulate(std::begin(answer.counts), std::end(answer.counts), answer.undecided),
            answer.candidates);
  EXPECT_NE(search().selected(), nullptr);
  EXPECT_TRUE(view().description().contains(QStringLiteral("best found so far")));
}

// In both languages' widths and in every state, texts stand beside each other.
TEST_F(SearchFixture, PicturesHaveNoTextOverAnother) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  for (const double width : {600.0, 700.0, 872.0, 1200.0})
    for (const int opened : {-1, int(PlanAnswer::kDoesNotFit), int(PlanAnswer::kBounded)}) {
      SearchPicture picture;
      picture.title = QStringLiteral("How?");
      picture.answer = &*search().answer();
      picture.selected = search().selected();
      picture.why = picture.selected->why;
      picture.why_head = QStringLiteral("Why");
      picture.opened = opened;
      const double height = search_height(width, picture, light_theme());
      QImage image(int(width), int(height), QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_search(painter, width, picture, light_theme(), nullptr, &texts);
      painter.end();
      EXPECT_GT(texts.size(), 40U);
      EXPECT_EQ(overlapping(texts), "") << width;
      for (const PaintedText& text : texts) {
        EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
        EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
      }
    }
}

}  // namespace
}  // namespace parallelarium
