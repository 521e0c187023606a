// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/export/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

namespace parallelarium {
namespace {

// One slice of a track: an op, or the ops of one batch.
struct Slice {
  std::vector<int> ops;
  Span span;
};

std::vector<Slice> slices_of(const RankProgram& rank, const RankTimeline& times, Lane lane) {
  std::vector<Slice> slices;
  int batch = -1;
  for (int index = 0; index < static_cast<int>(rank.ops.size()); ++index) {
    const Op& op = rank.ops[index];
    if (op.lane != lane) continue;
    const Span& span = times.spans[index];
    if (op.batch >= 0 && op.batch == batch) {
      Slice& slice = slices.back();
      slice.ops.push_back(index);
      slice.span.begin = std::min(slice.span.begin, span.begin);
      slice.span.end = std::max(slice.span.end, span.end);
    } else {
      slices.push_back({{index}, span});
    }
    batch = op.batch;
  }
  return slices;
}

std::string microseconds(Nanoseconds time) {
  const auto count = time.count();
  const char* sign = count < 0 ? "-" : "";
  const auto magnitude = count < 0 ? -count : count;
  return fmt::format("{}{}.{:03}", sign, magnitude / 1000, magnitude % 1000);
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string_view family_of(const Op& op) {
  if (op.kind != OpKind::kCompute) return "communication";
  switch (op.phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kRecompute:
      return "recompute";
    case Phase::kInputGrad:
      return "backward";
    case Phase::kWeightGrad:
      return "weight gradient";
    case Phase::kUpdate:
      break;
  }
  return "optimizer";
}

// Writes events one by one: a million of them as one JSON value would take gigabytes.
class Events {
 public:
  void add(const std::string& event) {
    text_ += first_ ? "\n" : ",\n";
    text_ += event;
    first_ = false;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool first_ = true;
};

void add_names(Events& events, const RankProgram& rank, Source source) {
  const std::string name = fmt::format("rank {} ({})", rank.rank, spoken_name(source));
  events.add(
      fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})",
                  rank.rank, json_text(name)));
  events.add(fmt::format(
      R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
      rank.rank));
  events.add(fmt::format(
      R"({{"ph":"M","pid":{},"tid":0,"name":"process_labels","args":{{"labels":"stage {}"}}}})",
      rank.rank, rank.stage));
  for (int lane = 0; lane < kLanes; ++lane) {
    events.add(
        fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})",
                    rank.rank, lane, name_of(static_cast<Lane>(lane))));
    events.add(fmt::format(
        R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
        rank.rank, lane));
  }
}

std::string arguments_of(const Op& op, const Slice& slice, Source source) {
  std::string text = fmt::format(R"("op":{},"source":"{}")", slice.ops.front(), name_of(source));
  const auto put = [&text](std::string_view key, auto value) {
    text += fmt::format(",\"{}\":{}", key, value);
  };
  if (op.kind == OpKind::kCompute)
    text += fmt::format(R"(,"phase":"{}","piece":"{}")", name_of(op.phase), name_of(op.piece));
  else
    text += fmt::format(R"(,"purpose":"{}")", name_of(op.purpose));
  if (op.layer >= 0) put("layer", op.layer);
  if (op.microbatch >= 0) {
    put("microbatch", op.microbatch);
    put("chunk", op.chunk);
  }
  if (op.peer >= 0) put("peer", op.peer);
  if (op.kind != OpKind::kCompute) put("bytes", op.bytes);
  if (slice.ops.size() > 1) put("ops_in_batch", slice.ops.size());
  return text;
}

void add_slices(Events& events, const RankProgram& rank, const RankTimeline& times, Source source) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (const Slice& slice : slices_of(rank, times, static_cast<Lane>(lane))) {
      const Op& op = rank.ops[slice.ops.front()];
      std::string title = title_of(rank, op);
      for (std::size_t other = 1; other < slice.ops.size(); ++other)
        title += " + " + title_of(rank, rank.ops[slice.ops[other]]);
      events.add(fmt::format(
          R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
          rank.rank, lane, microseconds(slice.span.begin),
          microseconds(slice.span.end - slice.span.begin), json_text(title), family_of(op),
          arguments_of(op, slice, source)));
    }
  }
}

void add_counters(Events& events, const Program& program, const Timeline& timeline, int index) {
  for (const MemoryPoint& point : memory_over_time(program, timeline, index)) {
    std::string held;
    for (int category = 0; category < kCategories; ++category)
      held += fmt::format("{}\"{}\":{}", category == 0 ? "" : ",",
                          name_of(static_cast<Category>(category)), point.bytes[category]);
    events.add(
        fmt::format(R"({{"ph":"C","pid":{},"tid":0,"ts":{},"name":"held bytes","args":{{{}}}}})",
                    program.ranks[index].rank, microseconds(point.time), held));
  }
}

