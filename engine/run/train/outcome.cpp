// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/outcome.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>

#include "engine/run/train/probe/probe_rows.h"
#include "engine/train/parameters.h"

namespace parallelarium {

// A figure of /proc/<file> such as "VmHWM:   1234 kB", in bytes; 0 if it is not there.
std::int64_t proc_bytes(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// Whether a collective adds up this tensor over ranks, so that one rank's value is everyone's.
bool is_summed_over_ranks(const RankProgram& rank, Tensor tensor) {
  return std::any_of(rank.ops.begin(), rank.ops.end(), [&](const Op& op) {
    // A collective, or a step of one.
    if (op.kind == OpKind::kCompute && op.piece != Piece::kCombine) return false;
    const auto operands = rank.operands_of(op);
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return rank.buffers[static_cast<std::size_t>(operand.buffer)].tensor == tensor;
    });
  });
}

// Whether the rank computes losses that no other rank of its TP group counts.
bool has_loss(const RankProgram& rank) {
  return rank.at.tp == 0 && std::any_of(rank.ops.begin(), rank.ops.end(), [](const Op& op) {
           return op.kind == OpKind::kCompute && op.piece == Piece::kLoss &&
                  op.phase == Phase::kForward;
         });
}

// The index of the timed step whose duration is the median (the lower one of two).
std::size_t median_of(const std::vector<Nanoseconds>& durations) {
  std::vector<std::size_t> order(durations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return durations[a] != durations[b] ? durations[a] < durations[b] : a < b;
  });
  return order[(order.size() - 1) / 2];
}

Nanoseconds divided(Nanoseconds time, double by) {
  return Nanoseconds(std::llround(static_cast<double>(time.count()) / by));
}

Timeline timeline_of(const std::vector<RankOutcome*>& ranks, Source source, StepFigures& step) {
  Timeline timeline;
  timeline.source = source;
  const std::size_t steps = ranks.front()->spans.size();
  timeline.steps = static_cast<int>(steps);
  if (steps == 0) return timeline;
  std::vector<Nanoseconds> begins(steps, Nanoseconds::max()), durations(steps, Nanoseconds{0});
  for (std::size_t s = 0; s < steps; ++s) {
    for (const RankOutcome* rank : ranks) {
      for (const Span& span : rank->spans[s]) begins[s] = std::min(begins[s], span.begin);
    }
    for (const RankOutcome* rank : ranks) {
      for (const Span& span : rank->spans[s])
        durations[s] = std::max(durations[s], span.end - begins[s]);
    }
  }
  const std::size_t median = median_of(durations);
  timeline.step = static_cast<int>(median) + 1;
  timeline.duration = durations[median];
  for (const RankOutcome* rank : ranks) {
    RankTimeline& out = timeline.ranks.emplace_back();
    out.spans = rank->spans[median];
    for (Span& span : out.spans) {
      span.begin -= begins[median];
      span.end -= begins[median];
    }
    out.shortest.assign(out.spans.size(), Nanoseconds::max());
    out.longest.assign(out.spans.size(), Nanoseconds{0});
    for (const std::vector<Span>& spans : rank->spans) {
      for (std::size_t op = 0; op < spans.size(); ++op) {
        out.shortest[op] = std::min(out.shortest[op], spans[op].end - spans[op].begin);
        out.longest[op] = std::max(out.longest[op], spans[op].end - spans[op].begin);
      }
    }
  }
  step.seconds_min = seconds_of(*std::min_element(durations.begin(), durations.end()));
  step.seconds_max = seconds_of(*std::max_element(durations.begin(), durations.end()));
  return timeline;
}

// A Timeline by the clock as one of the Machine that a rehearsal acts out.
void divide(Timeline& timeline, double stretch) {
  const auto divide_each = [&](std::vector<Nanoseconds>& times) {
    for (Nanoseconds& time : times) time = divided(time, stretch);
  };
  for (RankTimeline& rank : timeline.ranks) {
    for (Span& span : rank.spans) span = {divided(span.begin, stretch), divided(span.end, stretch)};
    divide_each(rank.shortest);
    divide_each(rank.longest);
  }
  timeline.duration = divided(timeline.duration, stretch);
  timeline.clock_error = divided(timeline.clock_error, stretch);
}

