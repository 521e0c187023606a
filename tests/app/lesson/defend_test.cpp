// SPDX-License-Identifier: GPL-3.0-or-later
// The capstone in the window: nothing predicted is told before a plan is committed, the plan goes
// with the student from step to step, and two pages come out of it.
#include <QComboBox>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>

#include "app/lesson/answer/parts_form.h"
#include "app/lesson/teaching/defence.h"
#include "app/look/figures.h"
#include "app/settings/setup_fold.h"
#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/planner_lock.h"
#include "engine/lesson/play.h"
#include "engine/plan/placement/small_copy.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class DefendYourPlan : public LessonPlay {
 protected:
  void SetUp() override {
    LessonPlay::SetUp();
    open(QStringLiteral("defend-your-plan"), 4);
    player().next();
    ASSERT_EQ(step(), "your-plan");
  }
  double drawn(const char* name) { return player().drawn().at(name); }
  static std::string whole(double value) { return std::to_string(std::lround(value)); }
  // A plan that fits every task: TP 8 and the rest replicas, recomputed, ZeRO 1.
  void set_plan() {
    const long batch = std::lround(drawn("batch"));
    for (const auto& [key, value] : {std::pair<std::string, std::string>("mesh.tp", "8"),
                                     {"mesh.dp", "3"},
                                     {"zero", "1"},
                                     {"recompute", "full"},
                                     {"microbatches", std::to_string(batch / 3)}})
      set(key, value);
  }
  // The figures that are right for what is set, as one knows them who computed them elsewhere.
  Answer right_figures() {
    Predictions predictions(player().computer());
    const Result<Context> context =
        context_of({session_.setup(), {}}, player().drawn(), predictions);
    EXPECT_TRUE(context) << context.error().text;
    Answer answer;
    for (const QuestionPart& part : player().step().parts)
      if (part.option.empty())
        answer.parts[part.id].number = *value_of_part(part, *context);
      else
        answer.parts[part.id].option = *option_of_part(part, *context);
    return answer;
  }
  bool hides(const char* key) { return session_.locks().hidden(QLatin1String(key)); }
};

TEST_F(DefendYourPlan, TellsNothingPredictedUntilAPlanIsCommitted) {
  for (const char* key : {"plan", "memory", "step.seconds", "bubble.of_total", "traffic", "lane",
                          "layer.flops", "layer.sent_bytes"})
    EXPECT_TRUE(hides(key)) << key;
  for (const LessonPlayer::Condition& condition : player().conditions())
    if (condition.text.contains(QLatin1String("memory"))) {
      EXPECT_EQ(condition.state, "?");
    }
  // What makes another batch is no plan, whatever is filled in.
  const Answer any = right_figures();
  EXPECT_FALSE(player().plan_problem().isEmpty());
  player().commit(any);
  EXPECT_FALSE(player().state().judgement);
  set_plan();
  EXPECT_TRUE(player().plan_problem().isEmpty()) << player().plan_problem().toStdString();
  set("mesh.tp", "5");
  EXPECT_FALSE(player().plan_problem().isEmpty()) << "it cannot be";
  set("mesh.tp", "8");
  player().commit(right_figures());
  ASSERT_TRUE(player().state().judgement);
  EXPECT_EQ(player().state().judgement->verdict, Verdict::kRight) << feedback().toStdString();
  EXPECT_FALSE(hides("plan"));
  EXPECT_FALSE(hides("memory"));
  EXPECT_FALSE(session_.locks().allowed(QStringLiteral("mesh.dp"))) << "it was committed";
}

TEST_F(DefendYourPlan, PrintsNothingBeforeAPlanIsCommittedAndNoGoalBeforeItsPart) {
  EXPECT_FALSE(printing_refusal(player()).isEmpty());
  set_plan();
  player().commit(right_figures());
  EXPECT_TRUE(printing_refusal(player()).isEmpty());
  nlohmann::json answers = player().answers();
  answers["format"] = "parallelarium-answers/1";
  const HandIn hand_in = hand_in_of_text(answers.dump(), lessons_folder(), player().computer());
  const Result<Defence> defence = Defence::of(player().lesson(), hand_in);
  ASSERT_TRUE(defence) << defence.error().text;
  const StepText& goal = player().lesson().text("en").steps.at("repair-it");
  EXPECT_TRUE(defence->markdown().contains(QString::fromStdString(goal.title)));
  EXPECT_FALSE(defence->markdown().contains(QLatin1String("Your goal")));
  EXPECT_FALSE(defence->markdown().contains(QLatin1String("The best takes")));
}

