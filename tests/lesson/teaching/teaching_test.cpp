// SPDX-License-Identifier: Apache-2.0
// New lessons, and what a class hands in.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/class_seed.h"
#include "engine/lesson/teaching/grading/report.h"
#include "engine/lesson/teaching/grading/rerun.h"
#include "engine/lesson/teaching/new_lesson.h"
#include "engine/lesson/teaching/playlist.h"
#include "tests/lesson/lesson_copy.h"
#include "tests/lesson/teaching/hand_in.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(NewLesson, IsProvedAsItStands) {
  const std::string folder = in_folder("my-lesson");
  ASSERT_TRUE(write_new_lesson(folder).ok());
  std::ifstream file(folder + "/lesson.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, testing::Not(HasSubstr("\" :"))) << "it is written by hand, and read so";
  const LessonReport report = check_lesson(folder);
  EXPECT_EQ(report.id, "my-lesson");
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.faults.front().text);
  EXPECT_GE(report.samples, 8u) << "numbers are drawn";
  const Result<void> again = write_new_lesson(folder);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().text, HasSubstr("nothing was changed"));
}

TEST(NewLesson, RefusesWhatIsNoId) {
  for (const char* name : {"My-Lesson", "a--b", "-a", "a_b"})
    EXPECT_EQ(write_new_lesson(in_folder(name)).error().kind, "lesson-name") << name;
}

// Before the card, which comes last, a number or an option is asked for. Lessons of orders end with
// an order, and the capstone with a repair.
TEST(Course, LessonsEndWithAQuestionAndACard) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  for (const CourseEntry& entry : course->lessons) {
    const std::vector<Step> steps = shipped(entry.id).steps;
    ASSERT_GE(steps.size(), 2u);
    EXPECT_EQ(steps.back().kind, StepKind::kRead) << entry.id;
    const Step& last = steps[steps.size() - 2];
    EXPECT_TRUE(last.kind == StepKind::kPredict || last.builds_order() ||
                entry.id == "defend-your-plan")
        << entry.id << ": " << last.id;
  }
}

// A row of the table: | session | lessons | minutes | ... |
TEST(Syllabus, AddsUpTheMinutesOfItsLessons) {
  std::istringstream text(content_of(shipped_lessons() + "/TEACHING.md"));
  const std::regex row(R"(\| [^|]+ \| ([a-z0-9, -]+) \| ([0-9]+) \|.*)");
  int sessions = 0;
  for (std::string line; std::getline(text, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    ++sessions;
    std::istringstream lessons(found[1].str());
    int minutes = 0;
    for (std::string id; std::getline(lessons >> std::ws, id, ',');) minutes += shipped(id).minutes;
    EXPECT_EQ(minutes, std::stoi(found[2].str())) << line;
  }
  EXPECT_EQ(sessions, 8) << "six, a taster before them and the capstone";
}

TEST(Playlist, HasATitleAndLessonsInTheOrderOfItsLines) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  const Result<Playlist> read = playlist_from_text(
      "\xef\xbb\xbf# Monday\r\ntitle: Wer wartet auf wen? »\r\n\r\n"
      "naive-and-gpipe 12 # with the class\nfirst-look",
      "monday.txt", *course);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->title, "Wer wartet auf wen? »");
  ASSERT_EQ(read->entries.size(), 2u);
  EXPECT_EQ(read->entries[0].lesson, "naive-and-gpipe");
  EXPECT_EQ(read->entries[0].minutes, 12);
  EXPECT_EQ(read->entries[1].lesson, "first-look");
  EXPECT_EQ(read->entries[1].minutes, 0);
  EXPECT_EQ(playlist_from_text("first-look", "/tmp/monday.txt", *course)->title, "monday");
}

