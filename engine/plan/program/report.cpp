// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/report.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <tuple>

#include "engine/plan/program/repeats.h"
#include "engine/plan/program/spans.h"

namespace parallelarium {

std::vector<TrafficRow> traffic_of(const Program& program, int rank_index) {
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(rank_index)];
  std::map<std::tuple<Axis, std::string_view, Purpose>, TrafficRow> rows;
  for (const Op& op : rank.ops) {
    if (op.kind == OpKind::kCompute || op.group < 0) continue;
    const Group& group = program.groups[static_cast<std::size_t>(op.group)];
    const int members = static_cast<int>(group.ranks.size());
    if (members <= 1) continue;
    const bool collective = op.kind == OpKind::kCollective;
    const std::string_view operation = collective ? name_of(op.collective) : "send_recv";
    TrafficRow& row = rows[{group.axis, operation, op.purpose}];
    row.axis = group.axis;
    row.operation = operation;
    row.purpose = op.purpose;
    row.calls += op.repeat;
    if (op.kind == OpKind::kSend) row.sent_bytes += op.bytes * op.repeat;
    if (op.kind == OpKind::kRecv) row.received_bytes += op.bytes * op.repeat;
    if (collective) {
      const auto place = std::find(group.ranks.begin(), group.ranks.end(), rank.rank);
      const Volume volume = collective_volume(op.collective, op.type, op.bytes, members,
                                              static_cast<int>(place - group.ranks.begin()));
      row.sent_bytes += volume.sent * op.repeat;
      row.received_bytes += volume.received * op.repeat;
    }
  }
  std::vector<TrafficRow> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

std::int64_t HeldBytes::sum() const {
  return std::accumulate(at_peak.begin(), at_peak.end(), std::int64_t{0});
}

namespace {

// The buffers for which something happens at each op: those of op i are
// buffers[first[i], first[i + 1]).
struct BuffersAt {
  std::vector<std::int32_t> first, buffers;
  // `op_of` tells the op of a buffer; -1: none.
  template <class OpOf>
  BuffersAt(const RankProgram& rank, const OpOf& op_of) : first(rank.ops.size() + 1, 0) {
    for (const Buffer& buffer : rank.buffers)
      if (op_of(buffer) >= 0) ++first[static_cast<std::size_t>(op_of(buffer))];
    std::int32_t end = 0;
    for (std::int32_t& count : first) count = end += count;
    buffers.resize(static_cast<std::size_t>(end));
    for (std::size_t at = rank.buffers.size(); at-- > 0;) {
      const std::int32_t op = op_of(rank.buffers[at]);
      if (op >= 0)
        buffers[static_cast<std::size_t>(--first[static_cast<std::size_t>(op)])] =
            static_cast<std::int32_t>(at);
    }
  }
  std::span<const std::int32_t> of(std::size_t op) const {
    return std::span(buffers).subspan(static_cast<std::size_t>(first[op]),
                                      static_cast<std::size_t>(first[op + 1] - first[op]));
  }
};

template <class Visit>
void visit_held_bytes(const Program& program, const RankProgram& rank, const Visit& visit) {
  CategoryBytes now{};
  for (const Buffer& buffer : rank.buffers)
    if (buffer.opened_by < 0) now[static_cast<std::size_t>(buffer.category)] += buffer.bytes;
  const BuffersAt opened(rank, [](const Buffer& buffer) { return buffer.opened_by; });
  const BuffersAt closed(
      rank, [](const Buffer& buffer) { return buffer.opened_by < 0 ? -1 : buffer.closed_by; });
  const auto add = [&](const BuffersAt& buffers, std::size_t op, int sign) {
    for (const std::int32_t at : buffers.of(op)) {
      const Buffer& buffer = rank.buffers[static_cast<std::size_t>(at)];
      now[static_cast<std::size_t>(buffer.category)] += sign * buffer.bytes;
    }
  };
  visit({-1, now, now});
  for (std::size_t op = 0; op < rank.ops.size(); ++op) {
    add(opened, op, 1);
    HeldBytes held{static_cast<int>(op), now, now};
    const std::int32_t index = rank.ops[op].fold;
    if (index >= 0 && !is_ring_inside(program, rank.ops[op])) {
      const Fold& fold = program.folds[static_cast<std::size_t>(index)];
      for (std::size_t category = 0; category < kCategories; ++category) {
        held.most[category] -= fold.most_less[category];
        held.at_peak[category] -= fold.peak_less[category];
      }
    }
    visit(held);
    add(closed, op, -1);
  }
}

}  // namespace

void for_held_bytes(const Program& program, const RankProgram& rank,
                    const std::function<void(const HeldBytes&)>& visit) {
  visit_held_bytes(program, rank, visit);
}

std::int64_t kept_activation_bytes(const RankProgram& rank) {
  std::map<std::int32_t, std::int64_t> changes;  // by op: opened before it, closed after it
  for (const Buffer& buffer : rank.buffers) {
    if (buffer.category != Category::kActivations || buffer.opened_by < 0) continue;
    if (rank.ops[static_cast<std::size_t>(buffer.opened_by)].action ==
        rank.ops[static_cast<std::size_t>(buffer.closed_by)].action)
      continue;
    changes[buffer.opened_by] += buffer.bytes;
    changes[buffer.closed_by + 1] -= buffer.bytes;
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [op, change] : changes) most = std::max(most, now += change);
  return most;
}

std::vector<MemoryRow> memory_of(const Program& program) {
  std::vector<MemoryRow> rows;
  for (const RankProgram& rank : program.ranks) {
    MemoryRow& row = rows.emplace_back();
    row.rank = rank.rank;
    row.stage = rank.stage;
    visit_held_bytes(program, rank, [&](const HeldBytes& held) {
      for (std::size_t category = 0; category < kCategories; ++category)
        row.bytes[category] = std::max(row.bytes[category], held.most[category]);
      row.peak_bytes = std::max(row.peak_bytes, held.sum());
    });
  }
  return rows;
}

namespace {

// Of all ranks that were built.
double executed_flops(const Program& program, const Repeats& repeats) {
  std::vector<double> of_work, of_fold;
  for (const std::vector<Work>& works : program.works) {
    double flops = 0;
    for (const Work& work : works) flops += work.flops;
    of_work.push_back(flops);
  }
  for (const Fold& fold : program.folds) {
    double flops = 0;
    for (const Fold::Part& part : fold.parts) flops += of_work[static_cast<std::size_t>(part.work)];
    of_fold.push_back(flops);
  }
  double sum = 0;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Op>& ops = program.ranks[rank].ops;
    std::vector<double> flops;              // of ops that have some
    std::vector<std::size_t> before = {0};  // of those, by op
    for (const Op& op : ops) {
      if (op.work >= 0) flops.push_back(of_work[static_cast<std::size_t>(op.work)]);
      if (op.fold >= 0 && op.kind == OpKind::kCompute)
        flops.push_back(of_fold[static_cast<std::size_t>(op.fold)]);
      before.push_back(flops.size());
    }
    // They are added one by one: the order of additions decides the last bits.
    for_each_run(repeats, rank, ops.size(), [&](std::size_t first, std::size_t last, Nanoseconds) {
      for (std::size_t at = before[first]; at < before[last]; ++at) sum += flops[at];
    });
  }
  return sum;
}

}  // namespace