// Observation::delay_factor of the step shown. `ranks` as in result_of().
double delay_factor(const Program& program, const Timeline& timeline,
                    const std::vector<RankOutcome*>& ranks) {
  if (timeline.steps == 0) return 0;
  const auto step = static_cast<std::size_t>(timeline.step - 1);
  Nanoseconds end{0};
  double slowest = 0, most_missing = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    end = std::max(end, ranks[i]->modelled_end[step]);
    Nanoseconds computing{0};
    const std::vector<Span>& spans = ranks[i]->spans[step];
    for (std::size_t op = 0; op < spans.size(); ++op)
      if (program.ranks[i].ops[op].kind == OpKind::kCompute &&
          program.ranks[i].ops[op].lane == Lane::kCompute)
        computing += spans[op].end - spans[op].begin;
    // The lane's time holds that of its messages too, so this is the least it can have been.
    const Nanoseconds got = ranks[i]->compute_cpu_time[step];
    if (got.count() > 0) slowest = std::max(slowest, seconds_of(computing) / seconds_of(got));
    // An op that begins late still ends when it should, so that waiting stands in its place.
    const Nanoseconds given = ranks[i]->compute_given[step];
    if (computing.count() > 0)
      most_missing = std::max(most_missing, seconds_of(given) / seconds_of(computing));
  }
  if (timeline.source == Source::kPaced && end.count() > 0)
    return std::max(seconds_of(timeline.duration) / seconds_of(end), most_missing);
  return timeline.source == Source::kMeasured ? slowest : 0;
}

// A scalar of every step: one rank's where a collective has summed it, else the sum over the ranks
// of `adds` in rank order.
template <class Has>
std::vector<double> summed(const Program& program, const std::vector<RankOutcome*>& ranks,
                           Tensor tensor, std::vector<double> RankOutcome::*values,
                           const Has& has) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!has(program.ranks[i])) continue;
    const std::vector<double>& own = ranks[i]->*values;
    if (is_summed_over_ranks(program.ranks[i], tensor)) return own;
    sums.resize(own.size(), 0);
    for (std::size_t s = 0; s < own.size(); ++s) sums[s] += own[s];
  }
  return sums;
}

// Puts the ranks' parts of parameters together. What no rank had stays not-a-number.
std::vector<NamedTensor> joined(const Setup& setup, const Program& program,
                                const std::vector<RankOutcome*>& ranks,
                                std::vector<SlicePart> RankOutcome::*parts) {
  std::map<std::pair<Parameter, int>, std::vector<float>> whole;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Coordinates& at = program.ranks[i].at;
    for (const SlicePart& part : ranks[i]->*parts) {
      std::vector<float>& values = whole[{part.parameter, part.layer}];
      if (values.empty()) {
        values.assign(
            static_cast<std::size_t>(whole_count(setup.model, part.parameter, part.layer)),
            std::numeric_limits<float>::quiet_NaN());
      }
      const auto end = part.first + static_cast<std::int64_t>(part.values.size());
      for (const SliceStretches& stretch : slice_of(setup.model, part.parameter, setup.mesh.tp,
                                                    at.tp, part.layer, expert_share(setup, at))) {
        for (std::int64_t time = 0; time < stretch.times; ++time) {
          const std::int64_t begin = stretch.slice + time * stretch.slice_step;
          const std::int64_t from = std::max(begin, part.first);
          const std::int64_t to = std::min(begin + stretch.length, end);
          if (from >= to) continue;
          std::copy(part.values.begin() + (from - part.first),
                    part.values.begin() + (to - part.first),
                    values.begin() + stretch.whole + time * stretch.whole_step + (from - begin));
        }
      }
    }
    (ranks[i]->*parts).clear();
  }
  std::vector<NamedTensor> tensors;
  for (auto& [name, values] : whole)
    tensors.push_back({name.first, name.second, std::move(values)});
  return tensors;
}

// What ranks told of themselves, where they were asked. Ranks that own the same elements of the
// model must hold the same of it.
std::vector<RankState> states_of(const std::vector<RankOutcome*>& ranks) {
  std::vector<RankState> states;
  std::map<std::uint64_t, int> first, copies;  // by what they own, and by what they hold
  for (const RankOutcome* rank : ranks) {
    if (rank->state.weights_after.empty()) return {};
    RankState& state = states.emplace_back(rank->state);
    state.replica_of = first.try_emplace(rank->owned, state.rank).first->second;
    state.copy_of = state.copy_after.empty()
                        ? state.rank
                        : copies.try_emplace(rank->whole, state.rank).first->second;
  }
  return states;
}

// What all routers did, step by step.
std::vector<Routing> routing_of(const std::vector<RankOutcome*>& ranks) {
  std::vector<Routing> steps;
  for (const RankOutcome* rank : ranks) {
    steps.resize(std::max(steps.size(), rank->routing.size()));
    for (std::size_t step = 0; step < rank->routing.size(); ++step)
      steps[step].entries.insert(steps[step].entries.end(), rank->routing[step].begin(),
                                 rank->routing[step].end());
  }
  for (Routing& step : steps) sort_entries(step);
  return steps;
}

}  // namespace

