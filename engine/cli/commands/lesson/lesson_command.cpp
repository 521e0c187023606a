// SPDX-License-Identifier: Apache-2.0
// `lesson check DIR`: proves a lesson, or every lesson of a course folder. `lesson coverage`: which
// statements of the source notes the lessons teach.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/commands/lesson/lesson_report.h"
#include "engine/cli/commands/lesson/lesson_runs.h"
#include "engine/cli/text/table.h"
#include "engine/lesson/check/check.h"
#include "engine/lesson/teaching/coverage.h"
#include "engine/lesson/teaching/new_lesson.h"
#include "engine/lesson/teaching/playlist.h"
#include "engine/predict/predict.h"
#include "engine/run/gpu/module/module.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

struct LessonCheckOptions {
  std::vector<std::string> folders;
  bool run = false;
  bool json = false;
  int samples = 200;
};

nlohmann::json report_json(const LessonReport& report) {
  nlohmann::json faults = nlohmann::json::array();
  for (const LessonFault& fault : report.faults) {
    nlohmann::json& told = faults.emplace_back(to_json(fault));
    if (!fault.key.empty()) told["key"] = fault.key;
    if (fault.line > 0) told.update({{"file", fault.file}, {"line", fault.line}});
  }
  return {{"id", report.id},
          {"ok", report.ok()},
          {"steps", report.steps},
          {"samples", report.samples},
          {"languages", report.languages},
          {"predictions", report.predictions},
          {"runs", report.runs},
          {"faults", std::move(faults)}};
}

// "filling-the-bubble, fill-it (lesson.json, line 112, "checks.0.value"): …"
std::string fault_text(const std::string& lesson, const LessonFault& fault) {
  std::string place = lesson + (fault.field.empty() ? "" : ", " + fault.field);
  const std::string key = fault.key.empty() ? "" : fmt::format(", \"{}\"", fault.key);
  if (fault.line > 0) place += fmt::format(" ({}, line {}{})", fault.file, fault.line, key);
  return fmt::format("{}: {}", place, fault.text);
}

// `alone`: no course says what lessons before these have introduced.
std::string report_text(const std::vector<LessonReport>& reports, bool with_runs, bool alone) {
  Table table({"lesson", ">steps", ">draws", ">languages", ">predictions", ">runs", "verdict"});
  std::string faults;
  for (const LessonReport& report : reports) {
    table.add({report.id, fmt::format("{}", report.steps), fmt::format("{}", report.samples),
               fmt::format("{}", report.languages), fmt::format("{}", report.predictions),
               fmt::format("{}", report.runs),
               report.ok() ? with_runs ? "proved" : "proved, without runs"
                           : fmt::format("{} fault{}", report.faults.size(),
                                         report.faults.size() == 1 ? "" : "s")});
    for (const LessonFault& fault : report.faults)
      faults += wrapped(fault_text(report.id, fault), 100, 4) + "\n";
  }
  const char* const unchecked =
      "Whether words, settings and views are introduced is checked with a course: lesson check on "
      "the folder of its course.json.";
  return table.text() + (alone ? "\n" + wrapped(unchecked, 100, 0) + "\n" : "") +
         (faults.empty() ? "" : "\n" + faults);
}

Message check_cancelled() { return message("cancelled.check", "The check was cancelled."); }

Outcome with_faults(std::string text, std::size_t faults) {
  Outcome outcome = Outcome::done(std::move(text));
  if (faults == 0) return outcome;
  outcome.status = kFailed;
  outcome.error = message("lesson-faults", "{} fault{} found.", faults, faults == 1 ? "" : "s");
  return outcome;
}

// Why the lesson, or one of the course, cannot even be read.
std::optional<Message> unreadable(const std::string& folder, bool course) {
  const auto fault_of = [](const std::string& lesson) -> std::optional<Message> {
    const Result<Lesson> read = read_lesson(lesson);
    if (read) return std::nullopt;
    Message why = read.error();
    if (why.text.find(lesson) == std::string::npos) why.text = lesson + ": " + why.text;
    return why;
  };
  if (!course) return fault_of(folder);
  const Result<Course> read = read_course(folder);
  if (!read) return read.error();
  // Those that are listed, and those that only lie there.
  namespace fs = std::filesystem;
  std::set<std::string> lessons;
  for (const CourseEntry& entry : read->lessons)
    lessons.insert((fs::path(folder) / entry.id).string());
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (fs::exists(entry.path() / "lesson.json", ignored)) lessons.insert(entry.path().string());
  for (const std::string& lesson : lessons)
    if (auto why = fault_of(lesson)) return why;
  return std::nullopt;
}

