// SPDX-License-Identifier: GPL-3.0-or-later
// Where the words of the glossary stand in a text.
#pragma once

#include <vector>

#include "app/look/words.h"

class QTextDocument;

namespace parallelarium {

struct TextWord {
  int begin = 0, end = 0;  // positions in the document
  const Term* word = nullptr;
};

// The first place of each word, in the order of the text. Whole words only, the longest that
// matches; a word may begin with a capital where a sentence does. Code, links and headings have
// none. Words that the lesson `untold` teaches are left out.
// The result points into `glossary`.
std::vector<TextWord> words_in(const QTextDocument& document, const Glossary& glossary,
                               const QString& untold = {});

}  // namespace parallelarium
