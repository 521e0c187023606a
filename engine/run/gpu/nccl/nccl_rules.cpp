// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_rules.h"

#include <algorithm>
#include <array>

#include "engine/run/gpu/faults.h"

namespace parallelarium {

namespace {

constexpr int kHasGroupedAbort = 22200, kHasLaunchOrder = 22600, kHasSharedGpus = 23000;

bool meet(const Group& a, const Group& b) {
  return std::any_of(a.ranks.begin(), a.ranks.end(), [&](int rank) {
    return std::binary_search(b.ranks.begin(), b.ranks.end(), rank);
  });
}

}  // namespace

std::vector<NcclSplit> plan_splits(const Program& program) {
  std::vector<bool> used(program.groups.size(), false);
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) {
      if (op.kind != OpKind::kCompute) used[static_cast<std::size_t>(op.group)] = true;
    }
  }
  std::vector<std::vector<int>> together;  // groups without a common rank
  for (std::size_t i = 0; i < program.groups.size(); ++i) {
    const Group& group = program.groups[i];
    if (!used[i] || group.ranks.size() < 2) continue;
    const auto fits = [&](const std::vector<int>& others) {
      return std::none_of(others.begin(), others.end(), [&](int other) {
        return meet(group, program.groups[static_cast<std::size_t>(other)]);
      });
    };
    auto place = std::find_if(together.begin(), together.end(), fits);
    if (place == together.end()) place = together.emplace(together.end());
    place->push_back(static_cast<int>(i));
  }
  std::vector<NcclSplit> splits;
  for (const std::vector<int>& groups : together) {
    const auto world = static_cast<std::size_t>(program.world);
    NcclSplit& split = splits.emplace_back();
    split.group.assign(world, kNcclNoColor);
    split.key.assign(world, 0);
    for (const int index : groups) {
      const std::vector<int>& ranks = program.groups[static_cast<std::size_t>(index)].ranks;
      for (std::size_t place = 0; place < ranks.size(); ++place) {
        split.group[static_cast<std::size_t>(ranks[place])] = index;
        split.key[static_cast<std::size_t>(ranks[place])] = static_cast<int>(place);
      }
    }
  }
  return splits;
}

std::vector<std::int32_t> issue_turns(const RankProgram& rank) {
  std::vector<std::int32_t> turns(rank.ops.size(), -1);
  // Ops of a batch follow each other in their lane.
  std::array<std::int32_t, kLanes> batch{}, turn{};
  batch.fill(-1);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    const Op& op = rank.ops[i];
    if (op.kind == OpKind::kCompute) continue;
    const auto lane = static_cast<std::size_t>(op.lane);
    const bool joins = op.batch >= 0 && op.batch == batch[lane];
    if (!joins) turn[lane] = next++;
    batch[lane] = op.batch;
    turns[i] = turn[lane];
  }
  return turns;
}

Result<void> check_nccl(int version, int communicators) {
  if (version < kHasGroupedAbort) {
    return message("nccl-old.abort",
                   "NCCL {} is too old to end all communicators of a rank at once; install 2.26 or "
                   "newer.",
                   nccl_version_text(version));
  }
  if (communicators > 1 && version < kHasLaunchOrder) {
    return message("nccl-old.groups",
                   "NCCL {} does not order the operations of several groups on one GPU; install "
                   "2.26 or newer, or use one axis of parallelism.",
                   nccl_version_text(version));
  }
  return {};
}

bool runs_groups_at_once(int driver) {
  constexpr int kHasLaunchEvents = 12030;
  return driver == 0 || driver >= kHasLaunchEvents;
}

Result<Source> source_of_processes(const std::vector<std::string>& gpus, int version,
                                   const Environment& environment) {
  for (std::size_t second = 1; second < gpus.size(); ++second) {
    const auto end = gpus.begin() + static_cast<std::ptrdiff_t>(second);
    const auto first = std::find(gpus.begin(), end, gpus[second]);
    if (first == end || gpus[second].empty()) continue;
    const std::string allowed = environment("NCCL_MULTI_RANK_GPU_ENABLE").value_or("0");
    if ((version >= kHasSharedGpus && allowed != "0") || environment("NCCL_HOSTID"))
      return Source::kSharedGpu;
    const auto first_rank = first - gpus.begin();
    if (version >= kHasSharedGpus)
      return message("gpu-twice.allowable",
                     "Ranks {} and {} took the same GPU, {}, which NCCL {} allows only with "
                     "NCCL_MULTI_RANK_GPU_ENABLE=1; give every process a GPU of its own, or start "
                     "one process for all ranks.",
                     first_rank, second, gpus[second], nccl_version_text(version));
    return message(
        "gpu-twice",
        "Ranks {} and {} took the same GPU, {}, which NCCL {} does not allow; give every "
        "process a GPU of its own, or start one process for all ranks.",
        first_rank, second, gpus[second], nccl_version_text(version));
  }
  return Source::kMeasured;
}

std::string nccl_version_text(int version) {
  // Up to 2.8 a version was 1000 major + 100 minor + patch.
  const int unit = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / unit, version % unit / 100, version % 100);
}

std::string nccl_text(int version, int driver, std::size_t communicators) {
  std::string text = "NCCL " + nccl_version_text(version);
  if (communicators > 1 && !runs_groups_at_once(driver))
    text += fmt::format(", groups one after another (the driver is for CUDA {}, below 12.3)",
                        cuda_version_text(driver));
  return text;
}

Message nccl_failure(int rank, NcclStatus status, std::string_view doing, std::string_view last) {
  const std::string said = last.empty() ? "" : fmt::format(" NCCL says: {}.", last);
  switch (status) {
    case NcclStatus::kUnhandledCudaError:
      return message("nccl-failed.cuda",
                     "NCCL met a CUDA error on rank {} in {}; NCCL_DEBUG=WARN names it, and "
                     "`parallelarium-engine devices` shows what is missing.{}",
                     rank, doing, said);
    case NcclStatus::kSystemError:
      return message("nccl-failed.system",
                     "The system refused NCCL on rank {} something in {}, mostly shared memory or "
                     "a connection; in a container give --shm-size=1g --ulimit memlock=-1.{}",
                     rank, doing, said);
    case NcclStatus::kRemoteError:
      return message("nccl-failed.connection",
                     "NCCL lost the connection of rank {} to another rank in {}; that rank or its "
                     "network failed first.{}",
                     rank, doing, said);
    case NcclStatus::kInvalidArgument:
    case NcclStatus::kInvalidUsage:
      return message("nccl-failed.usage",
                     "NCCL refused how rank {} called it in {}; two ranks of one communicator on "
                     "one GPU are such a case, as where CUDA_VISIBLE_DEVICES names the same one to "
                     "two processes, and any other is a fault of this program.{}",
                     rank, doing, said);
    default:
      return message("nccl-failed.status",
                     "NCCL failed on rank {} in {} (status {}); NCCL_DEBUG=WARN says more.{}", rank,
                     doing, static_cast<int>(status), said);
  }
}

Message nccl_timeout(int rank, std::string_view doing, double seconds) {
  return message("nccl-timeout",
                 "NCCL did not finish {} on rank {} within {} s; another rank did not come, or "
                 "the network between them is closed.",
                 doing, rank, fmt::format("{:.3g}", seconds));
}

}  // namespace parallelarium
