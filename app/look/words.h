// SPDX-License-Identifier: GPL-3.0-or-later
// The glossary, resources/words.json: what the words of the field mean that window and lessons use,
// and words that mean one thing here and another there. Its texts are the window's own, so they
// carry all languages; this gives them in one.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <map>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct Term {
  QString id;  // "zero", or the name_of() a Source
  QString word, meaning;
  QStringList in_text;  // as lesson texts write it, inflected; empty where it is not marked there
  // Empty where there is none; `lesson` is an id of the course, `view` the one that draws it, as in
  // resources/views.json.
  QString formula, source, lesson, view;
};

// One word with several meanings, each in its place: SP in Megatron-LM, SP in DeepSpeed-Ulysses.
struct AlikeTerm {
  struct Meaning {
    QString in, meaning, formula, source;
  };
  QString word;
  std::vector<Meaning> meanings;
};

struct Glossary {
  std::vector<Term> words;  // sorted by word, in any case
  std::vector<AlikeTerm> alike;
  // Null if there is none of this id.
  const Term* find(std::string_view id) const;
};

// By language. Error: `json` is no glossary, or an entry lacks something; the sentence names entry
// and key.
Result<std::map<QString, Glossary>> read_glossaries(const QByteArray& json);

// The one that came with the program, in QLocale's language, else in English. Read once. Error: as
// that of read_glossaries.
Result<const Glossary*> glossary();

// The meaning of one word by its id, for a tooltip; empty if it is not among them.
QString meaning_of(std::string_view id);

}  // namespace parallelarium
