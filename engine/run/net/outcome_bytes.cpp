// SPDX-License-Identifier: Apache-2.0
#include "engine/run/net/outcome_bytes.h"

#include "engine/run/net/bytes.h"

namespace parallelarium {

namespace {

void put_parts(Bytes& bytes, const std::vector<SlicePart>& parts) {
  bytes.put(static_cast<std::uint64_t>(parts.size()));
  for (const SlicePart& part : parts) {
    bytes.put(part.parameter);
    bytes.put(part.layer);
    bytes.put(part.first);
    bytes.put_list(part.values);
  }
}

std::vector<SlicePart> take_parts(BytesReader& reader) {
  std::vector<SlicePart> parts;
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left) {
    SlicePart& part = parts.emplace_back();
    part.parameter = reader.take<Parameter>();
    part.layer = reader.take<int>();
    part.first = reader.take<std::int64_t>();
    part.values = reader.list<float>();
  }
  return parts;
}

void put_routing(Bytes& bytes, const std::vector<std::vector<RoutedMicrobatch>>& steps) {
  bytes.put(static_cast<std::uint64_t>(steps.size()));
  for (const auto& step : steps) {
    bytes.put(static_cast<std::uint64_t>(step.size()));
    for (const RoutedMicrobatch& entry : step) {
      bytes.put(entry.layer);
      bytes.put(entry.microbatch);
      bytes.put(entry.replica);
      bytes.put_list(entry.load.chosen);
      bytes.put_list(entry.load.kept);
      bytes.put(entry.load.balance);
      bytes.put(entry.load.z);
    }
  }
}

std::vector<std::vector<RoutedMicrobatch>> take_routing(BytesReader& reader) {
  std::vector<std::vector<RoutedMicrobatch>> steps;
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left) {
    auto& step = steps.emplace_back();
    for (auto entries = reader.take<std::uint64_t>(); entries > 0 && reader.good(); --entries) {
      RoutedMicrobatch& entry = step.emplace_back();
      entry.layer = reader.take<int>();
      entry.microbatch = reader.take<int>();
      entry.replica = reader.take<int>();
      entry.load.chosen = reader.list<std::int64_t>();
      entry.load.kept = reader.list<std::int64_t>();
      entry.load.balance = reader.take<double>();
      entry.load.z = reader.take<double>();
    }
  }
  return steps;
}

void put_state(Bytes& bytes, const RankState& state) {
  bytes.put(state.rank);
  for (const std::optional<double>& value : {state.loss, state.gradient_norm}) {
    bytes.put(static_cast<std::uint8_t>(value ? 1 : 0));
    bytes.put(value.value_or(0));
  }
  bytes.put(state.gradient_norm_reduced);
  bytes.put_text(state.weights_before);
  bytes.put_text(state.weights_after);
  bytes.put_text(state.copy_after);
}

RankState take_state(BytesReader& reader) {
  RankState state;
  state.rank = reader.take<int>();
  for (std::optional<double>* value : {&state.loss, &state.gradient_norm}) {
    const bool known = reader.take<std::uint8_t>() != 0;
    const auto number = reader.take<double>();
    if (known) *value = number;
  }
  state.gradient_norm_reduced = reader.take<double>();
  state.weights_before = reader.text();
  state.weights_after = reader.text();
  state.copy_after = reader.text();
  return state;
}

void put_dimension(Bytes& bytes, const TensorDimension& dimension) {
  bytes.put_text(dimension.name);
  bytes.put(dimension.size);
  bytes.put(dimension.whole);
  bytes.put(static_cast<std::uint64_t>(dimension.cuts.size()));
  for (const TensorCut& cut : dimension.cuts) {
    bytes.put(cut.axis);
    bytes.put_list(cut.ranges);
  }
}

// Where the elements stood in the memory of the rank, nobody else needs to know.
void put_probed(Bytes& bytes, const std::vector<ProbedRank>& ranks) {
  bytes.put(static_cast<std::uint64_t>(ranks.size()));
  for (const ProbedRank& rank : ranks) {
    bytes.put(rank.rank);
    bytes.put(rank.replica);
    bytes.put(rank.probe);
    bytes.put(static_cast<std::uint64_t>(rank.tensors.size()));
    for (const ProbedTensor& tensor : rank.tensors) {
      bytes.put_text(tensor.what.name);
      bytes.put(tensor.what.written);
      bytes.put(tensor.what.type);
      bytes.put(static_cast<std::uint64_t>(tensor.what.dimensions.size()));
      for (const TensorDimension& dimension : tensor.what.dimensions)
        put_dimension(bytes, dimension);
      bytes.put_list(tensor.what.partial);
      bytes.put_list(tensor.what.replicated);
      bytes.put(tensor.type);
      bytes.put_list(tensor.bytes);
    }
    bytes.put_list(rank.routes);
  }
}

TensorDimension take_dimension(BytesReader& reader) {
  TensorDimension dimension;
  dimension.name = reader.text();
  dimension.size = reader.take<std::int64_t>();
  dimension.whole = reader.take<std::int64_t>();
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left) {
    TensorCut& cut = dimension.cuts.emplace_back();
    cut.axis = reader.take<Axis>();
    cut.ranges = reader.list<ChunkRange>();
  }
  return dimension;
}

