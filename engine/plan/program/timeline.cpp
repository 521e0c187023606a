// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/timeline.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plan/program/repeats.h"

namespace parallelarium {

namespace {

// The letter of an action that an op without a line of the Order belongs to.
ActionKind action_of_phase(Phase phase) {
  switch (phase) {
    case Phase::kInputGrad:
    case Phase::kRecompute:
      return ActionKind::kBackward;
    case Phase::kWeightGrad:
      return ActionKind::kWeightGrad;
    default:
      return ActionKind::kForward;
  }
}

// The micro-batch that an op belongs to, and what it does to it; from its line of the Order.
const Action* action_of(const RankProgram& rank, const Op& op) {
  if (op.action < 0 || op.action >= static_cast<std::int32_t>(rank.actions.size())) return nullptr;
  return &rank.actions[static_cast<std::size_t>(op.action)];
}

// What a compute op does for a micro-batch without a line of its own, such as clearing the
// gradients of a bucket, belongs to the line that uses it.
const Action* action_served(const RankProgram& rank, const Op& op) {
  if (op.lane != Lane::kCompute || op.microbatch < 0) return nullptr;
  for (const Action& action : rank.actions) {
    if (action.microbatch != op.microbatch || action.chunk != op.chunk) continue;
    const bool serves =
        op.phase == Phase::kForward ? action.kind == ActionKind::kForward
        : op.phase == Phase::kWeightGrad
            ? action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad
            : action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad;
    if (serves) return &action;
  }
  return nullptr;
}

Bar bar_of(const Program& program, const RankProgram& rank, std::int32_t index, const Span& span) {
  const Op& op = rank.ops[static_cast<std::size_t>(index)];
  Bar bar;
  bar.first_op = bar.last_op = index;
  bar.lane = op.lane;
  bar.kind = op.kind;
  bar.phase = op.phase;
  bar.piece = op.piece;
  bar.purpose = op.purpose;
  bar.collective = op.collective;
  if (op.kind == OpKind::kCollective && op.group >= 0)
    bar.axis = program.groups[static_cast<std::size_t>(op.group)].axis;
  bar.layer = op.layer;
  bar.chunk = op.chunk;
  bar.microbatch = op.microbatch;
  bar.span = span;
  const Action* action = action_of(rank, op);
  if (action == nullptr) action = action_served(rank, op);
  bar.action = action != nullptr ? action->kind : action_of_phase(op.phase);
  return bar;
}

constexpr std::array<std::string_view, 5> kSourceNames = {"predicted", "measured", "oversubscribed",
                                                          "paced", "shared GPU"};

}  // namespace

std::string_view name_of(Source source) { return kSourceNames[static_cast<std::size_t>(source)]; }

std::string_view spoken_name(Source source) {
  return source == Source::kPaced ? "rehearsed" : name_of(source);
}

std::vector<Bar> bars_of(const Program& program, const Timeline& timeline, int rank) {
  const RankProgram& ops = program.ranks[static_cast<std::size_t>(rank)];
  const std::vector<Span>& spans = timeline.ranks[static_cast<std::size_t>(rank)].spans;
  std::vector<Bar> bars;
  bars.reserve(ops.ops.size());
  std::array<std::int32_t, kLanes> open = {-1, -1, -1};  // the newest bar of each lane
  for (std::size_t index = 0; index < ops.ops.size() && index < spans.size(); ++index) {
    const Op& op = ops.ops[index];
    std::int32_t& newest = open[static_cast<std::size_t>(op.lane)];
    if (newest >= 0 && op.batch >= 0) {
      Bar& bar = bars[static_cast<std::size_t>(newest)];
      if (ops.ops[static_cast<std::size_t>(bar.last_op)].batch == op.batch && bar.kind == op.kind) {
        bar.last_op = static_cast<std::int32_t>(index);
        bar.span.begin = std::min(bar.span.begin, spans[index].begin);
        bar.span.end = std::max(bar.span.end, spans[index].end);
        continue;
      }
    }
    newest = static_cast<std::int32_t>(bars.size());
    bars.push_back(bar_of(program, ops, static_cast<std::int32_t>(index), spans[index]));
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.span.begin < b.span.begin;
  });
  return bars;
}

Bubble bubble_of(const Program& program, const Timeline& timeline) {
  return bubble_of(program, timeline, Repeats());
}

