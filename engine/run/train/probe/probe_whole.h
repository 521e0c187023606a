// SPDX-License-Identifier: Apache-2.0
// A whole tensor, put together from what probes saw of it on several ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/run/train/probe/probe.h"

namespace parallelarium {

// How ranks' parts that have the same place make one element of the whole.
enum class Joined : std::uint8_t {
  kEqual,   // they must be equal; see contradiction()
  kSum,     // partial sums
  kLargest  // the largest of them
};

class WholeTensor {
 public:
  // The part stands at its places of the whole. All parts must be of one tensor.
  void put(const ProbedTensor& part, Joined as);
  // Turns back the positions of a gradient of queries or keys whose parts are described as `what`.
  void turn_back(const OpTensor& what);
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
