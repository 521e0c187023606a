// SPDX-License-Identifier: Apache-2.0
// The words of resources/words.json as texts of lessons write them, and where they stand in a
// lesson. The window shows their meanings (app/look/words.h); here only their places count.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/lesson/text.h"

namespace parallelarium {

struct GlossaryWord {
  std::string id;
  std::string lesson;                                     // that teaches it, or empty
  std::map<std::string, std::vector<std::string>> forms;  // by language, as texts write them
};

// In the order of the file.
const std::vector<GlossaryWord>& glossary_words();

// Ids of the steps in which a word stands first, at all and in bold letters; empty: nowhere.
struct WordPlaces {
  std::string first, bold;
};

// The places of every word that stands in the text, by the word's id. Whole words only, the longest
// that matches, never inside code, links and {{...}}. What feedback, hints and answers say counts
// as said by their step; notes quote others and do not count.
std::map<std::string, WordPlaces> word_places(const LessonText& text, const std::string& language);

// What stands in bold letters, without the marks: "Memory > Every rank".
std::vector<std::string> bold_in(std::string_view markdown);

}  // namespace parallelarium
