// SPDX-License-Identifier: Apache-2.0
// The parts of check(program), in the order in which they run; each requires that the ones before
// found nothing.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

// A person needs no more sentences; the rest would say the same.
inline constexpr std::size_t kMostCheckMessages = 20;

// Finds indices outside their tables.
void check_references(const Program& program, std::vector<Message>& messages);
// Finds sends that meet no receive, and ops that meet but differ.
void check_matching(const Program& program, std::vector<Message>& messages);
// Finds ranks that wait in a circle, with rendezvous.
void check_waiting(const Program& program, std::vector<Message>& messages);
// Finds work that is missing or done twice, against the line of the Order and the layers held.
void check_work(const Program& program, std::vector<Message>& messages);
// Checks operands, lifetimes, races between lanes, and places in the arena.
void check_memory(const Program& program, std::vector<Message>& messages);

}  // namespace parallelarium
