// SPDX-License-Identifier: Apache-2.0
// `lesson report FILES`: judges what a class handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/commands/command.h"

namespace parallelarium {

struct LessonReportOptions {
  std::vector<std::string> files;
  std::string course, class_code;
  int rerun = 0;
  std::optional<std::uint64_t> draw;  // of the hand-ins that are run again
  bool csv = false;
};

Outcome report_class(const LessonReportOptions& options, bool json, Progress& progress);

}  // namespace parallelarium
