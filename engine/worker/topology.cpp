// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/topology.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "engine/plan/units.h"

namespace parallelarium {
namespace {

constexpr unsigned kReads = 0, kNvLink = 2;  // nvmlGpuP2PCapsIndex_t
constexpr unsigned kMostProcesses = 64;

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

std::vector<GpuUse> use_of(const Nvml& nvml, NvmlDevice* device) {
  std::array<NvmlProcess, kMostProcesses> list{};
  unsigned count = kMostProcesses;
  std::vector<GpuUse> use;
  if (nvml.processes(device, &count, list.data()) != 0) return use;
  for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i) {
    if (list[i].pid == static_cast<unsigned>(getpid())) continue;
    // All ones: the driver does not tell.
    const bool told = list[i].used_bytes != ~0ULL;
    use.push_back({list[i].pid, program_of(list[i].pid),
                   told ? static_cast<std::int64_t>(list[i].used_bytes) : 0});
  }
  return use;
}

}  // namespace

GpuTopology read_topology(const Nvml& nvml, const std::vector<std::string>& buses) {
  GpuTopology topology;
  topology.use.resize(buses.size());
  topology.pcie.resize(buses.size());
  if (nvml.init() != 0) return topology;
  std::vector<NvmlDevice*> devices(buses.size(), nullptr);
  for (std::size_t i = 0; i < buses.size(); ++i) {
    if (nvml.handle(buses[i].c_str(), &devices[i]) != 0) devices[i] = nullptr;
    if (devices[i] == nullptr) continue;
    unsigned generation = 0, lanes = 0;
    if (nvml.pcie_generation(devices[i], &generation) == 0 &&
        nvml.pcie_width(devices[i], &lanes) == 0)
      topology.pcie[i] = fmt::format("PCIe {} x{}", generation, lanes);
    topology.use[i] = use_of(nvml, devices[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[j] == nullptr) continue;
      GpuLink link = link_between(nvml, devices[j], devices[i]);
      link.from = static_cast<int>(j);
      link.to = static_cast<int>(i);
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
  Result<GpuTopology> topology =
      whole
          ? Result<GpuTopology>(read_topology(nvml, buses))
          : message("nvml-missing", "The driver's libnvidia-ml.so.1 is too old to tell of links.");
  dlclose(library);
  return topology;
}

std::string use_text(const GpuTopology& topology, int gpu) {
  const auto at = static_cast<std::size_t>(gpu);
  if (at >= topology.use.size() || topology.use[at].empty()) return {};
  std::string text;
  for (const GpuUse& use : topology.use[at]) {
    text += text.empty() ? "" : ", ";
    text += use.program.empty() ? fmt::format("process {}", use.pid)
                                : fmt::format("{} ({})", use.program, use.pid);
    if (use.bytes > 0) text += " " + bytes_text(static_cast<double>(use.bytes));
  }
  return fmt::format("GPU {} is in use by {}", gpu, text);
}

}  // namespace parallelarium
