// SPDX-License-Identifier: Apache-2.0
// Our collectives, by steps over NCCL's sends and receives, beside NCCL's own on all GPUs of this
// computer, in one run. Usage: nccl_collectives_bench [most KiB]. Ends with status 77 and the
// reason where there are fewer than two GPUs or no NCCL.
//
// Both are timed alike: a thread for each GPU; after a barrier, from when the last one goes in to
// when the last stream comes out by its events, the median of the repeats.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "engine/run/collective/collective_run.h"
#include "engine/run/gpu/module/module.h"

namespace {

using namespace parallelarium;

constexpr int kSkipped = 77;
constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

int repeats_of(std::int64_t bytes) {
  return static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 30) / bytes, 9, 200));
}

[[noreturn]] void end(const char* doing, const char* why) {
  fmt::print(stderr, "{}: {}\n", doing, why);
  std::exit(1);
}
void need(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) end(doing, cudaGetErrorString(status));
}
void need(ncclResult_t status, const char* doing) {
  if (status != ncclSuccess) end(doing, ncclGetErrorString(status));
}

// One GPU and what NCCL works on there.
struct Gpu {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t base = nullptr, done = nullptr;
  float *array = nullptr, *result = nullptr;
  double in = 0, out = 0;  // of the repeat under way
};

// `bytes`: of the whole array, as ours counts it.
void one_of_nccl(CollectiveKind kind, const Gpu& gpu, std::int64_t bytes, int ranks) {
  const auto count = static_cast<std::size_t>(bytes / 4);
  const std::size_t chunk = count / static_cast<std::size_t>(ranks);
  if (kind == CollectiveKind::kAllReduce) {
    need(ncclAllReduce(gpu.array, gpu.array, count, ncclFloat, ncclSum, gpu.comm, gpu.stream),
         "ncclAllReduce");
  } else if (kind == CollectiveKind::kAllGather) {
    need(ncclAllGather(gpu.array, gpu.result, chunk, ncclFloat, gpu.comm, gpu.stream),
         "ncclAllGather");
  } else if (kind == CollectiveKind::kReduceScatter) {
    need(ncclReduceScatter(gpu.array, gpu.result, chunk, ncclFloat, ncclSum, gpu.comm, gpu.stream),
         "ncclReduceScatter");
  } else {
    need(ncclGroupStart(), "ncclGroupStart");
    for (int peer = 0; peer < ranks; ++peer) {
      const std::size_t at = static_cast<std::size_t>(peer) * chunk;
      need(ncclSend(gpu.array + at, chunk, ncclFloat, peer, gpu.comm, gpu.stream), "ncclSend");
      need(ncclRecv(gpu.result + at, chunk, ncclFloat, peer, gpu.comm, gpu.stream), "ncclRecv");
    }
    need(ncclGroupEnd(), "ncclGroupEnd");
  }
}

double seconds_of_nccl(CollectiveKind kind, std::vector<Gpu>& gpus, std::int64_t bytes) {
  const auto ranks = static_cast<int>(gpus.size());
  std::vector<double> times;
  std::barrier all(ranks);
  const auto rank_thread = [&](int rank) {
    Gpu& gpu = gpus[static_cast<std::size_t>(rank)];
    need(cudaSetDevice(rank), "cudaSetDevice");
    for (int repeat = -5; repeat < repeats_of(bytes); ++repeat) {
      // Ties the stream's clock to the host's, as the engine's devices do: between two looks, the
      // closest of several.
      double base = 0, width = INFINITY;
      for (int look = 0; look < 8; ++look) {
        const double before = now();
        need(cudaEventRecord(gpu.base, gpu.stream), "cudaEventRecord");
        need(cudaEventSynchronize(gpu.base), "cudaEventSynchronize");
        const double after = now();
        base = (before + after) / 2;
        width = std::min(width, after - before);
        if (look >= 4 && after - before <= 2 * width) break;
      }
      all.arrive_and_wait();
      gpu.in = now();
      one_of_nccl(kind, gpu, bytes, ranks);
      need(cudaEventRecord(gpu.done, gpu.stream), "cudaEventRecord");
      need(cudaEventSynchronize(gpu.done), "cudaEventSynchronize");
      float milliseconds = 0;
      need(cudaEventElapsedTime(&milliseconds, gpu.base, gpu.done), "cudaEventElapsedTime");
      gpu.out = base + static_cast<double>(milliseconds) / 1e3;
      all.arrive_and_wait();
      if (rank != 0 || repeat < 0) continue;
      double last_in = 0, last_out = 0;
      for (const Gpu& one : gpus) {
        last_in = std::max(last_in, one.in);
        last_out = std::max(last_out, one.out);
      }
      times.push_back(last_out - last_in);
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(rank_thread, rank);
  for (std::thread& thread : threads) thread.join();
  return median(times);
}

struct Best {
  double seconds = INFINITY;
  std::string algorithm;
};

Best ours(CollectiveKind kind, std::int64_t bytes, const CollectiveRanks& on, int ranks) {
  Best best;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind != kind) continue;
    CollectiveSpec spec;
    spec.kind = kind;
    spec.algorithm = info.name;
    spec.ranks = ranks;
    spec.bytes = bytes;
    const Result<Collective> collective = make_collective(spec);
    if (!collective) continue;
    CollectiveRunOptions options;
    options.warmup = 5;
    options.repeats = repeats_of(bytes);
    options.on = on;
    const Result<CollectiveObservation> seen = run_collective(*collective, options);
    if (!seen || !seen->correct) {
      fmt::print("{} {}: {}\n", name_of(kind), info.name,
                 seen ? "wrong" : seen.error().text.c_str());
      std::exit(1);
    }
    if (seen->seconds < best.seconds) best = {seen->seconds, info.name};
  }
  return best;
}

