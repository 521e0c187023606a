// SPDX-License-Identifier: Apache-2.0
// Runs a collective on sets instead of numbers: which elements of which ranks' arrays have been
// combined in every cell. One such run proves an algorithm right for every input at once.
// Source: the idea is that of MSCCL (Cowan et al., "MSCCLang", ASPLOS 2023): a collective is its
// initial buffers and a condition on its final ones.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/collectives/collective.h"

namespace parallelarium {

// What makes the collective compute the wrong thing, as sentences; empty if it is right: a cell
// that lacks a contribution or has one twice, or those of another element; a cell that is read
// before it holds anything, or read and written in one step; an average divided never or twice.
// Runs the Program's ops and knows nothing of who wrote them.
// Requires: check(collective.program) is empty.
std::vector<Message> check_collective(const Collective& collective);

// Bit r: rank r's contribution is in it.
using RankSet = std::uint64_t;

// What every rank holds of every chunk: sets[rank * chunks + chunk]. Of an all-to-all, chunk
// o * ranks + d counts where it stands in rank o's array or rank d's result; on its way through
// other ranks it is nowhere.
struct Holding {
  std::vector<RankSet> sets;
};

// Holdings before the first step and after every step (with what ranks then compute), for pictures:
// steps + 1 of them. Chunks without elements are shown as if they had some.
std::vector<Holding> holdings(const Collective& collective);

}  // namespace parallelarium
