// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in place of differences where other work kept a rehearsal from its durations.
#pragma once

#include <QString>
#include <optional>

#include "engine/plan/program/report.h"

namespace parallelarium {

// Why the ops of a rehearsal did not even last as long as was set, or none; and the word for it.
std::optional<Message> lateness_of(const Observation& run);
QString late_text();

}  // namespace parallelarium
