// SPDX-License-Identifier: Apache-2.0
// How many rows of expert tokens each rank works on and sends, relative to even routing. They
// follow from the Setup's skew and from what a capacity below 1 drops, or from how a run routed.
#pragma once

#include <vector>

#include "engine/plan/model/routing.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

class ExpertRows {
 public:
  ExpertRows() = default;  // even
  // `measured` may be null. A skew is assumed alike in every layer and micro-batch. Errors: the
  // routing has no entry for a layer, micro-batch or replica, or has other sizes.
  static Result<ExpertRows> make(const Setup& setup, const Routing* measured);

  bool even() const { return exchanges_.empty(); }
  // The factor on the op's duration at even routing. For experts it follows from their rows, for
  // all-to-alls of tokens from the larger of what leaves and what comes. It is 1 for everything
  // else. `rank` is global.
  double share(const Op& op, int rank) const;
  // The bytes of an all-to-all of tokens. even() must not hold.
  Volume volume(const Op& op, int rank) const;

 private:
  // The exchange of one layer and micro-batch in one EP group.
  struct Exchange {
    std::vector<std::int64_t> load;             // rows that a rank's experts take
    std::vector<std::int64_t> leaves, arrives;  // rows to the experts, by rank
  };
  const Exchange& exchange(const Op& op, const Coordinates& at) const;

  Mesh mesh_;
  int first_layer_ = 0, microbatches_ = 1, layers_ = 1;
  bool alike_ = false;  // the same in all layers and micro-batches
  double even_rows_ = 1;
  std::int64_t choices_ = 1;         // rows of a rank's micro-batch, to all destinations
  std::vector<Exchange> exchanges_;  // [layer, micro-batch, group]
};

}  // namespace parallelarium
