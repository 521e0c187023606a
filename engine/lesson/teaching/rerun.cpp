// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/rerun.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace parallelarium {

namespace {

constexpr int kMostRerunSteps = 100;

Rerun not_run(Message why) { return {RerunVerdict::kNotRun, 0, std::move(why)}; }

std::int64_t all_sent_bytes(const Observation& seen) {
  std::int64_t sum = 0;
  for (const std::vector<TrafficRow>& rank : seen.traffic)
    for (const TrafficRow& row : rank) sum += row.sent_bytes;
  return sum;
}

Rerun compared(const HandInRun& claimed, const Observation& seen) {
  Rerun rerun;
  if (claimed.losses.size() != seen.losses.size()) {
    rerun.verdict = RerunVerdict::kDifferent;
    rerun.words = message("rerun-steps", "The file has {} losses, the run again {}.",
                          claimed.losses.size(), seen.losses.size());
    return rerun;
  }
  for (std::size_t step = 0; step < seen.losses.size(); ++step)
    rerun.difference =
        std::max(rerun.difference,
                 std::abs(claimed.losses[step] - seen.losses[step]) / std::abs(seen.losses[step]));
  const std::int64_t sent = all_sent_bytes(seen);
  const std::string share = fmt::format("{:.2g}", rerun.difference);
  const bool same_bits = claimed.losses == seen.losses;
  if (claimed.sent_bytes != sent) {
    rerun.verdict = RerunVerdict::kDifferent;
    rerun.words = message("rerun-bytes", "The file has {} bytes sent, the run again {}.",
                          claimed.sent_bytes, sent);
  } else if (same_bits) {
    rerun.verdict = RerunVerdict::kEqual;
    rerun.words =
        message("rerun-equal", "All {} losses are equal to the last bit.", seen.losses.size());
  } else if (rerun.difference <= kCloseLosses) {
    rerun.verdict = RerunVerdict::kClose;
    rerun.words =
        claimed.backend == "cuda"
            ? message(
                  "rerun-close-gpu",
                  "It was run on GPUs, whose losses differ by at most {} of those of CPU ranks.",
                  share)
            : message("rerun-close",
                      "Losses differ by at most {} of themselves, as another processor rounds.",
                      share);
  } else {
    rerun.verdict = RerunVerdict::kDifferent;
    rerun.words = message("rerun-losses", "Losses differ by up to {} of themselves.", share);
  }
  return rerun;
}

// The Setup that the step sets, run as the student ran it, on CPU ranks. Error: the student's was
// another one, or it would take too long.
Result<Setup> setup_again(const Lesson& lesson, std::size_t step, const HandIn& hand_in,
                          const Setup& claimed) {
  const Symbols drawn = draw(lesson, hand_in.seed);
  Result<Settings> set = settings_at(lesson, step, drawn);
  for (const HandInStep& earlier : hand_in.steps)  // it may go on from a plan of the student's own
    if (earlier.step == lesson.steps[step].from && earlier.set)
      set = entered(lesson.steps[step], *earlier.set, drawn);
  if (!set) return set.error();
  Setup setup = set->setup;
  if (is_auto(setup.precision)) setup.precision = claimed.precision;
  if (setup.attention == Attention::kAuto) setup.attention = claimed.attention;
  setup.run = claimed.run;
  if (!(setup == claimed))
    return message("rerun-setup", "It was run with another Setup than the step sets.");
  if (setup.run.text != "default")
    return message("rerun-text", "It was trained on a text of its own, {}.", setup.run.text);
  if (setup.run.steps + setup.run.warmup > kMostRerunSteps)
    return message("rerun-long", "It has {} training steps, more than {}.",
                   setup.run.steps + setup.run.warmup, kMostRerunSteps);
  setup.run.backend = setup.machine == MachineChoice("local") ? Backend::kCpu : Backend::kPaced;
  setup.run.devices = "all";
  return setup;
}

Rerun rerun_step(const Lesson& lesson, HandIn& hand_in, const HandInStep& given,
                 const std::function<Result<Observation>(const Setup&)>& run) {
  if (given.run_fault) return not_run(*given.run_fault);
  const Step* step = lesson.find(given.step);
  const Result<Setup> setup = setup_again(
      lesson, static_cast<std::size_t>(step - lesson.steps.data()), hand_in, given.run->setup);
  if (!setup) {
    Message fault =
        message("hand-in-rerun", "{}, \"{}\": {}", hand_in.file, given.step, setup.error());
    hand_in.faults.push_back(std::move(fault));
    return not_run(setup.error());
  }
  const Result<Observation> seen = run(*setup);
  return seen ? compared(*given.run, *seen) : not_run(seen.error());
}

}  // namespace

std::string_view name_of(RerunVerdict verdict) {
  switch (verdict) {
    case RerunVerdict::kEqual:
      return "equal";
    case RerunVerdict::kClose:
      return "close";
    case RerunVerdict::kDifferent:
      return "different";
    case RerunVerdict::kNotRun:
      break;
  }
  return "not run";
}

nlohmann::json hand_in_run(const Observation& seen) {
  return {{"source", name_of(seen.source)}, {"machine", seen.machine},
          {"backend", seen.backend},        {"setup", to_json(seen.setup)},
          {"losses", seen.losses},          {"sent_bytes", all_sent_bytes(seen)}};
}

RerunCount rerun_hand_ins(ClassReport& report, int count, std::uint64_t seed,
                          const std::string& course,
                          const std::function<Result<Observation>(const Setup&)>& run) {
  std::vector<HandIn*> with_runs;
  for (HandIn& hand_in : report.hand_ins)
    if (hand_in.has_runs()) with_runs.push_back(&hand_in);
  std::mt19937_64 random(seed);
  const auto wanted = std::min(with_runs.size(), static_cast<std::size_t>(std::max(0, count)));
  for (std::size_t at = 0; at < wanted; ++at)
    std::swap(with_runs[at], with_runs[at + random() % (with_runs.size() - at)]);
  with_runs.resize(wanted);
  for (HandIn* hand_in : with_runs) {
    hand_in->drawn = true;
    const Result<Lesson> lesson = read_lesson(lesson_folder(course, hand_in->lesson));
    if (!lesson) continue;  // its steps could not be read either
    for (HandInStep& step : hand_in->steps)
      if (step.run || step.run_fault) step.rerun = rerun_step(*lesson, *hand_in, step, run);
  }
  const auto could_be = [](const HandInStep& step) {
    return step.rerun && step.rerun->verdict != RerunVerdict::kNotRun;
  };
  RerunCount counted{static_cast<int>(wanted), 0};
  for (const HandIn* hand_in : with_runs)
    counted.run += std::any_of(hand_in->steps.begin(), hand_in->steps.end(), could_be);
  return counted;
}

}  // namespace parallelarium
