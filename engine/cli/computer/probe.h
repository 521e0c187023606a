// SPDX-License-Identifier: Apache-2.0
// What this computer has for training, what is missing and what to do about it: the facts of
// `devices` and of the window's Doctor page. Looks without changing anything.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cli/computer/topology.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/result.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {

enum class FactState : std::uint8_t { kThere, kLimited, kMissing };

struct Fact {
  std::string id;  // "cuda-driver"
  Message title;   // "NVIDIA driver"
  FactState state = FactState::kThere;
  Message found;   // "550.54, CUDA 12.4", or why it is missing
  Message advice;  // what to do, or empty
};

struct BackendFact {
  std::string name;  // "cpu", "paced", "cuda"
  bool available = false;
  Message why;  // how many ranks, or why not
  // The most that run at once as `auto` would have them: with a core or a GPU each, paced as many
  // as a run may have. 0 where it is not available.
  int ranks = 0;
};

struct Gpu {
  std::string name;
  std::int64_t memory_bytes = 0;
  std::vector<int> peers;  // indices of GPUs that it reaches directly
  std::string bus;         // "0000:65:00.0"
};

struct Devices {
  std::string host, processor;
  int threads = 0;  // logical, those that this process may use
  int numa_nodes = 0;
  std::int64_t memory_bytes = 0, available_bytes = 0;
  std::string bf16_products;  // of its cores, as Machine's
  std::vector<Gpu> gpus;
  GpuTopology topology;
  Computer computer;  // the same as far as ranks are placed by it
  std::vector<BackendFact> backends;
  std::vector<Fact> facts;
};

// Cost: some milliseconds; more where there is an NVIDIA driver to start.
Devices probe_devices();

// use_text() of now.
std::string use_of(const std::vector<int>& gpus);

// Peer access and other processes, where there are GPUs to ask about.
std::vector<Fact> facts_of_topology(const Devices& devices);

// What GPUs are that work, and are less than one would think: they drive a display ("gpu-display"),
// or have no tensor cores for bf16 ("gpu-bf16").
std::vector<Fact> facts_of_gpus(const std::vector<GpuFacts>& gpus);

// Whether the driver lets NCCL run operations of several groups on a GPU at once ("nccl-groups").
// `driver`: newest CUDA that it knows. Nothing where it does, or where there are no two GPUs.
std::vector<Fact> facts_of_groups(int driver, std::size_t gpus);

// The backend is there where some GPU is usable. Of several, ranks take the first ones; without
// NCCL, or where it is too old, they cannot meet.
BackendFact cuda_backend(const Result<std::vector<GpuFacts>>& gpus,
                         const Result<int>& nccl_version);

// What `devices --json` prints and the protocol's `initialize` and `devices` answer; of a backend
// {"name", "available", "why", "ranks"}, and what computer_from_json() reads.
nlohmann::json to_json(const Devices& devices);

}  // namespace parallelarium
