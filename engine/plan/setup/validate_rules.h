// SPDX-License-Identifier: Apache-2.0
// The rules of validate() about the axes of parallelism. Each rule adds a sentence with valid
// values for what is wrong. The rules before it in validate() must hold.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

using Messages = std::vector<Message>;

inline void add(Messages& wrong, Message error, const char* field,
                std::vector<std::string> alternatives = {}) {
  error.field = field;
  error.alternatives = std::move(alternatives);
  wrong.push_back(std::move(error));
}

void check_tensor(const Setup& setup, Messages& wrong);
void check_context(const Setup& setup, Messages& wrong);
void check_experts(const Setup& setup, Messages& wrong);
void check_zero(const Setup& setup, Messages& wrong);

}  // namespace parallelarium
