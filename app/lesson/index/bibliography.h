// SPDX-License-Identifier: GPL-3.0-or-later
// The sources that lessons, words, formulas and published runs cite: resources/bibliography.json.
// Who cites a source is not written there. It is found, by what a citation looks like.
#pragma once

#include <QString>
#include <QStringList>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct CitedSource {
  QString id, authors, title;
  QString venue, url;     // empty where there is none
  int year = 0;           // 0: a document that is kept up to date
  bool formulas = false;  // formulas of the window cite it
  QStringList known_by;   // any of these in a text is a citation of it
  bool cited_in(const QString& text) const;
};

// Sorted by authors, year and title. Error: `json` is no bibliography, or an entry lacks something.
Result<std::vector<CitedSource>> read_bibliography(std::string_view json);

// The one that came with the program. Read once. Error: as that of read_bibliography.
Result<const std::vector<CitedSource>*> bibliography();

}  // namespace parallelarium
