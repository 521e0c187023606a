// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/report_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostRanks = 16;  // shown in text; JSON has them all
constexpr std::size_t kPathEnds = 6;    // steps shown of each end of a long path

std::string path_text(const std::vector<PathStep>& path) {
  Table table({">from", ">to", ">rank", "does"});
  for (std::size_t step = 0; step < path.size(); ++step) {
    if (path.size() > 2 * kPathEnds + 1 && step == kPathEnds) {
      step = path.size() - kPathEnds;
      table.add({"…", "…", "…", fmt::format("({} more)", path.size() - 2 * kPathEnds)});
    }
    table.add({seconds_text(seconds_of(path[step].span.begin)),
               seconds_text(seconds_of(path[step].span.end)), fmt::format("{}", path[step].rank),
               path[step].what});
  }
  return table.text();
}

std::string ranks_text(const std::vector<RankExplanation>& ranks) {
  Table waits({">rank", ">idle", "most of it, it"}), peaks({">rank", ">peak", ">after", ""});
  for (const RankExplanation& rank : ranks) {
    if (&rank - ranks.data() == static_cast<std::ptrdiff_t>(kMostRanks)) break;
    waits.add({fmt::format("{}", rank.rank), percent_text(1 - rank.shares.busy),
               rank.waits_most.empty() ? "is never idle"
                                       : fmt::format("{} ({})", rank.waits_most,
                                                     seconds_text(rank.waits_most_seconds))});
    peaks.add({fmt::format("{}", rank.rank), bytes_text(static_cast<double>(rank.peak.bytes)),
               seconds_text(seconds_of(rank.peak.time)), rank.peak.when.text});
  }
  std::string text = waits.text() + "  When memory peaks:\n" + peaks.text();
  if (ranks.size() > kMostRanks)
    text += fmt::format("  and {} more ranks; --json has them all.\n", ranks.size() - kMostRanks);
  return text;
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const std::string& word) {
  const IdleShares& shares = explanation.shares;
  Table table({">computing, collectives", ">warm-up", ">waiting between", ">transfer", ">drain"});
  table.add({percent_text(shares.busy), percent_text(shares.warm_up), percent_text(shares.wait),
             percent_text(shares.transfer), percent_text(shares.drain)});
  return fmt::format(
      "Explanation ({})\n  Where the ranks' time of a step goes:\n{}{}"
      "  Critical path: {} computing, {} in messages and collectives; each step waits for the one "
      "before.\n{}",
      word, table.text(), ranks_text(explanation.ranks),
      seconds_text(explanation.path_compute_seconds),
      seconds_text(explanation.path_transfer_seconds), path_text(explanation.path));
}

}  // namespace parallelarium
