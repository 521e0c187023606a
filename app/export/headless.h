// SPDX-License-Identifier: GPL-3.0-or-later
// What the program does without anybody in front of it: export a picture, or show the whole window
// as a picture.
#pragma once

#include <QSize>
#include <QString>
#include <optional>
#include <vector>

#include "app/export/export.h"
#include "app/state/collective/collective_session.h"
#include "app/state/session.h"

namespace parallelarium {

// The command line of `parallelarium`.
struct CommandLine {
  QString file;        // document, setup or picture to open
  QString export_to;   // --export
  QString screenshot;  // --screenshot
  QString handout;     // --handout: a lesson, by id or folder
  QString playlist;    // --playlist: a teacher's list of lessons
  QString progress;    // --progress: the folder for what is done
  bool answers = false;
  std::uint64_t numbers = 1;  // the seed of its numbers
  bool run = false, verify = false;
  std::optional<bool> dark;
  double scale = 1;
  QSize size;
  QString part;  // of `view`, as in resources/views.json; empty: as it is at first
  const ViewInfo* view = nullptr;  // none: as the document was saved, else first_view()
  std::vector<std::pair<std::string, std::string>> fields;  // one option per Setup field
  // The Collectives view's options: "collective", "algorithm", "ranks", "bytes", "root", "dtype",
  // "op", "topology", "latency", "bandwidth".
  std::vector<std::pair<std::string, std::string>> collective;
  std::optional<ChunkContent> content;  // what its chunks show
  std::optional<double> at;             // share of the step or collective where the playhead stands
  bool headless() const { return !export_to.isEmpty() || !screenshot.isEmpty(); }
};

// The choice that the collective options make of `choice`. Error: a sentence that names the option.
Result<CollectiveChoice> chosen_collective(CollectiveChoice choice, const CommandLine& line);
// Opens `file` and sets the fields and the collective. The answer is the view to show, or null.
Result<const ViewInfo*> prepare_session(Session& session, const CommandLine& line);
// Error: what is wrong with the playlist, or that the folder of the progress cannot be written.
Result<void> check_teaching_options(const CommandLine& line);
// Runs the setup and returns when the run has ended. The event loop runs meanwhile.
Result<void> run_and_wait(Session& session, const ViewInfo* view, bool verify);
// --export. Exit status: 0 done, 1 the run or the file failed, 2 the request was not valid.
int export_headless(const CommandLine& line);
// --handout LESSON --export FILE. Exit status as of an export.
int export_handout(const CommandLine& line);
// --screenshot: the window with its lesson, offscreen or on a display.
int take_screenshot(const CommandLine& line);

}  // namespace parallelarium
