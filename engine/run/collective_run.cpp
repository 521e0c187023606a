// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "engine/run/collective_parts.h"
#include "engine/run/cores.h"
#include "engine/run/cpu/fabric.h"
#include "engine/run/executor.h"

namespace parallelarium {

namespace {

// A short wait is cheaper than a sleep where every rank has a core.
constexpr auto kSpin = std::chrono::milliseconds{5};

double seconds_of(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

struct Rank {
  LaneDevices devices;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Transport> transport;
  RankProgress progress;
  std::thread thread;
  // By repeat: when the rank went in, and its spans since the common start.
  std::vector<Nanoseconds> entered;
  std::vector<std::vector<Span>> spans;
  std::int64_t sent = 0, received = 0;
};

// All ranks of one Program, with their threads while it runs.
class Team {
 public:
  // Where there is a core for every rank, each stays on its own and waits awake.
  Team(const Program& program, const std::vector<Core>& cores, const std::atomic<bool>* cancel)
      : program_(program),
        cores_(cores),
        cancel_(cancel),
        stop_(program.ranks.size() <= cores.size() ? std::chrono::nanoseconds(kSpin)
                                                   : std::chrono::nanoseconds{0}),
        fabric_(static_cast<int>(program.ranks.size()), program.groups, stop_),
        ranks_(program.ranks.size()) {}

  Result<void> allocate() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      for (auto& device : ranks_[i].devices) device = make_cpu_device();
      auto arena = Arena::make(*ranks_[i].devices[0], program_.ranks[i], false);
      if (!arena) return arena.error();
      ranks_[i].arena = std::move(*arena);
      ranks_[i].transport = fabric_.transport(static_cast<int>(i));
    }
    return {};
  }

  // Zeros: memory that nobody wrote has no pages of its own, and reads of it stay in the cache.
  void clear() {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      std::memset(ranks_[i].arena->base(), 0,
                  static_cast<std::size_t>(program_.ranks[i].arena_bytes));
  }

  // Runs the Program so often on every rank at once.
  Result<void> run(int times, bool keep) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      try {
        ranks_[i].thread = std::thread([this, i, times, keep] { rank_thread(i, times, keep); });
      } catch (const std::system_error&) {
        stop_.raise(message("threads-short",
                            "This computer gives the engine no more threads after {} ranks; "
                            "choose fewer ranks.",
                            i));
        break;
      }
    }
    for (Rank& rank : ranks_) {
      if (rank.thread.joinable()) rank.thread.join();
    }
    if (stop_.raised()) return stop_.why();
    return {};
  }

  std::vector<Rank>& ranks() { return ranks_; }
  std::byte* buffer(std::size_t rank, std::size_t index) const {
    return ranks_[rank].arena->base() + program_.ranks[rank].buffers[index].offset;
  }

 private:
  void rank_thread(std::size_t index, int times, bool keep) {
    Rank& rank = ranks_[index];
    // Processes that run collectives at the same time begin at different cores.
    if (stop_.spin().count() > 0)
      stay_on(cores_[(static_cast<std::size_t>(getpid()) + index) % cores_.size()]);
    try {
      Executor executor(program_, program_.ranks[index], *rank.transport, rank.devices, *rank.arena,
                        stop_, rank.progress, {});
      StepRecord record;
      record.wants_cpu_time = false;
      for (int time = 0; time < times; ++time) {
        if (cancel_ != nullptr && cancel_->load())
          stop_.raise(message("cancelled", "The run was cancelled."));
        const Result<TimePoint> start = rank.transport->barrier();
        if (!start) return;
        const Nanoseconds entered = Clock::now() - *start;
        if (!executor.step(*start, {}, record)) return;
        if (!keep) continue;
        rank.entered.push_back(entered);
        rank.spans.push_back(record.spans);
        rank.sent = rank.received = 0;
        for (const TrafficRow& row : record.traffic) {
          rank.sent += row.sent_bytes;
          rank.received += row.received_bytes;
        }
      }
    } catch (const std::system_error&) {
      // The executor has told why.
    }
  }

  const Program& program_;
  const std::vector<Core>& cores_;
  const std::atomic<bool>* cancel_;
  Stop stop_;
  CpuFabric fabric_;
  std::vector<Rank> ranks_;
};

void fill(const Collective& collective, Team& team, InputValue inputs = input_value) {
  const CollectiveSpec& spec = collective.spec;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const std::int64_t count = collective.program.ranks[r].buffers[0].bytes / size_of(spec.type);
    fill_input(spec, rank, team.buffer(r, 0), count, inputs);
  }
}

