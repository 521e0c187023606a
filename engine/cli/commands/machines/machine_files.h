// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/cli/commands/command.h"

namespace parallelarium {

// Writes a file of what people change first of the machine `from`; with files of what the cluster's
// own tools say (read_cluster), of what follows from them.
Outcome new_machine(const std::string& path, const std::string& from,
                    const std::vector<std::string>& links, bool json);

struct FitOptions {
  std::vector<std::string> runs;   // files of `run --json`
  std::vector<std::string> cases;  // names of published runs; their fitted rows count
  std::string measured, setup;     // a time, and the Setup that took it
  std::string to;                  // where the Machine goes; empty: nowhere
  bool json = false;
};
Outcome fit_machine_file(const FitOptions& options);

}  // namespace parallelarium
