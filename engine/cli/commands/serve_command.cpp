// SPDX-License-Identifier: Apache-2.0
// `serve`: the protocol for the window, on standard input and output.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "engine/cli/commands/command.h"
#include "engine/cli/server.h"

namespace parallelarium {
namespace {

Outcome serve() {
  // Libraries print to standard output (NCCL logs there), so the protocol moves away from it first.
  const int protocol = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (protocol < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return Outcome::failed(message("serve-streams",
                                   "serve needs a standard output and a standard "
                                   "error to speak to."));
  signal(SIGPIPE, SIG_IGN);
  // The engine must not outlive its window, not even one that was killed.
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::_Exit(kFailed);
  Server server(STDIN_FILENO, protocol);
  const int status = server.serve();
  // Ranks that are in the middle of a step are not waited for.
  if (status == kDone && server.busy()) std::_Exit(status);
  if (status == kDone) return Outcome::done("");
  const Message why = message("serve-stream",
                              "serve could not understand its standard input; send JSON-RPC 2.0 "
                              "messages, each behind its Content-Length, as the window does.");
  if (server.busy()) {
    std::fprintf(stderr, "%s\n", why.text.c_str());
    std::_Exit(status);
  }
  return Outcome::invalid(why);
}

}  // namespace

void add_serve(Commands& commands) {
  CLI::App* command =
      commands.add("serve", "speak JSON-RPC 2.0 with Content-Length framing to the window", "");
  commands.set_body(command, [](Progress&) { return serve(); });
}

}  // namespace parallelarium
