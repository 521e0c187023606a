// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/computer/topology.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/plan/text/units.h"
#include "engine/run/net/place.h"

namespace parallelarium {
namespace {

constexpr unsigned kReads = 0, kNvLink = 2;  // nvmlGpuP2PCapsIndex_t
constexpr int kTooLittleRoom = 7;            // NVML_ERROR_INSUFFICIENT_SIZE
constexpr std::size_t kNamed = 4;            // processes in a sentence

// The words of `nvidia-smi topo -m`.
std::string way_over_pcie(unsigned level) {
  if (level <= 10) return "PIX";
  if (level <= 20) return "PXB";
  if (level <= 30) return "PHB";
  if (level <= 40) return "NODE";
  return "SYS";
}

std::string program_of(unsigned pid) {
  std::string name;
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::getline(file, name);
  return name;
}

// NVLinks that end at `other` or, where all end at switches, all.
double nvlink_rate(const Nvml& nvml, NvmlDevice* device, const std::string& other) {
  constexpr unsigned kMostLinks = 36;
  if (nvml.nvlink_state == nullptr || nvml.nvlink_version == nullptr) return 0;
  unsigned domain = 0, bus = 0, slot = 0;
  const bool known = std::sscanf(other.c_str(), "%x:%x:%x", &domain, &bus, &slot) == 3;
  double all = 0, direct = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    unsigned active = 0, version = 0;
    if (nvml.nvlink_state(device, link, &active) != 0 || active == 0) continue;
    if (nvml.nvlink_version(device, link, &version) != 0) continue;
    const double rate = nvlink_bytes_per_second(version);
    all += rate;
    NvmlPci pci;
    if (known && nvml.nvlink_remote != nullptr && nvml.nvlink_remote(device, link, &pci) == 0 &&
        pci.domain == domain && pci.bus == bus && pci.device == slot)
      direct += rate;
  }
  return direct > 0 ? direct : all;
}

GpuLink link_between(const Nvml& nvml, NvmlDevice* a, NvmlDevice* b) {
  GpuLink link;
  unsigned status = 1, level = 0;
  link.p2p = nvml.p2p(a, b, kReads, &status) == 0 && status == 0;
  if (nvml.p2p(a, b, kNvLink, &status) == 0 && status == 0)
    link.kind = "NVLink";
  else if (nvml.ancestor(a, b, &level) == 0)
    link.kind = way_over_pcie(level);
  return link;
}

// Processes come and go between two calls, so a list that was too short is asked for once more.
std::vector<NvmlProcess> processes_on(const Nvml& nvml, NvmlDevice* device) {
  constexpr unsigned kRoom = 64, kMost = 1 << 16;
  unsigned room = kRoom;
  for (int tries = 0; tries < 4; ++tries) {
    std::vector<NvmlProcess> list(room);
    unsigned count = room;
    const int status = nvml.processes(device, &count, list.data());
    if (status == 0) {
      list.resize(std::min(count, room));
      return list;
    }
    if (status != kTooLittleRoom) break;
    room = std::min(2 * std::max(std::min(count, kMost), room), kMost);
  }
  return {};
}

// The numbers of this process, in the outermost namespace that /proc knows and those within.
std::vector<unsigned> own_numbers() {
  std::vector<unsigned> numbers = {static_cast<unsigned>(getpid())};
  constexpr std::string_view kKey = "NSpid:";
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(kKey, 0) != 0) continue;
    std::istringstream words(line.substr(kKey.size()));
    for (unsigned number = 0; words >> number;) numbers.push_back(number);
  }
  return numbers;
}

// 0 where it cannot be seen.
pid_t parent_of(pid_t process) {
  std::string line;
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::getline(file, line);
  const std::size_t end = line.rfind(')');  // a name may hold spaces and parentheses
  if (end == std::string::npos) return 0;
  std::istringstream words(line.substr(end + 1));
  std::string state;
  pid_t parent = 0;
  words >> state >> parent;
  return parent;
}

// What processes may be this run's.
struct Own {
  std::vector<unsigned> numbers = own_numbers();
  int others = 0;  // ranks on this host beside this one

  Own() {
    const Result<std::optional<ProcessPlace>> place = find_place(process_environment());
    if (place && *place) others = std::max((*place)->local_size - 1, 0);
  }
  bool is_this(unsigned pid) const {
    return std::find(numbers.begin(), numbers.end(), pid) != numbers.end();
  }
  // Launchers start all ranks of a host themselves, a shell in one group.
  bool is_rank(unsigned pid) const {
    if (others == 0 || pid == 0) return false;
    const auto process = static_cast<pid_t>(pid);
    const pid_t parent = parent_of(process);
    return (parent > 0 && parent == getppid()) || getpgid(process) == getpgrp();
  }
};

std::vector<GpuUse> use_of(const Nvml& nvml, NvmlDevice* device, const Own& own, bool computes) {
  const std::vector<NvmlProcess> processes = processes_on(nvml, device);
  const bool is_listed = std::any_of(processes.begin(), processes.end(),
                                     [&](const auto& one) { return own.is_this(one.pid); });
  int unseen = is_listed ? 0 : own.others + (computes ? 1 : 0);
  std::vector<GpuUse> use;
  for (const NvmlProcess& process : processes) {
    if (own.is_this(process.pid) || own.is_rank(process.pid)) continue;
    const std::string program = program_of(process.pid);
    if (program.empty() && unseen-- > 0) continue;
    // All ones: the driver does not tell.
    const bool told = process.used_bytes != ~0ULL;
    use.push_back({process.pid, program, told ? static_cast<std::int64_t>(process.used_bytes) : 0});
  }
  return use;
}

