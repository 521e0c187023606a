// SPDX-License-Identifier: GPL-3.0-or-later
// Where readers of lessons stumbled: words that stay though they hold no more, a run that measures
// first without a word, an answer without its reason, an end that leads nowhere.
#include <QProgressBar>

#include "app/lesson/map/course_map.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/settings/setup_panel.h"
#include "app/state/run/run_advice.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/lesson/restore_step.h"
#include "tests/app/lesson/teacher/teacher_fixture.h"

namespace parallelarium {
namespace {

MarkdownView* named_view(const QWidget& panel, const char* name) {
  for (MarkdownView* view : panel.findChildren<MarkdownView*>())
    if (view->accessibleName() == QLatin1String(name)) return view;
  return nullptr;
}

TEST_F(LessonPlay, WhatAGoalLackedIsSaidNoMoreOnceItIsReached) {
  open(QStringLiteral("filling-the-bubble"));
  go_to(5);
  ASSERT_EQ(step(), "fill-it");
  press_primary();
  ASSERT_FALSE(player().state().solved);
  const QString lacked = feedback();
  ASSERT_FALSE(lacked.isEmpty());
  auto* verdict = panel_->findChild<QLabel*>("LessonVerdict");
  EXPECT_EQ(verdict->text(), QStringLiteral("Not quite"));
  set("microbatches", "8");
  EXPECT_EQ(feedback(), lacked) << "it is not reached yet";
  set("microbatches", "32");
  EXPECT_TRUE(player().mended());
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("Check"));
  EXPECT_NE(feedback(), lacked);
  EXPECT_EQ(verdict->text(), QStringLiteral("Reached"));
  set("microbatches", "4");
  EXPECT_EQ(feedback(), lacked);
  set("microbatches", "32");
  press_primary();
  EXPECT_TRUE(player().state().solved);
  EXPECT_FALSE(player().mended());
}

TEST_F(LessonPlay, ARightAnswerAndAWrongOneSeeTheSameDerivation) {
  QString told[2];
  for (const bool right : {true, false}) {
    open(QStringLiteral("filling-the-bubble"));
    press_primary();
    ASSERT_EQ(step(), "more-micro-batches");
    MarkdownView* answer = named_view(*panel_, "Explanation");
    ASSERT_NE(answer, nullptr);
    EXPECT_TRUE(answer->toPlainText().isEmpty()) << "not before the answer";
    const double more = player().drawn().at("more");
    type_number(QLocale().toString(100 * 3 / (right ? more + 3 : 2 * more + 30), 'f', 2));
    press_and_see();
    ASSERT_TRUE(player().state().solved);
    EXPECT_EQ(player().state().judgement->verdict == Verdict::kRight, right);
    told[right] = answer->toPlainText();
    EXPECT_TRUE(answer->isVisibleTo(panel_.get()));
    player().next();
    player().back();
    EXPECT_EQ(answer->toPlainText(), told[right]) << "it is still there afterwards";
    player().close();
  }
  EXPECT_FALSE(told[1].isEmpty());
  EXPECT_EQ(told[0], told[1]);
}

TEST_F(LessonPlay, TheFirstRunSaysThatItMeasuresThisComputerFirst) {
  if (session_.situation().on_local_gpus()) GTEST_SKIP() << "its ranks are on GPUs";
  EXPECT_THAT(measuring_note(session_).toStdString(),
              testing::Not(testing::HasSubstr("measures the cores")))
      << "tests begin with calibrated cores, though other programs may have run meanwhile";
  ASSERT_TRUE(save_local_machine(uncalibrated_local_machine()).ok());
  Session session;
  LessonPanel panel(session);
  panel.set_pauses(0, 0);
  panel.resize(300, 620);
  panel.show();
  ASSERT_TRUE(panel.player().open(kLessons + QStringLiteral("filling-the-bubble"), 7).ok());
  panel.player().next();
  panel.player().commit({0.4, {}, {}, {}});
  panel.player().show_answer();
  panel.player().next();
  ASSERT_EQ(panel.player().step().id, "run-it");
  const QString note = measuring_note(session);
  EXPECT_THAT(note.toStdString(), testing::HasSubstr("measures the cores"));
  auto* button = panel.findChild<QPushButton*>("LessonPrimary");
  EXPECT_EQ(button->toolTip(), note);
  bool says = false;
  for (const QLabel* label : panel.findChildren<QLabel*>())
    says = says || (label->isVisible() && label->text() == note);
  EXPECT_TRUE(says) << "before the button is pressed";
  const auto* bar = panel.findChild<QProgressBar*>();
  EXPECT_FALSE(bar->isVisible());
  button->click();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kCalibrating; }, 60'000));
  EXPECT_TRUE(bar->isVisible());
  EXPECT_THAT(job_text(session).toStdString(), testing::HasSubstr("Measuring this computer first"));
  session.jobs().cancel();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, 60'000));
}

