// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective/collective_run.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>

#include "engine/run/collective/collective_parts.h"
#include "engine/run/collective/collective_team.h"

namespace parallelarium {

namespace {

Message cancelled() { return message("cancelled", "The run was cancelled."); }

bool is_set(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(); }

Result<void> fill(const Collective& collective, CollectiveTeam& team,
                  const std::atomic<bool>* cancel, InputValue inputs = input_value) {
  const CollectiveSpec& spec = collective.spec;
  return team.each([&](std::size_t r) -> Result<void> {
    constexpr std::int64_t kElements = 1 << 20;  // between two looks at cancel
    const int each = size_of(spec.type);
    const std::int64_t count = collective.program.ranks[r].buffers[0].bytes / each;
    std::vector<std::byte> piece;
    for (std::int64_t first = 0; first < count; first += kElements) {
      if (is_set(cancel)) return cancelled();
      const std::int64_t some = std::min(kElements, count - first);
      if (!team.on_host()) piece.resize(static_cast<std::size_t>(some * each));
      fill_input(spec, static_cast<int>(r),
                 team.on_host() ? team.address(r, 0) + first * each : piece.data(), some, inputs,
                 first);
      if (team.on_host()) continue;
      if (Result<void> done = team.write(r, 0, first * each, piece); !done) return done;
    }
    return {};
  });
}

// Of one repeat: from when the last rank went in to when the last came out.
struct Repeat {
  Nanoseconds last_in{0}, last_out{0}, first_begin{0};
};

Repeat repeat_of(const std::vector<TeamRank>& ranks, std::size_t repeat) {
  Repeat seen{Nanoseconds::min(), Nanoseconds::min(), Nanoseconds::max()};
  for (const TeamRank& rank : ranks) {
    seen.last_in = std::max(seen.last_in, rank.entered[repeat]);
    for (const Span& span : rank.spans[repeat]) {
      seen.last_out = std::max(seen.last_out, span.end);
      seen.first_begin = std::min(seen.first_begin, span.begin);
    }
  }
  seen.last_out = std::max(seen.last_out, seen.last_in);  // nothing to do
  seen.first_begin = std::min(seen.first_begin, seen.last_in);
  return seen;
}

void summarize(const std::vector<TeamRank>& ranks, CollectiveObservation& run) {
  const std::size_t repeats = ranks.front().entered.size();
  std::vector<Repeat> all;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) all.push_back(repeat_of(ranks, repeat));
  const auto duration = [&](std::size_t repeat) {
    return all[repeat].last_out - all[repeat].last_in;
  };
  std::vector<std::size_t> order(repeats);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return duration(a) < duration(b); });
  const std::size_t median = order[(repeats - 1) / 2];
  run.seconds = seconds_of(duration(median));
  run.seconds_min = seconds_of(duration(order.front()));
  run.seconds_max = seconds_of(duration(order.back()));
  Timeline& timeline = run.timeline;
  timeline.source = run.source;
  timeline.step = static_cast<int>(median) + 1;
  timeline.steps = static_cast<int>(repeats);
  const Nanoseconds zero = all[median].first_begin;
  timeline.duration = all[median].last_out - zero;
  for (const TeamRank& rank : ranks) {
    RankTimeline& out = timeline.ranks.emplace_back();
    out.spans = rank.spans[median];
    for (Span& span : out.spans) {
      span.begin -= zero;
      span.end -= zero;
    }
    out.shortest.assign(out.spans.size(), Nanoseconds::max());
    out.longest.assign(out.spans.size(), Nanoseconds{0});
    for (const std::vector<Span>& spans : rank.spans) {
      for (std::size_t op = 0; op < spans.size(); ++op) {
        out.shortest[op] = std::min(out.shortest[op], spans[op].end - spans[op].begin);
        out.longest[op] = std::max(out.longest[op], spans[op].end - spans[op].begin);
      }
    }
    // The clocks of two ranks may be off either way.
    timeline.clock_error = std::max(timeline.clock_error, 2 * rank.clock_error);
    run.sent_bytes.push_back(rank.sent);
    run.received_bytes.push_back(rank.received);
  }
}

