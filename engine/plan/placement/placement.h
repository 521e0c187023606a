// SPDX-License-Identifier: Apache-2.0
// Decides where the ranks of a Setup go on this computer. `predict`, `run`, the Run button,
// `devices` and lessons all ask this one place.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/timeline.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// What a placement needs to know of a GPU.
struct ComputerGpu {
  std::string name;               // "NVIDIA H100 80GB HBM3"
  std::string uuid;               // as nvidia-smi lists it; empty: not known
  std::int64_t memory_bytes = 0;  // 0: not known
  bool bf16 = true;               // its tensor cores multiply bf16
  bool display = false;           // it drives a display: its driver ends kernels that take seconds
  std::optional<Message> unusable;  // why no rank goes there: too old, failed its check, ...
  bool operator==(const ComputerGpu& other) const;
};

// GPUs (numbers, ascending) that do not work with each other, as a check found. Each of them works
// alone.
struct GpusApart {
  std::vector<int> gpus;
  Message why;
};

// A launcher started one process for each rank, and this is one of them.
struct Launched {
  std::string launcher;  // "torchrun", "Open MPI", "Slurm"
  int ranks = 1;
  int local_rank = 0, local_ranks = 1;  // among the processes of this host
  bool operator==(const Launched&) const = default;
};

// What placing ranks needs to know of a computer. It is plain data: the engine looks, and tells the
// window.
struct Computer {
  int cores = 1;                      // physical cores that the process may use
  std::vector<ComputerGpu> gpus;      // as CUDA numbers them
  std::optional<Message> no_gpus;     // why `gpus` is empty
  std::optional<Message> gpus_apart;  // why ranks on several GPUs cannot meet
  std::vector<GpusApart> apart;       // why ranks on just these cannot
  // Whether NCCL runs operations of several groups one by one with this driver. None: not known.
  std::optional<bool> groups_take_turns;
  bool gpus_given = false;  // somebody chose what this process sees (CUDA_VISIBLE_DEVICES)
  std::optional<Launched> launched;
};

// Reads the GPUs as `devices --json` lists them, and the other keys that say where ranks can go:
// "cores", "gpus", "no_gpus", "gpus_apart", "apart" and "groups_take_turns". A key that is missing
// or of another type counts as absent, so an engine that tells less has fewer GPUs.
Computer computer_from_json(const nlohmann::json& devices);
// Puts those keys into what `devices --json` prints. Its "gpus" must have as many entries, or none.
void add_to_json(const Computer& computer, nlohmann::json& devices);

// Where the ranks of a Setup go, and the words for the Run button.
struct Placement {
  Backend backend = Backend::kCpu;    // never kAuto
  Source source = Source::kMeasured;  // measured, oversubscribed, rehearsed or shared GPU
  Message why = {};                   // "4 ranks on 2 cores: rehearsed"
  std::vector<int> gpus = {};         // the GPU of each rank; empty if ranks are on cores
  // The core of each rank, an index; empty if ranks share cores or have GPUs.
  std::vector<int> cores = {};
  bool bf16 = true;  // GPUs: all multiply bf16 by tensor cores
  bool paced() const { return source == Source::kPaced; }
  bool on_gpus() const { return backend == Backend::kCuda; }
};

// Ranks of a training step rehearse if there are too few cores. Ranks of a collective alone never
// do: they share the cores.
enum class Pacing : std::uint8_t { kWhereNeeded, kNever };

// `auto` takes GPUs if every rank gets a usable one; those without a display and of one kind come
// first. Otherwise it takes cores, and rehearses if they are too few. A named backend or device is
// kept to or refused; the error has "run.backend" or "run.devices" as its field and says what would
// do. Several ranks share a GPU only if "cuda" is asked for and it is the only GPU, or the only one
// named. Pure.
Result<Placement> place(const RunSettings& run, int ranks, const Computer& computer,
                        Pacing pacing = Pacing::kWhereNeeded);

// The same for a collective alone that is shown beside a training step with these settings. If they
// have no place for it (too few GPUs, a rehearsal), it goes on cores: what it shows needs no GPU.
Placement place_collective(const RunSettings& run, int ranks, const Computer& computer);

// The most of these GPUs, in their order, that work with each other: no set of `apart` is among
// them. GPUs that are in most of these sets leave first; of equal ones, the last.
std::vector<int> that_meet(std::vector<int> gpus, const std::vector<std::vector<int>>& apart);

// The most GPUs that ranks could have one each of: all usable ones, or one if they cannot meet.
int most_gpu_ranks(const Computer& computer);

}  // namespace parallelarium
