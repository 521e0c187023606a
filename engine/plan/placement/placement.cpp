// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

Message about(Message why, const char* field) {
  if (why.field.empty()) why.field = field;
  return why;
}

const ComputerGpu& gpu_of(const Computer& computer, int gpu) {
  return computer.gpus[static_cast<std::size_t>(gpu)];
}

std::vector<int> usable_of(const Computer& computer) {
  std::vector<int> usable;
  for (int gpu = 0; gpu < static_cast<int>(computer.gpus.size()); ++gpu)
    if (!gpu_of(computer, gpu).unusable) usable.push_back(gpu);
  return usable;
}

std::vector<int> that_meet(const std::vector<int>& gpus, const Computer& computer) {
  std::vector<std::vector<int>> apart;
  for (const GpusApart& set : computer.apart) apart.push_back(set.gpus);
  return parallelarium::that_meet(gpus, apart);
}

bool are_all_among(const std::vector<int>& some, const std::vector<int>& gpus) {
  return std::all_of(some.begin(), some.end(),
                     [&](int gpu) { return std::count(gpus.begin(), gpus.end(), gpu) > 0; });
}

// GPUs that ranks may be on where nobody named any: no displays and no old kinds if the others are
// enough, and of one kind if one has enough, since all ranks wait for the slowest.
std::vector<int> preferred(const Computer& computer, int wanted) {
  std::vector<int> usable = usable_of(computer);
  const auto burden = [&](int gpu) {
    const ComputerGpu& facts = gpu_of(computer, gpu);
    return std::tuple(facts.display, !facts.bf16);
  };
  std::stable_sort(usable.begin(), usable.end(),
                   [&](int a, int b) { return burden(a) < burden(b); });
  for (const bool with_displays : {false, true}) {
    std::map<std::string, std::vector<int>> kinds;
    for (const int gpu : usable) {
      if (gpu_of(computer, gpu).display && !with_displays) continue;
      std::vector<int>& kind = kinds[gpu_of(computer, gpu).name];
      kind.push_back(gpu);
    }
    if (wanted > 1)
      for (auto& [name, kind] : kinds) kind = that_meet(kind, computer);
    // The kind that comes first in the order of preference, among those with enough.
    const std::vector<int>* best = nullptr;
    const auto place_of = [&](int gpu) {
      return std::find(usable.begin(), usable.end(), gpu) - usable.begin();
    };
    for (const auto& [name, kind] : kinds)
      if (static_cast<int>(kind.size()) >= wanted &&
          (best == nullptr || place_of(kind.front()) < place_of(best->front())))
        best = &kind;
    if (best != nullptr) return *best;
  }
  return wanted > 1 ? that_meet(usable, computer) : usable;
}

Result<void> check_named(const std::vector<int>& named, const Computer& computer) {
  const std::size_t count = computer.gpus.size();
  for (const int gpu : named) {
    if (gpu >= static_cast<int>(count))
      return about(count == 1 ? message("devices-absent.one",
                                        "There is no GPU {}; this computer has GPU 0 only.", gpu)
                              : message("devices-absent",
                                        "There is no GPU {}; this computer has GPUs 0 to {}.", gpu,
                                        count - 1),
                   "run.devices");
    if (const auto& unusable = gpu_of(computer, gpu).unusable)
      return about(*unusable, "run.devices");
  }
  return {};
}

// Why fewer GPUs than ranks are no place for them. There must be several usable GPUs, or processes.
Message too_few(int ranks, const std::vector<int>& gpus, const Computer& computer) {
  const int count = static_cast<int>(gpus.size());
  if (computer.launched)
    return about(message("gpus-few.processes",
                         "{} started {} processes on this host, which has {} for them; start one "
                         "for each GPU, or use --backend cpu.",
                         computer.launched->launcher, ranks, counted_gpus(count)),
                 "run.devices");
  return about(message("gpus-few",
                       "{} ranks are more than {} GPUs, and ranks share a GPU only where all are "
                       "on one; use --devices {} for that, or {} ranks.",
                       ranks, count, gpus.front(), count),
               "run.devices");
}

