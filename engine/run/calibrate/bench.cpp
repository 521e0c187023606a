// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/bench.h"

#include <unistd.h>

#include <ctime>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "engine/plan/program/kernels_of_pieces.h"
#include "kernels/products/fp8_linear.h"

namespace parallelarium {

// A square linear layer of some 10^5 FLOPs takes microseconds, one of 10^9 tens of milliseconds;
// experts work on few rows. Heads are as wide as in the lessons' models, and no two sequences have
// equally many scores: such would share a rate.
BenchSizes cpu_bench_sizes() {
  return {{{32, {16, 64, 128, 256}},
           {64, {16, 64, 128, 256, 512}},
           {128, {16, 64, 128, 256, 512}},
           {256, {128, 256, 512}},
           {512, {128, 256}},
           {1024, {128}}},
          {{128, 64, 4}, {128, 128, 8}, {256, 256, 8}},
          32'000'000,
          std::chrono::microseconds{350}};
}
// From the lessons' models to layers that fill a GPU even in FP8, and the vocabulary of GPT-2,
// whose odd number of columns products dislike, its logits as far apart as in a run. Rates of
// products go up and down with their shapes there, so the lessons' widths have the tokens that
// their micro-batches have. A GPU takes the sequences of a fused attention together, and a small op
// is but launches there; an update goes from a vector to the largest matrices of a layer. The copy,
// all places of an operand and the last rows are larger than any second-level cache.
BenchSizes gpu_bench_sizes() {
  constexpr std::int64_t kLargeVocabulary = 50257;
  BenchSizes sizes;
  sizes.widths = {{64, {128, 512, 1024}},
                  {256, {256, 512, 1024, 2048}},
                  {768, {256, 1024, 2048, 4096, 8192}, kLargeVocabulary, {1024, 4096}},
                  {1024, {2048}},
                  {2048, {2048, 4096}, kLargeVocabulary, {2048}},
                  {4096, {2048, 8192}}};
  sizes.sequences = {{128, 64, 4, {1, 4}},     {256, 256, 8, {1, 8}}, {512, 768, 12, {1, 8}},
                     {1024, 1024, 16, {1, 8}}, {2048, 1024, 16},      {8192, 768, 0}};
  sizes.copy_bytes = 512'000'000;
  sizes.logits = {{512, kLargeVocabulary}, {2048, kLargeVocabulary}};
  sizes.updated = sizes.cleared = {1 << 16, 1 << 20, 1 << 22, 1 << 25};
  sizes.places_bytes = 256 << 20;
  return sizes;
}

std::vector<ProductTime> measure_products(Device& device, const BenchSizes& sizes,
                                          TimePoint deadline, const Stop& stop) {
  const Interlude interlude(device, sizes.type);
  std::vector<ProductTime> times;
  const DataType type = sizes.type;
  // The three products of a layer of M outputs and K inputs.
  const auto measure = [&](std::int64_t N, std::int64_t M, std::int64_t K, std::int64_t pitch,
                           const DeviceNumbers& x, const DeviceNumbers& y,
                           const DeviceNumbers& weight, const DeviceNumbers& kept, Values biases) {
    const auto product = [&](std::string_view phase, std::int64_t m, std::int64_t n, std::int64_t k,
                             const std::function<void()>& work) {
      if (stop.raised() || Clock::now() > deadline) return;
      const CallTime time = typical_time(device, work, sizes.least, &interlude);
      times.push_back({m, n, k, time.seconds, std::string(phase),
                       std::string(sizes.fp8 ? kFp8Product : name_of(type)), time.host_seconds});
    };
    if (sizes.fp8 && (M % kFp8Multiple != 0 || K % kFp8Multiple != 0)) return;
    product(name_of(Phase::kForward), N, M, K, [&] {
      if (sizes.fp8)
        return device.fp8_linear_forward(kept.next(N * M), x.get(), weight.next(M * K), biases, N,
                                         M, K);
      device.linear_forward(kept.next(N * pitch), x.get(), weight.next(M * K), biases, N, M, K,
                            pitch);
    });
    product(name_of(Phase::kInputGrad), N, K, M, [&] {
      if (sizes.fp8)
        return device.fp8_linear_input_grad(y.get(), x.get(), weight.next(M * K), N, M, K);
      device.linear_input_grad(y.get(), x.get(), weight.next(M * K), N, M, K, pitch);
    });
    const auto weight_grad = [&](Values sums) {
      if (sizes.fp8)
        return device.fp8_linear_weight_grad(weight.next(M * K), sums, x.get(), kept.next(N * K), N,
                                             M, K);
      device.linear_weight_grad(weight.next(M * K), sums, x.get(), kept.next(N * K), N, M, K,
                                pitch);
    };
    if (biases) product(name_of(Phase::kWeightGrad), M, K, N, [&] { weight_grad(biases); });
    if (!biases || device.runs_behind())
      product(device.runs_behind() ? kWeightGradAlone : name_of(Phase::kWeightGrad), M, K, N,
              [&] { weight_grad(nullptr); });
  };
  for (const BenchSizes::Width& width : sizes.widths) {
    const std::int64_t C = width.hidden, head = width.head_tokens.empty() ? 0 : width.vocabulary;
    const std::int64_t wide = std::max(4 * C, kBenchVocabulary);
    const std::int64_t rows = wide * width.tokens.back();
    const std::int64_t head_rows =
        head > 0 ? std::max(rows, logits_pitch(head) * width.head_tokens.back()) : rows;
    const std::int64_t most = std::max(wide, head), many = sizes.places_bytes;
    const DeviceNumbers x(device, type, head_rows), y(device, type, rows),
        weight(device, type, most * C, many), kept(device, type, head_rows, many);
    const DeviceNumbers bias(device, type, most);  // as in the models
    if (!all_there(x, y, weight, kept, bias)) continue;
    for (const std::int64_t N : width.tokens)
      for (const auto& [M, K] :
           std::initializer_list<std::pair<std::int64_t, std::int64_t>>{{3 * C, C},
                                                                        {C, C},
                                                                        {4 * C, C},
                                                                        {C, 4 * C},
                                                                        {kBenchVocabulary, C},
                                                                        {kBenchExperts, C}})
        measure(N, M, K, M, x, y, weight, kept, bias.get());
    for (const std::int64_t N : sizes.fp8 ? std::vector<std::int64_t>() : width.head_tokens)
      measure(N, head, C, logits_pitch(head), x, y, weight, kept, nullptr);
    if (stop.raised() || Clock::now() > deadline) break;
  }
  return times;
}

double measure_copy(Device& device, const BenchSizes& sizes) {
  const std::int64_t floats = sizes.copy_bytes / 4;
  const DeviceNumbers from(device, DataType::kF32, floats), to(device, DataType::kF32, floats);
  const double seconds =
      typical_time(
          device, [&] { device.copy(to.get().address(), from.get().address(), floats * 4); },
          std::chrono::milliseconds{20})
          .seconds;
  return 2.0 * static_cast<double>(floats) * 4 / seconds;
}

CallTime measure_empty(Device& device) {
  const DeviceNumbers x(device, DataType::kF32, 16), y(device, DataType::kF32, 16);
  return typical_time(
      device, [&] { device.residual_add(y.get(), x.get(), x.get(), 16); }, BenchSizes{}.least);
}

std::vector<MatmulPoint> points_of(const std::vector<ProductTime>& times, const Origin& origin) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::string>,
           std::vector<double>>
      seconds;
  for (const ProductTime& time : times)
    seconds[{time.m, time.n, time.k, time.phase, time.type}].push_back(time.seconds);
  std::vector<MatmulPoint> points;
  for (auto& [shape, of_shape] : seconds) {
    const auto& [m, n, k, phase, type] = shape;
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    points.push_back({m, n, k, {flops / median(of_shape), origin}, phase, type});
  }
  return points;
}

