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
constexpr std::int64_t kExperts = 8;

// Device memory for one measurement: floats that are small and not alike. In a step an op finds in
// the nearest cache what the op before it has written; weights, and what a forward keeps for the
// backward, have long left it. So the former is measured at one place, the latter each time at the
// next, all places together being larger than that cache.
class Floats {
 public:
  enum Places { kOne, kMany };
  Floats(Device& device, std::int64_t count, Places places = kOne)
      : device_(device), count_(places == kOne ? count : std::max(count, kTogether)) {
    const std::int64_t bytes = count_ * 4;
    Result<std::byte*> address = device.allocate(bytes);
    if (!address) return;
    address_ = *address;
    std::vector<float> values(static_cast<std::size_t>(count_));
    std::uint32_t random = 1;  // no pattern for the processor to learn
    for (float& value : values) {
      random = random * 1'664'525 + 1'013'904'223;
      value = 0.01F * static_cast<float>(static_cast<int>(random >> 16) % 97 - 48);
    }
    device.copy_to_device(address_, values.data(), bytes);
    static_cast<void>(device.finish());
  }
  ~Floats() { device_.release(address_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* get() const { return reinterpret_cast<float*>(address_); }
  // The next `count` in turn. Requires: count is at most that of the constructor.
  float* next(std::int64_t count) const {
    next_ = next_ + 2 * count <= count_ ? next_ + count : 0;
    return get() + next_;
  }

 private:
  static constexpr std::int64_t kTogether = 1 << 20;  // floats: 4 MiB
  Device& device_;
  std::byte* address_ = nullptr;
  std::int64_t count_ = 0;
  mutable std::int64_t next_ = 0;
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

// What comes between two calls that are timed, as other ops do in a step, where short pieces take
// up to a third longer than in a loop of their own.
class Interlude {
 public:
  explicit Interlude(Device& device)
      : device_(device),
        x_(device, kTokens * kInputs),
        weight_(device, kOutputs * kInputs),
        y_(device, kTokens * kOutputs) {}
  void play() const {
    device_.linear_forward(y_.get(), x_.get(), weight_.get(), nullptr, kTokens, kOutputs, kInputs);
    device_.gelu_forward(y_.get(), y_.get() + kHalf, kHalf);
  }

 private:
  static constexpr std::int64_t kTokens = 128, kInputs = 64, kOutputs = 256;
  static constexpr std::int64_t kHalf = kTokens * kOutputs / 2;
  Device& device_;
  Floats x_, weight_, y_;
};

constexpr double kTick = 1e-9;  // no call takes less, whatever a coarse clock says

// Seconds of one call; without an interlude of many in a row.
double typical_seconds(Device& device, const std::function<void()>& work, nanoseconds least,
                       const Interlude* interlude = nullptr) {
  if (device.runs_behind()) return seconds_between_marks(device, work);
  work();
  std::vector<double> samples;
  const TimePoint end = Clock::now() + least;
  while (samples.size() < 3 || Clock::now() < end) {
    if (interlude != nullptr) interlude->play();
    const TimePoint begin = Clock::now();
    work();
    const std::chrono::duration<double> taken = Clock::now() - begin;
    samples.push_back(std::max(taken.count(), kTick));
  }
  return median(samples);  // as of the steps that it will be compared with
}

constexpr nanoseconds kLeast = std::chrono::milliseconds{2};

using MeasureKernel = std::function<void(std::string_view name, std::int64_t elements,
                                         const std::function<void()>& work)>;

// Routers, and the moves of rows that follow: N tokens of width C that visit two experts each.
void measure_routing(Device& device, std::int64_t N, std::int64_t C, const MeasureKernel& kernel) {
  RouterShape router;
  router.N = N;
  router.E = kExperts;
  router.k = 2;
  const std::int64_t E = router.E, k = router.k, rows = N * k * C;
  const Floats logits(device, N * E, Floats::kMany), dlogits(device, N * E), gates(device, N * k),
      dgates(device, N * k), record(device, record_count(E)), routed(device, routes_count(N, k, E)),
      tokens(device, N * C), sent(device, rows), kept(device, rows, Floats::kMany);
  auto* routes = reinterpret_cast<std::int32_t*>(routed.get());
  for (const bool sigmoid : {false, true}) {
    router.sigmoid = sigmoid;
    kernel(sigmoid ? "sigmoid_router" : "router", N * E, [&] {
      device.route(gates.get(), routes, record.get(), logits.next(N * E), nullptr, router);
    });
    kernel(sigmoid ? "sigmoid_router_grad" : "router_grad", N * E, [&] {
      device.route_grad(dlogits.get(), dgates.get(), logits.next(N * E), gates.get(), routes, 1,
                        router);
    });
  }
  kernel("dispatch", rows,
         [&] { device.dispatch_rows(kept.next(rows), tokens.get(), routes, N, k, C); });
  kernel("dispatch_grad", rows,
         [&] { device.dispatch_rows_grad(tokens.get(), sent.get(), routes, true, N, k, C); });
  kernel("unpermute", rows, [&] {
    device.combine_rows(tokens.get(), sent.get(), gates.get(), nullptr, routes, N, k, C);
  });
  kernel("unpermute_grad", rows, [&] {
    device.combine_rows_grad(sent.get(), dgates.get(), tokens.get(), kept.next(rows), gates.get(),
                             routes, N, k, C);
  });
}

// What passes over all parameters, one stretch after another: of a small model and of one that no
// cache holds.
void measure_update(Device& device, const MeasureKernel& kernel) {
  constexpr std::int64_t kAll = 1 << 22, kFew = 1 << 20, kStretch = 1 << 16;
  const Floats parameters(device, kAll), gradients(device, kAll), few(device, kFew),
      first(device, kAll), second(device, kAll), sums(device, 8);
  auto* sum = reinterpret_cast<double*>(sums.get());
  const AdamW settings;
  for (const Floats* cleared : {&few, &gradients})
    kernel("zero", kStretch, [&] {
      device.zero(reinterpret_cast<std::byte*>(cleared->next(kStretch)), kStretch * 4);
    });
  kernel("grad_norm", kStretch,
         [&] { device.sum_of_squares(sum, gradients.next(kStretch), kStretch); });
  kernel("adamw", kStretch, [&] {
    device.adamw(parameters.next(kStretch), gradients.next(kStretch), first.next(kStretch),
                 second.next(kStretch), sum, 0, settings, kStretch);
  });
}

}  // namespace

// A square linear layer of some 10^5 FLOPs takes microseconds, one of 10^9 tens of milliseconds;
// experts work on few rows.
BenchSizes cpu_bench_sizes() {
  return {{{32, {16, 64, 128, 256}},
           {64, {16, 64, 128, 256, 512}},
           {128, {16, 64, 128, 256, 512}},
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
  const Interlude interlude(device);
  std::vector<ProductTime> times;
  for (const BenchSizes::Width& width : sizes.widths) {
    const std::int64_t C = width.hidden;
    const std::int64_t wide = std::max(4 * C, kVocabulary), tokens = width.tokens.back();
    const Floats x(device, wide * tokens), y(device, wide * tokens),
        weight(device, wide * C, Floats::kMany), kept(device, wide * tokens, Floats::kMany);
    const Floats bias(device, wide);  // as in the models
    for (const std::int64_t N : width.tokens) {
      const std::pair<std::int64_t, std::int64_t> layers[] = {
          {3 * C, C}, {C, C}, {4 * C, C}, {C, 4 * C}, {kVocabulary, C}, {kExperts, C}};
      for (const auto& [M, K] : layers) {  // outputs, inputs
        if (stop.raised() || Clock::now() > deadline) return times;
        const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k,
                                 const std::function<void()>& work) {
          times.push_back({m, n, k, typical_seconds(device, work, kLeast, &interlude)});
        };
        product(N, M, K, [&, M = M, K = K] {
          device.linear_forward(kept.next(N * M), x.get(), weight.next(M * K), bias.get(), N, M, K);
        });
        product(N, K, M, [&, M = M, K = K] {
          device.linear_input_grad(y.get(), x.get(), weight.next(M * K), N, M, K);
        });
        product(M, K, N, [&, M = M, K = K] {
          device.linear_weight_grad(weight.next(M * K), bias.get(), x.get(), kept.next(N * K), N, M,
                                    K);
        });
      }
    }
  }
  return times;
}

std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop) {
  const Interlude interlude(device);
  std::vector<KernelTime> times;
  const MeasureKernel kernel = [&](std::string_view name, std::int64_t elements,
                                   const std::function<void()>& work) {
    if (stop.raised()) return;
    times.push_back({std::string(name), static_cast<double>(elements),
                     typical_seconds(device, work, kLeast, &interlude)});
  };
  for (const auto& [T, C, H] : sizes.sequences) {
    const std::int64_t N = T, F = 4 * C, V = kVocabulary, A = 3 * C, scores = H * T * T;
    const std::int64_t NC = N * C, NF = N * F;
    const Floats x(device, N * std::max(F, V)), y(device, N * std::max(F, V)),
        kept(device, N * std::max(F, V), Floats::kMany), stats(device, 3 * N),
        row(device, std::max(F, V)), qkv(device, N * A), dqkv(device, N * A),
        kept_qkv(device, N * A, Floats::kMany), probabilities(device, scores, Floats::kMany),
        scratch(device, T * T), table(device, std::max(V, T) * C), tokens_memory(device, N + 4);
    auto* tokens = reinterpret_cast<std::int32_t*>(tokens_memory.get());
    std::vector<std::int32_t> ids(static_cast<std::size_t>(N));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 256);
    device.copy_to_device(
        tokens_memory.get() == nullptr ? nullptr : reinterpret_cast<std::byte*>(tokens), ids.data(),
        N * 4);
    const Floats sums(device, 8);
    auto* sum = reinterpret_cast<double*>(sums.get());
    const AttentionShape shape{1, T, H, H, C / H};
    float* s = stats.get();
    kernel("norm", NC, [&] {
      device.layer_norm_forward(kept.next(NC), s, x.get(), row.get(), row.get(), N, C);
    });
    kernel("rms_norm", NC,
           [&] { device.rms_norm_forward(kept.next(NC), s, x.get(), row.get(), N, C); });
    kernel("norm_grad", 2 * NC, [&] {
      const float* in = kept.next(NC);
      device.layer_norm_input_grad(y.get(), x.get(), in, row.get(), s, false, N, C);
      device.norm_weight_grad(row.get(), row.get() + C, x.get(), in, s, N, C);
    });
    kernel("attention", scores, [&] {
      device.attention_forward(kept.next(NC), probabilities.next(scores), qkv.get(), shape, {});
    });
    kernel("attention_grad", scores, [&] {
      device.attention_backward(dqkv.get(), scratch.get(), x.get(), kept_qkv.next(N * A),
                                probabilities.next(scores), shape, {});
    });
    kernel(kRotaryKernel, T * (C / H) / 2,
           [&] { device.rotary(qkv.get(), Turn::kForward, 0, shape); });
    kernel("gelu", NF, [&] { device.gelu_forward(kept.next(NF), x.get(), NF); });
    kernel("gelu_grad", NF, [&] { device.gelu_backward(y.get(), x.get(), kept.next(NF), NF); });
    // With as many gates as values.
    kernel("swiglu", NF / 2, [&] { device.swiglu_forward(kept.next(NF), x.get(), N, F / 2); });
    kernel("swiglu_grad", NF / 2,
           [&] { device.swiglu_backward(y.get(), x.get(), kept.next(NF), N, F / 2); });
    kernel("residual", NC, [&] { device.residual_add(kept.next(NC), kept.next(NC), x.get(), NC); });
    measure_routing(device, N, C, kernel);
    kernel("embedding", NC, [&] {
      device.embedding_forward(kept.next(NC), tokens, table.get(), table.get(), N, T, C);
    });
    kernel("embedding_grad", NC,
           [&] { device.embedding_grad(table.get(), table.get(), x.get(), tokens, N, T, C); });
    kernel("loss", 2 * N * V + N, [&] {
      device.loss_max(s, x.get(), N, V);
      device.loss_sum(s + N, s + 2 * N, x.get(), s, tokens, N, V);
      device.loss(sum, s, s + N, s + 2 * N, N);
    });
    kernel("loss_grad", N * V, [&] { device.loss_grad(y.get(), s, s + N, tokens, 1e-3F, N, V); });
    kernel(kReduceKernel, NF, [&] { device.accumulate(kept.next(NF), x.get(), NF); });
  }
  measure_update(device, kernel);
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
