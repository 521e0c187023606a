// SPDX-License-Identifier: Apache-2.0
// A teacher's list of lessons, in the order in which a class takes them. It is a text file.
//
//   title: Pipelines, Monday     # what stands behind "#" is for people
//   first-look 6                 # a lesson's id, and how many minutes it gets
//   naive-and-gpipe              # as many as the lesson says
//   "my lessons/two-halves" 10   # a lesson of one's own: its folder, from where the list lies
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lesson.h"

namespace parallelarium {

struct PlaylistEntry {
  std::string lesson;  // its id in the course, or the whole path of the folder of another one
  int minutes = 0;     // 0: those of the lesson
};

struct Playlist {
  std::string title;  // the file's name if the file has no title
  std::vector<PlaylistEntry> entries;
};

// The folder of an entry's lesson.
std::string folder_of(const Course& course, const std::string& lesson);

// Error: one sentence with the file and the line. An entry is no lesson, is there twice or has no
// number for its minutes; a lesson of one's own cannot be read or has the id of one of the course;
// or there are no lessons.
Result<Playlist> playlist_from_text(std::string_view text, const std::string& file,
                                    const Course& course);
// The same from a file, which must not be large.
Result<Playlist> read_playlist(const std::string& file, const Course& course);

}  // namespace parallelarium
