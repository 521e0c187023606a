// SPDX-License-Identifier: Apache-2.0
// What of a Program of fewer micro-batches comes again in the one of the whole step.
#pragma once

#include <optional>

#include "engine/plan/program/repeats.h"
#include "engine/predict/repeats/order_repeats.h"

namespace parallelarium {

// None: it cannot be shown that the whole step is the Program with something repeated.
//
// The Program must have representatives only. The timeline must come from simulate() with lanes
// that share nothing, so that an op begins when the latest op that it waits for has ended. On each
// rank a stretch of ops is found that reaches from before the cut to behind it. In it every op is
// like the one a body before it: what it is, which ops it waits for, which buffers it touches,
// where they lie, and its span but for the period. The cut is that of the Order; on some ranks it
// is another place of the stretch, where one more body makes the same ops. The body that is put in
// at the cut has the same ops again, since what decides about the next ops and their places is as
// it was a body before. These ops take the same time: all that an op waits for across the cut is in
// the stretch, or ended before something in the stretch that it waits for too.
std::optional<Repeats> program_repeats(const OrderRepeats& order, const Program& program,
                                       const Timeline& timeline);

}  // namespace parallelarium
