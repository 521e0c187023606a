// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson panel, driven by keys and clicks through the third lesson to its end, with a real run.
#include <gtest/gtest.h>

#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QProcess>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>
#include <algorithm>

#include "app/lesson/lesson_index.h"
#include "app/settings/setup_panel.h"
#include "app/state/run/run_advice.h"
#include "app/state/step/order_edit.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

TEST_F(LessonPlay, SettingsAreMarkedAgainstTheStartOfTheLesson) {
  SetupPanel setup(session_);
  const auto changed = [&] {
    int sections = 0;
    for (int section = 0; section < setup.section_names().size(); ++section)
      sections += setup.section_changed(section);
    return sections;
  };
  open(QStringLiteral("filling-the-bubble"));
  const parallelarium::Setup start = session_.setup();
  ASSERT_NE(start.model, default_setup().model) << "the lesson brings settings of its own";
  EXPECT_EQ(changed(), 0);
  set("microbatches", "16");
  EXPECT_EQ(changed(), 1);
  for (int section = 0; section < setup.section_names().size(); ++section)
    if (setup.section_changed(section)) setup.reset_section(section);
  EXPECT_EQ(session_.setup().microbatches, start.microbatches);
  player().close();
  EXPECT_GT(changed(), 0) << "outside of lessons the defaults count";
}

TEST_F(LessonPlay, ResetGoesToWhatTheLessonHasSetHere) {
  open(QStringLiteral("naive-and-gpipe"));
  SetupPanel setup(session_);
  press_primary();
  ASSERT_EQ(step(), "how-much-waiting");
  player().commit({0.75, {}, {}, {}});
  player().show_answer();
  player().next();
  ASSERT_EQ(step(), "run-naive");
  set("microbatches", "2");
  for (int section = 0; section < setup.section_names().size(); ++section)
    setup.reset_section(section);
  EXPECT_EQ(session_.setup().schedule, "naive");
  EXPECT_EQ(session_.setup().microbatches, 1);
  EXPECT_EQ(session_.setup().mesh.pp, 4);
  EXPECT_EQ(session_.setup().model.layers, 32);
}

// A run that ends changes no prediction, and the goal's lines are about it.
TEST_F(LessonPlay, AGoalsLinesFollowARunThatEnds) {
  open(QStringLiteral("naive-and-gpipe"));
  restore_step(session_, "within-limits");
  set("schedule", "gpipe");
  set("microbatches", "8");
  QApplication::processEvents();
  const auto* lines = panel_->findChild<QLabel*>("LessonConditions");
  EXPECT_TRUE(lines->text().contains(QStringLiteral("✗"))) << lines->text().toStdString();
  EXPECT_TRUE(lines->text().contains(QStringLiteral("the predicted")));
  session_.runs().keep(made_up_run(session_.setup(), 1));
  QApplication::processEvents();
  EXPECT_FALSE(lines->text().contains(QStringLiteral("✗"))) << lines->text().toStdString();
}

TEST_F(LessonPlay, WhatIsNoNumberSaysWhyItCannotBeCommitted) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  const auto says = [&](const QString& part) {
    for (const QLabel* label : panel_->findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(part)) return true;
    return false;
  };
  EXPECT_TRUE(says(QStringLiteral("first answer counts")));
  type_number(QStringLiteral("lots"));
  EXPECT_FALSE(primary()->isEnabled());
  EXPECT_TRUE(says(QStringLiteral("“lots” is not a number.")));
  for (const QLabel* label : panel_->findChildren<QLabel*>()) {
    const QString words = label->text();
    if (!label->isVisible() || !words.contains(QStringLiteral("not a number"))) continue;
    EXPECT_TRUE(
        std::none_of(words.begin(), words.end(), [](QChar letter) { return letter.isDigit(); }))
        << "an example may be the answer: " << words.toStdString();
  }
  panel_->findChild<QLineEdit*>("LessonNumber")->clear();
  type_number(QStringLiteral("30"));
  EXPECT_TRUE(primary()->isEnabled());
  EXPECT_FALSE(says(QStringLiteral("not a number")));
}