// A teacher's list of lessons. Those of one's own are proved; those of the course came proved.
Outcome check_playlist(const std::string& file, const CheckOptions& wishes, bool json) {
  const std::string folder = lessons_folder();
  if (folder.empty()) return Outcome::invalid(lesson_schema().error());
  const Result<Course> course = read_course(folder);
  if (!course) return Outcome::failed(course.error());
  const Result<Playlist> playlist = read_playlist(file, *course);
  if (!playlist) return Outcome::invalid(playlist.error());
  nlohmann::json lessons = nlohmann::json::array(), own = nlohmann::json::array();
  int sum = 0;
  std::size_t faults = 0;
  std::vector<LessonReport> reports;
  for (const PlaylistEntry& entry : playlist->entries) {
    const Result<Lesson> lesson = read_lesson(folder_of(*course, entry.lesson));
    if (!lesson) return Outcome::failed(lesson.error());
    const int minutes = entry.minutes > 0 ? entry.minutes : lesson->minutes;
    lessons.push_back({{"lesson", entry.lesson}, {"minutes", minutes}});
    sum += minutes;
    if (std::any_of(course->lessons.begin(), course->lessons.end(),
                    [&](const CourseEntry& one) { return one.id == entry.lesson; }))
      continue;
    reports.push_back(check_lesson(folder_of(*course, entry.lesson), wishes));
    faults += reports.back().faults.size();
    own.push_back(report_json(reports.back()));
  }
  if (cancelled_by_signal()) return Outcome::failed(check_cancelled());
  const std::string text =
      fmt::format("{}: {} lesson{}, {} minutes.\n", playlist->title, playlist->entries.size(),
                  playlist->entries.size() == 1 ? "" : "s", sum);
  return with_faults(
      json ? json_text({{"ok", faults == 0},
                        {"title", playlist->title},
                        {"lessons", std::move(lessons)},
                        {"own", std::move(own)}})
           : text + (reports.empty() ? std::string()
                                     : "\n" + report_text(reports, bool(wishes.run), true)),
      faults);
}

bool is_course(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(folder) / "course.json", ignored);
}

// Why nothing can be checked there.
std::optional<Message> no_lesson_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored))
    return message("lesson-file", "{} is a file; a playlist is checked alone.", folder);
  if (!fs::is_directory(folder, ignored))
    return message("lesson-folder", "{} is neither a folder nor a playlist.", folder);
  const bool course = is_course(folder);
  if (!course && !fs::exists(fs::path(folder) / "lesson.json", ignored))
    return message("lesson-none", "{} holds neither a lesson.json nor a course.json.", folder);
  return unreadable(folder, course);
}

Outcome check(const LessonCheckOptions& options, Progress& progress) {
  std::error_code ignored;
  const bool playlist = options.folders.size() == 1 &&
                        std::filesystem::is_regular_file(options.folders.front(), ignored);
  if (options.samples < 1 || options.samples > 100'000)
    return Outcome::invalid(
        message("lesson-samples", "--samples must be a number from 1 to 100000."));
  for (const std::string& folder : options.folders)
    if (const auto why = playlist ? std::nullopt : no_lesson_in(folder))
      return Outcome::invalid(*why);
  CheckOptions wishes;
  wishes.computer = computer_here(RunSettings(), kMostLessonRanks);
  wishes.most_samples = static_cast<std::size_t>(options.samples);
  wishes.cancelled = &cancelled_by_signal();
  if (options.run) {
    wishes.run = [&progress](const Setup& setup) {
      progress.report(0.5, "running a step of the lesson");
      return run_for_check(setup, progress);
    };
    wishes.prove = [&progress](const Setup& setup) {
      progress.report(0.5, "proving a step of the lesson on one rank");
      return prove_for_check(setup, progress);
    };
    wishes.run_collective = [&progress](const CollectiveSpec& spec) {
      progress.report(0.5, "running a collective of the lesson");
      return run_collective_for_check(spec, progress);
    };
  }
  if (playlist) return check_playlist(options.folders.front(), wishes, options.json);
  std::vector<LessonReport> reports;
  for (const std::string& folder : options.folders) {
    if (!is_course(folder)) {
      reports.push_back(check_lesson(folder, wishes));
      continue;
    }
    for (LessonReport& report : check_course(folder, wishes)) reports.push_back(std::move(report));
  }
  if (cancelled_by_signal()) return Outcome::failed(check_cancelled());
  const bool alone = std::none_of(options.folders.begin(), options.folders.end(), is_course);
  std::size_t faults = 0;
  nlohmann::json json = nlohmann::json::array();
  for (const LessonReport& report : reports) {
    faults += report.faults.size();
    json.push_back(report_json(report));
  }
  return with_faults(options.json ? json_text({{"ok", faults == 0}, {"lessons", json}})
                                  : report_text(reports, options.run, alone),
                     faults);
}

// Every row with the steps that teach it; of those that none teaches also the words.
Outcome coverage(bool json) {
  const std::string folder = lessons_folder();
  if (folder.empty()) return Outcome::invalid(lesson_schema().error());
  const Result<std::vector<CoverageRow>> rows = coverage_of(folder);
  if (!rows) return Outcome::failed(rows.error());
  nlohmann::json taught = nlohmann::json::object(), missing = nlohmann::json::array();
  Table table({"row", "taught in"});
  std::string untaught;
  std::size_t by_room = 0;
  for (const CoverageRow& row : *rows) {
    if (row.steps.empty()) {
      missing.push_back(row.id);
      untaught += fmt::format("  {}  {}\n", row.id, row.words);
      continue;
    }
    taught[row.id] = row.steps;
    by_room += row.steps.front().rfind("course/", 0) == 0;
    table.add({row.id, fmt::format("{}", fmt::join(row.steps, ", "))});
  }
  if (json)
    return Outcome::done(json_text({{"rows", std::move(taught)}, {"missing", std::move(missing)}}));
  std::string counts = fmt::format(
      "\n{} of {} rows are taught by lessons, {} are answered by the room Learn itself: its map, "
      "its index, its bibliography, its sheet to take away.\n",
      taught.size() - by_room, rows->size(), by_room);
  if (!untaught.empty()) counts += "Missing:\n" + untaught;
  return Outcome::done(table.text() + counts);
}

}  // namespace