TEST(Playlist, SaysInWhichLineSomethingIsWrong) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  const auto says = [&](const char* text) {
    const Result<Playlist> read = playlist_from_text(text, "monday.txt", *course);
    return read ? std::string() : read.error().text;
  };
  EXPECT_EQ(
      says("first-look\n\nfirst-loook 3"),
      "monday.txt, line 3: \"first-loook\" is no lesson of the course; \"first-look\" is one.");
  EXPECT_EQ(says("first-look\nfirst-look"),
            "monday.txt, line 2: \"first-look\" stands there twice.");
  for (const char* minutes : {"0", "-3", "601", "ten", "5min", "99999999999", "5 6"})
    EXPECT_THAT(says((std::string("first-look ") + minutes).c_str()),
                HasSubstr(std::string("line 1: behind \"first-look\" stands \"") + minutes + "\""));
  EXPECT_THAT(says("title: nothing"), HasSubstr("names no lesson"));
  EXPECT_EQ(read_playlist("/nowhere.txt", *course).error().id, "lesson-file");
}

// A lesson of one's own lies beside the list, in a folder that may have a space in its name.
TEST(Playlist, HasLessonsThatAreNotOfTheCourse) {
  namespace fs = std::filesystem;
  const Course course = *read_course(shipped_lessons());
  const LessonCopy copy;
  const fs::path own = copy.root() / "of mine" / "two-halves";
  fs::create_directories(own.parent_path());
  ASSERT_TRUE(write_new_lesson(own.string()));
  const std::string file = (copy.root() / "monday.txt").string();
  const auto read = [&](const std::string& text) { return playlist_from_text(text, file, course); };
  const Result<Playlist> list = read("first-look\n\"of mine/two-halves\" 12");
  ASSERT_TRUE(list) << list.error().text;
  EXPECT_EQ(list->entries[1].minutes, 12);
  EXPECT_EQ(read_lesson(folder_of(course, list->entries[1].lesson))->id, "two-halves");
  EXPECT_EQ(folder_of(course, "first-look"), shipped_lessons() + "/first-look");
  EXPECT_EQ(read("./filling-the-bubble").error().text,
            file +
                ", line 1: the lesson in \"./filling-the-bubble\" has the id "
                "\"filling-the-bubble\", as one of the course has; give it and its folder another "
                "one.");
  EXPECT_EQ(read("\"of mine/two-halves\"\n\"./of mine/two-halves\"").error().id, "playlist-twice");
  EXPECT_EQ(read("\"of mine\"").error().id, "playlist-lesson");
  // Progress is kept by the id, and hand-ins are found by the folder's name: both are one.
  fs::create_directories(copy.root() / "again");
  fs::copy(own, copy.root() / "again" / "two-halves", fs::copy_options::recursive);
  EXPECT_EQ(read("\"of mine/two-halves\"\nagain/two-halves").error().id, "playlist-twice");
  fs::rename(own, copy.root() / "of mine" / "renamed");
  EXPECT_EQ(read("\"of mine/renamed\"").error().id, "playlist-own-folder");
}

// The folder of a teacher's own lessons need not have those of the course.
TEST(ClassReport, FindsLessonsOfTheProgramWhereTheFolderHasNone) {
  const LessonCopy copy;
  for (const char* id : {"first-look", "filling-the-bubble"}) {
    const ClassReport report =
        report_on({write_hand_in("all.json", played(id, 7))}, copy.root().string(), {});
    EXPECT_TRUE(report.ok()) << id;
    EXPECT_FALSE(report.hand_ins[0].steps.empty()) << id;
  }
  EXPECT_EQ(lesson_folder(copy.root().string(), "filling-the-bubble"), copy.folder().string());
  EXPECT_EQ(lesson_folder(copy.root().string(), "first-look"), shipped_lessons() + "/first-look");
}

TEST(ClassReport, FindsOutAgainWhatIsRightInEveryLesson) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  for (const CourseEntry& entry : course->lessons) {
    const std::string file = write_hand_in("all.json", played(entry.id, 7));
    const ClassReport report = report_on({file}, shipped_lessons(), {});
    ASSERT_EQ(report.hand_ins.size(), 1u);
    const HandIn& hand_in = report.hand_ins[0];
    for (const Message& fault : hand_in.faults) ADD_FAILURE() << entry.id << ": " << fault.text;
    EXPECT_GE(hand_in.asked(), 1) << entry.id;
    for (const HandInStep& step : hand_in.steps)
      EXPECT_EQ(step.judged, step.right) << entry.id << ", " << step.step << ": " << step.answer;
  }
}

