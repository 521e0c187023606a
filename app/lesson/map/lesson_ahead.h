// SPDX-License-Identifier: GPL-3.0-or-later
// Which lesson of the course a student should begin next.
#pragma once

#include <QDateTime>
#include <cstddef>
#include <optional>
#include <vector>

namespace parallelarium {

struct AheadUnit {
  std::vector<std::size_t> needs;    // indices of the units that it builds on
  std::vector<std::size_t> lessons;  // indices
};

struct AheadLesson {
  bool done = false, known = false;  // known: it can be skipped
  bool playable = true;              // on this computer
  QDateTime seen;                    // when it was done or reviewed last
  bool open() const { return !done && !known && playable; }
};

// Of the unit at hand the first open lesson, behind the finished one if there is one; else of the
// units whose needs are met, those behind the unit at hand first; else any open lesson; none where
// no lesson is open. The unit at hand is the finished lesson's, or that of the latest done lesson
// whose unit still has open ones.
std::optional<std::size_t> lesson_ahead(const std::vector<AheadUnit>& units,
                                        const std::vector<AheadLesson>& lessons,
                                        std::optional<std::size_t> finished);

}  // namespace parallelarium
