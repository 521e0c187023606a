// SPDX-License-Identifier: GPL-3.0-or-later
// A Setup in few words, as tables and sheets name plans.
#pragma once

#include <QString>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

QString axes_text(const Setup& setup);       // "TP 4, PP 8, DP 2, ZeRO 1, 1F1B"
QString zero_words(const Setup& setup);      // "3", "3/8" in groups of 8
QString schedule_words(const Setup& setup);  // "interleaved, 5"
QString recompute_words(const Setup& setup);
QString order_words(RankOrder order);  // "PP, then DP"

}  // namespace parallelarium
