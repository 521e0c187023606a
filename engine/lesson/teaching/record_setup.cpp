// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/record_setup.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/lesson/files.h"
#include "engine/lesson/teaching/json_place.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kCollectiveKey = "collective.";

// "gpus" and "global_batch" say what other rows come to.
bool follows_from_others(const SetupSetting& row) {
  static const SettingTable<Setup> rows = filling_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const SetupSetting& other) { return other.key == row.key; });
}

// Every setting that a lesson can have, as text, by key; without how ranks run.
std::vector<std::pair<std::string, std::string>> recorded_texts(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const SetupSetting& row : setup_settings())
    if (!row.key.starts_with("run.") && !follows_from_others(row))
      texts.emplace_back(row.key, text_of(settings.setup, row));
  const json collective = to_json(settings.collective);
  for (const auto& member : collective.items())
    if (!member.value().is_structured())
      texts.emplace_back(kCollectiveKey + member.key(), member.value().is_string()
                                                            ? member.value().get<std::string>()
                                                            : member.value().dump());
  return texts;
}

// As people write it in a lesson: numbers and truth values without quotes.
ordered_json written_value(const std::string& text) {
  const ordered_json value = ordered_json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : ordered_json(text);
}

// { "pp": 4, "schedule": "gpipe" }
std::string one_line(const ordered_json& object) {
  std::string line;
  for (const auto& member : object.items())
    line += (line.empty() ? "{ " : ", ") + json(member.key()).dump() + ": " + member.value().dump();
  return line.empty() ? "{}" : line + " }";
}

ordered_json member_of(const ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? ordered_json::object() : *found;
}

Result<void> replace_file(const fs::path& path, const std::string& text) {
  const fs::path beside = path.string() + ".new";
  std::ofstream file(beside, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) fs::rename(beside, path, error);
  if (file && !error) return {};
  fs::remove(beside, error);
  return message("lesson-unwritten", "{} cannot be written.", path.string());
}

class Recorder {
 public:
  Recorder(const Lesson& lesson, std::size_t step, RecordAs as, const Symbols& drawn)
      : lesson_(lesson), step_(lesson.steps[step]), index_(step), as_(as), drawn_(drawn) {}

  Result<std::vector<std::string>> record(const Settings& now) {
    const fs::path path = fs::path(lesson_.folder) / "lesson.json";
    Result<std::string> text = bounded_file(path, kMostLessonBytes);
    if (!text) return text.error();
    const ordered_json object = ordered_json::parse(*text, nullptr, false);
    const auto steps = json_member(*text, json_root(*text), "steps");
    const auto place = steps ? json_element(*text, *steps, index_) : std::nullopt;
    const bool same = place && object.is_object() && object["steps"][index_]["id"] == step_.id;
    if (!same)
      return message("record-changed",
                     "{} has changed since it was read: wait until it is read again.",
                     path.string());
    const Result<void> done =
        step_.builds_order() ? order(*text, *place, now) : fields(*text, *place, object, now);
    if (!done) return done.error();
    if (keys_.empty()) return keys_;
    if (const Result<void> sound = check(*text, now); !sound) return sound.error();
    if (const Result<void> written = replace_file(path, *text); !written) return written.error();
    return keys_;
  }

 private:
  Result<void> order(std::string& text, JsonPlace step, const Settings& now) {
    const Order* order = now.setup.schedule.order();
    if (order == nullptr)
      return message("record-no-order", "There is no order of your own to record: build one.");
    const char* key = as_ == RecordAs::kStart ? "start" : "solution";
    const std::vector<std::string> lines = to_unfinished_lines(*order);
    if (lines == (as_ == RecordAs::kStart ? step_.order.start : step_.order.solution)) return {};
    if (as_ == RecordAs::kSolution && !check_order(*order).empty())
      return message("record-order", "This order cannot be a solution: {}",
                     check_order(*order).front());
    const auto place = json_member(text, step, "order");
    if (!place)
      return message("record-no-order", "There is no order of your own to record: build one.");
    std::string json_lines;
    for (const std::string& line : lines)
      json_lines += (json_lines.empty() ? "[" : ", ") + json(line).dump();
    set_json_member(text, *place, key, json_lines + "]");
    keys_.push_back(std::string("order.") + key);
    return {};
  }