// Of one repeat: from when the last rank went in to when the last came out.
struct Repeat {
  Nanoseconds last_in{0}, last_out{0}, first_begin{0};
};

Repeat repeat_of(const std::vector<Rank>& ranks, std::size_t repeat) {
  Repeat seen{Nanoseconds::min(), Nanoseconds::min(), Nanoseconds::max()};
  for (const Rank& rank : ranks) {
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

void summarize(const std::vector<Rank>& ranks, CollectiveObservation& run) {
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
  for (const Rank& rank : ranks) {
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
    run.sent_bytes.push_back(rank.sent);
    run.received_bytes.push_back(rank.received);
  }
}

Result<CollectiveValues> note_values(const Collective& collective, const std::vector<Core>& cores,
                                     const std::atomic<bool>* cancel) {
  const Program program = with_notes(collective);
  Team team(program, cores, cancel);
  if (Result<void> good = team.allocate(); !good) return good.error();
  fill(collective, team);
  if (Result<void> good = team.run(1, false); !good) return good.error();
  CollectiveValues values;
  const CollectiveSpec& spec = collective.spec;
  values.steps = static_cast<int>(collective.steps.size());
  for (int step = 0; step <= values.steps; ++step) {
    for (int rank = 0; rank < spec.ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const std::byte* notes = team.buffer(r, program.ranks[r].buffers.size() - 1);
      for (int chunk = 0; chunk < collective.chunks; ++chunk) {
        const ChunkRange range = chunk_range(collective, chunk);
        const bool away = spec.kind == CollectiveKind::kAllToAll && rank != chunk / spec.ranks &&
                          rank != chunk % spec.ranks;
        values.first.push_back(
            range.begin == range.end || away
                ? std::numeric_limits<double>::quiet_NaN()
                : read_value(spec.type, notes, std::int64_t{step} * collective.chunks + chunk));
      }
    }
  }
  return values;
}

}  // namespace

Result<std::vector<std::vector<std::byte>>> arrays_after(const Collective& collective,
                                                         InputValue inputs,
                                                         const std::atomic<bool>* cancel) {
  const std::vector<Core> cores = available_cores();
  Team team(collective.program, cores, cancel);
  if (Result<void> good = team.allocate(); !good) return good.error();
  fill(collective, team, inputs);
  if (Result<void> good = team.run(1, false); !good) return good.error();
  std::vector<std::vector<std::byte>> arrays;
  for (std::size_t rank = 0; rank < team.ranks().size(); ++rank) {
    const std::byte* begin = team.buffer(rank, 0);
    arrays.emplace_back(begin, begin + collective.spec.bytes);
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
  Team team(collective.program, cores, cancel);
  if (Result<void> good = team.allocate(); !good) return good.error();
  team.clear();
  if (Result<void> good = team.run(warmup, false); !good) return good.error();
  if (Result<void> good = team.run(repeats, true); !good) return good.error();
  CollectiveObservation run;
  summarize(team.ranks(), run);
  return run.seconds;
}

Result<CollectiveObservation> run_collective(const Collective& collective,
                                             const CollectiveRunOptions& options,
                                             const std::atomic<bool>* cancel) {
  if (std::vector<Message> wrong = check(collective.program); !wrong.empty()) return wrong.front();
  const std::vector<Core> cores = available_cores();
  CollectiveObservation run;
  run.source =
      collective.program.ranks.size() <= cores.size() ? Source::kMeasured : Source::kOversubscribed;
  {
    Team team(collective.program, cores, cancel);
    if (Result<void> good = team.allocate(); !good) return good.error();
    fill(collective, team);
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
    fill(collective, team);
    if (Result<void> good = team.run(1, false); !good) return good.error();
    const bool exchange = collective.spec.kind == CollectiveKind::kAllToAll;
    for (std::size_t rank = 0; rank < team.ranks().size(); ++rank) {
      compare_result(collective, static_cast<int>(rank), team.buffer(rank, 0),
                     exchange ? team.buffer(rank, 1) : nullptr, run);
    }
  }
  run.correct = run.wrong_cells == 0;
  if (options.values) {
    Result<CollectiveValues> values = note_values(collective, cores, cancel);
    if (!values) return values.error();
    run.values = std::move(*values);
  }
  if (!options.rounding.empty()) {
    const Result<Collective> rival = rounding_rival(collective.spec, options.rounding);
    if (!rival) return rival.error();
    Result<RoundingComparison> rounding = compare_rounding(collective, *rival, cancel);
    if (!rounding) return rounding.error();
    run.rounding = std::move(*rounding);
  }
  return run;
}

}  // namespace parallelarium
