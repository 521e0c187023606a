// SPDX-License-Identifier: Apache-2.0
// parallelarium-engine: see commands.h.
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "engine/cli/commands/commands.h"
#include "engine/predict/predict.h"
#include "engine/run/gpu/module/module.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is told by write()
  parallelarium::prepare_for_gpus();
  parallelarium::keep_freed_memory();
  return parallelarium::run_command(argc, argv, std::cout, std::cerr, isatty(STDERR_FILENO) == 1);
}
