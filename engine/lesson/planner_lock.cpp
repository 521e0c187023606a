// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/planner_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/plan/machine/machine.h"
#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

namespace {

// Beside the calibration; empty where there is no home.
std::string lock_path() {
  const std::string machine = local_machine_path();
  if (machine.empty()) return {};
  return (std::filesystem::path(machine).parent_path() / "planner.lock").string();
}

}  // namespace

Result<void> PlannerLock::close(const std::string& lesson) {
  if (file_ >= 0) return {};
  const std::string path = lock_path();
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    return message("planner-lock",
                   "{} cannot be written ({}), so the command line still shows predictions.", path,
                   std::strerror(errno));
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    ::close(file);
    return {};
  }
  file_ = file;
  if (ftruncate(file, 0) != 0 || pwrite(file, lesson.data(), lesson.size(), 0) < 0)
    return message("planner-lock",
                   "{} cannot be written ({}), so the command line still shows predictions.", path,
                   std::strerror(errno));
  return {};
}

void PlannerLock::open() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

std::optional<std::string> planner_locked_by() {
  const int file = ::open(lock_path().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::optional<std::string> lesson;
  if (flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    char text[256];
    const ssize_t size = pread(file, text, sizeof text, 0);
    lesson = std::string(text, static_cast<std::size_t>(size > 0 ? size : 0));
  }
  ::close(file);
  return lesson;
}

std::optional<Message> hidden_by_lesson(const std::string& name) {
  const std::optional<std::string> lesson = planner_locked_by();
  if (!lesson) return {};
  return message("planner-locked",
                 "The lesson “{}” is open in the window, and {} would show what it asks for; "
                 "answer there first, or leave the lesson.",
                 shown(*lesson), name);
}

}  // namespace parallelarium
