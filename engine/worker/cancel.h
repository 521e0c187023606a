// SPDX-License-Identifier: Apache-2.0
// Ctrl-C on the command line.
#pragma once

#include <atomic>

namespace parallelarium {

// From the first call on, the first SIGINT or SIGTERM sets the flag that is returned, and another
// of the same kind ends the program at once.
const std::atomic<bool>& cancelled_by_signal();

}  // namespace parallelarium
