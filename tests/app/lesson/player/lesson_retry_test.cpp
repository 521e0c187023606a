// SPDX-License-Identifier: GPL-3.0-or-later
// A wrong answer may be tried again before the answer is shown; the first one counts, also for what
// is mastered.
#include <QRegularExpression>
#include <QTemporaryDir>

#include "app/lesson/map/map_data.h"
#include "app/lesson/player/answers/guess_text.h"
#include "app/look/figures.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

using nlohmann::json;

class LessonRetry : public LessonPlay {
 protected:
  void SetUp() override {
    LessonPlay::SetUp();
    panel_->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(panel_.get()));
  }
  QPushButton* way_out() { return panel_->findChild<QPushButton*>("LessonWayOut"); }
  QLineEdit* number() { return panel_->findChild<QLineEdit*>("LessonNumber"); }
  void type_again(const QString& text) {
    number()->clear();
    type_number(text);
  }
  // "over ideal", the mistake that the question foresees, and the right answer.
  QString mistake() { return QLocale().toString(100 * 3 / more(), 'f', 1); }
  QString right() { return QLocale().toString(100 * 3 / (more() + 3), 'f', 1); }
  double more() { return player().drawn().at("more"); }
};

TEST_F(LessonRetry, AWrongPredictionIsTriedAgainBeforeAnythingIsShown) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  type_number(mistake());
  EXPECT_TRUE(way_out()->isHidden()) << "nothing was committed";
  QTest::keyClick(number(), Qt::Key_Return);
  EXPECT_FALSE(player().state().solved);
  EXPECT_EQ(session_.setup().microbatches, 4) << "what would show it is not set";
  EXPECT_TRUE(session_.locks().hidden(QStringLiteral("bubble.of_total")));
  EXPECT_TRUE(session_.locks().guesses().empty());
  EXPECT_EQ(panel_->findChild<QLabel*>("LessonVerdict")->text(), QStringLiteral("Not right yet"));
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("bubble over ideal time"));
  EXPECT_THAT(feedback().toStdString(), testing::Not(testing::HasSubstr(right().toStdString())));
  EXPECT_EQ(primary()->text(), QStringLiteral("Try again"));
  EXPECT_TRUE(way_out()->isVisible());
  EXPECT_EQ(way_out()->text(), QStringLiteral("Show the answer"));
  EXPECT_EQ(number()->selectedText(), number()->text()) << "typing replaces it";

  press_primary();
  EXPECT_EQ(player().state().attempts, 1) << "the same answer is no other try";
  EXPECT_TRUE(number()->hasFocus());
  type_again(right());
  EXPECT_EQ(primary()->text(), QStringLiteral("Commit"));
  QTest::keyClick(number(), Qt::Key_Return);
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(session_.setup().microbatches, more());
  ASSERT_EQ(session_.locks().guesses().size(), 1U);
  EXPECT_NEAR(session_.locks().guesses()[0].value, 3 / more(), 1e-3)
      << "the first one is the guess";
  const json kept = player().answers()["steps"].back();
  EXPECT_NEAR(kept["number"].get<double>(), 3 / more(), 1e-3);
  EXPECT_EQ(kept["right"], false);
  EXPECT_EQ(kept["attempts"], 2);
}

TEST_F(LessonRetry, TheAnswerIsShownWhereItIsAskedForAndNotSoonerAfterALessonWasLeft) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  type_number(QStringLiteral("99"));
  press_primary();
  EXPECT_EQ(feedback(), QString()) << "the lesson's words derive the answer";
  panel_->leave_lesson();
  ASSERT_TRUE(player().go_on(kLessons + QStringLiteral("filling-the-bubble")));
  ASSERT_EQ(step(), "more-micro-batches");
  EXPECT_FALSE(player().state().solved);
  ASSERT_TRUE(player().state().guess) << "the first try is the guess after a break, too";
  EXPECT_NEAR(*player().state().guess, 0.99, 1e-9);
  ASSERT_TRUE(way_out()->isVisible());
  way_out()->setFocus();
  QTest::keyClick(way_out(), Qt::Key_Return);
  EXPECT_TRUE(player().state().solved);
  EXPECT_FALSE(way_out()->isVisible());
  EXPECT_TRUE(primary()->hasFocus());
  EXPECT_EQ(primary()->text(), QStringLiteral("Next"));
  EXPECT_EQ(player().state().attempts, 1);
  ASSERT_EQ(session_.locks().guesses().size(), 1U);
  EXPECT_NEAR(session_.locks().guesses()[0].value, 0.99, 1e-9);
  EXPECT_FALSE(session_.locks().hidden(QStringLiteral("bubble.of_total")));
  QString told = share_text(3 / (more() + 3));
  EXPECT_THAT(feedback().toStdString(),
              testing::HasSubstr(told.replace(QChar(0x00a0), QLatin1Char(' ')).toStdString()));
}

