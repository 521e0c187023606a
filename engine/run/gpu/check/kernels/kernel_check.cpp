// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/kernels/kernel_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kAlignment = 256, kGuard = 256;
constexpr std::int64_t kMostOfATrial = std::int64_t{16} << 20;  // bytes
constexpr auto kFill = std::byte{0x5A};                         // of guards
constexpr auto kPoll = std::chrono::microseconds{50};

void put(DataType type, std::byte* address, double value) {
  const auto write = [&](auto stored) { std::memcpy(address, &stored, sizeof stored); };
  switch (type) {
    case DataType::kF32:
      return write(static_cast<float>(value));
    case DataType::kBf16:
      return write(round_to_bf16(static_cast<float>(value)));
    case DataType::kF64:
      return write(value);
    case DataType::kI32:
      return write(static_cast<std::int32_t>(value));
    case DataType::kU8:
      return write(static_cast<std::uint8_t>(value));
  }
}

}  // namespace

double number_at(DataType type, const std::byte* address) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, address, sizeof value);
    return value;
  };
  switch (type) {
    case DataType::kF32:
      return read(float{});
    case DataType::kBf16:
      return widen(read(Bf16{}));
    case DataType::kF64:
      return read(double{});
    case DataType::kI32:
      return read(std::int32_t{});
    case DataType::kU8:
      return read(std::uint8_t{});
  }
  return 0;
}

Allowance rounded(DataType type, double roundings) {
  constexpr double kFloat = 4e-5, kHalf = 1.0 / 64;
  return {kFloat + (type == DataType::kBf16 ? roundings * kHalf : 0)};
}

Values Side::operator()(CheckArray operand) const {
  if (operand.index < 0) return {};
  const KernelBench::Array& array = bench_.arrays_[static_cast<std::size_t>(operand.index)];
  return {array.type, base_ + array.offset};
}

struct KernelBench::Gpu {
  std::unique_ptr<Device> device;
  std::byte* memory = nullptr;
  bool gone = false, hangs = false, failed = false;  // failed: in this family
  std::string without = {};
};

KernelBench::KernelBench(int gpus, MakeDevice make_device, Limits limits)
    : make_device_(std::move(make_device)),
      limits_(limits),
      gpus_(static_cast<std::size_t>(gpus)),
      twin_(make_cpu_device()) {
  if (Result<std::byte*> memory = twin_->allocate(kMostOfATrial)) twin_memory_ = *memory;
}

KernelBench::~KernelBench() {
  twin_->release(twin_memory_);
  for (Gpu& gpu : gpus_) {
    if (gpu.device != nullptr) gpu.device->release(gpu.memory);
  }
}

bool KernelBench::start(std::size_t index) {
  Gpu& gpu = gpus_[index];
  if (gpu.gone) return false;
  if (gpu.device != nullptr) return true;
  gpu.device = make_device_(static_cast<int>(index));
  gpu.device->reserve_marks(1);
  const Result<std::byte*> memory = gpu.device->allocate(kMostOfATrial);
  if (memory) {
    gpu.memory = *memory;
    return true;
  }
  gpu.gone = true;
  refuse(index, memory.error());
  return false;
}

void KernelBench::start_family(const Sentence& name, DataType type) {
  family_ = message(name);
  type_ = type;
  shape_.clear();
  for (Gpu& gpu : gpus_) gpu.failed = false;
}

bool KernelBench::out_of_time() const {
  return Clock::now() > limits_.deadline || (limits_.cancel != nullptr && limits_.cancel->load());
}
bool KernelBench::is_gone(int gpu) const { return gpus_[static_cast<std::size_t>(gpu)].gone; }
const std::string& KernelBench::without(int gpu) const {
  return gpus_[static_cast<std::size_t>(gpu)].without;
}
bool KernelBench::hangs(int gpu) const { return gpus_[static_cast<std::size_t>(gpu)].hangs; }

bool KernelBench::begin(std::string shape, int shift) {
  shape_ = fmt::format("{} {}", shape, name_of(type_));
  if (shift != 0)
    shape_ += fmt::format(", {} off", shift == 1 ? "1 element" : std::to_string(shift));
  shift_ = shift;
  arrays_.clear();
  image_.assign(static_cast<std::size_t>(kGuard), kFill);
  if (twin_memory_ == nullptr || out_of_time()) return false;
  return std::any_of(gpus_.begin(), gpus_.end(),
                     [](const Gpu& gpu) { return !gpu.gone && !gpu.failed; });
}

