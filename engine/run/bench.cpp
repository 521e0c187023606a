// SPDX-License-Identifier: Apache-2.0
#include "engine/run/bench.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

#include "engine/plan/kernels_of_pieces.h"

namespace parallelarium {

namespace {

using std::chrono::nanoseconds;
constexpr std::int64_t kVocabulary = 256;  // bytes

// Device memory for one measurement: floats that are small and not all alike. In a step an op finds
// some of its operands in the nearest cache and some not, so successive calls get different copies,
// which together are larger than that cache.
class Floats {
 public:
  Floats(Device& device, std::int64_t count) : device_(device), count_(count) {
    constexpr std::int64_t kTogether = 1 << 20;  // floats: 4 MiB
    copies_ = std::clamp<std::int64_t>(kTogether / std::max<std::int64_t>(count, 1), 1, 8);
    const std::int64_t bytes = copies_ * count * 4;
    Result<std::byte*> address = device.allocate(bytes);
    if (!address) return;
    address_ = *address;
    std::vector<float> values(static_cast<std::size_t>(copies_ * count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 0.01F * static_cast<float>(static_cast<int>(i % 97) - 48);
    }
    device.copy_to_device(address_, values.data(), bytes);
    static_cast<void>(device.finish());
  }
  ~Floats() { device_.release(address_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  // The first copy.
  float* get() const { return reinterpret_cast<float*>(address_); }
  // The next copy in turn.
  float* next() const {
    turn_ = turn_ + 1 < copies_ ? turn_ + 1 : 0;
    return get() + turn_ * count_;
  }

 private:
  Device& device_;
  std::byte* address_ = nullptr;
  std::int64_t count_ = 0, copies_ = 1;
  mutable std::int64_t turn_ = 0;
};

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// Seconds of one call on a device that runs behind, from samples of some 200 microseconds: launches
// go on while it works. Infinity where it fails, so that nothing is concluded from it.
double seconds_between_marks(Device& device, const std::function<void()>& work) {
  constexpr int kSamples = 5;
  device.reserve_marks(2);
  const auto sample = [&](int calls) {
    device.mark(0);
    for (int i = 0; i < calls; ++i) work();
    device.mark(1);
    if (!device.finish()) return std::numeric_limits<double>::infinity();
    const auto begin = device.time_of(0), end = device.time_of(1);
    if (!begin || !end) return std::numeric_limits<double>::infinity();
    return std::chrono::duration<double>(*end - *begin).count() / calls;
  };
  if (!device.align()) return std::numeric_limits<double>::infinity();
  sample(1);  // the library looks for its way to do it
  const double once = sample(1);
  const int calls = std::clamp(static_cast<int>(200e-6 / std::max(once, 1e-9)), 1, 100);
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(sample(calls));
  return median(samples);
}

// Seconds of one call, from samples of at least 20 microseconds, so that reading the clock costs
// nothing.
double typical_seconds(Device& device, const std::function<void()>& work, nanoseconds least) {
  if (device.runs_behind()) return seconds_between_marks(device, work);
  work();
  TimePoint begin = Clock::now();
  work();
  const double once = std::chrono::duration<double>(Clock::now() - begin).count();
  const int calls = std::clamp(static_cast<int>(20e-6 / std::max(once, 1e-9)), 1, 1000);
  std::vector<double> samples;
  const TimePoint end = Clock::now() + least;
  while (samples.size() < 3 || Clock::now() < end) {
    begin = Clock::now();
    for (int i = 0; i < calls; ++i) work();
    samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count() / calls);
  }
  return median(samples);  // as of the steps that it will be compared with
}

constexpr nanoseconds kLeast = std::chrono::microseconds{1200};

}  // namespace

// A square linear layer of some 10^5 FLOPs takes microseconds, one of 10^9 tens of milliseconds.
BenchSizes cpu_bench_sizes() {
  return {{{32, {64, 128, 256}},
           {64, {64, 128, 256, 512}},
           {128, {64, 128, 256, 512}},
           {256, {128, 256, 512}},
           {512, {128, 256}},
           {1024, {128}}},
          {{128, 64, 4}, {128, 128, 4}, {256, 256, 8}},
          32'000'000};
}
// From the lessons' models to layers that fill a GPU; a copy larger than any second-level cache.
BenchSizes gpu_bench_sizes() {
  return {
      {{64, {128, 512}}, {256, {512}}, {768, {1024, 4096}}, {1024, {2048}}, {2048, {2048, 4096}}},
      {{512, 768, 12}, {1024, 1024, 16}, {2048, 1024, 16}},
      512'000'000};
}

std::vector<ProductTime> measure_products(Device& device, const BenchSizes& sizes,
                                          TimePoint deadline, const Stop& stop) {
  std::vector<ProductTime> times;
  for (const BenchSizes::Width& width : sizes.widths) {
    const std::int64_t C = width.hidden;
    const std::int64_t most = 4 * C * std::max<std::int64_t>(width.tokens.back(), C);
    const Floats a(device, std::max(most, kVocabulary * width.tokens.back())),
        b(device, std::max(4 * C * C, kVocabulary * C)),
        c(device, std::max(most, kVocabulary * width.tokens.back()));
    const Floats bias(device, std::max(4 * C, kVocabulary));  // as in the models
    for (const std::int64_t N : width.tokens) {
      const std::pair<std::int64_t, std::int64_t> layers[] = {
          {3 * C, C}, {C, C}, {4 * C, C}, {C, 4 * C}, {kVocabulary, C}};
      for (const auto& [M, K] : layers) {  // outputs, inputs
        if (stop.raised() || Clock::now() > deadline) return times;
        const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k,
                                 const std::function<void()>& work) {
          times.push_back({m, n, k, typical_seconds(device, work, kLeast)});
        };
        product(N, M, K, [&, M = M, K = K] {
          device.linear_forward(c.next(), a.next(), b.next(), bias.get(), N, M, K);
        });
        product(N, K, M, [&, M = M, K = K] {
          device.linear_input_grad(c.next(), a.next(), b.next(), N, M, K);
        });
        product(M, K, N, [&, M = M, K = K] {
          device.linear_weight_grad(b.next(), bias.get(), a.next(), c.next(), N, M, K);
        });
      }
    }
  }
  return times;
}

std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop) {
  std::vector<KernelTime> times;
  for (const auto& [T, C, H] : sizes.sequences) {
    const std::int64_t N = T, F = 4 * C, V = kVocabulary, A = 3 * C, scores = H * T * T;
    const Floats x(device, N * std::max(F, V)), y(device, N * std::max(F, V)),
        z(device, N * std::max(F, V)), stats(device, 3 * N), row(device, std::max(F, V)),
        qkv(device, N * A), dqkv(device, N * A), probabilities(device, scores),
        scratch(device, T * T), table(device, std::max(V, T) * C), tokens_memory(device, N + 4);
    auto* tokens = reinterpret_cast<std::int32_t*>(tokens_memory.get());
    std::vector<std::int32_t> ids(static_cast<std::size_t>(N));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 256);
    device.copy_to_device(
        tokens_memory.get() == nullptr ? nullptr : reinterpret_cast<std::byte*>(tokens), ids.data(),
        N * 4);
    const Floats sums(device, 8);
    auto* sum = reinterpret_cast<double*>(sums.get());
    const auto kernel = [&](const char* name, std::int64_t elements,
                            const std::function<void()>& work) {
      if (stop.raised()) return;
      times.push_back({name, static_cast<double>(elements), typical_seconds(device, work, kLeast)});
    };
    const AttentionShape shape{1, T, H, H, C / H};
    float* s = stats.get();
    kernel("norm", N * C,
           [&] { device.layer_norm_forward(y.next(), s, x.next(), row.get(), row.get(), N, C); });
    kernel("norm_grad", 2 * N * C, [&] {
      device.layer_norm_input_grad(z.next(), y.next(), x.next(), row.get(), s, false, N, C);
      device.norm_weight_grad(row.get(), row.get() + C, y.next(), x.next(), s, N, C);
    });
    kernel("attention", scores, [&] {
      device.attention_forward(y.next(), probabilities.next(), qkv.next(), shape, {});
    });
    kernel("attention_grad", scores, [&] {
      device.attention_backward(dqkv.next(), scratch.get(), x.next(), qkv.next(),
                                probabilities.next(), shape, {});
    });
    kernel("gelu", N * F, [&] { device.gelu_forward(y.next(), x.next(), N * F); });
    kernel("gelu_grad", N * F, [&] { device.gelu_backward(z.next(), y.next(), x.next(), N * F); });
    kernel("residual", N * C, [&] { device.residual_add(z.next(), y.next(), x.next(), N * C); });
    kernel("embedding", N * C,
           [&] { device.embedding_forward(y.next(), tokens, table.get(), table.get(), N, T, C); });
    kernel("embedding_grad", N * C,
           [&] { device.embedding_grad(table.get(), table.get(), x.next(), tokens, N, T, C); });
    kernel("loss", 2 * N * V + N, [&] {
      device.loss_max(s, x.next(), N, V);
      device.loss_sum(s + N, s + 2 * N, x.next(), s, tokens, N, V);
      device.loss(sum, s, s + N, s + 2 * N, N);
    });
    kernel("loss_grad", N * V, [&] { device.loss_grad(y.next(), s, s + N, tokens, 1e-3F, N, V); });
    const std::int64_t many = N * F;
    kernel("zero", many, [&] { device.zero(reinterpret_cast<std::byte*>(z.next()), many * 4); });
    kernel("grad_norm", many, [&] { device.sum_of_squares(sum, x.next(), many); });
    AdamW settings;
    const Floats second(device, many);
    kernel("adamw", many, [&] {
      device.adamw(z.next(), x.next(), y.next(), second.next(), sum, 0, settings, many);
    });
    kernel(kReduceKernel.data(), many, [&] { device.accumulate(z.next(), x.next(), many); });
  }
  return times;
}