TEST_F(Teacher, TheLastPartLeadsBackToTheMapWithTheLessonDoneAndTheNextOne) {
  open("first-look");
  const std::size_t last = player().lesson().steps.size() - 1;
  restore_step(session(), player().lesson().steps[last].id);
  QApplication::processEvents();
  ASSERT_EQ(player().step_index(), last);
  const QString title = player().lesson_title(), id = QStringLiteral("first-look");
  ASSERT_TRUE(player().state().solved);
  player().next();
  QApplication::processEvents();
  EXPECT_EQ(window->room(), Room::kLearn);
  ASSERT_TRUE(map().isVisible());
  QStringList said;
  for (const QLabel* label : map().findChildren<QLabel*>())
    if (label->isVisible()) said << label->text();
  EXPECT_TRUE(said.contains(QStringLiteral("✓ Done: ") + title)) << said.join(' ').toStdString();
  ASSERT_NE(player().finished_lesson(), nullptr);
  EXPECT_TRUE(said.contains(player().finished_lesson()->summary)) << "what was answered";
  bool done = false, next = false;
  for (std::size_t at = 0; at < map().data().lessons.size(); ++at) {
    const MapLesson& lesson = map().data().lessons[at];
    if (lesson.id == id) {
      done = lesson.done;
      const auto after = map().data().next_after(lesson.folder);
      ASSERT_TRUE(after);
      EXPECT_EQ(*after, at + 1) << "the lesson behind it";
      for (const QString& text : said)
        next = next || text.contains(QStringLiteral("Next: ") + map().data().lessons[at + 1].title);
    }
  }
  EXPECT_TRUE(done);
  EXPECT_TRUE(next) << said.join(QLatin1Char('|')).toStdString();
  for (auto* button : map().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Next lesson") && button->isVisible()) {
      // Keys arrive here: whoever listens hears what is done and where this leads.
      EXPECT_TRUE(button->accessibleDescription().startsWith(QStringLiteral("Done: ") + title))
          << button->accessibleDescription().toStdString();
      EXPECT_TRUE(button->accessibleDescription().contains(QStringLiteral("Next: ")));
      button->click();
      break;
    }
  EXPECT_TRUE(player().is_open());
  // The map forgets it when it is left.
  window->show_room(Room::kExplore);
  player().close();
  window->show_room(Room::kLearn);
  for (const QLabel* label : map().findChildren<QLabel*>())
    EXPECT_FALSE(label->isVisible() && label->text().startsWith(QStringLiteral("✓ Done: ")));
}

