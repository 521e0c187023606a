// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/proof/held_parameters.h"

#include <algorithm>

namespace parallelarium {

bool HeldParameters::is_cut() const {
  return std::any_of(rank_.buckets.begin(), rank_.buckets.end(),
                     [](const Bucket& bucket) { return bucket.own_count < bucket.count; });
}

bool HeldParameters::keeps_all(Tensor tensor) const {
  const int cut_from = tensor == Tensor::kParameters ? 3 : tensor == Tensor::kGradients ? 2 : 1;
  return !is_cut() || held_zero(setup_) < cut_from;
}

DataType HeldParameters::type_of(Tensor tensor) const {
  const Precision& precision = setup_.precision;
  const int bytes = tensor == Tensor::kParameters  ? precision.parameter_bytes
                    : tensor == Tensor::kGradients ? precision.gradient_bytes
                                                   : precision.master_bytes;
  return bytes == 2 ? DataType::kBf16 : DataType::kF32;
}

std::vector<HeldParameters::Part> HeldParameters::parts(Tensor tensor, const ParameterSlice& slice,
                                                        bool whole) const {
  const std::int64_t each = size_of(type_of(tensor));
  std::byte* base = arena_.held(tensor);
  if (whole) return {{0, slice.count, base + slice.offset * each}};
  const bool all = keeps_all(tensor);
  std::vector<Part> parts;
  for (const Bucket& bucket : rank_.buckets) {
    const std::int64_t from = std::max(bucket.own_begin, slice.offset);
    const std::int64_t to =
        std::min(bucket.own_begin + bucket.own_count, slice.offset + slice.count);
    if (from >= to) continue;
    const std::int64_t at = all ? from : bucket.held + from - bucket.own_begin;
    parts.push_back({from - slice.offset, to - from, base + at * each});
  }
  return parts;
}

}  // namespace parallelarium
