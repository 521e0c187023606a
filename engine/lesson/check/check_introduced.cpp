// SPDX-License-Identifier: Apache-2.0
// What a lesson takes for known: settings that it unlocks or asks for, views that it opens, words
// of the glossary in its texts. Each of them must be introduced by the lesson, no later than it is
// used, or by a lesson that it builds on:
//
// - a setting, where a text has its label in bold letters, or its symbol ("TP");
// - a view, where a text has its title in bold letters, alone or before " >";
// - a word, where a text has it in bold letters, or the glossary says that the lesson teaches it.
//
// Labels and titles are those of the English window, so settings and views are looked for in the
// English text; words in every language.
#include <algorithm>
#include <cctype>
#include <set>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/play.h"
#include "engine/lesson/text/glossary.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

constexpr const char *kWords = "words.", *kSettings = "setting.", *kViews = "view.";

// "Capacity factor (0: dropless)" -> "Capacity factor": what a text calls the setting.
std::string label_of(const std::string& key) {
  if (key == "collective.bytes") return "Size";
  if (key.rfind("collective.", 0) == 0) {
    std::string label = key.substr(key.find('.') + 1);
    label[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
    return label;
  }
  const SetupSetting* row = find_setting(setup_settings(), key);
  if (!row) return key;  // check_names tells
  return row->label.substr(0, std::min(row->label.find(" ("), row->label.find(',')));
}

std::string title_of(const std::string& view) {
  std::string title = view;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

bool begins_with_word(const std::string& text, const std::string& word) {
  if (text.size() < word.size()) return false;
  for (std::size_t at = 0; at < word.size(); ++at)
    if (std::tolower(static_cast<unsigned char>(text[at])) !=
        std::tolower(static_cast<unsigned char>(word[at])))
      return false;
  return text.size() == word.size() ||
         std::isalnum(static_cast<unsigned char>(text[word.size()])) == 0;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto letter = [&](std::size_t place) {
    return place < text.size() && std::isalnum(static_cast<unsigned char>(text[place])) != 0;
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

bool names_setting(const std::string& markdown, const std::string& key) {
  const std::string label = label_of(key);
  for (const std::string& bold : bold_in(markdown))
    if (begins_with_word(bold, label)) return true;
  const SetupSetting* row = find_setting(setup_settings(), key);
  // One letter, as m, stands for too much else.
  return row && row->symbol.size() > 1 && has_word(markdown, row->symbol);
}

bool names_view(const std::string& markdown, const std::string& view) {
  const std::string title = title_of(view);
  for (const std::string& bold : bold_in(markdown))
    if (bold == title || bold.rfind(title + " >", 0) == 0) return true;
  return false;
}

// The settings that a step uses, each with the first key of the step that names it.
std::map<std::string, std::string> settings_used(const Step& step) {
  std::map<std::string, std::string> used;
  for (std::size_t at = 0; at < step.allow.size(); ++at)
    used.emplace(step.allow[at], fmt::format("allow.{}", at));
  for (const auto& [object, fields] :
       {std::pair("solution", &step.solution), std::pair("tempting", &step.tempting)})
    for (const auto& [key, value] : *fields) {
      const SetupSetting* row = find_setting(setup_settings(), key);
      used.emplace(row ? row->key : key, fmt::format("{}.{}", object, key));
    }
  for (std::size_t at = 0; at < step.checks.size(); ++at)
    // Those two follow from settings, and every text says how many ranks and sequences there are.
    if (const Check& check = step.checks[at];
        check.of == "setup" && check.key != "ranks" && check.key != "global_batch")
      used.emplace(check.key, fmt::format("checks.{}.key", at));
  return used;
}

std::string all_of(const StepText& step) {
  std::string all = step.body;
  for (const auto& [name, part] : step.parts) all += "\n\n" + part;
  return all;
}

// The words, settings and views that a lesson introduces for those that build on it. The name of
// each begins with its kind.
using Known = std::set<std::string>;

class Introductions {
 public:
  Introductions(const Lesson& lesson, const Known& before, Faults& faults)
      : lesson_(lesson), known_(before), faults_(faults) {}

  // What is known after the lesson.
  Known read() {
    for (const auto& [language, text] : lesson_.texts) words(language, text);
    const LessonText& text = lesson_.text("en");
    std::string said;
    for (const Step& step : lesson_.steps) {
      if (const auto words = text.steps.find(step.id); words != text.steps.end())
        said += all_of(words->second) + "\n\n";
      for (const auto& [key, place] : settings_used(step))
        if (!known(kSettings + key, names_setting(said, key)))
          faults_.add(
              message(
                  "lesson-setting-unknown",
                  "Step \"{}\" of the lesson \"{}\" uses the setting \"{}\", which neither it "
                  "nor a lesson that it builds on introduces before: write **{}** where the text "
                  "tells of it.",
                  step.id, lesson_.id, key, label_of(key)),
              step.id, place);
      if (step.tab.empty()) continue;
      const std::string view = view_of(step.tab);
      if (!known(kViews + view, names_view(said, view)))
        faults_.add(
            message(
                "lesson-view-unknown",
                "Step \"{}\" of the lesson \"{}\" opens the view \"{}\", which neither it nor a "
                "lesson that it builds on introduces before: write **{}** where the text tells "
                "of it.",
                step.id, lesson_.id, view, title_of(view)),
            step.id, "view.tab");
    }
    for (const std::string& view : view_ids()) known(kViews + view, names_view(said, view));
    for (const SetupSetting& setting : setup_settings())
      known(kSettings + setting.key, names_setting(said, setting.key));
    for (const std::string& key : collective_keys())
      known(kSettings + key, names_setting(said, key));
    return known_;
  }

 private:
  // Whether it is known by now, for which `now` counts too.
  bool known(const std::string& what, bool now) {
    if (now) known_.insert(what);
    return known_.count(what) > 0;
  }

  void words(const std::string& language, const LessonText& text) {
    const std::map<std::string, WordPlaces> places = word_places(text, language);
    const auto step_number = [&](const std::string& id) {
      return std::find(text.order.begin(), text.order.end(), id) - text.order.begin();
    };
    Known introduced;
    for (const GlossaryWord& word : glossary_words()) {
      const std::string name = kWords + language + "." + word.id;
      const auto place = places.find(word.id);
      const bool taught = word.lesson == lesson_.id;
      const bool bold = place != places.end() && !place->second.bold.empty();
      if (taught || bold) introduced.insert(name);
      // A word without a lesson is one of the window's own.
      if (place == places.end() || word.lesson.empty() || taught || known_.count(name) > 0)
        continue;
      if (bold && step_number(place->second.bold) <= step_number(place->second.first)) continue;
      const std::string& step = place->second.first;
      faults_.add(
          message(
              "lesson-word-unknown",
              "Step \"{}\" of the lesson \"{}\" uses the word \"{}\" ({}), which neither it nor "
              "a lesson that it builds on introduces before: write it in bold letters where the "
              "text explains it.",
              step, lesson_.id, word.id, language),
          fmt::format("text.{}.md: {}", language, step));
    }
    known_.merge(introduced);
  }

  const Lesson& lesson_;
  Known known_;
  Faults& faults_;
};

}  // namespace

void check_introduced(
    const Course& course, const std::map<std::string, Lesson>& lessons,
    const std::function<std::vector<LessonFault>&(const std::string&)>& faults_of) {
  std::vector<Known> after(course.lessons.size());
  for (std::size_t at = 0; at < course.lessons.size(); ++at) {
    Known before;
    for (const std::size_t ancestor : ancestors_of(course, at))
      before.insert(after[ancestor].begin(), after[ancestor].end());
    const auto lesson = lessons.find(course.lessons[at].id);
    if (lesson == lessons.end()) continue;
    Faults faults(faults_of(lesson->first));
    after[at] = Introductions(lesson->second, before, faults).read();
  }
}

}  // namespace parallelarium
