// SPDX-License-Identifier: Apache-2.0
// The wire form of an Observation: the keys of `run --json`, for every rank.
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/phrases.h"
#include "engine/wire/messages.h"
#include "engine/wire/reading.h"

namespace parallelarium {
namespace {

// The enumerator from `first` to `last` whose name is `name`.
template <class Enum>
bool read_name(const std::string& name, Enum first, Enum last, Enum& into) {
  for (int value = static_cast<int>(first); value <= static_cast<int>(last); ++value) {
    if (name_of(static_cast<Enum>(value)) == name) {
      into = static_cast<Enum>(value);
      return true;
    }
  }
  return false;
}

Result<MemoryRow> memory_row_from(const nlohmann::json& json) {
  MemoryRow row;
  ObjectReader reader(json, "observation.memory");
  reader.read("rank", row.rank);
  reader.read("stage", row.stage);
  for (int category = 0; category < kCategories; ++category) {
    const std::string key = std::string(name_of(static_cast<Category>(category))) + "_bytes";
    reader.read(key.c_str(), row.bytes[category]);
  }
  reader.read("peak_bytes", row.peak_bytes);
  if (reader.error()) return *reader.error();
  return row;
}

Result<TrafficRow> traffic_row_from(const nlohmann::json& json) {
  TrafficRow row;
  ObjectReader reader(json, "observation.traffic");
  std::string axis, purpose;
  reader.read("group", axis);
  reader.read("operation", row.operation);
  reader.read("purpose", purpose);
  reader.read("calls", row.calls);
  reader.read("sent_bytes", row.sent_bytes);
  reader.read("received_bytes", row.received_bytes);
  reader.read("counted", row.counted);
  if (!read_name(axis, Axis::kTp, Axis::kWorld, row.axis))
    reader.fail("group", message("value-group", "a known group"));
  if (!read_name(purpose, Purpose::kNone, Purpose::kCounts, row.purpose))
    reader.fail("purpose", message("value-purpose", "a known purpose"));
  if (reader.error()) return *reader.error();
  return row;
}

void read_bubble(ObjectReader& parent, Bubble& bubble, std::optional<Message>& error) {
  const nlohmann::json* json = parent.object("bubble");
  if (!json) return;
  ObjectReader reader(*json, "observation.bubble");
  reader.read("over_ideal", bubble.over_ideal);
  reader.read("of_total", bubble.of_total);
  reader.read("of_longest_rank", bubble.of_longest_rank);
  reader.read("ranks", bubble.ranks);
  if (!error) error = reader.error();
}

void read_step(ObjectReader& parent, StepFigures& step, std::optional<Message>& error) {
  const nlohmann::json* json = parent.object("step");
  if (!json) return;
  ObjectReader reader(*json, "observation.step");
  reader.read("seconds", step.seconds);
  reader.read("seconds_min", step.seconds_min);
  reader.read("seconds_max", step.seconds_max);
  reader.read("compute_seconds", step.compute_seconds);
  reader.read("communication_seconds", step.communication_seconds);
  reader.read("exposed_communication_seconds", step.exposed_communication_seconds);
  reader.read("tokens_per_second", step.tokens_per_second);
  reader.read("model_flops_per_second_per_rank", step.model_flops_per_second_per_rank);
  reader.read("mfu", step.mfu);
  reader.read("mfu_causal", step.mfu_causal);
  reader.read("mfu_6n", step.mfu_6n);
  reader.read("hfu", step.hfu);
  if (!error) error = reader.error();
}

Result<std::vector<LibraryChoice>> choices_from_json(const nlohmann::json& json) {
  return rows_from_json<LibraryChoice>(json, "transport_choices",
                                       [](ObjectReader& reader, LibraryChoice& choice) {
                                         reader.read("collective", choice.collective);
                                         reader.read("ranks", choice.ranks);
                                         reader.read("algorithm", choice.algorithm);
                                         reader.read("protocol", choice.protocol);
                                         reader.read("channels", choice.channels);
                                         reader.read("calls", choice.calls);
                                         reader.read("least_bytes", choice.least_bytes);
                                         reader.read("most_bytes", choice.most_bytes);
                                       });
}

Result<std::vector<GpuMemory>> gpu_memory_from_json(const nlohmann::json& json) {
  return rows_from_json<GpuMemory>(json, "gpu_memory", [](ObjectReader& reader, GpuMemory& row) {
    reader.read("gpu", row.gpu);
    reader.read("rank", row.rank);
    reader.read("driver_bytes", row.driver_bytes);
    reader.read("arena_bytes", row.arena_bytes);
    reader.read("workspace_bytes", row.workspace_bytes);
    reader.read("communicator_bytes", row.communicator_bytes);
    reader.read("context_bytes", row.context_bytes);
  });
}

// Most ops send nothing. So a rank's list is an op that does, its bytes, the next such op, ...
nlohmann::json sent_json(const Observation& observation) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const std::vector<std::int64_t>& ops : observation.sent_bytes) {
    nlohmann::json& list = ranks.emplace_back(nlohmann::json::array());
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (ops[op] == 0) continue;
      list.push_back(op);
      list.push_back(ops[op]);
    }
  }
  return ranks;
}

}  // namespace

