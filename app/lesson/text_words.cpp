// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/text_words.h"

#include <QTextBlock>
#include <QTextDocument>
#include <algorithm>
#include <set>

namespace parallelarium {

namespace {

struct Spelling {
  QString text;
  const Term* word;
};

std::vector<Spelling> longest_first(const Glossary& glossary) {
  std::vector<Spelling> spellings;
  for (const Term& word : glossary.words)
    for (const QString& text : word.in_text) spellings.push_back({text, &word});
  std::stable_sort(spellings.begin(), spellings.end(), [](const Spelling& a, const Spelling& b) {
    return a.text.size() > b.text.size();
  });
  return spellings;
}

// The text of one block, and which of its letters are code or a link.
struct BlockText {
  QString text;
  std::vector<bool> closed;
};

BlockText letters_of(const QTextBlock& block) {
  BlockText result;
  result.text = block.text().replace(QChar(QChar::Nbsp), QLatin1Char(' '));
  result.closed.resize(std::size_t(result.text.size()), false);
  for (auto part = block.begin(); !part.atEnd(); ++part) {
    const QTextCharFormat letters = part.fragment().charFormat();
    if (!letters.isAnchor() && !letters.fontFixedPitch()) continue;
    const int from = part.fragment().position() - block.position();
    std::fill_n(result.closed.begin() + from, part.fragment().length(), true);
  }
  return result;
}

bool is_letter(QStringView text, qsizetype at) {
  return at >= 0 && at < text.size() && (text[at].isLetterOrNumber() || text[at] == u'_');
}

// Whether a word can end before `at` and another one begin there: "gather" is none in "all-gather".
bool is_edge(QStringView text, qsizetype at) {
  if (is_letter(text, at - 1) && is_letter(text, at)) return false;
  const auto hyphen = [&](qsizetype place) {
    return place > 0 && place < text.size() && text[place] == u'-' && is_letter(text, place - 1) &&
           is_letter(text, place + 1);
  };
  return !hyphen(at - 1) && !hyphen(at);
}

bool begins_sentence(QStringView text, qsizetype at) {
  while (at > 0 && (text[at - 1].isSpace() || text[at - 1].isPunct())) {
    --at;
    if (QStringView(u".:?!").contains(text[at])) return true;
  }
  return at == 0;
}

bool stands_at(const Spelling& spelling, QStringView text, qsizetype at) {
  const QStringView there = text.mid(at, spelling.text.size());
  if (there.size() < spelling.text.size() || !is_edge(text, at + there.size())) return false;
  if (there == spelling.text) return true;
  return there.mid(1) == QStringView(spelling.text).mid(1) &&
         there[0].toLower() == spelling.text[0] && begins_sentence(text, at);
}

}  // namespace

std::vector<TextWord> words_in(const QTextDocument& document, const Glossary& glossary,
                               const QString& untold) {
  const std::vector<Spelling> spellings = longest_first(glossary);
  std::vector<TextWord> found;
  std::set<const Term*> known;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    const QTextBlockFormat format = block.blockFormat();
    if (format.headingLevel() > 0 || format.hasProperty(QTextFormat::BlockCodeFence)) continue;
    const BlockText here = letters_of(block);
    for (qsizetype at = 0; at < here.text.size(); ++at) {
      if (here.closed[std::size_t(at)] || !is_edge(here.text, at)) continue;
      const auto spelling =
          std::find_if(spellings.begin(), spellings.end(),
                       [&](const Spelling& one) { return stands_at(one, here.text, at); });
      if (spelling == spellings.end()) continue;
      const qsizetype end = at + spelling->text.size();
      const bool open = std::none_of(here.closed.begin() + at, here.closed.begin() + end,
                                     [](bool closed) { return closed; });
      const bool told = untold.isEmpty() || spelling->word->lesson != untold;
      if (open && told && known.insert(spelling->word).second)
        found.push_back({block.position() + int(at), block.position() + int(end), spelling->word});
      at = end - 1;
    }
  }
  return found;
}

}  // namespace parallelarium
