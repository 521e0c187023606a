// SPDX-License-Identifier: Apache-2.0
// A Timeline as a Chrome trace, for Perfetto, chrome://tracing and the tools that read PyTorch's
// traces. One track per (rank, lane): the process is the rank, the thread the lane. Ops of one
// batch, which progress together, make one slice; so slices of a track never overlap. Every message
// between ranks is a flow from its Send to its Recv; held bytes by category are counters. Every
// process name says the source of the times: "rank 0 (rehearsed)". Source: "Trace Event Format"
// (Google), phases X, s, f, C and M; timestamps in microseconds.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// The whole file. With `rank` (global) it has only that rank, as Holistic Trace Analysis needs its
// files. It then has no flows, since their other end is missing. "distributedInfo" gives rank (the
// first in the file), ranks and world size. timeline.ranks must match program.ranks op by op.
std::string to_chrome_trace(const Program& program, const Timeline& timeline,
                            std::optional<int> rank = std::nullopt);

// The name of an op in a trace: "F3 QKV, layer 2", "send activations 3 to rank 1".
std::string title_of(const RankProgram& rank, const Op& op);

}  // namespace parallelarium