StepFigures step_figures(const Program& program, const Timeline& timeline, const Setup& setup,
                         const Machine& machine) {
  return step_figures(program, timeline, Repeats(), setup, machine);
}

StepFigures step_figures(const Program& program, const Timeline& timeline, const Repeats& repeats,
                         const Setup& setup, const Machine& machine, const RingTimes& ring_times) {
  StepFigures step;
  step.seconds = step.seconds_min = step.seconds_max = seconds_of(timeline.duration);
  const auto computes = [](const Op& op) {
    return op.kind == OpKind::kCompute && op.lane == Lane::kCompute;
  };
  // A lane does one thing after another, so that what comes again adds as much each time.
  const auto busy_of = [&](std::size_t rank) {
    const std::vector<Op>& ops = program.ranks[rank].ops;
    const std::vector<Span>& spans = timeline.ranks[rank].spans;
    std::vector<Span> once, again;
    for_each_run_once(
        repeats, rank, std::min(ops.size(), spans.size()),
        [&](std::size_t first, std::size_t last, Nanoseconds later, std::int64_t times) {
          std::vector<Span>& own = times > 1 ? again : once;
          for (std::size_t at = first; at < last; ++at)
            if (computes(ops[at])) own.push_back({spans[at].begin + later, spans[at].end + later});
        });
    return length_of(merged(std::move(once))) + repeats.times * length_of(merged(std::move(again)));
  };
  Nanoseconds busy{-1};
  std::size_t busiest = 0;
  const std::size_t ranks = std::min(program.ranks.size(), timeline.ranks.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Nanoseconds own = busy_of(rank);
    if (own <= busy) continue;
    busy = own;
    busiest = rank;
  }
  if (ranks > 0) {
    std::vector<Span> compute;
    std::array<std::vector<Span>, kLanes> others;  // by lane, each in order
    std::vector<Span> rings;                       // what nothing hides of those inside folds
    Nanoseconds communicates{0};                   // lane by lane
    for_each_op(program, timeline, repeats, busiest, [&](const Op& op, const Span& span) {
      (computes(op) ? compute : others[static_cast<std::size_t>(op.lane)]).push_back(span);
      if (!ring_times) return;
      if (is_ring_inside(program, op)) rings.push_back(span);
      if (computes(op)) communicates += ring_times(program.ranks[busiest], op);
    });
    communicates -= length_of(merged(std::move(rings)));
    compute = merged(std::move(compute));
    std::vector<Span> communication;
    for (const std::vector<Span>& lane : others) {
      communicates += length_of(merged(lane));
      const auto middle = communication.insert(communication.end(), lane.begin(), lane.end());
      std::ranges::inplace_merge(communication, middle, {}, &Span::begin);
    }
    communication = merged(std::move(communication));
    step.compute_seconds = seconds_of(busy);
    step.communication_seconds = seconds_of(communicates);
    step.exposed_communication_seconds =
        seconds_of(length_of(communication) - overlap_of(communication, compute));
  }
  if (step.seconds <= 0) return step;
  const double sequences = static_cast<double>(setup.global_batch());
  step.tokens_per_second = sequences * static_cast<double>(setup.model.sequence) / step.seconds;
  step.model_flops_per_second_per_rank = sequences * model_flops_per_sequence(setup.model) /
                                         step.seconds / static_cast<double>(setup.mesh.ranks());
  const double peak = machine.peak_flops_per_second(setup.precision.activation_bytes()).value;
  const bool comparable =
      timeline.source == Source::kPredicted || timeline.source == Source::kMeasured;
  if (!comparable || peak <= 0) return step;
  const auto utilization = [&](ScoreFlops scores) {
    return sequences * model_flops_per_sequence(setup.model, scores) / step.seconds /
           static_cast<double>(setup.mesh.ranks()) / peak;
  };
  step.mfu = utilization(ScoreFlops::kFull);
  step.mfu_causal = utilization(ScoreFlops::kCausal);
  step.mfu_6n = utilization(ScoreFlops::kNone);
  step.hfu = executed_flops(program, repeats) / step.seconds / static_cast<double>(ranks) / peak;
  return step;
}

