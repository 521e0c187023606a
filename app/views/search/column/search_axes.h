// SPDX-License-Identifier: GPL-3.0-or-later
// The axes of a search that a person may fix, or ask about, and their values.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace parallelarium {

struct SearchAxis {
  QString option, label;  // "tp", "Tensor, TP"
  QStringList values;     // as they are typed
  QStringList words;      // of the values, for people
  // Of a value that is not among them, itself.
  QString word_of(const QString& value) const {
    const qsizetype at = values.indexOf(value);
    return at < 0 ? value : words[at];
  }
};
std::vector<SearchAxis> search_axes();

}  // namespace parallelarium
