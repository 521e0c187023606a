// SPDX-License-Identifier: Apache-2.0
// Compares every kernel family of a GPU with its CPU twin (make_cpu_device()), at shapes that are
// awkward for vector loads, tiles and warps: 1, odd sizes, addresses off 16 bytes, rows with gaps.
//
// A trial puts the operands of a few launches into one stretch of memory, the same on the CPU and
// on every GPU. It runs the same launches on each and compares all bytes of the stretch: results
// within a bound, everything else to the bit. So it also finds a kernel that writes beside its
// arrays.
//
// To add a family, write a function of KernelBench and list it in kernel_families(). A test fails
// if a launch of Device is in no family (tests/cuda/check/kernel_check_test.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"
#include "engine/run/stop.h"
#include "engine/train/device.h"

namespace parallelarium {

// A wrong result of one GPU.
struct KernelFault {
  int gpu = 0;  // index in the bench's GPUs
  Message family;
  std::string shape;
  Message found;  // "element 5 of y is 0.25 and should be 0.5"
  DataType type = DataType::kF32;
  bool refused = false;  // nothing was computed; the device said why
};

// The value of this type at an address in host memory, aligned or not.
double number_at(DataType type, const std::byte* address);

// An array of a trial, by its index in the list.
struct CheckArray {
  int index = -1;
};

// How far a result may be from the twin's: |a - b| <= relative * max(|b|, the array's root mean
// square, 0.05). Inputs of sums and moves are small whole numbers, so their results are exact.
struct Allowance {
  double relative = 0;
};
inline constexpr Allowance kExact{};
// For fp32 sums of a few hundred terms, with this many roundings to the storage type on the way.
Allowance rounded(DataType type, double roundings = 1);

class KernelBench;

// The operands' addresses on one device.
class Side {
 public:
  Side(const KernelBench& bench, std::byte* base) : bench_(bench), base_(base) {}
  Values operator()(CheckArray operand) const;
  std::byte* bytes(CheckArray operand) const { return (*this)(operand).address(); }
  float* floats(CheckArray operand) const { return reinterpret_cast<float*>(bytes(operand)); }
  double* doubles(CheckArray operand) const { return reinterpret_cast<double*>(bytes(operand)); }
  std::int32_t* ints(CheckArray operand) const {
    return reinterpret_cast<std::int32_t*>(bytes(operand));
  }
  std::uint8_t* mask(CheckArray operand) const {
    return reinterpret_cast<std::uint8_t*>(bytes(operand));
  }

 private:
  const KernelBench& bench_;
  std::byte* base_;
};

class KernelBench {
 public:
  using MakeDevice = std::function<std::unique_ptr<Device>(int gpu)>;
  struct Limits {
    TimePoint deadline = TimePoint::max();
    std::chrono::nanoseconds trial{5'000'000'000};  // after this a GPU counts as hung
    const std::atomic<bool>* cancel = nullptr;
  };
  // The bench makes devices and lends them to trials. A device that hangs is never given back,
  // since ending it would wait for it.
  KernelBench(int gpus, MakeDevice make_device, Limits limits);
  ~KernelBench();
  KernelBench(const KernelBench&) = delete;
  KernelBench& operator=(const KernelBench&) = delete;

  // For a family: the storage type of its numbers, and the begin of the next trial. `shift`:
  // elements by which the addresses of the typed operands that follow are off a multiple of 256
  // bytes. False: there is no time left, or no GPU.
  DataType type() const { return type_; }
  bool begin(std::string shape, int shift = 0);

  // Adds an input. Numbers are rounded to the storage type first.
  CheckArray in(std::string name, DataType type, std::int64_t count,
                const std::function<double(std::int64_t)>& value);
  CheckArray random(std::string name, DataType type, std::int64_t count, double size = 1);
  CheckArray whole(std::string name, DataType type, std::int64_t count, int most = 1);
  CheckArray ints(std::string name, const std::vector<std::int32_t>& values);
  // Adds a result; before the launch it is 7 everywhere. If rows are `pitch` apart, only their
  // columns count. `shifted`: it is shifted like typed operands.
  CheckArray out(std::string name, DataType type, std::int64_t count, Allowance bound = kExact,
                 bool shifted = true);
  CheckArray rows_out(std::string name, DataType type, std::int64_t rows, std::int64_t columns,
                      std::int64_t pitch, Allowance bound = kExact);
  // Says that launches change this input.
  CheckArray changed(CheckArray operand, Allowance bound = kExact);
  // Adds an array whose contents do not matter.
  CheckArray scratch(std::int64_t bytes);

  // Runs the launches on the CPU and on every GPU that takes them, and compares. Call it once for
  // each begin().
  using Launch = std::function<void(Device& device, const Side& at)>;
  void run(const Launch& launch, const std::function<bool(const Device&)>& takes = {});

  // A number in [-1, 1). No two trials have the same sequence, but every check has the same
  // sequences.
  double unit();
  std::uint64_t bits();

  // These serve the check as a whole.
  void start_family(const Sentence& name, DataType type);
  bool out_of_time() const;
  const std::vector<KernelFault>& faults() const { return faults_; }
  // Whether a GPU is not asked any more, because it hung or does not answer after an error.
  bool is_gone(int gpu) const;
  bool hangs(int gpu) const;
  // Why it could not be checked, such as that its memory is full; empty otherwise.
  const std::string& without(int gpu) const;
  // The largest share of its bound that a result used. It helps to set bounds.
  double worst() const { return worst_; }

 private:
  friend class Side;
  enum class Kind : std::uint8_t { kInput, kResult, kScratch };
  struct Array {
    std::string name;
    Kind kind = Kind::kInput;
    DataType type = DataType::kF32;
    std::int64_t offset = 0, rows = 1, columns = 0, pitch = 0, bytes = 0;
    Allowance bound;
  };
  struct Gpu;
  CheckArray place(Array array, bool shifted);
  void fill();
  std::byte* image_at(const Array& array) { return image_.data() + array.offset; }
  void fetch_and_compare(std::size_t gpu, const std::vector<std::byte>& twin);
  // Empty: there is no difference.
  Message first_difference(const std::vector<std::byte>& twin, const std::vector<std::byte>& seen);
  Message difference_in(const Array& array, const std::byte* twin, const std::byte* seen);
  void fault(std::size_t gpu, Message found, bool refused = false);
  void refuse(std::size_t gpu, const Message& why);
  bool start(std::size_t gpu);
  bool waits_in_vain(Device& device) const;

  const MakeDevice make_device_;
  const Limits limits_;
  std::vector<Gpu> gpus_;
  std::unique_ptr<Device> twin_;
  std::byte* twin_memory_ = nullptr;
  Message family_;
  std::string shape_;
  DataType type_ = DataType::kF32;
  int shift_ = 0;
  std::vector<Array> arrays_;
  std::vector<std::byte> image_;  // the trial's memory before it runs
  std::uint64_t random_ = 1;
  double worst_ = 0;
  std::vector<KernelFault> faults_;
};

// A family: a name that people know, and its trials in the bench's type.
struct KernelFamily {
  Sentence name;
  void (*check)(KernelBench& on);
  bool half = true;  // also in bf16
};
std::span<const KernelFamily> kernel_families();

}  // namespace parallelarium
