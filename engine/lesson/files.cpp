// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "engine/lesson/lesson.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostFiles = 200;
constexpr int kLevelsToSourceTree = 5;  // build/<preset>/bin is three below it

}  // namespace

std::string language_of(std::string_view file_name) {
  if (file_name.size() < 10 || file_name.size() > 20 || file_name.substr(0, 5) != "text." ||
      file_name.substr(file_name.size() - 3) != ".md")
    return {};
  const std::string language(file_name.substr(5, file_name.size() - 8));
  const bool fine = std::all_of(language.begin(), language.end(),
                                [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
  return fine ? language : std::string();
}

Result<std::string> bounded_file(const fs::path& path, std::size_t most_bytes) {
  std::error_code error;
  // Opening a pipe would wait for whoever writes to it.
  const bool regular = fs::is_regular_file(path, error);
  std::ifstream file;
  if (regular) file.open(path, std::ios::binary);
  if (!file.is_open()) return message("lesson-file", "{} cannot be read.", path.string());
  std::string content(most_bytes + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > most_bytes)
    return message("lesson-file-long", "{} has more than {} bytes.", path.string(), most_bytes);
  return content;
}

Result<std::map<std::string, std::string>> lesson_files(const std::string& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return message("lesson-folder.lesson", "{} is not a folder with a lesson.", folder);
  std::size_t seen = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++seen > kMostFiles)
      return message("lesson-folder-full", "{} has more than {} files.", folder, kMostFiles);
    const std::string name = entry->path().filename().string();
    if (name != "lesson.json" && language_of(name).empty()) continue;
    const Result<void> inside = file_inside(folder, name);
    if (!inside) return inside.error();
    Result<std::string> content = bounded_file(entry->path(), kMostLessonBytes);
    if (!content) return content.error();
    files.emplace(name, std::move(*content));
  }
  if (error)
    return message("lesson-folder.unread", "{} cannot be read: {}.", folder, error.message());
  return files;
}

Result<json> lesson_json(const std::string& name, const std::string& content) {
  if (content.size() > kMostLessonBytes)
    return message("lesson-json-long", "{} has more than {} bytes.", name, kMostLessonBytes);
  Result<json> read = parse_json(content);
  if (!read) return message("lesson-json", "{}: {}", name, read.error());
  return read;
}

Result<void> file_inside(const std::string& folder, const std::string& target) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  const fs::path file = error ? fs::path() : fs::canonical(root / target, error);
  if (error || !fs::is_regular_file(file, error))
    return message("lesson-link", "\"{}\" is not a file of the lesson.", target);
  const auto [end, ignored] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end != root.end() || fs::path(target).is_absolute())
    return message("lesson-outside", "\"{}\" lies outside the lesson's folder.", target);
  if (fs::file_size(file, error) > kMostPictureBytes)
    return message("lesson-file-long.picture", "\"{}\" has more than {} bytes.", target,
                   kMostPictureBytes);
  return {};
}

std::string lessons_folder() {
  std::error_code error;
  const auto holds_lessons = [&](const fs::path& folder) {
    return fs::is_regular_file(folder / "course.json", error) &&
           fs::is_regular_file(folder / "schema.json", error);
  };
  if (const char* chosen = std::getenv("PARALLELARIUM_LESSONS"); chosen && holds_lessons(chosen))
    return chosen;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  const fs::path installed = folder.parent_path() / "share/parallelarium/lessons";
  if (holds_lessons(installed)) return installed.string();
  fs::path above = folder;
  for (int level = 0; level < kLevelsToSourceTree; ++level, above = above.parent_path())
    if (holds_lessons(above / "lessons")) return (above / "lessons").string();
  return {};
}

Result<json> lesson_schema() {
  const std::string folder = lessons_folder();
  if (folder.empty())
    return message(
        "lesson-schema-missing",
        "The lessons are not beside the program; set PARALLELARIUM_LESSONS to the folder "
        "that holds course.json and schema.json.");
  const Result<std::string> content =
      bounded_file(fs::path(folder) / "schema.json", kMostLessonBytes);
  if (!content) return content.error();
  return lesson_json("schema.json", *content);
}

Result<Course> read_course(const std::string& folder) {
  const Result<std::string> content =
      bounded_file(fs::path(folder) / "course.json", kMostLessonBytes);
  if (!content) return content.error();
  const Result<json> object = lesson_json("course.json", *content);
  if (!object) return object.error();
  Course course;
  course.folder = folder;
  try {
    if (object->at("format") != "parallelarium-course/1")
      return message("course-format",
                     "course.json: \"format\" must be \"parallelarium-course/1\".");
    course.titles = object->at("title").get<std::map<std::string, std::string>>();
    for (const json& unit : object->at("units")) {
      CourseUnit read{unit.at("id").get<std::string>(),
                      unit.at("title").get<std::map<std::string, std::string>>(),
                      unit.value("needs", std::vector<std::string>()), course.lessons.size(), 0};
      for (const std::string& need : read.needs)
        if (std::none_of(course.units.begin(), course.units.end(),
                         [&](const CourseUnit& before) { return before.id == need; }))
          return message("course-needs",
                         "course.json: the unit \"{}\" needs \"{}\", which is no unit before it.",
                         read.id, need);
      for (const json& entry : unit.at("lessons"))
        course.lessons.push_back({entry.at("id").get<std::string>(),
                                  entry.at("title").get<std::map<std::string, std::string>>()});
      read.count = course.lessons.size() - read.first;
      course.units.push_back(std::move(read));
    }
    course.basics = object->value("basics", std::vector<std::string>());
    for (const std::string& id : course.basics)
      if (std::none_of(course.lessons.begin(), course.lessons.end(),
                       [&](const CourseEntry& entry) { return entry.id == id; }))
        return message("course-basics",
                       "course.json: \"basics\" names \"{}\", which is no lesson of the course.",
                       id);
    course.covers = object->value("covers", std::map<std::string, std::string>());
    const std::vector<std::string>& places = course_places();
    for (const auto& [row, place] : course.covers)
      if (std::find(places.begin(), places.end(), place) == places.end())
        return message("course-covers",
                       "course.json: \"covers\" says that \"{}\" answers {}; it must be one of {}.",
                       place, row, fmt::format("{}", fmt::join(places, ", ")));
  } catch (const json::exception&) {
    return message(
        "course-form",
        "course.json needs \"format\", \"title\" by language and \"units\" with \"id\", \"title\", "
        "\"needs\" and \"lessons\", each of these with \"id\" and \"title\" by language.");
  }
  return course;
}

const std::vector<std::string>& course_places() {
  static const std::vector<std::string> kPlaces = {"map", "concepts", "bibliography", "take-away"};
  return kPlaces;
}

std::vector<std::size_t> ancestors_of(const Course& course, std::size_t lesson) {
  const auto own =
      std::find_if(course.units.begin(), course.units.end(), [&](const CourseUnit& unit) {
        return lesson >= unit.first && lesson < unit.first + unit.count;
      });
  std::set<std::size_t> found;
  if (own == course.units.end()) return {};
  for (std::size_t before = own->first; before < lesson; ++before) found.insert(before);
  std::vector<std::string> open = own->needs;
  std::set<std::string> seen;
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    for (const CourseUnit& unit : course.units) {
      if (unit.id != id) continue;
      for (std::size_t at = unit.first; at < unit.first + unit.count; ++at) found.insert(at);
      open.insert(open.end(), unit.needs.begin(), unit.needs.end());
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace parallelarium
