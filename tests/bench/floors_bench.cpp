// SPDX-License-Identifier: Apache-2.0
// CPU kernels beside their floors on one core, in one run: a matrix product of a layer beside the
// library's own call, everything else beside the time that its bytes take to copy, or its
// arithmetic at the rate of matrix products, whichever is longer. Each kernel and its floor take
// turns, and the median of the turns' ratios is printed, so that a change of the core's speed
// touches both.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "engine/train/device.h"
#include "kernels/products/matmul.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

using reference::Floats;
using reference::random_floats;

constexpr int kTurns = 15;

double seconds_of(const std::function<void()>& work, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

// Calls that last about 5 ms together.
int calls_of(const std::function<void()>& work) {
  const double once = std::max(seconds_of(work, 1), seconds_of(work, 1));
  return std::clamp(static_cast<int>(5e-3 / once), 1, 10'000);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Medians {
  double work = 0, floor = 0, ratio = 0;  // seconds, seconds, work / floor
};
Medians side_by_side(const std::function<void()>& work, const std::function<void()>& floor,
                     double floor_times) {
  const int work_calls = calls_of(work), floor_calls = calls_of(floor);
  std::vector<double> works, floors, ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    floors.push_back(seconds_of(floor, floor_calls) * floor_times);
    works.push_back(seconds_of(work, work_calls));
    ratios.push_back(works.back() / floors.back());
  }
  return {median(works), median(floors), median(ratios)};
}

void products(Device& device) {
  std::printf("Matrix products of a layer (N tokens, M outputs, K inputs) beside %s's own call\n",
              matmul_library());
  std::printf("  %-12s %18s %12s %12s %10s\n", "", "N x M x K", "GFLOP/s", "the library's",
              "share");
  constexpr std::int64_t kSizes[][3] = {{128, 192, 64},   {128, 64, 64},    {128, 256, 64},
                                        {128, 64, 256},   {256, 768, 256},  {256, 1024, 256},
                                        {512, 2304, 768}, {512, 768, 3072}, {1024, 1024, 1024}};
  for (const auto& [N, M, K] : kSizes) {
    Floats x = random_floats(N * K, 1), w = random_floats(M * K, 2), y = random_floats(N * M, 3);
    const Transpose no = Transpose::kNo, yes = Transpose::kYes;
    const struct {
      const char* name;
      std::function<void()> ours, library;
    } kProducts[] = {
        {"forward",
         [&, N = N, M = M, K = K] {
           device.linear_forward(y.data(), x.data(), w.data(), nullptr, N, M, K);
         },
         [&, N = N, M = M, K = K] {
           matmul_cpu(no, yes, N, M, K, 1, x.data(), K, w.data(), K, 0, y.data(), M);
         }},
        {"input grad",
         [&, N = N, M = M, K = K] {
           device.linear_input_grad(x.data(), y.data(), w.data(), N, M, K);
         },
         [&, N = N, M = M, K = K] {
           matmul_cpu(no, no, N, K, M, 1, y.data(), M, w.data(), K, 0, x.data(), K);
         }},
        {"weight grad",
         [&, N = N, M = M, K = K] {
           device.linear_weight_grad(w.data(), nullptr, y.data(), x.data(), N, M, K);
         },
         [&, N = N, M = M, K = K] {
           matmul_cpu(yes, no, M, K, N, 1, y.data(), M, x.data(), K, 1, w.data(), K);
         }},
    };
    const double flops = 2.0 * static_cast<double>(N * M * K);
    for (const auto& product : kProducts) {
      const Medians seen = side_by_side(product.ours, product.library, 1);
      std::printf("  %-12s %6d x %4d x %4d %12.1f %12.1f %8.0f %%\n", product.name,
                  static_cast<int>(N), static_cast<int>(M), static_cast<int>(K),
                  flops / seen.work * 1e-9, flops / seen.floor * 1e-9, 100 / seen.ratio);
      std::fill(w.begin(), w.end(), 0.01F);
    }
  }
}

// `floats` arrays of N x C that must be read or written, each once, and flops an element.
struct Row {
  const char* name;
  double floats, flops;
  std::function<void(std::int64_t N, std::int64_t C)> launch;
};

void everything_else(Device& device, std::int64_t N, std::int64_t C) {
  const auto count = static_cast<std::size_t>(N * C);
  Floats a = random_floats(N * C, 1), b = random_floats(N * C, 2), c = random_floats(2 * N * C, 3),
         d = random_floats(2 * N * C, 4), gain = random_floats(C, 5), stats(2 * count / 16 + 64),
         table = random_floats(256 * C, 6);
  for (float& value : d) value = value * value;
  Floats ones(static_cast<std::size_t>(N), 1.0F), sums(ones), targets_logit(ones);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(N));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int32_t>(i * 37 % std::min<std::size_t>(256, C));
  std::vector<std::uint8_t> mask(count);
  double sum = 0;
  // An exponential is about 20 flops, a division 8: what a vector of them costs beside one product.
  const Row kRows[] = {
      {"residual add", 3, 1,
       [&](std::int64_t n, std::int64_t w) {
         device.residual_add(c.data(), a.data(), b.data(), n * w);
       }},
      {"accumulate", 3, 1,
       [&](std::int64_t n, std::int64_t w) { device.accumulate(a.data(), b.data(), n * w); }},
      {"layer norm", 2, 8,
       [&](std::int64_t n, std::int64_t w) {
         device.layer_norm_forward(b.data(), stats.data(), a.data(), gain.data(), gain.data(), n,
                                   w);
       }},
      {"layer norm, input grad", 3, 12,
       [&](std::int64_t n, std::int64_t w) {
         device.layer_norm_input_grad(c.data(), a.data(), b.data(), gain.data(), stats.data(),
                                      false, n, w);
       }},
      {"norm, weight grad", 2, 5,
       [&](std::int64_t n, std::int64_t w) {
         device.norm_weight_grad(table.data(), table.data() + w, a.data(), b.data(), stats.data(),
                                 n, w);
       }},
      {"RMS norm", 2, 5,
       [&](std::int64_t n, std::int64_t w) {
         device.rms_norm_forward(b.data(), stats.data(), a.data(), gain.data(), n, w);
       }},
      {"RMS norm, input grad", 3, 9,
       [&](std::int64_t n, std::int64_t w) {
         device.rms_norm_input_grad(c.data(), a.data(), b.data(), gain.data(), stats.data(), false,
                                    n, w);
       }},
      {"GELU", 2, 35,
       [&](std::int64_t n, std::int64_t w) { device.gelu_forward(b.data(), a.data(), n * w); }},
      {"GELU, grad", 3, 45,
       [&](std::int64_t n, std::int64_t w) {
         device.gelu_backward(c.data(), b.data(), a.data(), n * w);
       }},
      {"SwiGLU", 3, 30,
       [&](std::int64_t n, std::int64_t w) {
         device.swiglu_forward(b.data(), c.data(), c.data() + w, n, w, 2 * w);
       }},
      {"SwiGLU, grad", 5, 36,
       [&](std::int64_t n, std::int64_t w) {
         device.swiglu_backward(d.data(), b.data(), c.data(), c.data() + w, n, w, 2 * w);
       }},
      {"dropout and residual", 3.25, 20,
       [&](std::int64_t n, std::int64_t w) {
         Dropout dropout;
         dropout.threshold = 6554;  // 0.1
         device.dropout_residual(c.data(), mask.data(), a.data(), b.data(), dropout, 0, n * w);
       }},
      {"embedding", 1, 1,
       [&](std::int64_t n, std::int64_t w) {
         device.embedding_forward(a.data(), tokens.data(), table.data(), nullptr, n, n, w);
       }},
      {"embedding, grad", 1, 1,
       [&](std::int64_t n, std::int64_t w) {
         device.embedding_grad(table.data(), nullptr, a.data(), tokens.data(), n, n, w);
       }},
      {"loss: largest logit", 1, 1,
       [&](std::int64_t n, std::int64_t w) { device.loss_max(ones.data(), a.data(), n, w); }},
      {"loss: sum of exponentials", 1, 22,
       [&](std::int64_t n, std::int64_t w) {
         device.loss_sum(sums.data(), targets_logit.data(), a.data(), ones.data(), tokens.data(), n,
                         w);
       }},
      {"loss, grad", 2, 24,
       [&](std::int64_t n, std::int64_t w) {
         device.loss_grad(a.data(), ones.data(), sums.data(), tokens.data(), 1.0F, n, w);
       }},
      {"sum of squares", 1, 2,
       [&](std::int64_t n, std::int64_t w) {
         device.sum_of_squares(&sum, a.data(), one_run(n * w));
       }},
      {"AdamW", 7, 30,
       [&](std::int64_t n, std::int64_t w) {
         device.adamw(a.data(), nullptr, b.data(), c.data(), d.data(), nullptr, 0, AdamW{},
                      one_run(n * w));
       }},
  };
  // The rate of arithmetic: a product that stays in the cache.
  constexpr std::int64_t kEdge = 256;
  const Floats left = random_floats(kEdge * kEdge, 7), right = random_floats(kEdge * kEdge, 8);
  Floats product(left.size());
  const auto multiply = [&] {
    matmul_cpu(Transpose::kNo, Transpose::kYes, kEdge, kEdge, kEdge, 1, left.data(), kEdge,
               right.data(), kEdge, 0, product.data(), kEdge);
  };
  constexpr double kProductFlops = 2.0 * kEdge * kEdge * kEdge;
  Floats from(count), to(count);
  const auto copy = [&] { std::memcpy(to.data(), from.data(), count * sizeof(float)); };
  const double copy_seconds = seconds_of(copy, calls_of(copy));
  const double flop_seconds = seconds_of(multiply, calls_of(multiply)) / kProductFlops;
  std::printf(
      "\nEverything else, %d x %d floats (%.3g MB an array): copy %.1f GB/s, arithmetic %.1f "
      "GFLOP/s\n",
      static_cast<int>(N), static_cast<int>(C), static_cast<double>(count) * 4e-6,
      8e-9 * static_cast<double>(count) / copy_seconds, 1e-9 / flop_seconds);
  std::printf("  %-26s %10s %12s %12s\n", "", "time", "its floor", "times");
  const std::vector<Floats> fresh = {a, b, c, d};
  for (const Row& row : kRows) {
    // Values as they are in training: what grows from call to call would end in subnormal numbers.
    a = fresh[0], b = fresh[1], c = fresh[2], d = fresh[3];
    const auto work = [&] { row.launch(N, C); };
    const double by_bytes = row.floats / 2 * copy_seconds;
    const double by_flops = row.flops * static_cast<double>(count) * flop_seconds;
    const bool moves = by_bytes >= by_flops;
    const Medians seen =
        moves
            ? side_by_side(work, copy, row.floats / 2)
            : side_by_side(work, multiply, row.flops * static_cast<double>(count) / kProductFlops);
    std::printf("  %-26s %8.3g ms %10.3g ms %10.2f  %s\n", row.name, seen.work * 1e3,
                seen.floor * 1e3, seen.ratio, moves ? "of its bytes" : "of its arithmetic");
  }
}

}  // namespace
}  // namespace parallelarium

int main() {
  const auto device = parallelarium::make_cpu_device();
  parallelarium::products(*device);
  parallelarium::everything_else(*device, 128, 64);     // gpt-tiny: in the first caches
  parallelarium::everything_else(*device, 256, 256);    // gpt-small
  parallelarium::everything_else(*device, 8192, 1024);  // beyond them
}
