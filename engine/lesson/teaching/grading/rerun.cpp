// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/grading/rerun.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "engine/lesson/play.h"
#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"

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

// The Setup that the step sets, run as the student ran it. Error: the student's was another one.
Result<Setup> setup_set(const Lesson& lesson, std::size_t step, const HandIn& hand_in,
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
  return setup;
}

void run_on_cores(Setup& setup) {
  setup.run.backend = setup.machine == MachineChoice("local") ? Backend::kCpu : Backend::kPaced;
  setup.run.devices = "all";
}

// The same on CPU ranks. Error: as setup_set(), or it would take too long.
Result<Setup> setup_again(const Lesson& lesson, std::size_t step, const HandIn& hand_in,
                          const Setup& claimed) {
  Result<Setup> set = setup_set(lesson, step, hand_in, claimed);
  if (!set) return set;
  Setup& setup = *set;
  if (setup.run.text != "default")
    return message("rerun-text", "It was trained on a text of its own, {}.", setup.run.text);
  if (setup.run.steps + setup.run.warmup > kMostRerunSteps)
    return message("rerun-long", "It has {} training steps, more than {}.",
                   setup.run.steps + setup.run.warmup, kMostRerunSteps);
  run_on_cores(setup);
  return set;
}

Message of_step(const HandIn& hand_in, const std::string& step, const Message& why) {
  return message("hand-in-rerun", "{}, \"{}\": {}", hand_in.file, step, why);
}

// The bytes that all ranks send in a step of the Setup; none: it cannot be predicted here.
std::optional<std::int64_t> predicted_bytes(Setup setup, const Computer& computer) {
  run_on_cores(setup);
  const Result<Situation> here = situation_of(setup, computer);
  if (!here) return std::nullopt;
  const Result<Prediction> prediction = predict(here->setup, here->machine);
  if (!prediction) return std::nullopt;
  std::int64_t sum = 0;
  for (int rank = 0; rank < here->setup.mesh.ranks(); ++rank)
    for (const TrafficRow& row : expected_traffic(*prediction, rank)) sum += row.sent_bytes;
  return sum;
}

Rerun rerun_step(const Lesson& lesson, HandIn& hand_in, const HandInStep& given,
                 const std::function<Result<Observation>(const Setup&)>& run) {
  if (given.run_fault) return not_run(*given.run_fault);
  const Step* step = lesson.find(given.step);
  const Result<Setup> setup = setup_again(
      lesson, static_cast<std::size_t>(step - lesson.steps.data()), hand_in, given.run->setup);
  if (!setup) {
    Message fault = of_step(hand_in, given.step, setup.error());
    std::vector<Message>& faults = hand_in.faults;
    if (std::find(faults.begin(), faults.end(), fault) == faults.end())
      faults.push_back(std::move(fault));
    return not_run(setup.error());
  }
  const Result<Observation> seen = run(*setup);
  return seen ? compared(*given.run, *seen) : not_run(seen.error());
}

}  // namespace

std::optional<Message> fault_of_run(const Lesson& lesson, const HandIn& hand_in,
                                    const HandInStep& given, const Computer& computer) {
  const auto step = static_cast<std::size_t>(lesson.find(given.step) - lesson.steps.data());
  const HandInRun& run = *given.run;
  if (const Result<Setup> set = setup_set(lesson, step, hand_in, run.setup); !set)
    return of_step(hand_in, given.step, set.error());
  // A router's choices are the run's own, and a GPU's collectives may be others than a CPU's.
  if (run.setup.run.backend == Backend::kCuda || run.setup.model.experts.count > 0)
    return std::nullopt;
  const std::optional<std::int64_t> bytes = predicted_bytes(run.setup, computer);
  if (!bytes || *bytes == run.sent_bytes) return std::nullopt;
  return of_step(hand_in, given.step,
                 message("hand-in-bytes",
                         "The file says that {} sent bytes were counted; such a step sends {}.",
                         run.sent_bytes, *bytes));
}

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
