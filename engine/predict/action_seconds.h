// SPDX-License-Identifier: Apache-2.0
// What the actions of an Order take in seconds on a Machine: the durations with which an order that
// is being built is drawn and judged.
#pragma once

#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/order/order.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// By stage, the seconds of one micro-batch's forward, whole backward, its input and its weight part
// on the stage's rank, with the collectives inside them; and of the transfer between the stage and
// the next. They are what predict() says of the Setup with one micro-batch that passes the stages
// alone, whole and split. `like` says where the stages lie. Errors: those of predict().
Result<std::vector<Durations>> action_seconds(const Setup& setup, const Machine& machine,
                                              const Order& like);

}  // namespace parallelarium
