// SPDX-License-Identifier: Apache-2.0
// Where NCCL's library is found. Needs neither CUDA nor NCCL to be built.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/run/gpu/nccl/nccl_api.h"
#include "engine/run/net/place.h"

namespace parallelarium {

// What dlopen is asked for, in this order: what PARALLELARIUM_NCCL names, and then nothing else;
// libnccl.so.2, as the run path of the caller and the system find it; those of the wheel
// nvidia-nccl in the packages of the user's Python (python_wheels.h).
std::vector<std::string> nccl_files(const Environment& environment);

struct NcclFile {
  nccl_api::Functions functions;
  int version = 0;   // 22809 is 2.28.9
  std::string path;  // of the library that answered
};
// The first of `files` that loads, has every function and is not too old (check_nccl of one
// communicator); it stays loaded. Error "nccl-missing" or "nccl-old": the first one's that was
// found, or that none was.
Result<NcclFile> open_nccl(const std::vector<std::string>& files);

}  // namespace parallelarium