nlohmann::json to_json(const MemoryRow& row) {
  nlohmann::json json = {{"rank", row.rank},
                         {"stage", row.stage},
                         {"peak_bytes", row.peak_bytes},
                         {"framework_bytes", row.framework_bytes}};
  for (int category = 0; category < kCategories; ++category) {
    json[std::string(name_of(static_cast<Category>(category))) + "_bytes"] = row.bytes[category];
  }
  if (row.reserved_bytes > 0) json["reserved_bytes"] = row.reserved_bytes;
  return json;
}

nlohmann::json to_json(const std::vector<TrafficRow>& rows) {
  nlohmann::json json = nlohmann::json::array();
  for (const TrafficRow& row : rows) {
    json.push_back({{"group", std::string(name_of(row.axis))},
                    {"operation", row.operation},
                    {"purpose", std::string(name_of(row.purpose))},
                    {"calls", row.calls},
                    {"sent_bytes", row.sent_bytes},
                    {"received_bytes", row.received_bytes}});
    if (!row.counted) json.back()["counted"] = false;
  }
  return json;
}

nlohmann::json to_json(const std::vector<LibraryChoice>& choices) {
  nlohmann::json json = nlohmann::json::array();
  for (const LibraryChoice& choice : choices)
    json.push_back({{"collective", choice.collective},
                    {"ranks", choice.ranks},
                    {"algorithm", choice.algorithm},
                    {"protocol", choice.protocol},
                    {"channels", choice.channels},
                    {"calls", choice.calls},
                    {"least_bytes", choice.least_bytes},
                    {"most_bytes", choice.most_bytes}});
  return json;
}

