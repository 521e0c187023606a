// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine says, in the window's language: resources/sentences.json by a message's id.
#pragma once

#include <QHash>
#include <QString>
#include <QTranslator>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"

class QLocale;

namespace parallelarium {

// The engine's sentences in one language, installed beside the translations of the window's own
// texts: the context is "engine", the source text an id.
class Sentences : public QTranslator {
 public:
  using QTranslator::QTranslator;
  // False where there are none in this language; the engine's English is shown then.
  bool read(const QLocale& locale);

  QString translate(const char* context, const char* id, const char* comment = nullptr,
                    int count = -1) const override;
  bool isEmpty() const override { return patterns_.isEmpty(); }

 private:
  QHash<QByteArray, QString> patterns_;  // by id
};

// The message in the language of the installed Sentences, else in English.
QString sentence(const Message& message);

QString name_text(Purpose purpose);
QString name_text(Piece piece);
QString name_text(Tensor tensor);

// The same with a capital at its beginning.
QString capitalised(QString text);
// A title in the middle of a sentence: small at its beginning, unless it is a name. German keeps
// the capitals of nouns.
QString in_sentence(const QString& title, bool is_name = false);

}  // namespace parallelarium