// One end of a message: rank index and op index.
struct End {
  int rank = -1, op = -1;
};

// The k-th send from a to b in a group meets the k-th receive.
void add_flows(Events& events, const Program& program, const Timeline& timeline) {
  std::map<std::tuple<int, int, int>, std::pair<std::vector<End>, std::vector<End>>> messages;
  for (int index = 0; index < static_cast<int>(program.ranks.size()); ++index) {
    const RankProgram& rank = program.ranks[index];
    for (int at = 0; at < static_cast<int>(rank.ops.size()); ++at) {
      const Op& op = rank.ops[at];
      if (op.kind == OpKind::kSend)
        messages[{rank.rank, op.peer, op.group}].first.push_back({index, at});
      else if (op.kind == OpKind::kRecv)
        messages[{op.peer, rank.rank, op.group}].second.push_back({index, at});
    }
  }
  int id = 0;
  for (const auto& [ends, message] : messages) {
    const auto& [sends, receives] = message;
    for (std::size_t k = 0; k < std::min(sends.size(), receives.size()); ++k) {
      const Op& send = program.ranks[sends[k].rank].ops[sends[k].op];
      const Op& receive = program.ranks[receives[k].rank].ops[receives[k].op];
      const Span& sent = timeline.ranks[sends[k].rank].spans[sends[k].op];
      const Span& received = timeline.ranks[receives[k].rank].spans[receives[k].op];
      // A flow is tied to the slice around its time; an arrow must not point backwards.
      const Nanoseconds arrival =
          std::clamp(std::max(sent.begin, received.begin), received.begin, received.end);
      const auto add = [&](const char* phase, int pid, const Op& op, Nanoseconds time) {
        events.add(fmt::format(
            R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":{},"name":"{}","cat":"message"{}}})",
            phase, id, pid, static_cast<int>(op.lane), microseconds(time), name_of(op.purpose),
            *phase == 'f' ? R"(,"bp":"e")" : ""));
      };
      add("s", std::get<0>(ends), send, sent.begin);
      add("f", std::get<1>(ends), receive, arrival);
      ++id;
    }
  }
}

}  // namespace

std::string title_of(const RankProgram& rank, const Op& op) {
  std::string title;
  switch (op.kind) {
    case OpKind::kSend:
      title = fmt::format("send {}", name_of(op.purpose));
      break;
    case OpKind::kRecv:
      title = fmt::format("receive {}", name_of(op.purpose));
      break;
    case OpKind::kCollective:
      title = fmt::format("{} {}", name_of(op.collective), name_of(op.purpose));
      break;
    case OpKind::kCompute:
      if (op.action >= 0 && op.action < static_cast<int>(rank.actions.size())) {
        const Action& action = rank.actions[op.action];
        title = fmt::format("{}{}", letter_of(action.kind), action.microbatch);
        if (action.chunk > 0) title += fmt::format(".{}", action.chunk);
      }
      if (op.piece != Piece::kStage || title.empty())
        title += fmt::format("{}{}", title.empty() ? "" : " ", name_of(op.piece));
      if (op.phase == Phase::kInputGrad || op.phase == Phase::kWeightGrad ||
          op.phase == Phase::kRecompute)
        title += fmt::format(" {}", name_of(op.phase));
      break;
  }
  if (op.kind != OpKind::kCompute && op.microbatch >= 0) title += fmt::format(" {}", op.microbatch);
  if (op.kind == OpKind::kSend) title += fmt::format(" to rank {}", op.peer);
  if (op.kind == OpKind::kRecv) title += fmt::format(" from rank {}", op.peer);
  if (op.layer >= 0) title += fmt::format(", layer {}", op.layer);
  return title;
}

std::string to_chrome_trace(const Program& program, const Timeline& timeline,
                            std::optional<int> rank) {
  Events events;
  std::string ranks;
  int first = -1;
  for (int index = 0; index < static_cast<int>(program.ranks.size()); ++index) {
    const RankProgram& of_rank = program.ranks[index];
    if (rank && of_rank.rank != *rank) continue;
    if (first < 0) first = of_rank.rank;
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", of_rank.rank);
    add_names(events, of_rank, timeline.source);
    add_slices(events, of_rank, timeline.ranks[index], timeline.source);
    add_counters(events, program, timeline, index);
  }
  if (!rank) add_flows(events, program, timeline);
  return fmt::format(
      R"({{"displayTimeUnit":"ns","distributedInfo":{{"backend":"parallelarium","rank":{},"ranks":[{}],"world_size":{}}},"source":"{}","traceEvents":[{}
]}}
)",
      std::max(first, 0), ranks, program.world, name_of(timeline.source), events.take());
}

}  // namespace parallelarium