double measure_copy(Device& device, const BenchSizes& sizes) {
  const std::int64_t floats = sizes.copy_bytes / 4;
  const Floats from(device, floats), to(device, floats);
  const double seconds = typical_seconds(
      device,
      [&] {
        device.copy(reinterpret_cast<std::byte*>(to.get()),
                    reinterpret_cast<const std::byte*>(from.get()), floats * 4);
      },
      std::chrono::milliseconds{20});
  return 2.0 * static_cast<double>(floats) * 4 / seconds;
}

double measure_empty(Device& device) {
  const Floats x(device, 16), y(device, 16);
  return typical_seconds(
      device, [&] { device.residual_add(y.get(), x.get(), x.get(), 16); }, kLeast);
}

std::vector<MatmulPoint> points_of(const std::vector<ProductTime>& times,
                                   const std::string& origin) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<double>> seconds;
  for (const ProductTime& time : times) seconds[{time.m, time.n, time.k}].push_back(time.seconds);
  std::vector<MatmulPoint> points;
  for (const auto& [shape, of_shape] : seconds) {
    double sum = 0;
    for (const double time : of_shape) sum += time;
    const auto [m, n, k] = shape;
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    points.push_back({m, n, k, {flops * static_cast<double>(of_shape.size()) / sum, origin}});
  }
  return points;
}

std::vector<KernelRate> rates_of(const std::vector<KernelTime>& times, const std::string& origin) {
  std::vector<KernelRate> rates;
  std::map<std::string, std::pair<double, int>> logs;
  for (const KernelTime& time : times) {
    auto& [sum, count] = logs[time.kernel];
    sum += std::log(time.elements / time.seconds);
    ++count;
  }
  for (const auto& [kernel, log] : logs)
    rates.push_back({kernel, {std::exp(log.first / log.second), origin}});
  return rates;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

std::string this_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

}  // namespace parallelarium
