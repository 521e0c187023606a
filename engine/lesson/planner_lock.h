// SPDX-License-Identifier: Apache-2.0
// Until a plan is committed, what a lesson hides in the window stays hidden on the command line of
// the same user, too.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

// The system holds the lock for the process, and ends it with the process.
class PlannerLock {
 public:
  PlannerLock() = default;
  ~PlannerLock() { open(); }
  PlannerLock(const PlannerLock&) = delete;
  PlannerLock& operator=(const PlannerLock&) = delete;

  // In the name of this lesson. Where another process holds the lock already, that is enough.
  // Error: "planner-lock", where nothing can be written.
  Result<void> close(const std::string& lesson);
  void open();

 private:
  int file_ = -1;
};

// The title of the lesson that a process of this user holds the lock for; none: nobody does.
std::optional<std::string> planner_locked_by();
// Why a command or an option shows nothing now: it would show what that lesson asks for. None: it
// may.
std::optional<Message> hidden_by_lesson(const std::string& name);

}  // namespace parallelarium