// A lesson that was edited has its parts at other places; older documents have nothing but places.
TEST_F(LessonPlay, ADocumentReopensAtThePartThatItNames) {
  open(QStringLiteral("why-the-ring-wins"));
  const std::vector<Step> steps = player().lesson().steps;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    go_to(at);
    EXPECT_EQ(step(), steps[at].id);
    EXPECT_EQ(session_.locks().lesson_state()["step"], steps[at].id) << "as it is saved";
  }
  QStringList said;
  QObject::connect(&player(), &LessonPlayer::failed, panel_.get(),
                   [&](const QString& sentence) { said << sentence; });
  restore_step(session_, 2);
  EXPECT_EQ(step(), steps[2].id);
  EXPECT_TRUE(said.isEmpty());
  restore_step(session_, "the-obvious-way");
  EXPECT_EQ(step(), steps[0].id);
  ASSERT_EQ(said.size(), 1);
  bool shown = false;
  for (const QLabel* label : panel_->findChildren<QLabel*>())
    shown = shown || (label->isVisible() && label->text() == said[0]);
  EXPECT_TRUE(shown);
}

class Stumbles : public WindowFixture {
 protected:
  void set(const char* field, const char* value) {
    parallelarium::Setup setup = session().setup();
    ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    session().history().change(setup, QStringLiteral("set"));
    session().wait_for_prediction();
    QApplication::processEvents();
  }
};

TEST_F(Stumbles, ChunksStandBesideTheScheduleThatWantsThemAndTheWayOutSaysWhatItSets) {
  set("pp", "2");
  QWidget* chunks = window->setup_panel().control("chunks");
  ASSERT_NE(chunks, nullptr);
  EXPECT_FALSE(chunks->isVisible());
  set("schedule", "interleaved");
  EXPECT_TRUE(chunks->isVisible());
  ASSERT_FALSE(session().problems().empty());
  QPushButton* way_out = nullptr;
  for (QPushButton* button : window->banner().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Chunks per rank: 2")) way_out = button;
  ASSERT_NE(way_out, nullptr);
  EXPECT_EQ(way_out->accessibleName(), QStringLiteral("Set Chunks per rank to 2"));
  QTest::mouseClick(way_out, Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_TRUE(session().problems().empty());
  EXPECT_EQ(session().setup().chunks, 2);
  type("chunks", QStringLiteral("4"));
  EXPECT_EQ(session().setup().chunks, 4);
  set("schedule", "gpipe");
  EXPECT_TRUE(chunks->isVisible()) << "4 chunks are wrong for GPipe, and this is where to mend it";
  type("chunks", QStringLiteral("1"));
  EXPECT_FALSE(chunks->isVisible());
}

// Views show the memory and the traffic of one rank, and of which is said in each.
TEST_F(Stumbles, TheStripSaysWhoseFiguresItShows) {
  set("pp", "4");
  const Prediction& prediction = *session().subject().prediction();
  const int fullest = fullest_rank(prediction), other = fullest == 0 ? 1 : 0;
  const auto own = step_quantities(session());
  EXPECT_TRUE(own[2].title.contains(rank_place(prediction, fullest)));
  EXPECT_EQ(own[2].note, QStringLiteral("the fullest of all"));
  EXPECT_EQ(own[3].note, QStringLiteral("sends most of all"));
  const auto memory = memory_quantities(session(), other);
  EXPECT_TRUE(memory[0].title.contains(rank_place(prediction, other)));
  EXPECT_EQ(memory[0].note, QStringLiteral("chosen in this view"));
  EXPECT_EQ(memory[3].note, rank_place(prediction, other));
  for (const Quantity& sent : mesh_quantities(session(), other))
    if (sent.key.startsWith(QLatin1String("traffic"))) {
      EXPECT_TRUE(sent.title.contains(rank_place(prediction, other))) << sent.title.toStdString();
    }
  // Where all ranks have the same, none is the fullest and none sends most.
  set("pp", "1");
  set("dp", "4");
  const auto alike = step_quantities(session());
  EXPECT_EQ(alike[2].note, QString());
  EXPECT_EQ(alike[3].note, QString());
}

}  // namespace
}  // namespace parallelarium
