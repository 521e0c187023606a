// SPDX-License-Identifier: Apache-2.0
// Reads one JSON object of settings strictly: wrong types, numbers out of range and unknown keys
// are errors that name the dotted key.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

class SettingsReader {
 public:
  // `prefix` stands before every key in sentences: "", "mesh.", "model.experts.".
  SettingsReader(const nlohmann::json& object, std::string prefix);

  // Absent keys leave `into` as it is. Whole numbers may be written 5, 5.0 or 5e0.
  void whole(const char* key, int& into, std::int64_t low, std::int64_t high);
  void whole(const char* key, std::int64_t& into, std::int64_t low, std::int64_t high);
  void seed(const char* key, std::uint64_t& into);
  void number(const char* key, double& into, double low, double high);
  void flag(const char* key, bool& into);
  void text(const char* key, std::string& into);
  void wholes(const char* key, std::vector<int>& into, std::int64_t low, std::int64_t high,
              std::size_t most);
  void texts(const char* key, std::vector<std::string>& into);

  // One of some words.
  template <class Choice, class Words>
  void choice(const char* key, Choice& into, const Words& words) {
    std::string word;
    text(key, word);
    if (word.empty() && !has(key)) return;
    std::vector<std::string> names;
    for (const auto& [value, name] : words) {
      if (name == word) {
        into = value;
        return;
      }
      names.emplace_back(name);
    }
    fail_choice(key, word, names);
  }

  // The value of a key, or null; the key counts as known.
  const nlohmann::json* child(const char* key);
  bool has(const char* key) const;
  std::string dotted(std::string_view key) const { return prefix_ + std::string(key); }

  void fail(Message error);
  // The first error, unknown keys last.
  Result<void> finish();

 private:
  std::optional<std::int64_t> find_whole(const char* key, std::int64_t low, std::int64_t high);
  void fail_type(const char* key, const Message& expected);
  void fail_choice(const char* key, const std::string& word, const std::vector<std::string>& names);

  const nlohmann::json& object_;
  std::string prefix_;
  std::vector<std::string> known_;
  std::optional<Message> error_;
};

// "out-of-range": `field` must be between low and high.
Message out_of_range(const std::string& field, double value, double low, double high);

// Text to JSON; nesting deeper than 100 is refused. Errors say where the text breaks.
Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace parallelarium
