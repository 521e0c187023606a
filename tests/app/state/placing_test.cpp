// SPDX-License-Identifier: GPL-3.0-or-later
// One question from each of several lessons: of what is due for review, and of "I know the basics",
// after which what is known can be skipped.
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/lesson/map/course_map.h"
#include "app/lesson/map/lesson_picture.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/lesson/map/map_data.h"
#include "app/look/figures.h"
#include "engine/lesson/play.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

class Placing : public LessonPlay {
 protected:
  double right() {
    Context context;
    context.drawn = player().drawn();
    const Result<Settings> settings =
        settings_at(player().lesson(), player().step_index(), context.drawn, true);
    EXPECT_TRUE(settings);
    context.settings = *settings;
    return *evaluate(player().step().ask->answer, context.symbols());
  }
  const MapLesson& on_map(const MapData& map, const std::string& id) {
    return *std::find_if(map.lessons.begin(), map.lessons.end(), [&](const MapLesson& lesson) {
      return lesson.id == QString::fromStdString(id);
    });
  }
};

// A document may be another student's, or come from another computer.
TEST_F(Placing, ADocumentAtALatePartMakesNoEarlierOneDone) {
  open(QStringLiteral("filling-the-bubble"), 7);
  const nlohmann::json at_first = session_.locks().lesson_state();
  press_primary();
  ASSERT_EQ(step(), "more-micro-batches");
  EXPECT_EQ(on_map(read_map(player()), "filling-the-bubble").reached, 2U);
  // The same numbers: what was done stays, and the parts between are nobody's.
  restore_step(session_, "fill-it");
  EXPECT_EQ(step(), "fill-it");
  const nlohmann::json told = player().answers()["steps"];
  EXPECT_EQ(std::count_if(told.begin(), told.end(),
                          [](const auto& each) { return !each.contains("passed"); }),
            2);
  EXPECT_EQ(on_map(read_map(player()), "filling-the-bubble").reached, 1U);
  // Others: nothing was done.
  nlohmann::json others = at_first;
  others["seed"] = 8;
  others["step"] = "fill-it";
  session_.locks().set_lesson_state(others);
  Q_EMIT session_.restored();
  EXPECT_EQ(step(), "fill-it");
  player().show_hint();  // is kept
  const MapLesson shown = on_map(read_map(player()), "filling-the-bubble");
  EXPECT_EQ(shown.reached, 0U);
  EXPECT_FALSE(shown.begun);
  player().back();
  EXPECT_TRUE(player().state().solved) << "one may look, and come back";
}

TEST_F(Placing, TheMapTellsWhatOneCanDoAfterEachLesson) {
  for (const MapLesson& lesson : read_map(player()).lessons) {
    EXPECT_FALSE(lesson.afterwards.isEmpty()) << lesson.id.toStdString();
    const Result<Lesson> read = read_lesson(lesson.folder.toStdString());
    ASSERT_TRUE(read);
    EXPECT_FALSE(std::holds_alternative<std::monostate>(drawing_of(*read)))
        << lesson.id.toStdString();
  }
  CourseMap map(player());
  map.resize(1440, 860);
  map.show();
  QString details;
  for (const QLabel* label : map.findChildren<QLabel*>()) details += label->text();
  EXPECT_TRUE(details.contains(QStringLiteral("AFTERWARDS YOU CAN")));
  EXPECT_TRUE(map.findChild<LessonPicture*>()->isVisible());
}

TEST_F(Placing, AsksTheLastNumberOfEachAndMarksWhatIsKnown) {
  const MapData before = read_map(player());
  ASSERT_EQ(before.basics.size(), 6);
  ASSERT_TRUE(player().place(before.basics));
  std::vector<std::string> asked;
  for (int question = 1; question <= 6; ++question) {
    ASSERT_TRUE(player().is_open());
    EXPECT_EQ(player().asking(), std::pair(question, 6));
    const Lesson& lesson = player().lesson();
    for (std::size_t at = player().step_index() + 1; at < lesson.steps.size(); ++at)
      EXPECT_FALSE(lesson.steps[at].kind == StepKind::kPredict && lesson.steps[at].ask &&
                   !lesson.steps[at].ask->answer.empty())
          << "a later number of " << lesson.id;
    asked.push_back(lesson.id);
    const double answer = right();
    player().commit({question == 2 ? answer * 3 + 1 : answer, "", {}, {}});
    EXPECT_EQ(player().state().judgement->verdict == Verdict::kRight, question != 2);
    player().show_answer();
    ASSERT_TRUE(player().state().solved);
    player().next();
  }
  EXPECT_FALSE(player().is_open());
  const MapData after = read_map(player());
  for (std::size_t at = 0; at < asked.size(); ++at) {
    EXPECT_EQ(on_map(after, asked[at]).known, at != 1) << asked[at];
    EXPECT_FALSE(on_map(after, asked[at]).done);
  }
  // Those before it in its unit are known with it; the way on leads to what is not known.
  EXPECT_TRUE(on_map(after, "naive-and-gpipe").known);
  EXPECT_FALSE(on_map(after, "chunks-in-turn").known);
  EXPECT_LT(after.minutes_left(), before.minutes_left());
  ASSERT_TRUE(after.next());
  EXPECT_FALSE(after.lessons[*after.next()].known);
  // A lesson that is known can be played all the same, and stays known.
  open("filling-the-bubble");
  EXPECT_EQ(player().asking(), std::pair(0, 0));
  player().close();
  EXPECT_TRUE(on_map(read_map(player()), "filling-the-bubble").known);
}

