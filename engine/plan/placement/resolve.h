// SPDX-License-Identifier: Apache-2.0
// From a Setup as it was asked for to one that says everything: `auto` stands for what an expert
// would choose on the devices that the ranks have.
//
//                           precision             attention   backend
//   cores                   fp32                  unfused     cpu or paced
//   GPUs with bf16          mixed-16-main-grads   fused       cuda
//   GPUs without (V100)     fp32                  fused       cuda
//
// It is done once, where a Setup comes in: validate, predict and run see resolved Setups only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/plan/machine/machine.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether nothing in it is `auto`.
bool is_resolved(const Setup& setup);

// For ranks that go where `placement` says, on this computer. What is not `auto` stays.
Setup resolve(Setup setup, const Placement& placement);
// For the devices of a Machine: a preset, or a calibration that somebody keeps.
Setup resolve(Setup setup, const Machine& machine);

// A Setup, what it means on a computer, and the Machine that its predictions are of.
struct Situation {
  Setup asked;
  Setup setup;  // resolved
  Machine machine;
  std::optional<Placement> placement;  // none: of another machine, or `refusal` says why
  std::optional<Message> refusal;      // why this computer has no place for the ranks

  // Whether the ranks of "local" take GPUs of this computer.
  bool takes_gpus() const {
    return asked.machine == "local" && setup.run.backend == Backend::kCuda;
  }
  // The same, also of a Setup that names the Machine of these GPUs.
  bool on_local_gpus() const { return takes_gpus() || machine.name == kLocalGpus; }
};

// How many GPUs of `computer` there are for the ranks of the situation; 0: they are on cores, or
// nobody has told.
int gpus_for(const Situation& situation, const Computer& computer);

// How ranks of the resolved `setup` would run on `machine`, as its backend says. kPredicted where
// the machine is not this computer, since nothing can run on it from here.
Source expected_source(const Setup& setup, const Machine& machine);
// find_machine(), or what remembers its answers.
using FindMachine = std::function<Result<Machine>(const std::string& name)>;
// Error: that of `find`.
Result<Situation> situation_of(const Setup& asked, const Computer& computer,
                               const FindMachine& find = find_machine);

// The Machine of this computer for ranks placed so: the calibration that was made of these cores or
// these GPUs; where there is none the cores, with assumed rates if they are not calibrated either.
// Whether groups take turns is as the driver says now, where the Computer knows.
// A placement on GPUs that names none, since this computer has none, is of those that were
// calibrated.
Machine machine_for(const Placement& placement, const Computer& computer,
                    const FindMachine& find = find_machine);
// Whether `gpus`, a Machine "local-gpus", was measured on the GPUs of the placement.
bool is_calibration_of(const Machine& gpus, const Placement& placement, const Computer& computer);

// This computer as far as it is known before anybody asked CUDA: its cores and, where NVIDIA's
// driver is loaded, the GPUs that were calibrated last if they were of one kind.
Computer computer_until_told(const FindMachine& find = find_machine);

// A stored Setup beside what it meant where it was stored: `asked` where it means the same here
// (`here`), else with what was `auto` written out as it was there.
Setup kept_meaning(const Setup& asked, const Setup& there, const Setup& here);

}  // namespace parallelarium
