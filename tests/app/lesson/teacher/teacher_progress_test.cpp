// SPDX-License-Identifier: GPL-3.0-or-later
// Progress in a folder of choice: whose it is, what happens when it is missing or damaged.
#include <QDir>
#include <QFile>

#include "app/lesson/map/cheat_sheet.h"
#include "app/lesson/map/map_data.h"
#include "tests/app/lesson/teacher/teacher_fixture.h"

namespace parallelarium {
namespace {

class TeacherProgress : public Teacher {
 protected:
  void TearDown() override { LessonProgress::choose_folder({}); }
  static bool done(const LessonProgress& progress, const std::string& id) {
    return progress.done(id, read_lesson(lessons_folder() + "/" + id)->version);
  }
  QString path_in(const QString& folder) {
    return folder_.filePath(folder) + QStringLiteral("/progress.json");
  }
  bool use(const QString& folder) { return window->use_progress_folder(folder_.filePath(folder)); }
  static QByteArray content(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return file.readAll();
  }
};

TEST_F(TeacherProgress, AnEmptyFolderBeginsWithNothing) {
  finish("first-look");
  ASSERT_TRUE(player().progress().join(ClassPlace{"spring-26", "Ada", false}));
  ASSERT_TRUE(use(QStringLiteral("stick")));
  EXPECT_FALSE(done(player().progress(), "first-look"));
  EXPECT_FALSE(player().progress().place());
  finish("naive-and-gpipe");
  EXPECT_TRUE(done(LessonProgress(path_in(QStringLiteral("stick"))), "naive-and-gpipe"));
  EXPECT_FALSE(done(LessonProgress(), "naive-and-gpipe")) << "the first place is as it was";
  ASSERT_TRUE(use(QStringLiteral("other")));
  EXPECT_FALSE(done(player().progress(), "naive-and-gpipe"));
  ASSERT_TRUE(use(QStringLiteral("stick")));
  EXPECT_TRUE(done(player().progress(), "naive-and-gpipe")) << "what lies there counts";
  EXPECT_FALSE(window->use_progress_folder(QStringLiteral("/proc/none")));
  EXPECT_TRUE(done(player().progress(), "naive-and-gpipe")) << "nothing was lost";
  ASSERT_TRUE(window->use_progress_folder(LessonProgress::own_folder()));
  ASSERT_TRUE(player().progress().join(std::nullopt));
}

TEST_F(TeacherProgress, AnOpenLessonIsLeftAndWritesToNobodyElse) {
  ASSERT_TRUE(use(QStringLiteral("ada")));
  open("filling-the-bubble");
  ASSERT_TRUE(use(QStringLiteral("ben")));
  open("filling-the-bubble");
  player().next();
  player().commit({0.5, {}, {}, {}});
  ASSERT_TRUE(use(QStringLiteral("ada")));
  const QByteArray ada = content(path_in(QStringLiteral("ada")));
  const QByteArray ben = content(path_in(QStringLiteral("ben")));
  ASSERT_NE(ada, ben);
  open("filling-the-bubble");
  player().next();
  ASSERT_TRUE(use(QStringLiteral("ben")));
  EXPECT_FALSE(player().is_open());
  EXPECT_EQ(player().finished_lesson(), nullptr);
  QApplication::processEvents();
  EXPECT_EQ(content(path_in(QStringLiteral("ben"))), ben);
  EXPECT_NE(content(path_in(QStringLiteral("ada"))), ada);
  // Nor is a finished one handed in under the next name.
  open("filling-the-bubble");
  while (!player().at_end()) player().show_step(+1);
  player().next();
  ASSERT_NE(player().finished_lesson(), nullptr);
  ASSERT_TRUE(use(QStringLiteral("ada")));
  EXPECT_EQ(player().finished_lesson(), nullptr);
  // An open question of an exam is not left this way.
  ASSERT_TRUE(player().progress().join(ClassPlace{"exam-1", "Ada", true}));
  open("filling-the-bubble");
  player().next();
  ASSERT_EQ(player().step().kind, StepKind::kPredict);
  EXPECT_FALSE(use(QStringLiteral("ben")));
  EXPECT_TRUE(player().is_open());
  EXPECT_TRUE(banner_says(QStringLiteral("Answer the exam's question first")));
}

TEST_F(TeacherProgress, AChosenFolderCanBeGivenUpAndAMissingOneIsTold) {
  EXPECT_FALSE(action(QStringLiteral("Keep progress on this computer"))->isVisible());
  const QString stick = folder_.filePath(QStringLiteral("stick"));
  ASSERT_TRUE(use(QStringLiteral("stick")));
  finish("naive-and-gpipe");
  LessonProgress::choose_folder(stick);
  EXPECT_EQ(LessonProgress::default_path(), path_in(QStringLiteral("stick")));
  EXPECT_TRUE(done(LessonProgress(), "naive-and-gpipe")) << "at the next start";
  ASSERT_TRUE(QDir(stick).removeRecursively());
  window = std::make_unique<Window>();
  window->set_asks(false);
  window->show();
  EXPECT_TRUE(banner_says(stick));
  EXPECT_TRUE(banner_says(QStringLiteral("is not there")));
  open("first-look");
  EXPECT_TRUE(banner_says(QStringLiteral("could not be saved")));
  EXPECT_FALSE(QDir(stick).exists()) << "it is not made up";
  player().close();
  QAction* here = action(QStringLiteral("Keep progress on this computer"));
  ASSERT_TRUE(here->isVisible() && here->isEnabled());
  here->trigger();
  EXPECT_EQ(LessonProgress::chosen_folder(), QString());
  EXPECT_EQ(LessonProgress::default_path(),
            QDir(LessonProgress::own_folder()).filePath(QStringLiteral("progress.json")));
  EXPECT_FALSE(banner_says(QStringLiteral("is not there")));
  EXPECT_FALSE(here->isVisible());
  open("first-look");
  EXPECT_FALSE(banner_says(QStringLiteral("could not be saved")));
}

// What a hand or a broken stick may leave in a file that is JSON still.
TEST_F(TeacherProgress, AFileThatWasChangedByHandIsReadAsFarAsItGoes) {
  using nlohmann::json;
  const Result<Lesson> lesson = read_lesson(lessons_folder() + "/first-look");
  const ClassPlace place{"exam-1", "Ada", true};
  json steps = json::array();
  for (const Step& step : lesson->steps)
    steps.push_back({{"step", step.id}, {"solved", true}, {"attempts", 1}, {"hints", 1}});
  const json entry = {
      {"version", lesson->version}, {"done", true}, {"answers", {{"seed", 7}, {"steps", steps}}}};
  json exam = entry;
  exam["done"] = false;
  exam["answers"]["seed"] = place.seed("first-look");
  const json whole = {
      {"format", "parallelarium-progress/1"},
      {"lessons", {{"first-look", entry}}},
      {"exams", {{"first-look/" + std::to_string(place.seed("first-look")), exam}}},
      {"playlist",
       {{"title", "Monday"}, {"lessons", {{{"lesson", "first-look"}, {"minutes", -5}}}}}}};
  const std::vector<std::pair<const char*, json>> faults[] = {
      {{"/answers/steps/1/number", "x"},
       {"/answers/steps/1/hints", 1000},
       {"/answers/steps/1/attempts", "many"},
       {"/answers/steps/1/parts", {1}},
       {"/answers/steps/1/order", 5},
       {"/answers/steps/1/marks", "x"},
       {"/answers/steps/2/attempts", -4},
       {"/answers/steps/5/settings", {{"mesh.pp", 5}}},
       {"/answers/steps/7/solved", "yes"},
       {"/known", "x"},
       {"/reviewed_at", 5},
       {"/reviews", "many"}},
      {{"/answers/exam", "yes"}, {"/answers/seed", "seven"}, {"/answers/steps", 5}},
      {{"/answers/steps", {1, 2, 3, 4, 5, 6, 7, 8}}, {"/done", "x"}},
      {{"/answers/steps/0/step", 3}},
      {{"/answers", 3}},
      {{"/version", "two"}},
  };
  int number = 0;
  for (const auto& fault : faults) {
    SCOPED_TRACE(fault.front().first);
    json file = whole;
    for (const auto& [where, value] : fault) {
      file["lessons"]["first-look"][json::json_pointer(where)] = value;
      file["exams"].begin().value()[json::json_pointer(where)] = value;
    }
    const QString folder = QStringLiteral("damaged%1").arg(++number);
    ASSERT_TRUE(QDir().mkpath(folder_.filePath(folder)));
    this->file(folder + QStringLiteral("/progress.json"), QByteArray::fromStdString(file.dump()));
    ASSERT_TRUE(use(folder));
    LessonProgress& progress = player().progress();
    EXPECT_EQ(progress.playlist()->entries.at(0).minutes, 0);
    for (const bool in_exam : {false, true}) {
      ASSERT_TRUE(progress.join(in_exam ? std::optional(place) : std::nullopt));
      const MapData map = read_map(player());
      EXPECT_EQ(map.playlist->minutes.at(0), lesson->minutes);
      if (!in_exam) take_aways(progress);
      progress.known("first-look", lesson->version);
      const bool reviewed =
          progress.note_review("first-look", lesson->version, true, QDateTime::currentDateTimeUtc())
              .ok();
      EXPECT_TRUE(reviewed);
      ASSERT_TRUE(player().resume(QString::fromStdString(lesson->folder)));
      ASSERT_TRUE(player().is_open());
      EXPECT_EQ(player().exam(), in_exam);
      EXPECT_LE(player().state(1).hints, 3);
      EXPECT_GE(player().state(2).attempts, 0);
      QApplication::processEvents();
      player().close();
    }
  }
}

}  // namespace
}  // namespace parallelarium
