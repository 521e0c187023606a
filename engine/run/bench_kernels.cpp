// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels_of_pieces.h, one after another.
#include <algorithm>
#include <functional>
#include <utility>

#include "engine/plan/kernels_of_pieces.h"
#include "engine/run/bench.h"
#include "engine/run/bench_timing.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kVocabulary = 256;  // bytes
constexpr std::int64_t kExperts = 8;

// Times what is given to it, and keeps the times.
class Measure {
 public:
  Measure(Device& device, const BenchSizes& sizes, const Stop& stop)
      : device_(device), sizes_(sizes), stop_(stop), interlude_(device) {}

  // `work` is so many calls of so many elements each.
  void operator()(std::string_view name, std::int64_t elements, const std::function<void()>& work,
                  int calls = 1) {
    if (stop_.raised()) return;
    times_.push_back({std::string(name), static_cast<double>(elements),
                      typical_seconds(device_, work, sizes_.least, &interlude_) / calls});
  }
  std::vector<KernelTime> take() { return std::move(times_); }

 private:
  Device& device_;
  const BenchSizes& sizes_;
  const Stop& stop_;
  const Interlude interlude_;
  std::vector<KernelTime> times_;
};

// Attention that keeps no probabilities, of one sequence: on one rank, and on one of two that cut
// the sequence, with its own keys and values and with the other's.
void measure_fused_attention(Device& device, std::int64_t T, std::int64_t C, std::int64_t H,
                             Measure& kernel) {
  const std::int64_t D = C / H, A = 3 * C;
  for (const int ranks : {1, 2}) {
    const std::int64_t N = T / ranks, quarter = T / 4, own_stride = A, others_stride = 2 * C;
    const AttentionShape shape{1, N, H, H, D};
    const TokenRuns own = ranks == 1 ? TokenRuns{} : TokenRuns{2, {0, 3 * quarter}};
    const TokenRuns others{2, {quarter, 2 * quarter}};
    const AttentionBlock first{shape, own, own, own_stride, true},
        second{shape, own, others, others_stride, false};
    const Floats qkv(device, N * A), dqkv(device, N * A), kept_qkv(device, N * A, Floats::kMany),
        context(device, N * C, Floats::kMany), dcontext(device, N * C), received(device, 2 * N * C),
        dreceived(device, 2 * N * C), stats(device, 2 * H * N),
        scratch(device, block_attention_scratch(shape));
    float *lse = stats.get(), *sum = stats.get() + H * N;
    kernel(
        ranks == 1 ? "fused_attention" : "block_attention", H * N * N,
        [&] {
          float* out = context.next(N * C);
          device.block_attention_forward(out, lse, sum, scratch.get(), qkv.get(), qkv.get() + C,
                                         first);
          if (ranks > 1)
            device.block_attention_forward(out, lse, sum, scratch.get(), qkv.get(), received.get(),
                                           second);
          device.block_attention_finish(out, lse, sum, shape);
        },
        ranks);
    kernel(
        ranks == 1 ? "fused_attention_grad" : "block_attention_grad", H * N * N,
        [&] {
          const float *in = kept_qkv.next(N * A), *out = context.next(N * C);
          device.zero(reinterpret_cast<std::byte*>(dqkv.get()), N * A * 4);
          device.block_attention_backward(dqkv.get(), dqkv.get() + C, scratch.get(), dcontext.get(),
                                          in, in + C, out, lse, first);
          if (ranks == 1) return;
          device.zero(reinterpret_cast<std::byte*>(dreceived.get()), 2 * N * C * 4);
          device.block_attention_backward(dqkv.get(), dreceived.get(), scratch.get(),
                                          dcontext.get(), in, received.get(), out, lse, second);
        },
        ranks);
  }
}

// Routers, and the moves of rows that follow: N tokens of width C that visit two experts each.
void measure_routing(Device& device, std::int64_t N, std::int64_t C, Measure& kernel) {
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

// What passes over all parameters, one stretch after another.
void measure_update(Device& device, Measure& kernel) {
  constexpr std::int64_t kAll = 1 << 22, kStretch = 1 << 16;
  const Floats parameters(device, kAll), gradients(device, kAll), first(device, kAll),
      second(device, kAll), sums(device, 8);
  auto* sum = reinterpret_cast<double*>(sums.get());
  const AdamW settings;
  // Of a bucket, of a small model, and of one that no cache holds.
  for (const std::int64_t cleared : {kStretch, kStretch * 8, kAll})
    kernel("zero", cleared,
           [&] { device.zero(reinterpret_cast<std::byte*>(gradients.get()), cleared * 4); });
  kernel("grad_norm", kStretch,
         [&] { device.sum_of_squares(sum, gradients.next(kStretch), kStretch); });
  kernel("adamw", kStretch, [&] {
    device.adamw(parameters.next(kStretch), nullptr, gradients.next(kStretch), first.next(kStretch),
                 second.next(kStretch), sum, 0, settings, kStretch);
  });
}

}  // namespace

std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop) {
  Measure kernel(device, sizes, stop);
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
    // Into the gradient of the residual stream, as in a layer.
    kernel("norm_input_grad", NC, [&] {
      device.layer_norm_input_grad(y.get(), x.get(), kept.next(NC), row.get(), s, true, N, C);
    });
    kernel("rms_norm_input_grad", NC, [&] {
      device.rms_norm_input_grad(y.get(), x.get(), kept.next(NC), row.get(), s, true, N, C);
    });
    kernel("norm_weight_grad", NC,
           [&] { device.norm_weight_grad(row.get(), row.get() + C, x.get(), y.get(), s, N, C); });
    kernel("attention", scores, [&] {
      device.attention_forward(kept.next(NC), probabilities.next(scores), qkv.get(), shape, {});
    });
    kernel("attention_grad", scores, [&] {
      device.attention_backward(dqkv.get(), scratch.get(), x.get(), kept_qkv.next(N * A),
                                probabilities.next(scores), shape, {});
    });
    measure_fused_attention(device, T, C, H, kernel);
    kernel(kPermuteKernel, 2 * NC,
           [&] { device.copy_rows(kept.next(2 * NC), 2 * C, qkv.get() + C, A, N, 2 * C); });
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
    kernel("loss_max", N * V, [&] { device.loss_max(s, x.get(), N, V); });
    kernel("loss_sum", N * V, [&] { device.loss_sum(s + N, s + 2 * N, x.get(), s, tokens, N, V); });
    kernel("loss", N, [&] { device.loss(sum, s, s + N, s + 2 * N, N); });
    kernel("loss_grad", N * V, [&] { device.loss_grad(y.get(), s, s + N, tokens, 1e-3F, N, V); });
    kernel(kReduceKernel, NF, [&] { device.accumulate(kept.next(NF), x.get(), NF); });
  }
  measure_update(device, kernel);
  return kernel.take();
}

}  // namespace parallelarium
