// SPDX-License-Identifier: Apache-2.0
// Numbers are small and whole, so that results are exact.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "engine/run/gpu/check/kernels/kernel_families.h"

namespace parallelarium {

namespace {

// Single elements, odd tails, whole packs, more than a block.
constexpr std::array<std::int64_t, 5> kCounts = {1, 3, 8, 257, 5003};

}  // namespace

void check_copies(KernelBench& on) {
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{7}, std::int64_t{4097}}) {
    if (!on.begin(fmt::format("{} bytes", bytes))) return;
    const CheckArray from = on.whole("from", DataType::kU8, bytes, 0),
                     seven = on.in("from", DataType::kU8, bytes,
                                   [](std::int64_t i) { return static_cast<double>(i % 251); }),
                     to = on.out("to", DataType::kU8, bytes),
                     cleared = on.out("cleared", DataType::kU8, bytes),
                     back = on.out("copy of a copy", DataType::kU8, bytes);
    on.run([&](Device& device, const Side& at) {
      device.copy(at.bytes(to), at.bytes(seven), bytes);
      device.copy(at.bytes(back), at.bytes(to), bytes);
      device.copy(at.bytes(cleared), at.bytes(from), bytes);
      device.zero(at.bytes(cleared), bytes);
    });
  }
}

void check_swap(KernelBench& on) {
  for (const std::int64_t bytes : {1, 3, 16, 1037, 40000}) {
    for (const std::int64_t off : {0, 1}) {
      if (!on.begin(fmt::format("{} bytes, {} off", bytes, off))) return;
      const auto ramp = [&](std::int64_t i) { return static_cast<double>((i * 7 + off) % 251); };
      const auto fall = [](std::int64_t i) { return static_cast<double>(250 - i % 251); };
      const CheckArray a = on.changed(on.in("a", DataType::kU8, bytes + off, ramp)),
                       b = on.changed(on.in("b", DataType::kU8, bytes + off, fall));
      on.run([&](Device& device, const Side& at) {
        device.swap(at.bytes(a) + off, at.bytes(b) + off, bytes);
      });
    }
  }
}

void check_combine(KernelBench& on) {
  for (const DataType type : {DataType::kF32, DataType::kBf16, DataType::kF64, DataType::kI32}) {
    for (const Reduction reduction : {Reduction::kNone, Reduction::kSum, Reduction::kMax,
                                      Reduction::kProd, Reduction::kMin, Reduction::kAvg}) {
      for (const int parts : {1, 2, 7}) {
        for (const std::int64_t count : {1, 259}) {
          if (reduction == Reduction::kNone && parts > 1) continue;
          if (!on.begin(fmt::format("{} of {} parts of {} {}", name_of(reduction), parts, count,
                                    name_of(type)),
                        count > 1 ? 1 : 0))
            return;
          std::vector<CheckArray> arrays;
          for (int part = 0; part < parts; ++part)
            arrays.push_back(on.whole(fmt::format("part {}", part), type, count, 2));
          const CheckArray target = on.out("target", type, count);
          if (parts == 2) on.changed(arrays.back());
          on.run([&](Device& device, const Side& at) {
            std::vector<const std::byte*> places;
            for (const CheckArray part : arrays) places.push_back(at.bytes(part));
            device.combine(type, reduction, at.bytes(target), places, 4, count);
            if (parts == 2)  // the target may be one of the parts
              device.combine(type, reduction, at.bytes(arrays.back()), places, 4, count);
          });
        }
      }
    }
  }
}

void check_accumulate(KernelBench& on) {
  for (const std::int64_t count : kCounts) {
    for (const int shift : {0, 1}) {
      if (!on.begin(fmt::format("{}", count), shift)) return;
      const CheckArray sum = on.changed(on.whole("sum", on.type(), count, 7)),
                       part = on.whole("part", on.type(), count, 7),
                       sums = on.changed(on.whole("sum of fp64", DataType::kF64, count, 7)),
                       parts = on.whole("part of fp64", DataType::kF64, count, 7),
                       wide = on.changed(on.whole("widened", DataType::kF32, count, 7)),
                       half = on.changed(on.whole("rounded", DataType::kBf16, count, 7));
      on.run([&](Device& device, const Side& at) {
        device.accumulate(at(sum), at(part), count);
        device.accumulate(at(sums), at(parts), count);
        device.cast(at(half), at(wide), count);
        device.cast(at(wide), at(half), count);
      });
    }
  }
}