std::vector<Gpu> connected(int ranks, std::int64_t most) {
  std::vector<Gpu> gpus(static_cast<std::size_t>(ranks));
  std::vector<ncclComm_t> comms(gpus.size());
  need(ncclCommInitAll(comms.data(), ranks, nullptr), "ncclCommInitAll");
  for (int rank = 0; rank < ranks; ++rank) {
    Gpu& gpu = gpus[static_cast<std::size_t>(rank)];
    gpu.comm = comms[static_cast<std::size_t>(rank)];
    need(cudaSetDevice(rank), "cudaSetDevice");
    need(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    need(cudaEventCreate(&gpu.base), "cudaEventCreate");
    need(cudaEventCreate(&gpu.done), "cudaEventCreate");
    for (float** array : {&gpu.array, &gpu.result}) {
      need(cudaMalloc(reinterpret_cast<void**>(array), static_cast<std::size_t>(most)),
           "cudaMalloc");
      need(cudaMemset(*array, 0, static_cast<std::size_t>(most)), "cudaMemset");
    }
  }
  return gpus;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t most = (argc > 1 ? std::atoll(argv[1]) : 65536) * 1024;
  prepare_for_gpus();
  const Result<std::vector<GpuFacts>> found = usable_gpus();
  if (!found) {
    fmt::print("Skipped: {}\n", found.error().text);
    return kSkipped;
  }
  const auto ranks = std::min(static_cast<int>(found->size()), kMostCollectiveRanks);
  if (ranks < 2) {
    fmt::print("Skipped: a collective takes two GPUs or more, and there is one.\n");
    return kSkipped;
  }
  // Before NCCL's first call here: it sets NCCL up for the process.
  RunSettings settings;
  settings.backend = Backend::kCuda;
  Result<BackendChoice> choice = choose_collective_backend(settings, ranks);
  if (!choice) {
    fmt::print("Skipped: {}\n", choice.error().text);
    return kSkipped;
  }
  CollectiveRanks on;
  on.choice = std::move(*choice);
  std::vector<Gpu> gpus = connected(ranks, most);
  int version = 0;
  need(ncclGetVersion(&version), "ncclGetVersion");
  fmt::print("{}; NCCL {}\n\n{:<14} {:>10} {:>12} {:>12} {:>7}  {}\n", on.choice.why.text, version,
             "", "bytes", "ours us", "NCCL us", "ratio", "our best algorithm");
  double logs = 0, worst = 0;
  int rows = 0;
  for (const CollectiveKind kind : kKinds) {
    for (std::int64_t bytes = 4096; bytes <= most; bytes *= 4) {
      const std::int64_t whole = bytes / (4 * ranks) * (4 * ranks);  // equal chunks
      const double theirs = seconds_of_nccl(kind, gpus, whole);
      const Best best = ours(kind, whole, on, ranks);
      const double ratio = best.seconds / theirs;
      fmt::print("{:<14} {:>10} {:>12.2f} {:>12.2f} {:>7.2f}  {}\n", name_of(kind), whole,
                 best.seconds * 1e6, theirs * 1e6, ratio, best.algorithm);
      std::fflush(stdout);
      logs += std::log(ratio);
      worst = std::max(worst, ratio);
      ++rows;
    }
  }
  if (rows > 0) fmt::print("\nGeometric mean {:.2f}, worst {:.2f}\n", std::exp(logs / rows), worst);
  return 0;
}
