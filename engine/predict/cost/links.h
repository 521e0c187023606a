// SPDX-License-Identifier: Apache-2.0
// Links that several messages use at the same time. A rank has its links inside the node and a
// network card of its own, or its part of one, and each of them carries as much out as in. While
// ops ask for more of a link than there is, each goes on at one part of its speed that makes their
// sum fit: two messages that would each fill a card take twice as long, and one that waits for its
// latency takes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

// Seconds in which an op's bytes keep its rank's links inside the node and its card busy. What
// switches add up comes in as less than what goes out.
struct LinkSeconds {
  double inside = 0, card_out = 0, card_in = 0;
};

// The shares of its rank's links that an op asks for at its own speed, each at most 1: inside the
// node out and in, the card out and in.
using LinkShares = std::array<float, 4>;
// A Send goes out, a Recv comes in, a Collective does both. `seconds`: the op's own.
LinkShares shares_of(const Op& op, const LinkSeconds& use, double seconds);

// What the ops of a Program ask for, by the flat numbers of Matching; empty where links are not
// shared.
using LinkDemand = std::vector<LinkShares>;

// Whether ops that the timeline has at the same time ask for more of a link than there is.
bool exceeds_links(const Program& program, const LinkDemand& links, const Timeline& timeline);

// How many times as long an op takes beside others: `asked` is the sum of what all ask for.
double slowdown_of(const LinkShares& op, const LinkShares& asked);

}  // namespace parallelarium
