// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/explain/explanation.h"

#include <map>
#include <nlohmann/json.hpp>

#include "engine/plan/text/describe_op.h"

namespace parallelarium {
namespace {

// "the gradient of micro-batch 12 from stage 3" without " of micro-batch 12", and without " in
// layer 3": waits that differ in nothing else are one.
std::string without_numbers(std::string text) {
  for (const std::string_view words : {" of micro-batch ", " in layer "})
    for (std::size_t at; (at = text.find(words)) != std::string::npos;) {
      const std::size_t end = text.find_first_not_of("0123456789", at + words.size());
      text.erase(at, (end == std::string::npos ? text.size() : end) - at);
    }
  return text;
}

const char* words_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return "forward";
    case ActionKind::kBackward:
      return "backward";
    case ActionKind::kInputGrad:
      return "input gradient";
    case ActionKind::kWeightGrad:
      return "weight gradient";
  }
  return "";
}

// Ops of one action have the same words.
std::string words_of(const RankProgram& rank, const Op& op) {
  if (op.kind != OpKind::kCompute) return describe(op).text;
  if (op.action < 0) return std::string(name_of(op.phase));
  const Action& action = rank.actions[static_cast<std::size_t>(op.action)];
  return fmt::format("{} of micro-batch {}", words_of(action.kind), action.microbatch);
}

// The part of each op's span behind the end of the op before it on the path: a message of a ring
// begins while what it waited for still goes on.
std::vector<Span> parts_of_path(const Timeline& timeline, const std::vector<OpRef>& path) {
  std::vector<Span> parts;
  for (const OpRef ref : path) {
    Span span =
        timeline.ranks[static_cast<std::size_t>(ref.rank)].spans[static_cast<std::size_t>(ref.op)];
    if (!parts.empty()) span.begin = std::max(span.begin, parts.back().end);
    span.end = std::max(span.begin, span.end);
    parts.push_back(span);
  }
  return parts;
}

std::vector<PathStep> steps_of(const Program& program, const std::vector<OpRef>& path,
                               const std::vector<Span>& parts) {
  std::vector<PathStep> steps;
  for (std::size_t of = 0; of < path.size(); ++of) {
    const OpRef ref = path[of];
    const auto at = static_cast<std::size_t>(ref.rank), index = static_cast<std::size_t>(ref.op);
    const RankProgram& rank = program.ranks[at];
    const Op& op = rank.ops[index];
    const Span& span = parts[of];
    PathStep step{rank.rank, rank.stage, op.kind == OpKind::kCompute, words_of(rank, op), span};
    if (!steps.empty() && steps.back().rank == step.rank && steps.back().what == step.what)
      steps.back().span.end = span.end;
    else
      steps.push_back(std::move(step));
  }
  return steps;
}

void find_longest_wait(const std::vector<IdleGap>& gaps, RankExplanation& rank) {
  std::map<std::string, double> waits;
  for (const IdleGap& gap : gaps)
    waits[without_numbers(gap.why.text)] += seconds_of(gap.span.end - gap.span.begin);
  for (const auto& [why, seconds] : waits) {
    if (seconds <= rank.waits_most_seconds) continue;
    rank.waits_most = why;
    rank.waits_most_seconds = seconds;
  }
}

bool alike(const RankExplanation& a, const RankExplanation& b) {
  return a.stage == b.stage && a.peak.bytes == b.peak.bytes &&
         a.waits_most_seconds == b.waits_most_seconds && a.shares.busy == b.shares.busy;
}

nlohmann::json shares_json(const IdleShares& shares) {
  return {{"busy", shares.busy},
          {"warm_up", shares.warm_up},
          {"steady", shares.wait},
          {"transfer", shares.transfer},
          {"drain", shares.drain}};
}

}  // namespace

Explanation explain(const Program& program, const Timeline& timeline) {
  Explanation result;
  const std::vector<std::vector<IdleGap>> gaps = all_idle_gaps(program, timeline);
  result.shares = idle_shares(gaps, timeline.duration);
  const std::vector<OpRef> path = critical_path(program, timeline);
  const std::vector<Span> parts = parts_of_path(timeline, path);
  for (std::size_t of = 0; of < path.size(); ++of) {
    const auto at = static_cast<std::size_t>(path[of].rank),
               index = static_cast<std::size_t>(path[of].op);
    const Span& span = parts[of];
    const bool computes = program.ranks[at].ops[index].kind == OpKind::kCompute;
    (computes ? result.path_compute_seconds : result.path_transfer_seconds) +=
        seconds_of(span.end - span.begin);
  }
  result.path = steps_of(program, path, parts);
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    RankExplanation& rank = result.ranks.emplace_back();
    rank.rank = program.ranks[index].rank;
    rank.stage = program.ranks[index].stage;
    rank.shares = idle_shares({&gaps[index], 1}, timeline.duration);
    find_longest_wait(gaps[index], rank);
    rank.peak = memory_peak(program, timeline, static_cast<int>(index));
    if (program.level != Level::kStage) continue;
    // Replicas of a stage do the same: the first stands for them.
    const bool known =
        std::any_of(result.ranks.begin(), std::prev(result.ranks.end()),
                    [&](const RankExplanation& other) { return alike(other, rank); });
    if (known) result.ranks.pop_back();
  }
  return result;
}

nlohmann::json to_json(const Explanation& explanation) {
  nlohmann::json steps = nlohmann::json::array(), ranks = nlohmann::json::array();
  for (const PathStep& step : explanation.path)
    steps.push_back({{"rank", step.rank},
                     {"stage", step.stage},
                     {"what", step.what},
                     {"begin_seconds", seconds_of(step.span.begin)},
                     {"end_seconds", seconds_of(step.span.end)}});
  for (const RankExplanation& rank : explanation.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"stage", rank.stage},
                     {"idle_shares", shares_json(rank.shares)},
                     {"waits_most", rank.waits_most},
                     {"waits_most_seconds", rank.waits_most_seconds},
                     {"memory_peak",
                      {{"bytes", rank.peak.bytes},
                       {"seconds", seconds_of(rank.peak.time)},
                       {"when", rank.peak.when.text}}}});
  const double length =
      explanation.path.empty()
          ? 0
          : seconds_of(explanation.path.back().span.end - explanation.path.front().span.begin);
  return {{"idle_shares", shares_json(explanation.shares)},
          {"critical_path",
           {{"seconds", length},
            {"compute_seconds", explanation.path_compute_seconds},
            {"transfer_seconds", explanation.path_transfer_seconds},
            {"steps", std::move(steps)}}},
          {"ranks", std::move(ranks)}};
}

}  // namespace parallelarium
