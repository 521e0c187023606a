// SPDX-License-Identifier: Apache-2.0
// The ops of one rank that repeat themselves around a cut.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/plan/program/repeats.h"

namespace parallelarium {

class AlikeOps {
 public:
  // How large one body is: it has the ops [body.first, body.last) and so many actions and
  // micro-batches.
  struct BodySize {
    Repeats::Body body;
    std::int32_t actions = 0, microbatches = 0;
    std::int64_t times = 0;  // that it comes again
    Nanoseconds period{0};
  };
  // Looks for the stretch around `size.body`, and moves the body where it lies too near an end: one
  // more of any body of the stretch makes the same ops.
  AlikeOps(const RankProgram& rank, const std::vector<Span>& spans, const BodySize& size);

  // Whether ops are alike from two bodies before the cut to one behind it, all that waits across
  // the cut is in order, and a body leaves memory as it found it.
  bool holds() const;
  const Repeats::Body& body() const { return size_.body; }
  // Ops [first, last) are alike those a body before or behind them.
  std::int32_t first() const { return first_; }
  std::int32_t last() const { return last_; }

 private:
  void place_body();
  bool splits_batch(std::int32_t cut) const;
  bool alike(std::int32_t at) const;  // to the op a body behind it
  bool same_operands(const Op& op, const Op& later, std::int32_t at) const;
  bool same_waits(std::int32_t at) const;
  // More than two bodies before an op.
  bool is_far(std::int32_t at, std::int32_t waited) const { return at - waited > 2 * length_; }
  bool waits_in_order() const;
  bool waits_in_order(std::int32_t at, std::int32_t before, std::int32_t of) const;
  enum class Uses : std::uint8_t { kInner, kTravels, kShared };  // as plan_memory() tells
  std::vector<Uses> uses_of_buffers() const;
  bool keeps_places() const;
  bool keeps_places(const std::vector<Uses>& uses, std::int32_t later_by) const;
  bool frees_what_it_opens() const;

  const Op& op(std::int32_t at) const { return rank_.ops[static_cast<std::size_t>(at)]; }
  const Span& span(std::int32_t at) const { return spans_[static_cast<std::size_t>(at)]; }
  const Buffer& buffer(std::int32_t at) const {
    return rank_.buffers[static_cast<std::size_t>(at)];
  }

  const RankProgram& rank_;
  const std::vector<Span>& spans_;
  BodySize size_;
  const std::int32_t length_;  // ops of a body
  std::int32_t first_ = 0, last_ = 0;
};

}  // namespace parallelarium