nlohmann::json to_json(const Observation& observation) {
  nlohmann::json memory = nlohmann::json::array();
  for (const MemoryRow& row : observation.memory) memory.push_back(to_json(row));
  nlohmann::json traffic = nlohmann::json::array();
  for (const auto& rows : observation.traffic) traffic.push_back(to_json(rows));
  return {{"setup", to_json(observation.setup)},
          {"machine", observation.machine},
          {"backend", observation.backend},
          {"transport", observation.transport},
          {"transport_choices", to_json(observation.choices)},
          {"source", name_of(observation.source)},
          {"stretch", observation.stretch},
          {"delay_factor", observation.delay_factor},
          {"gpu_use", observation.gpu_use},
          {"timeline", to_json(observation.timeline)},
          {"memory", std::move(memory)},
          {"traffic", std::move(traffic)},
          {"sent_bytes", sent_json(observation)},
          {"bubble", to_json(observation.bubble)},
          {"step", to_json(observation.step, true)},
          {"losses", observation.losses},
          {"gradient_norms", observation.gradient_norms},
          {"routing_steps", to_json(observation.routing)},
          {"ranks_state", to_json(observation.ranks_state)},
          {"process_bytes", observation.process_bytes},
          {"gpu_memory", to_json(observation.gpu_memory)},
          {"wall_seconds", observation.wall_seconds},
          {"host_seconds", observation.host_seconds},
          {"date", observation.date}};
}