TEST_F(LessonPlay, ThirdLessonIsPlayedToItsEnd) {
  open(QStringLiteral("filling-the-bubble"));
  EXPECT_EQ(step(), "two-names");
  EXPECT_EQ(session_.setup().microbatches, 4);
  EXPECT_EQ(session_.setup().model.layers, 24);
  press_primary();

  ASSERT_EQ(step(), "more-micro-batches");
  EXPECT_TRUE(session_.locks().hidden(QStringLiteral("bubble.of_total")));
  EXPECT_FALSE(session_.locks().allowed(QStringLiteral("microbatches")));
  EXPECT_FALSE(primary()->isEnabled()) << "nothing is preselected";
  QSignalSpy guesses(panel_.get(), &LessonPanel::guess_changed);
  // The foreseen mistake: the bubble over ideal time.
  const double more = player().drawn().at("more");
  type_number(QLocale().toString(100 * 3 / more, 'f', 1));
  QTest::keyClick(panel_->findChild<QLineEdit*>("LessonNumber"), Qt::Key_Return);
  player().show_answer();
  EXPECT_EQ(session_.setup().microbatches, more);
  EXPECT_FALSE(session_.locks().hidden(QStringLiteral("bubble.of_total")));
  EXPECT_TRUE(session_.locks().allowed(QStringLiteral("microbatches")));
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("bubble over ideal time"));
  ASSERT_EQ(guesses.count(), 1);
  EXPECT_EQ(guesses[0][0].toString(), QStringLiteral("bubble.of_total"));
  ASSERT_EQ(session_.locks().guesses().size(), 1u);
  EXPECT_NEAR(session_.locks().guesses()[0].value, 3 / more, 1e-3);
  press_primary();

  ASSERT_EQ(step(), "run-it");
  EXPECT_EQ(primary()->text(), QStringLiteral("▶ ") + run_verb(session_));
  press_primary();
  ASSERT_TRUE(wait_until([&] { return player().state().judgement.has_value(); }, 120000))
      << session_.jobs().last_error().toStdString();
  if (!player().state().solved) {  // something else kept the computer busy: "try again"
    EXPECT_EQ(player().state().judgement->verdict, Verdict::kAgain);
    press_primary();
    wait_until([&] { return player().state().solved; }, 120000);
  }
  ASSERT_TRUE(player().state().solved) << feedback().toStdString();
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("Your guess"));
  press_primary();

  ASSERT_EQ(step(), "nine-per-cent");
  choose(QStringLiteral("whole-step"));
  press_primary();
  EXPECT_FALSE(player().state().solved);
  EXPECT_TRUE(feedback().startsWith(QLatin1String("How many slots of work are there")))
      << "the next hint: what is said of a card tells the right one";
  choose(QStringLiteral("useful-time"));
  press_primary();
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(player().state().attempts, 2);
  press_primary();

  ASSERT_EQ(step(), "more-stages");
  const double deep = player().drawn().at("deep");
  type_number(QLocale().toString(100 * (deep - 1) / (8 + deep - 1), 'f', 1));
  press_primary();
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(session_.setup().mesh.pp, deep);
  press_primary();

  ASSERT_EQ(step(), "fill-it");
  EXPECT_EQ(session_.setup().mesh.pp, 4);
  EXPECT_TRUE(session_.locks().allowed(QStringLiteral("microbatches")));
  EXPECT_FALSE(session_.locks().allowed(QStringLiteral("mesh.pp")));
  press_primary();  // Check: not yet
  EXPECT_FALSE(player().state().solved);
  set("microbatches", "64");
  press_primary();
  EXPECT_FALSE(player().state().solved) << "the limit binds";
  set("microbatches", "32");
  press_primary();
  EXPECT_TRUE(player().state().solved);
  press_primary();

  ASSERT_EQ(step(), "a-tenth-at-most");
  type_number(QLocale().toString(9 * (deep + 11), 'f', 0));
  press_primary();
  EXPECT_TRUE(player().state().solved);
  press_primary();

  ASSERT_EQ(step(), "take-away");
  EXPECT_EQ(primary()->text(), QStringLiteral("Finish"));
  QSignalSpy finished(&player(), &LessonPlayer::finished);
  const int version = player().lesson().version;
  press_primary();
  EXPECT_EQ(finished.count(), 1);
  EXPECT_FALSE(player().is_open());
  EXPECT_TRUE(session_.locks().guesses().empty());
  EXPECT_TRUE(session_.locks().hidden_keys().isEmpty());
  EXPECT_EQ(session_.setup().microbatches, 32) << "the setup is kept";
  const LessonProgress progress;
  EXPECT_TRUE(progress.done("filling-the-bubble", version));
  EXPECT_FALSE(progress.done("filling-the-bubble", version + 1));
  EXPECT_EQ(progress.record("filling-the-bubble", version)["steps"].size(), 8u);

  // Handed in, the run is made again by the engine, with the same losses.
  ASSERT_NE(player().finished_lesson(), nullptr);
  nlohmann::json answers = player().finished_lesson()->answers;
  answers["format"] = "parallelarium-answers/1";
  answers["name"] = "Ada";
  const QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("ada.json")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(answers.dump()));
  file.close();
  QProcess engine;
  engine.start(QStringLiteral(PARALLELARIUM_BINARY_DIR "/parallelarium-engine"),
               {QStringLiteral("lesson"), QStringLiteral("report"), file.fileName(),
                QStringLiteral("--rerun"), QStringLiteral("1"), QStringLiteral("--json")});
  ASSERT_TRUE(engine.waitForFinished(120000));
  const auto report = nlohmann::json::parse(engine.readAllStandardOutput().toStdString());
  EXPECT_EQ(report["files"][0]["rerun"], "equal") << report.dump(1);
  EXPECT_EQ(report["files"][0]["faults"], nlohmann::json::array());
  EXPECT_EQ(report["files"][0]["asked"], 5);
  EXPECT_EQ(report["files"][0]["right"], 4) << "all but the foreseen mistake";
}

