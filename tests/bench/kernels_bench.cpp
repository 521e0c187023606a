// SPDX-License-Identifier: Apache-2.0
// Rates of the CPU kernels on one core: FLOP/s of matrix products, bytes/s of the rest, and the
// time of one training step of gpt-tiny for one sequence.
#include <benchmark/benchmark.h>

#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/residual.h"
#include "kernels/norms/norm.h"
#include "kernels/optimizer/adamw.h"
#include "kernels/products/linear.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "tests/kernels/reference.h"
#include "tests/train/one_rank.h"

namespace parallelarium {
namespace {

using reference::Floats;
using reference::random_floats;

void count_flops(benchmark::State& state, double flops) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}
void count_bytes(benchmark::State& state, double bytes) {
  state.counters["bytes/s"] =
      benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
}

// N tokens, M outputs, K inputs.
void linear(benchmark::State& state) {
  const auto N = state.range(0);
  const auto M = state.range(1);
  const auto K = state.range(2);
  const int which = static_cast<int>(state.range(3));
  Floats x = random_floats(N * K, 1);
  Floats w = random_floats(M * K, 2);
  Floats y = random_floats(N * M, 3);
  for (auto _ : state) {
    if (which == 0) linear_forward_cpu(y.data(), x.data(), w.data(), nullptr, N, M, K);
    if (which == 1) linear_input_grad_cpu(x.data(), y.data(), w.data(), N, M, K);
    if (which == 2) linear_weight_grad_cpu(w.data(), nullptr, y.data(), x.data(), N, M, K);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * static_cast<double>(N * M * K));
}
BENCHMARK(linear)
    ->ArgNames({"N", "M", "K", "grad"})
    ->Args({128, 64, 64, 0})
    ->Args({128, 192, 64, 0})
    ->Args({128, 192, 64, 1})
    ->Args({128, 192, 64, 2})
    ->Args({128, 256, 64, 0})
    ->Args({128, 64, 256, 0})
    ->Args({256, 256, 256, 0})
    ->Args({512, 512, 512, 0})
    ->Args({1024, 1024, 1024, 0})
    ->Args({1024, 1024, 1024, 1})
    ->Args({1024, 1024, 1024, 2});

void attention(benchmark::State& state) {
  const AttentionShape shape{1, state.range(0), state.range(1), state.range(1), state.range(2)};
  const std::int64_t width = shape.H * shape.D;
  const Floats qkv = random_floats(shape.T * 3 * width, 1);
  const Floats dcontext = random_floats(shape.T * width, 2);
  Floats context(dcontext.size());
  Floats dqkv(qkv.size());
  Floats probabilities(static_cast<std::size_t>(shape.H * shape.T * shape.T));
  Floats scratch(static_cast<std::size_t>(shape.T * shape.T));
  const bool backward = state.range(3) != 0;
  attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), shape);
  for (auto _ : state) {
    if (backward)
      attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                             probabilities.data(), shape);
    else
      attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), shape);
    benchmark::ClobberMemory();
  }
  count_flops(state, (backward ? 8.0 : 4.0) * static_cast<double>(shape.T * shape.T * width));
}
BENCHMARK(attention)
    ->ArgNames({"T", "H", "D", "backward"})
    ->Args({128, 4, 16, 0})
    ->Args({128, 4, 16, 1})
    ->Args({256, 8, 32, 0})
    ->Args({256, 8, 32, 1})
    ->Args({1024, 12, 64, 0})
    ->Args({1024, 12, 64, 1});