TEST_F(DefendYourPlan, TellsOwnAndPredictedFiguresOnceItIsCommitted) {
  set_plan();
  Answer answer = right_figures();
  const double right = *answer.parts["memory"].number;
  answer.parts["memory"].number = right * 1.2;
  answer.parts["bubble"].number = *answer.parts["bubble"].number + 0.5;
  player().commit(answer);
  const QString told = feedback();
  EXPECT_TRUE(told.contains(number_text(right))) << told.toStdString();
  EXPECT_TRUE(told.contains(number_text(right * 1.2))) << told.toStdString();
  EXPECT_TRUE(told.startsWith(QLatin1String("2 of 6 figures are off. "))) << told.toStdString();
  EXPECT_FALSE(told.contains(QLatin1String("breaks a condition")));
  player().next();
  const std::string first = player().state(1).answer.parts.at("first").option;
  const QString axis = QString::fromStdString(first).toUpper();
  EXPECT_TRUE(player().body().contains(QLatin1String("You wrote down: **") + axis))
      << player().body().toStdString();
}

TEST_F(DefendYourPlan, RemarksOnAFigureThatIsRightInAnotherUnit) {
  set_plan();
  Answer answer = right_figures();
  answer.parts["memory"].number = *answer.parts["memory"].number * 1.17;  // GB, and 9 % too much
  player().commit(answer);
  EXPECT_EQ(player().state().judgement->wrong_parts, std::set<std::string>{"memory"});
  EXPECT_TRUE(feedback().contains(QLatin1String("it would be right in GB")))
      << feedback().toStdString();
}

TEST_F(DefendYourPlan, NamesWhatIsAskedOfAPlanAndNotWhatFollowsFromItsOtherSettings) {
  set("mesh.tp", "3");
  set("micro_batch", "5");
  QStringList asked;
  for (const LessonPlayer::Condition& condition : player().conditions()) asked << condition.text;
  EXPECT_TRUE(asked.contains(QStringLiteral("The number of ranks = 24")))
      << asked.join(u';').toStdString();
  EXPECT_TRUE(asked.contains(QStringLiteral("Global batch = %1").arg(std::lround(drawn("batch")))))
      << asked.join(u';').toStdString();
}

TEST_F(DefendYourPlan, GoesOnWithTheStudentsOwnPlan) {
  set_plan();
  Answer answer = right_figures();
  answer.parts["memory"].number = *answer.parts["memory"].number * 1.2;
  player().commit(answer);
  EXPECT_EQ(player().state().judgement->wrong_parts, std::set<std::string>{"memory"});
  const parallelarium::Setup plan = session_.setup();
  player().next();
  ASSERT_EQ(step(), "a-small-copy");
  const Mesh copy = small_copy(plan, Computer())->mesh;
  EXPECT_EQ(copy.dp, 3) << "of 24 ranks as many as can be run";
  EXPECT_EQ(copy.tp, 4);
  EXPECT_EQ(session_.setup().mesh, copy);
  EXPECT_EQ(session_.setup().machine, MachineChoice("local"));
  EXPECT_NE(session_.setup().model.name, plan.model.name);
  player().back();
  EXPECT_EQ(session_.setup().mesh, plan.mesh);
  const nlohmann::json handed = player().answers();
  EXPECT_EQ(handed["steps"][1]["settings"]["mesh.tp"], "8");
  EXPECT_EQ(handed["steps"][1]["settings"]["mesh.dp"], "3");

  // Taken up again from what was kept: plan and figures are there.
  player().next();
  player().close();
  ASSERT_TRUE(player().resume(kLessons + QStringLiteral("defend-your-plan")));
  ASSERT_EQ(step(), "a-small-copy");
  EXPECT_EQ(session_.setup().mesh, copy);
  EXPECT_EQ(player().answers()["steps"][1]["settings"], handed["steps"][1]["settings"]);
}

