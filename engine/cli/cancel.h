// SPDX-License-Identifier: Apache-2.0
// What ends a long command before its time: Ctrl-C, and a reader that has gone.
#pragma once

#include <atomic>
#include <thread>

#include "engine/plan/result.h"

namespace parallelarium {

// From the first call on, the first SIGINT or SIGTERM sets the flag that is returned, and another
// of the same kind ends the program at once.
const std::atomic<bool>& cancelled_by_signal();

// While it lives, that flag is also set as soon as nobody can read what the program will print:
// standard output is closed, or a pipe whose reader has gone. For commands that leave nothing else.
class CancelWithoutReader {
 public:
  CancelWithoutReader();
  ~CancelWithoutReader();
  CancelWithoutReader(const CancelWithoutReader&) = delete;
  CancelWithoutReader& operator=(const CancelWithoutReader&) = delete;

 private:
  int wake_[2] = {-1, -1};  // a pipe; closed to end the thread
  std::thread thread_;
};
// Why a command ended: `why`, or that its reader has gone where it was cancelled for that.
Message told_why(Message why);

}  // namespace parallelarium