// Every rank on a GPU of its own, or all on one.
Result<Placement> on_gpus(const RunSettings& run, int ranks, const Computer& computer) {
  Result<std::vector<int>> gpus = device_list(run.devices);
  if (!gpus) return gpus.error();
  if (computer.gpus.empty())
    return computer.no_gpus ? *computer.no_gpus
                            : message("cuda-missing.gpu", "This computer has no NVIDIA GPU.");
  if (Result<void> good = check_named(*gpus, computer); !good) return good.error();
  const std::optional<Launched>& launched = computer.launched;
  // A launcher has given this process a GPU of its own, as srun --gpus-per-task=1 does.
  const bool own = launched && computer.gpus_given && computer.gpus.size() == 1;
  const int here = own ? 1 : launched ? launched->local_ranks : ranks;
  std::optional<Message> left_out;  // why not all GPUs count
  std::vector<int> all = *gpus;
  if (gpus->empty()) {
    for (const ComputerGpu& gpu : computer.gpus)
      if (gpu.unusable && !left_out) left_out = gpu.unusable;
    all = usable_of(computer);
    *gpus = preferred(computer, here);
  } else if (here > 1) {
    *gpus = that_meet(*gpus, computer);
  }
  const int count = static_cast<int>(gpus->size());
  if (here > count)
    for (const GpusApart& set : computer.apart)
      if (are_all_among(set.gpus, all)) return set.why;
  if (count == 0 || (left_out && here > count)) return *left_out;
  Placement placement;
  placement.backend = Backend::kCuda;
  if (here <= count) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int local = own ? 0 : launched ? launched->local_rank : rank;
      placement.gpus.push_back((*gpus)[static_cast<std::size_t>(local)]);
    }
  } else if (launched || count > 1) {
    return too_few(launched ? here : ranks, *gpus, computer);
  } else {
    placement.source = Source::kSharedGpu;
    placement.gpus.assign(static_cast<std::size_t>(ranks), gpus->front());
  }
  if (placement.source == Source::kMeasured && ranks > 1 && computer.gpus_apart)
    return *computer.gpus_apart;
  placement.bf16 = std::all_of(placement.gpus.begin(), placement.gpus.end(),
                               [&](int gpu) { return gpu_of(computer, gpu).bf16; });
  const std::string& name = gpu_of(computer, placement.gpus.front()).name;
  const bool several = (own || here > 1) && placement.source == Source::kMeasured;
  placement.why = message("backend", "{} on {}: {}", counted_ranks(ranks),
                          several ? message("gpu-each", "a {} each", name) : plain(name),
                          word("source", spoken_name(placement.source)));
  return placement;
}

// One process for each rank, on cores.
Result<Placement> process_on_cores(const RunSettings& run, const Launched& launched, int cores) {
  if (run.backend == Backend::kPaced) {
    Message why =
        message("processes-paced",
                "Ranks in processes of their own are not rehearsed; use --backend cpu, or start "
                "the engine without {}.",
                launched.launcher);
    why.field = "run.backend";
    why.alternatives = {"auto", "cpu"};
    return why;
  }
  Placement placement;
  if (launched.local_ranks > cores) placement.source = Source::kOversubscribed;
  placement.why = message("backend.processes", "{}, each a process of {}, {} on {} here: {}",
                          counted_ranks(launched.ranks), launched.launcher, launched.local_ranks,
                          counted_cores(cores), word("source", spoken_name(placement.source)));
  return placement;
}

Placement on_cores(const RunSettings& run, int ranks, int cores, Pacing pacing,
                   const std::optional<Message>& not_on_gpus, bool one_gpu) {
  Placement placement;
  const bool few = ranks > cores;
  if (pacing == Pacing::kWhereNeeded &&
      (run.backend == Backend::kPaced || (run.backend == Backend::kAuto && few))) {
    placement.backend = Backend::kPaced;
    placement.source = Source::kPaced;
  } else if (few) {
    placement.source = Source::kOversubscribed;
  } else {
    placement.cores.resize(static_cast<std::size_t>(ranks));
    std::iota(placement.cores.begin(), placement.cores.end(), 0);
  }
  placement.why = message("backend", "{} on {}: {}", counted_ranks(ranks), counted_cores(cores),
                          word("source", spoken_name(placement.source)));
  if (not_on_gpus)
    placement.why = message("backend.without-gpus", "{} (not on GPUs: {})", placement.why,
                            clause(*not_on_gpus));
  if (one_gpu)
    placement.why =
        message("backend.one-gpu", "{} (all on the one GPU with --backend cuda)", placement.why);
  return placement;
}

