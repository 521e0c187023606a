// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/run_text.h"

#include <algorithm>

#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/context_text.h"
#include "engine/cli/text/run/balance_text.h"
#include "engine/cli/text/run/ranks_text.h"
#include "engine/cli/text/run/report_text.h"
#include "engine/cli/text/run/run_tables.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

std::string rehearsal_text(const Observation& observed, const std::optional<Message>& delay) {
  const std::string own_cores =
      observed.setup.machine == "local" ? " Every lane of a rank had a core of its own." : "";
  return fmt::format(
      "Rehearsed 1:{}: every op was given its predicted time on {}, stretched by {}; the step took "
      "{} "
      "by the clock, and all times here are the machine's. Order, waiting, bytes, memory and loss "
      "are what was observed.{}{}",
      three_digits(observed.stretch), observed.machine, three_digits(observed.stretch),
      seconds_text(observed.step.seconds * observed.stretch), own_cores,
      delay ? " " + delay->text : "");
}

std::string source_text(const Training& training) {
  const Observation& observed = training.result.observation;
  const std::optional<Message> delay = delay_of(observed);
  switch (observed.source) {
    case Source::kPaced:
      return rehearsal_text(observed, delay);
    case Source::kOversubscribed:
      return "Oversubscribed: ranks share cores, so times are not evidence of speed.";
    case Source::kSharedGpu:
      return "Shared GPU: ranks share one device, so times are not evidence of speed." +
             (delay ? " " + delay->text : "");
    case Source::kMeasured:
    case Source::kPredicted:
      break;
  }
  if (delay && observed.gpu_use.empty())
    return "Measured, with no more ranks than cores. " + delay->text;
  if (delay) return "Measured, with a GPU for every rank. " + delay->text;
  return "Measured: every rank had a core or GPU of its own.";
}

bool is_by_formula(const Observation& observed) {
  return !std::all_of(observed.traffic.begin(), observed.traffic.end(), all_counted);
}

}  // namespace

std::string run_text(const Training& training) {
  const Observation& observed = training.result.observation;
  const std::string word(spoken_name(observed.source));
  std::string text = fmt::format("{}\n{}\n{}\n{}\n\n", describe(observed.setup),
                                 chosen_text(observed.setup, training.asked),
                                 training.choice.why.text, wrapped(source_text(training), 100, 0));
  const bool times = predicts_times(training.prediction.machine, observed);
  if (!times)
    text +=
        "The prediction is of other devices than those that ran: it gives bytes and no times.\n";
  text += fmt::format("Predicted beside {} (one step, the median of {}; {} counted)\n", word,
                      observed.setup.run.steps,
                      is_by_formula(observed) ? "memory, not all bytes," : "memory and bytes");
  text += comparison_text(compare_with(training.prediction, observed), observed.source);
  if (training.routed) {
    text += "  " + balance_text(observed);
    if (times)
      text += fmt::format(
          "  By that routing the step was predicted to take {} ({}).\n",
          seconds_text(training.routed->step.seconds),
          signed_percent_text(training.routed->step.seconds / observed.step.seconds - 1));
  }
  const ContextTimes context =
      context_times(training.prediction.setup, training.prediction.program, observed.timeline);
  if (context.known())
    text += "  " + context_times_text(context, observed.source == Source::kPaced
                                                   ? "set"
                                                   : spoken_name(observed.source));
  if (observed.timeline.clock_error.count() > 0)
    text += fmt::format(
        "  Ranks' clocks agree within {}.\n",
        seconds_text(std::chrono::duration<double>(observed.timeline.clock_error).count()));
  if (!observed.transport.empty())
    text += fmt::format("  Ranks met over {}.\n", observed.transport);
  if (is_by_formula(observed))
    text += "  Bytes of whole NCCL collectives are those of the formula, not counted.\n";
  if (!observed.choices.empty())
    text += choices_text(observed.choices) +
            "  Of ranks in processes of their own, only rank 0's communicators are listed.\n";
  text += fmt::format("  Steps took {} to {}.\n", seconds_text(observed.step.seconds_min),
                      seconds_text(observed.step.seconds_max));
  if (observed.backend == "cuda")
    text += fmt::format(
        "  GPUs waited for the engine for at most {} of the step ({}); with loading and reading "
        "back\n"
        "  a training step took {}.\n",
        seconds_text(observed.host_seconds),
        percent_text(observed.host_seconds / observed.step.seconds),
        seconds_text(observed.wall_seconds));
  for (const GpuMemory& row : observed.gpu_memory) {
    const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
    text += fmt::format(
        "  GPU {} of rank {} gave {} (its driver's count): {} of arenas, {} of workspaces, {} of\n"
        "  communicators, {} of code loaded on the way, {} unexplained.\n",
        row.gpu, row.rank, bytes(row.driver_bytes), bytes(row.arena_bytes),
        bytes(row.workspace_bytes), bytes(row.communicator_bytes), bytes(row.context_bytes),
        bytes(row.unexplained_bytes()));
  }
  if (observed.process_bytes > 0 && observed.gpu_memory.empty())
    text += fmt::format(
        "  The engine process held {} (measured): {} counted on its ranks, {} unexplained\n"
        "  (the program, its libraries, the text{}).\n",
        bytes_text(static_cast<double>(observed.process_bytes)),
        bytes_text(static_cast<double>(counted_bytes(observed))),
        bytes_text(static_cast<double>(observed.process_bytes - counted_bytes(observed))),
        training.prediction.setup.precision.parameter_bytes == 2 ? ", fp32 copies in kernels" : "");
  text += "\n" + explanation_text(explain(training.prediction.program, observed.timeline), word);
  text += "\nTraining\n" + losses_text(observed);
  if (observed.ranks_state.size() > 1) text += "\n" + ranks_state_text(observed);
  if (training.proof) text += "\n" + proof_text(*training.proof);
  return text;
}

}  // namespace parallelarium
