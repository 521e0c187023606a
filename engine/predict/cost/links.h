// SPDX-License-Identifier: Apache-2.0
// Links that several messages use at the same time. A rank has its links inside the node, and a
// network card or a part of one. Each of them carries as much out as in. While ops ask for more of
// a link than there is, all of them slow down by one factor so that their sum fits. Two messages
// that would each fill a card take twice as long. A message that waits for its latency takes
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// Seconds in which an op's bytes keep its rank's links inside the node and its card busy. If
// switches add up, less comes in than goes out.
struct LinkSeconds {
  double inside = 0, card_out = 0, card_in = 0;
};

// The shares of its rank's links that an op asks for at its full speed, each at most 1: inside the
// node out and in, then the card out and in.
using LinkShares = std::array<float, 4>;
// A Send goes out, a Recv comes in, and a Collective does both. `seconds`: those of the op.
LinkShares shares_of(const Op& op, const LinkSeconds& use, double seconds);

// What the ops of a Program ask for, by the flat numbers of Matching. Empty if links are not
// shared.
using LinkDemand = std::vector<LinkShares>;

// Whether ops that run at the same time in the timeline ask for more of a link than there is.
bool exceeds_links(const Program& program, const LinkDemand& links, const Timeline& timeline);

// How many times as long an op takes beside others. `asked` is the sum of what all ask for.
double slowdown_of(const LinkShares& op, const LinkShares& asked);

}  // namespace parallelarium