Message paced_collective() {
  Message why = message("collective-paced",
                        "A collective alone runs at its own speed and is not rehearsed; use "
                        "--backend auto, cpu or cuda.");
  why.field = "run.backend";
  why.alternatives = {"auto", "cpu", "cuda"};
  return why;
}

}  // namespace

bool ComputerGpu::operator==(const ComputerGpu& other) const {
  return name == other.name && uuid == other.uuid && memory_bytes == other.memory_bytes &&
         bf16 == other.bf16 && display == other.display && unusable == other.unusable;
}

Result<Placement> place(const RunSettings& run, int ranks, const Computer& computer,
                        Pacing pacing) {
  if (pacing == Pacing::kNever && run.backend == Backend::kPaced) return paced_collective();
  if (pacing == Pacing::kNever)
    if (Result<std::vector<int>> devices = device_list(run.devices); !devices)
      return devices.error();
  bool one_gpu = false;                // which would take them all
  std::optional<Message> not_on_gpus;  // why auto takes no GPUs, where there are some
  if (run.backend == Backend::kCuda || run.backend == Backend::kAuto) {
    Result<Placement> found = on_gpus(run, ranks, computer);
    const bool each = found && found->source == Source::kMeasured;
    if (each || (found && run.backend == Backend::kCuda)) return found;
    if (run.backend == Backend::kCuda) {
      Message why = found.error();
      if (why.field.empty()) {
        why.field = "run.backend";
        why.alternatives = {"auto", "cpu"};
        if (pacing == Pacing::kWhereNeeded) why.alternatives.push_back("paced");
      }
      return why;
    }
    if (found) {
      one_gpu = true;
    } else if (!computer.gpus.empty()) {
      if (run.devices != "all") return about(found.error(), "run.devices");  // asked for by name
      not_on_gpus = found.error();
    }
  }
  if (computer.launched) return process_on_cores(run, *computer.launched, computer.cores);
  return on_cores(run, ranks, computer.cores, pacing, not_on_gpus, one_gpu);
}

Placement place_collective(const RunSettings& run, int ranks, const Computer& computer) {
  RunSettings unpaced = run;
  if (run.backend == Backend::kPaced) unpaced.backend = Backend::kCpu;
  Result<Placement> placed = place(unpaced, ranks, computer, Pacing::kNever);
  if (placed) return std::move(*placed);
  RunSettings on_cores_alone;
  on_cores_alone.backend = Backend::kCpu;
  placed = place(on_cores_alone, ranks, computer, Pacing::kNever);
  return placed ? std::move(*placed) : Placement();
}

std::vector<int> that_meet(std::vector<int> gpus, const std::vector<std::vector<int>>& apart) {
  while (true) {
    std::map<int, int> broken;  // sets, by GPU
    for (const std::vector<int>& set : apart)
      if (are_all_among(set, gpus))
        for (const int gpu : set) ++broken[gpu];
    if (broken.empty()) return gpus;
    int most = 0;
    for (const auto& [gpu, sets] : broken) most = std::max(most, sets);
    const auto last = std::find_if(gpus.rbegin(), gpus.rend(), [&](int gpu) {
      return broken.count(gpu) > 0 && broken[gpu] == most;
    });
    gpus.erase(std::next(last).base());
  }
}

int most_gpu_ranks(const Computer& computer) {
  const auto meet = static_cast<int>(that_meet(usable_of(computer), computer).size());
  return computer.gpus_apart ? std::min(meet, 1) : meet;
}

}  // namespace parallelarium
