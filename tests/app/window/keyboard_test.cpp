// SPDX-License-Identifier: GPL-3.0-or-later
// The window by the keyboard alone: where Tab and F6 lead, that one sees where one is, and that
// keys go to what is in front.
#include <gtest/gtest.h>

#include <QFile>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "app/lesson/index/course_index.h"
#include "app/lesson/map/course_map.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/lesson/markdown_view.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app/lesson/restore_step.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class Keyboard : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
    window->activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(window.get()));
  }
  void open_lesson(const char* id) {
    const Result<void> opened = window->lesson().player().open(
        QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/") + QLatin1String(id), 7);
    ASSERT_TRUE(opened) << opened.error().text;
    QApplication::processEvents();
  }
  // To the first part of the lesson of that kind.
  void go_to(StepKind kind) {
    const auto& steps = window->lesson().player().lesson().steps;
    for (const Step& step : steps)
      if (step.kind == kind) {
        restore_step(session(), step.id);
        return QApplication::processEvents();
      }
    FAIL() << "the lesson has no such part";
  }
  static QWidget* focus() { return QApplication::focusWidget(); }
  // Every stop of Tab from here until it comes back. A text keeps the focus from word to word.
  QList<QWidget*> stops() {
    QList<QWidget*> all;
    const auto is_new = [&] { return all.isEmpty() || focus() != all.back(); };
    for (int at = 0; at < 400 && focus() && !(is_new() && all.contains(focus())); ++at) {
      if (is_new()) all << focus();
      QTest::keyClick(focus(), Qt::Key_Tab);
    }
    return all;
  }
  CourseMap& map() { return *window->findChild<CourseMap*>(); }
  QLineEdit& search() {
    for (auto* field : map().findChildren<QLineEdit*>())
      if (field->placeholderText() == QStringLiteral("Find a lesson")) return *field;
    ADD_FAILURE() << "no field to search in";
    return *map().findChild<QLineEdit*>();
  }
  // The room Plan has no Run.
  QAbstractButton* a_button() {
    for (auto* button : window->findChildren<QAbstractButton*>())
      if (button->isVisible() && button->isEnabled() && (button->focusPolicy() & Qt::TabFocus))
        return button;
    return nullptr;
  }
  QTabBar* lesson_tabs() {
    for (auto* bar : window->findChildren<QTabBar*>())
      if (bar->isVisible() && bar->tabText(0) == QStringLiteral("Lesson")) return bar;
    return nullptr;
  }
};

TEST_F(Keyboard, FindOnTheMapSearchesLessonsAndDownLeadsToThem) {
  window->show_view(QStringLiteral("mesh"));
  window->show_room(Room::kLearn);
  ASSERT_TRUE(map().isVisible());
  QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier);
  ASSERT_EQ(focus(), &search());
  EXPECT_TRUE(focus()->isVisible());
  QTest::keyClicks(focus(), QStringLiteral("schedule"));
  QTest::keyClick(focus(), Qt::Key_Down);
  auto* tile = qobject_cast<LessonTile*>(focus());
  ASSERT_NE(tile, nullptr);
  EXPECT_TRUE(tile->isVisible());
  QStringList found;
  for (const LessonTile* shown : map().tiles())
    if (shown) found << shown->accessibleName();
  EXPECT_EQ(tile->accessibleName(), found.value(0));
  EXPECT_LT(found.size(), qsizetype(map().tiles().size()) / 2);
  EXPECT_EQ(found.filter(QStringLiteral("Build the order")).size(), 1)
      << "the lesson that teaches the word: " << found.join(QStringLiteral("; ")).toStdString();
}

TEST_F(Keyboard, FindNeverGoesToAHiddenField) {
  for (const ViewInfo& view : views()) {
    window->show_view(QLatin1String(view.id));
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier);
    QApplication::processEvents();
    ASSERT_NE(focus(), nullptr) << view.id;
    EXPECT_TRUE(focus()->isVisible()) << view.id;
  }
}

TEST_F(Keyboard, AnOpenMenuGetsTheArrows) {
  TimelineView& timeline = window->view_of<PipelineView>().timeline();
  timeline.setFocus();
  QTest::keyClick(&timeline, Qt::Key_Return);
  QTest::keyClick(&timeline, Qt::Key_Right);
  const OpRef selected = session().subject().selected();
  ASSERT_GE(selected.rank, 0);
  QTest::keyClick(window->windowHandle(), Qt::Key_F, Qt::AltModifier);
  QWidget* file = QApplication::activePopupWidget();
  ASSERT_NE(file, nullptr);
  for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Left, Qt::Key_Right}) {
    QTest::keyClick(window->windowHandle(), key);
    EXPECT_EQ(session().subject().selected(), selected);
  }
  EXPECT_NE(QApplication::activePopupWidget(), nullptr);
  EXPECT_NE(QApplication::activePopupWidget(), file) << "the menu beside it";
  QTest::keyClick(window->windowHandle(), Qt::Key_Escape);
  QTest::keyClick(window->windowHandle(), Qt::Key_Escape);
}

