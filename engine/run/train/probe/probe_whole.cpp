// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/probe_whole.h"

#include <algorithm>
#include <cmath>

#include "kernels/attention/rotary.h"

namespace parallelarium {

namespace {

// Calls visit(element of the whole tensor, element of the rank's part).
template <class Visit>
void for_each_place(const OpTensor& tensor, const Visit& visit) {
  std::vector<std::vector<std::int64_t>> held;
  for (const TensorDimension& dimension : tensor.dimensions) {
    auto& indices = held.emplace_back();
    for (const ChunkRange& range : dimension.held())
      for (std::int64_t index = range.begin; index < range.end; ++index) indices.push_back(index);
  }
  std::vector<std::size_t> at(held.size(), 0);
  const std::int64_t elements = tensor.elements();
  for (std::int64_t element = 0; element < elements; ++element) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      place = place * tensor.dimensions[d].whole + held[d][at[d]];
    visit(static_cast<std::size_t>(place), static_cast<std::size_t>(element));
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < held[d].size()) break;
      at[d] = 0;
    }
  }
}

std::size_t whole_elements(const OpTensor& tensor) {
  std::int64_t elements = 1;
  for (const TensorDimension& dimension : tensor.dimensions) elements *= dimension.whole;
  return static_cast<std::size_t>(elements);
}

}  // namespace

void WholeTensor::put(const ProbedTensor& part, Joined as) {
  values_.resize(whole_elements(part.what), 0);
  there_.resize(values_.size(), false);
  for_each_place(part.what, [&](std::size_t place, std::size_t element) {
    const double value = part.value(element);
    double& whole = values_[place];
    if (!there_[place])
      whole = value;
    else if (as == Joined::kSum)
      whole += value;
    else if (as == Joined::kLargest)
      whole = std::max(whole, value);
    else
      contradiction_ = std::max(contradiction_, std::fabs(whole - value));
    there_[place] = true;
  });
}

void WholeTensor::turn_back(const OpTensor& what) {
  const auto whole = [&](std::size_t dimension) { return what.dimensions[dimension].whole; };
  std::vector<float> values(values_.begin(), values_.end());
  rotary_cpu(values.data(), Turn::kBack, {whole(0), whole(1), whole(2), 0, whole(3)});
  values_.assign(values.begin(), values.end());
}

bool WholeTensor::complete() const {
  return !there_.empty() && std::find(there_.begin(), there_.end(), false) == there_.end();
}

double WholeTensor::largest() const {
  double most = 0;
  for (const double value : values_) most = std::max(most, std::fabs(value));
  return most;
}

std::optional<double> WholeTensor::difference_from(const ProbedTensor& part) const {
  if (whole_elements(part.what) != values_.size()) return std::nullopt;
  double most = 0;
  for_each_place(part.what, [&](std::size_t place, std::size_t element) {
    most = std::max(most, std::fabs(values_[place] - part.value(element)));
  });
  return most;
}

const ProbedTensor* probed_tensor(const std::vector<ProbedRank>& probes, const Probe& probe,
                                  const std::string& name, int rank) {
  for (const ProbedRank& probed : probes) {
    if (probed.rank != rank || !(probed.probe == probe)) continue;
    for (const ProbedTensor& tensor : probed.tensors)
      if (tensor.what.name == name) return &tensor;
  }
  return nullptr;
}

}  // namespace parallelarium
