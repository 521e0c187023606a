// SPDX-License-Identifier: GPL-3.0-or-later
// Lessons by the keyboard alone: a lesson that is opened and a part that is new have the focus,
// the list goes on where the student is, and arrows on the map follow its picture.
#include <QListWidget>
#include <QPointer>
#include <algorithm>

#include "app/lesson/lesson_index.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/look/theme/focus_ring.h"
#include "app/views/pipeline/editor/order_editor.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/lesson/restore_step.h"
#include "tests/app/lesson/teacher/teacher_fixture.h"

namespace parallelarium {
namespace {

class LessonKeyboard : public Teacher {
 protected:
  void SetUp() override {
    Teacher::SetUp();
    window->lesson().set_pauses(0, 0);
    window->activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(window.get()));
  }
  static QWidget* focus() { return QApplication::focusWidget(); }
  QPushButton* primary() { return window->lesson().findChild<QPushButton*>("LessonPrimary"); }
  // What the part that is open has first: what is asked, else the button that leads on.
  bool is_first_control(const QWidget* widget) {
    const Step& step = player().step();
    if (player().state().solved) return widget == primary();
    if (step.ask && !step.ask->answer.empty())
      return widget->objectName() == QLatin1String("LessonNumber");
    const bool on_button = widget == primary();
    if (step.builds_order() && window->findChild<OrderEditor*>()->isAncestorOf(widget)) return true;
    const bool asks = !step.options.empty() || !step.parts.empty() || step.kind == StepKind::kFind;
    return asks ? !on_button && window->lesson().isAncestorOf(widget) : on_button;
  }
  void go_to(std::size_t at) {
    restore_step(session(), player().lesson().steps.at(at).id);
    QApplication::processEvents();
  }
};

TEST_F(LessonKeyboard, ALessonThatTheMapOpensHasTheFocusOfItsFirstControl) {
  for (const char* id : {"first-look", "copies-that-agree"}) {
    window->show_room(Room::kLearn);
    if (player().is_open()) player().close();
    window->show_room(Room::kLearn);
    ASSERT_TRUE(map().isVisible());
    for (std::size_t at = 0; at < map().tiles().size(); ++at)
      if (map().data().lessons[at].id == QLatin1String(id)) map().tiles()[at]->setFocus();
    QTest::keyClick(focus(), Qt::Key_Return);
    QApplication::processEvents();
    ASSERT_TRUE(player().is_open());
    ASSERT_NE(focus(), nullptr);
    EXPECT_TRUE(is_first_control(focus())) << id << ": " << focus()->metaObject()->className();
  }
}

TEST_F(LessonKeyboard, NextLeadsToTheFirstControlOfTheNewPart) {
  for (const char* id : {"first-look", "copies-that-agree", "eight-collectives", "memory-moves",
                         "orders-by-hand", "zero-one-and-two", "wires-and-switches"}) {
    open(id);
    const std::size_t parts = player().lesson().steps.size();
    for (std::size_t at = 1; at < parts; ++at) {
      go_to(at);
      player().back();
      QApplication::processEvents();
      ASSERT_EQ(player().step_index(), at - 1);
      primary()->setFocus();
      QTest::keyClick(primary(), Qt::Key_Space);
      QApplication::processEvents();
      ASSERT_EQ(player().step_index(), at) << id;
      ASSERT_NE(focus(), nullptr) << id << ", part " << at + 1;
      EXPECT_TRUE(is_first_control(focus()))
          << id << ", part " << at + 1 << ": " << focus()->metaObject()->className();
    }
  }
}

// The text of a question with cards has the keys; to who clicks, a ring would say that one types
// there.
TEST_F(LessonKeyboard, ATextThatAsksIsRingedForKeysAlone) {
  open("does-it-fit");
  std::size_t at = 1;
  while (player().lesson().steps[at].options.empty() || player().lesson().steps[at].ask) ++at;
  for (const bool by_key : {false, true, false}) {
    go_to(at);
    player().back();
    QApplication::processEvents();
    if (by_key) {
      primary()->setFocus();
      QTest::keyClick(primary(), Qt::Key_Space);
    } else {
      QTest::mouseClick(primary(), Qt::LeftButton);
    }
    QApplication::processEvents();
    ASSERT_EQ(player().step_index(), at);
    ASSERT_NE(qobject_cast<MarkdownView*>(focus()), nullptr);
    EXPECT_EQ(shows_focus(*focus()), by_key);
  }
}

TEST_F(LessonKeyboard, AnOrderThatIsBuiltHasTheKeysOfALessonThatStarts) {
  open("orders-by-hand");
  std::size_t at = 1;
  while (!player().lesson().steps.at(at).builds_order()) ++at;
  go_to(at);
  player().back();
  QApplication::processEvents();
  QTest::keyClick(primary(), Qt::Key_Space);
  QApplication::processEvents();
  ASSERT_EQ(player().step_index(), at);
  primary()->setFocus();
  Q_EMIT map().started();
  ASSERT_NE(focus(), nullptr);
  EXPECT_TRUE(window->findChild<OrderEditor*>()->isAncestorOf(focus()))
      << focus()->metaObject()->className();
}

TEST_F(LessonKeyboard, TheListGoesOnWithTheLessonThatIsOpenAndWithOneThatWasBegun) {
  open("filling-the-bubble");
  QTest::mouseClick(primary(), Qt::LeftButton);
  QApplication::processEvents();
  ASSERT_EQ(player().step_index(), 1u);
  const nlohmann::json before = player().answers()["steps"];
  const auto choose = [&](const char* id) {
    LessonIndex index(player(), window.get());
    auto* list = index.findChild<QListWidget*>();
    for (std::size_t at = 0; at < map().data().lessons.size(); ++at)
      if (map().data().lessons[at].id == QLatin1String(id)) list->setCurrentRow(int(at));
    QString label;
    for (const QPushButton* button : index.findChildren<QPushButton*>())
      if (button->isDefault()) label = button->text();
    QTest::keyClick(list, Qt::Key_Return);
    return label;
  };
  map().show();  // reads the course
  EXPECT_EQ(choose("filling-the-bubble"), QStringLiteral("Continue"));
  EXPECT_EQ(player().step_index(), 1u);
  EXPECT_EQ(player().answers()["steps"], before);
  EXPECT_EQ(choose("why-the-ring-wins"), QStringLiteral("Start"));
  ASSERT_EQ(player().lesson().id, "why-the-ring-wins");
  EXPECT_EQ(choose("filling-the-bubble"), QStringLiteral("Continue"));
  EXPECT_EQ(player().lesson().id, "filling-the-bubble");
  EXPECT_EQ(player().step_index(), 1u) << "where the student left it";
  EXPECT_EQ(player().answers()["seed"], 7) << "with its numbers";
}

// Of all tiles that lie on that side, none is nearer than the one that has the focus then.
TEST_F(LessonKeyboard, ArrowsOnTheMapFollowItsPicture) {
  if (player().is_open()) player().close();
  window->show_room(Room::kLearn);
  QApplication::processEvents();
  std::vector<LessonTile*> tiles = map().tiles();
  ASSERT_GT(tiles.size(), 30u);
  const auto place = [&](const QWidget* tile) {
    return QRect(tile->mapTo(&map(), QPoint(0, 0)), tile->size());
  };
  int moved[4] = {};
  for (LessonTile* tile : tiles)
    for (const int key : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}) {
      tile->setFocus();
      QTest::keyClick(tile, Qt::Key(key));
      const auto* now = qobject_cast<LessonTile*>(focus());
      ASSERT_NE(now, nullptr);
      const QRect here = place(tile), there = place(now);
      const auto lies = [&](const QRect& other) {
        if (key == Qt::Key_Left) return other.right() < here.left();
        if (key == Qt::Key_Right) return other.left() > here.right();
        const bool column = other.left() < here.right() && here.left() < other.right();
        return column &&
               (key == Qt::Key_Up ? other.bottom() < here.top() : other.top() > here.bottom());
      };
      if (now == tile) {
        for (const LessonTile* other : tiles) EXPECT_FALSE(lies(place(other)));
        continue;
      }
      ++moved[key - Qt::Key_Left];
      EXPECT_TRUE(lies(there)) << tile->accessibleName().toStdString();
      EXPECT_TRUE(now->isChecked()) << "what it is about stands at the right";
      for (const LessonTile* other : tiles) {
        const QRect rival = place(other);
        if (!lies(rival)) continue;
        const int gap = std::abs(there.center().x() - here.center().x());
        EXPECT_GE(std::abs(rival.center().x() - here.center().x()), gap) << "a column was passed";
        if (std::abs(rival.center().x() - here.center().x()) == gap) {
          EXPECT_GE(std::abs(rival.center().y() - here.center().y()),
                    std::abs(there.center().y() - here.center().y()));
        }
      }
    }
  for (const int count : moved) EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace parallelarium
