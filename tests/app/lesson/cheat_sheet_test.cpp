// SPDX-License-Identifier: GPL-3.0-or-later
// What lessons leave behind: only those that are done, with the student's own numbers.
#include "app/lesson/map/cheat_sheet.h"

#include <QDir>
#include <QTemporaryDir>

#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

class CheatSheets : public LessonPlay {
 protected:
  void SetUp() override {
    LessonPlay::SetUp();
    ASSERT_TRUE(folder_.isValid());
    progress_ = std::make_unique<LessonProgress>(folder_.filePath("progress.json"));
  }
  void finish(const std::string& id, std::uint64_t seed, nlohmann::json steps = {}) {
    const Result<Lesson> lesson = read_lesson(lessons_folder() + "/" + id);
    ASSERT_TRUE(lesson);
    ASSERT_TRUE(progress_->keep(id, lesson->version, true, {{"seed", seed}, {"steps", steps}}));
  }
  int pages(const QByteArray& pdf) {
    return static_cast<int>(pdf.count("/Type /Page\n") + pdf.count("/Type /Page "));
  }
  QTemporaryDir folder_;
  std::unique_ptr<LessonProgress> progress_;
};

TEST_F(CheatSheets, HaveOnlyLessonsThatAreDoneAndWhatWasSeenHere) {
  EXPECT_TRUE(take_aways(*progress_).empty());
  finish("zero-one-and-two", 3);
  finish("naive-and-gpipe", 4,
         {{{"step", "run-naive"},
           {"answers", "how-much-waiting"},
           {"observed", 0.7512},
           {"run", {{"source", "paced"}}}}});
  const std::vector<TakeAway> all = take_aways(*progress_);
  ASSERT_EQ(all.size(), 2u);  // in the course's order
  EXPECT_EQ(all[0].title, "Naive and GPipe");
  EXPECT_TRUE(all[0].markdown.contains("75.1")) << all[0].markdown.toStdString();
  EXPECT_FALSE(all[1].markdown.contains("If your notes")) << "what is wrong is no take-away";
  EXPECT_FALSE(all[1].markdown.contains("{{"));
}

TEST_F(CheatSheets, ARunThatAnswersAQuestionIsKeptWithItsFigure) {
  open("naive-and-gpipe");
  player().commit({0.75, "", {}, {}});
  while (step() != "run-naive") {
    player().commit({0.75, "", {}, {}});
    player().show_answer();
    player().next();
  }
  bring_run(0.71);
  bool kept = false;
  const nlohmann::json answers = player().answers();
  for (const nlohmann::json& step : answers["steps"])
    if (step["step"] == "run-naive" && step.contains("observed")) {
      kept = true;
      EXPECT_DOUBLE_EQ(step["observed"].get<double>(), 0.71);
      EXPECT_EQ(step["answers"], "how-much-waiting");
    }
  EXPECT_TRUE(kept);
}

TEST_F(CheatSheets, ThePdfOfTheWholeCourseHasTwoPages) {
  const Result<Course> course = read_course(lessons_folder());
  ASSERT_TRUE(course);
  for (const CourseEntry& entry : course->lessons) finish(entry.id, 5);
  {
    const German in_german;
    const QString german = folder_.filePath("zettel.pdf");
    ASSERT_TRUE(CheatSheet(*progress_).save(german));
    QFile file(german);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(pages(file.readAll()), 2);
  }
  const CheatSheet sheet(*progress_);
  const QString path = folder_.filePath("sheet.pdf");
  ASSERT_TRUE(sheet.save(path));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(pages(file.readAll()), 2);
  EXPECT_FALSE(sheet.save("/nowhere/sheet.pdf"));
}

}  // namespace
}  // namespace parallelarium