TEST(ClassReport, IgnoresWhatFilesClaimAndListsEqualFilesAndCommonMistakes) {
  json liar = played("filling-the-bubble", 3, "more-micro-batches");
  for (json& step : liar["steps"]) step["right"] = true;
  const json other = played("filling-the-bubble", 4, "more-micro-batches");
  const json goal = played("filling-the-bubble", 5, "fill-it");
  const std::vector<std::string> files = {
      write_hand_in("liar.json", liar), write_hand_in("other.json", other),
      write_hand_in("copy.json", other), write_hand_in("goal.json", goal)};
  const ClassReport report = report_on(files, shipped_lessons(), {});
  ASSERT_EQ(report.hand_ins[0].faults.size(), 1u);
  EXPECT_EQ(report.hand_ins[0].faults[0].id, "hand-in-claim");
  EXPECT_FALSE(report.ok());
  for (int at = 0; at < 4; ++at)
    EXPECT_EQ(report.hand_ins[static_cast<std::size_t>(at)].right(),
              report.hand_ins[static_cast<std::size_t>(at)].asked() - 1);
  ASSERT_EQ(report.equal.size(), 1u);
  EXPECT_EQ(report.equal[0], std::pair(files[1], files[2]));
  ASSERT_EQ(report.common.size(), 1u);
  EXPECT_EQ(report.common[0].step, "more-micro-batches");
  EXPECT_EQ(report.common[0].count, 3);
  EXPECT_THAT(to_csv(report), HasSubstr("liar.json,N. N.,filling-the-bubble,3,more-micro-batches,"
                                        "predict,no,yes,1,0,1234.5"));
  EXPECT_EQ(to_json(report)["files"][0]["asked"], report.hand_ins[0].asked());
}

// The seeds are written down, since those of last year's hand-ins must still be found.
TEST(ClassSeed, FollowsFromCodeNameAndLessonOnEveryComputer) {
  EXPECT_EQ(class_seed("spring-26", "Ada L.", "does-it-fit"), 6434558730660762u);
  EXPECT_EQ(class_seed(" SPRING-26", "ada l. ", "does-it-fit"),
            class_seed("spring-26", "Ada L.", "does-it-fit"));
  std::set<std::uint64_t> seeds;
  for (const char* code : {"a", "ab"})
    for (const char* name : {"c", "bc"})
      for (const char* lesson : {"does-it-fit", "first-look"})
        seeds.insert(class_seed(code, name, lesson));
  EXPECT_EQ(seeds.size(), 8u);
  EXPECT_LT(*seeds.rbegin(), std::uint64_t{1} << 53);
}

TEST(ClassReport, TellsWhoseNumbersAreNotThoseOfTheClass) {
  const std::uint64_t seed = class_seed("spring-26", "N. N.", "filling-the-bubble");
  const std::vector<std::string> files = {
      write_hand_in("mine.json", played("filling-the-bubble", seed)),
      write_hand_in("anybodys.json", played("filling-the-bubble", 5))};
  const ClassReport report = report_on(files, shipped_lessons(), {}, "spring-26");
  EXPECT_TRUE(report.hand_ins[0].faults.empty());
  ASSERT_EQ(report.hand_ins[1].faults.size(), 1u);
  EXPECT_EQ(report.hand_ins[1].faults[0].id, "hand-in-numbers");
  EXPECT_TRUE(report_on(files, shipped_lessons(), {}).ok()) << "without a code any numbers do";
}