  Result<void> fields(std::string& text, JsonPlace step, const ordered_json& object,
                      const Settings& now) {
    const bool first = as_ == RecordAs::kStart && index_ == 0 && step_.setup.empty();
    const char* key = as_ == RecordAs::kSolution ? "solution" : first ? "start" : "setup";
    Result<Settings> had = settings_at(lesson_, index_, drawn_);
    if (!had) return had.error();
    const Settings begun = *had;
    if (as_ == RecordAs::kSolution) had = with_fields(*had, step_.solution, drawn_);
    if (!had) return had.error();
    const ordered_json before = first ? object : object["steps"][index_];
    ordered_json values = member_of(before, key);
    const auto was = recorded_texts(*had), is = recorded_texts(now),
               at_begin = recorded_texts(begun);
    for (std::size_t row = 0; row < is.size(); ++row) {
      const auto& [name, value] = is[row];
      if (value == was[row].second) continue;
      // Rows of its own say what was changed of a model; check() finds what none does.
      if (value.empty() || value.find_first_of("{\n") != std::string::npos) continue;
      const bool solves = as_ == RecordAs::kSolution;
      if (solves && value == at_begin[row].second) {
        values.erase(name);
      } else {
        const auto& allow = step_.allow;
        if (solves && std::find(allow.begin(), allow.end(), name) == allow.end())
          return message(
              "record-allow",
              "\"{}\" was changed, too, and \"allow\" of this step does not name it: name "
              "it there, or set it back.",
              name);
        values[name] = written_value(value);
      }
      keys_.push_back(std::string(key) + "." + name);
    }
    if (keys_.empty()) return {};
    set_json_member(text, first ? json_root(text) : step, key, one_line(values));
    return {};
  }

  // Nothing is written that could not be read, or that says less than what is set.
  Result<void> check(const std::string& text, const Settings& now) const {
    Result<std::map<std::string, std::string>> files = lesson_files(lesson_.folder);
    if (!files) return files.error();
    (*files)["lesson.json"] = text;
    const Result<json> schema = lesson_schema();
    if (!schema) return schema.error();
    const Result<Lesson> read = lesson_from_files(*files, *schema);
    if (!read) return read.error();
    if (step_.builds_order()) return {};
    Result<Settings> says = settings_at(*read, index_, drawn_);
    if (says && as_ == RecordAs::kSolution)
      says = with_fields(*says, read->steps[index_].solution, drawn_);
    if (!says) return says.error();
    const auto said = recorded_texts(*says), is = recorded_texts(now);
    for (std::size_t row = 0; row < is.size(); ++row)
      if (said[row] != is[row])
        return message("record-value",
                       "\"{}\" has a value that a lesson cannot hold: choose one of the list.",
                       is[row].first);
    return {};
  }

  const Lesson& lesson_;
  const Step& step_;
  const std::size_t index_;
  const RecordAs as_;
  const Symbols& drawn_;
  std::vector<std::string> keys_;
};

}  // namespace

bool came_with_program(const Lesson& lesson) {
  std::error_code error;
  const std::string shipped = lessons_folder();
  if (shipped.empty()) return false;
  if (const char* own = std::getenv("PARALLELARIUM_LESSONS");
      own && fs::equivalent(own, shipped, error))
    return false;
  return fs::equivalent(fs::path(lesson.folder).parent_path(), shipped, error);
}

Result<std::vector<std::string>> record_setup(const Lesson& lesson, std::size_t step, RecordAs as,
                                              const Symbols& drawn, const Settings& now) {
  if (came_with_program(lesson))
    return message("record-shipped",
                   "\"{}\" came with the program and is not changed: copy its folder, and open the "
                   "copy with Lessons > Open a lesson of a folder.",
                   lesson.id);
  const Step& of = lesson.steps[step];
  if (as == RecordAs::kSolution && of.kind != StepKind::kGoal && !of.builds_order())
    return message("record-no-solution",
                   "Goals and orders have a solution; the step \"{}\" is neither.", of.id);
  return Recorder(lesson, step, as, drawn).record(now);
}

}  // namespace parallelarium
