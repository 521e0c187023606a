// SPDX-License-Identifier: Apache-2.0
// What the window predicts: the Setup on its Machine and, where ranks of this computer would be
// paced, in paced time, so that prediction and run share one time axis.
#pragma once

#include <optional>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// How ranks of the resolved `setup` would run on `machine`, as its backend says. kPredicted where
// the machine is not this computer, since nothing can run on it from here.
Source expected_source(const Setup& setup, const Machine& machine);

// predict(), dilated by the pace where expected_source() is paced. Pure; safe on any thread. Where
// the cores of `machine` cannot keep that pace, `too_fast` receives why, with the least pace.
Result<Prediction> predict_as_shown(const Setup& setup, const Machine& machine,
                                    bool all_ranks = false,
                                    std::optional<Message>* too_fast = nullptr);

}  // namespace parallelarium
