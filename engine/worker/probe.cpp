// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/probe.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/run/gpu/module.h"
#include "engine/run/launch.h"
#include "engine/worker/probe_cuda.h"
#include "engine/worker/units.h"

namespace parallelarium {
namespace {

std::string value_after_colon(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

void look_at_cores(Devices& devices) {
  devices.cores = available_cores();
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    devices.threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    devices.numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  }
  hwloc_topology_destroy(topology);
}

Fact shared_memory() {
  Fact fact{"shared-memory", "/dev/shm", FactState::kThere, "", ""};
  struct statvfs facts {};
  if (statvfs("/dev/shm", &facts) != 0) {
    fact.state = FactState::kMissing;
    fact.found = "not mounted";
    fact.advice = "NCCL between processes needs it; mount a tmpfs there.";
    return fact;
  }
  const double total = static_cast<double>(facts.f_blocks) * static_cast<double>(facts.f_frsize);
  const double free = static_cast<double>(facts.f_bavail) * static_cast<double>(facts.f_frsize);
  fact.found = bytes_text(free) + " free of " + bytes_text(total);
  if (free < 64.0 * (1 << 20)) {
    fact.state = FactState::kLimited;
    fact.advice = "NCCL between processes wants more; in a container raise --shm-size.";
  }
  return fact;
}

Fact locked_memory() {
  Fact fact{"locked-memory", "memlock limit", FactState::kThere, "", ""};
  struct rlimit limit {};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    fact.found = "unlimited";
    return fact;
  }
  fact.found = bytes_text(static_cast<double>(limit.rlim_cur));
  if (limit.rlim_cur < (rlim_t{64} << 20)) {
    fact.state = FactState::kLimited;
    fact.advice = "Only InfiniBand needs more: ulimit -l unlimited.";
  }
  return fact;
}

// A program of PATH, or nothing.
std::string find_program(const char* name) {
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "";
  folders += ':';
  for (std::size_t begin = 0, end; (end = folders.find(':', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string file = folders.substr(begin, end - begin) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// The backend is there where its module finds a GPU.
BackendFact cuda_backend() {
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) return {"cuda", false, gpus.error().text};
  return {"cuda", true,
          fmt::format("fp32; all ranks share {}, so more than one are no evidence of speed",
                      gpus->front().name)};
}

Fact launcher() {
  Fact fact{"mpi", "MPI launcher", FactState::kThere, find_program("mpirun"), ""};
  if (fact.found.empty()) fact.found = find_program("srun");
  if (fact.found.empty()) {
    fact.state = FactState::kMissing;
    fact.found = "neither mpirun nor srun is in PATH";
    fact.advice = "Only needed for several computers; this version runs on one.";
  }
  return fact;
}

}  // namespace

Devices probe_devices() {
  Devices devices;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) devices.host = host.data();
  devices.processor = value_after_colon("/proc/cpuinfo", "model name");
  look_at_cores(devices);
  const auto kibibytes = [](const char* key) {
    return std::strtoll(value_after_colon("/proc/meminfo", key).c_str(), nullptr, 10) * 1024;
  };
  devices.memory_bytes = kibibytes("MemTotal");
  devices.available_bytes = kibibytes("MemAvailable");

  CudaFacts cuda = probe_cuda();
  devices.gpus = std::move(cuda.gpus);
  devices.backends = {{"cpu", devices.cores > 0,
                       fmt::format("{} rank{} with a core each; more are oversubscribed",
                                   devices.cores, devices.cores == 1 ? "" : "s")},
                      {"paced", true, "up to 16 ranks, real work at the pace of the prediction"},
                      cuda_backend()};
  devices.facts = std::move(cuda.facts);
  devices.facts.push_back(shared_memory());
  devices.facts.push_back(locked_memory());
  devices.facts.push_back(launcher());
  return devices;
}

nlohmann::json to_json(const Devices& devices) {
  static constexpr std::array<const char*, 3> kStates = {"there", "limited", "missing"};
  nlohmann::json gpus = nlohmann::json::array(), backends = gpus, facts = gpus;
  for (const Gpu& gpu : devices.gpus)
    gpus.push_back({{"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}, {"peers", gpu.peers}});
  for (const BackendFact& backend : devices.backends)
    backends.push_back(
        {{"name", backend.name}, {"available", backend.available}, {"why", backend.why}});
  for (const Fact& fact : devices.facts)
    facts.push_back({{"id", fact.id},
                     {"title", fact.title},
                     {"state", kStates[static_cast<std::size_t>(fact.state)]},
                     {"found", fact.found},
                     {"advice", fact.advice}});
  return {{"host", devices.host},
          {"processor", devices.processor},
          {"cores", devices.cores},
          {"threads", devices.threads},
          {"numa_nodes", devices.numa_nodes},
          {"memory_bytes", devices.memory_bytes},
          {"available_bytes", devices.available_bytes},
          {"gpus", std::move(gpus)},
          {"backends", std::move(backends)},
          {"facts", std::move(facts)}};
}

}  // namespace parallelarium
