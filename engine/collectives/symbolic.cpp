// SPDX-License-Identifier: Apache-2.0
#include "engine/collectives/symbolic.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "engine/collectives/segments.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostFaults = 20;

class Run {
 public:
  explicit Run(const Collective& collective)
      : collective_(collective), spec_(collective.spec), ranks_(collective.program.ranks) {
    memory_.resize(ranks_.size());
    next_.resize(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      memory_[rank].resize(ranks_[rank].buffers.size());
      const ChunkRange range = given(static_cast<int>(rank));
      if (range.begin < range.end) {
        memory_[rank][0].push_back(
            {range.begin, range.end, {{static_cast<std::int32_t>(rank), 0}}, false});
      }
    }
  }

  // Everything up to and with step `step` and what is computed after it. False after a fault.
  bool go(int step) {
    for (bool moved = true; moved && faults_.empty();) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (faults_.empty() && advance(rank, step)) moved = true;
      }
    }
    return faults_.empty();
  }

  void compare() {
    for (int rank = 0; rank < spec_.ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (spec_.kind == CollectiveKind::kAllToAll) {
        for (int from = 0; from < spec_.ranks; ++from) {
          const int chunk = from * spec_.ranks + rank;
          const ChunkRange there = result_range(collective_, chunk);
          const ChunkRange origin = chunk_range(collective_, chunk);
          expect(rank, 1, there, {{from, origin.begin - there.begin}}, false);
        }
        continue;
      }
      const std::int64_t count = ranks_[r].buffers[0].bytes / size_of(spec_.type);
      const ChunkRange own = chunk_of(count, spec_.ranks, rank);
      std::vector<Contribution> all;
      for (int from = 0; from < spec_.ranks; ++from) all.push_back({from, 0});
      const bool averaged = spec_.reduction == Reduction::kAvg && spec_.ranks > 1;
      switch (spec_.kind) {
        case CollectiveKind::kAllReduce:
          expect(rank, 0, {0, count}, all, averaged);
          break;
        case CollectiveKind::kReduceScatter:
          expect(rank, 0, own, all, averaged);
          break;
        case CollectiveKind::kReduce:
          if (rank == spec_.root) expect(rank, 0, {0, count}, all, averaged);
          break;
        case CollectiveKind::kBroadcast:
          expect(rank, 0, {0, count}, {{spec_.root, 0}}, false);
          break;
        case CollectiveKind::kScatter:
          expect(rank, 0, own, {{spec_.root, 0}}, false);
          break;
        case CollectiveKind::kGather:
        case CollectiveKind::kAllGather:
          if (spec_.kind == CollectiveKind::kGather && rank != spec_.root) break;
          for (int from = 0; from < spec_.ranks; ++from)
            expect(rank, 0, chunk_of(count, spec_.ranks, from), {{from, 0}}, false);
          break;
        case CollectiveKind::kAllToAll:
          break;
      }
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (faults_.empty() && next_[rank].op < ranks_[rank].ops.size())
        fault(message("collective-stuck", "Rank {} never ends its step {}.", rank,
                      ranks_[rank].ops[next_[rank].op].batch + 1));
    }
  }

  RankSet held(int rank, int chunk) const {
    const auto& memory = memory_[static_cast<std::size_t>(rank)];
    Segments cells;
    if (spec_.kind == CollectiveKind::kAllToAll) {
      const int from = chunk / spec_.ranks, to = chunk % spec_.ranks;
      if (rank == to) {
        const ChunkRange there = result_range(collective_, chunk);
        cells = cut(memory[1], there.begin, there.end);
      }
      if (rank == from && cells.empty()) {
        const ChunkRange here = chunk_range(collective_, chunk);
        cells = cut(memory[0], here.begin, here.end);
      }
    } else {
      const ChunkRange range = chunk_range(collective_, chunk);
      cells = cut(memory[0], range.begin, range.end);
    }
    RankSet set = 0;
    for (const Segment& segment : cells) {
      for (const Contribution& one : segment.from) set |= RankSet{1} << one.rank;
    }
    return set;
  }

  std::vector<Message> faults() && { return std::move(faults_); }

 private:
  struct Position {
    std::size_t op = 0;
    bool posted = false;
  };
  struct Payload {
    Segments cells;
    bool taken = false;
  };

  // What a rank's array holds before the first step.
  ChunkRange given(int rank) const {
    const std::int64_t count =
        ranks_[static_cast<std::size_t>(rank)].buffers[0].bytes / size_of(spec_.type);
    switch (spec_.kind) {
      case CollectiveKind::kBroadcast:
      case CollectiveKind::kScatter:
        return rank == spec_.root ? ChunkRange{0, count} : ChunkRange{};
      case CollectiveKind::kGather:
      case CollectiveKind::kAllGather:
        return chunk_of(count, spec_.ranks, rank);
      default:
        return {0, count};
    }
  }

  void fault(Message why) {
    if (faults_.size() < kMostFaults) faults_.push_back(std::move(why));
  }

  bool advance(std::size_t rank, int step) {
    Position& at = next_[rank];
    const RankProgram& program = ranks_[rank];
    if (at.op == program.ops.size()) return false;
    const Op& op = program.ops[at.op];
    if (op.kind == OpKind::kCompute) {
      compute(rank, op);
      ++at.op;
      return true;
    }
    if (op.batch > step) return false;
    std::size_t end = at.op + 1;
    while (op.batch >= 0 && end < program.ops.size() && program.ops[end].batch == op.batch) ++end;
    if (!at.posted) {
      check_batch(rank, at.op, end);
      for (std::size_t i = at.op; i < end; ++i) {
        const Op& one = program.ops[i];
        if (one.kind == OpKind::kSend)
          under_way_[{static_cast<int>(rank), one.peer}].push_back({read(rank, one), false});
      }
      at.posted = true;
      return true;
    }
    bool moved = false, all = true;
    for (std::size_t i = at.op; i < end; ++i) {
      const Op& one = program.ops[i];
      if (one.kind != OpKind::kRecv || done_.count({rank, i}) > 0) continue;
      auto& queue = under_way_[{one.peer, static_cast<int>(rank)}];
      if (queue.empty()) {
        all = false;
        continue;
      }
      write(rank, one, std::move(queue.front().cells));
      queue.pop_front();
      done_[{rank, i}] = true;
      moved = true;
    }
    if (!all) return moved;
    at = {end, false};
    return true;
  }

  // No op of a batch may write what another one touches: they progress in any order.
  void check_batch(std::size_t rank, std::size_t first, std::size_t end) {
    struct Range {
      std::int32_t buffer;
      std::int64_t begin, end;
      bool writes;
      std::size_t op;
      bool operator<(const Range& o) const {
        return std::tie(buffer, begin) < std::tie(o.buffer, o.begin);
      }
    };
    std::vector<Range> ranges;
    for (std::size_t i = first; i < end; ++i) {
      for (const Operand& operand : ranks_[rank].operands_of(ranks_[rank].ops[i])) {
        if (operand.count == 0) continue;
        ranges.push_back({operand.buffer, operand.offset, operand.offset + operand.count,
                          operand.access != Access::kRead, i});
      }
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      for (std::size_t j = i + 1; j < ranges.size() && ranges[j].buffer == ranges[i].buffer &&
                                  ranges[j].begin < ranges[i].end;
           ++j) {
        if (!ranges[i].writes && !ranges[j].writes) continue;
        fault(message("collective-race", "Rank {} touches and writes the same cells in step {}.",
                      rank, ranks_[rank].ops[first].batch + 1));
        return;
      }
    }
  }

  Segments cells_of(std::size_t rank, const Operand& operand) {
    Segments cells = cut(memory_[rank][static_cast<std::size_t>(operand.buffer)], operand.offset,
                         operand.offset + operand.count);
    if (!covers(cells, operand.count)) {
      fault(message("collective-empty", "Rank {} reads cells that hold nothing yet.", rank));
    }
    return cells;
  }

  Segments read(std::size_t rank, const Op& op) {
    Segments payload;
    std::int64_t offset = 0;
    for (const Operand& operand : ranks_[rank].operands_of(op)) {
      append(payload, cells_of(rank, operand), offset);
      offset += operand.count;
    }
    return payload;
  }

  void write(std::size_t rank, const Op& op, Segments payload) {
    std::int64_t offset = 0;
    for (const Operand& operand : ranks_[rank].operands_of(op)) {
      Segments part = cut(payload, offset, offset + operand.count);
      offset += operand.count;
      if (op.reduction != Reduction::kNone) {
        const Segments here = cells_of(rank, operand);
        if (!faults_.empty()) return;
        check_reduction(rank, op.reduction, here, part);
        part = merge(here, part);
      }
      put(memory_[rank][static_cast<std::size_t>(operand.buffer)], std::move(part), operand.offset,
          operand.count);
    }
  }

  void check_reduction(std::size_t rank, Reduction reduction, const Segments& a,
                       const Segments& b) {
    const Reduction wanted = spec_.reduction == Reduction::kAvg && reduction == Reduction::kSum
                                 ? Reduction::kAvg
                                 : reduction;
    if (wanted != spec_.reduction)
      fault(message("collective-reduction", "Rank {} combines by {} instead of {}.", rank,
                    name_of(reduction), name_of(spec_.reduction)));
    for (const Segments* cells : {&a, &b}) {
      for (const Segment& segment : *cells) {
        if (segment.averaged)
          fault(message("collective-averaged", "Rank {} adds to an average.", rank));
      }
    }
  }

  void compute(std::size_t rank, const Op& op) {
    const auto operands = ranks_[rank].operands_of(op);
    Segments value;
    for (std::size_t part = 1; part < operands.size(); ++part) {
      Segments cells = cells_of(rank, operands[part]);
      if (!faults_.empty()) return;
      if (part > 1) check_reduction(rank, op.reduction, value, cells);
      value = part == 1 ? std::move(cells) : merge(value, cells);
    }
    if (op.reduction == Reduction::kAvg && spec_.ranks > 1) {  // of one rank it is the sum
      for (Segment& segment : value) {
        if (segment.averaged)
          fault(
              message("collective-averaged.twice", "Rank {} divides an average once more.", rank));
        segment.averaged = true;
      }
    }
    put(memory_[rank][static_cast<std::size_t>(operands[0].buffer)], std::move(value),
        operands[0].offset, operands[0].count);
  }

  void expect(int rank, int buffer, ChunkRange range, const std::vector<Contribution>& wanted,
              bool averaged) {
    if (range.begin >= range.end) return;
    const Segments cells =
        cut(memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(buffer)], range.begin,
            range.end);
    if (!covers(cells, range.end - range.begin)) {
      fault(message("collective-missing", "Rank {} ends without elements {} to {}.", rank,
                    range.begin, range.end - 1));
      return;
    }
    std::vector<Contribution> here = wanted;
    for (Contribution& one : here) one.shift += range.begin;
    for (const Segment& segment : cells) {
      if (segment.from == here && segment.averaged == averaged) continue;
      std::string ranks;
      for (const Contribution& one : segment.from)
        ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", one.rank);
      fault(message("collective-wrong",
                    "Rank {} ends with the wrong contributions in elements {} to {}: those of "
                    "ranks {}.",
                    rank, range.begin + segment.begin, range.begin + segment.end - 1, ranks));
      return;
    }
  }

  const Collective& collective_;
  const CollectiveSpec& spec_;
  const std::vector<RankProgram>& ranks_;
  std::vector<std::vector<Segments>> memory_;  // by rank and buffer
  std::vector<Position> next_;
  std::map<std::pair<int, int>, std::deque<Payload>> under_way_;  // by sender and receiver
  std::map<std::pair<std::size_t, std::size_t>, bool> done_;      // receives of open batches
  std::vector<Message> faults_;
};

}  // namespace

std::vector<Message> check_collective(const Collective& collective) {
  Run run(collective);
  if (run.go(static_cast<int>(collective.steps.size()))) run.compare();
  return std::move(run).faults();
}

std::vector<Holding> holdings(const Collective& collective) {
  // One element per chunk, so that none is empty.
  CollectiveSpec spec = collective.spec;
  spec.counts.clear();
  const int chunks = spec.kind == CollectiveKind::kAllToAll ? spec.ranks : collective.chunks;
  spec.bytes = chunks * size_of(spec.type);
  const Result<Collective> small = make_collective(spec);
  std::vector<Holding> all;
  if (!small) return all;
  Run run(*small);
  for (int step = -1; step < static_cast<int>(small->steps.size()); ++step) {
    run.go(step);
    Holding& holding = all.emplace_back();
    for (int rank = 0; rank < spec.ranks; ++rank) {
      for (int chunk = 0; chunk < small->chunks; ++chunk)
        holding.sets.push_back(run.held(rank, chunk));
    }
  }
  return all;
}

}  // namespace parallelarium
