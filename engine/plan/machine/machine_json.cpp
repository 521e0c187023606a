// SPDX-License-Identifier: Apache-2.0
// "parallelarium-machine/1": presets and the calibration file. A number is {"value", "origin"}.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/machine.h"
#include "engine/plan/machine/rates/machine_tables.h"
#include "engine/plan/machine/rates/memory_rungs.h"
#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/plan/program/program.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {
namespace {

constexpr double kLargest = 1e24;
constexpr double kLeastSeconds = 1e-12;  // between measured points logarithms are taken

// A share of a peak: nothing goes at none of it, and nothing beyond it.
Result<Sourced> read_share(const nlohmann::json& json, const std::string& prefix) {
  Result<Sourced> share = read_sourced(json, prefix);
  if (share && !(share->value > 0 && share->value <= 1))
    return message("share-range", "{} must be above 0 and at most 1.",
                   prefix.substr(0, prefix.size() - 1));
  return share;
}

// How many times as long something takes.
Result<Sourced> read_times_longer(const nlohmann::json& json, const std::string& prefix) {
  Result<Sourced> times = read_sourced(json, prefix);
  if (times && !(times->value >= 1 && times->value <= 100))
    return message("slowdown-range", "{} must be from 1 to 100.",
                   prefix.substr(0, prefix.size() - 1));
  return times;
}

Result<Sourced> read_count(const nlohmann::json& json, const std::string& prefix) {
  Result<Sourced> count = read_sourced(json, prefix);
  if (count &&
      !(count->value >= 1 && count->value <= 65'536 && std::floor(count->value) == count->value))
    return message("count-range", "{} must be a whole number from 1 to 65,536.",
                   prefix.substr(0, prefix.size() - 1));
  return count;
}

Result<Link> read_link(const nlohmann::json& json, const std::string& prefix) {
  Link link;
  SettingsReader reader(json, prefix);
  read_dotted(reader, "latency_seconds", link.latency_seconds, read_sourced);
  read_dotted(reader, "bytes_per_second", link.bytes_per_second, read_sourced);
  read_dotted(reader, "sustained", link.sustained, read_share);
  reader.text("wire", link.wire);
  if (auto done = reader.finish(); !done) return done.error();
  return link;
}

void read_type(SettingsReader& reader, std::string& type) {
  reader.text("type", type);
  if (type.empty() || type == name_of(DataType::kF32) || type == name_of(DataType::kBf16)) return;
  reader.fail(message("rate-type", "{} must be {} or {}.", reader.dotted("type"),
                      name_of(DataType::kF32), name_of(DataType::kBf16)));
}

void read_product_type(SettingsReader& reader, std::string& type) {
  reader.text("type", type);
  if (type.empty() || type == name_of(DataType::kF32) || type == name_of(DataType::kBf16) ||
      type == kFp8Product)
    return;
  reader.fail(message("product-type", "{} must be {}, {} or {}.", reader.dotted("type"),
                      name_of(DataType::kF32), name_of(DataType::kBf16), kFp8Product));
}

Result<MatmulPoint> read_point(const nlohmann::json& json, const std::string& prefix) {
  MatmulPoint point;
  SettingsReader reader(json, prefix);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  reader.whole("m", point.m, 1, kMost);
  reader.whole("n", point.n, 1, kMost);
  reader.whole("k", point.k, 1, kMost);
  reader.text("phase", point.phase);
  read_product_type(reader, point.type);
  read_dotted(reader, "flops_per_second", point.flops_per_second, read_sourced);
  if (auto done = reader.finish(); !done) return done.error();
  return point;
}

Result<KernelRate> read_rate(const nlohmann::json& json, const std::string& prefix) {
  KernelRate rate;
  SettingsReader reader(json, prefix);
  reader.text("kernel", rate.kernel);
  reader.number("elements", rate.elements, 0, kLargest);
  read_type(reader, rate.type);
  read_dotted(reader, "elements_per_second", rate.elements_per_second, read_sourced);
  if (auto done = reader.finish(); !done) return done.error();
  return rate;
}

Result<HostCall> read_host_call(const nlohmann::json& json, const std::string& prefix) {
  HostCall call;
  SettingsReader reader(json, prefix);
  reader.text("call", call.call);
  read_dotted(reader, "seconds", call.seconds, read_sourced);
  if (auto done = reader.finish(); !done) return done.error();
  return call;
}

Result<PairLink> read_pair(const nlohmann::json& json, const std::string& prefix) {
  PairLink pair;
  SettingsReader reader(json, prefix);
  reader.whole("from", pair.from, 0, 1024);
  reader.whole("to", pair.to, 0, 1024);
  read_dotted(reader, "link", pair.link, read_link);
  if (auto done = reader.finish(); !done) return done.error();
  return pair;
}

Result<CollectiveRate> read_collective(const nlohmann::json& json, const std::string& prefix) {
  CollectiveRate rate;
  SettingsReader reader(json, prefix);
  reader.text("collective", rate.collective);
  reader.whole("ranks", rate.ranks, 2, 65'536);
  read_dotted(reader, "link", rate.link, read_link);
  if (auto done = reader.finish(); !done) return done.error();
  return rate;
}

constexpr std::pair<const char*, double TransferPoint::*> kTransferFigures[] = {
    {"one", &TransferPoint::one},
    {"both", &TransferPoint::both},
    {"one_combined", &TransferPoint::one_combined},
    {"both_combined", &TransferPoint::both_combined},
    {"combine", &TransferPoint::combine},
    {"copy", &TransferPoint::copy},
    {"fresh_one", &TransferPoint::fresh_one},
    {"fresh_both", &TransferPoint::fresh_both},
    {"ring", &TransferPoint::ring},
    {"ring_combined", &TransferPoint::ring_combined}};

Result<TransferPoint> read_transfer(const nlohmann::json& json, const std::string& prefix) {
  TransferPoint point;
  SettingsReader reader(json, prefix);
  reader.whole("bytes", point.bytes, 1, std::int64_t{1} << 40);
  if (!reader.has("bytes"))
    reader.fail(message("transfer-missing", "{} is missing.", reader.dotted("bytes")));
  reader.whole("ring_ranks", point.ring_ranks, 2, 64);
  for (const auto& [key, figure] : kTransferFigures) {
    reader.number(key, point.*figure, kLeastSeconds, kLargest);
    if (!reader.has(key))
      reader.fail(message("transfer-missing", "{} is missing.", reader.dotted(key)));
  }
  read_origin(reader, point.origin);
  if (auto done = reader.finish(); !done) return done.error();
  return point;
}

// Nothing is known of a share of 1 that nobody gave.
void put_share(nlohmann::json& json, const char* key, const Sourced& share) {
  if (share != Sourced{1} && share.value > 0) json[key] = to_json(share);
}

nlohmann::json to_json(const Link& link) {
  nlohmann::json json = {{"latency_seconds", to_json(link.latency_seconds)},
                         {"bytes_per_second", to_json(link.bytes_per_second)}};
  put_share(json, "sustained", link.sustained);
  if (!link.wire.empty()) json["wire"] = link.wire;
  return json;
}

void read_torus(SettingsReader& reader, Machine& machine) {
  const nlohmann::json* axes = reader.child("torus");
  if (axes == nullptr) return;
  std::int64_t devices = 1;
  bool whole = axes->is_array() && axes->size() <= 8;
  for (std::size_t at = 0; whole && at < axes->size(); ++at) {
    const nlohmann::json& axis = (*axes)[at];
    whole = axis.is_number_integer() && axis >= 1 && axis <= 65'536;
    if (!whole) break;
    machine.torus.push_back(axis.get<int>());
    devices = std::min<std::int64_t>(devices * machine.torus.back(), 1 << 20);
  }
  if (!whole || devices != machine.devices_per_node)
    reader.fail(message("machine-torus",
                        "{} lists the devices along each axis, whose product is devices_per_node, "
                        "{}.",
                        reader.dotted("torus"), machine.devices_per_node));
}

}  // namespace

Result<Machine> machine_from_json(const nlohmann::json& json) {
  Machine machine;
  machine.title = "Machine";
  SettingsReader reader(json, "machine.");
  std::string format = "parallelarium-machine/1";
  reader.text("format", format);
  if (format != "parallelarium-machine/1")
    reader.fail(message("machine-format",
                        "The format is “{}”; this version reads parallelarium-machine/1.",
                        shown(format)));
  reader.text("name", machine.name);
  reader.text("title", machine.title);
  reader.texts("gpus", machine.gpus);
  reader.flag("local", machine.local);
  reader.whole("devices_per_node", machine.devices_per_node, 1, 65'536);
  reader.whole("nodes", machine.nodes, 1, 1'000'000);
  read_dotted(reader, "memory_bytes", machine.memory_bytes, read_sourced);
  reader.number("usable_memory_share", machine.usable_memory_share, 0.01, 1);
  read_dotted(reader, "memory_bytes_per_second", machine.memory_bytes_per_second, read_sourced);
  read_dotted(reader, "fp32_flops_per_second", machine.fp32_flops_per_second, read_sourced);
  read_dotted(reader, "half_flops_per_second", machine.half_flops_per_second, read_sourced);
  reader.flag("bf16", machine.bf16);
  read_dotted(reader, "fp8_flops_per_second", machine.fp8_flops_per_second, read_sourced);
  read_dotted(reader, "matmul_efficiency", machine.matmul_efficiency, read_sourced);
  read_tables(reader, machine);
  read_dotted(reader, "experts_efficiency", machine.experts_efficiency, read_share);
  read_dotted(reader, "sustained", machine.sustained, read_share);
  read_dotted(reader, "memory_efficiency", machine.memory_efficiency, read_share);
  read_dotted(reader, "launch_seconds", machine.launch_seconds, read_sourced);
  read_dotted(reader, "host_seconds", machine.host_seconds, read_sourced);
  read_dotted(reader, "host_message_seconds", machine.host_message_seconds, read_sourced);
  read_dotted(reader, "intra_node", machine.intra_node, read_link);
  read_dotted(reader, "inter_node", machine.inter_node, read_link);
  read_dotted(reader, "nics_per_node", machine.nics_per_node, read_count);
  read_dotted(reader, "nodes_per_leaf", machine.nodes_per_leaf, read_count);
  read_dotted(reader, "oversubscription", machine.oversubscription, read_times_longer);
  reader.flag("in_network_reduction", machine.in_network_reduction);
  read_torus(reader, machine);
  read_dotted(reader, "host_bytes_per_second", machine.host_bytes_per_second, read_sourced);
  read_dotted(reader, "overlap_slowdown", machine.overlap_slowdown, read_times_longer);
  read_list(reader, "matmuls", machine.matmuls, read_point);
  read_list(reader, "kernels", machine.kernels, read_rate);
  read_list(reader, "host_calls", machine.host_calls, read_host_call);
  // For people, and of shipped machines alone (rungs_of()); a mistake in it is found here.
  if (reader.child("ladder") != nullptr)
    if (const auto ladder = ladder_from_json(json); !ladder) reader.fail(ladder.error());
  read_list(reader, "pairs", machine.pairs, read_pair);
  read_list(reader, "collectives", machine.collectives, read_collective);
  read_list(reader, "transfers", machine.transfers, read_transfer);
  const auto fall = [](const TransferPoint& a, const TransferPoint& b) {
    return a.bytes >= b.bytes;
  };
  if (std::adjacent_find(machine.transfers.begin(), machine.transfers.end(), fall) !=
      machine.transfers.end())
    reader.fail(message("transfers-order", "The bytes of machine.transfers must ascend."));
  reader.flag("lanes_share_core", machine.lanes_share_core);
  reader.whole("cores", machine.cores, 0, 65'536);
  reader.flag("groups_take_turns", machine.groups_take_turns);
  reader.flag("op_by_op", machine.op_by_op);
  reader.text("bf16_products", machine.bf16_products);
  const std::string& products = machine.bf16_products;
  if (!products.empty() && products != kNativeBf16 && products != kWidenedBf16)
    reader.fail(message("bf16-products", "machine.bf16_products must be {} or {}.", kNativeBf16,
                        kWidenedBf16));
  reader.text("calibrated", machine.calibrated);
  if (reader.has("cores_used_by_others"))
    reader.number("cores_used_by_others", machine.cores_used_by_others.emplace(), 0, 65'536);
  if (auto done = reader.finish(); !done) return done.error();
  // Nothing can be predicted without these.
  for (const auto& [key, number] :
       {std::pair{"memory_bytes", machine.memory_bytes},
        {"memory_bytes_per_second", machine.memory_bytes_per_second},
        {"fp32_flops_per_second", machine.fp32_flops_per_second},
        {"half_flops_per_second", machine.half_flops_per_second},
        {"matmul_efficiency", machine.matmul_efficiency},
        {"intra_node.bytes_per_second", machine.intra_node.bytes_per_second},
        {"inter_node.bytes_per_second", machine.inter_node.bytes_per_second}}) {
    if (number.value > 0) continue;
    Message error = message("machine-number-missing",
                            "machine.{} is missing or zero; a prediction needs it.", key);
    error.field = fmt::format("machine.{}", key);
    return error;
  }
  return machine;
}

nlohmann::json to_json(const Machine& machine) {
  nlohmann::json json = {{"format", "parallelarium-machine/1"},
                         {"name", machine.name},
                         {"title", machine.title},
                         {"local", machine.local},
                         {"devices_per_node", machine.devices_per_node},
                         {"nodes", machine.nodes},
                         {"memory_bytes", to_json(machine.memory_bytes)},
                         {"usable_memory_share", machine.usable_memory_share},
                         {"memory_bytes_per_second", to_json(machine.memory_bytes_per_second)},
                         {"fp32_flops_per_second", to_json(machine.fp32_flops_per_second)},
                         {"half_flops_per_second", to_json(machine.half_flops_per_second)},
                         {"matmul_efficiency", to_json(machine.matmul_efficiency)},
                         {"launch_seconds", to_json(machine.launch_seconds)},
                         {"intra_node", to_json(machine.intra_node)},
                         {"inter_node", to_json(machine.inter_node)},
                         {"lanes_share_core", machine.lanes_share_core},
                         {"cores", machine.cores},
                         {"calibrated", machine.calibrated}};
  if (machine.cores_used_by_others) json["cores_used_by_others"] = *machine.cores_used_by_others;
  if (!machine.gpus.empty()) json["gpus"] = machine.gpus;
  if (!machine.torus.empty()) json["torus"] = machine.torus;
  put_tables(json, machine);
  put_share(json, "experts_efficiency", machine.experts_efficiency);
  put_share(json, "sustained", machine.sustained);
  put_share(json, "memory_efficiency", machine.memory_efficiency);
  put_share(json, "overlap_slowdown", machine.overlap_slowdown);
  if (machine.nics_per_node.value > 0) json["nics_per_node"] = to_json(machine.nics_per_node);
  put_share(json, "nodes_per_leaf", machine.nodes_per_leaf);
  put_share(json, "oversubscription", machine.oversubscription);
  if (machine.in_network_reduction) json["in_network_reduction"] = true;
  if (machine.host_bytes_per_second.value > 0)
    json["host_bytes_per_second"] = to_json(machine.host_bytes_per_second);
  if (machine.fp8_flops_per_second.value > 0)
    json["fp8_flops_per_second"] = to_json(machine.fp8_flops_per_second);
  if (!machine.bf16) json["bf16"] = false;
  if (machine.groups_take_turns) json["groups_take_turns"] = true;
  if (machine.op_by_op) json["op_by_op"] = true;
  if (!machine.bf16_products.empty()) json["bf16_products"] = machine.bf16_products;
  if (machine.host_seconds.value > 0) json["host_seconds"] = to_json(machine.host_seconds);
  if (machine.host_message_seconds.value > 0)
    json["host_message_seconds"] = to_json(machine.host_message_seconds);
  if (!machine.matmuls.empty()) {
    for (const MatmulPoint& point : machine.matmuls)
      json["matmuls"].push_back({{"m", point.m},
                                 {"n", point.n},
                                 {"k", point.k},
                                 {"phase", point.phase},
                                 {"type", point.type},
                                 {"flops_per_second", to_json(point.flops_per_second)}});
  }
  if (!machine.kernels.empty()) {
    for (const KernelRate& rate : machine.kernels)
      json["kernels"].push_back({{"kernel", rate.kernel},
                                 {"elements", rate.elements},
                                 {"type", rate.type},
                                 {"elements_per_second", to_json(rate.elements_per_second)}});
  }
  for (const HostCall& call : machine.host_calls)
    json["host_calls"].push_back({{"call", call.call}, {"seconds", to_json(call.seconds)}});
  for (const PairLink& pair : machine.pairs)
    json["pairs"].push_back({{"from", pair.from}, {"to", pair.to}, {"link", to_json(pair.link)}});
  for (const CollectiveRate& rate : machine.collectives)
    json["collectives"].push_back(
        {{"collective", rate.collective}, {"ranks", rate.ranks}, {"link", to_json(rate.link)}});
  for (const TransferPoint& point : machine.transfers) {
    nlohmann::json& entry =
        json["transfers"].emplace_back(nlohmann::json{{"bytes", point.bytes},
                                                      {"ring_ranks", point.ring_ranks},
                                                      {"origin", text_of(point.origin)}});
    for (const auto& [key, figure] : kTransferFigures) entry[key] = point.*figure;
  }
  return json;
}

}  // namespace parallelarium
