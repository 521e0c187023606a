// SPDX-License-Identifier: Apache-2.0
// Where faults are: the line of a key in lesson.json, or of a heading in a text.
#include <filesystem>
#include <sstream>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/files.h"
#include "engine/lesson/teaching/json_place.h"

namespace parallelarium {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() || key.empty() ? path + key : path + "." + key;
}

// The path of a fault's field: of a step, a parameter, or a key of the lesson itself.
std::string path_of(const json& lesson, const std::string& field) {
  const json steps = lesson.value("steps", json::array());
  for (std::size_t at = 0; at < steps.size(); ++at)
    if (steps[at].value("id", "") == field) return fmt::format("steps.{}", at);
  return lesson.value("parameters", json::object()).contains(field) ? "parameters." + field : field;
}

void find_key(LessonFault& fault, const std::string& text, const json& lesson) {
  const std::string path = path_of(lesson, fault.field);
  const JsonLine found = json_line(text, joined(path, fault.key));
  const bool of_field = found.path.starts_with(path) && found.path.size() > path.size();
  fault.key = of_field && !path.empty() ? found.path.substr(path.size() + 1)
              : path.empty()            ? found.path
                                        : std::string();
  fault.line = found.line;
}

// "## step: Title", or "### part" below it; the first line where it has no such heading.
void find_heading(LessonFault& fault, const std::string& text, const std::string& step) {
  std::istringstream lines(text);
  bool in_step = false;
  fault.line = 1;
  int at = 0;
  for (std::string line; std::getline(lines, line);) {
    ++at;
    if (line.starts_with("## ")) {
      in_step = line.starts_with("## " + step + ":");
      if (in_step) fault.line = at;
    }
    const std::string shown = line.substr(0, line.find_last_not_of(" \r") + 1);
    if (in_step && !fault.key.empty() && shown == "### " + fault.key) fault.line = at;
  }
}

}  // namespace

void find_lines(std::vector<LessonFault>& faults, const std::string& folder) {
  const auto content = [&](const std::string& name) {
    const Result<std::string> text = bounded_file(fs::path(folder) / name, kMostLessonBytes);
    return text ? *text : std::string();
  };
  std::string text;
  json lesson;
  for (LessonFault& fault : faults) {
    if (fault.line > 0) continue;
    const std::string name = fault.field.substr(0, fault.field.find(':'));
    if (!language_of(name).empty()) {
      fault.file = name;
      const std::string step = fault.field.substr(std::min(name.size() + 2, fault.field.size()));
      find_heading(fault, content(name), step);
      continue;
    }
    if (text.empty()) {
      text = content("lesson.json");
      lesson = json::parse(text, nullptr, false);
    }
    if (!lesson.is_object()) return;  // what is wrong with the file has its line in the sentence
    fault.file = "lesson.json";
    find_key(fault, text, lesson);
  }
}

}  // namespace parallelarium
