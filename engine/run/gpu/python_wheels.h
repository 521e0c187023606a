// SPDX-License-Identifier: Apache-2.0
// Files of the wheels that the user's Python has. NVIDIA's libraries come that way where no package
// of the system brings them. No Python is started for it.
#pragma once

#include <string>
#include <vector>

#include "engine/run/net/place.h"

namespace parallelarium {

// The files that exist of `below`, such as "nvidia/nccl/lib/libnccl.so.2", in the packages of an
// active virtual environment or conda, of the python3 in PATH, of the user, of the system; the
// newest Python first. Where `below` begins with "nvidia/*/", every folder of nvidia/ is looked in.
std::vector<std::string> files_of_wheels(const Environment& environment, const std::string& below);

}  // namespace parallelarium
