// SPDX-License-Identifier: Apache-2.0
// The options of `collective NAME`, and what their words ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/collectives/collective.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct CollectiveOptions {
  CollectiveSpec spec;  // ranks, root, segments and node size; spec_of() adds the rest
  std::string name, algorithm, bytes = "4194304", type = "float32", operation = "sum";
  std::string topology = "switch", machine, counts, against, rounding;
  std::string backend = "auto", devices = "all";
  double latency = 1e-6, bandwidth = 10e9, node_latency = 5e-6, node_bandwidth = 10e9;
  double combine = 0;
  int repeats = 20;
  bool json = false, run = false, sweep = false, csv = false, calibrate = false;
  // Those of which it matters whether they were given.
  const CLI::Option *latency_given = nullptr, *bandwidth_given = nullptr;
  const CLI::Option *topology_given = nullptr, *bytes_given = nullptr, *root_given = nullptr;
  const CLI::Option *op_given = nullptr, *repeats_given = nullptr;
  const CLI::Option *backend_given = nullptr, *devices_given = nullptr;

  // *this must outlive the parse and must not move.
  void add_to(CLI::App& command);
};

// The collective to make. Error: one sentence on a word that names nothing, or on options that do
// not go together.
Result<CollectiveSpec> spec_of(const CollectiveOptions& options);

// The algorithms that --sweep compares: those named with commas between, or all of spec.kind.
std::vector<std::string> algorithms_of(const CollectiveSpec& spec);

}  // namespace parallelarium
