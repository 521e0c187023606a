// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/cli/text/run/report_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostRows = 16;  // shown in text; JSON has them all
constexpr std::size_t kEnds = 6;       // rows shown of each end of a longer table

std::string path_text(const std::vector<PathStep>& path) {
  Table table({">from", ">to", ">rank", "does"});
  for (std::size_t step = 0; step < path.size(); ++step) {
    if (path.size() > 2 * kEnds + 1 && step == kEnds) {
      step = path.size() - kEnds;
      table.add({"…", "…", "…", fmt::format("({} more)", path.size() - 2 * kEnds)});
    }
    table.add({seconds_text(seconds_of(path[step].span.begin)),
               seconds_text(seconds_of(path[step].span.end)), fmt::format("{}", path[step].rank),
               path[step].what});
  }
  return table.text();
}

// "0 to 7", "0, 4, 8 and 5 more", of ascending numbers.
std::string numbers_text(const std::vector<int>& numbers) {
  constexpr std::size_t kMostListed = 4;
  const bool closed = numbers.back() - numbers.front() + 1 == static_cast<int>(numbers.size());
  if (closed && numbers.size() > 2) return fmt::format("{} to {}", numbers.front(), numbers.back());
  const std::size_t listed = numbers.size() > kMostListed ? kMostListed - 1 : numbers.size();
  std::string text = fmt::format("{}", fmt::join(numbers.begin(), numbers.begin() + listed, ", "));
  if (listed < numbers.size()) text += fmt::format(" and {} more", numbers.size() - listed);
  return text;
}

// Rows of a table about ranks: those that would say the same are one.
class RankRows {
 public:
  void add(int rank, std::vector<std::string> cells) {
    const auto same = std::find_if(rows_.begin(), rows_.end(),
                                   [&](const auto& row) { return row.second == cells; });
    if (same == rows_.end())
      rows_.push_back({{rank}, std::move(cells)});
    else
      same->first.push_back(rank);
  }

  std::string text(std::vector<std::string> titles) const {
    Table table(std::move(titles));
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      if (rows_.size() > kMostRows && at == kEnds) {
        std::size_t left = 0;
        for (; at + kEnds < rows_.size(); ++at) left += rows_[at].first.size();
        std::vector<std::string> gap(rows_[at].second.size() + 1, "…");
        gap.back() = fmt::format("({} more ranks; --json has them all)", left);
        table.add(std::move(gap));
      }
      std::vector<std::string> cells = {numbers_text(rows_[at].first)};
      cells.insert(cells.end(), rows_[at].second.begin(), rows_[at].second.end());
      table.add(std::move(cells));
    }
    return table.text();
  }

 private:
  std::vector<std::pair<std::vector<int>, std::vector<std::string>>> rows_;  // ranks, cells
};

std::string ranks_text(const std::vector<RankExplanation>& ranks) {
  RankRows waits, peaks;
  for (const RankExplanation& rank : ranks) {
    waits.add(rank.rank,
              {percent_text(1 - rank.shares.busy),
               rank.waits_most.empty() ? "is never idle"
                                       : fmt::format("{} ({})", rank.waits_most,
                                                     seconds_text(rank.waits_most_seconds))});
    peaks.add(rank.rank, {bytes_text(static_cast<double>(rank.peak.bytes)),
                          seconds_text(seconds_of(rank.peak.time)), rank.peak.when.text});
  }
  return waits.text({">rank", ">idle", "most of it, it"}) + "  When memory peaks:\n" +
         peaks.text({">rank", ">peak", ">after", ""});
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