TEST_F(Keyboard, TabWalksTheLessonWholeAndTheFiguresLast) {
  open_lesson("filling-the-bubble");
  for (const StepKind kind : {StepKind::kRead, StepKind::kPredict, StepKind::kExplain}) {
    go_to(kind);
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_NE(lesson_tabs(), nullptr);
    lesson_tabs()->setFocus(Qt::TabFocusReason);
    const QList<QWidget*> walked = stops();
    std::vector<qsizetype> at{0};
    const auto follows = [&](const QWidget* widget, const char* what) {
      at.push_back(walked.indexOf(const_cast<QWidget*>(widget)));
      EXPECT_GT(at.back(), at[at.size() - 2]) << what << " in a part of kind " << int(kind);
    };
    for (const auto* text : window->lesson().findChildren<MarkdownView*>())
      if (text->accessibleName() == QStringLiteral("Lesson text")) follows(text, "the text");
    for (const auto* card : window->lesson().findChildren<QRadioButton*>())
      if (card->isVisible() && (card->focusPolicy() & Qt::TabFocus)) follows(card, "an option");
    const auto* number = window->lesson().findChild<QLineEdit*>("LessonNumber");
    if (number->isVisible()) follows(number, "the number");
    const auto* primary = window->lesson().findChild<QPushButton*>("LessonPrimary");
    if (primary->isEnabled()) follows(primary, "the button that leads on");
    for (const StripCell* cell : window->strip().findChildren<StripCell*>())
      follows(cell, "a figure");
  }
}

TEST_F(Keyboard, AllViewsComesBeforeWhatTheViewShows) {
  open_lesson("filling-the-bubble");
  lesson_tabs()->setFocus(Qt::TabFocusReason);
  const QList<QWidget*> walked = stops();
  qsizetype all_views = -1, first = -1;
  for (qsizetype at = 0; at < walked.size(); ++at) {
    const auto* button = qobject_cast<QToolButton*>(walked[at]);
    if (button && button->text() == QStringLiteral("All views")) all_views = at;
    if (first < 0 && window->view().isAncestorOf(walked[at])) first = at;
  }
  ASSERT_GE(all_views, 0);
  ASSERT_GE(first, 0);
  EXPECT_LT(all_views, first);
}

// What a lesson or the sheet of shortcuts names acts as soon as its view is seen.
TEST_F(Keyboard, KeysOfTheViewInFrontActWhereverTheFocusIs) {
  open_lesson("gather-compute-free");
  go_to(StepKind::kRun);
  if (testing::Test::HasFatalFailure()) return;
  window->show_view(QStringLiteral("memory/holders"));
  session().wait_for_prediction();
  QApplication::processEvents();
  const auto moves = [&](QWidget* from, Qt::Key key) {
    session().playback().set_playhead(Nanoseconds(0));
    from->setFocus();
    EXPECT_EQ(focus(), from);
    QTest::keyClick(window->windowHandle(), key);
    return session().playback().playhead() != Nanoseconds(0);
  };
  ASSERT_NE(a_button(), nullptr);
  QList<QWidget*> from{a_button(), lesson_tabs()};
  for (auto* text : window->lesson().findChildren<MarkdownView*>())
    if (text->isVisible()) from << text;
  ASSERT_GE(from.size(), 3);
  for (QWidget* widget : from) {
    EXPECT_TRUE(moves(widget, Qt::Key_N)) << widget->metaObject()->className();
    EXPECT_TRUE(moves(widget, Qt::Key_Period)) << widget->metaObject()->className();
  }
  window->show_view(QStringLiteral("pipeline"));
  session().subject().fit_all();
  const TimeRange whole = session().subject().visible();
  a_button()->setFocus();
  QTest::keyClick(window->windowHandle(), Qt::Key_W);
  const TimeRange nearer = session().subject().visible();
  EXPECT_LT(nearer.length(), whole.length());
  // A field of text takes the key as a letter.
  ASSERT_TRUE(window->view().open_search());
  const auto* field = qobject_cast<QLineEdit*>(focus());
  ASSERT_NE(field, nullptr);
  QTest::keyClick(window->windowHandle(), Qt::Key_W);
  EXPECT_EQ(session().subject().visible(), nearer);
  EXPECT_FALSE(field->text().isEmpty());
}

TEST_F(Keyboard, TheNextPaneIsLeftAndFoundAgainAtTheSamePlace) {
  open_lesson("filling-the-bubble");
  auto* primary = window->lesson().findChild<QPushButton*>("LessonPrimary");
  primary->setFocus(Qt::TabFocusReason);
  QTest::keyClick(primary, Qt::Key_F6);
  ASSERT_TRUE(focus() && !window->lesson().isAncestorOf(focus()));
  for (int press = 0; press < 8 && focus() != primary; ++press) {
    EXPECT_FALSE(window->lesson().isAncestorOf(focus())) << "another place of the pane";
    QTest::keyClick(focus(), Qt::Key_F6);
  }
  EXPECT_EQ(focus(), primary);
}

