// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/cancel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace parallelarium {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void cancel(int) { cancelled = true; }

std::atomic<bool> reader_gone{false};

void cancel_without_reader() {
  reader_gone = true;
  cancelled = true;
}

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

CancelWithoutReader::CancelWithoutReader() {
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
    cancel_without_reader();
    return;
  }
  if (pipe2(wake_, O_CLOEXEC) != 0) return;  // without descriptors a run says so itself
  thread_ = std::thread([wake = wake_[0]] {
    // Of standard output only what is always told: an error is a pipe without a reader.
    std::array<pollfd, 2> files = {{{STDOUT_FILENO, 0, 0}, {wake, 0, 0}}};
    while (poll(files.data(), files.size(), -1) < 0) continue;
    if (files[0].revents != 0) cancel_without_reader();
  });
}

CancelWithoutReader::~CancelWithoutReader() {
  if (!thread_.joinable()) return;
  close(wake_[1]);
  thread_.join();
  close(wake_[0]);
}

Message told_why(Message why) {
  if (why.kind != "cancelled" || !reader_gone) return why;
  return message("reader-gone", "Nobody reads the answer any more, so the run was stopped.");
}

}  // namespace parallelarium
