// SPDX-License-Identifier: Apache-2.0
// A Timeline as a table: one row per op, comma-separated (RFC 4180), C locale.
#pragma once

#include <string>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// Columns: rank stage lane op kind phase piece layer microbatch chunk purpose peer bytes
// begin_seconds end_seconds source. `op` is the index in the rank's issue order; a field that an op
// does not have is empty. Times count from the first op of the step, exact to the nanosecond.
// timeline.ranks must match program.ranks op by op.
std::string to_csv(const Program& program, const Timeline& timeline);

// A text as a field of such a table, in quotes if it needs them.
std::string csv_field(const std::string& text);

}  // namespace parallelarium
