// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/timing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/plan/order/order_graph.h"

namespace parallelarium {

namespace {

// Whole numbers without ".0", as a person would write them.
nlohmann::json number(double value) {
  if (std::floor(value) == value && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

// Micro-batches of a whole rank's activations: a stage of s stages on p ranks counts p / s; both
// copies of a stage that is held twice count whole.
std::vector<double> peak_in_flight(const Order& order) {
  const double share =
      std::min(1.0, static_cast<double>(order.ranks.size()) / static_cast<double>(order.stages));
  std::vector<double> peaks;
  for (const auto& line : order.ranks) {
    int held = 0, peak = 0;
    for (const Action& action : line) {
      if (action.kind == ActionKind::kForward) peak = std::max(peak, ++held);
      if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad) --held;
    }
    peaks.push_back(peak * share);
  }
  return peaks;
}

double duration_of(ActionKind kind, const Durations& durations) {
  switch (kind) {
    case ActionKind::kForward:
      return durations.forward;
    case ActionKind::kBackward:
      return durations.backward;
    case ActionKind::kInputGrad:
      return durations.input_grad;
    case ActionKind::kWeightGrad:
      return durations.weight_grad;
  }
  return 0;
}

TimedOrder time_order(const Order& order, const Durations& durations) {
  return time_by_stage(order,
                       std::vector<Durations>(static_cast<std::size_t>(order.stages), durations));
}

TimedOrder time_by_stage(const Order& order, const std::vector<Durations>& stages) {
  const OrderGraph graph(order);
  const std::size_t ranks = order.ranks.size();
  TimedOrder timed;
  timed.spans.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    timed.spans[rank].reserve(order.ranks[rank].size());

  std::vector<double> busy(ranks, 0);
  graph.walk([&](int rank_number, int first, int count) {
    const auto rank = static_cast<std::size_t>(rank_number);
    auto& spans = timed.spans[rank];
    double begin = spans.empty() ? 0 : spans.back().end, length = 0, overlapped = 0;
    for (int index = first; index < first + count; ++index) {
      const ActionRef ref{rank_number, index};
      const int stage = order.stage_of[rank][static_cast<std::size_t>(
          order.ranks[rank][static_cast<std::size_t>(index)].chunk)];
      const Durations& durations = stages[static_cast<std::size_t>(stage)];
      length += duration_of(order.ranks[rank][static_cast<std::size_t>(index)].kind, durations);
      overlapped = std::max(overlapped, durations.overlapped);
      for (const ActionRef need : graph.needs_of(ref)) {
        const auto other = static_cast<std::size_t>(need.rank);
        const double ended = timed.spans[other][static_cast<std::size_t>(need.index)].end;
        const int from = order.stage_of[other][static_cast<std::size_t>(
            order.ranks[other][static_cast<std::size_t>(need.index)].chunk)];
        const double transfer = stages[static_cast<std::size_t>(std::min(stage, from))].transfer;
        begin = std::max(begin, need.rank == rank_number ? ended : ended + transfer);
      }
    }
    if (count == 2 && overlapped > 0) length = overlapped;
    for (int index = first; index < first + count; ++index) {
      spans.push_back({order.ranks[rank][static_cast<std::size_t>(index)], begin, begin + length});
    }
    busy[rank] += length;
    timed.makespan = std::max(timed.makespan, begin + length);
  });

  double all_busy = 0, longest = 0, longest_busy = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all_busy += busy[rank];
    if (timed.spans[rank].empty()) continue;
    const double cost = timed.spans[rank].back().end - timed.spans[rank].front().begin;
    if (cost > longest) {
      longest = cost;
      longest_busy = busy[rank];
    }
  }
  const double total = static_cast<double>(ranks) * timed.makespan;
  if (all_busy > 0) timed.bubble_over_ideal = (total - all_busy) / all_busy;
  if (total > 0) timed.bubble_of_total = (total - all_busy) / total;
  if (longest > 0) timed.bubble_of_longest_rank = (longest - longest_busy) / longest;
  timed.peak_in_flight = peak_in_flight(order);
  return timed;
}

nlohmann::json to_json(const Order& order, const TimedOrder& timed, bool pytorch) {
  nlohmann::json json = nlohmann::json::object();
  json["name"] = order.name;
  json["stages"] = order.ranks.size();
  json["microbatches"] = order.microbatches;
  json["chunks"] = order.chunks;
  if (pytorch) {
    json["order"] = nlohmann::json::array();
    std::istringstream lines(to_pytorch(order));
    for (std::string line; std::getline(lines, line);) json["order"].push_back(line);
  } else {
    json["order"] = to_file_lines(order);
  }
  nlohmann::json& ranks = json["spans"] = nlohmann::json::array();
  for (const auto& line : timed.spans) {
    nlohmann::json& spans = ranks.emplace_back(nlohmann::json::array());
    for (const TimedAction& span : line) {
      spans.push_back({{"op", std::string(1, letter_of(span.action.kind))},
                       {"microbatch", span.action.microbatch},
                       {"chunk", span.action.chunk},
                       {"begin", number(span.begin)},
                       {"end", number(span.end)}});
    }
  }
  json["makespan"] = number(timed.makespan);
  json["bubble"] = {{"over_ideal", timed.bubble_over_ideal},
                    {"of_total", timed.bubble_of_total},
                    {"of_longest_rank", timed.bubble_of_longest_rank}};
  nlohmann::json& peaks = json["peak_in_flight"] = nlohmann::json::array();
  for (const double peak : timed.peak_in_flight) peaks.push_back(number(peak));
  return json;
}

}  // namespace parallelarium
