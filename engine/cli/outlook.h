// SPDX-License-Identifier: Apache-2.0
// What `predict` says beside a prediction: how ranks of this computer would run the Setup.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"
#include "engine/run/train/run.h"

namespace parallelarium {

struct Outlook {
  BackendChoice choice;
  double stretch = 0;  // of a rehearsal
};
// None: they would not.
std::optional<Outlook> outlook_of(const Prediction& prediction, const Situation& situation);
std::string outlook_text(const Outlook& outlook, const Prediction& prediction);

// What `predict --json` prints and what `serve` answers. `rank`: whose traffic; `spans`: with every
// step of the critical path.
nlohmann::json prediction_answer(const Prediction& prediction, const Situation& situation, int rank,
                                 bool spans);

// That not even one copy of the model's parameters, with gradients and optimizer, finds room in
// this computer's memory, and which run does; none: it does, or nothing is known.
std::optional<Message> too_large_to_rehearse(const Situation& situation);

}  // namespace parallelarium
