// SPDX-License-Identifier: GPL-3.0-or-later
// Learn, Explore and Plan: which views stand in the centre, and what surrounds them.
#include <gtest/gtest.h>

#include <QFile>
#include <QFrame>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QToolButton>
#include <nlohmann/json.hpp>

#include "app/lesson/map/course_map.h"
#include "app/lesson/map/door.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/settings/controls.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class Rooms : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
  }
  QStringList shown_tabs() {
    const auto* tabs = window->findChild<ViewTabs*>();
    QStringList ids;
    for (std::size_t at = 0; at < views().size(); ++at)
      if (tabs->isTabVisible(int(at))) ids << QLatin1String(views()[at].id);
    return ids;
  }
  QStringList all_tabs() {
    QStringList ids;
    for (const ViewInfo& view : views())
      if (view.room == Room::kExplore) ids << QLatin1String(view.id);
    return ids;
  }
  QString front() { return QLatin1String(window->view_info().id); }
  void open_lesson(const char* id) {
    const Result<void> opened = window->lesson().player().open(
        QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/") + QLatin1String(id), 7);
    ASSERT_TRUE(opened) << opened.error().text;
    QApplication::processEvents();
  }
  QToolButton* button(const QString& text) {
    for (auto* button : window->findChildren<QToolButton*>())
      if (button->text() == text && button->isVisible()) return button;
    return nullptr;
  }
  void press(const QString& text) {
    QToolButton* found = button(text);
    ASSERT_NE(found, nullptr) << text.toStdString();
    QTest::mouseClick(found, Qt::LeftButton);
    QApplication::processEvents();
  }
};

TEST_F(Rooms, TheProgramStartsInExploreWithEveryView) {
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_EQ(shown_tabs(), all_tabs());
  EXPECT_EQ(&window->view_info(), &first_view());
  EXPECT_EQ(button(QStringLiteral("All views")), nullptr);
}

TEST_F(Rooms, OneWithoutViewsIsNotOffered) {
  EXPECT_NE(button(QStringLiteral("Learn")), nullptr);
  EXPECT_NE(button(QStringLiteral("Explore")), nullptr);
  EXPECT_EQ(button(QStringLiteral("Plan")) != nullptr, has_views(Room::kPlan));
  window->show_room(Room::kPlan);
  EXPECT_EQ(window->room(), has_views(Room::kPlan) ? Room::kPlan : Room::kExplore);
}

TEST_F(Rooms, ALessonIsShownInLearnWithTheViewsThatItsStepsName) {
  open_lesson("why-the-ring-wins");
  EXPECT_EQ(window->room(), Room::kLearn);
  EXPECT_EQ(shown_tabs(), QStringList{QStringLiteral("collectives")});
  EXPECT_EQ(front(), QStringLiteral("collectives"));
  open_lesson("filling-the-bubble");
  EXPECT_EQ(window->room(), Room::kLearn);
  EXPECT_TRUE(shown_tabs().contains(QStringLiteral("pipeline")));
  EXPECT_FALSE(shown_tabs().contains(QStringLiteral("collectives")));
  EXPECT_EQ(front(), QStringLiteral("pipeline"));
}

TEST_F(Rooms, ArrowKeysStayAmongTheTabsOfTheLesson) {
  open_lesson("orders-by-hand");
  const QStringList shown = shown_tabs();
  ASSERT_LT(shown.size(), all_tabs().size());
  auto* tabs = window->findChild<ViewTabs*>();
  ASSERT_NE(tabs, nullptr);
  for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Left, Qt::Key_Left}) {
    QTest::keyClick(tabs->tabBar(), key);
    EXPECT_TRUE(shown.contains(front())) << front().toStdString();
  }
}

TEST_F(Rooms, AllViewsLeadsToExploreAndTheLessonStays) {
  window->show_view(QStringLiteral("memory"));
  open_lesson("why-the-ring-wins");
  press(QStringLiteral("All views"));
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_EQ(shown_tabs(), all_tabs());
  EXPECT_EQ(front(), QStringLiteral("memory")) << "each room remembers its tab";
  EXPECT_TRUE(window->lesson().player().is_open());
  EXPECT_TRUE(window->lesson().isVisible());
  EXPECT_EQ(button(QStringLiteral("All views")), nullptr);
  window->show_view(QStringLiteral("mesh"));
  press(QStringLiteral("Learn"));
  EXPECT_EQ(window->room(), Room::kLearn);
  EXPECT_EQ(front(), QStringLiteral("collectives"));
  EXPECT_TRUE(window->lesson().player().is_open());
  press(QStringLiteral("Explore"));
  EXPECT_EQ(front(), QStringLiteral("mesh"));
}

