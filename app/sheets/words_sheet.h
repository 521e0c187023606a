// SPDX-License-Identifier: GPL-3.0-or-later
// Help > Words: what the words in the window mean, one sentence each.
#pragma once

#include <QString>
#include <vector>

#include "app/sheets/sheet.h"

namespace parallelarium {

struct WordMeaning {
  QString word, meaning;
};
// All words, as they are sorted on the sheet.
std::vector<WordMeaning> word_meanings();
// Of one word, for a tooltip; empty if it is not among them.
QString meaning_of(const QString& word);

class WordsSheet : public Sheet {
  Q_OBJECT

 public:
  explicit WordsSheet(QWidget* parent = nullptr);
};

}  // namespace parallelarium
