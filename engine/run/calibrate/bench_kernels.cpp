// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels_of_pieces.h, one after another.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/run/calibrate/bench.h"
#include "engine/train/data.h"
#include "kernels/attention/fused_attention.h"

namespace parallelarium {

namespace {

constexpr DataType kFp32 = DataType::kF32;

// Times what is given to it, and keeps the times.
class Measure {
 public:
  Measure(Device& device, const BenchSizes& sizes, const Stop& stop)
      : device_(device), sizes_(sizes), stop_(stop), interlude_(device, sizes.type) {}

  // `work` is so many calls of so many elements each.
  void operator()(std::string_view name, std::int64_t elements, const std::function<void()>& work,
                  int calls = 1) {
    if (stop_.raised() || (sizes_.type != kFp32 && is_always_fp32(name))) return;
    const CallTime time = typical_time(device_, work, sizes_.least, &interlude_);
    times_.push_back({std::string(name), static_cast<double>(elements), time.seconds / calls,
                      std::string(name_of(sizes_.type)), time.host_seconds / calls});
  }
  std::vector<KernelTime> take() { return std::move(times_); }

 private:
  Device& device_;
  const BenchSizes& sizes_;
  const Stop& stop_;
  const Interlude interlude_;
  std::vector<KernelTime> times_;
};

// Attention that keeps no probabilities, of B sequences: on one rank, there with dropout or
// without, or on one of two that cut the sequences, with its own keys and values and with the
// other's.
void measure_fused_attention(Device& device, const BenchSizes& sizes,
                             const BenchSizes::Sequence& sequence, std::int64_t B, int ranks,
                             bool drops, Measure& kernel) {
  const DataType type = sizes.type;
  const std::int64_t T = sequence.T, C = sequence.C, H = sequence.H, many = sizes.places_bytes;
  const std::int64_t D = C / H, A = 3 * C;
  const std::int64_t L = T / ranks, N = B * L, quarter = T / 4, own_stride = A,
                     others_stride = 2 * C;
  const AttentionShape shape{B, L, H, H, D};
  const TokenRuns own = ranks == 1 ? TokenRuns{} : TokenRuns{2, {0, 3 * quarter}};
  const TokenRuns others{2, {quarter, 2 * quarter}};
  AttentionBlock first{shape, own, own, own_stride, true};
  if (drops) first.dropout = {make_dropout(0.1, 1), 0, 0, H, T};
  const AttentionBlock second{shape, own, others, others_stride, false};
  const DeviceNumbers qkv(device, type, N * A), dqkv(device, type, N * A),
      kept_qkv(device, type, N * A, many), context(device, type, N * C, many),
      dcontext(device, type, N * C), received(device, type, 2 * N * C),
      dreceived(device, type, 2 * N * C);
  const DeviceNumbers stats(device, kFp32, 2 * H * N),
      scratch_(device, kFp32,
               std::max(block_attention_scratch(shape), fused_attention_scratch(shape)));
  if (!all_there(qkv, dqkv, kept_qkv, context, dcontext, received, dreceived, stats, scratch_))
    return;
  float *lse = stats.floats(), *sum = lse + H * N, *scratch = scratch_.floats();
  const bool whole = ranks == 1 && !drops && device.fuses(type, D);  // as pieces do
  const std::string name = drops        ? "block_attention_dropping"
                           : ranks == 1 ? "fused_attention"
                                        : "block_attention";
  kernel(
      name, H * N * L,
      [&] {
        const Values out = context.next(N * C);
        if (whole) return device.fused_attention_forward(out, lse, scratch, qkv.get(), shape);
        device.block_attention_forward(out, lse, sum, scratch, qkv.get(), qkv.get() + C, first);
        if (ranks > 1)
          device.block_attention_forward(out, lse, sum, scratch, qkv.get(), received.get(), second);
        device.block_attention_finish(out, lse, sum, shape);
      },
      ranks);
  kernel(
      name + "_grad", H * N * L,
      [&] {
        const Values in = kept_qkv.next(N * A), out = context.next(N * C);
        if (whole)
          return device.fused_attention_backward(dqkv.get(), scratch, dcontext.get(), in, out, lse,
                                                 shape);
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

// Attention of one sequence, with and without dropout, and what turns and moves its operands; then
// that which keeps no probabilities. x, kept: of [T, 4 C].
void measure_attention(Device& device, const BenchSizes& sizes,
                       const BenchSizes::Sequence& sequence, const DeviceNumbers& x,
                       const DeviceNumbers& kept, Measure& kernel) {
  const DataType type = sizes.type;
  const std::int64_t T = sequence.T, C = sequence.C, H = sequence.H, many = sizes.places_bytes;
  const std::int64_t N = T, A = 3 * C, NC = N * C, scores = H * T * T;
  const AttentionShape shape{1, T, H, H, C / H};
  const DeviceNumbers qkv(device, type, N * A), dqkv(device, type, N * A),
      kept_qkv(device, type, N * A, many), probabilities(device, type, scores, many),
      dropped(device, type, scores, many), masks(device, kFp32, scores / 4 + 1),
      scratch(device, kFp32, T * T);
  if (!all_there(qkv, dqkv, kept_qkv, probabilities, dropped, masks, scratch)) return;
  auto* mask = reinterpret_cast<std::uint8_t*>(masks.get().address());
  const AttentionDropout dropout{make_dropout(0.1, 1), 0, 0, H, T};
  for (const bool drops : {false, true}) {
    const auto dropping = [&] {
      return drops ? DroppedValues{mask, dropped.next(scores), dropout} : DroppedValues{};
    };
    kernel(drops ? "attention_dropping" : "attention", scores, [&] {
      device.attention_forward(kept.next(NC), probabilities.next(scores), qkv.get(), shape,
                               dropping());
    });
    kernel(drops ? "attention_dropping_grad" : "attention_grad", scores, [&] {
      device.attention_backward(dqkv.get(), scratch.floats(), x.get(), kept_qkv.next(N * A),
                                probabilities.next(scores), shape, dropping());
    });
  }
  for (const std::int64_t B : sequence.batches)
    for (const auto& [ranks, drops] : {std::pair{1, false}, {1, true}, {2, false}})
      measure_fused_attention(device, sizes, sequence, B, ranks, drops, kernel);
  kernel(kPermuteKernel, 2 * NC,
         [&] { device.copy_rows(kept.next(2 * NC), 2 * C, qkv.get() + C, A, N, 2 * C); });
  kernel(kRotaryKernel, T * (C / H) / 2,
         [&] { device.rotary(qkv.get(), Turn::kForward, 0, shape); });
}

// Routers, and the moves of rows that follow: N tokens of width C that visit two experts each.
void measure_routing(Device& device, const BenchSizes& sizes, std::int64_t N, std::int64_t C,
                     Measure& kernel) {
  const DataType type = sizes.type;
  RouterShape router;
  router.N = N;
  router.E = kBenchExperts;
  router.k = 2;
  const std::int64_t E = router.E, k = router.k, rows = N * k * C, many = sizes.places_bytes;
  const DeviceNumbers logits(device, kFp32, N * E, many), dlogits(device, kFp32, N * E),
      gates(device, kFp32, N * k), dgates(device, kFp32, N * k),
      record(device, kFp32, record_count(E)), routed(device, kFp32, routes_count(N, k, E)),
      tokens(device, type, N * C), sent(device, type, rows), kept(device, type, rows, many);
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

// The kernels of a loss over N rows of V logits, as far apart as in a run. `gradient` may be
// `logits`.
void measure_loss(Device& device, Values gradient, Values logits, float* stats, double* sum,
                  const std::int32_t* targets, std::int64_t N, std::int64_t V, Measure& kernel) {
  const std::int64_t pitch = logits_pitch(V);
  float *row_max = stats, *row_sum = stats + N, *of_target = stats + 2 * N;
  kernel("loss_max", N * V, [&] { device.loss_max(row_max, logits, N, V, pitch); });
  kernel("loss_sum", N * V,
         [&] { device.loss_sum(row_sum, of_target, logits, row_max, targets, N, V, pitch); });
  kernel("loss_max_sum", N * V,
         [&] { device.loss_max_sum(row_max, row_sum, of_target, logits, targets, N, V, pitch); });
  kernel("loss", N, [&] { device.loss(sum, row_max, row_sum, of_target, N); });
  kernel("loss_grad", N * V,
         [&] { device.loss_grad(gradient, row_max, row_sum, targets, 1e-3F, N, V, pitch); });
}

// Bytes. On a GPU those of a text: there one block adds up all rows of a byte, so that the most
// frequent one decides how long the gradient of the embedding takes.
std::vector<std::int32_t> token_numbers(const Device& device, std::int64_t count) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 256);
  if (!device.runs_behind()) return ids;
  const std::string& text = default_text();
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<unsigned char>(text[i % text.size()]);
  return ids;
}

// What passes over all parameters, one stretch after another; in 16 bit with the types of mixed-16,
// for which AdamW stands for the other recipes, too.
void measure_update(Device& device, const BenchSizes& sizes, Measure& kernel) {
  const DataType type = sizes.type;
  const std::int64_t all = *std::max_element(sizes.cleared.begin(), sizes.cleared.end());
  const std::int64_t many = sizes.places_bytes;
  const bool is_half = type == DataType::kBf16, behind = device.runs_behind();
  const DeviceNumbers parameters(device, type, all, many), gradients(device, type, all, many),
      first(device, kFp32, all, many), second(device, kFp32, all, many), sums(device, kFp32, 8),
      masters(device, kFp32, is_half ? all : 1);
  if (!all_there(parameters, gradients, first, second, sums, masters)) return;
  auto* sum = reinterpret_cast<double*>(sums.floats());
  const AdamW settings;
  // Of a bucket, of a small model, and of one that no cache holds.
  for (const std::int64_t count : sizes.cleared)
    kernel("zero", count, [&] {
      const Values cleared = behind ? gradients.next(count) : gradients.get();
      device.zero(cleared.address(), count * size_of(type));
    });
  for (const std::int64_t count : sizes.updated) {
    const Runs run = one_run(count);
    kernel("grad_norm", count, [&] { device.sum_of_squares(sum, gradients.next(count), run); });
    kernel("adamw", count, [&] {
      float* master = is_half ? masters.next(count).as<float>() : nullptr;
      device.adamw(parameters.next(count), master, gradients.next(count), first.next(count),
                   second.next(count), sum, 0, settings, run);
    });
  }
  // A bucket of gradients is longer than what a layer adds up.
  if (behind)
    kernel(kReduceKernel, all,
           [&] { device.accumulate(parameters.next(all), gradients.next(all), all); });
}

}  // namespace

std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop) {
  Measure kernel(device, sizes, stop);
  const DataType type = sizes.type;
  const std::int64_t many = sizes.places_bytes;
  std::int64_t most = 0;
  for (const BenchSizes::Sequence& sequence : sizes.sequences) most = std::max(most, sequence.T);
  for (const BenchSizes::Logits& logits : sizes.logits) most = std::max(most, logits.N);
  const std::vector<std::int32_t> ids = token_numbers(device, most);
  for (const BenchSizes::Sequence& sequence : sizes.sequences) {
    if (stop.raised()) break;
    const std::int64_t T = sequence.T, C = sequence.C, H = sequence.H;
    const std::int64_t N = T, F = 4 * C, V = kBenchVocabulary;
    const std::int64_t NC = N * C, NF = N * F;
    const DeviceNumbers x(device, type, N * std::max(F, V)), y(device, type, N * std::max(F, V)),
        kept(device, type, N * std::max(F, V), many), stats(device, kFp32, 3 * N),
        row(device, type, std::max(F, V)), table(device, type, std::max(V, T) * C),
        tokens_memory(device, kFp32, N + 4), masks(device, kFp32, NC / 4 + 1);
    const DeviceNumbers sums(device, kFp32, 8);
    if (!all_there(x, y, kept, stats, row, table, tokens_memory, masks, sums)) continue;
    auto* tokens = reinterpret_cast<std::int32_t*>(tokens_memory.floats());
    device.copy_to_device(tokens_memory.get().address(), ids.data(), N * 4);
    auto* sum = reinterpret_cast<double*>(sums.floats());
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
    kernel("gelu", NF, [&] { device.gelu_forward(kept.next(NF), x.get(), NF); });
    kernel("gelu_grad", NF, [&] { device.gelu_backward(y.get(), x.get(), kept.next(NF), NF); });
    // With as many gates as values.
    kernel("swiglu", NF / 2,
           [&] { device.swiglu_forward(kept.next(NF), x.get(), x.get() + F / 2, N, F / 2, F); });
    kernel("swiglu_grad", NF / 2, [&] {
      const Values u = kept.next(NF);
      device.swiglu_backward(y.get(), x.get(), u, u + F / 2, N, F / 2, F);
    });
    kernel("residual", NC, [&] { device.residual_add(kept.next(NC), kept.next(NC), x.get(), NC); });
    const Dropout dropout = make_dropout(0.1, 1);
    auto* mask = reinterpret_cast<std::uint8_t*>(masks.get().address());
    kernel("residual_dropping", NC, [&] {
      device.dropout_residual(kept.next(NC), mask, kept.next(NC), x.get(), dropout, 0, NC);
    });
    kernel("residual_grad", NC,
           [&] { device.dropout_grad(y.get(), x.get(), mask, dropout.scale, NC); });
    kernel(kReduceKernel, NF, [&] { device.accumulate(kept.next(NF), x.get(), NF); });
    if (H == 0) continue;
    measure_attention(device, sizes, sequence, x, kept, kernel);
    measure_routing(device, sizes, N, C, kernel);
    kernel("embedding", NC, [&] {
      device.embedding_forward(kept.next(NC), tokens, table.get(), table.get(), N, T, C);
    });
    kernel("embedding_grad", NC,
           [&] { device.embedding_grad(table.get(), table.get(), x.get(), tokens, N, T, C); });
    measure_loss(device, y.get(), x.get(), s, sum, tokens, N, V, kernel);
  }
  for (const auto& [N, V] : sizes.logits) {
    const DeviceNumbers logits(device, type, N * logits_pitch(V)), stats(device, kFp32, 3 * N),
        sums(device, kFp32, 8), targets(device, kFp32, N);
    if (stop.raised() || !all_there(logits, stats, sums, targets)) break;
    device.copy_to_device(targets.get().address(), ids.data(), N * 4);
    measure_loss(device, logits.get(), logits.get(), stats.floats(),
                 reinterpret_cast<double*>(sums.floats()),
                 reinterpret_cast<const std::int32_t*>(targets.floats()), N, V, kernel);
  }
  measure_update(device, sizes, kernel);
  return kernel.take();
}

}  // namespace parallelarium