// Whatever Tab stops at looks other than without the focus.
TEST_F(Keyboard, EveryStopShowsThatItHasTheFocus) {
  const auto look = [&](const char* where, bool view_alone) {
    const QList<QWidget*> found = stops();
    ASSERT_GT(found.size(), 10) << where;
    // What is filled anew when the focus leaves it has other parts then.
    const QList<QPointer<QWidget>> walked(found.begin(), found.end());
    for (const QPointer<QWidget>& stop : walked) {
      if (!stop || (view_alone && !window->view().isAncestorOf(stop))) continue;
      stop->setFocus(Qt::TabFocusReason);
      QApplication::processEvents();
      const QImage with = stop->grab().toImage();
      stop->clearFocus();
      QApplication::processEvents();
      EXPECT_NE(with, stop->grab().toImage())
          << where << ": " << stop->metaObject()->className() << " "
          << stop->objectName().toStdString() << " " << stop->accessibleName().toStdString();
    }
  };
  window->top_bar().run_button().setFocus();
  look("Explore", false);
  for (const ViewInfo& view : views()) {
    window->show_view(QLatin1String(view.id));
    QApplication::processEvents();
    ASSERT_NE(a_button(), nullptr);
    a_button()->setFocus();
    look(view.id, true);
  }
  window->show_room(Room::kExplore);
  open_lesson("filling-the-bubble");
  ASSERT_NE(lesson_tabs(), nullptr);
  lesson_tabs()->setFocus();
  look("a lesson", false);
  window->lesson().player().close();
  window->show_room(Room::kLearn);
  search().setFocus();
  look("the map", false);
}

TEST_F(Keyboard, TheIndexOfTheCourseShowsThatItHasTheFocus) {
  CourseIndexSheet sheet;
  sheet.show();
  sheet.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&sheet));
  for (auto* page : sheet.findChildren<QTextBrowser*>()) {
    if (!page->isVisible()) continue;
    page->setFocus(Qt::TabFocusReason);
    const QImage with = page->grab().toImage();
    page->clearFocus();
    EXPECT_NE(with, page->grab().toImage());
  }
}

TEST_F(Keyboard, AQuestionOfOptionsArrivesAtItsTextAndShowsIt) {
  open_lesson("filling-the-bubble");
  auto* primary = window->lesson().findChild<QPushButton*>("LessonPrimary");
  QTest::keyClick(primary, Qt::Key_F12);  // keys are in use
  primary->setFocus();
  go_to(StepKind::kExplain);
  auto* text = qobject_cast<MarkdownView*>(focus());
  ASSERT_NE(text, nullptr);
  const QWidget* ring = text->findChild<QWidget*>(QStringLiteral("FocusRing"));
  ASSERT_NE(ring, nullptr);
  EXPECT_TRUE(ring->isVisible());
}

TEST_F(Keyboard, PagesOfALessonTurnWhereverTheFocusIsInIt) {
  window->resize(1440, 560);
  open_lesson("filling-the-bubble");
  auto* area = window->lesson().findChild<QScrollArea*>("LessonScroll");
  ASSERT_GT(area->verticalScrollBar()->maximum(), 0);
  lesson_tabs()->setFocus(Qt::TabFocusReason);
  for (QWidget* stop : stops()) {
    if (!window->lesson().isAncestorOf(stop)) continue;
    stop->setFocus(Qt::TabFocusReason);
    area->verticalScrollBar()->setValue(0);
    QTest::keyClick(stop, Qt::Key_PageDown);
    const int below = area->verticalScrollBar()->value();
    EXPECT_GT(below, 0) << stop->metaObject()->className();
    QTest::keyClick(stop, Qt::Key_PageUp);
    EXPECT_LT(area->verticalScrollBar()->value(), below) << stop->metaObject()->className();
  }
}

TEST_F(Keyboard, WithoutLessonsTheMapHasNothingToPressOrToSearch) {
  const QTemporaryDir folder;
  for (const char* name : {"course.json", "schema.json"}) {
    QFile file(folder.filePath(QLatin1String(name)));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  }
  const QByteArray before = qgetenv("PARALLELARIUM_LESSONS");
  qputenv("PARALLELARIUM_LESSONS", folder.path().toUtf8());
  window->show_room(Room::kLearn);
  QApplication::processEvents();
  for (const auto* widget : map().findChildren<QWidget*>()) {
    if (!widget->isVisible()) continue;
    EXPECT_EQ(qobject_cast<const QAbstractButton*>(widget), nullptr)
        << widget->accessibleName().toStdString();
    EXPECT_EQ(qobject_cast<const QLineEdit*>(widget), nullptr);
  }
  before.isEmpty() ? qunsetenv("PARALLELARIUM_LESSONS") : qputenv("PARALLELARIUM_LESSONS", before);
}

}  // namespace
}  // namespace parallelarium
