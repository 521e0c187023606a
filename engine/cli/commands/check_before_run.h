// SPDX-License-Identifier: Apache-2.0
// The check of GPUs that comes by itself before the first run on them (gpu_check.h).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/cli/training.h"

namespace parallelarium {

// prepare(), but that GPUs which ranks would use and nobody has checked with this driver and module
// are checked first. Where one fails, it chooses anew: `auto` then takes the CPU and says why.
// `say`: hears sentences on the way. Errors: as prepare(), and "cancelled".
Result<Preparation> prepare_checked(const Setup& setup, std::optional<ProcessPlace> place,
                                    const Watch& watch,
                                    const std::function<void(const std::string&)>& say = {});
// The same for a calibration, which measures all GPUs that can be used. Error: "cancelled".
Result<void> check_before_calibrating(const Watch& watch,
                                      const std::function<void(const std::string&)>& say = {});
// The same of choose_collective_backend().
Result<BackendChoice> choose_collective_checked(
    const RunSettings& run, int ranks, const Watch& watch,
    const std::function<void(const std::string&)>& say = {});

}  // namespace parallelarium
