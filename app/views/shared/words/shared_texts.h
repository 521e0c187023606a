// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of this folder share.
#pragma once

#include <QCoreApplication>
#include <QLocale>
#include <QString>

namespace parallelarium {

struct SharedTexts {
  Q_DECLARE_TR_FUNCTIONS(words)
};

inline const QString kDotBetween = QStringLiteral(" \u00b7 ");

// "1 stage", "4 stages".
inline QString plural(int count, const char* one, const char* many) {
  return (count == 1 ? SharedTexts::tr(one) : SharedTexts::tr(many)).arg(QLocale().toString(count));
}

}  // namespace parallelarium