TEST(Rerun, ComparesLossesAndBytesAndSaysWhatCannotBeCompared) {
  const json honest = played("filling-the-bubble", 3);
  std::size_t at = 0;
  while (!honest["steps"][at].contains("run")) ++at;
  const auto verdict = [&](const char* key, const json& value) {
    json play = honest;
    if (*key) play["steps"][at]["run"][json::json_pointer(key)] = value;
    ClassReport report = report_on({write_hand_in("run.json", play)}, shipped_lessons(), {});
    const RerunCount count = rerun_hand_ins(report, 1, 1, shipped_lessons(), told_losses);
    EXPECT_EQ(count.drawn, 1);
    const bool ran = report.hand_ins[0].rerun() != RerunVerdict::kNotRun;
    EXPECT_EQ(count.run, ran ? 1 : 0);
    const bool other_bytes = std::string(key) == "/sent_bytes";  // told without a run, too
    EXPECT_EQ(report.hand_ins[0].faults.empty(), ran && !other_bytes) << key;
    return report.hand_ins[0].rerun().value();
  };
  EXPECT_EQ(verdict("", {}), RerunVerdict::kEqual);
  const double loss = honest["steps"][at]["run"]["losses"][1];
  EXPECT_EQ(verdict("/losses/1", loss * 1.0001), RerunVerdict::kClose);
  EXPECT_EQ(verdict("/losses/1", loss * 1.01), RerunVerdict::kDifferent);
  EXPECT_EQ(verdict("/losses", {loss}), RerunVerdict::kDifferent) << "a step is missing";
  EXPECT_EQ(verdict("/sent_bytes", 1), RerunVerdict::kDifferent);
  EXPECT_EQ(verdict("/setup/microbatches", 64), RerunVerdict::kNotRun) << "not the lesson's Setup";
  EXPECT_EQ(verdict("/setup/run/text", "/etc/passwd"), RerunVerdict::kNotRun);
  EXPECT_EQ(verdict("/setup/run/steps", 1000), RerunVerdict::kNotRun);
  EXPECT_EQ(verdict("/setup", 7), RerunVerdict::kNotRun);
}

TEST(Rerun, RunsOnCpuRanksWhatTheStudentRanAndNoMoreThanWasAskedFor) {
  std::vector<std::string> files;
  for (int student = 0; student < 5; ++student)
    files.push_back(write_hand_in(fmt::format("student-{}.json", student),
                                  played("filling-the-bubble", std::uint64_t(student))));
  json no_run = played("filling-the-bubble", 9);
  no_run["steps"] = json::array({no_run["steps"][1]});
  files.push_back(write_hand_in("no-run.json", no_run));
  std::set<std::string> drawn_ever;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ClassReport report = report_on(files, shipped_lessons(), {});
    int runs = 0;
    const auto run = [&](const auto& setup) {
      ++runs;
      EXPECT_EQ(setup.run.backend, Backend::kCpu);
      EXPECT_EQ(setup.run.seed, 17u);
      return told_losses(setup);
    };
    EXPECT_EQ(rerun_hand_ins(report, 2, seed, shipped_lessons(), run).drawn, 2);
    EXPECT_EQ(runs, 2);
    for (const HandIn& hand_in : report.hand_ins) {
      EXPECT_EQ(hand_in.drawn, hand_in.rerun().has_value());
      if (hand_in.drawn) drawn_ever.insert(hand_in.file);
    }
  }
  EXPECT_EQ(drawn_ever.size(), 5u) << "each may be drawn, but for the one without a run";
}

TEST(ClassReport, KnowsAnExamByItsFileAndByItsCode) {
  EXPECT_TRUE(says_exam("Exam-spring-26"));
  EXPECT_TRUE(says_exam(" spring-26-exam "));
  for (const char* code : {"exam 7", "exam_7", "Exam2026", "spring:exam", "exam–7"})
    EXPECT_TRUE(says_exam(code)) << code;
  for (const char* code : {"example-26", "exams", "reexam 7", "Examen", ""})
    EXPECT_FALSE(says_exam(code)) << code;
  EXPECT_EQ(exam_code("spring-26"), "spring-26-exam");
  EXPECT_EQ(exam_code("exam-7"), "exam-7");
  json exam = played("filling-the-bubble",
                     class_seed(exam_code("spring-26"), "N. N.", "filling-the-bubble"));
  exam["exam"] = true;
  const json practice =
      played("filling-the-bubble", class_seed("spring-26", "N. N.", "filling-the-bubble"));
  const auto fault = [](const json& play, const std::string& code) {
    const ClassReport report =
        report_on({write_hand_in("exam.json", play)}, shipped_lessons(), {}, code);
    return report.hand_ins[0].faults.empty() ? "" : report.hand_ins[0].faults[0].id;
  };
  EXPECT_EQ(fault(exam, "spring-26"), "");
  EXPECT_EQ(fault(practice, "spring-26"), "");
  EXPECT_EQ(fault(exam, "spring-26-exam"), "");
  EXPECT_EQ(fault(practice, "spring-26-exam"), "hand-in-no-exam");
  json pretended = practice;
  pretended["exam"] = true;
  EXPECT_EQ(fault(pretended, "spring-26"), "hand-in-practice-numbers");
  EXPECT_EQ(fault(pretended, "Spring-26-Exam"), "hand-in-practice-numbers");
  pretended["seed"] = 5;
  EXPECT_EQ(fault(pretended, "spring-26"), "hand-in-numbers");
  json tried = exam;
  tried["steps"][1]["attempts"] = 2;
  EXPECT_EQ(fault(tried, "spring-26"), "hand-in-exam-attempts");
  tried["exam"] = false;
  EXPECT_EQ(fault(tried, ""), "") << "practice may try again";
  exam["steps"][1]["hints"] = 2;
  EXPECT_EQ(fault(exam, ""), "hand-in-exam-hints");
  const ClassReport report = report_on({write_hand_in("exam.json", exam)}, shipped_lessons(), {});
  EXPECT_EQ(to_json(report)["files"][0]["exam"], true);
  EXPECT_THAT(to_csv(report), HasSubstr(",yes,,"));
}

