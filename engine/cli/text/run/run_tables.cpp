// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/run_tables.h"

#include <algorithm>

#include "engine/cli/text/run/report_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"

namespace parallelarium {

std::string losses_text(const Observation& observed) {
  Table table({"step", "loss (nat per byte)", "gradient norm", ""});
  const std::size_t warmup = static_cast<std::size_t>(std::max(0, observed.setup.run.warmup));
  const std::size_t steps = observed.losses.size();
  for (std::size_t step = 0; step < steps; ++step) {
    if (steps > 20 && step == 8) {
      table.add({"…"});
      continue;
    }
    if (steps > 20 && step > 8 && step + 8 < steps) continue;
    table.add(
        {fmt::format("{}", step + 1), exact_text(observed.losses[step]),
         step < observed.gradient_norms.size() ? exact_text(observed.gradient_norms[step]) : "",
         step < warmup ? "warm-up" : ""});
  }
  return table.text();
}

std::string proof_text(const Proof& proof) {
  Table table({"", ">", ">bound", ""});
  table.add({"largest difference of a loss, relative", fmt::format("{:.2e}", proof.loss_difference),
             fmt::format("{:.3g}", proof.loss_bound),
             proof.losses_hold() ? "holds" : "DOES NOT HOLD"});
  table.add({"difference of all gradients, ‖Δ‖/‖g‖",
             fmt::format("{:.2e}", proof.gradient_difference),
             fmt::format("{:.3g}", proof.gradient_bound),
             proof.gradients_hold() ? "holds" : "DOES NOT HOLD"});
  std::string text = fmt::format("Proof (the same training on one rank{})\n{}",
                                 proof.in_16_bit ? " in fp32" : "", table.text());
  if (!proof.worst_parameter.text.empty() && proof.gradient_difference > 0)
    text += fmt::format("  Differs most in {}.\n", proof.worst_parameter.text);
  return text;
}

std::string choices_text(const std::vector<LibraryChoice>& choices) {
  Table table(
      {"NCCL chose for", ">ranks", "algorithm", "protocol", ">channels", ">calls", "bytes"});
  for (const LibraryChoice& choice : choices) {
    const std::string least = bytes_text(static_cast<double>(choice.least_bytes)),
                      most = bytes_text(static_cast<double>(choice.most_bytes));
    table.add({choice.collective, fmt::format("{}", choice.ranks), choice.algorithm,
               choice.protocol, fmt::format("{}", choice.channels), fmt::format("{}", choice.calls),
               least == most ? least : least + " to " + most});
  }
  return table.text();
}

}  // namespace parallelarium
