// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/cluster_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/plan/machine/rates/machine_tables.h"
#include "engine/plan/program/program.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

using Words = std::vector<std::string_view>;

// Terminals underline the head of the matrix.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b' && at + 1 < text.size() && text[at + 1] == '[') {
      at += 2;
      while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
    } else if (text[at] != '\r') {
      plain += text[at];
    }
  }
  return plain;
}

Words words_of_line(std::string_view line) {
  Words words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

template <class Number>
std::optional<Number> number_of(std::string_view word) {
  Number number{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// "GPU7" by its number.
std::optional<int> gpu_of(std::string_view word) {
  return word.starts_with("GPU") ? number_of<int>(word.substr(3)) : std::nullopt;
}

bool is_nic(std::string_view word) {
  return (word.starts_with("NIC") && number_of<int>(word.substr(3))) || word.starts_with("mlx");
}

// ---- nvidia-smi topo -m. ----

struct GpuMatrix {
  std::set<int> columns;                     // GPUs that the head names
  int gpus = 0, nics = 0;                    // rows, and columns of the network
  std::set<std::string, std::less<>> kinds;  // "NV18", "SYS", ... between GPUs
};

// A head has GPU0 and no row's own kinds; rows begin with their GPU.
bool read_matrix_line(const Words& words, GpuMatrix& matrix) {
  if (words.empty() || !gpu_of(words[0])) return false;
  if (words.size() == 1 || gpu_of(words[1]) || is_nic(words[1]) || words[1] == "CPU") {
    matrix = {};
    for (const std::string_view word : words) {
      if (const auto gpu = gpu_of(word)) matrix.columns.insert(*gpu);
      matrix.nics += is_nic(word);
    }
    return true;
  }
  if (words.size() < matrix.columns.size() + 1) return false;
  ++matrix.gpus;
  for (std::size_t at = 1; at <= matrix.columns.size(); ++at)
    if (words[at] != "X") matrix.kinds.emplace(words[at]);
  return true;
}

// ---- nccl-tests. ----

struct NcclTable {
  std::string collective;  // as the program is called, without _perf; empty: not told
  std::string reduction;   // of its rows: "sum", "none"
  std::map<std::string, int, std::less<>> ranks_of_hosts;
  std::string device;                       // "NVIDIA H100 80GB HBM3"
  std::vector<double> bytes, seconds, bus;  // of a row: size, time, bus bandwidth in bytes/s
  int ranks() const {
    int sum = 0;
    for (const auto& [host, count] : ranks_of_hosts) sum += count;
    return sum;
  }
};

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kNcclPrograms = {{
    {"all_reduce", CollectiveKind::kAllReduce},
    {"all_gather", CollectiveKind::kAllGather},
    {"reduce_scatter", CollectiveKind::kReduceScatter},
    {"alltoall", CollectiveKind::kAllToAll},
    {"broadcast", CollectiveKind::kBroadcast},
    {"reduce", CollectiveKind::kReduce},
}};

// "#  Rank  0 Group  0 Pid 99 on node1 device  0 [0x1b] NVIDIA H100 80GB HBM3"
bool read_device(const Words& words, NcclTable& table) {
  if (words.size() < 10 || words[0] != "#" || words[1] != "Rank") return false;
  const auto on = std::find(words.begin(), words.end(), "on");
  if (words.end() - on < 5 || *(on + 2) != "device") return false;
  ++table.ranks_of_hosts[std::string(*(on + 1))];
  std::string device;
  for (auto word = on + 5; word != words.end(); ++word)
    device += (device.empty() ? "" : " ") + std::string(*word);
  table.device = device;
  return true;
}

// "size count type redop root time algbw busbw #wrong ..."
bool read_row(const Words& words, NcclTable& table) {
  if (words.size() < 9) return false;
  const auto size = number_of<double>(words[0]), count = number_of<double>(words[1]);
  const auto root = number_of<int>(words[4]);
  const auto micros = number_of<double>(words[5]), bus = number_of<double>(words[7]);
  if (!size || !count || !root || !micros || !bus || *micros <= 0) return false;
  table.reduction = std::string(words[3]);
  if (*size > 0 && (table.bytes.empty() || *size > table.bytes.back())) {
    table.bytes.push_back(*size);
    table.seconds.push_back(*micros * 1e-6);
    table.bus.push_back(*bus * 1e9);
  }
  return true;
}

// By its program's name; else by what the reduction and the share of the bus leave.
std::optional<CollectiveKind> kind_of(const NcclTable& table) {
  for (const auto& [name, kind] : kNcclPrograms)
    if (table.collective == name) return kind;
  if (!table.collective.empty()) return std::nullopt;
  const double n = table.ranks();
  const double factor = table.bus.back() * table.seconds.back() / table.bytes.back();
  const auto is = [&](double of) { return std::abs(factor / of - 1) < 0.03; };
  if (table.reduction != "none" && n > 2 && is(2 * (n - 1) / n)) return CollectiveKind::kAllReduce;
  if (table.reduction != "none" && is((n - 1) / n)) return CollectiveKind::kReduceScatter;
  if (table.reduction != "none" && n == 2 && is(1)) return CollectiveKind::kAllReduce;
  return std::nullopt;
}

nlohmann::json sourced(double value, const Origin& origin) {
  return to_json(Sourced{value, origin});
}

Message rate_text(double bytes_per_second) { return figure(count_text(bytes_per_second, "B/s")); }

// ---- What they say together. ----

class ClusterReader {
 public:
  explicit ClusterReader(const Machine& base) : base_(base), times_(base.collective_times) {}

  Result<void> read(std::string_view text) {
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      if (Result<void> taken = take_line(text.substr(from, end - from)); !taken) return taken;
      from = end + 1;
    }
    return end_table();
  }

  Result<ClusterText> finish() {
    if (matrix_.gpus > 0) take_matrix();
    if (told_.found.empty())
      return message("cluster-empty",
                     "The text holds neither the matrix of nvidia-smi topo -m nor a table of "
                     "nccl-tests.");
    if (network_rate_ > 0) tell_network();
    if (node_rate_ > 0) {
      told_.changes["intra_node"]["bytes_per_second"] = sourced(node_rate_, origin_);
      told_.changes["intra_node"]["sustained"] = sourced(1, origin_);
    }
    if (times_ != base_.collective_times) {
      // They are of this cluster's link as it is: no other rate is to be added to them.
      for (CollectiveTimes& times : times_)
        if (times.link_bytes_per_second == 0) times.link_bytes_per_second = node_rate_;
      Machine measured = base_;
      measured.collective_times = times_;
      told_.changes["collective_times"] = to_json(measured)["collective_times"];
    }
    return std::move(told_);
  }

 private:
  Result<void> take_line(std::string_view line) {
    const Words words = words_of_line(line);
    for (const std::string_view word : words) {
      const auto end = word.find("_perf");
      if (end == std::string_view::npos) continue;
      if (Result<void> ended = end_table(); !ended) return ended;
      const auto begin = word.find_last_of("/ '\"", end);
      table_.collective = word.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                      end - (begin == std::string_view::npos ? 0 : begin + 1));
      return {};
    }
    // The list of devices begins a table where the text does not name its program.
    if (words.size() > 2 && words[1] == "Rank" && words[2] == "0" && !table_.bytes.empty())
      if (Result<void> ended = end_table(); !ended) return ended;
    if (!read_device(words, table_) && !read_row(words, table_)) read_matrix_line(words, matrix_);
    return {};
  }

  Result<void> end_table() {
    NcclTable table = std::move(table_);
    table_ = {};
    if (table.bytes.empty()) {
      // A name alone, as in a log of the launch: what was listed stays for the rows that follow.
      table_.ranks_of_hosts = std::move(table.ranks_of_hosts);
      table_.device = std::move(table.device);
      return {};
    }
    const int ranks = table.ranks();
    if (ranks < 2)
      return message("cluster-ranks",
                     "A table of nccl-tests lacks the lines “# Rank … on … device …” that say on "
                     "how many GPUs it ran.");
    const std::optional<CollectiveKind> kind = kind_of(table);
    if (!kind) {
      told_.assumed.push_back(message("cluster-kind",
                                      "A table of {} GPUs is left out: which collective it is of "
                                      "is not known; put the command that ran it before it.",
                                      ranks));
      return {};
    }
    origin_ = {OriginKind::kMeasured, "nccl-tests", {}};
    if (!table.device.empty())
      origin_ = with_note(std::move(origin_), "origin-note-on-device", {table.device});
    if (table.ranks_of_hosts.size() > 1)
      take_between_nodes(table, *kind);
    else
      take_in_node(table, *kind);
    return {};
  }

  void take_in_node(const NcclTable& table, CollectiveKind kind) {
    // The bytes of the busiest rank: those that the bus bandwidth counts, at every size alike.
    const double moved = table.bus.back() * table.seconds.back() / table.bytes.back();
    CollectiveTimes times;
    times.collective = std::string(name_of(kind));
    times.ranks = table.ranks();
    for (const double bytes : table.bytes) times.bytes.push_back(bytes * moved);
    times.seconds = table.seconds;
    times.origin = origin_;
    // In-network reduction makes an all-reduce faster than the link; others tell the link's rate.
    const bool tells = kind != CollectiveKind::kAllReduce || !link_told_;
    if (tells && times.ranks >= node_ranks_) {
      node_rate_ = table.bus.back();
      node_ranks_ = times.ranks;
      link_told_ = link_told_ || kind != CollectiveKind::kAllReduce;
    }
    std::erase_if(times_, [&](const CollectiveTimes& each) {
      return each.collective == times.collective && each.ranks == times.ranks;
    });
    told_.found.push_back(message("cluster-collective",
                                  "{} of {} GPUs of a node: {} sizes, {} of bus bandwidth at the "
                                  "largest.",
                                  times.collective, times.ranks, times.bytes.size(),
                                  rate_text(table.bus.back())));
    times_.push_back(std::move(times));
  }

  void take_between_nodes(const NcclTable& table, CollectiveKind kind) {
    int of_node = 0;
    for (const auto& [host, count] : table.ranks_of_hosts) of_node = std::max(of_node, count);
    const double rate = table.bus.back() / of_node;
    network_rate_ = rate;
    origin_of_network_ = origin_;
    told_.found.push_back(
        message("cluster-nodes",
                "{} of {} GPUs on {} nodes: {} of bus bandwidth at the largest, {} between nodes "
                "for each GPU.",
                std::string(name_of(kind)), table.ranks(), table.ranks_of_hosts.size(),
                rate_text(table.bus.back()), rate_text(rate)));
  }

  void take_matrix() {
    const bool nvlink = !matrix_.kinds.empty() &&
                        std::all_of(matrix_.kinds.begin(), matrix_.kinds.end(),
                                    [](const std::string& kind) { return kind.starts_with("NV"); });
    std::string kinds;
    for (const std::string& kind : matrix_.kinds) kinds += (kinds.empty() ? "" : ", ") + kind;
    told_.changes["devices_per_node"] = matrix_.gpus;
    if (matrix_.gpus == 1) {
      told_.found.push_back(message("cluster-one", "A node has one GPU."));
    } else {
      const char* wire = nvlink ? "NVLink" : "PCIe";
      told_.changes["intra_node"]["wire"] = wire;
      told_.found.push_back(message("cluster-matrix", "A node has {} GPUs, linked by {} ({}).",
                                    matrix_.gpus, wire, kinds));
      if (wire != base_.intra_node.wire && node_rate_ == 0)
        told_.assumed.push_back(
            message("cluster-wire",
                    "The rate in a node stays that of {}, whose GPUs are linked by {}: add a table "
                    "of nccl-tests, or choose a cluster that is more like this.",
                    base_.title, base_.intra_node.wire.empty() ? "?" : base_.intra_node.wire));
    }
    if (matrix_.nics == 0) return;
    const int nics = std::min(matrix_.nics, matrix_.gpus);  // others are of storage
    if (nics < matrix_.gpus || base_.nics_per_node.value > 0)
      told_.changes["nics_per_node"] = sourced(nics, {OriginKind::kTold, "nvidia-smi topo -m"});
    if (nics < matrix_.gpus)
      told_.found.push_back(message("cluster-nics",
                                    "Network cards of a node: {} for {} GPUs, which share them.",
                                    nics, matrix_.gpus));
  }

  // A GPU's rate between nodes is that of its part of a network card.
  void tell_network() {
    Machine measured = base_;
    if (matrix_.gpus > 0) measured.devices_per_node = matrix_.gpus;
    if (told_.changes.contains("nics_per_node"))
      measured.nics_per_node.value = told_.changes["nics_per_node"]["value"];
    told_.changes["inter_node"]["bytes_per_second"] =
        sourced(network_rate_ / measured.nics_of_device(), origin_of_network_);
    told_.changes["inter_node"]["sustained"] = sourced(1, origin_of_network_);
  }

  const Machine& base_;
  std::vector<CollectiveTimes> times_;
  GpuMatrix matrix_;
  NcclTable table_;
  ClusterText told_;
  Origin origin_;
  double network_rate_ = 0;  // between nodes, of a GPU
  Origin origin_of_network_;
  double node_rate_ = 0;  // bus bandwidth in a node, of the most GPUs
  int node_ranks_ = 0;
  bool link_told_ = false;  // by a collective that no switch can help with
};

}  // namespace

Result<ClusterText> read_cluster(const Machine& base, std::string_view text) {
  ClusterReader reader(base);
  if (Result<void> read = reader.read(without_escapes(text)); !read) return read.error();
  return reader.finish();
}

}  // namespace parallelarium
