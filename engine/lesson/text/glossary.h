// SPDX-License-Identifier: Apache-2.0
// The words of resources/words.json as texts of lessons write them, and their places in a lesson.
// The window shows their meanings (app/look/words.h); here only the places count.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/lesson/text/text.h"

namespace parallelarium {

struct GlossaryWord {
  std::string id;
  std::string lesson;                                     // the lesson that teaches it, or empty
  std::map<std::string, std::vector<std::string>> forms;  // by language, as texts write them
  std::map<std::string, std::string> formulas;            // by language; "": in every one
  // The formula that is shown in that language, or an empty text.
  std::string formula(const std::string& language) const;
};

// In the order of the file.
const std::vector<GlossaryWord>& glossary_words();

// The ids of the steps in which a word is first used, and first in bold letters. Empty: nowhere.
struct WordPlaces {
  std::string first, bold;
};

// The places of every word that is in the text, by the word's id. Only whole words match, and the
// longest match wins; text inside code, links and {{...}} never matches. Feedback, hints and
// answers count as text of their step. Notes quote others and do not count.
std::map<std::string, WordPlaces> word_places(const LessonText& text, const std::string& language);

// The texts in bold letters, without the marks: "Memory > Every rank".
std::vector<std::string> bold_in(std::string_view markdown);

}  // namespace parallelarium