// Elementwise kernels over range(0) elements; bytes are those that must move.
template <class Launch>
void elementwise(benchmark::State& state, double bytes_per_element, const Launch& launch) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<Floats> arrays;
  for (unsigned seed = 0; seed < 4; ++seed) {
    arrays.push_back(random_floats(state.range(0), seed));
    for (float& value : arrays.back()) value = value * value;
  }
  for (auto _ : state) {
    launch(arrays, count);
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes_per_element * static_cast<double>(count));
}
void accumulate(benchmark::State& state) {
  elementwise(state, 12, [](auto& arrays, std::size_t count) {
    accumulate_cpu(arrays[0].data(), arrays[1].data(), count);
  });
}
void gelu_forward(benchmark::State& state) {
  elementwise(state, 8, [](auto& arrays, std::size_t count) {
    gelu_forward_cpu(arrays[0].data(), arrays[1].data(), count);
  });
}
void gelu_backward(benchmark::State& state) {
  elementwise(state, 12, [](auto& arrays, std::size_t count) {
    gelu_backward_cpu(arrays[0].data(), arrays[1].data(), arrays[2].data(), count);
  });
}
void adamw(benchmark::State& state) {
  elementwise(state, 28, [](auto& arrays, std::size_t count) {
    adamw_cpu(arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(), nullptr, 0,
              AdamW{}, count);
  });
}
BENCHMARK(accumulate)->Arg(1 << 13)->Arg(1 << 24);
BENCHMARK(gelu_forward)->Arg(1 << 15)->Arg(1 << 24);
BENCHMARK(gelu_backward)->Arg(1 << 15)->Arg(1 << 24);
BENCHMARK(adamw)->Arg(1 << 13)->Arg(1 << 24);

void layer_norm(benchmark::State& state) {
  const auto C = state.range(0);
  constexpr std::int64_t kTokens = 128;
  const Floats x = random_floats(kTokens * C, 1);
  const Floats gain = random_floats(C, 2);
  Floats y(x.size());
  Floats stats(2 * kTokens);
  for (auto _ : state) {
    layer_norm_forward_cpu(y.data(), stats.data(), x.data(), gain.data(), gain.data(), kTokens, C);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 8.0 * static_cast<double>(kTokens * C));
}
BENCHMARK(layer_norm)->Arg(64)->Arg(1024);

void loss_gradient(benchmark::State& state) {
  const auto V = state.range(0);
  constexpr std::int64_t kTokens = 128;
  Floats logits = random_floats(kTokens * V, 1);
  const Floats ones(kTokens, 1.0F);
  const std::vector<std::int32_t> targets(kTokens, 0);
  for (auto _ : state) {
    loss_grad_cpu(logits.data(), ones.data(), ones.data(), targets.data(), 1.0F, kTokens, V);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 8.0 * static_cast<double>(kTokens * V));
}
BENCHMARK(loss_gradient)->Arg(256);

Shape gpt_tiny() {
  Shape shape;
  shape.B = 1;
  shape.T = 128;
  shape.C = 64;
  shape.H = shape.K = 4;
  shape.D = 16;
  shape.F = 256;
  shape.V = shape.vocab = 256;
  shape.layers = 8;
  return shape;
}

void gpt_tiny_step(benchmark::State& state) {
  OneRank rank(gpt_tiny(), 1);
  rank.initialise(1);
  std::vector<std::int32_t> tokens(128, 65);
  rank.set_text(tokens, tokens);
  for (auto _ : state) benchmark::DoNotOptimize(rank.step({}, false));
}
BENCHMARK(gpt_tiny_step)->Unit(benchmark::kMillisecond);

// The same step, one bar for each (piece, phase).
void gpt_tiny_piece(benchmark::State& state) {
  const auto piece = static_cast<Piece>(state.range(0));
  const auto phase = static_cast<Phase>(state.range(1));
  const OneRankProgram program(gpt_tiny(), 1);
  const auto device = make_cpu_device();
  const auto arena = device->allocate(program.rank().arena_bytes);
  device->zero(*arena, program.rank().arena_bytes);
  for (const Op& op : program.rank().ops)
    (void)execute_op(*device, program.shape(), program.rank(), op, *arena, {});
  for (auto _ : state)
    for (const Op& op : program.rank().ops)
      if (op.piece == piece && op.phase == phase)
        benchmark::DoNotOptimize(
            execute_op(*device, program.shape(), program.rank(), op, *arena, {}));
  device->release(*arena);
  state.SetLabel(std::string(name_of(piece)) + " " + std::string(name_of(phase)));
}
BENCHMARK(gpt_tiny_piece)->Unit(benchmark::kMicrosecond)->Apply([](auto* bench) {
  const OneRankProgram program(gpt_tiny(), 1);
  std::map<std::pair<Piece, Phase>, bool> seen;
  for (const Op& op : program.rank().ops)
    if (!std::exchange(seen[{op.piece, op.phase}], true))
      bench->Args({static_cast<int>(op.piece), static_cast<int>(op.phase)});
});

}  // namespace
}  // namespace parallelarium

BENCHMARK_MAIN();