// Whether this process has a context there, if it has loaded the driver at all.
bool has_context(const std::string& bus) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  const auto by_bus =
      reinterpret_cast<int (*)(int*, const char*)>(dlsym(driver, "cuDeviceGetByPCIBusId"));
  const auto state =
      reinterpret_cast<int (*)(int, unsigned*, int*)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  int device = 0, active = 0;
  unsigned flags = 0;
  const bool told = by_bus != nullptr && state != nullptr && by_bus(&device, bus.c_str()) == 0 &&
                    state(device, &flags, &active) == 0;
  dlclose(driver);
  return told && active != 0;
}

}  // namespace

double pcie_bytes_per_second(unsigned generation, unsigned lanes) {
  static constexpr std::array kLane = {0.0, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
  return kLane[std::min<std::size_t>(generation, kLane.size() - 1)] * lanes;
}

double nvlink_bytes_per_second(unsigned version) {
  if (version == 0) return 0;
  return version == 1 ? 20e9 : version < 5 ? 25e9 : 50e9;
}

GpuTopology read_topology(const Nvml& nvml, const std::vector<std::string>& buses,
                          const ComputesHere& computes_here) {
  GpuTopology topology;
  const Own own;
  topology.use.resize(buses.size());
  topology.pcie.resize(buses.size());
  if (nvml.init() != 0) return topology;
  std::vector<NvmlDevice*> devices(buses.size(), nullptr);
  std::vector<double> slots(buses.size(), 0);  // bytes per second
  for (std::size_t i = 0; i < buses.size(); ++i) {
    if (nvml.handle(buses[i].c_str(), &devices[i]) != 0) devices[i] = nullptr;
    if (devices[i] == nullptr) continue;
    unsigned generation = 0, lanes = 0;
    if (nvml.pcie_generation(devices[i], &generation) == 0 &&
        nvml.pcie_width(devices[i], &lanes) == 0)
      topology.pcie[i] = fmt::format("PCIe {} x{}", generation, lanes);
    slots[i] = pcie_bytes_per_second(generation, lanes);
    topology.use[i] = use_of(nvml, devices[i], own, computes_here && computes_here(buses[i]));
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[j] == nullptr) continue;
      GpuLink link = link_between(nvml, devices[j], devices[i]);
      link.from = static_cast<int>(j);
      link.to = static_cast<int>(i);
      link.bytes_per_second = link.kind == "NVLink" ? nvlink_rate(nvml, devices[j], buses[i])
                                                    : std::min(slots[i], slots[j]);
      topology.links.push_back(std::move(link));
    }
  }
  nvml.shutdown();
  return topology;
}

Result<GpuTopology> local_topology(const std::vector<std::string>& buses) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return message("nvml-missing",
                   "libnvidia-ml.so.1, which comes with the driver, does not load.");
  Nvml nvml;
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    whole = whole && function != nullptr;
  };
  find(nvml.init, "nvmlInit_v2");
  find(nvml.shutdown, "nvmlShutdown");
  find(nvml.handle, "nvmlDeviceGetHandleByPciBusId_v2");
  find(nvml.ancestor, "nvmlDeviceGetTopologyCommonAncestor");
  find(nvml.p2p, "nvmlDeviceGetP2PStatus");
  find(nvml.pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  find(nvml.pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  find(nvml.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  const bool required = whole;  // what follows is not
  find(nvml.nvlink_state, "nvmlDeviceGetNvLinkState");
  find(nvml.nvlink_version, "nvmlDeviceGetNvLinkVersion");
  find(nvml.nvlink_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  Result<GpuTopology> topology =
      required ? Result<GpuTopology>(read_topology(nvml, buses, has_context))
               : message("nvml-missing.old",
                         "The driver's libnvidia-ml.so.1 is too old to tell of links.");
  dlclose(library);
  return topology;
}

std::string use_text(const GpuTopology& topology, int gpu) {
  const auto at = static_cast<std::size_t>(gpu);
  if (at >= topology.use.size() || topology.use[at].empty()) return {};
  std::string text;
  const std::size_t count = topology.use[at].size();
  for (std::size_t i = 0; i < std::min(count, kNamed); ++i) {
    const GpuUse& use = topology.use[at][i];
    text += text.empty() ? "" : ", ";
    text += use.program.empty() ? fmt::format("PID {}", use.pid)
                                : fmt::format("{} ({})", use.program, use.pid);
    if (use.bytes > 0) text += " " + bytes_text(static_cast<double>(use.bytes));
  }
  if (count > kNamed) text += fmt::format(", +{}", count - kNamed);
  return fmt::format("GPU {}: {}", gpu, text);
}

std::string use_text(const GpuTopology& topology, const std::vector<int>& gpus) {
  std::string text;
  for (const int gpu : std::set<int>(gpus.begin(), gpus.end())) {
    const std::string one = use_text(topology, gpu);
    if (!one.empty()) text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

}  // namespace parallelarium
