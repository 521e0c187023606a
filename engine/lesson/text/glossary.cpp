// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/text/glossary.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/presets.h"

namespace parallelarium {

namespace {

using Forms = std::map<std::string, std::string>;  // a form -> the word's id

constexpr char kBlank = '\x01';  // in place of letters that are no words

bool is_letter(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const auto letter = static_cast<unsigned char>(text[at]);
  return std::isalnum(letter) != 0 || letter >= 0x80 || letter == '_';
}

// Whether a word can end before `at` and another one begin there: "gather" is none in "all-gather".
bool is_edge(std::string_view text, std::size_t at) {
  if (at == 0 || at >= text.size()) return true;
  if (is_letter(text, at - 1) && is_letter(text, at)) return false;
  const auto hyphen = [&](std::size_t place) {
    return place > 0 && place < text.size() && text[place] == '-' && is_letter(text, place - 1) &&
           is_letter(text, place + 1);
  };
  return !hyphen(at - 1) && !hyphen(at);
}

// Blanks what stands between two marks, the marks included.
void blank(std::string& text, std::string_view open, std::string_view close) {
  for (std::size_t from = text.find(open); from != std::string::npos;
       from = text.find(open, from + 1)) {
    const std::size_t to = text.find(close, from + open.size());
    if (to == std::string::npos) return;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(from),
              text.begin() + static_cast<std::ptrdiff_t>(to + close.size()), kBlank);
  }
}

// The text with its code, expressions and links blanked, and line ends as spaces.
std::string words_alone(std::string_view markdown) {
  std::string text(markdown);
  std::replace(text.begin(), text.end(), '\n', ' ');
  blank(text, "{{", "}}");
  blank(text, "`", "`");
  for (std::size_t end = text.find("](http"); end != std::string::npos;
       end = text.find("](http", end + 1)) {
    const std::size_t from = text.rfind('[', end), to = text.find(')', end);
    if (from == std::string::npos || to == std::string::npos) break;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(from),
              text.begin() + static_cast<std::ptrdiff_t>(to + 1), kBlank);
  }
  return text;
}

// A word may begin with a capital where a sentence does.
std::string small_first(std::string text) {
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

// Calls `found` with the id of each word and the place of its first letter.
template <class Found>
void each_word(const std::string& text, const Forms& forms, std::size_t longest, Found found) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_letter(text, at) || !is_edge(text, at)) continue;
    for (std::size_t size = std::min(longest, text.size() - at); size > 0; --size) {
      if (!is_edge(text, at + size)) continue;
      const std::string here = text.substr(at, size);
      auto form = forms.find(here);
      if (form == forms.end()) form = forms.find(small_first(here));
      if (form == forms.end()) continue;
      found(form->second, at);
      at += size - 1;
      break;
    }
  }
}

}  // namespace

const std::vector<GlossaryWord>& glossary_words() {
  static const std::vector<GlossaryWord> kWords = [] {
    const std::vector<EmbeddedFile>& files = embedded_files();
    const auto file = std::find_if(files.begin(), files.end(), [](const EmbeddedFile& embedded) {
      return embedded.path == "words.json";
    });
    assert(file != files.end());
    const nlohmann::json all = nlohmann::json::parse(file->content);
    std::vector<GlossaryWord> words;
    for (const nlohmann::json& word : all.at("words")) {
      GlossaryWord& read = words.emplace_back();
      read.id = word.at("id").get<std::string>();
      read.lesson = word.value("lesson", "");
      read.forms = word.value("in_text", read.forms);
      if (const nlohmann::json formula = word.value("formula", nlohmann::json::object());
          formula.is_string())
        read.formulas[""] = formula.get<std::string>();
      else
        read.formulas = formula.get<std::map<std::string, std::string>>();
    }
    return words;
  }();
  return kWords;
}

std::string GlossaryWord::formula(const std::string& language) const {
  for (const std::string& written : {language, std::string()})
    if (const auto found = formulas.find(written); found != formulas.end()) return found->second;
  return {};
}

std::map<std::string, WordPlaces> word_places(const LessonText& text, const std::string& language) {
  Forms forms;
  std::size_t longest = 0;
  for (const GlossaryWord& word : glossary_words()) {
    const auto own = word.forms.find(language);
    if (own == word.forms.end()) continue;
    for (const std::string& form : own->second) {
      forms.emplace(form, word.id);
      longest = std::max(longest, form.size());
    }
  }
  std::map<std::string, WordPlaces> places;
  const auto read = [&](const std::string& step, const std::string& markdown) {
    const std::string words = words_alone(markdown);
    each_word(words, forms, longest, [&](const std::string& id, std::size_t at) {
      WordPlaces& place = places[id];
      if (place.first.empty()) place.first = step;
      const std::size_t marks = [&] {
        std::size_t count = 0;
        for (std::size_t mark = words.find("**"); mark < at; mark = words.find("**", mark + 2))
          ++count;
        return count;
      }();
      if (marks % 2 == 1 && place.bold.empty()) place.bold = step;
    });
  };
  for (const std::string& id : text.order) {
    const StepText& step = text.steps.at(id);
    read(id, step.body);
    for (const auto& [name, part] : step.parts)
      if (name != "notes") read(id, part);
  }
  return places;
}

std::vector<std::string> bold_in(std::string_view markdown) {
  std::vector<std::string> found;
  for (std::size_t from = markdown.find("**"); from != std::string_view::npos;) {
    const std::size_t to = markdown.find("**", from + 2);
    if (to == std::string_view::npos) break;
    std::string bold(markdown.substr(from + 2, to - from - 2));
    std::replace(bold.begin(), bold.end(), '\n', ' ');
    found.push_back(std::move(bold));
    from = markdown.find("**", to + 2);
  }
  return found;
}

}  // namespace parallelarium