void add_lesson(Commands& commands) {
  CLI::App* command = commands.add(
      "lesson", "write and check lessons, see what they teach, mark what a class hands in",
      "  parallelarium-engine lesson check lessons\n"
      "  parallelarium-engine lesson check lessons/naive-and-gpipe --run\n"
      "  parallelarium-engine lesson check monday.txt\n"
      "  parallelarium-engine lesson coverage\n"
      "  parallelarium-engine lesson new lessons/my-lesson\n"
      "  parallelarium-engine lesson report answers/*.json --class spring-26 --csv\n"
      "  parallelarium-engine lesson report answers/*.json --rerun 2\n");
  command->require_subcommand(1);
  CLI::App* verb = command->add_subcommand(
      "check", "prove a lesson or a whole course: the start state fails, the solution passes");
  auto options = std::make_shared<LessonCheckOptions>();
  verb->add_option("folders", options->folders,
                   "folders of lessons, one with a course.json, or a playlist")
      ->option_text("DIR ...")
      ->required();
  CLI::Option* runs = verb->add_flag(
      "--run", options->run, "also run what the lesson runs (rehearsed where cores are few)");
  verb->add_flag_function(
          "--no-runs", [](std::int64_t) {}, "predict alone, as without --run")
      ->excludes(runs);
  verb->add_option("--samples", options->samples, "drawn values tried at most (default: 200)")
      ->option_text("N");
  verb->add_flag("--json", options->json, "print JSON");
  CLI::App* rows = command->add_subcommand(
      "coverage", "tell which statements of the source notes the lessons teach, and in which step");
  rows->add_flag("--json", options->json, "print JSON");
  CLI::App* fresh = command->add_subcommand(
      "new", "write a small lesson to begin from, which is proved as it stands");
  auto new_folder = std::make_shared<std::string>();
  fresh->add_option("folder", *new_folder, "its folder; the name becomes the lesson's id")
      ->option_text("DIR")
      ->required();
  CLI::App* marks = command->add_subcommand(
      "report", "judge what a class exported with \"Export my answers\", whatever the files claim");
  auto class_options = std::make_shared<LessonReportOptions>();
  marks->add_option("files", class_options->files, "the exported answers")
      ->option_text("FILE ...")
      ->required();
  marks
      ->add_option("--course", class_options->course,
                   "the folder that has the lessons; the program has those that are not there")
      ->option_text("DIR");
  marks
      ->add_option("--class", class_options->class_code,
                   "the code of the class: also tell whose numbers are not their own")
      ->option_text("CODE");
  marks
      ->add_option("--rerun", class_options->rerun,
                   "run so many hand-ins again, drawn by chance, on CPU ranks, and compare losses")
      ->option_text("N");
  marks
      ->add_option("--seed", class_options->draw, "draws the hand-ins of --rerun (default: chance)")
      ->option_text("N");
  CLI::Option* csv =
      marks->add_flag("--csv", class_options->csv, "print a line for each step as CSV");
  marks->add_flag("--json", options->json, "print JSON")->excludes(csv);
  commands.set_body(command, [=](Progress& progress) {
    if (fresh->parsed()) {
      const Result<void> written = write_new_lesson(*new_folder);
      if (!written) return Outcome::invalid(written.error());
      return Outcome::done(fmt::format(
          "{} holds lesson.json and text.en.md.\nNext: parallelarium-engine lesson check {}\n"
          "Guide: {}/TEACHING.md\n",
          *new_folder, *new_folder, lessons_folder()));
    }
    if (marks->parsed()) return report_class(*class_options, options->json, progress);
    return rows->parsed() ? coverage(options->json) : check(*options, progress);
  });
}

}  // namespace parallelarium
