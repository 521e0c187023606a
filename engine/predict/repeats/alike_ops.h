// SPDX-License-Identifier: Apache-2.0
// Finds the ops of one rank that repeat themselves around a cut.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/plan/program/repeats.h"

namespace parallelarium {

class AlikeOps {
 public:
  // The size of one body: it has the ops [body.first, body.last) and this many actions and
  // micro-batches.
  struct BodySize {
    Repeats::Body body;
    std::int32_t actions = 0, microbatches = 0;
    std::int64_t times = 0;  // how often it comes again
    Nanoseconds period{0};
  };
  // Looks for the stretch around `size.body`. If the body is too near an end, it moves the body:
  // any body of the stretch makes the same ops when it is repeated.
  AlikeOps(const RankProgram& rank, const std::vector<Span>& spans, const BodySize& size);

  // Whether three things hold: ops are alike from two bodies before the cut to one body behind it;
  // all waits across the cut are in order; and a body leaves memory as it found it.
  bool holds() const;
  const Repeats::Body& body() const { return size_.body; }
  // Ops [first, last) are like those a body before or behind them.
  std::int32_t first() const { return first_; }
  std::int32_t last() const { return last_; }

 private:
  void place_body();
  bool splits_batch(std::int32_t cut) const;
  bool alike(std::int32_t at) const;  // to the op that is a body behind it
  bool same_operands(const Op& op, const Op& later, std::int32_t at) const;
  bool same_waits(std::int32_t at) const;
  // Whether `waited` is more than two bodies before `at`.
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
