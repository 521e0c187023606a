// SPDX-License-Identifier: Apache-2.0
// Finds files of the wheels in the user's Python, where NVIDIA's libraries are if no package of the
// system brings them. It starts no Python.
#pragma once

#include <string>
#include <vector>

#include "engine/run/net/place.h"

namespace parallelarium {

// The existing files named `below`, such as "nvidia/nccl/lib/libnccl.so.2", in the packages of an
// active virtual environment or conda, of the python3 in PATH, of the user, of the system; the
// newest Python first. If `below` begins with "nvidia/*/", it looks in every folder of nvidia/.
std::vector<std::string> files_of_wheels(const Environment& environment, const std::string& below);

}  // namespace parallelarium
