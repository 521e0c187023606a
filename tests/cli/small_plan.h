// SPDX-License-Identifier: Apache-2.0
// A search that takes milliseconds.
#pragma once

#include "tests/cli/cli.h"

namespace parallelarium {

inline std::vector<std::string> small_plan(std::initializer_list<const char*> more) {
  std::vector<std::string> words = {
      "plan",          "--model", "llama3-8b",           "--machine", "dgx-h100",
      "--gpus",        "4",       "--global-batch",      "8",         "--fix",
      "micro-batch=1", "--allow", "schedules=1f1b,zb-h1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace parallelarium
