// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/coverage.h"

#include <algorithm>

#include "engine/lesson/files.h"
#include "engine/lesson/lesson.h"

namespace parallelarium {

Result<std::map<std::string, RowTexts>> read_rows(const std::string& folder) {
  const Result<std::string> content =
      bounded_file(std::filesystem::path(folder) / "rows.json", kMostLessonBytes);
  if (!content) return content.error();
  const Result<nlohmann::json> object = lesson_json("rows.json", *content);
  if (!object) return object.error();
  try {
    if (object->at("format") == "parallelarium-rows/2") {
      auto rows = object->at("rows").get<std::map<std::string, RowTexts>>();
      const bool complete = std::all_of(rows.begin(), rows.end(), [](const auto& row) {
        return row.second.find("en") != row.second.end();
      });
      if (complete) return rows;
    }
  } catch (const nlohmann::json::exception&) {
    // said below
  }
  return message(
      "rows-form",
      "rows.json needs \"format\", \"parallelarium-rows/2\", and \"rows\" with \"en\" and "
      "its text for each id.");
}

Result<std::vector<CoverageRow>> coverage_of(const std::string& course_folder) {
  const auto words = read_rows(course_folder);
  if (!words) return words.error();
  const Result<Course> course = read_course(course_folder);
  if (!course) return course.error();
  std::map<std::string, CoverageRow> rows;
  for (const auto& [id, text] : *words) rows[id] = {id, text.at("en"), {}};
  for (const CourseEntry& entry : course->lessons) {
    const auto lesson = read_lesson((std::filesystem::path(course_folder) / entry.id).string());
    if (!lesson) return lesson.error();
    for (const auto& [id, step] : lesson->covers) {
      const auto row = rows.find(id);
      if (row == rows.end())
        return message("rows-unknown", "The lesson \"{}\" covers \"{}\", which rows.json lacks.",
                       entry.id, id);
      row->second.steps.push_back(entry.id + "/" + step);
    }
  }
  for (const auto& [id, place] : course->covers) {
    const auto row = rows.find(id);
    if (row == rows.end())
      return message("rows-unknown.course", "course.json covers \"{}\", which rows.json lacks.",
                     id);
    row->second.steps.push_back("course/" + place);
  }
  std::vector<CoverageRow> result;
  for (auto& [id, row] : rows) result.push_back(std::move(row));
  return result;
}

}  // namespace parallelarium
