// SPDX-License-Identifier: GPL-3.0-or-later
// Help > Words: the glossary, with a field to search it, and the words that mean one thing here and
// another there.
#pragma once

#include <QString>
#include <vector>

#include "app/look/words.h"
#include "app/sheets/sheet.h"

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace parallelarium {

class WordsSheet : public Sheet {
  Q_OBJECT

 public:
  // While a lesson hides formulas they read "?" here, too.
  explicit WordsSheet(bool formulas_hidden = false, QWidget* parent = nullptr);

 Q_SIGNALS:
  // By the id of the course, or a view's name as in resources/views.json. The sheet closes.
  void lesson_wanted(const QString& id);
  void view_wanted(const QString& name);

 private:
  struct Entry {
    QWidget* row;
    QString text;  // all that is searched
  };
  void fill(const Glossary& glossary, QVBoxLayout* column);
  QLabel* formula_label(const QString& formula, QWidget* row) const;
  QWidget* make_word(const Term& word, const QString& lesson);
  QWidget* make_alike(const AlikeTerm& alike);
  void search(const QString& text);

  const bool formulas_hidden_;
  QLineEdit* search_ = nullptr;
  QLabel *alike_head_ = nullptr, *found_ = nullptr;
  std::vector<Entry> words_, alike_;
};

}  // namespace parallelarium