std::vector<KernelRate> rates_of(const std::vector<KernelTime>& times, const Origin& origin) {
  std::map<std::tuple<std::string, std::string, double>, std::vector<double>> seconds;
  for (const KernelTime& time : times)
    seconds[{time.kernel, time.type, time.elements}].push_back(time.seconds);
  std::vector<KernelRate> rates;
  for (auto& [kernel, of_kernel] : seconds) {
    const auto& [name, type, elements] = kernel;
    rates.push_back({name, {elements / median(of_kernel), origin}, elements, type});
  }
  return rates;
}

void set_peaks(Machine& machine, const Origin& origin) {
  double best = 0, best_half = 0, best_fp8 = 0;
  std::vector<double> rates;
  for (const MatmulPoint& point : machine.matmuls) {
    const double rate = point.flops_per_second.value;
    if (point.type == name_of(DataType::kBf16)) {
      best_half = std::max(best_half, rate);
    } else if (point.type == kFp8Product) {
      best_fp8 = std::max(best_fp8, rate);
    } else {
      best = std::max(best, rate);
      rates.push_back(rate);
    }
  }
  machine.fp32_flops_per_second = {best, with_note(origin, "origin-note-best-product")};
  machine.half_flops_per_second =
      best_half > 0 ? Sourced{best_half, with_note(origin, "origin-note-best-bf16")}
                    : Sourced{best, with_note({}, "origin-note-rate-of-fp32")};
  if (best_fp8 > 0)
    machine.fp8_flops_per_second = {best_fp8, with_note(origin, "origin-note-best-fp8")};
  machine.matmul_efficiency = {median(rates) / best, origin};
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
