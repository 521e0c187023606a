// SPDX-License-Identifier: Apache-2.0
// The physical cores that this process may use: the one place where they are counted.
#pragma once

#include <string>
#include <vector>

namespace parallelarium {

// Numbers of the processing units of one core that this process may use, ascending.
using Core = std::vector<int>;

// Reads the cores from `folder`, where Linux lists them. Neighbours on a package are next to each
// other; there is at least one core. If a virtual machine shows processing units and no cores, each
// unit counts as a core. Cost: a file or two for each processing unit.
std::vector<Core> available_cores(const std::string& folder = "/sys/devices/system/cpu");
// The number of available cores. It is counted once, since every changed setting asks.
int available_core_count();

}  // namespace parallelarium
