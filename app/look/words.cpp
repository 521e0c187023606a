// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/words.h"

#include <fmt/format.h>

#include <QFile>
#include <QLocale>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr const char* kLanguages[] = {"en", "de"};

// Reads the texts of one object. The first thing that is missing is kept as the fault.
class EntryReader {
 public:
  EntryReader(const json& entry, std::string name, std::string language)
      : entry_(entry), name_(std::move(name)), language_(std::move(language)) {}

  // The text that every language shares, or that of this one.
  QString text(const char* key, bool needed) {
    const auto found = entry_.find(key);
    if (found == entry_.end()) return needed ? miss(key) : QString();
    if (found->is_string()) return in_use(key, *found);
    if (!found->is_object()) return miss(key);
    const auto own = found->find(language_);
    return own != found->end() && own->is_string() ? in_use(key, *own) : miss(key);
  }
  // A text that stands there for each language.
  QString translated(const char* key) {
    const auto found = entry_.find(key);
    return found != entry_.end() && found->is_object() ? text(key, true) : miss(key);
  }
  QStringList list(const char* key) {
    QStringList texts;
    const auto found = entry_.find(key);
    if (found == entry_.end()) return texts;
    const auto own = found->is_object() ? found->find(language_) : found->end();
    if (!found->is_object() || own == found->end() || !own->is_array()) return miss(key), texts;
    for (const json& one : *own) {
      if (!one.is_string()) return miss(key), texts;
      texts << in_use(key, one);
    }
    return texts;
  }
  const std::optional<Message>& fault() const { return fault_; }

 private:
  QString in_use(const char* key, const json& found) {
    const auto& text = found.get_ref<const std::string&>();
    return text.empty() ? miss(key) : QString::fromStdString(text);
  }
  QString miss(const char* key) {
    if (!fault_)
      fault_ = plain(fmt::format("words.json: {} has no \"{}\" in {}.", name_, key, language_));
    return {};
  }

  const json& entry_;
  const std::string name_, language_;
  std::optional<Message> fault_;
};

Result<Term> read_word(const json& entry, std::size_t place, const std::string& language) {
  std::string name = fmt::format("word {}", place);
  if (!entry.is_object()) return plain(fmt::format("words.json: {} is no object.", name));
  if (const auto id = entry.find("id"); id != entry.end() && id->is_string())
    name = fmt::format("the word \"{}\"", id->get<std::string>());
  EntryReader reader(entry, name, language);
  Term word{reader.text("id", true),       reader.translated("word"),
            reader.translated("meaning"),  reader.list("in_text"),
            reader.text("formula", false), reader.text("source", false),
            reader.text("lesson", false),  reader.text("view", false)};
  if (reader.fault()) return *reader.fault();
  return word;
}

Result<AlikeTerm> read_alike(const json& entry, std::size_t place, const std::string& language) {
  const std::string name = fmt::format("entry {} of \"alike\"", place);
  if (!entry.is_object()) return plain(fmt::format("words.json: {} is no object.", name));
  EntryReader head(entry, name, language);
  AlikeTerm alike;
  alike.word = head.translated("word");
  if (head.fault()) return *head.fault();
  const auto meanings = entry.find("meanings");
  if (meanings == entry.end() || !meanings->is_array() || meanings->size() < 2)
    return plain(fmt::format("words.json: {} has no two \"meanings\".", name));
  for (const json& one : *meanings) {
    if (!one.is_object()) return plain(fmt::format("words.json: {} is no object.", name));
    EntryReader reader(one, name, language);
    alike.meanings.push_back({reader.translated("in"), reader.translated("meaning"),
                              reader.text("formula", false), reader.text("source", false)});
    if (reader.fault()) return *reader.fault();
  }
  return alike;
}

Result<Glossary> read_glossary(const json& all, const std::string& language) {
  Glossary glossary;
  for (const char* key : {"words", "alike"}) {
    const auto list = all.find(key);
    if (list == all.end() || !list->is_array())
      return plain(fmt::format("words.json has no list \"{}\".", key));
  }
  for (const json& entry : all["words"]) {
    Result<Term> word = read_word(entry, glossary.words.size(), language);
    if (!word) return word.error();
    if (glossary.find(word->id.toStdString()))
      return plain(fmt::format("words.json has the word \"{}\" twice.", word->id.toStdString()));
    glossary.words.push_back(std::move(*word));
  }
  for (const json& entry : all["alike"]) {
    Result<AlikeTerm> alike = read_alike(entry, glossary.alike.size(), language);
    if (!alike) return alike.error();
    glossary.alike.push_back(std::move(*alike));
  }
  std::stable_sort(glossary.words.begin(), glossary.words.end(), [](const Term& a, const Term& b) {
    return a.word.compare(b.word, Qt::CaseInsensitive) < 0;
  });
  return glossary;
}

Result<std::map<QString, Glossary>> read_own() {
  QFile file(QStringLiteral(":/words.json"));
  if (!file.open(QIODevice::ReadOnly))
    return plain(fmt::format("words.json: {}.", file.errorString().toStdString()));
  return read_glossaries(file.readAll());
}

}  // namespace

const Term* Glossary::find(std::string_view id) const {
  const QString wanted = QString::fromUtf8(id.data(), qsizetype(id.size()));
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const Term& word) { return word.id == wanted; });
  return found == words.end() ? nullptr : &*found;
}

Result<std::map<QString, Glossary>> read_glossaries(const QByteArray& text) {
  const json all = json::parse(text.begin(), text.end(), nullptr, false);
  if (!all.is_object()) return plain("words.json is no JSON object.");
  if (all.value("format", json()) != "parallelarium-words/1")
    return plain("words.json is not of the format parallelarium-words/1.");
  std::map<QString, Glossary> glossaries;
  for (const char* language : kLanguages) {
    Result<Glossary> one = read_glossary(all, language);
    if (!one) return one.error();
    glossaries.emplace(QLatin1String(language), std::move(*one));
  }
  return glossaries;
}

Result<const Glossary*> glossary() {
  static const Result<std::map<QString, Glossary>> all = read_own();
  if (!all) return all.error();
  const auto own = all->find(QLocale().name().section(QLatin1Char('_'), 0, 0));
  return own != all->end() ? &own->second : &all->at(QStringLiteral("en"));
}

QString meaning_of(std::string_view id) {
  const Result<const Glossary*> all = glossary();
  const Term* word = all ? (*all)->find(id) : nullptr;
  return word ? word->meaning : QString();
}

}  // namespace parallelarium
