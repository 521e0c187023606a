// SPDX-License-Identifier: Apache-2.0
// parallelarium-engine: see commands.h.
#include <unistd.h>

#include <iostream>

#include "engine/run/gpu/module.h"
#include "engine/worker/commands.h"

int main(int argc, char** argv) {
  parallelarium::prepare_for_gpus();
  return parallelarium::run_command(argc, argv, std::cout, std::cerr, isatty(STDERR_FILENO) == 1);
}