std::optional<double> loss_of_step(const Program& program, const RunProgress& progress, int step) {
  const auto at = static_cast<std::size_t>(step - 1);
  std::optional<double> sum;
  for (std::size_t i = 0; i < program.ranks.size(); ++i) {
    if (!has_loss(program.ranks[i])) continue;
    const std::lock_guard lock(progress[i]->telling);
    if (progress[i]->loss_sums.size() <= at) return std::nullopt;
    const double own = progress[i]->loss_sums[at];
    const bool whole = is_summed_over_ranks(program.ranks[i], Tensor::kLossSum);
    sum = whole ? own : sum.value_or(0) + own;
    if (whole) break;
  }
  if (sum) *sum /= static_cast<double>(program.shape.global_tokens);
  return sum;
}

RunResult result_of(const Setup& setup, const Program& program, const BackendChoice& choice,
                    const RunControl& control, const std::vector<RankOutcome*>& ranks) {
  RunResult result;
  Observation& seen = result.observation;
  seen.setup = setup;
  Machine machine;
  const Result<Machine> gpus = find_machine(kLocalGpus);
  if (choice.backend == Backend::kCuda && gpus)
    machine = *gpus;
  else if (const Result<Machine> found = machine_of(setup.machine))
    machine = *found;
  seen.machine = machine.title;
  const bool paced = choice.backend == Backend::kPaced;
  seen.backend = paced ? "paced" : choice.backend == Backend::kCuda ? "cuda" : "cpu";
  seen.source = choice.source;
  seen.stretch = paced ? control.stretch : 0;
  StepFigures spread;
  seen.timeline = timeline_of(ranks, choice.source, spread);
  // Two ranks may be off by the sum of what each is.
  for (const RankOutcome* rank : ranks)
    seen.timeline.clock_error = std::max(seen.timeline.clock_error, 2 * rank->clock_error);
  seen.delay_factor = delay_factor(program, seen.timeline, ranks);
  if (paced) divide(seen.timeline, seen.stretch);
  seen.bubble = bubble_of(program, seen.timeline);
  seen.step = step_figures(program, seen.timeline, setup, machine);
  seen.step.seconds_min = spread.seconds_min / (paced ? seen.stretch : 1);
  seen.step.seconds_max = spread.seconds_max / (paced ? seen.stretch : 1);
  seen.routing = routing_of(ranks);
  seen.ranks_state = states_of(ranks);
  const auto shown = static_cast<std::size_t>(std::max(seen.timeline.step - 1, 0));
  std::vector<Nanoseconds> walls;  // of every step, of the rank that took longest
  double held_out_sum = 0;
  std::int64_t held_out_tokens = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankOutcome& rank = *ranks[i];
    seen.memory.push_back(rank.memory);
    if (rank.gpu_memory.gpu >= 0) seen.gpu_memory.push_back(rank.gpu_memory);
    if (shown < rank.host_time.size())
      seen.host_seconds = std::max(seen.host_seconds, seconds_of(rank.host_time[shown]));
    for (ProbedRank& probed : rank.probed) result.probes.push_back(std::move(probed));
    result.probe_bytes += rank.probe_bytes;
    walls.resize(std::max(walls.size(), rank.wall_time.size()));
    for (std::size_t step = 0; step < rank.wall_time.size(); ++step)
      walls[step] = std::max(walls[step], rank.wall_time[step]);
    seen.traffic.push_back(rank.traffic[static_cast<std::size_t>(seen.timeline.step) - 1]);
    seen.sent_bytes.push_back(rank.sent_bytes[static_cast<std::size_t>(seen.timeline.step) - 1]);
    if (has_loss(program.ranks[i])) {
      held_out_sum += rank.held_out_sum;
      held_out_tokens += rank.held_out_tokens;
    }
  }
  name_rows(setup, result.probes);
  if (!walls.empty() && !paced) seen.wall_seconds = seconds_of(walls[median_of(walls)]);
  seen.losses = summed(program, ranks, Tensor::kLossSum, &RankOutcome::loss_sums, has_loss);
  for (double& loss : seen.losses) loss /= static_cast<double>(program.shape.global_tokens);
  const auto replica0 = [&](const RankProgram& rank) { return rank.at.dp == 0 && rank.at.cp == 0; };
  seen.gradient_norms =
      summed(program, ranks, Tensor::kSquareSum, &RankOutcome::square_sums, replica0);
  for (double& norm : seen.gradient_norms) norm = std::sqrt(norm);
  if (held_out_tokens > 0)
    result.held_out_loss = held_out_sum / static_cast<double>(held_out_tokens);
  result.gradients = joined(setup, program, ranks, &RankOutcome::gradients);
  result.last_gradients = joined(setup, program, ranks, &RankOutcome::last_gradients);
  result.parameters = joined(setup, program, ranks, &RankOutcome::parameters);
  seen.process_bytes = proc_bytes("/proc/self/status", "VmHWM:");
  seen.date = now_utc();
  return result;
}

}  // namespace parallelarium
