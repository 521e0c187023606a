// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/faults.h"

namespace parallelarium {

namespace {

// Numbers of cudaError_t (driver_types.h); they are part of CUDA's binary interface.
enum CudaStatus : int {
  kMemoryAllocation = 2,
  kStubLibrary = 34,
  kInsufficientDriver = 35,
  kDevicesUnavailable = 46,
  kNoDevice = 100,
  kNoKernelImage = 209,
  kUncorrectable = 214,
  kUnsupportedPtx = 222,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kTimeout = 702,
  kLaunchFailure = 719,
  kNotReady = 802,
  kDriverMismatch = 803
};

// The driver that came with each CUDA, the first of its branch; also what it needs at least for
// code that it has to compile itself. Source: CUDA Toolkit release notes, "CUDA Toolkit and
// Corresponding Driver Versions".
struct DriverOf {
  int cuda;
  int branch;
};
constexpr DriverOf kDrivers[] = {{11080, 520}, {12000, 525}, {12010, 530}, {12020, 535},
                                 {12030, 545}, {12040, 550}, {12050, 555}, {12060, 560},
                                 {12080, 570}, {12090, 575}, {13000, 580}, {13010, 590}};

Message driver_text(int branch, int cuda) {
  return branch > 0
             ? message("driver-branch", "driver {} or newer", branch)
             : message("driver-cuda", "a driver for CUDA {} or newer", cuda_version_text(cuda));
}

}  // namespace

int driver_branch(int cuda) {
  for (const DriverOf& row : kDrivers)
    if (row.cuda >= cuda && row.cuda / 1000 == cuda / 1000) return row.branch;
  return 0;
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

namespace {

Message driver_that_compiles(int built_with) {
  return driver_text(driver_branch(built_with), built_with);
}

// All of a major version run with the driver of its first.
// Source: CUDA compatibility guide, "Minor Version Compatibility".
Message driver_that_runs(int built_with) {
  return driver_text(driver_branch(built_with / 1000 * 1000), built_with);
}

}  // namespace

Message driver_missing(int built_with) {
  return message("cuda-missing.driver",
                 "No NVIDIA driver answers; install one for CUDA {} ({}), or choose cpu.",
                 cuda_version_text(built_with), driver_that_runs(built_with));
}

Message cuda_missing(int status, std::string_view words, int driver, int built_with) {
  switch (status) {
    case kInsufficientDriver:
      if (driver == 0) return driver_missing(built_with);
      return message("cuda-missing.driver-old",
                     "The NVIDIA driver is for CUDA {} and this build needs {}; install {}, or "
                     "choose cpu.",
                     cuda_version_text(driver), cuda_version_text(built_with),
                     driver_that_runs(built_with));
    case kUnsupportedPtx:
      return message("cuda-missing.compile",
                     "For this GPU the NVIDIA driver has to compile this build's code and is too "
                     "old for it; install {}, or choose cpu.",
                     driver_that_compiles(built_with));
    case kStubLibrary:
      return message("cuda-missing.stub",
                     "The libcuda.so.1 that was found is a stub for building; put the driver's "
                     "folder first in LD_LIBRARY_PATH.");
    case kNoDevice:
      return message(
          "cuda-missing.none",
          "The NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES, or "
          "choose cpu.");
    case kDevicesUnavailable:
      return message("cuda-missing.taken",
                     "The GPUs are taken by other processes (exclusive mode); end those, or choose "
                     "cpu.");
    case kNotReady:
      return message(
          "cuda-missing.fabric",
          "The GPUs are not ready; on machines with NVSwitch start nvidia-fabricmanager.");
    case kDriverMismatch:
      return message("cuda-missing.mismatch",
                     "Driver and kernel module are of different versions; restart the computer "
                     "after the driver's update.");
    default:
      return message("cuda-missing.start",
                     "CUDA does not start ({}, error {}); nvidia-smi may say more, or choose cpu.",
                     words, status);
  }
}

Message cuda_failure(int status, std::string_view words, std::string_view doing, int built_with) {
  switch (status) {
    case kMemoryAllocation:  // the GPU goes on
      return message("memory-short.gpu",
                     "The GPU ran out of memory in {}; a smaller model, micro-batch or sequence "
                     "needs less.",
                     doing);
    case kNoKernelImage:
      return message("cuda-failed.architecture",
                     "This build has no code for this GPU ({}); add its architecture to "
                     "CMAKE_CUDA_ARCHITECTURES.",
                     doing);
    case kUnsupportedPtx:
      return message("cuda-failed.compile",
                     "For this GPU the NVIDIA driver has to compile this build's code ({}) and is "
                     "too old for it; install {}, or choose cpu.",
                     doing, driver_that_compiles(built_with));
    case kInsufficientDriver:
      return message("cuda-failed.driver",
                     "The NVIDIA driver is too old for this build ({}); install {}, or choose cpu.",
                     doing, driver_text(driver_branch(built_with / 1000 * 1000), built_with));
    case kUncorrectable:
      return message("cuda-failed.uncorrectable",
                     "The GPU's memory had an uncorrectable error in {}; nvidia-smi -q shows it.",
                     doing);
    case kIllegalAddress:
      return message("cuda-failed.address",
                     "A kernel touched memory that is not its own (noticed in {}); this is a fault "
                     "of this program, please report it with the Setup.",
                     doing);
    case kOutOfResources:
      return message(
          "cuda-failed.resources",
          "{} needs more registers or shared memory than this GPU has; another head size "
          "or unfused attention needs less.",
          doing);
    case kTimeout:
      return message(
          "cuda-failed.timeout",
          "The system ended a kernel that took too long (in {}); use a GPU that drives no "
          "display, or smaller sizes.",
          doing);
    case kLaunchFailure:
      return message("cuda-failed.crash",
                     "A kernel crashed on the GPU (noticed in {}); compute-sanitizer names it.",
                     doing);
    default:
      return message("cuda-failed.call", "CUDA failed in {}: {} (error {}).", doing, words, status);
  }
}

Message cublas_failure(int status, std::string_view doing, int rank) {
  constexpr int kArchitecture = 8, kNotSupported = 15;  // part of cuBLAS' binary interface
  if (status == kArchitecture || status == kNotSupported)
    return message("cuda-failed.product",
                   "cuBLASLt has no way to do {} on the GPU of rank {}; GPUs older than Ampere may "
                   "lack products of bf16: choose precision fp32 there.",
                   doing, rank);
  return message("cuda-failed.library", "cuBLASLt failed in {} (status {}) on rank {}.", doing,
                 status, rank);
}

Message gpu_memory_short(std::int64_t bytes, std::int64_t free_bytes) {
  return message(
      "memory-short.rank-gpu",
      "A rank needs {} MB on the GPU and {} MB are free; a smaller model, micro-batch or "
      "sequence needs less.",
      (bytes + 999'999) / 1'000'000, free_bytes / 1'000'000);
}

}  // namespace parallelarium
