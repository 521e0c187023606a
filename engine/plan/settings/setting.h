// SPDX-License-Identifier: Apache-2.0
// A table of settings has one row for each thing that may be set in a subject (a Setup, a Model).
// Files, the command line, lessons, the window, their errors and their help read the rows.
//
// Files use `get` and `set` only. When the command line, the window or a lesson sets a setting, its
// `follow` runs too, in the order of the table: settings that others follow come first.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/settings/setting_values.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

// How a subject holds a setting. Errors of `set` name `key` and leave the subject as it was.
template <class Subject>
struct Value {
  SettingKind kind = SettingKind::kText;
  std::function<nlohmann::json(const Subject&)> get;
  std::function<Result<void>(Subject&, const nlohmann::json&, const std::string& key)> set;
  Range range = {};                     // for numbers
  std::vector<std::string> words = {};  // for choices
};

// How the buttons of a number step: by adding, or, if `first` is above 0, by doubling and halving.
// Below `first` there is only 0.
struct Stride {
  double add = 1, first = 0;
};
inline constexpr Stride kDoubling{0, 1};

inline constexpr std::size_t kMostStages = 10'000;  // the longest list of numbers

// The section of the window that has the setting: first those of the panel, then those of "All
// settings".
enum class Section : std::uint8_t {
  kModel,
  kDevices,
  kParallelism,
  kPipeline,
  kMoreModel,
  kMoreParallelism,
  kExperts,
  kCollectives,
  kRun,
  kNowhere,
};

// The words for a value that people do not read as it is.
struct Caption {
  std::string value;     // "selective"
  std::string text;      // "select."
  std::string tip = {};  // "selective: attention is computed again in the backward"
};

template <class Subject>
struct Setting {
  std::string key;          // its path in a file, and its name in lessons and messages: "mesh.pp"
  std::string option = {};  // "pp"; empty: only files have it
  Value<Subject> value = {};
  // Whether a file must say it. If null, it must always.
  std::function<bool(const Subject&)> written = {};
  // The names that a person may choose from if they are no fixed words, such as presets.
  std::function<std::vector<std::string>(const Subject&)> values = {};
  bool open = false;  // any other name may be set; validate() refuses it
  // Reads the value from a file that a person names instead of a value. Null: no files.
  Result<nlohmann::json> (*from_file)(const std::string& path) = nullptr;
  // Whether the setting means anything. If null, it always does. `needs` says what it lacks if it
  // does not.
  std::function<bool(const Subject&)> applies = {};
  std::string needs = {};  // "needs experts"
  // Brings along what depends on the setting; `before` is the subject before it was set.
  std::function<void(Subject&, const Subject& before)> follow = {};
  Stride stride = {};
  Section section = Section::kNowhere;
  std::string label = {};   // for people: "Pipeline", "GPUs (all, or 0,2)"
  std::string symbol = {};  // what people write for it: "PP"
  std::string unit = {};    // "layers", "seconds"; empty: a count, a word
  std::string help = {};    // one phrase: "pipeline stages"
  std::vector<Caption> captions = {};
};

// What people call a setting, "PP", "Overlap pipeline", and a value of it, "4", "off".
template <class Subject>
Message words_of_setting(const Setting<Subject>& row) {
  if (!row.symbol.empty()) return plain(row.symbol);
  return row.label.empty() ? plain(row.key) : of_settings(row.label);
}
template <class Subject>
Message words_of_value(const Setting<Subject>& row, const std::string& value) {
  if (row.value.kind != SettingKind::kFlag) return plain(value);
  return of_settings(value == "true" ? "on" : "off");
}

template <class Subject>
using SettingTable = std::vector<Setting<Subject>>;

// ---- Rows of plain members: `members` leads from the subject to the value. ----

template <class Subject, class... Members>
decltype(auto) member_of(Subject& subject, Members... members) {
  return (subject.*....*members);
}