// Every rank's result beside what it has to be.
Result<void> compare(const Collective& collective, CollectiveTeam& team,
                     const std::atomic<bool>* cancel, CollectiveObservation& run) {
  const bool exchange = collective.spec.kind == CollectiveKind::kAllToAll;
  std::vector<CollectiveObservation> seen(team.size());
  std::mutex copying;  // the host may not have room for all ranks' arrays at once
  const Result<void> done = team.each([&](std::size_t r) -> Result<void> {
    std::unique_lock lock(copying, std::defer_lock);
    if (!team.on_host()) lock.lock();
    std::vector<std::byte> copies[2];  // of what the host does not reach
    const std::byte* arrays[2] = {};
    for (const std::size_t buffer : {0, 1}) {
      if (buffer == 1 && !exchange) continue;
      if (team.on_host()) {
        arrays[buffer] = team.address(r, buffer);
        continue;
      }
      Result<std::vector<std::byte>> read = team.read(r, buffer);
      if (!read) return read.error();
      copies[buffer] = std::move(*read);
      arrays[buffer] = copies[buffer].data();
    }
    compare_result(collective, static_cast<int>(r), arrays[0], arrays[1], seen[r], cancel);
    return is_set(cancel) ? cancelled() : Result<void>{};
  });
  for (const CollectiveObservation& rank : seen) {
    run.wrong_cells += rank.wrong_cells;
    for (const WrongCell& cell : rank.wrong)
      if (run.wrong.size() < kMostTold) run.wrong.push_back(cell);
  }
  return done;
}

Result<void> run_once(const Collective& collective, CollectiveTeam& team, InputValue inputs,
                      const std::atomic<bool>* cancel) {
  if (Result<void> good = team.assemble(); !good) return good;
  if (Result<void> good = fill(collective, team, cancel, inputs); !good) return good;
  if (Result<void> good = team.run(1, false); !good) return good;
  return team.close();
}

Result<CollectiveValues> note_values(const Collective& collective, const CollectiveRanks& on,
                                     const std::vector<Core>& cores,
                                     const std::atomic<bool>* cancel) {
  const Program program = with_notes(collective);
  CollectiveTeam team(program, on, cores, cancel);
  if (Result<void> good = run_once(collective, team, input_value, cancel); !good)
    return good.error();
  std::vector<std::vector<std::byte>> notes;
  for (std::size_t rank = 0; rank < team.size(); ++rank) {
    Result<std::vector<std::byte>> of_rank =
        team.read(rank, program.ranks[rank].buffers.size() - 1);
    if (!of_rank) return of_rank.error();
    notes.push_back(std::move(*of_rank));
  }
  CollectiveValues values;
  const CollectiveSpec& spec = collective.spec;
  values.steps = static_cast<int>(collective.steps.size());
  for (int step = 0; step <= values.steps; ++step) {
    for (int rank = 0; rank < spec.ranks; ++rank) {
      const std::byte* noted = notes[static_cast<std::size_t>(rank)].data();
      for (int chunk = 0; chunk < collective.chunks; ++chunk) {
        const ChunkRange range = chunk_range(collective, chunk);
        const bool away = spec.kind == CollectiveKind::kAllToAll && rank != chunk / spec.ranks &&
                          rank != chunk % spec.ranks;
        values.first.push_back(
            range.begin == range.end || away
                ? std::numeric_limits<double>::quiet_NaN()
                : read_value(spec.type, noted, std::int64_t{step} * collective.chunks + chunk));
      }
    }
  }
  return values;
}

}  // namespace

