// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/playlist.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iomanip>
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

bool is_of(const Course& course, const std::string& id) {
  return std::any_of(course.lessons.begin(), course.lessons.end(),
                     [&](const CourseEntry& lesson) { return lesson.id == id; });
}

// The whole path of a lesson of one's own, which a list in `beside` names by its folder.
Result<std::string> own_lesson(const std::string& named, const std::filesystem::path& beside,
                               const std::string& place, const Course& course) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::absolute(beside / named, ignored);
  if (!fs::exists(folder / "lesson.json", ignored)) {
    std::vector<std::string> ids;
    for (const CourseEntry& lesson : course.lessons) ids.push_back(lesson.id);
    const std::string near = nearest(named, ids);
    return near.empty()
               ? message("playlist-lesson",
                         "{}: \"{}\" is no lesson of the course, and no folder with a lesson.json.",
                         place, named)
               : message("playlist-lesson.near",
                         "{}: \"{}\" is no lesson of the course; \"{}\" is one.", place, named,
                         near);
  }
  const Result<Lesson> lesson = read_lesson(folder.string());
  if (!lesson) return lesson.error();
  if (fs::path(lesson->folder).filename() != lesson->id)
    return message("playlist-own-folder",
                   "{}: the lesson in \"{}\" has the id \"{}\"; its folder must have that name.",
                   place, named, lesson->id);
  if (is_of(course, lesson->id))
    return message("playlist-own-id",
                   "{}: the lesson in \"{}\" has the id \"{}\", as one of the course has; give it "
                   "and its folder another one.",
                   place, named, lesson->id);
  return lesson->folder;
}

// Of "first-look 6".
Result<PlaylistEntry> entry_of(const std::string& line, const std::filesystem::path& beside,
                               const std::string& place, const Course& course) {
  PlaylistEntry entry;
  std::istringstream words(line);
  std::string named, minutes, more;
  words >> std::quoted(named) >> minutes >> more;
  entry.lesson = named;
  if (!is_of(course, named)) {
    Result<std::string> own = own_lesson(named, beside, place, course);
    if (!own) return own.error();
    entry.lesson = std::move(*own);
  }
  if (minutes.empty()) return entry;
  const char* end = minutes.data() + minutes.size();
  const auto [read, error] = std::from_chars(minutes.data(), end, entry.minutes);
  if (!more.empty() || error != std::errc() || read != end || entry.minutes < 1 ||
      entry.minutes > kMostPlaylistMinutes)
    return message("playlist-minutes",
                   "{}: behind \"{}\" stands \"{}\"; there may be minutes from 1 to {}.", place,
                   named, more.empty() ? minutes : minutes + " " + more, kMostPlaylistMinutes);
  return entry;
}

}  // namespace

std::string folder_of(const Course& course, const std::string& lesson) {
  return (std::filesystem::path(course.folder) / lesson).string();
}

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
    Result<PlaylistEntry> entry =
        entry_of(line, std::filesystem::path(file).parent_path(), place, course);
    if (!entry) return entry.error();
    // Progress is kept by the id, which is the name of the folder of one's own lesson.
    if (!seen.insert(std::filesystem::path(entry->lesson).filename().string()).second)
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
