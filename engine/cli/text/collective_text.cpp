// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/collective_text.h"

#include <algorithm>
#include <set>

#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"
#include "engine/predict/formulas/collective_formulas.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostSteps = 40;  // told one by one
constexpr std::size_t kMostMoves = 6;   // of one step
constexpr std::size_t kMostLinks = 4;

std::string rate_text(double bytes_per_second) { return count_text(bytes_per_second, "B/s"); }

// "0→1 c0, 1→2 c1, ..."; + where the chunk is combined.
std::string moves_text(const std::vector<Move>& moves) {
  std::string text;
  for (std::size_t i = 0; i < moves.size() && i < kMostMoves; ++i) {
    const Move& move = moves[i];
    text += fmt::format("{}{}→{} {}c{}", i == 0 ? "" : "  ", move.from, move.to,
                        move.reduce ? "+" : "", move.chunk);
  }
  if (moves.size() > kMostMoves) text += fmt::format("  … {} more", moves.size() - kMostMoves);
  return text;
}

std::string span_text(const std::vector<std::int64_t>& bytes) {
  const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  const std::string from = bytes_text(static_cast<double>(*least));
  const std::string to = bytes_text(static_cast<double>(*most));
  return from == to ? to : from + " to " + to;
}

std::string spec_text(const CollectiveSpec& spec) {
  std::string text = fmt::format("{} · {} · {} rank{} · {} of {}", name_of(spec.kind),
                                 find_algorithm(spec.kind, spec.algorithm)->title, spec.ranks,
                                 spec.ranks == 1 ? "" : "s",
                                 bytes_text(static_cast<double>(spec.bytes)), name_of(spec.type));
  if (reduces(spec.kind)) text += fmt::format(" · {}", name_of(spec.reduction));
  if (has_root(spec.kind)) text += fmt::format(" · root {}", spec.root);
  return text;
}

std::string rounding_text(const CollectiveSpec& spec, const RoundingComparison& rounding) {
  const std::string other = find_algorithm(spec.kind, rounding.other)->title;
  std::string text =
      fmt::format("\nBits, on inexact inputs of {}, against {}: ", name_of(spec.type), other);
  if (rounding.differing == 0)
    text += fmt::format("all {} elements of all ranks are the same.\n", rounding.elements);
  else
    text += fmt::format("{} of {} elements differ, by at most {} unit{} in the last place.\n",
                        rounding.differing, rounding.elements, rounding.most_steps,
                        rounding.most_steps == 1 ? "" : "s");
  if (!rounding.ranks_agree) text += "Not all ranks end with the same bits.\n";
  return text;
}

}  // namespace

std::string algorithms_text() {
  std::string text = "Algorithms:\n";
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    Table table({"", ""});
    for (const AlgorithmInfo& info : collective_algorithms()) {
      if (info.kind == static_cast<CollectiveKind>(kind)) table.add({info.name, info.summary});
    }
    if (table.empty()) continue;
    text += fmt::format("  {}\n", name_of(static_cast<CollectiveKind>(kind))) + table.text();
  }
  return text;
}

