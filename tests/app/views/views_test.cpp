// SPDX-License-Identifier: GPL-3.0-or-later
// A view is a folder, one line in views.cpp and its id in resources/views.json: all else follows.
#include "app/views/views.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QTabBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <algorithm>
#include <set>

#include "app/export/export.h"
#include "app/export/manual.h"
#include "app/selection/selection_panel.h"
#include "app/shell/bars/strip.h"
#include "app/state/step/training_step.h"
#include "engine/wire/view_ids.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

const QString kSources = QStringLiteral(PARALLELARIUM_SOURCE_DIR "/");

TEST(ViewList, HasEveryIdOfTheEngineInItsOrderAndNoOther) {
  std::vector<std::string> ids;
  for (const ViewInfo& view : views()) ids.emplace_back(view.id);
  EXPECT_EQ(ids, view_ids());
  for (const std::string& id : view_ids())
    EXPECT_NE(find_view(QString::fromStdString(id)), nullptr) << id;
  EXPECT_EQ(find_view(QStringLiteral("sideways")), nullptr);
  EXPECT_EQ(find_view({}), nullptr);
}

TEST(ViewList, HasAFolderForEveryView) {
  std::set<std::string> folders;
  for (const QString& name :
       QDir(kSources + QStringLiteral("app/views")).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
    folders.insert(name.toStdString());
  for (const std::string& id : view_ids()) EXPECT_EQ(folders.erase(id), 1u) << id;
  // What is left holds parts of views.
  EXPECT_EQ(folders, (std::set<std::string>{"shared", "timeline"}));
}

// Window, menus, exports and lessons name no view: else a new one would have to be added there.
TEST(ViewList, IsAllThatTheShellKnowsOfViews) {
  int files = 0;
  for (const char* folder : {"app/shell", "app/selection", "app/lesson"}) {
    QDirIterator all(kSources + QLatin1String(folder),
                     {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files,
                     QDirIterator::Subdirectories);
    while (all.hasNext()) {
      QFile file(all.next());
      ASSERT_TRUE(file.open(QIODevice::ReadOnly));
      const QByteArray text = file.readAll();
      ++files;
      for (const std::string& id : view_ids()) {
        const QByteArray name = QByteArray::fromStdString(id);
        EXPECT_FALSE(text.contains("app/views/" + name + "/") || text.contains('"' + name + '"'))
            << file.fileName().toStdString() << " names " << id;
      }
    }
  }
  EXPECT_GT(files, 30);
}

TEST(ViewList, EntriesAreCompleteAndDifferInWhatTheyAreCalled) {
  Session session;
  std::set<QString> titles, commands, files;
  for (const ViewInfo& view : views()) {
    SCOPED_TRACE(view.id);
    EXPECT_TRUE(titles.insert(view.title()).second);
    EXPECT_TRUE(commands.insert(view.command()).second);
    EXPECT_TRUE(view.command().contains(QLatin1Char('&')));
    EXPECT_TRUE(files.insert(QLatin1String(view.file)).second);
    EXPECT_NE(view.room, Room::kLearn) << "lessons show any view";
    EXPECT_TRUE(has_views(view.room));
    EXPECT_EQ(view.topic(session).is_step(),
              &view.topic(session) == static_cast<Topic*>(&session.training_step()));
    EXPECT_EQ(&view_about(view.topic(session), session).topic(session), &view.topic(session));
  }
  EXPECT_TRUE(has_views(Room::kPlan));
}

// Experts of a dense model.
TEST(ViewList, AViewThatDoesNotApplySaysWhyInASentence) {
  Session session;
  int refusing = 0;
  for (const ViewInfo& view : views()) {
    const QString why = view.why_not ? view.why_not(session) : QString();
    refusing += !why.isEmpty();
    EXPECT_TRUE(why.isEmpty() || why.endsWith(QLatin1Char('.'))) << why.toStdString();
  }
  EXPECT_GT(refusing, 0);
}

TEST(ViewList, EveryViewIsExportedWithoutAWindow) {
  QTemporaryDir folder;
  Session session;
  std::set<QByteArray> pictures;
  for (const ViewInfo& view : views()) {
    SCOPED_TRACE(view.id);
    const ViewPicture picture = view.picture(session, {});
    EXPECT_GT(picture.size.width(), 200);
    EXPECT_GT(picture.size.height(), 100);
    QImage image(picture.size, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    picture.paint(painter, picture.size, &texts);
    painter.end();
    EXPECT_GT(texts.size(), 2u);
    for (const char* ending : {"png", "svg", "pdf", "json", "csv"}) {
      const QString path =
          folder.filePath(QLatin1String(view.file) + QLatin1Char('.') + QLatin1String(ending));
      ExportOptions options;
      options.kind = *export_kind_of(path);
      options.view = &view;
      const Result<void> written = export_to(session, path, options);
      ASSERT_TRUE(written.ok()) << written.error().text;
      QFile file(path);
      ASSERT_TRUE(file.open(QIODevice::ReadOnly));
      const QByteArray bytes = file.readAll();
      EXPECT_GT(bytes.size(), 100) << ending;
      if (options.kind == ExportKind::kPng) {
        EXPECT_TRUE(pictures.insert(bytes).second) << "it is the picture of another view";
      }
    }
  }
}

TEST(ViewList, IsWhatTheCommandLineOffers) {
  const QCommandLineOption view(QStringLiteral("view"), QString(), QStringLiteral("name"));
  const Result<std::string> text = manual_of({view}, "bash");
  ASSERT_TRUE(text.ok());
  for (const std::string& id : view_ids()) EXPECT_NE(text->find(id), std::string::npos) << id;
}

class EveryView : public WindowFixture {
 protected:
  const QTabWidget& tabs() { return *window->findChild<ViewTabs*>(); }
};

TEST_F(EveryView, HasATabAMenuEntryAStripAndItsTopicInFront) {
  session().playback().set_playing(false);
  ASSERT_EQ(tabs().count(), int(views().size()));
  int number = 0, hints = 0;
  for (const ViewInfo& view : views()) {
    SCOPED_TRACE(view.id);
    EXPECT_EQ(tabs().tabText(number), view.title());
    QAction* show = action(view.command().remove(QLatin1Char('&')));
    ASSERT_NE(show, nullptr);
    ++number;  // nine digits are keys
    EXPECT_EQ(show->shortcut(),
              number < 10 ? QKeySequence(QStringLiteral("Ctrl+%1").arg(number)) : QKeySequence());
    show->trigger();
    QApplication::processEvents();
    EXPECT_EQ(&window->view_info(), &view);
    EXPECT_TRUE(window->view().isVisible());
    EXPECT_EQ(&session().topic(), &window->view().topic());
    EXPECT_EQ(&window->view().topic(), &view.topic(session()));
    EXPECT_EQ(window->view().quantities().size(), std::size_t(kStripCells));
    EXPECT_FALSE(window->view().description().isEmpty());
    const auto cells = window->strip().findChildren<StripCell*>();
    ASSERT_EQ(cells.size(), kStripCells);
    for (int at = 0; at < kStripCells; ++at)
      EXPECT_EQ(cells[at]->key(), window->view().quantities()[std::size_t(at)].key);
    // Beside it stands what to click in it, unless there is nothing to click.
    const auto labels = window->findChild<SelectionPanel*>()->findChildren<QLabel*>();
    const bool said = std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
      return !label->isHidden() && label->text() == view.selects();
    });
    hints += said;
    EXPECT_FALSE(said && view.why_not && !view.why_not(session()).isEmpty());
    const ViewPicture picture = window->view().exported({});
    EXPECT_EQ(picture.size, view.picture(session(), {}).size);
    EXPECT_EQ(window->setup_panel().isVisible(),
              view.topic(session()).is_step() && !window->view().property("left_column").isValid())
        << "what is used is shown";
  }
  EXPECT_GE(hints, 6);
}

// What stands beside the tabs is no higher than they are, and the view begins right below.
TEST_F(EveryView, BeginsBelowItsTabs) {
  for (const ViewInfo& view : views()) {
    window->show_view(QLatin1String(view.id));
    QApplication::processEvents();
    const QTabBar& bar = *tabs().tabBar();
    const int below = bar.mapTo(&tabs(), QPoint(0, bar.height())).y();
    EXPECT_LE(std::abs(window->view().mapTo(&tabs(), QPoint(0, 0)).y() - below), 2) << view.id;
    const QWidget* corner = tabs().cornerWidget();
    ASSERT_NE(corner, nullptr);
    EXPECT_LE(corner->isVisible() ? corner->geometry().bottom() : 0, below) << view.id;
  }
}

TEST_F(EveryView, LeavesTheFrontToTheTrainingStepWhenItGoes) {
  session().playback().set_playing(false);
  for (const ViewInfo& view : views()) {
    window->show_view(QLatin1String(view.id));
    QApplication::processEvents();
    window->hide();
    EXPECT_TRUE(session().topic().is_step()) << view.id;
    window->show();
    QApplication::processEvents();
    EXPECT_EQ(&session().topic(), &view.topic(session())) << view.id;
  }
}

TEST_F(EveryView, ThatDoesNotApplySaysSoOnItsTab) {
  for (std::size_t at = 0; at < views().size(); ++at)
    EXPECT_EQ(tabs().tabToolTip(int(at)),
              views()[at].why_not ? views()[at].why_not(session()) : QString());
}

// What plays is what is in front.
TEST_F(EveryView, PlaysItsOwnTopic) {
  session().playback().set_playing(false);
  for (const ViewInfo& view : views()) {
    SCOPED_TRACE(view.id);
    window->show_view(QLatin1String(view.id));
    Topic& topic = session().topic();
    const TimeRange part = topic.played();
    ASSERT_GT(part.length(), Nanoseconds(0));
    topic.set_playhead(part.begin);
    EXPECT_EQ(topic.playhead(), part.begin);
    const Nanoseconds next = topic.next_event(part.begin, true);
    EXPECT_GT(next, part.begin);
    EXPECT_LE(next, part.end);
    action(QStringLiteral("Next event"))->trigger();
    EXPECT_EQ(topic.playhead(), next);
    EXPECT_FALSE(topic.time_text(session()).isEmpty());
    EXPECT_FALSE(view.selects().isEmpty());
    EXPECT_GT(topic.ranks(), 0);
  }
}

}  // namespace
}  // namespace parallelarium
