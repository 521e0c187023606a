// SPDX-License-Identifier: Apache-2.0
// A copy of a shipped lesson in a folder of its own, to plant faults in.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "engine/lesson/check/check.h"

namespace parallelarium {

inline std::string shipped_lessons() { return PARALLELARIUM_SOURCE_DIR "/lessons"; }

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

class LessonCopy {
 public:
  explicit LessonCopy(const std::string& id = "filling-the-bubble") : id_(id) {
    static int count = 0;
    root_ = std::filesystem::temp_directory_path() /
            ("parallelarium-lesson-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(root_);
    std::filesystem::copy(shipped_lessons() + "/" + id, folder(),
                          std::filesystem::copy_options::recursive);
    object = nlohmann::json::parse(content_of(folder() / "lesson.json"));
    text = content_of(folder() / "text.en.md");
  }
  ~LessonCopy() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  LessonCopy(const LessonCopy&) = delete;
  LessonCopy& operator=(const LessonCopy&) = delete;

  std::filesystem::path root() const { return root_; }
  std::filesystem::path folder() const { return root_ / id_; }
  void write() const {
    std::ofstream(folder() / "lesson.json") << (raw.empty() ? object.dump(2) : raw);
    std::filesystem::remove(folder() / "text.en.md");
    std::ofstream(folder() / text_name) << text;
  }
  void add(const std::string& name, const std::string& content) const {
    std::ofstream(folder() / name) << content;
  }
  nlohmann::json& step(const std::string& step_id) {
    for (nlohmann::json& step : object["steps"])
      if (step["id"] == step_id) return step;
    throw std::runtime_error("no step " + step_id);
  }
  // Replaces the first `before`, which must be there.
  void replace(const std::string& before, const std::string& after) {
    text.replace(text.find(before), before.size(), after);
  }

  nlohmann::json object;
  std::string text;
  std::string raw;                       // in place of object
  std::string text_name = "text.en.md";  // the text's file

 private:
  std::string id_;
  std::filesystem::path root_;
};

// All faults, one a line.
inline std::string told(const LessonReport& report) {
  std::string words;
  for (const Message& fault : report.faults)
    words += "[" + fault.kind + "] " + fault.field + ": " + fault.text + "\n";
  return words;
}

// A fault in a copy, and the rule of `lesson check` that finds it.
struct Planted {
  std::string name, rule;
  std::function<void(LessonCopy&)> plant;
};
inline void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

}  // namespace parallelarium
