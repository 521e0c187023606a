// SPDX-License-Identifier: Apache-2.0
// What a Setup runs on: devices, links and rates. Every number knows where it comes from.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// A number and its origin: "specification", "published in ...", "measured on this computer on
// 2026-11-21", or "assumed".
struct Sourced {
  double value = 0;
  std::string origin = "assumed";
  bool operator==(const Sourced&) const = default;
};

struct Link {
  Sourced latency_seconds;
  Sourced bytes_per_second;  // one direction
  bool operator==(const Link&) const = default;
};

// The rate of one matrix product [m,k] x [k,n] in the given precision.
struct MatmulPoint {
  std::int64_t m = 0, n = 0, k = 0;
  Sourced flops_per_second;
  bool operator==(const MatmulPoint&) const = default;
};

// The rate of a piece that is not a matrix product: seconds = launch + elements / rate.
struct KernelRate {
  std::string kernel;  // "norm", "attention", "gelu", "softmax", "loss", "adamw", "copy", ...
  Sourced elements_per_second;
  bool operator==(const KernelRate&) const = default;
};

struct Machine {
  std::string name = "local";  // preset's name, or "local"
  std::string title;           // "This computer", "DGX H100"
  bool local = false;          // this computer: ranks can run here
  int devices_per_node = 1;
  int nodes = 1;
  Sourced memory_bytes;             // of one device
  Sourced memory_bytes_per_second;  // of one device
  Sourced fp32_flops_per_second;    // peak of one device
  Sourced half_flops_per_second;  // peak of fp16 and bf16, dense, tensor cores where there are any
  Sourced matmul_efficiency;  // share of peak that large products reach; 1 = lower bound at peak
  Sourced launch_seconds;     // fixed cost of one op
  Link intra_node;            // between two devices of one node
  Link inter_node;            // between two nodes, per device
  std::vector<MatmulPoint> matmuls;  // empty unless calibrated
  std::vector<KernelRate> kernels;   // empty unless calibrated
  bool lanes_share_core = false;     // CPU ranks: a rank's lanes compete for its core
  int cores = 0;                     // physical cores, 0 where ranks are GPUs
  std::string calibrated;            // date and host, empty if never
  bool operator==(const Machine&) const = default;
};

// "calibrated", "published", "assumed" or "peak": the word beside every prediction made with it.
// "peak" means that rates are the device's peak, so times are lower bounds.
std::string prediction_word(const Machine& machine);

std::vector<std::string> machine_names();  // presets and "local"

// A preset, or for "local" the calibrated file of this computer (see local_machine_path), or
// assumed rates where it has not been calibrated. Error "machine-unknown" lists the names.
Result<Machine> find_machine(const std::string& name);

// $XDG_DATA_HOME/parallelarium/machine.json, or below ~/.local/share.
std::string local_machine_path();
// Written atomically; the directory is made.
Result<void> save_local_machine(const Machine& machine);

Result<Machine> machine_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Machine& machine);

// The Machine as a calibration would start it: this computer's cores and memory, assumed rates.
Machine uncalibrated_local_machine();

}  // namespace parallelarium
