// SPDX-License-Identifier: GPL-3.0-or-later
// Finds ops of a timeline by what they are called.
#pragma once

#include <QString>
#include <vector>

#include "app/views/timeline/picture/lanes.h"

namespace parallelarium {

// The first op of every bar that is called so, by begin, then rank: as in an order ("F3", "B2.1"),
// on the bar ("backward 2", "all-reduce DP"), or in its sentence ("stage 1", "micro-batch 3 on
// stage 0"). Whole words, whatever their case; nothing where `name` is blank.
std::vector<OpRef> find_ops(const LaneRows& rows, const QString& name);

}  // namespace parallelarium
