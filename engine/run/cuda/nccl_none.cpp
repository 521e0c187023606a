// SPDX-License-Identifier: Apache-2.0
// Where no nccl.h was found when this was built; see nccl_library.cpp for its twin.
#include "engine/run/cuda/nccl_library.h"

namespace parallelarium {

Result<Nccl*> load_nccl() {
  return message(
      "nccl-missing",
      "This build has no NCCL, which ranks on several GPUs need; build it where nccl.h is "
      "found, or use --devices 0 to put all ranks on one GPU.");
}

}  // namespace parallelarium
