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

// A text, a tenth of it held out from training. The end of a document is often unlike the rest (an
// appendix, an index), so a text that is long enough is cut into up to ten sections, and the last
// tenth of each is held out; a short one is a single section.
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

  // Sequence `index` of the global batch of `step` (from 1): a window of a training part at a
  // place drawn from (seed, step, index). With DP replica d, micro-batch j and row r of it,
  // index = (d * microbatches + j) * micro_batch + r. Safe from several threads.
  Sequence sequence(std::uint64_t seed, std::int64_t step, std::int64_t index) const;

  // Windows that cover the held-out parts one after another without overlap.
  std::int64_t held_out_count() const;
  // Requires: 0 <= index < held_out_count().
  Sequence held_out(std::int64_t index) const;

  // -sum p ln p over the bytes of the whole text, in nats: the loss of the best guess that knows
  // only how often each byte occurs.
  double unigram_entropy() const;

  std::int64_t training_bytes() const;
  std::int64_t held_out_bytes() const;

 private:
  struct Section {
    std::int64_t begin = 0, held_out = 0, end = 0;  // [begin, held_out) is trained on
  };
  Text(std::string bytes, std::int64_t sequence);
  Sequence window(std::int64_t begin) const;
  // Where a window of the training part of `section` may begin, and how many windows its held-out
  // part has.
  std::int64_t places(const Section& section) const;
  std::int64_t windows(const Section& section) const;

  std::string bytes_;
  std::int64_t sequence_ = 0;
  std::vector<Section> sections_;
};

}  // namespace parallelarium
