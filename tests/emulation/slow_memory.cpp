// SPDX-License-Identifier: Apache-2.0
#include "tests/emulation/slow_memory.h"

namespace parallelarium::emulation {

SlowMemory& slow_memory() {
  static auto* const memory = new SlowMemory;
  return *memory;
}

}  // namespace parallelarium::emulation
