// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/options/collective_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/text/durations.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "4194304", "64K" and "64KiB" (1024s), "1MB" (1000s); of more than kMostBytes, a number above it.
std::optional<std::int64_t> bytes_of(const std::string& text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (end == 0 || end > 15) return std::nullopt;
  const std::int64_t number = std::stoll(text.substr(0, end));
  std::string unit = text.substr(end);
  if (unit.empty() || unit == "B") return number;
  const std::size_t power = std::string("KMGT").find(unit[0] == 'k' ? 'K' : unit[0]);
  if (power == std::string::npos) return std::nullopt;
  unit = unit.substr(1);
  if (unit != "" && unit != "i" && unit != "iB" && unit != "B") return std::nullopt;
  std::int64_t scale = 1;
  for (std::size_t i = 0; i <= power; ++i) scale *= unit == "B" ? 1000 : 1024;
  if (number > kMostBytes / scale) return kMostBytes + 1;
  return number * scale;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

Result<std::vector<std::int64_t>> counts_of(const std::string& text) {
  std::vector<std::int64_t> counts;
  for (const std::string& word : words_of(text)) {
    const bool digits = !word.empty() && word.size() <= 12 &&
                        word.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      return message("collective-counts.option",
                     "--counts has \"{}\" where a whole number belongs.", word);
    }
    counts.push_back(std::stoll(word));
  }
  return counts;
}

// What CLI11 says behind an option's name; empty: nothing is wrong.
std::string check_duration(const std::string& text) {
  if (seconds_of_text(text)) return {};
  return fmt::format("must be a time of 0 or more, such as 2us, not “{}”", shown(text));
}

// Whether each option has the others that it belongs to, and none that it excludes.
Result<void> check_together(const CollectiveOptions& options, const CollectiveSpec& spec) {
  if (options.repeats < 1 || options.repeats > 100000)
    return message("collective-repeats", "--repeats is 1 to 100000, not {}.", options.repeats);
  if (options.csv && !options.sweep)
    return message("collective-csv", "--csv belongs to --sweep; add it.");
  if (options.csv && options.json)
    return message("collective-printed", "--csv and --json print the same sweep; leave one out.");
  if (options.op_given->count() > 0 && !reduces(spec.kind))
    return message("collective-combines-nothing",
                   "--op belongs to collectives that combine; {} does not, leave it out.",
                   name_of(spec.kind));
  if (options.repeats_given->count() > 0 && !options.run)
    return message("collective-repeats-run", "--repeats says how often --run runs it; add --run.");
  if (options.bytes_given->count() > 0 && !spec.counts.empty())
    return message("collective-counts-bytes",
                   "--counts says what is sent, so --bytes is left out.");
  if (options.root_given->count() > 0 && !has_root(spec.kind))
    return message("collective-rootless",
                   "--root belongs to broadcast, scatter, gather and reduce; {} has none, leave it "
                   "out.",
                   name_of(spec.kind));
  if (options.sweep && !options.against.empty())
    return message(
        "collective-against-sweep",
        "--against names one more algorithm, and --sweep compares all of --algorithm a,b; "
        "leave one out.");
  if (!options.rounding.empty() && (!options.run || options.sweep))
    return message(
        "collective-rounding-run",
        "--rounding compares what two runs leave; it needs --run and goes without --sweep.");
  if (!options.run && options.backend_given->count() + options.devices_given->count() > 0)
    return message("collective-backend-run",
                   "--backend and --devices say where --run runs it; add --run.");
  if (options.sweep && !spec.counts.empty())
    return message(
        "collective-counts-sweep",
        "--counts says what is sent, so that there are no sizes to sweep over; leave one out.");
  return {};
}

}  // namespace