TEST_F(DefendYourPlan, BecomesTwoPagesWithTwentyPoints) {
  set_plan();
  player().commit(right_figures());
  nlohmann::json answers = player().answers();
  answers["format"] = "parallelarium-answers/1";
  answers["name"] = "A. N.";
  const HandIn hand_in = hand_in_of_text(answers.dump(), lessons_folder(), player().computer());
  EXPECT_TRUE(hand_in.faults.empty()) << hand_in.faults[0].text;
  EXPECT_EQ(hand_in.points_most(false) + hand_in.points_most(true), 20);
  EXPECT_EQ(hand_in.points_given(), 8) << "the plan and its figures, and nothing yet after it";
  const Result<Defence> defence = Defence::of(player().lesson(), hand_in);
  ASSERT_TRUE(defence) << defence.error().text;
  EXPECT_FALSE(defence->markdown().contains(QLatin1String("{{")));
  EXPECT_TRUE(defence->markdown().contains(QLatin1String("A. N.")));
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("plan.pdf"));
  ASSERT_TRUE(defence->save(path));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray pdf = file.readAll();
  EXPECT_TRUE(pdf.startsWith("%PDF"));
  EXPECT_TRUE(pdf.contains("/Count 2")) << "two pages";
  EXPECT_FALSE(defence->save(folder.filePath(QStringLiteral("plan.txt"))));
}

class PlannerLock : public WindowFixture {};

TEST_F(PlannerLock, HidesTheCollectivesOfTheStepUntilAPlanIsCommitted) {
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("defend-your-plan"), 4));
  SetupFold fold(session());
  fold.show();
  const auto says_bytes = [&] {
    QApplication::processEvents();
    for (const QLabel* label : fold.findChildren<QLabel*>())
      if (label->text().contains(QLatin1String("iB,"))) return true;
    return false;
  };
  EXPECT_FALSE(says_bytes());
  session().locks().set_hidden({});
  EXPECT_TRUE(says_bytes());
  player.close();
}

TEST_F(PlannerLock, OpensTheRoomPlanOnceAPlanIsCommitted) {
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("defend-your-plan"), 4));
  player.next();
  ASSERT_EQ(player.step().id, "your-plan");
  ASSERT_FALSE(session().subject().prediction()->fits());
  const auto says_that_it_does_not_fit = [&] {
    QApplication::processEvents();
    for (const QLabel* label : window->findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(QLatin1String("not fit"))) return true;
    return false;
  };
  EXPECT_FALSE(says_that_it_does_not_fit());
  EXPECT_FALSE(action(QStringLiteral("Search"))->isEnabled());
  EXPECT_FALSE(action(QStringLiteral("Sweep"))->isEnabled());
  EXPECT_EQ(planner_locked_by(), "Defend your plan");
  const QTemporaryDir folder;
  for (const char* option : {"--screenshot", "--export"}) {
    QProcess other;  // another start of the program
    const QString file = folder.filePath(QStringLiteral("told.png"));
    other.start(QCoreApplication::applicationDirPath() + QStringLiteral("/parallelarium"),
                {QString::fromLatin1(option), file});
    ASSERT_TRUE(other.waitForFinished()) << option;
    EXPECT_EQ(other.exitCode(), 2) << option;
    EXPECT_FALSE(QFile::exists(file)) << option;
    EXPECT_TRUE(other.readAllStandardError().contains("Defend your plan")) << option;
  }
  const QStringList keys = session().locks().hidden_keys();
  session().locks().set_hidden({QStringLiteral("memory")});  // as other lessons do
  EXPECT_TRUE(says_that_it_does_not_fit());
  EXPECT_TRUE(action(QStringLiteral("Sweep"))->isEnabled());
  EXPECT_FALSE(planner_locked_by());
  session().locks().set_hidden(keys);
  EXPECT_TRUE(planner_locked_by());
  window->show_room(Room::kPlan);
  EXPECT_EQ(window->room(), Room::kLearn);
  session().locks().set_hidden({});
  window->show_room(Room::kPlan);
  EXPECT_EQ(window->room(), Room::kPlan);
  session().locks().set_hidden(keys);
  player.close();
  EXPECT_FALSE(planner_locked_by());
}

}  // namespace
}  // namespace parallelarium
