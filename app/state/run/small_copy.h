// SPDX-License-Identifier: GPL-3.0-or-later
// Says what a small copy of a Setup leaves out.
#pragma once

#include <QString>

#include "engine/plan/placement/small_copy.h"

namespace parallelarium {

// "DP 3 · TP 2 · PP 2 in place of DP 6 · TP 8 · PP 16": the degrees above 1 where the two meshes
// differ, or empty.
QString reduced_degrees(const Setup& big, const Setup& copy);

}  // namespace parallelarium