void CollectiveOptions::add_to(CLI::App& command) {
  const auto add = [&command](const char* option, auto& into, const char* help, const char* unit) {
    return command.add_option(option, into, help)->option_text(unit);
  };
  // A number of seconds, or with a unit: "2us".
  const auto add_duration = [&command](const char* option, double& into, const char* help) {
    const auto read = [&into](const CLI::results_t& words) {
      const std::optional<double> seconds = seconds_of_text(words.front());
      into = seconds.value_or(into);
      return seconds.has_value();
    };
    return command.add_option(option, read, help)->option_text("TIME")->check(check_duration);
  };
  add("name", name, "all_reduce, all_gather, ... (see below)", "NAME")->required();
  add("--algorithm", algorithm, "one of those below (default: ring, or the first)", "A");
  add("--ranks", spec.ranks, "1 to 64 (default: 4)", "N");
  bytes_given = add("--bytes", bytes, "the whole array, as in nccl-tests (default: 4MiB)", "S");
  root_given =
      add("--root", spec.root, "root of broadcast, scatter, gather, reduce (default: 0)", "R");
  add("--counts", counts, "all_to_all: elements from each rank to each, row by row", "C,C,...");
  add("--dtype", type, "float32, float64, bfloat16 or int32", "T");
  op_given = add("--op", operation, "sum, prod, min, max or avg", "O");
  add("--segments", spec.segments, "pieces of a pipelined array", "K");
  add("--node-size", spec.node_size, "ranks of a node, or of a row of a torus", "G");
  topology_given = add("--topology", topology,
                       "switch, ring, torus, two-level or memory (default: switch)", "T");
  latency_given = add_duration("--latency", latency, "of a link, such as 2us (default: 1us)");
  bandwidth_given =
      add("--bandwidth", bandwidth, "of a link, one direction (default: 10e9)", "B/S");
  add_duration("--node-latency", node_latency, "two-level: between nodes (default: 5us)");
  add("--node-bandwidth", node_bandwidth, "two-level: of a node's link (default: 10e9)", "B/S");
  add("--combine-bandwidth", combine,
      "what a rank combines per second (default: combining takes no time)", "B/S");
  add("--machine", machine, "links of this machine instead (local: this computer)", "M");
  command.add_flag("--run", run, "execute it on local ranks and verify every cell");
  backend_given = add("--backend", backend,
                      "with --run: auto (default), cpu or cuda: a GPU for each rank by NCCL, or "
                      "all on one (shared GPU)",
                      "B");
  devices_given =
      add("--devices", devices,
          "with --run: all (default), or the GPUs that ranks may use, such as 0,2", "D");
  repeats_given = add("--repeats", repeats, "timed repeats of a run (default: 20)", "N");
  add("--rounding", rounding,
      "with --run: compare the result's bits with this algorithm's, on inexact inputs", "A");
  add("--against", against, "also the size at which this algorithm takes over", "A");
  command.add_flag("--calibrate", calibrate,
                   "measure messages between two threads first (3 s), predict from them");
  command.add_flag("--sweep", sweep,
                   "over sizes from 4 KiB to --bytes (default: 64MiB); --algorithm a,b or all");
  command.add_flag("--csv", csv, "print a sweep as CSV");
  command.add_flag("--json", json, "print JSON");
}

Result<CollectiveSpec> spec_of(const CollectiveOptions& options) {
  CollectiveSpec spec = options.spec;
  const auto kind = collective_kind(options.name);
  if (!kind) {
    std::vector<std::string> names;
    for (int i = 0; i < kCollectiveKinds; ++i)
      names.emplace_back(name_of(static_cast<CollectiveKind>(i)));
    return message("collective-unknown", "\"{}\" is no collective; there are {}.", options.name,
                   list_of(names));
  }
  spec.kind = *kind;
  spec.algorithm = options.algorithm;
  const auto bytes = bytes_of(options.bytes);
  if (!bytes) {
    return message("collective-bytes.option",
                   "--bytes {} is no size; give a number of bytes such as 4194304, 64KiB or 1MB.",
                   options.bytes);
  }
  if (*bytes > kMostBytes)
    return message("collective-bytes.most",
                   "--bytes {} is more than 1 TiB, the longest array that is cut into chunks here.",
                   options.bytes);
  spec.bytes = *bytes;
  const auto type = data_type_by_name(options.type);
  if (!type) {
    return message("collective-type.option",
                   "--dtype {} is no type; there are float32, float64, bfloat16 and int32.",
                   options.type);
  }
  spec.type = *type;
  const auto reduction = reduction_by_name(options.operation);
  if (!reduction) {
    return message("collective-operation",
                   "--op {} is no operation; there are sum, prod, min, max and avg.",
                   options.operation);
  }
  spec.reduction = *reduction;
  if (!options.counts.empty()) {
    Result<std::vector<std::int64_t>> counts = counts_of(options.counts);
    if (!counts) return counts.error();
    spec.counts = std::move(*counts);
  }
  if (Result<void> good = check_together(options, spec); !good) return good.error();
  return spec;
}

std::vector<std::string> algorithms_of(const CollectiveSpec& spec) {
  std::vector<std::string> algorithms;
  if (!spec.algorithm.empty() && spec.algorithm != "all") algorithms = words_of(spec.algorithm);
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind == spec.kind && (spec.algorithm.empty() || spec.algorithm == "all"))
      algorithms.push_back(info.name);
  }
  return algorithms;
}

}  // namespace parallelarium
