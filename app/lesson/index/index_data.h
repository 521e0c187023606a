// SPDX-License-Identifier: GPL-3.0-or-later
// What the index of the course says: where each concept is introduced, and who cites each source.
// All of it is found in the texts of the lessons, so that it cannot differ from them.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "app/lesson/index/bibliography.h"

namespace parallelarium {

struct IndexPlace {
  QString lesson;       // id
  QString title, step;  // of the lesson and of the step; the latter may be empty
};

struct IndexConcept {
  QString id, word, meaning;
  // The steps that introduce it. The lesson that teaches it comes first, then others that explain
  // it.
  std::vector<IndexPlace> places;
};

struct IndexSource {
  CitedSource source;
  std::vector<IndexPlace> lessons;  // without steps
  QStringList words;                // of the glossary, whose definitions cite it
  int cases = 0;                    // tables of published runs
};

struct CourseIndex {
  QString error;  // why there is no course; then the rest is empty
  std::vector<IndexConcept> concepts;
  std::vector<IndexSource> sources;
};

// Reads all lessons, in the window's language.
CourseIndex read_course_index();

}  // namespace parallelarium
