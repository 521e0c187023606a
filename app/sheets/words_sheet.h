// SPDX-License-Identifier: GPL-3.0-or-later
// Help > Words: what the words in the window mean, one sentence each.
#pragma once

#include <QString>
#include <string_view>
#include <vector>

#include "app/sheets/sheet.h"

namespace parallelarium {

struct WordMeaning {
  QString word, meaning;
  const char* id = "";  // of those that are asked for: "zero", or the name_of() a Source
};
// All words, as they are sorted on the sheet.
std::vector<WordMeaning> word_meanings();
// The meaning of one word by its id, for a tooltip; empty if it is not among them.
QString meaning_of(std::string_view id);

class WordsSheet : public Sheet {
  Q_OBJECT

 public:
  explicit WordsSheet(QWidget* parent = nullptr);
};

}  // namespace parallelarium
