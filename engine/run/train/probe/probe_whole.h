// SPDX-License-Identifier: Apache-2.0
// A whole tensor that is put together from what probes saw of it on several ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/run/train/probe/probe.h"

namespace parallelarium {

// How parts of several ranks at the same place make one element of the whole.
enum class Joined : std::uint8_t {
  kEqual,   // they must be equal; see contradiction()
  kSum,     // partial sums
  kLargest  // the largest of them
};

class WholeTensor {
 public:
  // Puts the part at its places in the whole. All parts must be of one tensor.
  void put(const ProbedTensor& part, Joined as);
  // Turns back the positions of a gradient of queries or keys. `what` describes its parts.
  void turn_back(const OpTensor& what);
  // Whether every element came from some part.
  bool complete() const;
  double largest() const;  // the largest absolute value
  // The largest difference between two parts that both have a place.
  double contradiction() const { return contradiction_; }
  // The largest difference of an element from the part. None: it is no part of such a tensor.
  std::optional<double> difference_from(const ProbedTensor& part) const;

 private:
  std::vector<double> values_;
  std::vector<bool> there_;
  double contradiction_ = 0;
};

// What the rank had of the tensor, or null.
const ProbedTensor* probed_tensor(const std::vector<ProbedRank>& probes, const Probe& probe,
                                  const std::string& name, int rank);

}  // namespace parallelarium