TEST_F(LessonRetry, ACardIsTriedAgainByKeyboard) {
  open(QStringLiteral("filling-the-bubble"));
  go_to(3);
  choose(QStringLiteral("whole-step"));
  press_primary();
  EXPECT_FALSE(player().state().solved);
  EXPECT_EQ(feedback(), player().hint(1)) << "nothing that tells the right card";
  EXPECT_EQ(primary()->text(), QStringLiteral("Try again"));
  press_primary();
  const auto* card = qobject_cast<OptionCard*>(panel_->focusWidget());
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->id(), QStringLiteral("whole-step"));
  choose(QStringLiteral("useful-time"));
  press_primary();
  EXPECT_TRUE(player().state().solved);
}

// "27.3" of "27.3 %".
QString number_of(const QString& figure) {
  return figure.section(QRegularExpression(QStringLiteral("[\\x{00a0}\\x{202f} ]")), 0, 0);
}

// Whatever mistake a lesson foresees, what is said of it does not have the answer as the window
// writes it.
TEST_F(LessonRetry, NoForeseenMistakeTellsTheAnswer) {
  const Result<Course> course = read_course(kLessons.toStdString());
  ASSERT_TRUE(course);
  int mistakes = 0, told = 0;
  for (const CourseEntry& entry : course->lessons) {
    ASSERT_TRUE(player().open(kLessons + QString::fromStdString(entry.id), 7));
    const std::vector<Step> steps = player().lesson().steps;
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const Step& asked = steps[at];
      const bool asks = asked.kind == StepKind::kPredict || asked.kind == StepKind::kExplain;
      if (!asks || !asked.ask || asked.ask->answer.empty() || asked.options.empty()) continue;
      restore_step(session_, asked.id);
      player().commit({-12345.678, {}, {}, {}});
      ASSERT_TRUE(player().state().judgement) << entry.id << " " << asked.id;
      const Symbols symbols = player().state().judgement->symbols;
      for (const Option& option : asked.options) {
        restore_step(session_, asked.id);
        ASSERT_EQ(step(), asked.id);
        const Result<double> wrong = evaluate(option.value, symbols);
        ASSERT_TRUE(wrong) << wrong.error().text;
        player().commit({*wrong, {}, {}, {}});
        ASSERT_TRUE(player().state().judgement);
        if (player().state().judgement->feedback != option.id) continue;  // another is as near
        ++mistakes;
        const QString said = player().feedback();
        told += !said.isEmpty();
        EXPECT_FALSE(said.contains(QStringLiteral("{{"))) << said.toStdString();
        const double answer = symbols.at("answer");
        const QStringList written{number_of(value_text(answer, asked.ask->unit)),
                                  number_of(guess_text(answer, asked.ask->unit)),
                                  number_of(number_text(answer))};
        for (const QString& token : said.split(QRegularExpression(QStringLiteral("[^0-9.,]+")))) {
          const QString number =
              QString(token).remove(QRegularExpression(QStringLiteral("[.,]+$")));
          EXPECT_FALSE(!number.isEmpty() && written.contains(number))
              << entry.id << ", " << asked.id << ", " << option.id << ": " << said.toStdString();
        }
      }
    }
  }
  EXPECT_GT(mistakes, 150);
  EXPECT_GT(told, mistakes / 2) << "most have something to say before";
}

// What the lesson says of one card names the right one, so that it is not said before.
TEST_F(LessonRetry, OfAWrongCardTheNextHintIsSaidAndNeverTheLast) {
  const Result<Course> course = read_course(kLessons.toStdString());
  ASSERT_TRUE(course);
  int wrong = 0;
  for (const CourseEntry& entry : course->lessons) {
    ASSERT_TRUE(player().open(kLessons + QString::fromStdString(entry.id), 7));
    const std::vector<Step> steps = player().lesson().steps;
    for (const Step& asked : steps) {
      const bool asks = asked.kind == StepKind::kPredict || asked.kind == StepKind::kExplain;
      const bool in_words = !asked.ask || asked.ask->answer.empty();
      if (!asks || !in_words || !asked.parts.empty()) continue;
      for (const Option& option : asked.options) {
        if (option.correct) continue;
        restore_step(session_, asked.id);
        ASSERT_EQ(step(), asked.id);
        Answer chosen;
        chosen.option = option.id;
        player().commit(chosen);
        ASSERT_TRUE(player().may_show_answer()) << entry.id << ", " << asked.id;
        EXPECT_FALSE(player().feedback().isEmpty()) << entry.id << ", " << asked.id;
        EXPECT_EQ(player().feedback(), player().hint(1)) << entry.id << ", " << asked.id;
        player().show_hint();
        EXPECT_EQ(player().feedback(), QString()) << "it stands below";
        for (int more = 0; more < 2; ++more) {
          player().commit(chosen);
          EXPECT_EQ(player().feedback(), player().hint(2)) << entry.id << ", " << asked.id;
        }
        EXPECT_EQ(player().state().hints, 1) << "one was asked for";
        ++wrong;
      }
    }
  }
  EXPECT_GT(wrong, 20);
}