namespace {

Result<std::vector<std::vector<TrafficRow>>> traffic_from_json(const nlohmann::json& json) {
  std::vector<std::vector<TrafficRow>> traffic;
  for (const nlohmann::json& rows : json) {
    if (!rows.is_array())
      return message("wire-key", "\"{}.{}\" must be {}.", "observation", "traffic",
                     message("value-list-rank", "a list for each rank"));
    auto& of_rank = traffic.emplace_back();
    for (const nlohmann::json& entry : rows) {
      Result<TrafficRow> row = traffic_row_from(entry);
      if (!row) return row.error();
      of_rank.push_back(std::move(*row));
    }
  }
  return traffic;
}

// Documents of older versions have none.
Result<std::vector<std::vector<std::int64_t>>> sent_from_json(const nlohmann::json& observation,
                                                              const Timeline& timeline) {
  const auto wrong = [] {
    return message("wire-key", "\"{}.{}\" must be {}.", "observation", "sent_bytes",
                   message("value-list-rank", "a list for each rank"));
  };
  std::vector<std::vector<std::int64_t>> sent;
  const auto lists = observation.find("sent_bytes");
  if (lists == observation.end()) return sent;
  if (!lists->is_array() || lists->size() > timeline.ranks.size()) return wrong();
  for (std::size_t rank = 0; rank < lists->size(); ++rank) {
    const nlohmann::json& list = (*lists)[rank];
    if (!list.is_array() || list.size() % 2 != 0) return wrong();
    std::vector<std::int64_t>& ops = sent.emplace_back(timeline.ranks[rank].spans.size(), 0);
    for (std::size_t at = 0; at < list.size(); at += 2) {
      if (!list[at].is_number_unsigned() || !list[at + 1].is_number_integer()) return wrong();
      const auto op = list[at].get<std::size_t>();
      if (op >= ops.size()) return wrong();
      ops[op] = list[at + 1].get<std::int64_t>();
    }
  }
  return sent;
}

// Documents of older versions have none.
Result<std::vector<RankState>> ranks_state_from_json(const nlohmann::json& observation) {
  const auto list = observation.find("ranks_state");
  if (list == observation.end() || !list->is_array()) return std::vector<RankState>{};
  return rows_from_json<RankState>(
      *list, "observation.ranks_state", [](ObjectReader& reader, RankState& state) {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        double loss = kNone, norm = kNone;
        reader.read("rank", state.rank);
        reader.read("loss", loss);
        reader.read("gradient_norm", norm);
        reader.read("gradient_norm_reduced", state.gradient_norm_reduced);
        reader.read("weights_before", state.weights_before);
        reader.read("weights_after", state.weights_after);
        reader.read("replica_of", state.replica_of);
        reader.read("copy_after", state.copy_after);
        reader.read("copy_of", state.copy_of);
        if (!std::isnan(loss)) state.loss = loss;
        if (!std::isnan(norm)) state.gradient_norm = norm;
      });
}

// Reads a part of an observation with `read` and keeps it in `into`; the first error stays.
template <class Part>
void keep_part(const Result<Part>& read, Part& into, std::optional<Message>& error) {
  if (error) return;
  if (read)
    into = *read;
  else
    error = read.error();
}

}  // namespace

Result<Observation> observation_from_json(const nlohmann::json& json) {
  Observation observation;
  ObjectReader reader(json, "observation");
  std::optional<Message> error;
  std::string source;
  reader.read("machine", observation.machine);
  reader.read("backend", observation.backend);
  reader.read("transport", observation.transport);
  reader.read("source", source);
  reader.read("stretch", observation.stretch);
  reader.read("delay_factor", observation.delay_factor);
  reader.read("losses", observation.losses);
  reader.read("gradient_norms", observation.gradient_norms);
  reader.read("process_bytes", observation.process_bytes);
  reader.read("wall_seconds", observation.wall_seconds);
  reader.read("host_seconds", observation.host_seconds);
  reader.read("gpu_use", observation.gpu_use);
  reader.read("date", observation.date);
  if (!read_name(source, Source::kPredicted, Source::kSharedGpu, observation.source) ||
      observation.source == Source::kPredicted)
    reader.fail("source", join_or({"measured", "oversubscribed", "paced", "shared GPU"}));
  read_bubble(reader, observation.bubble, error);
  read_step(reader, observation.step, error);
  const nlohmann::json* setup = reader.object("setup");
  const nlohmann::json* timeline = reader.object("timeline");
  const nlohmann::json* memory = reader.array("memory");
  const nlohmann::json* traffic = reader.array("traffic");
  const nlohmann::json* choices = reader.array("transport_choices");
  const nlohmann::json* gpus = reader.array("gpu_memory");
  const nlohmann::json* routing = reader.array("routing_steps");
  if (reader.error()) return *reader.error();
  if (error) return *error;

  keep_part(setup_from_json(*setup), observation.setup, error);
  keep_part(timeline_from_json(*timeline), observation.timeline, error);
  for (const nlohmann::json& entry : *memory)
    keep_part(memory_row_from(entry), observation.memory.emplace_back(), error);
  keep_part(choices_from_json(*choices), observation.choices, error);
  keep_part(gpu_memory_from_json(*gpus), observation.gpu_memory, error);
  for (const nlohmann::json& step : *routing)
    keep_part(routing_from_json(step), observation.routing.emplace_back(), error);
  keep_part(traffic_from_json(*traffic), observation.traffic, error);
  keep_part(sent_from_json(json, observation.timeline), observation.sent_bytes, error);
  keep_part(ranks_state_from_json(json), observation.ranks_state, error);
  if (error) return *error;
  return observation;
}

}  // namespace parallelarium