TEST_F(Rooms, AViewThatTheLessonDoesNotNameOpensExplore) {
  open_lesson("why-the-ring-wins");
  action(QStringLiteral("Memory view"))->trigger();
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_EQ(front(), QStringLiteral("memory"));
  EXPECT_TRUE(window->lesson().player().is_open());
}

TEST_F(Rooms, ALessonThatIsLeftLeavesItsViewInFrontInExplore) {
  window->show_view(QStringLiteral("memory"));
  open_lesson("why-the-ring-wins");
  window->lesson().player().close();
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_EQ(shown_tabs(), all_tabs());
  EXPECT_EQ(front(), QStringLiteral("collectives"));
}

TEST_F(Rooms, LearnWithoutALessonIsTheListOfLessonsAlone) {
  press(QStringLiteral("Learn"));
  EXPECT_EQ(window->room(), Room::kLearn);
  auto* start = window->findChild<CourseMap*>();
  ASSERT_NE(start, nullptr);
  EXPECT_TRUE(start->isVisible());
  EXPECT_GT(start->tiles().size(), 5U);
  EXPECT_FALSE(window->view().isVisible());
  EXPECT_FALSE(window->setup_panel().isVisible());
  EXPECT_FALSE(window->strip().isVisible());
  EXPECT_FALSE(window->top_bar().run_button().isVisible());
  EXPECT_TRUE(session().topic().is_step());
  press(QStringLiteral("Explore"));
  EXPECT_FALSE(start->isVisible());
  EXPECT_TRUE(window->view().isVisible());
  EXPECT_TRUE(window->setup_panel().isVisible());
  EXPECT_TRUE(window->strip().isVisible());
  EXPECT_TRUE(window->top_bar().run_button().isVisible());
  EXPECT_EQ(front(), QLatin1String(first_view().id));
}

TEST_F(Rooms, TheListOfLessonsOpensOneInItsViews) {
  press(QStringLiteral("Learn"));
  auto* start = window->findChild<CourseMap*>();
  for (std::size_t at = 0; at < start->tiles().size(); ++at) {
    if (start->data().lessons[at].id != QStringLiteral("why-the-ring-wins")) continue;
    start->tiles()[at]->setFocus();
    QTest::keyClick(start->tiles()[at], Qt::Key_Return);
    break;
  }
  ASSERT_TRUE(window->lesson().player().is_open());
  EXPECT_EQ(window->room(), Room::kLearn);
  EXPECT_FALSE(start->isVisible());
  EXPECT_EQ(shown_tabs(), QStringList{QStringLiteral("collectives")});
  EXPECT_TRUE(window->view().isVisible());
}

// What was begun goes on at its step, with the values and answers that it had.
TEST_F(Rooms, TheMapGoesOnWhereALessonWasLeft) {
  open_lesson("filling-the-bubble");
  LessonPlayer& player = window->lesson().player();
  player.next();
  ASSERT_EQ(player.step_index(), 1U);
  const Symbols drawn = player.drawn();
  Answer answer;
  answer.number = 0.27;
  player.commit(answer);
  player.close();
  press(QStringLiteral("Learn"));
  auto* start = window->findChild<CourseMap*>();
  const std::optional<std::size_t> next = start->data().next();
  ASSERT_TRUE(next);
  EXPECT_EQ(start->data().lessons[*next].id, QStringLiteral("filling-the-bubble"));
  EXPECT_EQ(start->data().lessons[*next].reached, 2U);
  for (auto* go_on : start->findChildren<QPushButton*>())
    if (go_on->text() == QStringLiteral("Continue")) {
      QTest::mouseClick(go_on, Qt::LeftButton);
      break;
    }
  ASSERT_TRUE(player.is_open());
  EXPECT_EQ(player.step_index(), 1U);
  EXPECT_EQ(player.drawn(), drawn);
  EXPECT_EQ(player.state().answer.number, 0.27);
  EXPECT_EQ(player.state().attempts, 1);
}