Result<std::vector<std::vector<std::byte>>> arrays_after(const Collective& collective,
                                                         InputValue inputs,
                                                         const CollectiveRanks& on,
                                                         const std::atomic<bool>* cancel) {
  const std::vector<Core> cores = available_cores();
  CollectiveTeam team(collective.program, on, cores, cancel);
  if (Result<void> good = run_once(collective, team, inputs, cancel); !good) return good.error();
  std::vector<std::vector<std::byte>> arrays;
  for (std::size_t rank = 0; rank < team.size(); ++rank) {
    Result<std::vector<std::byte>> array = team.read(rank, 0);
    if (!array) return array.error();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Program with_notes(const Collective& collective) {
  const CollectiveSpec& spec = collective.spec;
  Program program = collective.program;
  const auto steps = static_cast<std::int64_t>(collective.steps.size());
  for (RankProgram& rank : program.ranks) {
    Buffer notes;
    notes.bytes = (steps + 1) * collective.chunks * size_of(spec.type);
    notes.offset = rank.arena_bytes;
    rank.arena_bytes += notes.bytes;
    rank.buffers.push_back(notes);
    const auto buffer = static_cast<std::int32_t>(rank.buffers.size() - 1);
    std::vector<Op> ops;
    std::int64_t noted = 0;  // steps that stand, the one before the first included
    const auto note_until = [&](std::int64_t end) {
      for (; noted < end; ++noted) {
        for (int chunk = 0; chunk < collective.chunks; ++chunk) {
          const bool exchange = spec.kind == CollectiveKind::kAllToAll;
          const bool arrives = exchange && rank.rank == chunk % spec.ranks;
          if (exchange && !arrives && rank.rank != chunk / spec.ranks) continue;
          const ChunkRange range =
              arrives ? result_range(collective, chunk) : chunk_range(collective, chunk);
          if (range.begin == range.end) continue;
          Op op;
          op.piece = Piece::kCombine;
          op.type = spec.type;
          op.operand_first = static_cast<std::int32_t>(rank.operands.size());
          op.operand_count = 2;
          rank.operands.push_back(
              {buffer, Access::kWrite, spec.type, -1, noted * collective.chunks + chunk, 1});
          rank.operands.push_back({arrives ? 1 : 0, Access::kRead, spec.type, -1, range.begin, 1});
          ops.push_back(op);
        }
      }
    };
    for (const Op& op : rank.ops) {
      if (op.batch >= 0) note_until(op.batch + 1);
      ops.push_back(op);
    }
    note_until(steps + 1);
    rank.ops = std::move(ops);
  }
  return program;
}

Result<double> collective_seconds(const Collective& collective, int warmup, int repeats,
                                  const std::atomic<bool>* cancel) {
  const std::vector<Core> cores = available_cores();
  const CollectiveRanks on;
  CollectiveTeam team(collective.program, on, cores, cancel);
  if (Result<void> good = team.assemble(); !good) return good.error();
  if (Result<void> good = team.run(warmup, false); !good) return good.error();
  if (Result<void> good = team.run(repeats, true); !good) return good.error();
  CollectiveObservation run;
  summarize(team.ranks(), run);
  return run.seconds;
}

Result<CollectiveObservation> run_collective(const Collective& collective,
                                             const CollectiveRunOptions& options,
                                             const std::atomic<bool>* cancel) try {
  if (std::vector<Message> wrong = check(collective.program); !wrong.empty()) return wrong.front();
  const std::vector<Core> cores = available_cores();
  const CollectiveRanks& on = options.on;
  CollectiveObservation run;
  if (on.choice.backend == Backend::kCuda)
    run.source = on.choice.source;
  else if (collective.program.ranks.size() > cores.size())
    run.source = Source::kOversubscribed;
  run.on_gpus = on.choice.backend == Backend::kCuda;
  run.ranks_on = on.choice.why.text;
  {
    CollectiveTeam team(collective.program, on, cores, cancel);
    if (Result<void> good = team.assemble(); !good) return good.error();
    run.transport = team.transport();
    if (Result<void> good = fill(collective, team, cancel); !good) return good.error();
    if (Result<void> good = team.run(options.warmup, false); !good) return good.error();
    if (Result<void> good = team.run(std::max(1, options.repeats), true); !good)
      return good.error();
    summarize(team.ranks(), run);
    if (run.seconds > 0) {
      const CollectiveSpec& spec = collective.spec;
      run.algorithm_bandwidth = static_cast<double>(spec.bytes) / run.seconds;
      run.bus_bandwidth = run.algorithm_bandwidth * bus_factor(spec.kind, spec.ranks);
    }
    // Once more on fresh inputs, and looked at.
    if (Result<void> good = fill(collective, team, cancel); !good) return good.error();
    if (Result<void> good = team.run(1, false); !good) return good.error();
    if (Result<void> good = team.close(); !good) return good.error();
    if (Result<void> good = compare(collective, team, cancel, run); !good) return good.error();
  }
  run.correct = run.wrong_cells == 0;
  if (options.values) {
    Result<CollectiveValues> values = note_values(collective, on, cores, cancel);
    if (!values) return values.error();
    run.values = std::move(*values);
  }
  if (!options.rounding.empty()) {
    const Result<Collective> rival = rounding_rival(collective.spec, options.rounding);
    if (!rival) return rival.error();
    Result<RoundingComparison> rounding =
        compare_rounding(collective, *rival, cancel, inexact_value, on);
    if (!rounding) return rounding.error();
    run.rounding = std::move(*rounding);
  }
  return run;
} catch (const std::bad_alloc&) {
  return message(
      "memory-short.collective-host",
      "There is not enough memory for this collective; a smaller array or fewer ranks need less.");
}

}  // namespace parallelarium