TEST_F(LessonPlay, BackKeepsAnswersAndResetAndLeaveClearWhatIsHidden) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  const double more = player().drawn().at("more");
  type_number(QStringLiteral("%1 %").arg(std::lround(100 * 3 / (more + 3))));
  press_primary();
  ASSERT_TRUE(player().state().solved);
  const int shown = session_.setup().microbatches;
  player().back();
  EXPECT_EQ(step(), "two-names");
  EXPECT_EQ(session_.setup().microbatches, 4);
  press_primary();
  EXPECT_EQ(session_.setup().microbatches, shown);
  EXPECT_FALSE(session_.locks().hidden(QStringLiteral("bubble")));
  EXPECT_EQ(player().state().attempts, 1) << "a prediction is committed once";
  player().reset();
  EXPECT_EQ(step(), "two-names");
  EXPECT_TRUE(session_.locks().guesses().empty());
  press_primary();
  EXPECT_TRUE(session_.locks().hidden(QStringLiteral("bubble")));
  panel_->leave_lesson();
  EXPECT_FALSE(session_.locks().hidden(QStringLiteral("bubble")));
  EXPECT_TRUE(session_.locks().allowed(QStringLiteral("mesh.pp")));
  EXPECT_EQ(session_.setup().microbatches, 4);
}

TEST_F(LessonPlay, HintsComeOneByOneAndAreCounted) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  QPushButton* hint = nullptr;
  for (QPushButton* button : panel_->findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Hint")) hint = button;
  ASSERT_NE(hint, nullptr);
  for (int shown = 1; shown <= 3; ++shown) {
    ASSERT_TRUE(hint->isEnabled());
    QTest::mouseClick(hint, Qt::LeftButton);
    EXPECT_EQ(player().state().hints, shown);
  }
  EXPECT_FALSE(hint->isEnabled());
  EXPECT_EQ(player().answers()["steps"][1]["hints"], 3);
}