// A lesson that was done and is played once more goes on like any other, once its first step is
// left and until it is done again.
TEST_F(Rooms, TheMapGoesOnWithALessonThatIsPlayedAgain) {
  open_lesson("filling-the-bubble");
  LessonPlayer& player = window->lesson().player();
  const Lesson lesson = player.lesson();
  player.close();
  LessonProgress& progress = player.progress();
  const QTemporaryDir folder;
  ASSERT_TRUE(progress.use_folder(folder.path())) << "what other tests have begun stays out";
  for (const char* done : {"filling-the-bubble", "naive-and-gpipe"}) {
    const auto read = read_lesson(lessons_folder() + "/" + done);
    ASSERT_TRUE(read);
    ASSERT_TRUE(progress.keep(done, read->version, true, nullptr));
  }
  auto* start = window->findChild<CourseMap*>();
  const auto offered = [&] {
    press(QStringLiteral("Explore"));
    press(QStringLiteral("Learn"));
    const std::optional<std::size_t> next = start->data().next();
    return next ? start->data().lessons[*next].id : QString();
  };
  const QString first = offered();
  EXPECT_NE(first, QStringLiteral("filling-the-bubble")) << "it is done";
  open_lesson("filling-the-bubble");
  player.close();
  EXPECT_EQ(offered(), first) << "who looks at the first step has not begun it anew";
  const int minutes = start->data().minutes_left();
  open_lesson("filling-the-bubble");
  player.next();
  ASSERT_EQ(player.step_index(), 1U);
  const Symbols drawn = player.drawn();
  player.close();
  EXPECT_EQ(offered(), QStringLiteral("filling-the-bubble"));
  EXPECT_EQ(start->data().minutes_left(), minutes) << "a repeat is nothing that is left to do";
  EXPECT_TRUE(progress.done("filling-the-bubble", lesson.version));
  auto* go_on = start->findChild<QFrame*>(QStringLiteral("GoOn"));
  ASSERT_NE(go_on, nullptr);
  for (auto* button : go_on->findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Continue")) {
      QTest::mouseClick(button, Qt::LeftButton);
      break;
    }
  ASSERT_TRUE(player.is_open());
  EXPECT_EQ(player.step_index(), 1U);
  EXPECT_EQ(player.drawn(), drawn);
  player.close();
  ASSERT_TRUE(progress.keep("filling-the-bubble", lesson.version, true, nullptr));
  EXPECT_EQ(offered(), first) << "it is done once more";
}