// Makers of the values of one subject's members: Of<Setup>::whole({1, 4}, &Setup::zero).
template <class Subject>
struct Of {
  template <class... Members>
  static Value<Subject> whole(Range range, Members... members) {
    Value<Subject> value = plain(
        SettingKind::kWhole,
        [range](const auto& json, const auto& key) { return whole_from(json, key, range); },
        members...);
    value.range = range;
    return value;
  }
  template <class... Members>
  static Value<Subject> number(Range range, Members... members) {
    Value<Subject> value = plain(
        SettingKind::kNumber,
        [range](const auto& json, const auto& key) { return number_from(json, key, range); },
        members...);
    value.range = range;
    return value;
  }
  template <class... Members>
  static Value<Subject> seed(Members... members) {
    return plain(SettingKind::kSeed, seed_from, members...);
  }
  template <class... Members>
  static Value<Subject> flag(Members... members) {
    return plain(SettingKind::kFlag, flag_from, members...);
  }
  template <class... Members>
  static Value<Subject> text(Members... members) {
    return plain(SettingKind::kText, text_from, members...);
  }
  template <class... Members>
  static Value<Subject> texts(Members... members) {
    return plain(SettingKind::kTexts, texts_from, members...);
  }
  template <class... Members>
  static Value<Subject> wholes(Range range, Members... members) {
    return plain(
        SettingKind::kWholes,
        [range](const auto& json, const auto& key) {
          return wholes_from(json, key, range, kMostStages);
        },
        members...);
  }
  // `words` outlive the table.
  template <class Words, class... Members>
  static Value<Subject> choice(const Words& words, Members... members) {
    Value<Subject> value;
    value.kind = SettingKind::kChoice;
    value.words = all_words(words);
    value.get = [=, &words](const Subject& subject) -> nlohmann::json {
      return word_of(words, member_of(subject, members...));
    };
    value.set = [=, &words](Subject& subject, const nlohmann::json& json, const std::string& key) {
      const auto choice = choice_from(json, key, words);
      if (!choice) return Result<void>(choice.error());
      member_of(subject, members...) = *choice;
      return Result<void>();
    };
    return value;
  }

 private:
  template <class Read, class... Members>
  static Value<Subject> plain(SettingKind kind, Read read, Members... members) {
    Value<Subject> value;
    value.kind = kind;
    value.get = [=](const Subject& subject) -> nlohmann::json {
      return member_of(subject, members...);
    };
    value.set = [=](Subject& subject, const nlohmann::json& json, const std::string& key) {
      auto read_value = read(json, key);
      if (!read_value) return Result<void>(read_value.error());
      auto& member = member_of(subject, members...);
      member = static_cast<std::decay_t<decltype(member)>>(std::move(*read_value));
      return Result<void>();
    };
    return value;
  }
};

// For `written`: only if the value differs from that of a `Subject()`.
template <class Subject, class... Members>
std::function<bool(const Subject&)> where_changed(Members... members) {
  return [=](const Subject& subject) {
    const Subject usual;
    return member_of(subject, members...) != member_of(usual, members...);
  };
}

// Makes a row of a part a row of the whole: `layers` of a Model becomes `model.layers` of a Setup.
template <class Whole, class Part>
Setting<Whole> lifted(const Setting<Part>& row, Part Whole::*part, const std::string& prefix) {
  Setting<Whole> whole;
  whole.key = prefix + row.key;
  whole.option = row.option;
  whole.value.kind = row.value.kind;
  whole.value.range = row.value.range;
  whole.value.words = row.value.words;
  whole.value.get = [get = row.value.get, part](const Whole& subject) {
    return get(subject.*part);
  };
  whole.value.set = [set = row.value.set, part](Whole& subject, const nlohmann::json& json,
                                                const std::string& key) {
    return set(subject.*part, json, key);
  };
  const auto lift = [part](auto& into, const auto& from) {
    if (from) into = [from, part](const Whole& subject) { return from(subject.*part); };
  };
  lift(whole.written, row.written);
  lift(whole.applies, row.applies);
  whole.needs = row.needs;
  whole.stride = row.stride;
  whole.section = row.section;
  whole.label = row.label;
  whole.symbol = row.symbol;
  whole.unit = row.unit;
  whole.help = row.help;
  whole.captions = row.captions;
  return whole;
}

// ---- What files do with a table. ----

