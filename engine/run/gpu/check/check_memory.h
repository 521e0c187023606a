// SPDX-License-Identifier: Apache-2.0
// Checks are remembered, in gpu_checks.json beside the calibrations: of a GPU (its UUID) with this
// driver and this build of the module, and of GPUs that were tried together with this NCCL, too.
// Whatever changes of these, the next run checks again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/run/gpu/check/check.h"

namespace parallelarium {

// What a check is good for, as texts.
struct CheckKey {
  std::string driver;  // "550.54.14"
  std::string module;  // the build's own number
  std::string nccl;    // "2.28.9", or empty
  bool operator==(const CheckKey&) const = default;
};
// Of this computer. `nccl`: also of that, which loads it.
CheckKey check_key_here(const CudaModule& module, bool nccl);

class RememberedChecks {
 public:
  // None where the file is missing, or not one.
  static RememberedChecks load(const std::string& path);
  // Written beside the target and renamed.
  Result<void> save(const std::string& path) const;
  // Loads, changes and saves, while no other process does.
  static Result<void> update(const std::string& path,
                             const std::function<void(RememberedChecks&)>& change);

  // What was reached: of GPUs, pairs and groups. The rest stays as it was.
  void note(const GpuCheck& check, const CheckKey& key, const std::string& date);
  // The sentence of a GPU that failed with this driver and module; empty: it did not, or was not
  // checked.
  Message failure_of(const GpuFacts& gpu, const CheckKey& key) const;
  // Whether this GPU's kernels are known to be right.
  bool is_right(const GpuFacts& gpu, const CheckKey& key) const;
  // What is known of sets of these GPUs, by their numbers (empty: 0, 1 ...).
  std::vector<TriedSet> tried(const std::vector<GpuFacts>& gpus, const std::vector<int>& numbers,
                              const CheckKey& key) const;
  // Whether nothing of these is unknown: each was checked and, where there are several, those that
  // did not fail with each other.
  bool covers(const std::vector<GpuFacts>& gpus, const CheckKey& key) const;

 private:
  struct One {
    CheckKey key;
    Message failure;
    std::string date;
  };
  struct Together {
    CheckKey key;
    std::vector<std::string> gpus;  // names, ascending
    bool collectives = false;       // as of TriedSet, also below
    Message failure;
  };
  void keep(Together one);
  std::map<std::string, One> gpus_;  // by name_of_gpu()
  std::vector<Together> together_;
};

// Where they are; empty where there is no HOME.
std::string gpu_checks_path();

// Fills `check_failure` of the GPUs that failed here.
void mark_failed(std::vector<GpuFacts>& gpus, const CudaModule& module);
// The sets of these GPUs that failed together here, with this NCCL, which it loads.
std::vector<GpusApart> failed_sets(const std::vector<GpuFacts>& gpus, const CudaModule& module);

}  // namespace parallelarium