// What is typed finds a lesson by its title, its unit and every statement that it covers, in the
// window's language and in English.
void expect_found_by_statements(const MapData& map, const std::vector<std::string>& languages) {
  const auto json_of = [](const QString& path) {
    QFile file(QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/") + path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
    return nlohmann::json::parse(file.readAll().toStdString());
  };
  const nlohmann::json rows = json_of(QStringLiteral("rows.json")).at("rows");
  int statements = 0;
  for (std::size_t at = 0; at < map.lessons.size(); ++at) {
    EXPECT_TRUE(map.matches(at, map.lessons[at].title));
    EXPECT_TRUE(map.matches(at, map.unit_of(at).title));
    const nlohmann::json lesson = json_of(map.lessons[at].id + QStringLiteral("/lesson.json"));
    if (!lesson.contains("covers")) continue;
    for (const auto& [id, step] : lesson["covers"].items()) {
      EXPECT_TRUE(map.matches(at, QString::fromStdString(id))) << id;
      for (const std::string& language : languages)
        EXPECT_TRUE(map.matches(at, QString::fromStdString(rows.at(id).at(language)))) << id;
      ++statements;
    }
    EXPECT_FALSE(map.matches(at, QStringLiteral("S9-99")));
  }
  EXPECT_GT(statements, 100);
}

TEST_F(Rooms, TheMapFindsALessonByWhatItCovers) {
  press(QStringLiteral("Learn"));
  const MapData& map = window->findChild<CourseMap*>()->data();
  expect_found_by_statements(map, {"en"});
  for (std::size_t at = 0; at < map.lessons.size(); ++at)
    EXPECT_FALSE(map.matches(at, QStringLiteral("Was Pipelines bringen und kosten"))) << at;
}

TEST_F(Rooms, AGermanMapFindsALessonByTheStatementInGermanAndInEnglish) {
  QLocale::setDefault(QLocale(QLocale::German));
  const LessonPlayer player(window->session());
  expect_found_by_statements(read_map(player), {"de", "en"});
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
}

TEST_F(Rooms, TheMapHasEveryLessonOnceUnderAUnitThatFollowsWhatItNeeds) {
  press(QStringLiteral("Learn"));
  const auto* start = window->findChild<CourseMap*>();
  const MapData& map = start->data();
  std::vector<int> seen(map.lessons.size(), 0);
  QStringList before;
  for (const MapUnit& unit : map.units) {
    for (const QString& needed : unit.after) EXPECT_TRUE(before.contains(needed));
    before << unit.title;
    for (const std::size_t lesson : unit.lessons) ++seen[lesson];
  }
  for (std::size_t at = 0; at < seen.size(); ++at) {
    EXPECT_EQ(seen[at], 1);
    EXPECT_NE(start->tiles()[at], nullptr);
    EXPECT_FALSE(start->tiles()[at]->accessibleName().isEmpty());
  }
}

// What a lesson builds on leads to it, lesson by lesson and from unit to unit.
TEST_F(Rooms, WhatALessonBuildsOnLeadsToIt) {
  press(QStringLiteral("Learn"));
  const MapData& map = window->findChild<CourseMap*>()->data();
  for (std::size_t at = 0; at < map.lessons.size(); ++at) {
    const MapUnit& unit = map.unit_of(at);
    if (at == unit.lessons.front()) {
      EXPECT_EQ(map.builds_on(at), unit.after);
    } else {
      const auto place = std::find(unit.lessons.begin(), unit.lessons.end(), at);
      EXPECT_EQ(map.builds_on(at), QStringList{map.lessons[*(place - 1)].title});
      EXPECT_EQ(map.leads_to(*(place - 1)), QStringList{map.lessons[at].title});
    }
  }
  for (const MapUnit& unit : map.units)
    for (const MapUnit& later : map.units)
      EXPECT_EQ(map.leads_to(unit.lessons.back()).contains(later.title),
                later.after.contains(unit.title))
          << unit.title.toStdString() << " " << later.title.toStdString();
}

TEST_F(Rooms, TheFirstStartHasThreeDoorsAndLaterOnesDoNot) {
  QSettings().remove(QStringLiteral("begun"));
  window->greet();
  EXPECT_EQ(window->room(), Room::kLearn);
  auto* start = window->findChild<CourseMap*>();
  const auto doors = start->findChildren<Door*>();
  ASSERT_EQ(doors.size(), 3);
  for (const Door* door : doors) EXPECT_FALSE(door->accessibleName().isEmpty());
  QTest::mouseClick(doors[1], Qt::LeftButton);
  EXPECT_EQ(window->room(), Room::kPlan);
  EXPECT_NE(QApplication::focusWidget(), nullptr);
  window->greet();
  EXPECT_EQ(window->room(), Room::kPlan) << "only once";
  press(QStringLiteral("Learn"));
  QTest::keyClick(doors[0], Qt::Key_Return);
  EXPECT_TRUE(window->lesson().player().is_open());
  window->lesson().player().next();
  window->lesson().player().close();
  press(QStringLiteral("Learn"));
  EXPECT_FALSE(doors[0]->isVisible()) << "a lesson was begun: there is one way on";
}

TEST_F(Rooms, TheMenuChoosesThemToo) {
  action(QStringLiteral("Learn"))->trigger();
  EXPECT_EQ(window->room(), Room::kLearn);
  EXPECT_TRUE(action(QStringLiteral("Learn"))->isChecked());
  action(QStringLiteral("Explore"))->trigger();
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_FALSE(action(QStringLiteral("Learn"))->isChecked());
}

TEST_F(Rooms, ADocumentOpensWithTheViewThatWasInFront) {
  QTemporaryDir folder;
  for (const ViewInfo& view : views()) {
    window->show_view(QLatin1String(view.id));
    const QString path = folder.filePath(QLatin1String(view.id) + QStringLiteral(".json"));
    ASSERT_TRUE(window->save_file(path));
    window->show_view(
        QLatin1String((&view == &views().front() ? views().back() : views().front()).id));
    window->open_file(path);
    ASSERT_TRUE(window->wait_for_file());
    EXPECT_EQ(&window->view_info(), &view);
  }
}

TEST_F(Rooms, NothingIsLostInASmallWindow) {
  for (const QSize size : {QSize(1024, 700), QSize(960, 540)}) {
    window->resize(size);
    QApplication::processEvents();
    press(QStringLiteral("Learn"));
    EXPECT_EQ(window->size(), size);
    const auto* start = window->findChild<CourseMap*>();
    EXPECT_TRUE(start->tiles().front()->isVisible());
    EXPECT_GE(start->tiles().front()->width(), 90);
    const auto* open = start->findChild<QPushButton*>();
    EXPECT_TRUE(window->rect().contains(QRect(open->mapTo(window.get(), QPoint()), open->size())));
    press(QStringLiteral("Explore"));
    EXPECT_TRUE(window->view().isVisible());
  }
}

}  // namespace
}  // namespace parallelarium
