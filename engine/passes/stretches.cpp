// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/passes/arrange/arrange.h"

namespace parallelarium {

std::size_t stretch_end(const std::vector<Draft>& drafts, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < drafts.size() && drafts[end].op.layer == drafts[begin].op.layer) ++end;
  return end;
}

std::int32_t stretches_of(const std::vector<Draft>& drafts) {
  std::int32_t count = 0;
  for (std::size_t begin = 0; begin < drafts.size(); begin = stretch_end(drafts, begin)) ++count;
  return count;
}

double nominal_seconds(const std::vector<Draft>& drafts) {
  double seconds = 0;
  for (const Draft& draft : drafts) {
    for (const Work& work : draft.work) {
      seconds += work.flops / 1e14 + static_cast<double>(work.bytes) / 2e12;
    }
  }
  return seconds;
}

bool waits_for_computing(const Draft& draft) {
  const bool beside = draft.axis == Axis::kTp && draft.op.lane == Lane::kPipeline;
  return draft.op.batch < 0 && (draft.op.lane == Lane::kData || beside);
}

bool has_rings(const std::vector<Draft>& drafts) {
  return std::any_of(drafts.begin(), drafts.end(), [](const Draft& draft) {
    return draft.op.batch >= 0 && draft.op.lane == Lane::kPipeline;
  });
}

}  // namespace parallelarium
