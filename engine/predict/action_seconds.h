// SPDX-License-Identifier: Apache-2.0
// The seconds that the actions of an Order take on a Machine. With these durations an unfinished
// order is drawn and judged.
#pragma once

#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/order/order.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// By stage: the seconds of one micro-batch's forward, of its whole backward, and of the backward's
// input and weight parts on the stage's rank, with the collectives inside them; and the seconds of
// the transfer to the next stage. They equal what predict() gives for the Setup with a single
// micro-batch that passes the stages alone, with the backward whole and split. `like` says which
// rank has which stage. Errors: those of predict().
Result<std::vector<Durations>> action_seconds(const Setup& setup, const Machine& machine,
                                              const Order& like);

}  // namespace parallelarium
