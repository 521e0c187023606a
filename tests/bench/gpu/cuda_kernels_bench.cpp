// SPDX-License-Identifier: Apache-2.0
// Rates of the CUDA kernels on one GPU, as a table in Markdown: bytes per second of those that are
// bound by memory, beside a plain copy on the same GPU, and below the table the worst; FLOP/s of
// matrix products and attention, beside a product of 8192 in the same arithmetic. Rows are as wide
// as those of GPT-2 124M, and arrays, of random numbers, larger than the caches. Times are medians
// of CUDA events around several launches. Exit status 77 where there is no GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels/attention/fused_attention.h"
#include "kernels/base/launch.h"
#include "kernels/gpu.h"
#include "kernels/products/gpu_matmul.h"
#include "tests/bench/gpu/cuda_bench.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kTokens = 4096, kF = 3072;
constexpr std::int64_t kPitch = 50264;  // of logits in a run

template <class T>
void memory_bound(const char* storage) {
  constexpr std::size_t kCount = kN * kC;
  constexpr double kBytes = double{kCount} * sizeof(T);
  const Memory a = numbers<T>(kCount), b = numbers<T>(kCount), c = numbers<T>(kCount),
               wide = numbers<T>(2 * kCount);
  const Memory gain = numbers<T>(2 * kC), stats = zeros(2 * kN * sizeof(float)),
               table = numbers<T>(kV * kC), tokens = zeros(kN * sizeof(std::int32_t)),
               space = zeros(std::max({column_sums_workspace(kN, kC), embedding_grad_workspace(kN),
                                       sum_of_squares_workspace()}));
  std::vector<std::int32_t> spread(kN);
  for (std::int64_t n = 0; n < kN; ++n)
    spread[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(n * 7919 % kV);
  check(cudaMemcpy(tokens.get(), spread.data(), kN * sizeof(std::int32_t), cudaMemcpyHostToDevice));
  const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
  const auto floats = [](const Memory& memory) { return static_cast<float*>(memory.get()); };
  auto* const token = static_cast<const std::int32_t*>(tokens.get());
  const auto row = [&](const char* kernel, double bytes, const auto& launch) {
    memory_row(kernel, storage, bytes, launch);
  };
  row("residual_add", 3 * kBytes,
      [&] { return residual_add<T>(at(c), at(a), at(b), kCount, nullptr); });
  row("accumulate", 3 * kBytes, [&] { return accumulate<T>(at(a), at(b), kCount, nullptr); });
  for (const std::int64_t C : {kC, 2 * kC, 4 * kC, std::int64_t{8192}})  // bias: of the table
    row(("residual_bias_add, C " + std::to_string(C)).c_str(), 3 * kBytes, [&, C] {
      return residual_bias_add<T>(at(c), at(a), at(b), at(table), kN * kC / C, C, nullptr);
    });
  row("gelu_forward", 2 * kBytes, [&] { return gelu_forward<T>(at(c), at(b), kCount, nullptr); });
  row("gelu_backward", 3 * kBytes,
      [&] { return gelu_backward<T>(at(c), at(a), at(b), kCount, nullptr); });
  row("swiglu_forward", 3 * kBytes,
      [&] { return swiglu_forward<T>(at(c), at(wide), at(wide) + kC, kN, kC, 2 * kC, nullptr); });
  row("swiglu_backward", 5 * kBytes, [&] {
    return swiglu_backward<T>(at(wide), at(a), at(wide), at(wide) + kC, kN, kC, 2 * kC, nullptr);
  });
  row("layer_norm_forward", 2 * kBytes, [&] {
    return layer_norm_forward<T>(at(c), floats(stats), at(b), at(gain), at(gain), kN, kC, nullptr);
  });
  row("rms_norm_forward", 2 * kBytes,
      [&] { return rms_norm_forward<T>(at(c), floats(stats), at(b), at(gain), kN, kC, nullptr); });
  row("layer_norm_input_grad, accumulating", 4 * kBytes, [&] {
    return layer_norm_input_grad<T>(at(c), at(a), at(b), at(gain), floats(stats), true, kN, kC,
                                    nullptr);
  });
  row("rms_norm_input_grad, accumulating", 4 * kBytes, [&] {
    return rms_norm_input_grad<T>(at(c), at(a), at(b), at(gain), floats(stats), true, kN, kC,
                                  nullptr);
  });
  row("norm_weight_grad", 2 * kBytes, [&] {
    return norm_weight_grad<T, T>(at(gain), at(gain) + kC, at(a), at(b), floats(stats), space.get(),
                                  kN, kC, nullptr);
  });
  row("column_sums", kBytes,
      [&] { return column_sums<T, T>(at(gain), at(a), space.get(), kN, kC, nullptr); });
  constexpr std::int64_t kLength = 1024;
  constexpr std::int64_t kHeads = kN * kC / (kLength * kLength);
  row("causal_softmax", 1.5 * kBytes,
      [&] { return causal_softmax<T>(at(c), kHeads, kLength, nullptr); });
  row("causal_softmax_grad", 2 * kBytes, [&] {
    return causal_softmax_grad<T>(at(c), at(a), kLength * kLength, 0.125F, kHeads, kLength,
                                  nullptr);
  });
  const AttentionShape turned{kN / 1024, 1024, 4, 4, 64};  // (H + 2K) D = kC
  row("rotary", 2 * kBytes * 2 / 3,
      [&] { return rotary<T>(at(a), Turn::kForward, turned, nullptr); });
  row("embedding_forward", 3 * kBytes,
      [&] { return embedding_forward<T>(at(c), token, at(table), at(b), kN, kN, kC, nullptr); });
  // Every row of the table gathers several tokens, and is read and written once.
  row("embedding_grad", kBytes + 2.0 * kV * kC * sizeof(T), [&] {
    return embedding_grad<T, T>(at(table), nullptr, at(a), token, space.get(), kN, 1024, kC,
                                nullptr);
  });
  row("sum_of_squares", kBytes, [&] {
    return sum_of_squares<T>(static_cast<double*>(stats.get()), at(a), space.get(), one_run(kCount),
                             nullptr);
  });

  constexpr double kLogits = double{kTokens} * kV * sizeof(T);
  const Memory logits = numbers<T>(kTokens * kPitch);
  const Memory row_max = zeros(kTokens * sizeof(float)), sum = zeros(kTokens * sizeof(float)),
               target = zeros(kTokens * sizeof(float));
  row("loss_max", kLogits,
      [&] { return loss_max<T>(floats(row_max), at(logits), kTokens, kV, nullptr, kPitch); });
  row("loss_sum", kLogits, [&] {
    return loss_sum<T>(floats(sum), floats(target), at(logits), floats(row_max), token, kTokens, kV,
                       0, nullptr, kPitch);
  });
  row("loss_max_sum", kLogits, [&] {
    return loss_max_sum<T>(floats(row_max), floats(sum), floats(target), at(logits), token, kTokens,
                           kV, nullptr, kPitch);
  });
  row("loss_grad", 2 * kLogits, [&] {
    return loss_grad<T>(at(logits), floats(row_max), floats(sum), token, 1e-4F, kTokens, kV, 0,
                        nullptr, kPitch);
  });
}

void optimizer() {
  constexpr std::size_t kCount = std::size_t{1} << 26;
  // Second moments are not negative.
  const Memory master = numbers<float>(kCount), g = numbers<float>(kCount),
               m = numbers<float>(kCount), v = numbers<float>(kCount, 0),
               half = numbers<Bf16>(kCount), half_g = numbers<Bf16>(kCount), squares = zeros(8);
  const auto floats = [](const Memory& memory) { return static_cast<float*>(memory.get()); };
  const auto bf16 = [](const Memory& memory) { return static_cast<Bf16*>(memory.get()); };
  auto* const sum = static_cast<const double*>(squares.get());
  memory_row("adamw", "fp32", 28.0 * kCount, [&] {
    return adamw<float, float, float>(floats(master), nullptr, floats(g), floats(m), floats(v), sum,
                                      1.0F, AdamW{}, one_run(kCount), nullptr);
  });
  Runs runs;  // as many as GPT-2 124M has: matrices, and biases between them
  for (int pair = 0; pair < 49; ++pair) {
    runs.add(kCount / 49 - 768, true);
    runs.add(768, false);
  }
  const auto of_runs = static_cast<double>(runs.length());
  memory_row("adamw, 98 runs", "fp32", 28 * of_runs, [&] {
    return adamw<float, float, float>(floats(master), nullptr, floats(g), floats(m), floats(v), sum,
                                      1.0F, AdamW{}, runs, nullptr);
  });
  memory_row("adamw, fp32 master", "bf16", 28.0 * kCount, [&] {
    return adamw<Bf16, Bf16, float>(bf16(half), floats(master), bf16(half_g), floats(m), floats(v),
                                    sum, 1.0F, AdamW{}, one_run(kCount), nullptr);
  });
}

// Returns FLOP/s of the first, which the others are compared with.
template <class T>
double products(const char* storage, bool tf32) {
  constexpr std::size_t kSpace = 32U << 20;
  const Memory space = zeros(kSpace);
  GpuMatmul matmul(space.get(), kSpace, tf32);
  double peak = 0;
  // The head with its rows apart as in a run, and without gaps.
  for (const auto [N, M, K, pitch] : {std::array<std::int64_t, 4>{8192, 8192, 8192, 8192},
                                      {16384, 3 * kC, kC, 3 * kC},
                                      {16384, kF, kC, kF},
                                      {16384, kC, kF, kC},
                                      {16384, kV, kC, kPitch},
                                      {16384, kV, kC, kV}}) {
    const auto count = [](std::int64_t rows, std::int64_t columns) {
      return static_cast<std::size_t>(rows * columns);
    };
    const Memory x = numbers<T>(count(N, K)), w = numbers<T>(count(M, K)),
                 y = zeros(count(N, pitch) * sizeof(T));
    const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
    const std::string size = " " + std::to_string(N) + " x " + std::to_string(M) + " x " +
                             std::to_string(K) +
                             (pitch > M ? ", rows " + std::to_string(pitch) + " apart" : "");
    const double flops = 2.0 * static_cast<double>(N * M * K);
    const double rate = compute_row("linear_forward" + size, storage, flops, peak, [&] {
      return linear_forward<T>(matmul, at(y), at(x), at(w), static_cast<const T*>(nullptr), N, M, K,
                               nullptr, pitch);
    });
    if (peak == 0) peak = rate;
    compute_row("linear_input_grad" + size, storage, flops, peak, [&] {
      return linear_input_grad<T>(matmul, at(x), at(y), at(w), N, M, K, nullptr, pitch);
    });
    compute_row("linear_weight_grad" + size, storage, flops, peak, [&] {
      return linear_weight_grad<T, T>(matmul, at(w), at(y), at(x), N, M, K, nullptr, pitch);
    });
  }
  return peak;
}

template <class T>
void attention(const char* storage, std::int64_t D, double peak) {
  const AttentionShape shape{16, 1024, kC / D, kC / D, D};
  const auto tokens = static_cast<std::size_t>(shape.B * shape.T);
  const Memory qkv = numbers<T>(tokens * 3 * kC), dqkv = zeros(tokens * 3 * kC * sizeof(T)),
               context = zeros(tokens * kC * sizeof(T)), dcontext = numbers<T>(tokens * kC),
               lse = zeros(static_cast<std::size_t>(shape.B * shape.H * shape.T) * 4),
               scratch = zeros(static_cast<std::size_t>(fused_attention_scratch(shape)) * 4);
  const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
  auto* const sums = static_cast<float*>(lse.get());
  // Half of the scores of 4 T^2 D: those that the mask leaves. The backward counts 2.5 forwards.
  const double flops = 2.0 * static_cast<double>(shape.B * shape.H * shape.T * shape.T * shape.D);
  const std::string size = " 16 x 1024, D " + std::to_string(D);
  compute_row("fused_attention_forward" + size, storage, flops, peak, [&] {
    return fused_attention_forward<T>(at(context), sums, at(qkv), shape, nullptr);
  });
  compute_row("fused_attention_backward" + size, storage, 2.5 * flops, peak, [&] {
    return fused_attention_backward<T>(at(dqkv), static_cast<float*>(scratch.get()), at(dcontext),
                                       at(qkv), at(context), sums, shape, nullptr);
  });
  // The same as the one block of a ring of one, without and with dropout.
  const Memory row_sum = zeros(static_cast<std::size_t>(shape.B * shape.H * shape.T) * 4);
  AttentionBlock block;
  block.shape = shape;
  block.stride = 3 * kC;
  block.first = true;
  for (const double dropped : {0.0, 0.1}) {
    block.dropout = {make_dropout(dropped, 1), 0, 0, shape.H, shape.T};
    const std::string which = size + (dropped > 0 ? ", dropout 0.1" : "");
    compute_row("block_attention_forward" + which, storage, flops, peak, [&] {
      return block_attention_forward<T>(at(context), sums, static_cast<float*>(row_sum.get()),
                                        at(qkv), at(qkv) + kC, block, nullptr);
    });
    compute_row("block_attention_backward" + which, storage, 2.5 * flops, peak, [&] {
      return block_attention_backward<T>(at(dqkv), at(dqkv) + kC, at(dcontext), at(qkv),
                                         at(qkv) + kC, at(context), sums, block, nullptr);
    });
  }
}

int run() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "No GPU: %s\n",
                 status == cudaSuccess ? "none found" : cudaGetErrorString(status));
    return 77;
  }
  check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, 0));
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // rows that are done outlive a failure
  constexpr std::size_t kCopy = std::size_t{1} << 29;
  {
    const Memory from = numbers<float>(kCopy / sizeof(float)), to = zeros(kCopy);
    const double seconds = seconds_of([&] {
      return cudaMemcpyAsync(to.get(), from.get(), kCopy, cudaMemcpyDeviceToDevice, nullptr);
    });
    copy_rate = 2.0 * kCopy / seconds;
    std::printf("| kernel | storage | time | rate | share |\n|---|---|---|---|---|\n");
    std::printf("| copy of 512 MiB | | %.1f us | %.0f GB/s | |\n", seconds * 1e6, copy_rate * 1e-9);
  }
  memory_bound<float>("fp32");
  memory_bound<Bf16>("bf16");
  exchange_rows<float>("fp32");
  exchange_rows<Bf16>("bf16");
  optimizer();
  const double fp32 = products<float>("fp32", false);
  products<float>("tf32", true);
  const double bf16 = products<Bf16>("bf16", false);
  attention<Bf16>("bf16", 64, bf16);
  attention<Bf16>("bf16", 128, bf16);
  attention<float>("fp32", 64, fp32);
  print_worst();
  return 0;
}

}  // namespace
}  // namespace parallelarium

int main() { return parallelarium::run(); }
