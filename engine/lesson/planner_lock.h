// SPDX-License-Identifier: Apache-2.0
// Until a plan is committed, the command line of the same user hides what a lesson hides in the
// window.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

// A lock of the system that ends with the process.
class PlannerLock {
 public:
  PlannerLock() = default;
  ~PlannerLock() { open(); }
  PlannerLock(const PlannerLock&) = delete;
  PlannerLock& operator=(const PlannerLock&) = delete;

  // Takes the lock in the name of this lesson. If another process already holds it, that is enough.
  // Error: "planner-lock" (nothing can be written).
  Result<void> close(const std::string& lesson);
  void open();

 private:
  int file_ = -1;
};

// The title of the lesson for which a process of this user holds the lock. None: no process holds
// it.
std::optional<std::string> planner_locked_by();
// Why a command or an option shows nothing now: it would show what that lesson asks for. None: it
// may show it.
std::optional<Message> hidden_by_lesson(const std::string& name);

}  // namespace parallelarium
