// SPDX-License-Identifier: Apache-2.0
// Finds NCCL's library. Builds without CUDA and NCCL.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/run/gpu/nccl/library/nccl_api.h"
#include "engine/run/net/place.h"

namespace parallelarium {

// The files to try, in this order. If PARALLELARIUM_NCCL names a file, only that one. Otherwise
// libnccl.so.2, which the run path or the system finds; then the files of the wheel nvidia-nccl in
// the packages of the user's Python (python_wheels.h).
std::vector<std::string> nccl_files(const Environment& environment);

struct NcclFile {
  nccl_api::Functions functions;
  int version = 0;   // 22809 is 2.28.9
  std::string path;  // of the loaded library
};
// Loads the first of `files` that has every function and is not too old (check_nccl with one
// communicator); it stays loaded. Error "nccl-missing" or "nccl-old": of the first file that
// exists, or that none does.
Result<NcclFile> open_nccl(const std::vector<std::string>& files);

}  // namespace parallelarium
