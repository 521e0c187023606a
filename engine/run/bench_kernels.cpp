// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels_of_pieces.h, one after another.
#include <algorithm>
#include <functional>
#include <utility>

#include "engine/plan/kernels_of_pieces.h"
#include "engine/run/bench.h"
#include "engine/run/bench_timing.h"
#include "kernels/fused_attention.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kVocabulary = 256;  // bytes
constexpr std::int64_t kExperts = 8;
constexpr DataType kF32 = DataType::kF32;

// Times what is given to it, and keeps the times.
class Measure {
 public:
  Measure(Device& device, const BenchSizes& sizes, const Stop& stop)
      : device_(device), sizes_(sizes), stop_(stop), interlude_(device, sizes.type) {}

  // `work` is so many calls of so many elements each.
  void operator()(std::string_view name, std::int64_t elements, const std::function<void()>& work,
                  int calls = 1) {
    if (stop_.raised() || (sizes_.type != kF32 && is_always_fp32(name))) return;
    times_.push_back({std::string(name), static_cast<double>(elements),
                      typical_seconds(device_, work, sizes_.least, &interlude_) / calls,
                      std::string(name_of(sizes_.type))});
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
void measure_fused_attention(Device& device, DataType type, const BenchSizes::Sequence& sequence,
                             Measure& kernel) {
  const auto& [T, C, H] = sequence;
  const std::int64_t D = C / H, A = 3 * C;
  for (const int ranks : {1, 2}) {
    const std::int64_t N = T / ranks, quarter = T / 4, own_stride = A, others_stride = 2 * C;
    const AttentionShape shape{1, N, H, H, D};
    const TokenRuns own = ranks == 1 ? TokenRuns{} : TokenRuns{2, {0, 3 * quarter}};
    const TokenRuns others{2, {quarter, 2 * quarter}};
    const AttentionBlock first{shape, own, own, own_stride, true},
        second{shape, own, others, others_stride, false};
    const Numbers qkv(device, type, N * A), dqkv(device, type, N * A),
        kept_qkv(device, type, N * A, Numbers::kMany), context(device, type, N * C, Numbers::kMany),
        dcontext(device, type, N * C), received(device, type, 2 * N * C),
        dreceived(device, type, 2 * N * C);
    const Numbers stats(device, kF32, 2 * H * N),
        scratch_(device, kF32,
                 std::max(block_attention_scratch(shape), fused_attention_scratch(shape)));
    float *lse = stats.floats(), *sum = lse + H * N, *scratch = scratch_.floats();
    const bool whole = ranks == 1 && type == DataType::kBf16;  // as pieces do
    kernel(
        ranks == 1 ? "fused_attention" : "block_attention", H * N * N,
        [&] {
          const Values out = context.next(N * C);
          if (whole) return device.fused_attention_forward(out, lse, scratch, qkv.get(), shape);
          device.block_attention_forward(out, lse, sum, scratch, qkv.get(), qkv.get() + C, first);
          if (ranks > 1)
            device.block_attention_forward(out, lse, sum, scratch, qkv.get(), received.get(),
                                           second);
          device.block_attention_finish(out, lse, sum, shape);
        },
        ranks);
    kernel(
        ranks == 1 ? "fused_attention_grad" : "block_attention_grad", H * N * N,
        [&] {
          const Values in = kept_qkv.next(N * A), out = context.next(N * C);
          if (whole)
            return device.fused_attention_backward(dqkv.get(), scratch, dcontext.get(), in, out,
                                                   lse, shape);
          device.zero(dqkv.get().address(), N * A * size_of(type));
          device.block_attention_backward(dqkv.get(), dqkv.get() + C, scratch, dcontext.get(), in,
                                          in + C, out, lse, first);
          if (ranks == 1) return;
          device.zero(dreceived.get().address(), 2 * N * C * size_of(type));
          device.block_attention_backward(dqkv.get(), dreceived.get(), scratch, dcontext.get(), in,
                                          received.get(), out, lse, second);
        },
        ranks);
  }
}

// Routers, and the moves of rows that follow: N tokens of width C that visit two experts each.
void measure_routing(Device& device, DataType type, std::int64_t N, std::int64_t C,
                     Measure& kernel) {
  RouterShape router;
  router.N = N;
  router.E = kExperts;
  router.k = 2;
  const std::int64_t E = router.E, k = router.k, rows = N * k * C;
  const Numbers logits(device, kF32, N * E, Numbers::kMany), dlogits(device, kF32, N * E),
      gates(device, kF32, N * k), dgates(device, kF32, N * k),
      record(device, kF32, record_count(E)), routed(device, kF32, routes_count(N, k, E)),
      tokens(device, type, N * C), sent(device, type, rows),
      kept(device, type, rows, Numbers::kMany);
  auto* routes = reinterpret_cast<std::int32_t*>(routed.floats());
  // The moves of rows need routes.
  device.route(gates.floats(), routes, record.floats(), logits.get().as<float>(), nullptr, router);
  for (const bool sigmoid : {false, true}) {
    router.sigmoid = sigmoid;
    kernel(sigmoid ? "sigmoid_router" : "router", N * E, [&] {
      device.route(gates.floats(), routes, record.floats(), logits.next(N * E).as<float>(), nullptr,
                   router);
    });
    kernel(sigmoid ? "sigmoid_router_grad" : "router_grad", N * E, [&] {
      device.route_grad(dlogits.floats(), dgates.floats(), logits.next(N * E).as<float>(),
                        gates.floats(), routes, 1, router);
    });
  }
  kernel("dispatch", rows,
         [&] { device.dispatch_rows(kept.next(rows), tokens.get(), routes, N, k, C); });
  kernel("dispatch_grad", rows,
         [&] { device.dispatch_rows_grad(tokens.get(), sent.get(), routes, true, N, k, C); });
  kernel("unpermute", rows, [&] {
    device.combine_rows(tokens.get(), sent.get(), gates.floats(), nullptr, routes, N, k, C);
  });
  kernel("unpermute_grad", rows, [&] {
    device.combine_rows_grad(sent.get(), dgates.floats(), tokens.get(), kept.next(rows),
                             gates.floats(), routes, N, k, C);
  });
}

// What passes over all parameters, one stretch after another; in 16 bit with the types of mixed-16,
// for which AdamW stands for the other recipes, too.
void measure_update(Device& device, DataType type, Measure& kernel) {
  constexpr std::int64_t kAll = 1 << 22, kStretch = 1 << 16;
  const bool is_half = type == DataType::kBf16;
  const Numbers parameters(device, type, kAll), gradients(device, type, kAll),
      first(device, kF32, kAll), second(device, kF32, kAll), sums(device, kF32, 8),
      masters(device, kF32, is_half ? kAll : 1);
  auto* sum = reinterpret_cast<double*>(sums.floats());
  const AdamW settings;
  // Of a bucket, of a small model, and of one that no cache holds.
  for (const std::int64_t cleared : {kStretch, kStretch * 8, kAll})
    kernel("zero", cleared,
           [&] { device.zero(gradients.get().address(), cleared * size_of(type)); });
  kernel("grad_norm", kStretch,
         [&] { device.sum_of_squares(sum, gradients.next(kStretch), kStretch); });
  kernel("adamw", kStretch, [&] {
    float* master = is_half ? masters.next(kStretch).as<float>() : nullptr;
    device.adamw(parameters.next(kStretch), master, gradients.next(kStretch), first.next(kStretch),
                 second.next(kStretch), sum, 0, settings, kStretch);
  });
}

}  // namespace

std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop) {
  Measure kernel(device, sizes, stop);
  const DataType type = sizes.type;
  for (const auto& [T, C, H] : sizes.sequences) {
    const std::int64_t N = T, F = 4 * C, V = kVocabulary, A = 3 * C, scores = H * T * T;
    const std::int64_t NC = N * C, NF = N * F;
    const Numbers x(device, type, N * std::max(F, V)), y(device, type, N * std::max(F, V)),
        kept(device, type, N * std::max(F, V), Numbers::kMany), stats(device, kF32, 3 * N),
        row(device, type, std::max(F, V)), qkv(device, type, N * A), dqkv(device, type, N * A),
        kept_qkv(device, type, N * A, Numbers::kMany),
        probabilities(device, type, scores, Numbers::kMany), scratch(device, kF32, T * T),
        table(device, type, std::max(V, T) * C), tokens_memory(device, kF32, N + 4);
    auto* tokens = reinterpret_cast<std::int32_t*>(tokens_memory.floats());
    std::vector<std::int32_t> ids(static_cast<std::size_t>(N));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 256);
    device.copy_to_device(tokens_memory.get().address(), ids.data(), N * 4);
    const Numbers sums(device, kF32, 8);
    auto* sum = reinterpret_cast<double*>(sums.floats());
    const AttentionShape shape{1, T, H, H, C / H};
    float* s = stats.floats();
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
      device.attention_backward(dqkv.get(), scratch.floats(), x.get(), kept_qkv.next(N * A),
                                probabilities.next(scores), shape, {});
    });
    measure_fused_attention(device, type, {T, C, H}, kernel);
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
    measure_routing(device, type, N, C, kernel);
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
  measure_update(device, type, kernel);
  return kernel.take();
}

}  // namespace parallelarium
