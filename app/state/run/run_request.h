// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine is asked to run where that is not the Setup, and what becomes of its answer.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

struct EngineRequest {
  std::string method;
  nlohmann::json parameters;
  // Keeps what was read. Its error is the run's.
  using Keep = std::function<Result<void>()>;
  // Reads an answer, which can be long. Safe on any thread.
  std::function<Result<Keep>(const nlohmann::json& answer)> read;
  // Whether a cancelled request is answered with what was found until then, which is kept.
  bool answers_cancel = false;
};

}  // namespace parallelarium
