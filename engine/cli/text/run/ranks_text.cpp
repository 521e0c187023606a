// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/ranks_text.h"

#include <nlohmann/json.hpp>

#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/durations.h"
#include "engine/plan/text/phrases.h"
#include "engine/wire/rpc.h"

namespace parallelarium {

std::string ranks_state_text(const Observation& observed) {
  const std::vector<RankState>& ranks = observed.ranks_state;
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : std::string("-");
  };
  Table table({"rank", ">its own loss", ">gradients, own", ">added up", "weights before", "after",
               "must equal rank"});
  std::string differing;
  for (const RankState& state : ranks) {
    const bool copy = state.replica_of != state.rank;
    table.add({fmt::format("{}", state.rank), number(state.loss), number(state.gradient_norm),
               number(state.gradient_norm_reduced), state.weights_before, state.weights_after,
               copy ? fmt::format("{}", state.replica_of) : ""});
    for (const RankState& other : ranks)
      if ((copy && other.rank == state.replica_of && other.weights_after != state.weights_after) ||
          (other.rank == state.copy_of && other.copy_after != state.copy_after))
        differing += fmt::format("  Rank {} must hold the same weights as rank {}, and does NOT.\n",
                                 state.rank, other.rank);
  }
  return "Ranks in the last step\n" + table.text() + differing;
}

std::string noise_text(std::span<const NoiseScale> runs) {
  if (runs.empty()) return {};
  const NoiseScale mean = average(runs);
  const std::string of =
      fmt::format("by the gradients of {} and of {} sequences", mean.small, mean.big);
  std::string text = "\nNoise in the gradients of the last step\n";
  if (!mean.sequences())
    return text +
           fmt::format("  {}, noise hides the gradient: more ranks or seeds may tell.\n", of);
  text +=
      fmt::format("  It equals the gradient at a batch of {:.3g} sequences ({:.3g} tokens), {}",
                  *mean.sequences(), *mean.sequences() * static_cast<double>(mean.sequence), of);
  if (runs.size() == 1) return text + ".\n";
  std::string each;
  for (const NoiseScale& run : runs)
    each += (each.empty() ? "" : ", ") +
            (run.sequences() ? fmt::format("{:.3g}", *run.sequences()) : std::string("none"));
  return text +
         fmt::format(",\n  averaged over {} seeds; each alone says {}.\n", runs.size(), each);
}

Result<double> seconds_to_hang(const std::string& text) {
  if (text.empty()) return 0.0;
  const std::optional<double> seconds = seconds_of_text(text);
  if (seconds && *seconds >= 0.1 && *seconds <= kMostHangSeconds) return *seconds;
  return message("let-it-hang", "--let-it-hang takes 0.1 to {} seconds, such as 5s.",
                 kMostHangSeconds);
}

std::string hang_text(const Training& training) {
  const HangReport& hang = *training.hang;
  std::string text =
      fmt::format("{}\n{}\n\nIt hangs, as it was allowed to: no rank moved for {} s.\n",
                  describe(training.prediction.setup), training.choice.why.text, hang.seconds);
  for (const StuckRank& stuck : hang.ranks) text += "  " + stuck.sentence.text + "\n";
  return text;
}

nlohmann::json hang_json(const Training& training) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const StuckRank& stuck : training.hang->ranks) {
    const bool waits = stuck.for_rank >= 0;
    ranks.push_back({{"rank", stuck.rank},
                     {"waits_in", stuck.waits_in.text},
                     {"for_rank", waits ? nlohmann::json(stuck.for_rank) : nullptr},
                     {"needs", waits ? nlohmann::json(stuck.needs.text) : nullptr},
                     {"sentence", stuck.sentence.text}});
  }
  return {{"setup", to_json(training.asked)},
          {"resolved", to_json(training.prediction.setup)},
          {"source", name_of(training.choice.source)},
          {"backend", training.choice.backend == Backend::kPaced ? "paced" : "cpu"},
          {"backend_reason", training.choice.why.text},
          {"hang", {{"seconds", training.hang->seconds}, {"ranks", std::move(ranks)}}}};
}

}  // namespace parallelarium