Bubble bubble_of(const Program& program, const Timeline& timeline, const Repeats& repeats) {
  // The window is the step's: from the first F of any rank to the last B or W of any rank. A
  // collective that the compute lane waits for occupies the lane: it is communication, no bubble.
  Nanoseconds first = Nanoseconds::max(), last = Nanoseconds::min();
  const std::size_t ranks = std::min(program.ranks.size(), timeline.ranks.size());
  std::vector<Nanoseconds> busy(ranks, Nanoseconds{0});
  Nanoseconds longest{0}, longest_busy{0};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::int32_t batch = -1;
    Nanoseconds own_first = Nanoseconds::max(), own_last = Nanoseconds::min();
    const std::vector<Op>& ops = program.ranks[rank].ops;
    const std::vector<Span>& spans = timeline.ranks[rank].spans;
    for_each_run_once(
        repeats, rank, std::min(ops.size(), spans.size()),
        [&](std::size_t begin, std::size_t end, Nanoseconds later, std::int64_t times) {
          const Nanoseconds last_later = later + (times - 1) * repeats.period;
          for (std::size_t at = begin; at < end; ++at) {
            const Op& op = ops[at];
            if (op.lane != Lane::kCompute || op.microbatch < 0) continue;
            own_first = std::min(own_first, spans[at].begin + later);
            own_last = std::max(own_last, spans[at].end + last_later);
            if (is_ring_inside(program, op)) continue;  // its pieces are in another lane
            const bool counted = op.batch >= 0 && op.batch == batch;  // a batch is one span
            batch = op.batch;
            if (!counted) busy[rank] += times * (spans[at].end - spans[at].begin);
          }
        });
    first = std::min(first, own_first);
    last = std::max(last, own_last);
    if (own_last <= own_first || own_last - own_first <= longest) continue;
    longest = own_last - own_first;
    longest_busy = busy[rank];
  }
  Bubble bubble;
  bubble.ranks.assign(ranks, 0);
  if (last <= first) return bubble;
  const double window = static_cast<double>((last - first).count());
  double all_busy = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const double rank_busy = static_cast<double>(busy[rank].count());
    bubble.ranks[rank] = (window - rank_busy) / window;
    all_busy += rank_busy;
  }
  const double total = window * static_cast<double>(ranks);
  if (all_busy > 0) bubble.over_ideal = (total - all_busy) / all_busy;
  bubble.of_total = (total - all_busy) / total;
  bubble.of_longest_rank =
      static_cast<double>((longest - longest_busy).count()) / static_cast<double>(longest.count());
  return bubble;
}

std::vector<HeldPoint> held_microbatches(const Program& program, const Timeline& timeline,
                                         int rank) {
  const RankProgram& ops = program.ranks[static_cast<std::size_t>(rank)];
  int chunks = 1;
  for (const Action& action : ops.actions) chunks = std::max(chunks, action.chunk + 1);
  // Of a stage that two ranks hold, either chunk counts whole.
  std::set<int> holders;
  for (const RankProgram& other : program.ranks) {
    if (ops.layers.empty()) continue;
    const bool holds = std::find(other.layers.begin(), other.layers.end(), ops.layers.front()) !=
                       other.layers.end();
    if (holds) holders.insert(other.stage);
  }
  const double share = std::max(1.0, static_cast<double>(holders.size())) / chunks;
  // An action ends with the last of its pieces.
  std::vector<Nanoseconds> ends(ops.actions.size(), Nanoseconds{-1});
  const std::vector<Span>& spans = timeline.ranks[static_cast<std::size_t>(rank)].spans;
  for (std::size_t index = 0; index < ops.ops.size() && index < spans.size(); ++index) {
    const Op& op = ops.ops[index];
    if (op.lane != Lane::kCompute || action_of(ops, op) == nullptr) continue;
    Nanoseconds& end = ends[static_cast<std::size_t>(op.action)];
    end = std::max(end, spans[index].end);
  }
  struct Change {
    Nanoseconds time;
    int change;
  };
  std::vector<Change> changes;
  for (std::size_t index = 0; index < ends.size(); ++index) {
    const ActionKind kind = ops.actions[index].kind;
    if (ends[index].count() < 0 || kind == ActionKind::kInputGrad) continue;
    changes.push_back({ends[index], kind == ActionKind::kForward ? 1 : -1});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.time < b.time; });
  std::vector<HeldPoint> points = {{Nanoseconds{0}, 0}};
  int held = 0;
  for (const Change& change : changes) {
    held += change.change;
    points.push_back({change.time, held * share});
  }
  return points;
}

