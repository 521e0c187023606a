// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl_threads.h"

#include <mutex>
#include <optional>

namespace parallelarium {

std::function<std::unique_ptr<Transport>(TransportParts)> nccl_between_threads(Nccl& nccl,
                                                                               NcclWait wait) {
  // The first rank that asks makes the id of all.
  struct OneId {
    std::once_flag once;
    std::optional<Result<NcclId>> id;
  };
  auto shared = std::make_shared<OneId>();
  const auto unique_id = [&nccl, shared]() -> Result<NcclId> {
    std::call_once(shared->once, [&] {
      NcclId id;
      const NcclStatus status = nccl.get_unique_id(id);
      if (status == NcclStatus::kSuccess)
        shared->id = id;
      else
        shared->id = nccl_failure(0, status, "making the id of the world", "");
    });
    return *shared->id;
  };
  return [&nccl, unique_id, wait](TransportParts parts) {
    return std::make_unique<NcclTransport>(nccl, parts.program, parts.rank, parts.stop,
                                           std::move(parts.host), unique_id, parts.device, wait);
  };
}

}  // namespace parallelarium
