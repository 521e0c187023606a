// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "kernels/base/launch.h"
#include "kernels/gpu.h"
#include "tests/bench/gpu/cuda_bench.h"

namespace parallelarium {

template <class T>
void exchange_rows(const char* storage) {
  constexpr std::size_t kCount = kN * kC;
  constexpr double kBytes = double{kCount} * sizeof(T);
  const Memory a = numbers<T>(kCount), b = numbers<T>(kCount), c = numbers<T>(kCount),
               mask = zeros(kCount);
  const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
  const auto floats = [](const Memory& memory) { return static_cast<float*>(memory.get()); };
  const auto ints = [](const Memory& memory) { return static_cast<std::int32_t*>(memory.get()); };
  auto* const kept = static_cast<std::uint8_t*>(mask.get());
  const auto row = [&](const char* kernel, double bytes, const auto& launch) {
    memory_row(kernel, storage, bytes, launch);
  };

  row("fill", kBytes, [&] { return fill<T>(at(c), 0.5F, kCount, nullptr); });
  if constexpr (!std::is_same_v<T, float>) {
    const Memory wide = numbers<float>(kCount);
    row("cast from fp32", kBytes + 4.0 * kCount,
        [&] { return cast(at(c), floats(wide), kCount, nullptr); });
    row("cast to fp32", kBytes + 4.0 * kCount,
        [&] { return cast(floats(wide), at(c), kCount, nullptr); });
  }
  for (const std::size_t ranks : {2, 8}) {
    std::array<const T*, 8> parts{};
    const std::size_t count = kCount / ranks;
    for (std::size_t rank = 0; rank < ranks; ++rank) parts[rank] = at(a) + rank * count;
    row(("combine, " + std::to_string(ranks) + " parts").c_str(),
        kBytes + kBytes / static_cast<double>(ranks), [&, ranks, count, parts] {
          return combine<T>(at(c), parts.data(), static_cast<int>(ranks), Combine::kSum, 1, count,
                            nullptr);
        });
  }
  constexpr std::int64_t kWidth = 256;  // keys of 4 heads among the columns of all
  row("accumulate_rows", kBytes * kWidth / kC * 3,
      [&] { return accumulate_rows<T>(at(a), kC, at(b), kC, kN, kWidth, nullptr); });

  const Dropout dropout = make_dropout(0.1, 1);
  row("dropout_residual", 3 * kBytes + kCount,
      [&] { return dropout_residual<T>(at(c), kept, at(a), at(b), dropout, 0, kCount, nullptr); });
  row("dropout_grad", 2 * kBytes + kCount,
      [&] { return dropout_grad<T>(at(c), at(a), kept, dropout.scale, kCount, nullptr); });
  AttentionShape scores{1, 1024, 0, 0, 64};
  scores.H = scores.K = kN * kC / (scores.T * scores.T);
  const AttentionDropout of_scores{dropout, 0, 0, scores.H, scores.T};
  // What is above the diagonal is written, and not read.
  row("dropout_probabilities", 1.5 * kBytes + kCount,
      [&] { return dropout_probabilities<T>(at(c), kept, at(a), of_scores, scores, nullptr); });

  RouterShape shape;
  shape.N = kN / 2;
  shape.E = 64;
  shape.k = 2;
  const std::int64_t N = shape.N, k = shape.k;
  const auto chosen = static_cast<std::size_t>(N * k);
  const Memory logits = numbers<float>(static_cast<std::size_t>(N * shape.E)),
               dlogits = zeros(static_cast<std::size_t>(N * shape.E) * sizeof(float)),
               gates = zeros(chosen * sizeof(float)), dgates = zeros(chosen * sizeof(float)),
               routes = zeros(static_cast<std::size_t>(routes_count(N, k, shape.E)) * 4),
               record = zeros(static_cast<std::size_t>(record_count(shape.E)) * sizeof(float)),
               space = zeros(route_workspace(N, shape.E));
  if constexpr (std::is_same_v<T, float>) {
    const double logits_bytes = 4.0 * static_cast<double>(N * shape.E),
                 choices_bytes = 4.0 * static_cast<double>(chosen);
    row("route, 2 of 64", logits_bytes + 3 * choices_bytes, [&] {
      return route<float>(floats(gates), ints(routes), floats(record), floats(logits), nullptr,
                          shape, space.get(), nullptr);
    });
    row("route_grad, 2 of 64", 2 * logits_bytes + 3 * choices_bytes, [&] {
      return route_grad<float>(floats(dlogits), floats(dgates), floats(logits), floats(gates),
                               ints(routes), 1, shape, nullptr);
    });
  } else {
    check(route<float>(floats(gates), ints(routes), floats(record), floats(logits), nullptr, shape,
                       space.get(), nullptr));
  }
  // Rows of the experts fill an array, those of tokens half of one.
  row("dispatch_rows", 1.5 * kBytes,
      [&] { return dispatch_rows<T>(at(a), at(b), ints(routes), N, k, kC, nullptr); });
  row("dispatch_rows_grad, accumulating", 2 * kBytes,
      [&] { return dispatch_rows_grad<T>(at(b), at(a), ints(routes), true, N, k, kC, nullptr); });
  row("combine_rows", 2 * kBytes, [&] {
    return combine_rows<T>(at(b), at(a), floats(gates), at(b) + kCount / 2, ints(routes), N, k, kC,
                           nullptr);
  });
  row("combine_rows_grad", 2.5 * kBytes, [&] {
    return combine_rows_grad<T>(at(c), floats(dgates), at(b), at(a), floats(gates), ints(routes), N,
                                k, kC, nullptr);
  });
}

template void exchange_rows<float>(const char* storage);
template void exchange_rows<Bf16>(const char* storage);

}  // namespace parallelarium
