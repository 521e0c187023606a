// SPDX-License-Identifier: Apache-2.0
// Runs a collective on sets instead of numbers: every cell knows which elements of which ranks'
// arrays it combines. One such run proves an algorithm right for every input at once.
// Source: the idea is that of MSCCL (Cowan et al., "MSCCLang", ASPLOS 2023): a collective is its
// initial buffers and a condition on its final ones.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/collectives/collective.h"

namespace parallelarium {

// The faults that make the collective compute the wrong thing, as sentences; empty if it is right.
// A fault is a cell that lacks a contribution, has one twice or has those of another element; a
// cell that is read before it holds anything, or read and written in one step; an average that is
// divided never or twice. Runs the Program's ops and does not know the algorithm.
// check(collective.program) must be empty.
std::vector<Message> check_collective(const Collective& collective);

// Bit r: rank r's contribution is in it.
using RankSet = std::uint64_t;

// What every rank holds of every chunk: sets[rank * chunks + chunk]. In an all-to-all, chunk o *
// ranks + d counts in rank o's array and in rank d's result, but not on its way through other
// ranks.
struct Holding {
  std::vector<RankSet> sets;
};

// The holdings before the first step and after each step with its Compute ops, for pictures: steps
// + 1 of them. Chunks without elements count as if they had some.
std::vector<Holding> holdings(const Collective& collective);

}  // namespace parallelarium
