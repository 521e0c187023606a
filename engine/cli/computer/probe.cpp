// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/computer/probe.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/computer/probe_cuda.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/run/cores.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/run/train/run.h"
#include "kernels/products/matmul.h"

namespace parallelarium {
namespace {

constexpr int kMostPacedRanks = 16;  // can_execute()

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
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    devices.threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    devices.numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  }
  hwloc_topology_destroy(topology);
}

Fact shared_memory() {
  Fact fact{"shared-memory", plain("/dev/shm"), FactState::kThere, {}, {}};
  struct statvfs facts {};
  if (statvfs("/dev/shm", &facts) != 0) {
    fact.state = FactState::kMissing;
    fact.found = message("fact-not-mounted", "not mounted");
    fact.advice = message("advice-tmpfs", "NCCL between processes needs it; mount a tmpfs there.");
    return fact;
  }
  const double total = static_cast<double>(facts.f_blocks) * static_cast<double>(facts.f_frsize);
  const double free = static_cast<double>(facts.f_bavail) * static_cast<double>(facts.f_frsize);
  fact.found =
      message("fact-free", "{} free of {}", figure(bytes_text(free)), figure(bytes_text(total)));
  if (free < 64.0 * (1 << 20)) {
    fact.state = FactState::kLimited;
    fact.advice = message("advice-shm",
                          "NCCL between processes wants more; in a container raise --shm-size.");
  }
  return fact;
}

Fact locked_memory() {
  Fact fact{"locked-memory", message("fact-memlock", "memlock limit"), FactState::kThere, {}, {}};
  struct rlimit limit {};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    fact.found = message("fact-unlimited", "unlimited");
    return fact;
  }
  fact.found = figure(bytes_text(static_cast<double>(limit.rlim_cur)));
  if (limit.rlim_cur < (rlim_t{64} << 20)) {
    fact.state = FactState::kLimited;
    fact.advice = message("advice-memlock", "Only InfiniBand needs more: ulimit -l unlimited.");
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

// Of the library that ranks would use; not asked where there is one GPU.
Result<int> nccl_version() {
  const Result<CudaModule*> module = cuda_module();
  if (!module) return module.error();
  const Result<Nccl*> nccl = (*module)->nccl();
  if (!nccl) return nccl.error();
  return (*nccl)->version();
}

Message products_text(const std::string& bf16) {
  return bf16 == kNativeBf16
             ? message("products-native", "products by {}, of bf16 by the processor itself",
                       matmul_library())
             : message("products-widened", "products by {}, of bf16 widened to fp32",
                       matmul_library());
}

Fact launcher() {
  std::string file = find_program("mpirun");
  if (file.empty()) file = find_program("srun");
  Fact fact{"mpi", message("fact-mpi", "MPI launcher"), FactState::kThere, plain(file), {}};
  if (file.empty()) {
    fact.state = FactState::kMissing;
    fact.found = message("fact-no-launcher", "neither mpirun nor srun is in PATH");
    fact.advice =
        message("advice-mpi", "Only needed to start ranks as processes, or on several computers.");
  }
  return fact;
}

}  // namespace

BackendFact cuda_backend(const Result<std::vector<GpuFacts>>& gpus,
                         const Result<int>& nccl_version) {
  if (!gpus) return {"cuda", false, gpus.error()};
  std::optional<Message> too_old;
  int usable = 0;
  for (const GpuFacts& gpu : *gpus) {
    const Result<void> can = check_gpu(gpu);
    if (!can) too_old = can.error();
    usable += can.ok();
  }
  if (usable == 0) return {"cuda", false, too_old.value_or(Message{})};
  if (gpus->size() == 1)
    return {"cuda", true,
            message("cuda-one-gpu",
                    "fp32 and bf16; all ranks share {}, so more than one are no evidence of speed",
                    gpus->front().name),
            1};
  const auto also = [&](const Message& why) {
    return too_old ? message("cuda-some-old", "{} {}", why, *too_old) : why;
  };
  const Result<void> nccl = nccl_version ? check_nccl(*nccl_version, 1) : nccl_version.error();
  if (!nccl)
    return {"cuda", true,
            also(message("cuda-apart", "fp32 and bf16; all ranks on one GPU: {}", nccl.error())),
            1};
  return {"cuda", true,
          also(message("cuda-ranks", "fp32 and bf16; up to {} with a GPU each, through NCCL {}",
                       counted_ranks(usable), nccl_version_text(*nccl_version))),
          usable};
}