// With drawn numbers the same mistake gives everybody another number.
TEST(ClassReport, CountsAForeseenMistakeWhateverTheNumbers) {
  std::vector<std::string> files;
  for (const std::uint64_t seed : {1, 2, 3}) {
    json play = played("filling-the-bubble", seed);
    const Lesson lesson = shipped("filling-the-bubble");
    const Step& step = *lesson.find("more-micro-batches");
    const auto at = static_cast<std::size_t>(&step - lesson.steps.data());
    Context context;
    context.drawn = draw(lesson, seed);
    context.settings = *settings_at(lesson, at, context.drawn, true);
    const auto option = std::find_if(step.options.begin(), step.options.end(),
                                     [](const Option& one) { return !one.value.empty(); });
    ASSERT_NE(option, step.options.end());
    play["steps"][at]["number"] = *evaluate(option->value, context.symbols());
    files.push_back(write_hand_in(fmt::format("mistake-{}.json", seed), play));
  }
  const ClassReport report = report_on(files, shipped_lessons(), {});
  std::set<std::string> answers;
  for (const HandIn& hand_in : report.hand_ins)
    for (const HandInStep& step : hand_in.steps)
      if (!step.mistake.empty()) answers.insert(step.answer);
  EXPECT_GT(answers.size(), 1u) << "the numbers differ";
  ASSERT_EQ(report.common.size(), 1u);
  EXPECT_EQ(report.common[0].count, 3);
}

TEST(ClassReport, SaysOfEachBadFileWhatIsWrong) {
  const auto fault = [&](const json& content) {
    const ClassReport report =
        report_on({write_hand_in("bad.json", content)}, shipped_lessons(), {});
    return report.hand_ins[0].faults.empty() ? "" : report.hand_ins[0].faults[0].id;
  };
  json good = played("filling-the-bubble", 3);
  EXPECT_EQ(fault(good), "");
  EXPECT_EQ(fault(json::array()), "hand-in-format");
  json other = good;
  other["lesson"] = "../../etc";
  EXPECT_EQ(fault(other), "hand-in-lesson");
  other = good;
  other["version"] = 99;
  EXPECT_EQ(fault(other), "hand-in-version");
  other = good;
  other["steps"][1]["step"] = "nowhere";
  EXPECT_EQ(fault(other), "hand-in-step");
  other = good;
  other["steps"][1]["attempts"] = "many";  // as if it had not been answered
  EXPECT_EQ(fault(other), "");
  for (const json& steps : {json(), json("all"), json::object()}) {
    other = good;
    other["steps"] = steps;
    EXPECT_EQ(fault(other), "hand-in-steps");
  }
  EXPECT_FALSE(report_on({"/nowhere.json"}, shipped_lessons(), {}).ok());
  other = good;
  other["name"] = "=SUM(A1)";
  const ClassReport report = report_on({write_hand_in("bad.json", other)}, shipped_lessons(), {});
  EXPECT_THAT(to_csv(report), HasSubstr(",'=SUM(A1),")) << "no formula in a spreadsheet";
}

}  // namespace
}  // namespace parallelarium
