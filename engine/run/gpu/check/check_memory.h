// SPDX-License-Identifier: Apache-2.0
// Checks are remembered in gpu_checks.json beside the calibrations. A check of a GPU (its UUID)
// holds for this driver and this build of the module. A check of GPUs that were tried together
// holds for this NCCL, too. If any of these changes, the next run checks again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/run/gpu/check/check.h"

namespace parallelarium {

// What a check holds for, as texts.
struct CheckKey {
  std::string driver;  // "550.54.14"
  std::string module;  // the build's own number
  std::string nccl;    // "2.28.9", or empty
  bool operator==(const CheckKey&) const = default;
};
// The key of this computer. `nccl`: whether to include NCCL, which loads it.
CheckKey check_key_here(const CudaModule& module, bool nccl);

class RememberedChecks {
 public:
  // Loads the file. The result is empty if the file is missing or not valid.
  static RememberedChecks load(const std::string& path);
  // Writes beside the target and renames.
  Result<void> save(const std::string& path) const;
  // Loads, changes and saves while no other process does.
  static Result<void> update(const std::string& path,
                             const std::function<void(RememberedChecks&)>& change);

  // Notes what the check reached of GPUs, pairs and groups. The rest stays as it was.
  void note(const GpuCheck& check, const CheckKey& key, const std::string& date);
  // The sentence about a GPU that failed with this driver and module. Empty: it did not fail, or
  // was not checked.
  Message failure_of(const GpuFacts& gpu, const CheckKey& key) const;
  // Whether this GPU's kernels are known to be right.
  bool is_right(const GpuFacts& gpu, const CheckKey& key) const;
  // What is known of sets of these GPUs. `numbers` are theirs (empty: 0, 1 ...).
  std::vector<TriedSet> tried(const std::vector<GpuFacts>& gpus, const std::vector<int>& numbers,
                              const CheckKey& key) const;
  // Whether everything is known about these GPUs: each was checked and, if there are several, those
  // that did not fail with each other were tried together.
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
    bool collectives = false;       // as in TriedSet; so is `failure`
    Message failure;
  };
  void keep(Together one);
  std::map<std::string, One> gpus_;  // by name_of_gpu()
  std::vector<Together> together_;
};

// The path of the file; empty if there is no HOME.
std::string gpu_checks_path();

// Sets `check_failure` of the GPUs that failed on this computer.
void mark_failed(std::vector<GpuFacts>& gpus, const CudaModule& module);
// The sets of these GPUs that failed together on this computer with this NCCL. It loads NCCL.
std::vector<GpusApart> failed_sets(const std::vector<GpuFacts>& gpus, const CudaModule& module);

}  // namespace parallelarium