void check_rows(KernelBench& on) {
  struct Case {
    std::int64_t rows, width, stride, part_stride;
  };
  for (const auto& [rows, width, stride, part_stride] :
       {Case{1, 1, 1, 1}, Case{7, 5, 9, 6}, Case{3, 64, 192, 128}, Case{3, 300, 301, 304},
        Case{130, 2, 3, 2}}) {
    for (const int shift : {0, 1}) {
      if (!on.begin(fmt::format("{} x {}, {} apart", rows, width, stride), shift)) return;
      const CheckArray part = on.whole("part", on.type(), rows * part_stride, 7),
                       copied = on.changed(on.whole("copied", on.type(), rows * stride, 7)),
                       sum = on.changed(on.whole("sum", on.type(), rows * stride, 7)),
                       filled = on.changed(on.whole("filled", on.type(), rows * stride, 7));
      on.run([&, rows = rows, width = width, stride = stride, part_stride = part_stride](
                 Device& device, const Side& at) {
        device.copy_rows(at(copied), stride, at(part), part_stride, rows, width);
        device.accumulate_rows(at(sum), stride, at(part), part_stride, rows, width);
        device.fill_rows(at(filled), stride, -1.5F, rows, width);
      });
    }
  }
}

void check_residual(KernelBench& on) {
  for (const std::int64_t count : kCounts) {
    for (const int shift : {0, 1}) {
      if (!on.begin(fmt::format("{}", count), shift)) return;
      const CheckArray stream = on.whole("stream", on.type(), count, 7),
                       branch = on.whole("branch", on.type(), count, 7),
                       out = on.out("out", on.type(), count);
      on.run([&](Device& device, const Side& at) {
        device.residual_add(at(out), at(stream), at(branch), count);
      });
    }
  }
}

// A half is kept, and counts twice.
void check_dropout(KernelBench& on) {
  const Dropout dropout = make_dropout(0.5, 12345);
  for (const std::int64_t count : kCounts) {
    for (const std::int64_t first : {0, 3}) {
      if (!on.begin(fmt::format("{} from {}", count, first), first == 0 ? 0 : 1)) return;
      const CheckArray stream = on.whole("stream", on.type(), count, 7),
                       branch = on.whole("branch", on.type(), count, 7),
                       dx = on.whole("dx", on.type(), count, 7),
                       out = on.out("out", on.type(), count),
                       mask = on.out("mask", DataType::kU8, count),
                       dbranch = on.out("dbranch", on.type(), count);
      on.run([&](Device& device, const Side& at) {
        device.dropout_residual(at(out), at.mask(mask), at(stream), at(branch), dropout, first,
                                count);
        device.dropout_grad(at(dbranch), at(dx), at.mask(mask), dropout.scale, count);
      });
    }
  }
}

void check_embedding(KernelBench& on) {
  struct Case {
    std::int64_t N, T, C, V;
  };
  for (const auto& [N, T, C, V] :
       {Case{1, 1, 1, 1}, Case{6, 3, 5, 4}, Case{70, 35, 33, 11}, Case{140, 70, 64, 257}}) {
    for (const bool positions : {true, false}) {
      if (!on.begin(fmt::format("{} tokens of {}, width {}", N, V, C))) return;
      std::vector<std::int32_t> ids;
      for (std::int64_t n = 0; n < N; ++n)  // some are another rank's
        ids.push_back(N > 5 && n % 5 == 4 ? -1 : static_cast<std::int32_t>(n * n % V));
      const DataType type = on.type();
      const CheckArray tokens = on.ints("tokens", ids), table = on.whole("table", type, V * C, 7),
                       places = on.whole("positions", type, T * C, 7), x = on.out("x", type, N * C),
                       dx = on.whole("dx", type, N * C),
                       dtable = on.changed(on.whole("dtable", type, V * C)),
                       dplaces = on.changed(on.whole("dpositions", type, T * C)),
                       main_dtable = on.changed(on.whole("dtable of fp32", DataType::kF32, V * C)),
                       main_dplaces =
                           on.changed(on.whole("dpositions of fp32", DataType::kF32, T * C));
      on.run([&, N = N, T = T, C = C](Device& device, const Side& at) {
        const auto known = [&](const Values& of) { return positions ? of : Values(); };
        device.embedding_forward(at(x), at.ints(tokens), at(table), known(at(places)), N, T, C);
        device.embedding_grad(at(dtable), known(at(dplaces)), at(dx), at.ints(tokens), N, T, C);
        device.embedding_grad(at(main_dtable), known(at(main_dplaces)), at(dx), at.ints(tokens), N,
                              T, C);
      });
    }
  }
}

}  // namespace parallelarium