TEST_F(LessonRetry, ALessonThatIsPlayedAgainHasOtherNumbers) {
  const QString folder = kLessons + QStringLiteral("filling-the-bubble");
  ASSERT_TRUE(player().open(folder, std::nullopt));
  for (int again = 0; again < 12; ++again) {
    restore_step(session_, "more-micro-batches");
    player().commit({0.123, {}, {}, {}});
    player().show_answer();
    const Symbols before = player().drawn();
    player().reset();
    ASSERT_TRUE(player().is_open());
    EXPECT_NE(player().drawn(), before) << again;
  }
}

json question(const char* id, bool right, int attempts, bool typed = true) {
  json step = {{"step", id}, {"kind", "predict"}, {"right", right}, {"attempts", attempts}};
  if (typed) step["number"] = 1;
  return step;
}

TEST(Mastering, TakesTheTransferQuestionAndTwoThirdsOfAllAtTheFirstCommit) {
  const auto of = [](const std::vector<json>& steps) { return mastery_of({{"steps", steps}}); };
  EXPECT_FALSE(of({}).mastered()) << "nothing was asked";
  EXPECT_FALSE(
      of({{{"step", "a"}, {"kind", "goal"}, {"right", true}, {"attempts", 1}}}).mastered());
  EXPECT_TRUE(of({question("a", true, 1)}).mastered());
  EXPECT_FALSE(of({question("a", true, 2)}).mastered()) << "at the second try";
  EXPECT_TRUE(
      of({question("a", false, 1), question("b", true, 1), question("c", true, 1)}).mastered());
  EXPECT_FALSE(
      of({question("a", true, 1), question("b", true, 1), question("c", false, 1)}).mastered())
      << "not the transfer question";
  EXPECT_FALSE(of({question("a", false, 1), question("b", true, 1)}).mastered()) << "a half";
  json skipped = question("c", true, 1);
  skipped.erase("right");  // a document began behind it
  EXPECT_EQ(of({skipped, question("d", true, 1)}).asked, 2);
  EXPECT_FALSE(of({skipped, skipped, question("d", true, 1)}).mastered());
  const Mastery words = of({question("a", true, 1), question("b", false, 1, false)});
  EXPECT_EQ(words.transfer, "a") << "the last one that a figure is typed for";
  EXPECT_EQ(words.asked, 2);
  EXPECT_EQ(words.right, 1);
}

TEST(Mastering, IsKeptNeverFadesAndIsReadOutOfOlderFiles) {
  QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("progress.json"));
  const json good = {{"steps", {question("a", true, 1)}}},
             bad = {{"steps", {question("a", false, 1)}}};
  {
    LessonProgress progress(path);
    ASSERT_TRUE(progress.keep("a", 1, false, good));
    EXPECT_FALSE(progress.mastery("a", 1)) << "not to its end";
    ASSERT_TRUE(progress.keep("a", 1, true, bad));
    ASSERT_TRUE(progress.mastery("a", 1));
    EXPECT_FALSE(progress.mastery("a", 1)->mastered());
    ASSERT_TRUE(progress.keep("a", 1, false, good));
    EXPECT_FALSE(progress.mastery("a", 1)->mastered()) << "it is being played again";
    ASSERT_TRUE(progress.keep("a", 1, true, good));
    EXPECT_TRUE(progress.mastery("a", 1)->mastered());
    ASSERT_TRUE(progress.keep("a", 1, true, bad));
    EXPECT_TRUE(progress.mastery("a", 1)->mastered());
  }
  EXPECT_TRUE(LessonProgress(path).mastery("a", 1)->mastered());
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  const json older = {{"format", "parallelarium-progress/1"},
                      {"lessons", {{"b", {{"version", 1}, {"done", true}, {"answers", good}}}}}};
  file.write(QByteArray::fromStdString(older.dump()));
  file.close();
  EXPECT_TRUE(LessonProgress(path).mastery("b", 1)->mastered());
}

}  // namespace
}  // namespace parallelarium