std::vector<Fact> facts_of_gpus(const std::vector<GpuFacts>& gpus) {
  std::string displays, without;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string gpu = fmt::format("GPU {} ({})", i, gpus[i].name);
    const auto add = [&](std::string& list) { list += (list.empty() ? "" : ", ") + gpu; };
    if (gpus[i].ends_long_kernels) add(displays);
    if (!has_bf16_tensor_cores(gpus[i])) add(without);
  }
  std::vector<Fact> facts;
  if (!displays.empty())
    facts.push_back(
        {"gpu-display", message("fact-display", "display"), FactState::kLimited,
         message("fact-drives", "{}: drives a display, so the system ends kernels of some 5 s",
                 displays),
         message("advice-display",
                 "Ranks take other GPUs first; name others with --devices, or use "
                 "smaller sizes.")});
  if (!without.empty())
    facts.push_back(
        {"gpu-bf16", plain("bf16"), FactState::kLimited,
         message("fact-no-bf16", "{}: no tensor cores for bf16, which goes as fast as fp32 at most",
                 without),
         message("advice-bf16", "16-bit precisions save memory there and no time.")});
  return facts;
}

std::vector<Fact> facts_of_groups(int driver, std::size_t gpus) {
  if (gpus < 2 || runs_groups_at_once(driver)) return {};
  return {
      {"nccl-groups", message("fact-groups", "NCCL groups"), FactState::kLimited,
       message("fact-one-by-one",
               "the driver is for CUDA {}: operations of several groups on a GPU go one after "
               "another",
               cuda_version_text(driver)),
       message("advice-groups", "With driver {} or newer they overlap.", driver_branch(12030))}};
}

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
  devices.bf16_products = bf16_products_here();

  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  CudaFacts cuda = probe_cuda();
  devices.gpus = std::move(cuda.gpus);
  if (!devices.gpus.empty()) {
    std::vector<std::string> buses;
    for (const Gpu& gpu : devices.gpus) buses.push_back(gpu.bus);
    if (Result<GpuTopology> topology = local_topology(buses))
      devices.topology = std::move(*topology);
  }
  const Result<int> nccl = gpus && gpus->size() > 1 ? nccl_version() : Result<int>(0);
  devices.computer = computer_of(available_core_count(), gpus);
  if (gpus && gpus->size() > 1) look_at_sets(*gpus, devices.computer);
  const int cores = devices.computer.cores;
  devices.backends = {
      {"cpu", true,
       message("cpu-ranks", "{} with a core each, more are oversubscribed; {}",
               counted_ranks(cores), products_text(devices.bf16_products)),
       cores},
      {"paced", true,
       message("paced-ranks", "rehearsals of up to {} ranks: real work, predicted durations",
               kMostPacedRanks),
       kMostPacedRanks},
      cuda_backend(gpus, nccl)};
  devices.facts = std::move(cuda.facts);
  if (gpus) {
    for (Fact& fact : facts_of_gpus(*gpus)) devices.facts.push_back(std::move(fact));
    const int driver = (*cuda_module())->versions().driver;
    for (Fact& fact : facts_of_groups(driver, gpus->size()))
      devices.facts.push_back(std::move(fact));
  }
  for (Fact& fact : facts_of_topology(devices)) devices.facts.push_back(std::move(fact));
  devices.facts.push_back(shared_memory());
  devices.facts.push_back(locked_memory());
  devices.facts.push_back(launcher());
  return devices;
}