std::vector<MemoryPoint> memory_over_time(const Program& program, const Timeline& timeline,
                                          int rank) {
  const RankProgram& ops = program.ranks[static_cast<std::size_t>(rank)];
  const std::vector<Span>& spans = timeline.ranks[static_cast<std::size_t>(rank)].spans;
  struct Change {
    Nanoseconds time;
    bool opens;
    std::size_t category;
    std::int64_t bytes;
  };
  std::vector<Change> changes;
  MemoryPoint now;
  for (const Buffer& buffer : ops.buffers) {
    const auto category = static_cast<std::size_t>(buffer.category);
    const auto opened = static_cast<std::size_t>(buffer.opened_by),
               closed = static_cast<std::size_t>(buffer.closed_by);
    if (buffer.opened_by < 0 || opened >= spans.size() || closed >= spans.size()) {
      now.bytes[category] += buffer.bytes;
      continue;
    }
    changes.push_back({spans[opened].begin, true, category, buffer.bytes});
    changes.push_back({spans[closed].end, false, category, -buffer.bytes});
  }
  // At one moment what closes makes room before what opens.
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.opens < b.opens;
  });
  std::vector<MemoryPoint> points = {now};
  for (const Change& change : changes) {
    now.time = change.time;
    now.bytes[change.category] += change.bytes;
    if (points.back().time == now.time) {
      points.back() = now;
    } else {
      points.push_back(now);
    }
  }
  return points;
}

nlohmann::json to_json(const Timeline& timeline) {
  using nlohmann::json;
  json result = {
      {"source", std::string(name_of(timeline.source))},
      {"duration_seconds", std::chrono::duration<double>(timeline.duration).count()},
      {"clock_error_seconds", std::chrono::duration<double>(timeline.clock_error).count()},
      {"step", timeline.step},
      {"steps", timeline.steps},
      {"ranks", json::array()}};
  const auto list = [](const std::vector<Nanoseconds>& times) {
    json values = json::array();
    for (const Nanoseconds time : times) values.push_back(time.count());
    return values;
  };
  for (const RankTimeline& rank : timeline.ranks) {
    json spans = json::array();
    for (const Span& span : rank.spans) {
      spans.push_back(span.begin.count());
      spans.push_back(span.end.count());
    }
    result["ranks"].push_back({{"spans", std::move(spans)},
                               {"shortest", list(rank.shortest)},
                               {"longest", list(rank.longest)}});
  }
  return result;
}

Result<Timeline> timeline_from_json(const nlohmann::json& json) {
  const auto wrong = [](const char* key) {
    return message("timeline-json", "The timeline has no valid “{}”; the file may be damaged.",
                   key);
  };
  const auto number_of = [&](const char* key, double& value) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return false;
    value = found->get<double>();
    return value >= 0 && value < 1e9;
  };
  const auto list_of = [](const nlohmann::json& rank, const char* key,
                          std::vector<Nanoseconds>& times) {
    const auto found = rank.find(key);
    if (found == rank.end() || !found->is_array()) return false;
    times.reserve(found->size());
    for (const auto& value : *found) {
      if (!value.is_number_integer()) return false;
      times.emplace_back(value.get<std::int64_t>());
    }
    return true;
  };
  if (!json.is_object()) return wrong("source");

  Timeline timeline;
  const auto source = json.find("source");
  if (source == json.end() || !source->is_string()) return wrong("source");
  const auto name = std::find(kSourceNames.begin(), kSourceNames.end(), source->get<std::string>());
  if (name == kSourceNames.end()) return wrong("source");
  timeline.source = static_cast<Source>(name - kSourceNames.begin());

  double duration = 0, clock_error = 0, step = 0, steps = 0;
  if (!number_of("duration_seconds", duration)) return wrong("duration_seconds");
  if (!number_of("clock_error_seconds", clock_error)) return wrong("clock_error_seconds");
  if (!number_of("step", step)) return wrong("step");
  if (!number_of("steps", steps)) return wrong("steps");
  const auto nanoseconds = [](double seconds) {
    return std::chrono::round<Nanoseconds>(std::chrono::duration<double>(seconds));
  };
  timeline.duration = nanoseconds(duration);
  timeline.clock_error = nanoseconds(clock_error);
  timeline.step = static_cast<int>(step);
  timeline.steps = static_cast<int>(steps);

  const auto ranks = json.find("ranks");
  if (ranks == json.end() || !ranks->is_array()) return wrong("ranks");
  for (const auto& rank : *ranks) {
    if (!rank.is_object()) return wrong("ranks");
    RankTimeline& read = timeline.ranks.emplace_back();
    std::vector<Nanoseconds> ends;
    if (!list_of(rank, "spans", ends) || ends.size() % 2 != 0) return wrong("spans");
    if (!list_of(rank, "shortest", read.shortest)) return wrong("shortest");
    if (!list_of(rank, "longest", read.longest)) return wrong("longest");
    for (std::size_t index = 0; index < ends.size(); index += 2) {
      if (ends[index] > ends[index + 1]) return wrong("spans");
      read.spans.push_back({ends[index], ends[index + 1]});
    }
  }
  return timeline;
}

}  // namespace parallelarium
