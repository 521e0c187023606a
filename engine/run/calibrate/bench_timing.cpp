// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/bench_timing.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "engine/run/stop.h"
#include "kernels/bf16_kernels.h"

namespace parallelarium {

using std::chrono::nanoseconds;

double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

namespace {

constexpr double kTick = 1e-9;  // no call takes less, whatever a coarse clock says

// Keeps a device busy while its host launches what is measured behind it.
class Lead {
 public:
  explicit Lead(Device& device) : device_(device) {
    if (const Result<std::byte*> address = device.allocate(kMost)) address_ = *address;
  }
  ~Lead() { device_.release(address_); }
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;

  // Launches some `seconds` of work, in launches that are few beside their work.
  void play(double seconds) {
    if (address_ == nullptr) return;
    while (each_ < kEach && bytes_ < kMost) {
      bytes_ *= 4;
      device_.zero(address_, bytes_);
      device_.mark(0);
      device_.zero(address_, bytes_);
      device_.mark(1);
      if (!device_.finish()) return;
      const auto begin = device_.time_of(0), end = device_.time_of(1);
      if (!begin || !end) return;
      each_ = std::chrono::duration<double>(*end - *begin).count();
    }
    for (double done = 0; done < seconds; done += std::max(each_, kTick * 1000))
      device_.zero(address_, bytes_);
  }

 private:
  static constexpr std::int64_t kMost = 64 << 20;
  static constexpr double kEach = 15e-6;
  Device& device_;
  std::byte* address_ = nullptr;
  std::int64_t bytes_ = 1 << 18;
  double each_ = 0;
};

// Seconds of one call on a device that runs behind, from samples of some 200 microseconds: launches
// go on while it works. A call goes ahead of the first mark, so that what an idle device needs to
// begin is not counted; of long calls that is nothing, and one of them is enough. Calls that are
// shorter than their launch wait behind other work until all are launched, as in a step whose host
// is ahead; so a host never waits while it launches them.
CallTime time_between_marks(Device& device, const std::function<void()>& work) {
  constexpr int kSamples = 5;
  constexpr double kSample = 200e-6, kLong = 20e-3;
  constexpr double kHeavy = 100e-6, kHeavySample = 10e-3;  // under much work clocks fall
  constexpr double kShort = 30e-6, kLaunch = 6e-6;         // with room for slow hosts
  device.reserve_marks(2);
  std::optional<Lead> lead;
  constexpr CallTime kFailed{std::numeric_limits<double>::infinity(), 0};
  const auto sample = [&](int ahead, int calls) -> CallTime {
    if (lead) lead->play((ahead + calls) * kLaunch);
    for (int i = 0; i < ahead; ++i) work();
    device.mark(0);
    const TimePoint launch = Clock::now();
    for (int i = 0; i < calls; ++i) work();
    const std::chrono::duration<double> launched = Clock::now() - launch;
    device.mark(1);
    if (!device.finish()) return kFailed;
    const auto begin = device.time_of(0), end = device.time_of(1);
    if (!begin || !end) return kFailed;
    return {std::chrono::duration<double>(*end - *begin).count() / calls, launched.count() / calls};
  };
  if (!device.align()) return kFailed;
  const double first = sample(0, 1).seconds;  // the library looks for its way to do it
  const CallTime once = sample(first < kLong ? 1 : 0, 1);
  if (once.seconds > kLong) return once;
  const double sample_seconds = once.seconds > kHeavy ? kHeavySample : kSample;
  const int calls =
      std::clamp(static_cast<int>(sample_seconds / std::max(once.seconds, kTick)), 1, 100);
  if (once.seconds < kShort) lead.emplace(device);
  std::vector<double> samples, hosts;
  for (int i = 0; i < kSamples; ++i) {
    const CallTime time = sample(1, calls);
    samples.push_back(time.seconds);
    hosts.push_back(time.host_seconds);
  }
  // Hosts have bursts of other work, which a device does not know.
  std::sort(hosts.begin(), hosts.end());
  return {median(samples), hosts[hosts.size() / 4]};
}

constexpr std::int64_t kMade = 1 << 20;  // more than a processor learns the pattern of

// As many small and different numbers.
const void* small_numbers(DataType type) {
  static const std::vector<float> floats = [] {
    std::vector<float> values(kMade);
    std::uint32_t random = 1;
    for (float& value : values) {
      random = random * 1'664'525 + 1'013'904'223;
      value = 0.01F * static_cast<float>(static_cast<int>(random >> 16) % 97 - 48);
    }
    return values;
  }();
  static const std::vector<Bf16> halves = [] {
    std::vector<Bf16> values(kMade);
    cast_cpu(values.data(), floats.data(), values.size());
    return values;
  }();
  return type == DataType::kBf16 ? static_cast<const void*>(halves.data()) : floats.data();
}

}  // namespace

DeviceNumbers::DeviceNumbers(Device& device, DataType type, std::int64_t count,
                             std::int64_t together)
    : device_(device), type_(type), count_(std::max(count, together / size_of(type))) {
  // On a GPU the last place is as large.
  if (device.runs_behind()) count_ = (count_ + count - 1) / count * count;
  Result<std::byte*> address = device.allocate(count_ * size_of(type));
  if (!address && count_ > count) {
    count_ = count;
    address = device.allocate(count_ * size_of(type));
  }
  if (!address) return;
  address_ = *address;
  // To make all of them would take longer than to measure with them: the first million is copied
  // behind itself.
  const std::int64_t made = std::min(count_, kMade);
  device.copy_to_device(address_, small_numbers(type), made * size_of(type));
  for (std::int64_t done = made; done < count_; done *= 2)
    device.copy(address_ + done * size_of(type), address_,
                std::min(done, count_ - done) * size_of(type));
  static_cast<void>(device.finish());
}

Interlude::Interlude(Device& device, DataType type)
    : device_(device),
      x_(device, type, kTokens * kInputs),
      weight_(device, type, kOutputs * kInputs),
      y_(device, type, kTokens * kOutputs) {}

void Interlude::play() const {
  device_.linear_forward(y_.get(), x_.get(), weight_.get(), nullptr, kTokens, kOutputs, kInputs);
  device_.gelu_forward(y_.get(), y_.get() + kHalf, kHalf);
}

CallTime typical_time(Device& device, const std::function<void()>& work, nanoseconds least,
                      const Interlude* interlude) {
  if (device.runs_behind()) return time_between_marks(device, work);
  const auto sample = [&] {
    if (interlude != nullptr) interlude->play();
    const TimePoint begin = Clock::now();
    work();
    const std::chrono::duration<double> taken = Clock::now() - begin;
    return std::max(taken.count(), kTick);
  };
  const double first = sample();  // the library looks for its way to do it
  std::vector<double> samples;
  const TimePoint end = Clock::now() + least;
  do samples.push_back(sample());
  while (Clock::now() < end);
  if (samples.size() > 1) return {median(samples)};  // as of the steps it will be compared with
  // One call alone may be long because other work had the core meanwhile.
  return {std::min(first, samples[0])};
}

}  // namespace parallelarium
