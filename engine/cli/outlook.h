// SPDX-License-Identifier: Apache-2.0
// What `predict` says beside a prediction: how ranks of this computer would act the Setup out.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/plan/machine/resolve.h"
#include "engine/predict/predict.h"
#include "engine/run/train/run.h"

namespace parallelarium {

struct Outlook {
  BackendChoice choice;
  double pace_factor = 1, pace_slowed = 1;
  double step_seconds = 0;
  std::optional<Message> refusal;  // why this computer cannot keep the pace
};
// Empty where this computer cannot run the Setup.
std::optional<Outlook> outlook_of(const Prediction& prediction, const Situation& situation);
std::string outlook_text(const Outlook& outlook);

// What `predict --json` prints and what `serve` answers. `rank`: whose traffic; `spans`: with every
// step of the critical path.
nlohmann::json prediction_answer(const Prediction& prediction, const Situation& situation, int rank,
                                 bool spans);

}  // namespace parallelarium