std::uint64_t KernelBench::bits() {
  random_ += 0x9E3779B97F4A7C15ULL;  // splitmix64
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
double KernelBench::unit() {
  return static_cast<double>(bits() >> 47) / 65536.0 - 1;  // 17 bits: exact in float
}

CheckArray KernelBench::place(Array array, bool shifted) {
  const std::int64_t element = size_of(array.type);
  if (array.bytes == 0) array.bytes = ((array.rows - 1) * array.pitch + array.columns) * element;
  const auto end = static_cast<std::int64_t>(image_.size());
  array.offset =
      (end + kAlignment - 1) / kAlignment * kAlignment + (shifted ? shift_ * element : 0);
  image_.resize(static_cast<std::size_t>(array.offset + array.bytes + kGuard), kFill);
  assert(static_cast<std::int64_t>(image_.size()) <= kMostOfATrial);
  arrays_.push_back(std::move(array));
  return {static_cast<int>(arrays_.size()) - 1};
}

CheckArray KernelBench::in(std::string name, DataType type, std::int64_t count,
                           const std::function<double(std::int64_t)>& value) {
  const bool typed = type == DataType::kF32 || type == DataType::kBf16;
  const CheckArray made =
      place({std::move(name), Kind::kInput, type, 0, 1, count, count, 0, {}}, typed);
  std::byte* to = image_at(arrays_.back());
  for (std::int64_t i = 0; i < count; ++i) put(type, to + i * size_of(type), value(i));
  return made;
}
CheckArray KernelBench::random(std::string name, DataType type, std::int64_t count, double size) {
  return in(std::move(name), type, count, [&](std::int64_t) { return size * unit(); });
}
CheckArray KernelBench::whole(std::string name, DataType type, std::int64_t count, int most) {
  const auto values = static_cast<std::uint64_t>(2 * most + 1);
  return in(std::move(name), type, count, [&](std::int64_t) {
    return static_cast<double>(static_cast<std::int64_t>((bits() >> 20) % values) - most);
  });
}
CheckArray KernelBench::ints(std::string name, const std::vector<std::int32_t>& values) {
  return in(std::move(name), DataType::kI32, static_cast<std::int64_t>(values.size()),
            [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
}
CheckArray KernelBench::out(std::string name, DataType type, std::int64_t count, Allowance bound,
                            bool shifted) {
  const CheckArray made =
      place({std::move(name), Kind::kResult, type, 0, 1, count, count, 0, bound}, shifted);
  fill();
  return made;
}
CheckArray KernelBench::rows_out(std::string name, DataType type, std::int64_t rows,
                                 std::int64_t columns, std::int64_t pitch, Allowance bound) {
  // The gap behind the last row is a part of it.
  const CheckArray made = place({std::move(name), Kind::kResult, type, 0, rows, columns, pitch,
                                 rows * pitch * size_of(type), bound},
                                true);
  fill();
  return made;
}
// Of the last array.
void KernelBench::fill() {
  const Array& array = arrays_.back();
  const std::int64_t element = size_of(array.type);
  for (std::int64_t at = 0; at + element <= array.bytes; at += element)
    put(array.type, image_at(array) + at, 7);
}
CheckArray KernelBench::changed(CheckArray operand, Allowance bound) {
  Array& array = arrays_[static_cast<std::size_t>(operand.index)];
  array.kind = Kind::kResult;
  array.bound = bound;
  return operand;
}
CheckArray KernelBench::scratch(std::int64_t bytes) {
  return place({"scratch", Kind::kScratch, DataType::kU8, 0, 1, bytes, bytes, bytes, {}}, false);
}

void KernelBench::fault(std::size_t gpu, Message found, bool refused) {
  gpus_[gpu].failed = true;
  faults_.push_back({static_cast<int>(gpu), family_, shape_, std::move(found), type_, refused});
}

// Where others fill its memory, that is no fault of a GPU.
void KernelBench::refuse(std::size_t gpu, const Message& why) {
  if (why.kind != "memory-short") return fault(gpu, why, true);
  gpus_[gpu].gone = true;
  gpus_[gpu].without = why.text;
}

// Whether the device does not come to the end of what was launched. Asks, since waiting for a
// kernel that never ends cannot be given up.
bool KernelBench::waits_in_vain(Device& device) const {
  device.mark(0);
  const TimePoint limit = Clock::now() + limits_.trial;
  while (!device.passed(0)) {
    if (Clock::now() > limit) return true;
    if (!device.launched()) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return false;
}

void KernelBench::run(const Launch& launch, const std::function<bool(const Device&)>& takes) {
  const auto bytes = static_cast<std::int64_t>(image_.size());
  std::vector<std::size_t> asked;
  for (std::size_t index = 0; index < gpus_.size(); ++index) {
    if (gpus_[index].failed || !start(index)) continue;
    Gpu& gpu = gpus_[index];
    if (takes && !takes(*gpu.device)) continue;
    asked.push_back(index);
    gpu.device->copy_to_device(gpu.memory, image_.data(), bytes);
    launch(*gpu.device, Side(*this, gpu.memory));
  }
  if (asked.empty()) return;
  std::memcpy(twin_memory_, image_.data(), image_.size());
  launch(*twin_, Side(*this, twin_memory_));
  const std::vector<std::byte> twin(twin_memory_, twin_memory_ + bytes);
  for (const std::size_t index : asked) fetch_and_compare(index, twin);
}

void KernelBench::fetch_and_compare(std::size_t index, const std::vector<std::byte>& twin) {
  Gpu& gpu = gpus_[index];
  if (waits_in_vain(*gpu.device)) {
    gpu.gone = gpu.hangs = true;
    static_cast<void>(gpu.device.release());  // its end would wait for the kernel
    return fault(index, message("check-no-end", "does not end within {} s",
                                std::chrono::duration<double>(limits_.trial).count()));
  }
  std::vector<std::byte> seen(image_.size());
  gpu.device->copy_to_host(seen.data(), gpu.memory, static_cast<std::int64_t>(seen.size()));
  if (const Result<void> done = gpu.device->finish(); !done) {
    refuse(index, done.error());
    // What failed sticks to the object, and often to the GPU: the next family shows.
    gpu.device->release(gpu.memory);
    gpu.device.reset();
    gpu.memory = nullptr;
    return;
  }
  if (Message found = first_difference(twin, seen); !found.text.empty())
    fault(index, std::move(found));
}

// Results first: they say more than what lies beside them.
Message KernelBench::first_difference(const std::vector<std::byte>& twin,
                                      const std::vector<std::byte>& seen) {
  std::vector<bool> is_free(twin.size(), false);  // to be what it likes, or compared as a number
  for (const Array& array : arrays_) {
    if (array.kind == Kind::kInput) continue;
    const auto begin = is_free.begin() + array.offset;
    std::fill(begin, begin + array.bytes, true);
    if (array.kind == Kind::kScratch) continue;
    Message found = difference_in(array, twin.data() + array.offset, seen.data() + array.offset);
    if (!found.text.empty()) return found;
  }
  for (std::size_t at = 0; at < twin.size(); ++at) {
    if (is_free[at] || twin[at] == seen[at]) continue;
    const Array* before = nullptr;
    for (const Array& array : arrays_)
      if (array.offset <= static_cast<std::int64_t>(at)) before = &array;
    if (before == nullptr)
      return message("check-before-arrays", "something was written before the first array");
    const std::int64_t from_end = static_cast<std::int64_t>(at) - before->offset - before->bytes;
    return from_end < 0
               ? message("check-input", "{}, which is only read, was changed", before->name)
               : message("check-behind", "byte {} behind {} was written", from_end, before->name);
  }
  return {};
}

Message KernelBench::difference_in(const Array& array, const std::byte* twin,
                                   const std::byte* seen) {
  const std::int64_t size = size_of(array.type);
  const auto each = [&](const auto& visit) {
    for (std::int64_t row = 0; row < array.rows; ++row)
      for (std::int64_t column = 0; column < array.columns; ++column)
        if (!visit(row * array.pitch + column)) return;
  };
  double squares = 0;
  each([&](std::int64_t at) {
    const double value = number_at(array.type, twin + at * size);
    if (std::isfinite(value)) squares += value * value;
    return true;
  });
  const auto count = static_cast<double>(array.rows * array.columns);
  const double typical = std::max(0.05, std::sqrt(squares / std::max(count, 1.0)));
  Message found;
  each([&](std::int64_t at) {
    if (std::memcmp(twin + at * size, seen + at * size, static_cast<std::size_t>(size)) == 0)
      return true;
    const double expected = number_at(array.type, twin + at * size);
    const double value = number_at(array.type, seen + at * size);
    if (expected == value || (std::isnan(expected) && std::isnan(value))) return true;
    const double allowed = array.bound.relative * std::max(std::abs(expected), typical);
    const double apart = std::abs(value - expected);
    if (apart <= allowed) {
      worst_ = std::max(worst_, apart / allowed);
      return true;
    }
    found = message("check-element", "element {} of {} is {} and should be {}", at, array.name,
                    seven_digits(value), seven_digits(expected));
    return false;
  });
  return found;
}

}  // namespace parallelarium
