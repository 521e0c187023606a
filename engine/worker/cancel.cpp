// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/cancel.h"

#include <csignal>

namespace parallelarium {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void cancel(int) { cancelled = true; }

}  // namespace

const std::atomic<bool>& cancelled_by_signal() {
  struct sigaction action = {};
  action.sa_handler = cancel;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  static const bool watching =
      sigaction(SIGINT, &action, nullptr) == 0 && sigaction(SIGTERM, &action, nullptr) == 0;
  static_cast<void>(watching);
  return cancelled;
}

}  // namespace parallelarium
