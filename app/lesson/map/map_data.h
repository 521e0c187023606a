// SPDX-License-Identifier: GPL-3.0-or-later
// The course as the map shows it: units, lessons, and how far the student is.
#pragma once

#include <QDateTime>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "app/lesson/player/lesson_player.h"

namespace parallelarium {

struct MapStep {
  QString title;
  StepKind kind = StepKind::kRead;
};

struct MapLesson {
  QString id, folder, title, summary;
  QString refusal;  // why it cannot be played here; empty: it can
  int minutes = 0;
  bool done = false;
  bool mastered = false;
  bool known = false;       // it can be skipped
  bool begun = false;       // there is something to go on with
  bool due = false;         // a question of it should be asked again
  QDateTime seen;           // when it was done or reviewed last
  std::size_t reached = 0;  // steps that were entered; 0: it was never begun
  std::vector<MapStep> steps;
  QStringList afterwards;  // what a student can do then
  QStringList tabs;        // titles of the views that it shows
  QStringList words;       // of the glossary that it teaches, as texts write them
  // The statements of the course's sources that it covers: ids, texts in the window's language and
  // in English.
  QStringList rows;
  int ranks = 1;
  int minutes_left() const;
};

struct MapUnit {
  QString title;
  QStringList after;                 // titles of the units that it builds on
  std::vector<std::size_t> needs;    // indices of these
  std::vector<std::size_t> lessons;  // indices
};

// What a teacher has put in order.
struct MapPlaylist {
  QString title;
  std::vector<std::size_t> lessons;  // indices, in its order
  std::vector<int> minutes;          // of each
};

struct MapData {
  QString title, error;  // of the course; why there is none
  std::vector<MapUnit> units;
  std::vector<MapLesson> lessons;
  std::optional<MapPlaylist> playlist;
  QStringList basics;  // folders of the lessons that those are asked about who know the basics
  // The lesson to go on with: the first of the playlist that is not done, else the first that was
  // begun and can be played, else one that is being played again, else the one ahead, else the
  // first that is not done; none where all are done.
  std::optional<std::size_t> next() const;
  // The same behind a lesson that was just finished: the one ahead of it first.
  std::optional<std::size_t> next_after(const QString& folder) const;
  // As lesson_ahead().
  std::optional<std::size_t> ahead(std::optional<std::size_t> finished) const;
  std::size_t done() const;
  std::size_t mastered() const;
  int minutes_left() const;
  bool matches(std::size_t lesson, const QString& words) const;  // all of the words, anywhere in it
  std::vector<std::size_t> due() const;                          // that can be played here
  const MapUnit& unit_of(std::size_t lesson) const;
  // Titles of the lesson before and behind it in its unit, or of the units before and behind that
  // where it is the first or the last; "✓ " stands before what is done.
  QStringList builds_on(std::size_t lesson) const;
  QStringList leads_to(std::size_t lesson) const;
};

MapData read_map(const LessonPlayer& player);

// "a figure", "a run": what a step asks; empty for reading.
QString kind_words(StepKind kind);

}  // namespace parallelarium
