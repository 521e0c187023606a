// SPDX-License-Identifier: Apache-2.0
// Where a number comes from, as data: a kind, the source that the kind names, and notes on what of
// the source it is. Files write an origin as one line of English, which is read into this once:
//
//     published in te42kyfo/gpu-benches 1c36d50, gpu-latency/v100.txt (43 KiB; 30 cycles)
//
// "published in" is the kind; the source stands behind it, and notes stand in brackets.
// message_of() makes the line, in English and in the window's language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

enum class OriginKind : std::uint8_t {
  kAssumed,          // has no source
  kAssumedAs,        // assumed to be that of another machine, which is the source
  kAssumedFitted,    // fitted on the source, which is of another machine
  kAssumedMeasured,  // measured with the source on another machine
  kSpecification,    // the maker's sheet, or a standard
  kPublished,        // author, year and table, or repository and file
  kFitted,        // explains the published steps of the source, or measured steps, which are a note
  kDerived,       // computed from sources
  kMeasured,      // the source is the program that measured
  kMeasuredHere,  // on this computer; the source is the date
  kTold,          // the source is the program or the person who told it
  kOther,         // what a person wrote begins with the word of no kind
};

// What of a source a number is, or under which condition: the id of a phrase of origin_notes.cpp
// and its arguments, which are names and numbers. Without an id the one argument is the note as it
// was written, the same in every language.
struct OriginNote {
  std::string id = {};
  std::vector<std::string> arguments = {};
  bool operator==(const OriginNote&) const = default;
};

struct Origin {
  OriginKind kind = OriginKind::kAssumed;
  std::string source = {};  // names, the same in every language
  std::vector<OriginNote> notes = {};
  // What a person wrote in other words, the same in every language. It stands for kind and source.
  std::string written = {};
  bool operator==(const Origin&) const = default;
};

// Reads a line of a file. Other words that begin with the word of a kind ("measured on our
// cluster") are of that kind and stay as they are written. text_of() gives the line back; a line of
// an older version of this program comes back as this version writes it.
Origin origin_of(std::string_view line);
std::string text_of(const Origin& origin);

// "published in Llama Team et al. 2024, Table 4 (3 rows)"
Message message_of(const Origin& origin);
// The kind alone: "assumed", "specification", "published", "fitted", "derived", "measured" or
// "told"; what a person wrote where it is kOther.
Message word_of(const Origin& origin);

// The same origin with one more note. The phrase `id` must stand in origin_notes.cpp and have as
// many places as there are arguments.
Origin with_note(Origin origin, SentenceId id, std::vector<std::string> arguments = {});
Origin measured_here(std::string date);

// The note that is written so.
OriginNote origin_note_of(std::string_view text);
Message message_of(const OriginNote& note);

inline bool is_assumed(const Origin& origin) { return origin.kind <= OriginKind::kAssumedMeasured; }
inline bool is_measured(const Origin& origin) {
  return origin.kind == OriginKind::kMeasured || origin.kind == OriginKind::kMeasuredHere;
}

}  // namespace parallelarium
