// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/playlist.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

#include "engine/lesson/files.h"
#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostPlaylistBytes = 64 * 1024;
constexpr int kMostPlaylistMinutes = 600;
constexpr std::string_view kTitle = "title:";

std::string trimmed_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = line.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(line.substr(first, line.find_last_not_of(kSpace) - first + 1));
}

// Of "first-look 6".
Result<PlaylistEntry> entry_of(const std::string& line, const std::string& place,
                               const Course& course) {
  PlaylistEntry entry;
  std::istringstream words(line);
  std::string minutes, more;
  words >> entry.lesson >> minutes >> more;
  const bool known =
      std::any_of(course.lessons.begin(), course.lessons.end(),
                  [&](const CourseEntry& lesson) { return lesson.id == entry.lesson; });
  if (!known) {
    std::vector<std::string> ids;
    for (const CourseEntry& lesson : course.lessons) ids.push_back(lesson.id);
    const std::string near = nearest(entry.lesson, ids);
    return near.empty() ? message("playlist-lesson", "{}: \"{}\" is no lesson of the course.",
                                  place, entry.lesson)
                        : message("playlist-lesson.near",
                                  "{}: \"{}\" is no lesson of the course; \"{}\" is one.", place,
                                  entry.lesson, near);
  }
  if (minutes.empty()) return entry;
  const char* end = minutes.data() + minutes.size();
  const auto [read, error] = std::from_chars(minutes.data(), end, entry.minutes);
  if (!more.empty() || error != std::errc() || read != end || entry.minutes < 1 ||
      entry.minutes > kMostPlaylistMinutes)
    return message(
        "playlist-minutes", "{}: behind \"{}\" stands \"{}\"; there may be minutes from 1 to {}.",
        place, entry.lesson, more.empty() ? minutes : minutes + " " + more, kMostPlaylistMinutes);
  return entry;
}

}  // namespace

Result<Playlist> playlist_from_text(std::string_view text, const std::string& file,
                                    const Course& course) {
  Playlist playlist;
  std::set<std::string> seen;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as some editors begin a file
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trimmed_line(line);
    if (line.empty()) continue;
    const std::string place = fmt::format("{}, line {}", file, number);
    if (line.starts_with(kTitle)) {
      playlist.title = trimmed_line(std::string_view(line).substr(kTitle.size()));
      continue;
    }
    Result<PlaylistEntry> entry = entry_of(line, place, course);
    if (!entry) return entry.error();
    if (!seen.insert(entry->lesson).second)
      return message("playlist-twice", "{}: \"{}\" stands there twice.", place, entry->lesson);
    playlist.entries.push_back(std::move(*entry));
  }
  if (playlist.entries.empty())
    return message("playlist-empty",
                   "{} names no lesson; a playlist has the id of one in each line.", file);
  if (playlist.title.empty()) playlist.title = std::filesystem::path(file).stem().string();
  return playlist;
}

Result<Playlist> read_playlist(const std::string& file, const Course& course) {
  const Result<std::string> text = bounded_file(file, kMostPlaylistBytes);
  if (!text) return text.error();
  return playlist_from_text(*text, file, course);
}

}  // namespace parallelarium
