// SPDX-License-Identifier: GPL-3.0-or-later
// What a teacher does with the window: a playlist, a lesson in front of a class, progress in a
// folder of choice; and what finds a lesson on the map.
#include <QFile>
#include <QLabel>
#include <QMenuBar>
#include <QPushButton>
#include <QTemporaryDir>

#include "app/lesson/map/course_map.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/lesson/map/unit_board.h"
#include "app/lesson/markdown_view.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/new_lesson.h"
#include "tests/app/lesson/teacher/teacher_fixture.h"

namespace parallelarium {
namespace {

int version() { return read_lesson(lessons_folder() + "/filling-the-bubble")->version; }

const QByteArray kMonday = "title: Monday\nwhy-the-ring-wins 9\nnaive-and-gpipe\nfirst-look\n";

TEST_F(Teacher, APlaylistIsWhatComesNextInItsOrder) {
  ASSERT_TRUE(window->open_playlist(file(QStringLiteral("monday.txt"), kMonday)));
  EXPECT_EQ(window->room(), Room::kLearn);
  ASSERT_TRUE(map().isVisible());
  ASSERT_EQ(map().listed().size(), 3u);
  EXPECT_TRUE(map().listed()[0]->accessibleName().contains(QStringLiteral("9 min")));
  EXPECT_EQ(next_on_map(), QStringLiteral("why-the-ring-wins"));
  EXPECT_EQ(window->lesson().next_to_do(), QStringLiteral("why-the-ring-wins"));
  finish("why-the-ring-wins");
  map().refresh();
  EXPECT_EQ(next_on_map(), QStringLiteral("naive-and-gpipe"));
  EXPECT_EQ(window->lesson().next_to_do(), QStringLiteral("naive-and-gpipe"));
  finish("naive-and-gpipe");
  finish("first-look");
  map().refresh();
  EXPECT_FALSE(next_on_map().isEmpty()) << "then the course goes on";
  // It is there at the next start, too, until it is closed.
  EXPECT_EQ(LessonProgress().playlist()->title, "Monday");
  EXPECT_TRUE(action(QStringLiteral("Close the playlist"))->isEnabled());
  for (auto* button : map().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Close")) button->click();
  QApplication::processEvents();
  EXPECT_TRUE(map().listed().empty());
  EXPECT_FALSE(LessonProgress().playlist());
  EXPECT_FALSE(action(QStringLiteral("Close the playlist"))->isEnabled());
}

TEST_F(Teacher, ALessonOfOnesOwnIsOnTheMapWhileItsPlaylistIs) {
  ASSERT_TRUE(write_new_lesson(folder_.filePath(QStringLiteral("two-halves")).toStdString()));
  ASSERT_TRUE(
      window->open_playlist(file(QStringLiteral("monday.txt"), "two-halves 9\nfirst-look\n")));
  const MapData& data = map().data();
  const std::size_t of_course = read_course(lessons_folder())->lessons.size();
  ASSERT_EQ(data.lessons.size(), of_course + 1);
  EXPECT_EQ(data.lessons.back().title, data.lessons[data.playlist->lessons[0]].title);
  EXPECT_TRUE(data.lessons.back().refusal.isEmpty());
  EXPECT_EQ(next_on_map(), QStringLiteral("two-halves"));
  EXPECT_TRUE(map().listed()[0]->accessibleName().contains(data.lessons.back().title));
  map().listed()[0]->click();  // and says what it is about, like any other
  const Result<Lesson> own = read_lesson(data.lessons.back().folder.toStdString());
  ASSERT_TRUE(player().progress().keep(own->id, own->version, true, nlohmann::json::object()));
  map().refresh();
  EXPECT_EQ(next_on_map(), QStringLiteral("first-look"));
  EXPECT_EQ(LessonProgress().playlist()->entries[0].lesson, own->folder)
      << "at the next start, too";
  action(QStringLiteral("Close the playlist"))->trigger();
  EXPECT_EQ(map().data().lessons.size(), of_course);
  ASSERT_TRUE(window->open_playlist(folder_.filePath(QStringLiteral("monday.txt"))));
  Q_EMIT map().listed()[0]->opened();
  EXPECT_EQ(player().lesson().id, "two-halves");
}

TEST_F(Teacher, AWrongPlaylistIsToldInTheBannerAndChangesNothing) {
  ASSERT_TRUE(window->open_playlist(file(QStringLiteral("monday.txt"), kMonday)));
  EXPECT_FALSE(
      window->open_playlist(file(QStringLiteral("bad.txt"), "first-look\nnothing-such\n")));
  bool told = false;
  for (const QLabel* label : window->banner().findChildren<QLabel*>())
    told = told || label->text().contains(QStringLiteral("line 2: \"nothing-such\" is no lesson"));
  EXPECT_TRUE(told);
  EXPECT_EQ(player().progress().playlist()->title, "Monday");
}

TEST_F(Teacher, PresentingLeavesTheViewAndTheLessonAndAClickerTurnsItsSteps) {
  window->show_room(Room::kLearn);
  EXPECT_FALSE(action(QStringLiteral("Present"))->isEnabled()) << "there is only the map";
  open("filling-the-bubble");
  auto* text = window->lesson().findChild<MarkdownView*>();
  const int usual = text->document()->defaultFont().pixelSize();
  ASSERT_TRUE(action(QStringLiteral("Present"))->isEnabled());
  action(QStringLiteral("Present"))->trigger();
  QApplication::processEvents();
  ASSERT_TRUE(window->presents());
  EXPECT_FALSE(window->strip().isVisible());
  EXPECT_FALSE(window->setup_panel().isVisible());
  EXPECT_FALSE(window->top_bar().isVisible());
  EXPECT_FALSE(window->menuBar()->isVisible());
  EXPECT_TRUE(window->lesson().isVisible());
  EXPECT_EQ(text->document()->defaultFont().pixelSize(), (3 * usual + 1) / 2);
  window->activateWindow();
  const nlohmann::json kept = player().progress().record("filling-the-bubble", version());
  QTest::keyClick(window->focusWidget() ? window->focusWidget() : window.get(), Qt::Key_PageDown);
  QTest::keyClick(window.get(), Qt::Key_PageDown);
  EXPECT_EQ(player().step_index(), 2u) << "also past a question that nobody answered";
  EXPECT_EQ(session().setup(), settings_at(player().lesson(), 2, player().drawn())->setup)
      << "as for one who answered it";
  QTest::keyClick(window.get(), Qt::Key_PageUp);
  EXPECT_EQ(player().step_index(), 1u);
  EXPECT_EQ(player().progress().record("filling-the-bubble", version()), kept)
      << "nothing is kept of it";
  QTest::keyClick(window.get(), Qt::Key_Escape);
  QApplication::processEvents();
  EXPECT_FALSE(window->presents());
  EXPECT_TRUE(window->strip().isVisible());
  EXPECT_TRUE(window->menuBar()->isVisible());
  EXPECT_EQ(text->document()->defaultFont().pixelSize(), usual);
  QTest::keyClick(window.get(), Qt::Key_PageDown);
  EXPECT_EQ(player().step_index(), 0u) << "these keys are free again";
}

TEST_F(Teacher, AfterPresentingALessonToItsEndAllIsAsItWas) {
  ASSERT_TRUE(window->use_progress_folder(folder_.filePath(QStringLiteral("presented"))));
  window->setWindowState(Qt::WindowMaximized);
  QApplication::processEvents();
  open("filling-the-bubble");
  player().next();
  player().commit({0.5, {}, {}, {}});
  const auto setup = session().setup();
  const nlohmann::json record = player().progress().record("filling-the-bubble", version());
  const nlohmann::json steps = player().answers()["steps"];
  window->present();
  QApplication::processEvents();
  EXPECT_TRUE(window->isFullScreen());
  while (!player().at_end()) player().show_step(+1);
  player().next();
  QApplication::processEvents();
  ASSERT_FALSE(player().is_open());
  EXPECT_TRUE(banner_says(QStringLiteral("Esc leaves")));
  // Another lesson, a review and what is known leave nothing, either.
  open("first-look");
  ASSERT_TRUE(player().place({QString::fromStdString(lessons_folder()) + "/first-look"}));
  Context context;
  context.settings = *settings_at(player().lesson(), player().step_index(), player().drawn(), true);
  context.drawn = player().drawn();
  player().commit({*evaluate(player().step().ask->answer, context.symbols()), {}, {}, {}});
  player().next();
  window->activateWindow();
  QTest::keyClick(window.get(), Qt::Key_Escape);
  QApplication::processEvents();
  EXPECT_TRUE(window->isMaximized());
  ASSERT_TRUE(player().is_open());
  EXPECT_EQ(player().lesson().id, "filling-the-bubble");
  EXPECT_EQ(player().step_index(), 1u);
  EXPECT_EQ(player().answers()["steps"], steps);
  EXPECT_EQ(session().setup(), setup);
  const LessonProgress kept(folder_.filePath(QStringLiteral("presented/progress.json")));
  EXPECT_EQ(kept.record("filling-the-bubble", version())["steps"], record["steps"]);
  EXPECT_FALSE(kept.done("filling-the-bubble", version()));
  EXPECT_FALSE(kept.known("first-look", read_lesson(lessons_folder() + "/first-look")->version));
  EXPECT_FALSE(banner_says(QStringLiteral("Esc leaves")));
}

TEST_F(Teacher, AWindowClosedWhilePresentingIsNoLargerAtTheNextStart) {
  open("filling-the-bubble");
  const QByteArray before = window->saveGeometry();
  window->present();
  QApplication::processEvents();
  ASSERT_NE(window->saveGeometry(), before);
  window->close();
  EXPECT_EQ(QSettings().value(QStringLiteral("geometry")).toByteArray(), before);
}

TEST_F(Teacher, NumbersOfAListHaveRoomInLargeText) {
  open("filling-the-bubble");
  auto* text = window->lesson().findChild<MarkdownView*>();
  for (const bool large : {false, true}) {
    if (large) window->present();
    QApplication::processEvents();
    const QFontMetricsF metrics(text->document()->defaultFont());
    EXPECT_GE(text->document()->indentWidth(), metrics.horizontalAdvance(QStringLiteral("9. ")));
  }
}

TEST_F(Teacher, APlaylistsWordsAreNoMarkupAndItsTimeIsInHours) {
  ASSERT_TRUE(window->use_progress_folder(folder_.filePath(QStringLiteral("listed"))));
  ASSERT_TRUE(window->open_playlist(
      file(QStringLiteral("long.txt"), "title: <h1>Big</h1>\nfirst-look 70\nnaive-and-gpipe 65\n"),
      false));
  ASSERT_EQ(map().listed().size(), 2u);
  EXPECT_FALSE(LessonProgress(folder_.filePath(QStringLiteral("listed/progress.json"))).playlist())
      << "it is only shown";
  map().findChild<QLineEdit*>()->setText(QStringLiteral("<h1>none</h1>"));
  int plain = 0;
  bool hours = false, own_minutes = false;
  for (const auto* label : map().findChildren<QLabel*>()) {
    hours = hours || label->text().contains(QStringLiteral("2 h 15 min"));
    own_minutes = own_minutes || label->text().contains(QStringLiteral("1 h 10 min"));
    if (!label->text().contains(QStringLiteral("<h1>"))) continue;
    EXPECT_EQ(label->textFormat(), Qt::PlainText) << label->text().toStdString();
    ++plain;
  }
  EXPECT_EQ(plain, 3) << "the list's title, the card, what was searched";
  EXPECT_TRUE(hours);
  EXPECT_TRUE(own_minutes);
}

TEST_F(Teacher, SearchingLeavesTheLessonsThatHaveTheWords) {
  window->show_room(Room::kLearn);
  auto* search = map().findChild<QLineEdit*>();
  const auto shown = [&] {
    QStringList ids;
    for (std::size_t at = 0; at < map().tiles().size(); ++at)
      if (map().tiles()[at]) ids << map().data().lessons[at].id;
    return ids;
  };
  const qsizetype all = shown().size();
  QTest::keyClicks(search, QStringLiteral("GPipe naive"));
  EXPECT_TRUE(shown().contains(QStringLiteral("naive-and-gpipe")));
  EXPECT_LT(shown().size(), 6);
  QTest::keyClick(search, Qt::Key_Return);
  EXPECT_NE(qobject_cast<LessonTile*>(QApplication::focusWidget()), nullptr);
  search->setText(QStringLiteral("no such words"));
  EXPECT_TRUE(shown().isEmpty());
  search->clear();
  EXPECT_EQ(shown().size(), all);
}

TEST_F(Teacher, ArrowsLeadToEveryUnitFromWhatItNeedsAndCrossNoUnit) {
  for (const QSize size : {QSize(1440, 900), QSize(1024, 700), QSize(1800, 1000)}) {
    window->resize(size);
    window->show_room(Room::kLearn);
    QApplication::processEvents();
    auto* board = map().findChild<UnitBoard*>();
    ASSERT_NE(board, nullptr);
    std::size_t needs = 0;
    for (const MapUnit& unit : map().data().units) needs += unit.needs.size();
    const auto routes = board->routes();
    EXPECT_EQ(routes.size(), needs);
    const auto boxes = board->findChildren<QFrame*>(QStringLiteral("MapUnit"));
    ASSERT_EQ(boxes.size(), qsizetype(map().data().units.size()));
    for (const UnitBoard::Route& route : routes) {
      const QRectF to = boxes[qsizetype(route.later)]->geometry();
      EXPECT_TRUE(to.adjusted(-2, -2, 2, 2).contains(route.line.last()));
      for (qsizetype at = 1; at < route.line.size(); ++at) {
        const QPointF a = route.line[at - 1], b = route.line[at];
        EXPECT_TRUE(QRectF(board->rect()).contains(a)) << "nothing is cut off";
        EXPECT_TRUE(a.x() == b.x() || a.y() == b.y());
        const QRectF piece = QRectF(a, b).normalized().adjusted(-0.1, -0.1, 0.1, 0.1);
        for (const QFrame* box : boxes)
          EXPECT_FALSE(QRectF(box->geometry()).adjusted(2, 2, -2, -2).intersects(piece))
              << box->accessibleName().toStdString();
      }
    }
  }
}

}  // namespace
}  // namespace parallelarium
