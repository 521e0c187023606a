// SPDX-License-Identifier: GPL-3.0-or-later
// A request to the engine to run something other than the Setup, and what happens with the answer.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

struct EngineRequest {
  std::string method;
  nlohmann::json parameters;
  // Keeps what was read. Its error is the error of the run.
  using Keep = std::function<Result<void>()>;
  // Reads an answer, which can be long. Safe on any thread.
  std::function<Result<Keep>(const nlohmann::json& answer)> read;
  // Whether a cancelled request is answered with what was found so far, which is then kept.
  bool answers_cancel = false;
};

}  // namespace parallelarium
