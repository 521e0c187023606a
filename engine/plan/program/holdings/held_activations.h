// SPDX-License-Identifier: Apache-2.0
// Which activations one rank holds at one moment, by layer and micro-batch, and which buffers that
// are no part of the model's states (holdings.h). This is read from the Program's buffers and from
// when its ops begin and end.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

enum class HeldPlace : std::uint8_t {
  kTables,  // the embedding
  kLayer,
  kHead,   // final norm, head and loss
  kStage,  // a Program of whole stages does not tell layers apart
};

struct HeldActivations {
  HeldPlace place = HeldPlace::kLayer;
  int layer = -1;  // for kLayer only
  std::int64_t bytes = 0;
  std::vector<int> microbatches;  // ascending
};

// Tells what one rank holds over a step.
class ActivationsHeld {
 public:
  // `rank_index`: in Program::ranks.
  ActivationsHeld(const Program& program, const Timeline& timeline, int rank_index);
  // By place, then layer; without places that hold nothing.
  std::vector<HeldActivations> at(Nanoseconds time) const;
  // The most micro-batches of which one place holds something at once.
  int most_microbatches() const { return most_; }

 private:
  struct Held {
    std::int32_t place = 0;  // a layer's number; other places have numbers outside of these
    std::int32_t microbatch = -1;
    std::int64_t bytes = 0;
    Nanoseconds begin{0}, end{0};  // in between it is there
  };
  std::vector<Held> held_;  // by place
  int most_ = 0;
};

struct HeldBuffer {
  Tensor tensor = Tensor::kScratch;
  std::int64_t bytes = 0;
};

// Tells what one rank holds over a step for work and for messages: all that the memory over the
// step counts as buffers, except gathered parameters and buckets of gradients.
class BuffersHeld {
 public:
  // `rank_index`: in Program::ranks.
  BuffersHeld(const Program& program, const Timeline& timeline, int rank_index);
  // By tensor, most bytes first.
  std::vector<HeldBuffer> at(Nanoseconds time) const;

 private:
  struct Held {
    HeldBuffer of;
    Nanoseconds begin{0}, end{0};  // in between it is there
  };
  std::vector<Held> held_;
};

}  // namespace parallelarium
