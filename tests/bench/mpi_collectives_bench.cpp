// SPDX-License-Identifier: Apache-2.0
// Our collectives beside Open MPI's on two ranks of this computer, in one run, and the transport
// beside memcpy. Usage: mpirun -n 2 --allow-run-as-root mpi_collectives_bench [most KiB]
//
// Both are timed alike: after a barrier, from when the last rank goes in to when the last comes
// out, the median of the repeats. Ours run as two threads of rank 0 while rank 1 sleeps.
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/run/collective/collective_run.h"

namespace {

using namespace parallelarium;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

int repeats_of(std::int64_t bytes) {
  return static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 28) / bytes, 9, 400));
}

void one_of_mpi(CollectiveKind kind, std::vector<float>& array, std::vector<float>& result) {
  const auto count = static_cast<int>(array.size());
  if (kind == CollectiveKind::kAllReduce) {
    MPI_Allreduce(MPI_IN_PLACE, array.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (kind == CollectiveKind::kAllGather) {
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_FLOAT, array.data(), count / 2, MPI_FLOAT, MPI_COMM_WORLD);
  } else {
    MPI_Alltoall(array.data(), count / 2, MPI_FLOAT, result.data(), count / 2, MPI_FLOAT,
                 MPI_COMM_WORLD);
  }
}

double seconds_of_mpi(CollectiveKind kind, std::int64_t bytes) {
  std::vector<float> array(static_cast<std::size_t>(bytes) / 4, 0.0F), result(array.size());
  std::vector<double> times;
  for (int repeat = -5; repeat < repeats_of(bytes); ++repeat) {
    MPI_Barrier(MPI_COMM_WORLD);
    double in = now();
    one_of_mpi(kind, array, result);
    double out = now(), last_in = 0, last_out = 0;
    MPI_Reduce(&in, &last_in, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&out, &last_out, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (repeat >= 0) times.push_back(last_out - last_in);
  }
  return median(times);
}

struct Best {
  double seconds = INFINITY;
  std::string algorithm;
};

Best ours(CollectiveKind kind, std::int64_t bytes) {
  Best best;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind != kind) continue;
    CollectiveSpec spec;
    spec.kind = kind;
    spec.algorithm = info.name;
    spec.ranks = 2;
    spec.bytes = bytes;
    const Result<Collective> collective = make_collective(spec);
    if (!collective) continue;
    CollectiveRunOptions options;
    options.warmup = 5;
    options.repeats = repeats_of(bytes);
    const Result<CollectiveObservation> seen = run_collective(*collective, options);
    if (!seen || !seen->correct) {
      fmt::print("{} {}: wrong\n", name_of(kind), info.name);
      continue;
    }
    if (seen->seconds < best.seconds) best = {seen->seconds, info.name};
  }
  return best;
}

// Rank 1 sleeps while rank 0 works, so that both cores are free for its threads.
void wait_for_rank_0() {
  int arrived = 0;
  while (arrived == 0) {
    MPI_Iprobe(0, 7, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    usleep(500);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void print_transport() {
  const std::int64_t bytes = std::int64_t{64} << 20;
  std::vector<char> from(static_cast<std::size_t>(bytes), 1), to(from.size(), 2);
  std::vector<double> copies;
  for (int repeat = 0; repeat < 11; ++repeat) {
    const double begin = now();
    std::memcpy(to.data(), from.data(), from.size());
    copies.push_back(now() - begin);
  }
  CollectiveSpec spec;
  spec.kind = CollectiveKind::kBroadcast;
  spec.algorithm = "direct";
  spec.ranks = 2;
  spec.bytes = bytes;
  CollectiveRunOptions options;
  options.repeats = 11;
  const Result<CollectiveObservation> seen = run_collective(*make_collective(spec), options);
  if (!seen) return;
  const double size = static_cast<double>(bytes) / 1e9;
  fmt::print(
      "\nTransport, one message of 64 MiB: {:.2f} GB/s; memcpy by one core {:.2f} GB/s: {:.0f} %\n",
      size / seen->seconds, size / median(copies), 100 * median(copies) / seen->seconds);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fmt::print(stderr, "Start it with mpirun -n 2.\n");
    MPI_Finalize();
    return 2;
  }
  const std::int64_t most = (argc > 1 ? std::atoll(argv[1]) : 65536) * 1024;
  double logs = 0, worst = 0;
  int rows = 0;
  if (rank == 0)
    fmt::print("{:<12} {:>10} {:>12} {:>12} {:>7}  {}\n", "", "bytes", "ours us", "Open MPI us",
               "ratio", "our best algorithm");
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
    for (std::int64_t bytes = 4096; bytes <= most; bytes *= 4) {
      const double theirs = seconds_of_mpi(kind, bytes);
      if (rank == 1) {
        wait_for_rank_0();
        continue;
      }
      // mpirun may have bound this process to one core.
      cpu_set_t bound, all;
      sched_getaffinity(0, sizeof bound, &bound);
      CPU_ZERO(&all);
      for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
      sched_setaffinity(0, sizeof all, &all);
      const Best best = ours(kind, bytes);
      sched_setaffinity(0, sizeof bound, &bound);
      MPI_Send(nullptr, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
      const double ratio = best.seconds / theirs;
      fmt::print("{:<12} {:>10} {:>12.2f} {:>12.2f} {:>7.2f}  {}\n", name_of(kind), bytes,
                 best.seconds * 1e6, theirs * 1e6, ratio, best.algorithm);
      std::fflush(stdout);
      logs += std::log(ratio);
      worst = std::max(worst, ratio);
      ++rows;
    }
  }
  if (rank == 0) {
    fmt::print("\nGeometric mean {:.2f}, worst {:.2f}\n", std::exp(logs / rows), worst);
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
    sched_setaffinity(0, sizeof all, &all);
    print_transport();
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
  } else {
    wait_for_rank_0();
  }
  MPI_Finalize();
  return 0;
}
