// SPDX-License-Identifier: Apache-2.0
#include "engine/run/watch.h"

#include <algorithm>
#include <cmath>

namespace parallelarium {

namespace {

constexpr double kSleepNanoseconds = 10'000;  // processor time of going to sleep and waking up

// Rounded up to two digits: "0.068" -> 0.068, 0.0612 -> 0.062.
double two_digits_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

RunWatch::RunWatch(const Setup& setup, const Program& program, const RunControl& control,
                   const Progress& progress, Stop& stop, bool paced, int cores)
    : setup_(setup),
      program_(program),
      control_(control),
      progress_(progress),
      stop_(stop),
      paced_(paced),
      cores_(cores),
      steps_(setup.run.warmup + setup.run.steps) {}

void RunWatch::look() {
  if (control_.cancel != nullptr && control_.cancel->load()) {
    stop_.raise(message("cancelled", "The run was cancelled."));
  }
  int done = steps_;
  for (const auto& rank : progress_) done = std::min(done, rank->steps_done.load());
  if (control_.progress && done != reported_) {
    reported_ = done;
    control_.progress(static_cast<double>(done) / std::max(steps_, 1),
                      done < steps_ ? fmt::format("step {} of {}", done + 1, steps_)
                                    : fmt::format("{} steps done", steps_));
  }
  // The first step also makes the kernels' code and touches their memory, so the second is judged.
  if (paced_ && !judged_ && done >= std::min(2, steps_)) judge_load();
  look_for_hang();
}

void RunWatch::look_for_hang() {
  std::uint64_t changes = 0;
  bool may_hang = false;
  for (const auto& rank : progress_) {
    for (const LaneProgress& lane : rank->lanes) {
      changes += lane.changes.load();
      const Doing doing = lane.doing.load();
      if (doing == Doing::kPacing) changed_ = Clock::now();  // it will wake up
      may_hang = may_hang || doing != Doing::kNothing;
    }
  }
  if (changes != changes_ || !may_hang) {
    changes_ = changes;
    changed_ = Clock::now();
  }
  const double still = std::chrono::duration<double>(Clock::now() - changed_).count();
  if (still > control_.hang_timeout_seconds && !stop_.raised()) {
    stop_.raise(describe_hang(program_, progress_, control_.hang_timeout_seconds));
  }
}

void RunWatch::judge_load() {
  judged_ = true;
  // `least_load` allows for the sleeps that a slower pace brings: too fast a run has none to pay
  // for.
  double work = 0, step = 0, load = 0, sleeps = 0, least_load = 0;
  for (std::size_t index = 0; index < progress_.size(); ++index) {
    const RankProgress& rank = *progress_[index];
    work += static_cast<double>(rank.cpu_time.load());
    step = std::max(step, static_cast<double>(rank.modelled_end.load()));
    double modelled = 0;  // of the rank's compute lane, which one core has to keep up with
    double own_sleeps = 0;
    const auto& ops = program_.ranks[index].ops;
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (ops[op].lane != Lane::kCompute || ops[op].kind != OpKind::kCompute) continue;
      modelled += static_cast<double>(control_.modelled[index][op].count()) * control_.pace_factor;
      own_sleeps += kSleepNanoseconds;
    }
    sleeps += own_sleeps;
    if (modelled <= 0) continue;
    const auto own_work = static_cast<double>(rank.compute_cpu_time.load());
    load = std::max(load, own_work / modelled);
    least_load = std::max(least_load, (own_work + own_sleeps) / modelled);
  }
  if (step > 0) {
    load = std::max(load, work / (step * cores_));
    least_load = std::max(least_load, (work + sleeps) / (step * cores_));
  }
  if (load <= kMostPacedLoad) return;
  const double least = two_digits_up(setup_.run.pace_seconds * least_load / kMostPacedLoad);
  Message why = message("pace-too-fast",
                        "At a pace of {} s the real work would fill {} % of the {}; a pace of at "
                        "least {} s leaves room.",
                        setup_.run.pace_seconds, std::lround(load * 100),
                        cores_ == 1 ? std::string("core") : fmt::format("{} cores", cores_),
                        fmt::format("{:.4g}", least));
  why.field = "run.pace_seconds";
  why.alternatives = {fmt::format("{:.4g}", least)};
  stop_.raise(std::move(why));
}

}  // namespace parallelarium
