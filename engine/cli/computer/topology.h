// SPDX-License-Identifier: Apache-2.0
// How the GPUs of this computer are linked, and who else uses them, as NVIDIA's management library
// (NVML) tells. Its functions are a table, so that tests bring one of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// Functions and types of nvml.h by their names there; libnvidia-ml.so.1 keeps them from version to
// version, so the header is not needed. Every call returns 0 where it succeeds.
struct NvmlDevice;
struct NvmlProcess {  // nvmlProcessInfo_t
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};
struct NvmlPci {  // nvmlPciInfo_t
  char bus_legacy[16] = {};
  unsigned domain = 0, bus = 0, device = 0, ids = 0, subsystem = 0;
  char bus_id[32] = {};
};
struct Nvml {
  int (*init)() = nullptr;      // nvmlInit_v2
  int (*shutdown)() = nullptr;  // nvmlShutdown
  // nvmlDeviceGetHandleByPciBusId_v2
  int (*handle)(const char* bus, NvmlDevice** device) = nullptr;
  // nvmlDeviceGetTopologyCommonAncestor: 0 one board, 10 one PCIe switch, 20 several, 30 one host
  // bridge, 40 one NUMA node, 50 different ones.
  int (*ancestor)(NvmlDevice* a, NvmlDevice* b, unsigned* level) = nullptr;
  // nvmlDeviceGetP2PStatus: capability 0 reads, 2 goes over NVLink; status 0 is yes.
  int (*p2p)(NvmlDevice* a, NvmlDevice* b, unsigned capability, unsigned* status) = nullptr;
  int (*pcie_generation)(NvmlDevice* device, unsigned* generation) = nullptr;
  int (*pcie_width)(NvmlDevice* device, unsigned* lanes) = nullptr;
  // nvmlDeviceGetComputeRunningProcesses_v3: 7 where `count`, room before and number after, was too
  // little.
  int (*processes)(NvmlDevice* device, unsigned* count, NvmlProcess* list) = nullptr;
  // Of NVLink number `link`; may be absent. nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkVersion
  // and, for what is at its other end, nvmlDeviceGetNvLinkRemotePciInfo_v2.
  int (*nvlink_state)(NvmlDevice* device, unsigned link, unsigned* active) = nullptr;
  int (*nvlink_version)(NvmlDevice* device, unsigned link, unsigned* version) = nullptr;
  int (*nvlink_remote)(NvmlDevice* device, unsigned link, NvmlPci* pci) = nullptr;
};

struct GpuLink {
  int from = 0, to = 0;
  std::string kind;  // "NVLink", or the way over PCIe as nvidia-smi calls it: PIX PXB PHB NODE SYS
  bool p2p = false;  // one reads the other's memory directly
  // One way, before protocols: of all NVLinks between the two, or of the narrower PCIe slot. 0: not
  // known.
  double bytes_per_second = 0;
};
// One way, of so many lanes. Source: PCI Express Base Specification 6.0: 2.5, 5, 8, 16, 32, 64 GT/s
// with 8b/10b up to generation 2, then 128b/130b.
double pcie_bytes_per_second(unsigned generation, unsigned lanes);
// One way, of one NVLink by its version: 20 GB/s, from 2 on 25, from 5 on 50. Source: NVIDIA,
// "NVLink and NVLink Switch", and nvml.h.
double nvlink_bytes_per_second(unsigned version);
struct GpuUse {
  unsigned pid = 0;
  std::string program;  // of the process, where it can be seen
  std::int64_t bytes = 0;
};
struct GpuTopology {
  std::vector<GpuLink> links;  // every pair, from < to
  // By GPU: processes that compute on it, but for this one and the other ranks that a launcher
  // started with it.
  std::vector<std::vector<GpuUse>> use;
  std::vector<std::string> pcie;  // by GPU: "PCIe 5 x16", or empty
};

// Whether this process computes on the GPU of that bus.
using ComputesHere = std::function<bool(const std::string& bus)>;

// `buses`: of the GPUs in CUDA's order, such as "0000:65:00.0". What cannot be learned stays empty.
// In a container the driver may number processes as its host does. Then, without an own number
// among them, as many that cannot be seen here as may be this run's are left out.
GpuTopology read_topology(const Nvml& nvml, const std::vector<std::string>& buses,
                          const ComputesHere& computes_here = {});
// From libnvidia-ml.so.1, loaded for the call. Error "nvml-missing".
Result<GpuTopology> local_topology(const std::vector<std::string>& buses);

// "GPU 1: python (4711) 11.2 GiB", who else uses it; empty where nobody does. Of many
// processes it names the first.
std::string use_text(const GpuTopology& topology, int gpu);
// The same of several, once each: "GPU 1: …; GPU 2: …".
std::string use_text(const GpuTopology& topology, const std::vector<int>& gpus);

}  // namespace parallelarium
