// SPDX-License-Identifier: Apache-2.0
// A teacher's list of lessons, in the order in which a class takes them. It is a text file.
//
//   title: Pipelines, Monday     # what stands behind "#" is for people
//   first-look 6                 # a lesson's id, and how many minutes it gets
//   naive-and-gpipe              # as many as the lesson says
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lesson.h"

namespace parallelarium {

struct PlaylistEntry {
  std::string lesson;
  int minutes = 0;  // 0: those of the lesson
};

struct Playlist {
  std::string title;  // the file's name if the file has no title
  std::vector<PlaylistEntry> entries;
};

// Error: one sentence with the file and the line. An entry is no lesson of the course, is there
// twice or has no number for its minutes; or there are no lessons.
Result<Playlist> playlist_from_text(std::string_view text, const std::string& file,
                                    const Course& course);
// The same from a file, which must not be large.
Result<Playlist> read_playlist(const std::string& file, const Course& course);

}  // namespace parallelarium
