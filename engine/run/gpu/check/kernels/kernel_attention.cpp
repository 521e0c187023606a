// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "engine/run/gpu/check/kernels/kernel_families.h"
#include "kernels/attention/fused_attention.h"

namespace parallelarium {

namespace {

// B, T, H, K, D: a single element, odd heads, shared key/value heads, tiles that are not full.
constexpr std::array kShapes = {AttentionShape{1, 1, 1, 1, 1},   AttentionShape{2, 3, 1, 1, 2},
                                AttentionShape{2, 5, 4, 2, 3},   AttentionShape{1, 40, 2, 1, 8},
                                AttentionShape{2, 65, 2, 2, 16}, AttentionShape{1, 70, 3, 1, 72},
                                AttentionShape{1, 129, 2, 2, 64}};

// Only tensor cores ask where their operands begin, and fp32 uses none: smaller shapes show it.
bool reads_alike_anywhere(DataType type, const AttentionShape& shape) {
  return type == DataType::kF32 && shape.T > 40;
}

std::string text_of(const AttentionShape& s) {
  return fmt::format("B {} T {} heads {}/{} of {}", s.B, s.T, s.H, s.K, s.D);
}

struct Operands {
  CheckArray qkv, dcontext, context, dqkv;
};
Operands operands(KernelBench& on, const AttentionShape& s, Allowance context, Allowance gradient) {
  const DataType type = on.type();
  const std::int64_t rows = s.B * s.T, A = (s.H + 2 * s.K) * s.D;
  return {on.random("qkv", type, rows * A), on.random("dcontext", type, rows * s.H * s.D),
          on.out("context", type, rows * s.H * s.D, context),
          on.out("dqkv", type, rows * A, gradient)};
}

// What a rank of a ring of two sees: its own keys in the columns of qkv, then the other's.
void block(KernelBench& on, const AttentionShape& shape, bool cut, double dropped, int shift) {
  const auto [B, L, H, K, D] = shape;
  if (!on.begin(fmt::format("{}{}{}", text_of(shape), cut ? ", cut" : "",
                            dropped > 0 ? ", dropping" : ""),
                shift))
    return;
  const DataType type = on.type();
  const std::int64_t A = (H + 2 * K) * D, rows = B * L, quarter = L / 2;
  const AttentionDropout numbers{make_dropout(dropped, 99), 1, 2, H + 3, 2 * L};
  const TokenRuns own = cut ? TokenRuns{2, {0, 3 * quarter}} : TokenRuns{};
  const AttentionBlock first{shape, own, own, A, true, numbers};
  const AttentionBlock second{shape,     own,   TokenRuns{2, {quarter, 2 * quarter}},
                              2 * K * D, false, numbers};
  const Operands all = operands(on, shape, rounded(type, 4), rounded(type, 6));
  // The gradient is added to what is there, of queries written by the first block.
  const CheckArray dqkv =
      on.changed(on.in("dqkv", type, rows * A, [](std::int64_t) { return 0.0; }), rounded(type, 6));
  const CheckArray other = on.random("other's keys and values", type, rows * 2 * K * D),
                   dother = on.changed(on.random("gradient of the other's", type, rows * 2 * K * D),
                                       rounded(type, 5)),
                   row_max = on.out("lse", kF32, B * H * L, rounded(kF32), false),
                   row_sum = on.out("row_sum", kF32, B * H * L, rounded(kF32), false),
                   scratch = on.scratch(4 * block_attention_scratch(shape));
  on.run([&, H = H, D = D, shape = shape](Device& device, const Side& at) {
    float *m = at.floats(row_max), *l = at.floats(row_sum), *space = at.floats(scratch);
    const std::int64_t keys = H * D;
    device.block_attention_forward(at(all.context), m, l, space, at(all.qkv), at(all.qkv) + keys,
                                   first);
    if (cut)
      device.block_attention_forward(at(all.context), m, l, space, at(all.qkv), at(other), second);
    device.block_attention_finish(at(all.context), m, l, shape);
    device.block_attention_backward(at(dqkv), at(dqkv) + keys, space, at(all.dcontext), at(all.qkv),
                                    at(all.qkv) + keys, at(all.context), m, first);
    if (cut)
      device.block_attention_backward(at(dqkv), at(dother), space, at(all.dcontext), at(all.qkv),
                                      at(other), at(all.context), m, second);
  });
}

}  // namespace

// In 16 bit scores, which are at most D, and the probabilities are rounded.
void check_unfused_attention(KernelBench& on) {
  for (const AttentionShape& shape : kShapes) {
    for (const bool drops : {false, true}) {
      if (!on.begin(text_of(shape) + (drops ? ", dropping" : ""))) return;
      const DataType type = on.type();
      const double score = std::sqrt(static_cast<double>(shape.D));
      const std::int64_t scores = shape.B * shape.H * shape.T * shape.T;
      const Operands all = operands(on, shape, rounded(type, 2 + score), rounded(type, 4 + score));
      const CheckArray probabilities =
                           on.out("probabilities", type, scores, rounded(type, 1 + score)),
                       mask = drops ? on.out("mask", DataType::kU8, scores) : CheckArray{},
                       dropped = drops ? on.out("dropped", type, scores, rounded(type, 1 + score))
                                       : CheckArray{},
                       scratch = on.scratch(4 * shape.T * shape.T);
      const AttentionDropout dropout{make_dropout(0.5, 7), 0, 0, shape.H, shape.T};
      on.run([&](Device& device, const Side& at) {
        const DroppedValues how =
            drops ? DroppedValues{at.mask(mask), at(dropped), dropout} : DroppedValues{};
        device.attention_forward(at(all.context), at(probabilities), at(all.qkv), shape, how);
        device.attention_backward(at(all.dqkv), at.floats(scratch), at(all.dcontext), at(all.qkv),
                                  at(probabilities), shape, how);
      });
    }
  }
}

// Of heads that a GPU does not fuse, block attention is what it does.
void check_fused_attention(KernelBench& on) {
  for (const AttentionShape& shape : kShapes) {
    for (const int shift : {0, 1}) {  // off 16 bytes: no tensor cores
      if (shift > 0 && reads_alike_anywhere(on.type(), shape)) continue;
      if (!on.begin(text_of(shape), shift)) return;
      const DataType type = on.type();
      const Operands all = operands(on, shape, rounded(type, 2), rounded(type, 4));
      const CheckArray lse = on.out("lse", kF32, shape.B * shape.H * shape.T, rounded(kF32), false),
                       scratch = on.scratch(4 * fused_attention_scratch(shape));
      on.run(
          [&](Device& device, const Side& at) {
            device.fused_attention_forward(at(all.context), at.floats(lse), at.floats(scratch),
                                           at(all.qkv), shape);
            device.fused_attention_backward(at(all.dqkv), at.floats(scratch), at(all.dcontext),
                                            at(all.qkv), at(all.context), at.floats(lse), shape);
          },
          [&](const Device& device) { return device.fuses(type, shape.D); });
    }
  }
}

void check_block_attention(KernelBench& on) {
  for (const int shift : {0, 1}) {
    block(on, {1, 1, 1, 1, 8}, false, 0.5, shift);
    block(on, {2, 6, 2, 1, 8}, true, 0.5, shift);
    block(on, {2, 33, 2, 2, 20}, false, 0, shift);
    for (const auto& [shape, dropped] : {std::pair{AttentionShape{1, 66, 3, 1, 96}, 0.5},
                                         std::pair{AttentionShape{1, 70, 2, 1, 64}, 0.0}})
      if (shift == 0 || !reads_alike_anywhere(on.type(), shape))
        block(on, shape, true, dropped, shift);
  }
}

void check_rotary(KernelBench& on) {
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1, 2}, AttentionShape{2, 5, 4, 2, 6},
        AttentionShape{3, 3, 1, 1, 24}, AttentionShape{1, 70, 3, 1, 64}}) {
    for (const Turn turn : {Turn::kForward, Turn::kBack}) {
      if (!on.begin(fmt::format("{}{}", text_of(shape), turn == Turn::kBack ? ", back" : ""),
                    turn == Turn::kBack ? 1 : 0))
        return;
      const DataType type = on.type();
      const std::int64_t A = (shape.H + 2 * shape.K) * shape.D;
      const CheckArray qkv =
          on.changed(on.random("qkv", type, shape.B * shape.T * A), rounded(type));
      on.run([&](Device& device, const Side& at) { device.rotary(at(qkv), turn, 3, shape); });
    }
  }
}

}  // namespace parallelarium