std::string collective_text(const Collective& collective, const Network& network,
                            const CollectiveCost& cost,
                            const std::optional<CollectiveObservation>& seen) {
  const CollectiveSpec& spec = collective.spec;
  const AlgorithmInfo& info = *find_algorithm(spec.kind, spec.algorithm);
  std::string text = spec_text(spec) + "\n" + wrapped(info.summary, 100, 0) + "\n";
  text += fmt::format("Source: {}\n", info.source);
  text += "Checked on sets of contributions: right for every input.\n\n";
  if (!collective.steps.empty()) {
    Table steps({"step", "ends after", "moves"});
    for (std::size_t step = 0; step < collective.steps.size() && step < kMostSteps; ++step) {
      steps.add({std::to_string(step + 1), seconds_text(cost.step_seconds[step]),
                 moves_text(collective.steps[step])});
    }
    text += steps.text();
    if (collective.steps.size() > kMostSteps)
      text += fmt::format("  … {} more steps\n", collective.steps.size() - kMostSteps);
    text += "\n";
  }
  const auto closed = closed_form(collective, network);
  Table table({"", ">formula", ">predicted", seen ? ">" + std::string(name_of(seen->source)) : ""});
  const auto measured = [&](const auto& value) { return seen ? value() : std::string(); };
  table.add({"Time", closed ? seconds_text(closed->formula.value) : "—", seconds_text(cost.seconds),
             measured([&] { return seconds_text(seen->seconds); })});
  const std::vector<Formula> formulas = formulas_of(collective, network);
  const auto value = [&](std::string_view id) {
    for (const Formula& formula : formulas)
      if (formula.name.id == id) return std::optional(formula.value);
    return std::optional<double>();
  };
  const auto steps = value("steps"), sent = value("traffic.rank");
  table.add({"Steps", steps ? fmt::format("{:g}", *steps) : "—",
             std::to_string(collective.steps.size()), ""});
  table.add({"Sent per rank", sent ? bytes_text(*sent) : "—", span_text(cost.sent_bytes),
             measured([&] { return span_text(seen->sent_bytes); })});
  table.add({"Received per rank", "", span_text(cost.received_bytes),
             measured([&] { return span_text(seen->received_bytes); })});
  table.add({"Algorithm bandwidth S / t", "", rate_text(cost.algorithm_bandwidth),
             measured([&] { return rate_text(seen->algorithm_bandwidth); })});
  table.add({"Bus bandwidth", fmt::format("× {:.4g}", bus_factor(spec.kind, spec.ranks)),
             rate_text(cost.bus_bandwidth),
             measured([&] { return rate_text(seen->bus_bandwidth); })});
  text += table.text();
  if (closed) {
    text += fmt::format("\nTime = {}\n     = {}\n{}\n", closed->formula.expression.text,
                        closed->formula.values, closed->formula.source.text);
    if (const std::string& note = closed->formula.note.text; !note.empty())
      text += "Note: " + note + ".\n";
  }
  if (!cost.links.empty()) {
    text += fmt::format("\nBusiest links ({}, latency {}, {})\n", name_of(network.topology),
                        seconds_text(network.latency_seconds), rate_text(network.bytes_per_second));
    Table links({"", ">", ">"});
    for (std::size_t i = 0; i < cost.links.size() && i < kMostLinks; ++i)
      links.add({cost.links[i].name, bytes_text(static_cast<double>(cost.links[i].bytes)),
                 percent_text(cost.links[i].busy) + " busy"});
    text += links.text();
  }
  if (seen) {
    text += seen->correct ? "\nRun: every cell of every rank's result is exactly right.\n"
                          : fmt::format("\nRun: {} cells are wrong.\n", seen->wrong_cells);
    text += fmt::format(
        "Times from {} to {} over {}.\n", seconds_text(seen->seconds_min),
        seconds_text(seen->seconds_max),
        seen->timeline.steps == 1 ? "one repeat" : fmt::format("{} repeats", seen->timeline.steps));
    if (!seen->ranks_on.empty())
      text += fmt::format("{}, over {}.\n", seen->ranks_on, seen->transport);
    if (seen->timeline.clock_error.count() > 0)
      text += fmt::format(
          "Ranks' clocks agree within {}.\n",
          seconds_text(std::chrono::duration<double>(seen->timeline.clock_error).count()));
    if (seen->rounding) text += rounding_text(spec, *seen->rounding);
  }
  return text;
}

std::string crossover_text(const CollectiveSpec& spec, const std::string& other,
                           const Network& network, std::optional<std::int64_t> crossover) {
  const auto seconds = [&](const std::string& algorithm, std::int64_t bytes) {
    CollectiveSpec at = spec;
    at.algorithm = algorithm;
    at.bytes = bytes / size_of(spec.type) * size_of(spec.type);
    return cost_of(*make_collective(at), network).seconds;
  };
  const std::int64_t small = 1024;
  const bool first = seconds(spec.algorithm, small) <= seconds(other, small);
  const std::string& early = first ? spec.algorithm : other;
  const std::string& late = first ? other : spec.algorithm;
  if (!crossover)
    return fmt::format("\nFrom 1 KiB to 4 GiB {} is never slower than {} on these links.\n", early,
                       late);
  return fmt::format("\nUp to {} {} is faster, from there on {}.\n",
                     bytes_text(static_cast<double>(*crossover)), early, late);
}

}  // namespace parallelarium