nlohmann::json to_json(const std::vector<GpuMemory>& memory) {
  nlohmann::json json = nlohmann::json::array();
  for (const GpuMemory& row : memory)
    json.push_back({{"gpu", row.gpu},
                    {"rank", row.rank},
                    {"driver_bytes", row.driver_bytes},
                    {"arena_bytes", row.arena_bytes},
                    {"workspace_bytes", row.workspace_bytes},
                    {"communicator_bytes", row.communicator_bytes},
                    {"context_bytes", row.context_bytes},
                    {"unexplained_bytes", row.unexplained_bytes()}});
  return json;
}

nlohmann::json to_json(const std::vector<RankState>& ranks) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  nlohmann::json json = nlohmann::json::array();
  for (const RankState& state : ranks)
    json.push_back({{"rank", state.rank},
                    {"loss", number(state.loss)},
                    {"gradient_norm", number(state.gradient_norm)},
                    {"gradient_norm_reduced", state.gradient_norm_reduced},
                    {"weights_before", state.weights_before},
                    {"weights_after", state.weights_after},
                    {"replica_of", state.replica_of},
                    {"copy_after", state.copy_after.empty() ? nlohmann::json(nullptr)
                                                            : nlohmann::json(state.copy_after)},
                    {"copy_of", state.copy_of}});
  return json;
}

nlohmann::json to_json(const Bubble& bubble) {
  return {{"over_ideal", bubble.over_ideal},
          {"of_total", bubble.of_total},
          {"of_longest_rank", bubble.of_longest_rank},
          {"ranks", bubble.ranks}};
}

nlohmann::json to_json(const StepFigures& step, bool observed) {
  const auto share = [](double value) { return value > 0 ? nlohmann::json(value) : nullptr; };
  nlohmann::json json = {
      {"seconds", step.seconds},
      {"compute_seconds", step.compute_seconds},
      {"communication_seconds", step.communication_seconds},
      {"communication_over_compute",
       step.compute_seconds > 0 ? nlohmann::json(step.communication_seconds / step.compute_seconds)
                                : nullptr},
      {"exposed_communication_seconds", step.exposed_communication_seconds},
      {"tokens_per_second", step.tokens_per_second},
      {"model_flops_per_second_per_rank", step.model_flops_per_second_per_rank},
      {"mfu", share(step.mfu)},
      {"mfu_causal", share(step.mfu_causal)},
      {"mfu_6n", share(step.mfu_6n)},
      {"hfu", share(step.hfu)}};
  if (observed) {
    json["seconds_min"] = step.seconds_min;
    json["seconds_max"] = step.seconds_max;
  }
  return json;
}

bool all_counted(const std::vector<TrafficRow>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const TrafficRow& row) { return row.counted; });
}

int training_step_of(const Observation& observation) {
  return observation.setup.run.warmup + observation.timeline.step - 1;
}

const Routing* routing_of_timeline(const Observation& observation) {
  const auto at = static_cast<std::size_t>(training_step_of(observation));
  return at < observation.routing.size() ? &observation.routing[at] : nullptr;
}

std::optional<Message> delay_of(const Observation& observation) {
  constexpr double kLeast = 1.05;  // timers and clocks alone stay below
  if (!observation.gpu_use.empty())
    return message("gpus-busy",
                   "Other processes use the GPUs ({}); times measured beside them mean little.",
                   observation.gpu_use);
  if (observation.delay_factor < kLeast) return std::nullopt;
  const Message times =
      figure(fmt::format("{:.{}f}", observation.delay_factor,
                         observation.delay_factor < 10 ? 1 + (observation.delay_factor < 1.1) : 0));
  if (observation.source == Source::kPaced)
    return message("rehearsal-late",
                   "Other work kept the cores: ops of the rehearsal began or ended late, so that "
                   "its times are off by a factor of {}.",
                   times);
  return message("cores-busy",
                 "Other work kept the cores: compute took {} times the processor time that it got.",
                 times);
}

}  // namespace parallelarium