TEST_F(LessonPlay, NoTextIsCutAndEveryControlHasAName) {
  const Result<Course> course = read_course(kLessons.toStdString());
  ASSERT_TRUE(course);
  for (const auto& [id, titles] : course->lessons) {
    open(QString::fromStdString(id));
    for (std::size_t at = 0; at < player().lesson().steps.size(); ++at) {
      go_to(at);
      for (const int width : {300, 260}) {
        panel_->resize(width, 620);
        QApplication::processEvents();
        for (MarkdownView* view : panel_->findChildren<MarkdownView*>()) {
          if (!view->isVisible()) continue;
          EXPECT_LE(view->document()->idealWidth(), view->viewport()->width() + 2)
              << id << " " << step() << " at " << width << ": "
              << view->toPlainText().toStdString();
          EXPECT_GE(view->height(), view->document()->size().height() - 1);
        }
        auto* scroll = panel_->findChild<QScrollArea*>("LessonScroll");
        EXPECT_LE(scroll->widget()->width(), scroll->viewport()->width());
        for (OptionCard* card : panel_->findChildren<OptionCard*>()) {
          if (!card->isVisible()) continue;
          EXPECT_GE(card->height(), card->heightForWidth(card->width()));
        }
      }
    }
  }
  for (QToolButton* button : panel_->findChildren<QToolButton*>())
    EXPECT_FALSE(button->text().isEmpty() && button->accessibleName().isEmpty());
}

TEST_F(LessonPlay, IndexListsLessonsAndWhatIsDone) {
  const Result<Lesson> first = read_lesson((kLessons + "first-look").toStdString());
  ASSERT_TRUE(first);
  ASSERT_TRUE(player().progress().keep("first-look", first->version, true, nullptr));
  LessonIndex index(player());
  auto* list = index.findChild<QListWidget*>();
  ASSERT_EQ(list->count(), static_cast<int>(read_course(kLessons.toStdString())->lessons.size()));
  EXPECT_TRUE(list->item(0)->text().contains(QStringLiteral("done")));
  EXPECT_FALSE(list->item(1)->text().contains(QStringLiteral("done")));
  list->setCurrentRow(2);
  QTest::keyClick(list, Qt::Key_Return);
  EXPECT_TRUE(player().is_open());
  EXPECT_EQ(player().lesson().id, "same-bubble-less-memory");
  panel_->leave_lesson();
  panel_->open_first();
  EXPECT_EQ(player().lesson().id, "same-bubble-less-memory") << "what was begun";
  const Lesson begun = player().lesson();
  panel_->leave_lesson();
  ASSERT_TRUE(player().progress().keep(begun.id, begun.version, true, nullptr));
  panel_->open_first();
  EXPECT_EQ(player().lesson().id, "naive-and-gpipe") << "an open one of the unit at hand";
}

// "the-obvious-way" was one once. What was answered before and behind it stays.
TEST_F(LessonPlay, APartThatTheLessonHasNoMoreIsPassedOver) {
  const QString folder = kLessons + QStringLiteral("why-the-ring-wins");
  const Result<Lesson> lesson = read_lesson(folder.toStdString());
  ASSERT_TRUE(lesson);
  ASSERT_EQ(lesson->find("the-obvious-way"), nullptr);
  const nlohmann::json steps = {
      {{"step", "the-obvious-way"}, {"solved", true}},
      {{"step", "all-pairs"}, {"solved", true}, {"attempts", 1}, {"number", 1048576}},
      {{"step", "round-the-ring"}, {"solved", false}, {"attempts", 0}, {"hints", 2}}};
  ASSERT_TRUE(
      player().progress().keep(lesson->id, lesson->version, true, {{"seed", 7}, {"steps", steps}}));
  ASSERT_TRUE(player().resume(folder));
  EXPECT_EQ(step(), "round-the-ring");
  EXPECT_EQ(player().state().hints, 2);
  const nlohmann::json kept = player().answers()["steps"];
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0]["step"], "all-pairs");
  EXPECT_EQ(kept[0]["number"], 1048576);
  EXPECT_TRUE(player().progress().done(lesson->id, lesson->version));
}