std::vector<Fact> facts_of_topology(const Devices& devices) {
  std::vector<Fact> facts;
  const GpuTopology& topology = devices.topology;
  if (!topology.links.empty()) {
    std::size_t direct = 0, nvlink = 0;
    for (const GpuLink& link : topology.links) {
      direct += link.p2p;
      nvlink += link.kind == "NVLink";
    }
    const bool all = direct == topology.links.size();
    facts.push_back(
        {"peer-access", message("fact-peers", "GPU to GPU"),
         all ? FactState::kThere : FactState::kLimited,
         message("fact-pairs", "{} of {} pairs read each other's memory, {} over NVLink", direct,
                 topology.links.size(), nvlink),
         all ? Message{}
             : message("advice-peers",
                       "NCCL goes through host memory for the others; on bare metal "
                       "switch IOMMU and PCIe ACS off.")});
  }
  std::vector<int> all(topology.use.size());
  std::iota(all.begin(), all.end(), 0);
  if (const std::string use = use_text(topology, all); !use.empty()) {
    facts.push_back({"gpu-use", message("fact-others", "other processes"), FactState::kLimited,
                     plain(use),
                     message("advice-others",
                             "Times measured beside them mean little; choose others with "
                             "--devices.")});
  }
  return facts;
}

std::string use_of(const std::vector<int>& gpus) {
  return gpus.empty() ? std::string() : use_text(probe_devices().topology, gpus);
}

nlohmann::json to_json(const Devices& devices) {
  static constexpr std::array<const char*, 3> kStates = {"there", "limited", "missing"};
  nlohmann::json gpus = nlohmann::json::array(), backends = gpus, facts = gpus, links = gpus;
  for (std::size_t i = 0; i < devices.gpus.size(); ++i) {
    const Gpu& gpu = devices.gpus[i];
    nlohmann::json use = nlohmann::json::array();
    if (i < devices.topology.use.size())
      for (const GpuUse& one : devices.topology.use[i])
        use.push_back({{"pid", one.pid}, {"program", one.program}, {"bytes", one.bytes}});
    gpus.push_back({{"name", gpu.name},
                    {"memory_bytes", gpu.memory_bytes},
                    {"peers", gpu.peers},
                    {"bus", gpu.bus},
                    {"pcie", i < devices.topology.pcie.size() ? devices.topology.pcie[i] : ""},
                    {"other_processes", std::move(use)}});
  }
  for (const GpuLink& link : devices.topology.links)
    links.push_back({{"from", link.from}, {"to", link.to}, {"kind", link.kind}, {"p2p", link.p2p}});
  for (const BackendFact& backend : devices.backends) {
    backends.push_back(
        {{"name", backend.name}, {"available", backend.available}, {"ranks", backend.ranks}});
    put_text(backends.back(), "why", backend.why);
  }
  for (const Fact& fact : devices.facts) {
    facts.push_back({{"id", fact.id}, {"state", kStates[static_cast<std::size_t>(fact.state)]}});
    put_text(facts.back(), "title", fact.title);
    put_text(facts.back(), "found", fact.found);
    put_text(facts.back(), "advice", fact.advice);
  }
  nlohmann::json json = {{"host", devices.host},
                         {"processor", devices.processor},
                         {"threads", devices.threads},
                         {"numa_nodes", devices.numa_nodes},
                         {"memory_bytes", devices.memory_bytes},
                         {"available_bytes", devices.available_bytes},
                         {"bf16_products", devices.bf16_products},
                         {"gpus", std::move(gpus)},
                         {"links", std::move(links)},
                         {"backends", std::move(backends)},
                         {"facts", std::move(facts)}};
  add_to_json(devices.computer, json);
  return json;
}

}  // namespace parallelarium
