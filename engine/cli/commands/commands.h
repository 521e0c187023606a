// SPDX-License-Identifier: Apache-2.0
// The command line of parallelarium-engine, as a library so that tests can call it.
#pragma once

#include <iosfwd>

namespace parallelarium {

inline constexpr int kDone = 0;     // exit status: done
inline constexpr int kFailed = 1;   // a run failed, or a proof or lesson does not hold
inline constexpr int kInvalid = 2;  // the request was not valid: one sentence, nothing written

// Runs one command. Answers go to `out`, which stays empty where the status is kInvalid; progress,
// notes and the one sentence of a failure go to `err`. Progress rewrites one line where
// `err_is_terminal`, and is left out otherwise but for what takes long and was not asked for.
// `serve` reads and writes the process's own standard streams instead.
// Returns the exit status.
int run_command(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                bool err_is_terminal = false);

}  // namespace parallelarium
