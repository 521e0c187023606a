// SPDX-License-Identifier: GPL-3.0-or-later
// The window around the views: what it asks before it closes, how long its menus are, and what
// stands on the left while a collective stands alone.
#include <gtest/gtest.h>

#include <QLabel>
#include <QMenuBar>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <functional>
#include <set>

#include "app/settings/setup_fold.h"
#include "app/state/collective/step_collectives.h"
#include "app/views/collectives/collectives_view.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class MerePlay : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().restore(new_setup(), {}, std::nullopt);  // what the window begins with
  }
};

TEST_F(MerePlay, LosesNothingThatOneWouldBeAskedAbout) {
  EXPECT_FALSE(window->modified());
  type("microbatches", QStringLiteral("6"));
  EXPECT_TRUE(window->modified());
  EXPECT_TRUE(window->isWindowModified());
  type("microbatches", QStringLiteral("8"));
  EXPECT_FALSE(window->modified()) << "what was changed was changed back";
  EXPECT_FALSE(window->isWindowModified());
  window->show_view(QStringLiteral("memory"));
  session().playback().set_playing(true);
  session().subject().set_visible(
      {session().subject().horizon() / 4, session().subject().horizon() / 2});
  EXPECT_FALSE(window->modified());
}

TEST_F(MerePlay, ARunOfWhatIsThereFromTheStartIsOnePressAway) {
  session().restore(new_setup(), {made_up_run(session().resolved(new_setup()), 1.1)}, std::nullopt);
  EXPECT_FALSE(window->modified());
  session().pin();
  EXPECT_TRUE(window->modified()) << "a pin is a choice";
  session().runs().unpin();
  session().subject().set_marks({session().subject().horizon() / 3});
  EXPECT_TRUE(window->modified());
  session().subject().set_marks({});
  RunRecord proven = made_up_run(default_setup(), 1.1);
  proven.proof = nlohmann::json::object();
  session().restore(default_setup(), {proven}, std::nullopt);
  EXPECT_TRUE(window->modified()) << "a proof is work";
  parallelarium::Setup other = default_setup();
  other.microbatches = 4;
  session().restore(default_setup(), {made_up_run(other, 1.1)}, std::nullopt);
  EXPECT_TRUE(window->modified()) << "a run of other settings is kept";
}

TEST_F(MerePlay, AFileWantsEveryRun) {
  QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("a.parallelarium.json"));
  ASSERT_TRUE(window->save_file(path));
  EXPECT_FALSE(window->modified());
  session().restore(new_setup(), {made_up_run(session().resolved(new_setup()), 1.1)}, std::nullopt);
  EXPECT_TRUE(window->modified());
  ASSERT_TRUE(window->save_file(path));
  EXPECT_FALSE(window->modified());
}

TEST_F(MerePlay, ACollectiveThatWasChangedIsAskedAbout) {
  CollectiveSession& collectives = session().collectives();
  CollectiveChoice tree = collectives.choice();
  tree.spec.algorithm = "tree";
  collectives.change(tree, QStringLiteral("tree"));
  EXPECT_TRUE(window->modified());
  session().history().stack().undo();
  EXPECT_FALSE(window->modified());
}