// What is due is asked one after another, and each answer is kept with its lesson.
TEST_F(Placing, AReviewAsksAQuestionOfEachLesson) {
  const QStringList ids{"filling-the-bubble", "first-look", "does-it-fit"};
  QStringList folders;
  std::vector<int> versions;
  for (const QString& id : ids) {
    folders << kLessons + id;
    versions.push_back(read_lesson(folders.back().toStdString())->version);
    ASSERT_TRUE(player().progress().keep(id.toStdString(), versions.back(), true, nullptr));
  }
  QSignalSpy reviewed(&player(), &LessonPlayer::reviewed);
  ASSERT_TRUE(player().review(folders));
  for (int question = 1; question <= 3; ++question) {
    EXPECT_EQ(player().asking(), std::pair(question, 3));
    EXPECT_EQ(QString::fromStdString(player().lesson().id), ids[question - 1]);
    EXPECT_FALSE(player().places());
    const auto* crumb = panel_->findChild<QToolButton*>("Link");
    EXPECT_TRUE(crumb->text().endsWith(QStringLiteral("question %1 of 3").arg(question)))
        << crumb->text().toStdString();
    const double answer = right();
    player().commit({question == 1 ? answer * 3 + 1 : answer, "", {}, {}});
    player().show_answer();
    EXPECT_EQ(primary()->text(), question < 3 ? QStringLiteral("Next") : QStringLiteral("Finish"));
    EXPECT_EQ(reviewed.size(), 0);
    player().next();
  }
  EXPECT_EQ(reviewed.size(), 1) << "back to the map";
  EXPECT_FALSE(player().is_open());
  const QDateTime soon = QDateTime::currentDateTimeUtc().addDays(2);
  for (int at = 0; at < 3; ++at)
    EXPECT_EQ(player().progress().due(ids[at].toStdString(), versions[std::size_t(at)], soon),
              at == 0)
        << "what was wrong comes back the next day";
}

// A lesson of orders or of a plan has no number that a review could ask for.
TEST_F(Placing, ALessonWithoutANumberIsNeverDueAndEndsNoQuestionThatIsOpen) {
  const QDateTime long_ago = QDateTime::currentDateTimeUtc().addDays(-40);
  for (const char* id :
       {"orders-by-hand", "orders-for-experts", "defend-your-plan", "first-look"}) {
    const Result<Lesson> lesson = read_lesson(kLessons.toStdString() + id);
    ASSERT_TRUE(lesson);
    LessonProgress& progress = player().progress();
    ASSERT_TRUE(progress.keep(id, lesson->version, true, nullptr));
    ASSERT_TRUE(progress.note_review(id, lesson->version, false, long_ago));
    EXPECT_EQ(on_map(read_map(player()), id).due, id == std::string("first-look")) << id;
  }
  const QStringList asked{kLessons + "does-it-fit", kLessons + "first-look"};
  ASSERT_TRUE(player().place(asked));
  EXPECT_FALSE(player().review({kLessons + "orders-by-hand"}));
  EXPECT_EQ(player().lesson().id, "does-it-fit");
  EXPECT_EQ(player().asking(), std::pair(1, 2));
  EXPECT_TRUE(player().places());
}

TEST_F(Placing, TheMapReviewsFiveAtATimeAndTellsWhatIsMastered) {
  nlohmann::json lessons;  // from before reviews and mastery were kept
  const Result<Course> course = read_course(lessons_folder());
  ASSERT_TRUE(course);
  for (std::size_t at = 0; lessons.size() < 7; ++at) {
    const Result<Lesson> lesson = read_lesson(course->folder + "/" + course->lessons[at].id);
    const bool right = lessons.size() == 2;
    const nlohmann::json step = {
        {"step", "any"}, {"kind", "predict"}, {"attempts", 1}, {"right", right}, {"number", 1}};
    lessons[lesson->id] = {{"version", lesson->version},
                           {"done", true},
                           {"answers", {{"steps", nlohmann::json::array({step})}}}};
  }
  QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("progress.json")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  const nlohmann::json kept = {{"format", "parallelarium-progress/1"}, {"lessons", lessons}};
  file.write(QByteArray::fromStdString(kept.dump()));
  file.close();
  ASSERT_TRUE(player().progress().use_folder(folder.path()));
  CourseMap map(player());
  map.resize(1300, 900);
  map.show();
  const std::size_t due = map.data().due().size();
  ASSERT_GT(due, 5U);
  QPushButton* review = nullptr;
  for (auto* button : map.findChildren<QPushButton*>())
    if (button->text().startsWith(QStringLiteral("Review: 5 of %1 due").arg(due))) review = button;
  ASSERT_NE(review, nullptr);
  EXPECT_TRUE(review->text().endsWith(minutes_text(5))) << review->text().toStdString();
  int mastered = 0, done = 0;
  for (const LessonTile* tile : map.tiles()) {
    mastered += tile->accessibleName().contains(QStringLiteral(", mastered"));
    done += tile->accessibleName().contains(QStringLiteral(", done"));
  }
  EXPECT_EQ(mastered, 1);
  EXPECT_EQ(done, 6);
  QSignalSpy started(&map, &CourseMap::started);
  review->click();
  EXPECT_EQ(started.size(), 1);
  EXPECT_EQ(player().asking(), std::pair(1, 5));
}

TEST_F(Placing, LeavingItAsksNoMore) {
  ASSERT_TRUE(player().place(read_map(player()).basics));
  player().close();
  EXPECT_FALSE(player().is_open());
  EXPECT_EQ(player().asking(), std::pair(0, 0));
}

}  // namespace
}  // namespace parallelarium
