// SPDX-License-Identifier: Apache-2.0
// The physical cores that this process may use: the one place where they are counted.
#pragma once

#include <string>
#include <vector>

namespace parallelarium {

// Numbers of the processing units of one core that this process may use, ascending.
using Core = std::vector<int>;

// As Linux tells them in `folder`, neighbours on a package next to each other; at least one core.
// Where a virtual machine shows processing units and no cores, each unit is one. Cost: a file or
// two for each processing unit.
std::vector<Core> available_cores(const std::string& folder = "/sys/devices/system/cpu");
// How many there are; counted once, since every changed setting asks.
int available_core_count();

}  // namespace parallelarium
