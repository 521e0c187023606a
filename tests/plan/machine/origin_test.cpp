// SPDX-License-Identifier: Apache-2.0
// Files write an origin as a line; the program knows its kind, its source and its notes.
#include "engine/plan/machine/origin.h"

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

// A calibration of an older version.
TEST(Origins, OfOlderCalibrationsAreKnown) {
  EXPECT_EQ(origin_of("measured on this computer on 2026-11-21 (best matrix product)"),
            with_note(measured_here("2026-11-21"), "origin-note-best-product"));
}

// A person's own words stay as they are, and are no kind.
TEST(Origins, InOtherWordsStayAsTheyAre) {
  for (const char* line :
       {"", "as a colleague says", "as a colleague says (a copy)", "assumed as"}) {
    EXPECT_EQ(origin_of(line), (Origin{OriginKind::kOther, line, {}}));
    EXPECT_EQ(text_of(origin_of(line)), line);
    EXPECT_FALSE(is_assumed(origin_of(line)));
  }
}

}  // namespace
}  // namespace parallelarium