// Whether `key` is inside the object of another row: model.layers in model.
template <class Subject>
bool is_inside(const SettingTable<Subject>& table, const std::string& key) {
  return std::any_of(table.begin(), table.end(), [&](const Setting<Subject>& row) {
    return key.size() > row.key.size() && key[row.key.size()] == '.' && key.starts_with(row.key);
  });
}

bool is_file(const std::string& path);
// The value at a dotted path, or null. Error: something on the way is no object.
Result<const nlohmann::json*> value_at(const nlohmann::json& json, std::string_view path,
                                       const std::string& prefix);
// Puts a value at a dotted path.
void put_at(nlohmann::json& json, std::string_view path, nlohmann::json value);
// Error: an object has a key that is not among the dotted `paths`. Keys below one of these paths
// are not checked.
Result<void> check_keys(const nlohmann::json& json, const std::vector<std::string>& paths,
                        const std::string& prefix);

// Sets what the file says. `prefix` comes before the keys in sentences: "model.". After an error
// the subject is half read.
template <class Subject>
Result<void> read_settings(Subject& subject, const nlohmann::json& json,
                           const SettingTable<Subject>& table, const std::string& prefix = {}) {
  std::vector<std::string> paths;
  for (const Setting<Subject>& row : table) {
    if (is_inside(table, row.key)) continue;
    const Result<const nlohmann::json*> value = value_at(json, row.key, prefix);
    if (!value) return value.error();
    paths.push_back(row.key);
    if (*value == nullptr) continue;
    if (Result<void> set = row.value.set(subject, **value, prefix + row.key); !set) return set;
  }
  return check_keys(json, paths, prefix);
}

template <class Subject>
nlohmann::json written_settings(const Subject& subject, const SettingTable<Subject>& table) {
  nlohmann::json json = nlohmann::json::object();
  for (const Setting<Subject>& row : table)
    if (!is_inside(table, row.key) && (!row.written || row.written(subject)))
      put_at(json, row.key, row.value.get(subject));
  return json;
}

// ---- What people do with a table. ----

// The row of an option ("pp") or key ("mesh.pp"), or null.
template <class Subject>
const Setting<Subject>* find_setting(const SettingTable<Subject>& table, std::string_view name) {
  for (const Setting<Subject>& row : table)
    if (!row.option.empty() && (row.option == name || row.key == name)) return &row;
  return nullptr;
}

// Sets one setting as a person does. An error leaves the subject as it was.
template <class Subject>
Result<void> turn(Subject& subject, const Setting<Subject>& row, std::string_view text) {
  const Result<nlohmann::json> value = value_of_text(row.value.kind, row.key, text);
  if (!value) return value.error();
  Subject after = subject;
  if (Result<void> set = row.value.set(after, *value, row.key); !set) return set;
  if (const nlohmann::json name = row.value.get(after);
      row.values && !row.open && name.is_string()) {
    const std::vector<std::string> names = row.values(after);
    if (std::find(names.begin(), names.end(), name) == names.end())
      return unknown_choice(row.key, text, names);
  }
  if (row.follow) row.follow(after, subject);
  subject = std::move(after);
  return {};
}

// Sets one setting as it is typed on a command line. There the name of a file may stand for its
// content.
template <class Subject>
Result<void> turn_typed(Subject& subject, const Setting<Subject>& row, const std::string& text) {
  const std::vector<std::string> names =
      row.values ? row.values(subject) : std::vector<std::string>();
  const bool named = std::find(names.begin(), names.end(), text) != names.end();
  if (row.from_file == nullptr || named || !is_file(text)) return turn(subject, row, text);
  const Result<nlohmann::json> value = row.from_file(text);
  if (!value) return value.error();
  return turn(subject, row, value->dump());
}

// Sets the row's value from `from`, and what follows it.
template <class Subject>
Result<void> take(Subject& subject, const Subject& from, const Setting<Subject>& row) {
  const Subject before = subject;
  Result<void> set = row.value.set(subject, row.value.get(from), row.key);
  if (set && row.follow) row.follow(subject, before);
  return set;
}

template <class Subject>
std::string text_of(const Subject& subject, const Setting<Subject>& row) {
  return text_of_value(row.value.get(subject));
}

}  // namespace parallelarium
