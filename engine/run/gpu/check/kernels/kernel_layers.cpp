// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <limits>

#include "engine/run/gpu/check/kernels/kernel_families.h"
#include "kernels/base/pitch.h"

namespace parallelarium {

namespace {

struct Product {
  std::int64_t N, M, K, pitch;
};
// Odd leading dimensions, which no vector load fits; whole tiles; rows of the output apart.
constexpr std::array kProducts = {Product{1, 1, 1, 0},     Product{3, 5, 7, 0},
                                  Product{16, 24, 8, 0},   Product{65, 33, 17, 0},
                                  Product{64, 96, 128, 0}, Product{1, 127, 63, 0},
                                  Product{3, 5, 7, 8},     Product{40, 67, 96, 72}};

// What lies in a gap is not made use of, not even times zero.
CheckArray rows_in(KernelBench& on, const char* name, DataType type, std::int64_t rows,
                   std::int64_t columns, std::int64_t pitch, const std::function<double()>& value) {
  return on.in(name, type, rows * pitch, [&, columns, pitch](std::int64_t i) {
    return i % pitch < columns ? value() : std::numeric_limits<double>::quiet_NaN();
  });
}

double whole_unit(KernelBench& on) { return static_cast<double>(on.bits() >> 20 & 1) * 2 - 1; }

// y, dx and dw of one layer; in 16 bit also with y, dy and dw in fp32.
void product(KernelBench& on, const Product& shape, int shift, DataType beside) {
  const auto [N, M, K, given] = shape;
  const std::int64_t pitch = pitch_of(M, given);
  const DataType type = on.type();
  const bool biased = beside == type && pitch == M;
  const std::string apart = given > 0 ? fmt::format(", rows {} apart", given) : "";
  const std::string mixed = beside != type ? ", fp32 beside" : "";
  if (!on.begin(fmt::format("{} x {} x {}{}{}", N, M, K, apart, mixed), shift)) return;
  const auto unit = [&] { return whole_unit(on); };
  const CheckArray x = on.whole("x", type, N * K), w = on.whole("w", type, M * K),
                   bias = on.whole("bias", beside, M),
                   dy = rows_in(on, "dy", type, N, M, pitch, unit),
                   beside_dy = rows_in(on, "dy", beside, N, M, pitch, unit),
                   y = on.rows_out("y", beside, N, M, pitch),
                   plain = on.rows_out("y without bias", beside, N, M, pitch),
                   dx = on.out("dx", type, N * K), dw = on.changed(on.whole("dw", beside, M * K)),
                   db = on.changed(on.whole("dbias", beside, M));
  on.run([&, N = N, M = M, K = K, given = given](Device& device, const Side& at) {
    if (biased) device.linear_forward(at(y), at(x), at(w), at(bias), N, M, K, given);
    device.linear_forward(at(plain), at(x), at(w), {}, N, M, K, given);
    device.linear_input_grad(at(dx), at(beside_dy), at(w), N, M, K, given);
    device.linear_weight_grad(at(dw), biased ? at(db) : Values(), at(dy), at(x), N, M, K, given);
  });
}

// One layer in FP8, whose gradients of weights are in either storage.
void fp8_product(KernelBench& on, std::int64_t N, std::int64_t M, std::int64_t K, int shift) {
  if (!on.begin(fmt::format("{} x {} x {}", N, M, K), shift)) return;
  const DataType type = on.type();
  const CheckArray x = on.whole("x", type, N * K), w = on.whole("w", type, M * K),
                   bias = on.whole("bias", type, M), dy = on.whole("dy", type, N * M),
                   y = on.out("y", type, N * M, rounded(type)),
                   plain = on.out("y without bias", type, N * M, rounded(type)),
                   dx = on.out("dx", type, N * K, rounded(type)),
                   dw = on.changed(on.whole("dw", type, M * K), rounded(type)),
                   main_dw = on.changed(on.whole("dw of fp32", kF32, M * K), rounded(kF32)),
                   db = on.changed(on.whole("dbias", type, M));
  on.run(
      [&](Device& device, const Side& at) {
        device.fp8_linear_forward(at(y), at(x), at(w), at(bias), N, M, K);
        device.fp8_linear_forward(at(plain), at(x), at(w), {}, N, M, K);
        device.fp8_linear_input_grad(at(dx), at(dy), at(w), N, M, K);
        device.fp8_linear_weight_grad(at(dw), at(db), at(dy), at(x), N, M, K);
        device.fp8_linear_weight_grad(at(main_dw), {}, at(dy), at(x), N, M, K);
      },
      [](const Device& device) { return device.has_fp8(); });
}

// Rows whose neighbours differ by 2 at least: where all channels are nearly equal, the variance is
// one of rounding errors, which 1/sqrt magnifies.
CheckArray uneven(KernelBench& on, std::int64_t N, std::int64_t C) {
  return on.in("x", on.type(), N * C,
               [&, C](std::int64_t i) { return on.unit() + (i % C % 2 == 0 ? 2.0 : -2.0); });
}

void norm(KernelBench& on, bool layer, std::int64_t N, std::int64_t C, bool adds, int shift) {
  if (!on.begin(fmt::format("{} x {}{}", N, C, adds ? ", adding" : ""), shift)) return;
  const DataType type = on.type();
  const Allowance one = rounded(type, 1), two = rounded(type, 2);
  const CheckArray x = uneven(on, N, C), dy = on.random("dy", type, N * C),
                   gain = on.random("gain", type, C), bias = on.random("bias", type, C),
                   y = on.out("y", type, N * C, one),
                   stats = on.out("stats", kF32, 2 * N, rounded(kF32), false),
                   dx = on.changed(on.random("dx", type, N * C), two),
                   dgain = on.changed(on.random("dgain", type, C), two),
                   dbias = on.changed(on.random("dbias", type, C), two),
                   main_dgain = on.changed(on.random("dgain of fp32", kF32, C), rounded(kF32, 1));
  on.run([&](Device& device, const Side& at) {
    if (layer) {
      device.layer_norm_forward(at(y), at.floats(stats), at(x), at(gain), at(bias), N, C);
      device.layer_norm_input_grad(at(dx), at(dy), at(x), at(gain), at.floats(stats), adds, N, C);
    } else {
      device.rms_norm_forward(at(y), at.floats(stats), at(x), at(gain), N, C);
      device.rms_norm_input_grad(at(dx), at(dy), at(x), at(gain), at.floats(stats), adds, N, C);
    }
    device.norm_weight_grad(at(dgain), at(dbias), at(dy), at(x), at.floats(stats), N, C);
    device.norm_weight_grad(at(main_dgain), {}, at(dy), at(x), at.floats(stats), N, C);
  });
}

}  // namespace

void check_products(KernelBench& on) {
  for (const Product& shape : kProducts) {
    product(on, shape, 0, on.type());
    if (on.type() != kF32) product(on, shape, 0, kF32);
  }
  // Libraries take other kernels, of large tiles, for what is as large as in a model.
  product(on, {257, 768, 1024, 0}, 0, on.type());
  for (const int shift : {1, 3, 8}) product(on, {20, 12, 36, 0}, shift, on.type());
}

// Tokens that pad their sum and that do not, one tile of a turned copy and several. Operands begin
// at 16 bytes, as cuBLASLt wants them: where 16 divides a layer's sizes, all its arrays do.
void check_fp8_products(KernelBench& on) {
  if (on.type() == kF32) return;
  fp8_product(on, 1, 16, 16, 0);
  fp8_product(on, 65, 48, 80, 0);
  fp8_product(on, 128, 256, 192, 0);
  fp8_product(on, 20, 32, 48, 8);
}

// Odd rows, whole packs, the largest row of a warp and one above, more rows than a part. Below four
// channels the gradient is a difference of nearly equal numbers.
void check_layer_norm(KernelBench& on) {
  for (const auto& [N, C] : {std::pair{5, 51}, std::pair{3, 64}, std::pair{9, 1024},
                             std::pair{2, 1032}, std::pair{75, 72}}) {
    norm(on, true, N, C, true, 0);
    norm(on, true, N, C, false, 1);
  }
}
void check_rms_norm(KernelBench& on) {
  for (const auto& [N, C] : {std::pair{1, 1}, std::pair{5, 51}, std::pair{3, 64},
                             std::pair{9, 1024}, std::pair{2, 1032}, std::pair{75, 72}}) {
    norm(on, false, N, C, true, 0);
    if (C > 3) norm(on, false, N, C, false, 1);
  }
}

void check_gelu(KernelBench& on) {
  for (const std::int64_t count : {1, 3, 8, 257, 5003}) {
    for (const int shift : {0, 1}) {
      if (!on.begin(fmt::format("{}", count), shift)) return;
      const DataType type = on.type();
      const CheckArray u = on.random("u", type, count, 5), dg = on.random("dg", type, count),
                       g = on.out("g", type, count, rounded(type)),
                       du = on.out("du", type, count, rounded(type));
      on.run([&](Device& device, const Side& at) {
        device.gelu_forward(at(g), at(u), count);
        device.gelu_backward(at(du), at(dg), at(u), count);
      });
    }
  }
}

void check_swiglu(KernelBench& on) {
  for (const auto& [N, F] :
       {std::pair{1, 1}, std::pair{3, 5}, std::pair{7, 129}, std::pair{5, 64}}) {
    for (const int shift : {0, 1}) {
      if (!on.begin(fmt::format("{} x {}", N, F), shift)) return;
      const DataType type = on.type();
      const std::int64_t count = std::int64_t{N} * F;
      const CheckArray u = on.random("u", type, 2 * count, 4), dg = on.random("dg", type, count),
                       g = on.out("g", type, count, rounded(type)),
                       du = on.out("du", type, 2 * count, rounded(type));
      on.run([&, N = N, F = F](Device& device, const Side& at) {
        device.swiglu_forward(at(g), at(u), at(u) + F, N, F, 2 * F);
        device.swiglu_backward(at(du), at(dg), at(u), at(u) + F, N, F, 2 * F);
      });
    }
  }
}

void check_loss(KernelBench& on) {
  struct Case {
    std::int64_t N, V, pitch;
  };
  for (const auto& [N, V, given] : {Case{1, 1, 0}, Case{3, 7, 0}, Case{5, 257, 264},
                                    Case{70, 50, 56}, Case{2, 5003, 5008}, Case{4, 1000, 0}}) {
    const std::int64_t pitch = pitch_of(V, given);
    if (!on.begin(fmt::format("{} x {}{}", N, V, given > 0 ? ", rows apart" : ""))) return;
    std::vector<std::int32_t> ids;
    for (std::int64_t n = 0; n < N; ++n)  // the fourth of five is another rank's
      ids.push_back(static_cast<std::int32_t>(n % 5 == 3 ? V + n : (n * 31 + V / 2) % V));
    std::vector<std::int32_t> own = ids;
    for (std::int32_t& id : own) id = static_cast<std::int32_t>(id % V);
    const DataType type = on.type();
    const Allowance bound = rounded(kF32);
    const auto stat = [&, N = N](const char* name) { return on.out(name, kF32, N, bound, false); };
    const CheckArray logits =
                         rows_in(on, "logits", type, N, V, pitch, [&] { return 4 * on.unit(); }),
                     targets = on.ints("targets", ids), own_targets = on.ints("targets", own),
                     row_max = stat("row_max"), sum_exp = stat("sum_exp"),
                     of_target = stat("target_logit"), max_too = stat("row_max"),
                     sum_too = stat("sum_exp"), target_too = stat("target_logit"),
                     sum = on.changed(
                         on.in("sum", DataType::kF64, 1, [](std::int64_t) { return 3; }), {1e-5}),
                     gradient = on.rows_out("gradient", type, N, V, pitch, rounded(type));
    on.run([&, N = N, V = V, given = given](Device& device, const Side& at) {
      device.loss_max(at.floats(row_max), at(logits), N, V, given);
      device.loss_sum(at.floats(sum_exp), at.floats(of_target), at(logits), at.floats(row_max),
                      at.ints(targets), N, V, given);
      device.loss_max_sum(at.floats(max_too), at.floats(sum_too), at.floats(target_too), at(logits),
                          at.ints(own_targets), N, V, given);
      device.loss(at.doubles(sum), at.floats(row_max), at.floats(sum_exp), at.floats(of_target), N);
      device.copy(at.bytes(gradient), at.bytes(logits), N * pitch * size_of(type));
      device.loss_grad(at(gradient), at.floats(row_max), at.floats(sum_exp), at.ints(targets),
                       0.25F * static_cast<float>(V), N, V, given);
    });
  }
}

namespace {

// Runs of 1, 2, 3 ... elements, every second one marked, in `count` elements.
Runs runs_of(std::int64_t count) {
  Runs runs;
  bool marked = true;
  for (std::int64_t length = 1; runs.length() < count; length = 2 * length + 1, marked = !marked)
    runs.add(std::min(length, count - runs.length()), marked);
  return runs;
}

void adamw(KernelBench& on, std::int64_t count, DataType gradients, DataType moments, float clip,
           int shift) {
  const DataType type = on.type();
  if (!on.begin(fmt::format("{}, gradients {}, moments {}{}", count, name_of(gradients),
                            name_of(moments), clip > 0 ? ", clipped" : ""),
                shift))
    return;
  const bool half = type != kF32;
  const CheckArray parameters = on.changed(on.random("parameters", type, count), rounded(type)),
                   master = half ? on.changed(on.random("master", kF32, count), rounded(kF32))
                                 : CheckArray{},
                   gradient = on.random("gradients", gradients, count),
                   first = on.changed(on.random("first moment", moments, count), rounded(moments)),
                   second = on.changed(on.in("second moment", moments, count,
                                             [&](std::int64_t) { return 1.5 + on.unit(); }),
                                       rounded(moments)),
                   squares = on.in("squares", DataType::kF64, 1, [](std::int64_t) { return 9; });
  AdamW settings;
  settings.step = 3;
  settings.learning_rate = 0.05F;
  const Runs decayed = runs_of(count);
  on.run([&](Device& device, const Side& at) {
    device.adamw(at(parameters), half ? at.floats(master) : nullptr, at(gradient), at(first),
                 at(second), at.doubles(squares), clip, settings, decayed);
  });
}

}  // namespace

void check_update(KernelBench& on) {
  for (const std::int64_t count : {1, 3, 8, 257, 5003}) {
    const int shift = count == 257 ? 1 : 0;
    if (!on.begin(fmt::format("squares of {}", count), shift)) return;
    const CheckArray values = on.whole("values", on.type(), count, 7),
                     sum = on.changed(
                         on.in("sum", DataType::kF64, 1, [](std::int64_t) { return 3; }));
    const Runs counted = runs_of(count);
    on.run([&](Device& device, const Side& at) {
      device.sum_of_squares(at.doubles(sum), at(values), counted);
    });
    adamw(on, count, on.type(), kF32, 1, shift);
    if (on.type() == kF32) {
      adamw(on, count, kF32, kF32, 0, shift);
      continue;
    }
    adamw(on, count, kF32, kF32, 0, shift);
    adamw(on, count, on.type(), on.type(), 0, shift);
  }
}

}  // namespace parallelarium
