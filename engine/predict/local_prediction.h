// SPDX-License-Identifier: Apache-2.0
// What the window predicts: the Setup on its Machine and, where ranks of this computer would be
// paced, in paced time, so that prediction and run share one time axis.
#pragma once

#include <optional>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// predict(), dilated by the pace where expected_source() of resolve.h is paced. Pure; safe on any
// thread. Where the cores of `machine` cannot keep that pace, `too_fast` receives why, with the
// least pace.
Result<Prediction> predict_as_shown(const Setup& setup, const Machine& machine,
                                    bool all_ranks = false,
                                    std::optional<Message>* too_fast = nullptr);

}  // namespace parallelarium
