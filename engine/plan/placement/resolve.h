// SPDX-License-Identifier: Apache-2.0
// Turns a Setup as it was asked for into one that says everything. `auto` becomes what an expert
// would choose on the devices that the ranks have.
//
//                           precision             attention   backend
//   cores                   fp32                  unfused     cpu or paced
//   GPUs with bf16          mixed-16-main-grads   fused       cuda
//   GPUs without (V100)     fp32                  fused       cuda
//
// This is done once, where a Setup comes in. So validate, predict and run see resolved Setups only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/plan/machine/machine.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether no setting is `auto`.
bool is_resolved(const Setup& setup);

// Resolves for ranks that go where `placement` says, on this computer. Settings that are not `auto`
// stay.
Setup resolve(Setup setup, const Placement& placement);
// Resolves for the devices of a Machine: a preset, or a calibration that somebody keeps.
Setup resolve(Setup setup, const Machine& machine);

// A Setup, what it means on a computer, and the Machine that its predictions are of.
struct Situation {
  Setup asked;
  Setup setup;  // resolved
  Machine machine;
  std::optional<Placement> placement;  // none: the Machine is another one, or `refusal` says why
  std::optional<Message> refusal;      // why this computer has no place for the ranks

  // Whether the ranks of "local" take GPUs of this computer.
  bool takes_gpus() const {
    return asked.machine == "local" && setup.run.backend == Backend::kCuda;
  }
  // The same, and also true if the Setup names the Machine of these GPUs.
  bool on_local_gpus() const { return takes_gpus() || machine.name == kLocalGpus; }
};

// How many GPUs of `computer` the ranks of the situation can have. 0: they are on cores, or nobody
// has told.
int gpus_for(const Situation& situation, const Computer& computer);

// How ranks of the resolved `setup` would run on `machine`, as its backend says. kPredicted if the
// machine is not this computer, since nothing can run on it from here.
Source expected_source(const Setup& setup, const Machine& machine);
// find_machine(), or a function that remembers its answers.
using FindMachine = std::function<Result<Machine>(const std::string& name)>;
// Error: that of `find`.
Result<Situation> situation_of(const Setup& asked, const Computer& computer,
                               const FindMachine& find = find_machine);

// The Machine of this computer for ranks that are placed so: the calibration of these cores or
// these GPUs. If there is none, it is the cores, with assumed rates if they are not calibrated
// either. If the Computer knows whether groups take turns, its driver's word counts. A placement on
// GPUs that names none, since this computer has none, gets the calibrated ones.
Machine machine_for(const Placement& placement, const Computer& computer,
                    const FindMachine& find = find_machine);
// Whether `gpus`, a Machine "local-gpus", was measured on the GPUs of the placement.
bool is_calibration_of(const Machine& gpus, const Placement& placement, const Computer& computer);

// What is known of this computer before anybody has asked CUDA: its cores and, if NVIDIA's driver
// is loaded, the GPUs that were calibrated last, provided that they were of one kind.
Computer computer_until_told(const FindMachine& find = find_machine);

// What a stored Setup means here. `there` is what it meant where it was stored, and `here` what it
// would mean on this computer. If both are equal, the result is `asked`. Otherwise each `auto` is
// written out as it was there.
Setup kept_meaning(const Setup& asked, const Setup& there, const Setup& here);

}  // namespace parallelarium
