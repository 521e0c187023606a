// SPDX-License-Identifier: Apache-2.0
// A whole tensor, put together from what probes saw of it on several ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/run/train/probe/probe.h"

namespace parallelarium {

class WholeTensor {
 public:
  // The part stands at its places of the whole; `adds`: on top of what stands there, as partial
  // sums do. Else it must be equal where two ranks have the same place; see contradiction().
  // All parts must be of one tensor.
  void put(const ProbedTensor& part, bool adds);
  // Every element came from some part.
  bool complete() const;
  double largest() const;  // without its sign
  // The largest difference between two parts that both have a place.
  double contradiction() const { return contradiction_; }
  // The largest difference of an element. None: it is no part of such a tensor.
  std::optional<double> difference_from(const ProbedTensor& part) const;

 private:
  std::vector<double> values_;
  std::vector<bool> there_;
  double contradiction_ = 0;
};

// What the rank had of it, or null.
const ProbedTensor* probed_tensor(const std::vector<ProbedRank>& probes, const Probe& probe,
                                  const std::string& name, int rank);

}  // namespace parallelarium
