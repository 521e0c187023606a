// SPDX-License-Identifier: GPL-3.0-or-later
// The program in German, for as long as one of these lives.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QLocale>
#include <QTranslator>

#include "app/look/sentence.h"

namespace parallelarium {

class German {
 public:
  German() : before_(QLocale()) {
    const QLocale german(QLocale::German, QLocale::Germany);
    QLocale::setDefault(german);
    EXPECT_TRUE(own_.load(QStringLiteral(PARALLELARIUM_BINARY_DIR "/../app/parallelarium_de.qm")))
        << "is made with the program";
    EXPECT_TRUE(sentences_.read(german));
    QCoreApplication::installTranslator(&own_);
    QCoreApplication::installTranslator(&sentences_);
  }
  ~German() {
    QCoreApplication::removeTranslator(&sentences_);
    QCoreApplication::removeTranslator(&own_);
    QLocale::setDefault(before_);
  }
  German(const German&) = delete;
  German& operator=(const German&) = delete;

 private:
  const QLocale before_;
  QTranslator own_;
  Sentences sentences_;
};

}  // namespace parallelarium
