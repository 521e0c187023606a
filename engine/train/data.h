// SPDX-License-Identifier: Apache-2.0
// The training text. Its bytes are the tokens (vocabulary 256).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// About 1 MB of simple English from a small grammar, made once. Every computer gets the same bytes.
const std::string& default_text();

// A text of which training leaves out a tenth. The end of a document is often unlike the rest (an
// appendix, an index), so a long text is cut into up to ten sections, and the last tenth of each is
// held out. A short text is one section.
class Text {
 public:
  // `source` is "default" or the path of a UTF-8 file. Errors, each a sentence: "text-unreadable",
  // "text-not-utf8" (names the byte), "text-short" (each part needs one window of sequence + 1
  // bytes).
  static Result<Text> load(const std::string& source, std::int64_t sequence);
  // The same from bytes in memory; errors call it `name`.
  static Result<Text> from_bytes(std::string bytes, const std::string& name, std::int64_t sequence);

  struct Sequence {
    std::vector<std::int32_t> tokens;   // [T]
    std::vector<std::int32_t> targets;  // [T]: the byte that follows each token
  };

  // Sequence `index` of the global batch of `step` (from 1): a window of a training part, whose
  // place is drawn from (seed, step, index). With DP replica d, micro-batch j and row r of it,
  // index = (d * microbatches + j) * micro_batch + r. Safe from several threads.
  Sequence sequence(std::uint64_t seed, std::int64_t step, std::int64_t index) const;

  // How many windows cover the held-out parts without overlap.
  std::int64_t held_out_count() const;
  // The index must be in [0, held_out_count()).
  Sequence held_out(std::int64_t index) const;

  // -sum p ln p over the bytes of the whole text, in nats. It is the loss of the best guess that
  // knows only how often each byte occurs.
  double unigram_entropy() const;

  std::int64_t training_bytes() const;
  std::int64_t held_out_bytes() const;

 private:
  struct Section {
    std::int64_t begin = 0, held_out = 0, end = 0;  // [begin, held_out) is trained on
  };
  Text(std::string bytes, std::int64_t sequence);
  Sequence window(std::int64_t begin) const;
  // places: how many places a window of the section's training part may begin at. windows: how many
  // windows its held-out part has.
  std::int64_t places(const Section& section) const;
  std::int64_t windows(const Section& section) const;

  std::string bytes_;
  std::int64_t sequence_ = 0;
  std::vector<Section> sections_;
};

}  // namespace parallelarium
