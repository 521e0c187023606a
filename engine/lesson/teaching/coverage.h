// SPDX-License-Identifier: Apache-2.0
// Finds which statements of the course's source notes the lessons teach, and where.
// lessons/rows.json lists the statements, in the project's own words; each lesson.json says with
// "covers" which of them it teaches in which step. A step may teach a statement by showing what is
// wrong with it. No step teaches statements that are a map, a summary or a list of sources. For
// these, course.json says with "covers" which part of the room Learn answers them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// A statement in each language of the course. English is always there.
using RowTexts = std::map<std::string, std::string>;

// Statements by id, such as "S3-28", of the rows.json in `folder`. Error: one sentence.
Result<std::map<std::string, RowTexts>> read_rows(const std::string& folder);

struct CoverageRow {
  std::string id, words;  // `words` are in English
  // "lesson/step" in the order of the course, then "course/<place>" of course_places(). Empty:
  // nothing covers the statement.
  std::vector<std::string> steps;
};

// All rows of rows.json, by id, with the steps of the lessons that the course lists. Error: a file
// cannot be read, or a lesson covers a row that is not listed.
Result<std::vector<CoverageRow>> coverage_of(const std::string& course_folder);

}  // namespace parallelarium
