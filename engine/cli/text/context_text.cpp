// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/context_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostGridRuns = 16;

std::string range_text(const ChunkRange& range) {
  return range.end - range.begin == 1 ? fmt::format("{}", range.begin)
                                      : fmt::format("{}-{}", range.begin, range.end - 1);
}

std::string ranges_text(const std::vector<ChunkRange>& ranges) {
  std::string text;
  for (const ChunkRange& range : ranges) text += (text.empty() ? "" : ", ") + range_text(range);
  return text;
}

std::string grid_text(const LayerContext& context) {
  const bool rounds = context.rounds.size() > 1;
  std::vector<std::string> heads{"queries", ">CP rank"};
  for (const TokenRun& run : context.runs) heads.push_back(">" + range_text(run.tokens));
  Table table(std::move(heads));
  for (std::size_t queries = 0; queries < context.runs.size(); ++queries) {
    const TokenRun& run = context.runs[queries];
    std::vector<std::string> row{range_text(run.tokens), fmt::format("{}", run.cp)};
    row.resize(2 + context.runs.size());
    for (const ScoreBlock& block : context.blocks)
      if (block.queries == int(queries))
        row[2 + std::size_t(block.keys)] =
            rounds ? fmt::format("{}.{}", block.cp, block.round + 1) : fmt::format("{}", block.cp);
    table.add(std::move(row));
  }
  return fmt::format(
      "Blocks of scores, keys across: {}\n\n{}",
      rounds ? "2.1 is of CP rank 2 in ring step 1" : "the CP rank that computes each",
      table.text());
}

std::string heads_text(const LayerContext& context) {
  Table table({"CP rank", "heads", "of keys and values"});
  for (std::size_t cp = 0; cp < context.heads.size(); ++cp)
    table.add({fmt::format("{}", cp), ranges_text(context.heads[cp]),
               ranges_text(context.key_heads[cp])});
  return "Every rank computes the scores of all tokens, of its own heads\n\n" + table.text();
}

}  // namespace

std::string work_ratio_text(const std::vector<double>& work) {
  std::string text;
  for (const double ratio : over_least(work))
    text += fmt::format("{}{:.3g}", text.empty() ? "" : " : ", ratio);
  return text;
}

std::string context_times_text(const ContextTimes& times, std::string_view source) {
  return fmt::format("Attention of the CP ranks: work {}, time {} ({}).\n",
                     work_ratio_text(times.work), work_ratio_text(times.seconds), source);
}

nlohmann::json context_times_json(const ContextTimes& predicted, const ContextTimes& times) {
  return {
      {"work", times.work}, {"predicted_seconds", predicted.seconds}, {"seconds", times.seconds}};
}

std::string context_text(const LayerContext& context) {
  if (!context.drawn()) return {};
  std::string text = context.by_heads ? heads_text(context)
                     : context.runs.size() <= kMostGridRuns
                         ? grid_text(context)
                         : std::string("The grid of blocks is in --json.\n");
  text += fmt::format("\nWork of the CP ranks: {}", work_ratio_text(context.blocks_of));
  if (context.over_even() > 1)
    text += fmt::format("; ranks that wait make attention {} times as long as with even shares",
                        three_digits(context.over_even()));
  return text + ".\n";
}

}  // namespace parallelarium
