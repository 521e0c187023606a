// SPDX-License-Identifier: Apache-2.0
// A search that takes milliseconds, as do the two published rows that were held out on its machine.
#pragma once

#include "tests/cli/cli.h"

namespace parallelarium {

inline constexpr const char* kSearchedMachine = "dgx-h200";

inline std::vector<std::string> small_plan(std::initializer_list<const char*> more) {
  std::vector<std::string> words = {
      "plan",          "--model", "llama3-8b",           "--machine", kSearchedMachine,
      "--gpus",        "4",       "--global-batch",      "8",         "--fix",
      "micro-batch=1", "--allow", "schedules=1f1b,zb-h1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace parallelarium