ProbedTensor take_tensor(BytesReader& reader) {
  ProbedTensor tensor;
  tensor.what.name = reader.text();
  tensor.what.written = reader.take<std::uint8_t>() != 0;
  tensor.what.type = reader.take<DataType>();
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left)
    tensor.what.dimensions.push_back(take_dimension(reader));
  tensor.what.partial = reader.list<Axis>();
  tensor.what.replicated = reader.list<Axis>();
  tensor.type = reader.take<DataType>();
  tensor.bytes = reader.list<std::byte>();
  return tensor;
}

std::vector<ProbedRank> take_probed(BytesReader& reader) {
  std::vector<ProbedRank> ranks;
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left) {
    ProbedRank& rank = ranks.emplace_back();
    rank.rank = reader.take<int>();
    rank.replica = reader.take<int>();
    rank.probe = reader.take<Probe>();
    for (auto tensors = reader.take<std::uint64_t>(); tensors > 0 && reader.good(); --tensors)
      rank.tensors.push_back(take_tensor(reader));
    rank.routes = reader.list<std::int32_t>();
  }
  return ranks;
}

void put_traffic(Bytes& bytes, const std::vector<TrafficRow>& rows) {
  bytes.put(static_cast<std::uint64_t>(rows.size()));
  for (const TrafficRow& row : rows) {
    bytes.put(row.axis);
    bytes.put_text(row.operation);
    bytes.put(row.purpose);
    bytes.put(row.calls);
    bytes.put(row.sent_bytes);
    bytes.put(row.received_bytes);
    bytes.put(row.counted);
  }
}

std::vector<TrafficRow> take_traffic(BytesReader& reader) {
  std::vector<TrafficRow> rows;
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left) {
    TrafficRow& row = rows.emplace_back();
    row.axis = reader.take<Axis>();
    row.operation = reader.text();
    row.purpose = reader.take<Purpose>();
    row.calls = reader.take<std::int64_t>();
    row.sent_bytes = reader.take<std::int64_t>();
    row.received_bytes = reader.take<std::int64_t>();
    row.counted = reader.take<std::uint8_t>() != 0;
  }
  return rows;
}

}  // namespace

std::string to_bytes(const RankOutcome& outcome) {
  Bytes bytes;
  bytes.put(static_cast<std::uint64_t>(outcome.spans.size()));
  for (const std::vector<Span>& step : outcome.spans) bytes.put_list(step);
  bytes.put_list(outcome.compute_cpu_time);
  bytes.put_list(outcome.modelled_end);
  bytes.put_list(outcome.compute_given);
  bytes.put_list(outcome.host_time);
  bytes.put_list(outcome.wall_time);
  bytes.put_list(outcome.loss_sums);
  bytes.put_list(outcome.square_sums);
  put_routing(bytes, outcome.routing);
  bytes.put(outcome.clock_error);
  bytes.put(outcome.memory);
  bytes.put(static_cast<std::uint64_t>(outcome.traffic.size()));
  for (const std::vector<TrafficRow>& step : outcome.traffic) put_traffic(bytes, step);
  bytes.put(static_cast<std::uint64_t>(outcome.sent_bytes.size()));
  for (const std::vector<std::int64_t>& step : outcome.sent_bytes) bytes.put_list(step);
  put_parts(bytes, outcome.gradients);
  put_parts(bytes, outcome.last_gradients);
  put_parts(bytes, outcome.parameters);
  bytes.put(outcome.held_out_sum);
  bytes.put(outcome.held_out_tokens);
  bytes.put(outcome.process_bytes);
  put_state(bytes, outcome.state);
  bytes.put(outcome.owned);
  bytes.put(outcome.whole);
  put_probed(bytes, outcome.probed);
  bytes.put(outcome.probe_bytes);
  bytes.put(outcome.gpu_memory);
  return bytes.text();
}

Result<RankOutcome> outcome_from_bytes(const std::string& bytes) {
  BytesReader reader(bytes);
  RankOutcome outcome;
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left)
    outcome.spans.push_back(reader.list<Span>());
  outcome.compute_cpu_time = reader.list<Nanoseconds>();
  outcome.modelled_end = reader.list<Nanoseconds>();
  outcome.compute_given = reader.list<Nanoseconds>();
  outcome.host_time = reader.list<Nanoseconds>();
  outcome.wall_time = reader.list<Nanoseconds>();
  outcome.loss_sums = reader.list<double>();
  outcome.square_sums = reader.list<double>();
  outcome.routing = take_routing(reader);
  outcome.clock_error = reader.take<Nanoseconds>();
  outcome.memory = reader.take<MemoryRow>();
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left)
    outcome.traffic.push_back(take_traffic(reader));
  for (auto left = reader.take<std::uint64_t>(); left > 0 && reader.good(); --left)
    outcome.sent_bytes.push_back(reader.list<std::int64_t>());
  outcome.gradients = take_parts(reader);
  outcome.last_gradients = take_parts(reader);
  outcome.parameters = take_parts(reader);
  outcome.held_out_sum = reader.take<double>();
  outcome.held_out_tokens = reader.take<std::int64_t>();
  outcome.process_bytes = reader.take<std::int64_t>();
  outcome.state = take_state(reader);
  outcome.owned = reader.take<std::uint64_t>();
  outcome.whole = reader.take<std::uint64_t>();
  outcome.probed = take_probed(reader);
  outcome.probe_bytes = reader.take<std::int64_t>();
  outcome.gpu_memory = reader.take<GpuMemory>();
  if (!reader.good())
    return message("outcome-broken", "The report of a rank did not arrive whole.");
  return outcome;
}

}  // namespace parallelarium
