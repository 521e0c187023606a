// SPDX-License-Identifier: Apache-2.0
// Files write an origin as a line; the program knows its kind, its source and its notes.
#include "engine/plan/machine/rates/origin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

namespace parallelarium {
namespace {

// Every "origin" of the files that are shipped.
std::vector<std::string> shipped_lines() {
  std::vector<std::string> lines;
  const std::filesystem::path resources = PARALLELARIUM_SOURCE_DIR "/resources";
  for (const char* folder : {"machines", "cases"})
    for (const auto& file : std::filesystem::directory_iterator(resources / folder)) {
      if (file.path().extension() != ".json") continue;
      std::vector<nlohmann::json> rest = {nlohmann::json::parse(std::ifstream(file.path()))};
      while (!rest.empty()) {
        const nlohmann::json json = std::move(rest.back());
        rest.pop_back();
        for (const auto& [key, value] : json.items())
          if (key == "origin")
            lines.push_back(value);
          else if (value.is_structured())
            rest.push_back(value);
      }
    }
  return lines;
}

TEST(Origins, OfShippedFilesHaveAKindAndKeepTheirLine) {
  const std::vector<std::string> lines = shipped_lines();
  EXPECT_GT(lines.size(), 400u);
  for (const std::string& line : lines) {
    const Origin origin = origin_of(line);
    EXPECT_NE(origin.kind, OriginKind::kOther) << line;
    EXPECT_EQ(text_of(origin), line);
  }
}

// What is no phrase is a title, a name, a number with its unit, or what a program calls something.
// Two words of small letters would be English that no window translates.
TEST(Origins, OfShippedFilesHaveNotesOfKnownPhrases) {
  const std::regex english("(^| )[a-z]{2,} [a-z]{2,}( |$)");
  for (const std::string& line : shipped_lines())
    for (const OriginNote& note : origin_of(line).notes)
      for (const std::string& argument : note.arguments) {
        const bool title = note.id.empty() && argument[0] >= 'A' && argument[0] <= 'Z';
        EXPECT_TRUE(title || !std::regex_search(argument, english)) << line << ": " << argument;
      }
}

TEST(Origins, AreReadAsKindSourceAndNotes) {
  const Origin origin =
      origin_of("assumed as fitted on Llama Team et al. 2024, Table 4 (3 rows; of H100)");
  EXPECT_EQ(origin.kind, OriginKind::kAssumedFitted);
  EXPECT_TRUE(is_assumed(origin));
  EXPECT_EQ(origin.source, "Llama Team et al. 2024, Table 4");
  ASSERT_EQ(origin.notes.size(), 2u);
  EXPECT_EQ(origin.notes[0], (OriginNote{"origin-note-rows", {"3"}}));
  EXPECT_EQ(origin.notes[1], (OriginNote{"origin-note-of", {"H100"}}));
}

// Of "{} of {}" and "all-reduce bus bandwidth of {}" the second is meant.
TEST(Origins, TakeThePhraseThatSaysMost) {
  EXPECT_EQ(origin_note_of("all-reduce bus bandwidth of 8 A100"),
            (OriginNote{"origin-note-bus-bandwidth-of", {"8 A100"}}));
  EXPECT_EQ(origin_note_of("271.2 of 312 TFLOP/s"),
            (OriginNote{"origin-note-part-of", {"271.2", "312 TFLOP/s"}}));
}

TEST(Origins, ThatAProgramMakesAreReadBack) {
  for (const Origin& origin :
       {Origin{}, with_note({}, "origin-note-copy"), measured_here("2026-11-21"),
        with_note(measured_here("2026-11-21"), "origin-note-slowest-kind", {"NVIDIA H100"}),
        with_note(with_note({}, "origin-note-rate-of-fp32"), "origin-note-bf16-failed", {"no (1)"}),
        with_note({OriginKind::kFitted}, "origin-note-measured-steps", {"6"})})
    EXPECT_EQ(origin_of(text_of(origin)), origin) << text_of(origin);
}

// A program that fails may say anything.
TEST(Origins, OfBf16ThatFailedKeepThePhrase) {
  EXPECT_EQ(origin_note_of("in bf16 it failed: the type is not supported"),
            (OriginNote{"origin-note-bf16-failed", {"the type is not supported"}}));
}

// Files that older versions of this program saved.
TEST(Origins, OfOlderCalibrationsAreKnown) {
  EXPECT_EQ(origin_of("measured on this computer on 2026-11-21 (best matrix product)"),
            with_note(measured_here("2026-11-21"), "origin-note-best-product"));
  EXPECT_EQ(origin_of("fitted on 3 measured steps"),
            with_note({OriginKind::kFitted}, "origin-note-measured-steps", {"3"}));
  EXPECT_EQ(origin_of("fitted on 1 measured step"),
            with_note({OriginKind::kFitted}, "origin-note-measured-step", {"1"}));
  EXPECT_EQ(origin_of("measured on this computer: 64.0 GB shared by 8 cores"),
            with_note({OriginKind::kMeasuredHere}, "origin-note-shared", {"64.0 GB", "8"}));
  EXPECT_EQ(origin_of("measured on this computer: 8.0 GB shared by 1 core"),
            with_note({OriginKind::kMeasuredHere}, "origin-note-shared-one", {"8.0 GB", "1"}));
  for (const char* line : {"fitted on our measured steps", "measured on this computer: by hand"})
    EXPECT_EQ(text_of(origin_of(line)), line);
}

// What follows the word of a kind in a person's own words stays as it is.
TEST(Origins, AreOfTheKindWhoseWordTheyBeginWith) {
  const std::pair<OriginKind, std::vector<const char*>> kinds[] = {
      {OriginKind::kAssumed,
       {"assumed", "assumed by me", "assumed (a copy)", "assumed: by me", "assumed as"}},
      {OriginKind::kSpecification, {"specification", "specification of the maker"}},
      {OriginKind::kPublished, {"published", "published (a copy)", "published by the maker"}},
      {OriginKind::kFitted, {"fitted", "fitted by hand", "fitted (by hand)"}},
      {OriginKind::kDerived, {"derived", "derived: twice the rate of fp32"}},
      {OriginKind::kMeasured, {"measured", "measured on our cluster", "measured (a copy)"}},
      {OriginKind::kMeasuredHere, {"measured on this computer", "measured on this computer twice"}},
      {OriginKind::kTold, {"told", "told at a conference"}}};
  for (const auto& [kind, lines] : kinds)
    for (const char* line : lines) {
      const Origin origin = origin_of(line);
      EXPECT_EQ(origin.kind, kind) << line;
      EXPECT_EQ(text_of(origin), line);
      EXPECT_EQ(is_measured(origin), std::string_view(line).starts_with("measured")) << line;
      EXPECT_EQ(is_assumed(origin), std::string_view(line).starts_with("assumed")) << line;
      // One word, as it stands in narrow labels.
      EXPECT_TRUE(std::string_view(line).starts_with(word_of(origin).text)) << line;
      EXPECT_EQ(word_of(origin).text.find(' '), std::string::npos) << line;
    }
  EXPECT_EQ(origin_of("measured").written, "");
  EXPECT_EQ(text_of(with_note(origin_of("assumed by me"), "origin-note-copy")),
            "assumed by me (a copy)");
}

// A person's own words stay as they are.
TEST(Origins, InOtherWordsStayAsTheyAre) {
  for (const char* line :
       {"", "as a colleague says", "as a colleague says (a copy)", "measurements of mine"}) {
    EXPECT_EQ(origin_of(line), (Origin{OriginKind::kOther, {}, {}, line}));
    EXPECT_EQ(text_of(origin_of(line)), line);
    EXPECT_EQ(word_of(origin_of(line)).text, line);
    EXPECT_FALSE(is_assumed(origin_of(line)));
  }
}

// Else one half of the note would be translated.
TEST(Origins, KeepNotesOfAPersonsOwnWords) {
  for (const std::string note :
       {"mean of many runs", "on the old cluster", "of the third node", "a great many rows",
        "shared by three of the teams", "median of all products of at least some size each way"})
    EXPECT_EQ(origin_note_of(note), (OriginNote{{}, {note}})) << note;
  // Nothing reads on and on in a long one.
  std::string long_note = "1";
  for (int at = 0; at < 10'000; ++at) long_note += " of 1 and 1";
  EXPECT_EQ(origin_note_of(long_note), (OriginNote{{}, {long_note}}));
}

}  // namespace
}  // namespace parallelarium