TEST(Progress, WhatWasDoneIsDueAfterADayAWeekAndAMonth) {
  QTemporaryDir folder;
  LessonProgress progress(folder.filePath(QStringLiteral("progress.json")));
  const QDateTime now = QDateTime::currentDateTimeUtc();
  const auto due_after = [&](int days) { return progress.due("a", 1, now.addDays(days)); };
  ASSERT_TRUE(progress.keep("a", 1, false, nullptr));
  EXPECT_FALSE(due_after(100)) << "it is not done";
  ASSERT_TRUE(progress.keep("a", 1, true, nullptr));
  EXPECT_FALSE(due_after(0));
  EXPECT_TRUE(due_after(2));
  for (const int days : {7, 30, 30}) {
    ASSERT_TRUE(progress.note_review("a", 1, true, now));
    EXPECT_FALSE(due_after(days - 1));
    EXPECT_TRUE(due_after(days));
  }
  ASSERT_TRUE(progress.keep("a", 1, false, nullptr));
  EXPECT_FALSE(due_after(29)) << "playing it again changes no date";
  ASSERT_TRUE(progress.note_review("a", 1, false, now));
  EXPECT_TRUE(due_after(1)) << "a wrong answer comes back the next day";
  EXPECT_FALSE(LessonProgress(folder.filePath(QStringLiteral("progress.json"))).due("a", 1, now));
}

TEST_F(LessonPlay, AReviewAsksOneQuestionAndLeavesTheRecord) {
  const QString folder = kLessons + QStringLiteral("filling-the-bubble");
  const int version = read_lesson(folder.toStdString())->version;
  ASSERT_TRUE(player().progress().keep("filling-the-bubble", version, true, {{"x", 1}}));
  ASSERT_TRUE(player().review({folder}));
  ASSERT_TRUE(player().is_open());
  EXPECT_TRUE(player().reviews());
  EXPECT_TRUE(player().step().ask && !player().step().ask->answer.empty());
  Answer answer;
  answer.number = -1;
  player().commit(answer);
  answer.number = player().state().judgement->symbols.at("answer");
  player().commit(answer);
  ASSERT_TRUE(player().state().solved);
  QSignalSpy reviewed(&player(), &LessonPlayer::reviewed);
  player().next();
  EXPECT_EQ(reviewed.size(), 1);
  EXPECT_FALSE(player().is_open());
  EXPECT_EQ(player().progress().record("filling-the-bubble", version)["x"], 1);
  EXPECT_TRUE(player().progress().due("filling-the-bubble", version,
                                      QDateTime::currentDateTimeUtc().addDays(2)));
}

TEST(Progress, ABrokenFileIsKeptAsideAndNothingIsLost) {
  QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("progress.json"));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("not json");
  file.close();
  LessonProgress progress(path);
  EXPECT_FALSE(progress.done("a", 1));
  EXPECT_TRUE(QFile::exists(path + QStringLiteral(".unreadable")));
  ASSERT_TRUE(progress.keep("a", 1, true, {{"x", 1}}));
  ASSERT_TRUE(progress.keep("a", 1, false, {{"x", 2}}));
  const LessonProgress again(path);
  EXPECT_TRUE(again.done("a", 1)) << "a lesson that was done stays done";
  EXPECT_EQ(again.record("a", 1)["x"], 2);
  EXPECT_TRUE(again.record("a", 2).is_null());
}

}  // namespace
}  // namespace parallelarium
