// SPDX-License-Identifier: Apache-2.0
// The text that is trained on: bytes are tokens (vocabulary 256).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// About 1 MB of simple English from a small grammar; the same bytes on every computer.
std::string default_text();

// A text, its last tenth held out from training.
class Text {
 public:
  // `source` is "default" or the path of a UTF-8 file. Errors, each a sentence: "text-unreadable",
  // "text-not-utf8" (names the byte), "text-short" (both parts must hold one window of
  // sequence + 1 bytes).
  static Result<Text> load(const std::string& source, std::int64_t sequence);
  // The same from bytes in memory; `name` stands in the errors.
  static Result<Text> from_bytes(std::string bytes, const std::string& name, std::int64_t sequence);

  struct Sequence {
    std::vector<std::int32_t> tokens;   // [T]
    std::vector<std::int32_t> targets;  // [T]: the byte that follows each token
  };

  // Sequence `index` of the global batch of `step` (from 1): a window of the training part at a
  // place drawn from (seed, step, index). With DP replica d, micro-batch j and row r of it,
  // index = (d * microbatches + j) * micro_batch + r. Safe from several threads.
  Sequence sequence(std::uint64_t seed, std::int64_t step, std::int64_t index) const;

  // Windows that cover the held-out part one after another without overlap.
  std::int64_t held_out_count() const;
  // Requires: 0 <= index < held_out_count().
  Sequence held_out(std::int64_t index) const;

  // -sum p ln p over the bytes of the whole text, in nats: the loss of the best guess that knows
  // only how often each byte occurs.
  double unigram_entropy() const;

  std::int64_t training_bytes() const { return training_bytes_; }
  std::int64_t held_out_bytes() const;

 private:
  Text(std::string bytes, std::int64_t sequence);
  Sequence window(std::int64_t begin) const;

  std::string bytes_;
  std::int64_t sequence_ = 0;
  std::int64_t training_bytes_ = 0;
};

}  // namespace parallelarium
