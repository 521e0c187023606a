// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_launch.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "engine/plan/placement/cores.h"
#include "engine/run/net/socket_transport.h"
#include "engine/run/net/world.h"

namespace parallelarium {

namespace {

// A rank and a thread of NCCL's for it are awake at once.
NcclWait with_spin(NcclWait wait, int ranks) {
  const bool room = available_core_count() >= 2 * ranks;
  if (wait.spin.count() < 0) wait.spin = std::chrono::nanoseconds{room ? 100'000 : 0};
  return wait;
}

}  // namespace

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
                                           std::move(parts.host), unique_id, parts.device,
                                           with_spin(wait, parts.program.world));
  };
}

std::function<std::unique_ptr<Transport>(TransportParts)> nccl_between_processes(Nccl& nccl,
                                                                                 World& world) {
  const auto unique_id = [&nccl, &world]() -> Result<NcclId> {
    NcclId id;
    if (world.leads()) {
      const NcclStatus status = nccl.get_unique_id(id);
      if (status != NcclStatus::kSuccess)
        return nccl_failure(0, status, "making the id of the world", "");
    }
    const Result<std::string> shared = world.share(std::string(id.bytes.data(), id.bytes.size()));
    if (!shared) return shared.error();
    std::copy_n(shared->begin(), std::min(shared->size(), id.bytes.size()), id.bytes.begin());
    return id;
  };
  return [&nccl, &world, unique_id](TransportParts parts) {
    return std::make_unique<NcclTransport>(nccl, parts.program, parts.rank, parts.stop,
                                           make_world_barrier(world), unique_id, parts.device,
                                           with_spin({}, world.place().local_size));
  };
}

}  // namespace parallelarium