TEST_F(MerePlay, ALessonThatEndsLeavesNothingToSave) {
  ASSERT_TRUE(window->lesson().player().open(
      QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/filling-the-bubble"), 7));
  session().wait_for_prediction();
  ASSERT_FALSE(session().setup() == default_setup());
  window->lesson().player().close();
  EXPECT_FALSE(window->modified());
}

TEST_F(MerePlay, NoMenuFillsTheScreen) {
  const std::function<void(const QMenu&)> walk = [&](const QMenu& menu) {
    int entries = 0;
    for (const QAction* action : menu.actions()) {
      if (!action->isSeparator()) ++entries;
      if (action->menu()) walk(*action->menu());
    }
    EXPECT_LE(entries, 18) << menu.title().toStdString();
    std::set<QChar> letters;
    for (const QAction* action : menu.actions()) {
      const auto at = action->text().indexOf(QLatin1Char('&'));
      if (at < 0) continue;
      EXPECT_TRUE(letters.insert(action->text()[at + 1].toLower()).second)
          << menu.title().toStdString() << ": " << action->text().toStdString();
    }
  };
  for (const QAction* action : window->menuBar()->actions()) {
    if (QString(action->menu()->title()).remove(QLatin1Char('&')) == QStringLiteral("View")) {
      EXPECT_LE(action->menu()->sizeHint().height(), 520);
    }
    walk(*action->menu());
  }
}

class Fold : public WindowFixture {
 protected:
  SetupFold& fold() { return *window->findChild<SetupFold*>(); }
  QPushButton* offer(const QString& title) {
    QApplication::processEvents();
    for (QPushButton* button : fold().findChildren<QPushButton*>())
      if (button->text() == title && button->isVisible()) return button;
    return nullptr;
  }
};

TEST_F(Fold, TheTrainingSetupIsFoldedWhereNothingOfItIsUsed) {
  EXPECT_TRUE(window->setup_panel().isVisible());
  EXPECT_FALSE(fold().isVisible());
  window->show_view(QStringLiteral("collectives"));
  EXPECT_FALSE(window->setup_panel().isVisible());
  ASSERT_TRUE(fold().isVisible());
  QApplication::processEvents();
  for (QToolButton* button : fold().findChildren<QToolButton*>())
    if (button->isVisible()) QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_TRUE(window->setup_panel().isVisible()) << "on request it is there all the same";
  EXPECT_FALSE(fold().isVisible());
  window->show_view(QStringLiteral("pipeline"));
  EXPECT_TRUE(window->setup_panel().isVisible());
  window->show_view(QStringLiteral("collectives"));
  EXPECT_TRUE(fold().isVisible());
}

TEST_F(Fold, OffersTheAllReduceOfTheDataParallelGroup) {
  parallelarium::Setup setup = pipeline_setup(1, 4);
  setup.mesh.dp = 2;
  session().history().change(setup, QStringLiteral("DP 2"));
  session().wait_for_prediction();
  window->show_view(QStringLiteral("collectives"));
  const std::vector<StepCollective> all = collectives_of_step(*session().subject().prediction());
  ASSERT_FALSE(all.empty());
  const auto gradients = std::find_if(all.begin(), all.end(), [](const StepCollective& one) {
    return one.axis == Axis::kDp && one.purpose == Purpose::kGradients;
  });
  ASSERT_NE(gradients, all.end());
  QPushButton* button = offer(QStringLiteral("All-reduce of gradients"));
  ASSERT_NE(button, nullptr);
  QTest::mouseClick(button, Qt::LeftButton);
  const CollectiveSpec& spec = session().collectives().choice().spec;
  EXPECT_EQ(spec.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(spec.ranks, 2);
  EXPECT_EQ(spec.bytes, gradients->spec.bytes);
  EXPECT_FALSE(session().collectives().problem());
  session().history().stack().undo();
  EXPECT_EQ(session().collectives().choice().spec.ranks, 4) << "one undo step";
}

// The payload of a step's all-reduces together is every gradient that the ranks share.
TEST(StepCollectives, AllReducesOfGradientsCarryEveryParameterOnce) {
  parallelarium::Setup setup = pipeline_setup(1, 4);
  setup.mesh.dp = 4;
  const Result<Prediction> prediction = predict(setup, uncalibrated_local_machine());
  ASSERT_TRUE(prediction) << prediction.error().text;
  std::int64_t bytes = 0;
  for (const StepCollective& one : collectives_of_step(*prediction)) {
    EXPECT_GE(one.spec.ranks, 2);
    if (one.purpose != Purpose::kGradients) continue;
    EXPECT_EQ(one.spec.ranks, 4);
    bytes += one.spec.bytes * one.calls;
  }
  EXPECT_EQ(bytes, 4 * prediction->parameters.total);
}

TEST(StepCollectives, OneThatTheViewCannotShowSaysWhy) {
  StepCollective wide;
  wide.spec.ranks = kMostShownRanks + 1;
  const Result<CollectiveChoice> choice = choice_of(wide, CollectiveChoice());
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().kind, "collective-ranks");
}

// Two rows at most, whatever is chosen: the plot below stays on the screen.
TEST(CollectiveControlRows, AreTwoAtMostInAFullWindow) {
  Window window;
  window.set_asks(false);
  window.session().playback().set_playing(false);
  window.resize(1440, 900);
  window.show();
  window.show_view(QStringLiteral("collectives"));
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kBroadcast})
    for (const Topology topology :
         {Topology::kMemory, Topology::kSwitch, Topology::kTorus, Topology::kTwoLevel}) {
      CollectiveChoice choice =
          choice_of(kind, kind == CollectiveKind::kAllReduce ? "ring" : "tree", 4);
      choice.topology = topology;
      window.session().collectives().change(choice, QStringLiteral("chosen"));
      QApplication::processEvents();
      std::set<int> rows;
      for (const auto* box : window.view_of<CollectivesView>().findChildren<StepBox*>())
        if (box->isVisible()) rows.insert(box->geometry().center().y());
      for (const auto* box : window.view_of<CollectivesView>().findChildren<Segments*>())
        EXPECT_FALSE(box->isVisible()) << "stands beside the tabs";
      EXPECT_LE(rows.size(), 2u) << title_of(kind).toStdString() << " "
                                 << title_of(topology).toStdString();
    }
  int beside = 0;
  for (const auto* box : window.findChildren<Segments*>())
    beside += box->isVisible() && (box->accessibleName() == QStringLiteral("Picture or table") ||
                                   box->accessibleName() == QStringLiteral("What chunks show"));
  EXPECT_EQ(beside, 2);
  window.resize(960, 540);
  QApplication::processEvents();
  int inside = 0;
  for (const auto* box : window.view_of<CollectivesView>().findChildren<Segments*>())
    inside += box->isVisible();
  EXPECT_EQ(inside, 2) << "no control is lost in a small window";
}

}  // namespace
}  // namespace parallelarium
