// SPDX-License-Identifier: Apache-2.0
// Reads the files of a lesson and nothing outside its folder. Their number and size are bounded.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/plan/result.h"

namespace parallelarium {

inline constexpr std::size_t kMostLessonBytes = 256 * 1024;
inline constexpr std::size_t kMostPictureBytes = 1024 * 1024;

// "en" of "text.en.md", "pt-br" of "text.pt-br.md"; empty for any other name.
std::string language_of(std::string_view file_name);

// lesson.json and all text.*.md of the folder, by name.
Result<std::map<std::string, std::string>> lesson_files(const std::string& folder);

// A file of at most `most_bytes`. Error: one sentence with the path.
Result<std::string> bounded_file(const std::filesystem::path& path, std::size_t most_bytes);

// Parses JSON of bounded depth. Errors name `name` and the place.
Result<nlohmann::json> lesson_json(const std::string& name, const std::string& content);

// Success if `target`, as written in a lesson, is a file of at most kMostPictureBytes inside
// `folder`. Links are followed.
Result<void> file_inside(const std::string& folder, const std::string& target);

}  // namespace parallelarium
