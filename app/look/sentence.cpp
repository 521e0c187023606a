// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/sentence.h"

#include <QCoreApplication>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

// Places are {} in the order of the arguments, or {0}, {1} … in one of the language's own.
QString filled(const QString& pattern, const std::vector<Message>& arguments) {
  QString text;
  std::size_t next = 0;
  for (qsizetype at = 0; at < pattern.size();) {
    const qsizetype open = pattern.indexOf(QLatin1Char('{'), at);
    const qsizetype close = open < 0 ? -1 : pattern.indexOf(QLatin1Char('}'), open);
    if (close < 0) return text + pattern.mid(at);
    text += pattern.mid(at, open - at);
    bool numbered = false;
    const uint place = pattern.mid(open + 1, close - open - 1).toUInt(&numbered);
    const std::size_t argument = numbered ? place : next++;
    if (argument < arguments.size()) text += sentence(arguments[argument]);
    at = close + 1;
  }
  return text;
}

}  // namespace

bool Sentences::read(const QLocale& locale) {
  const QString language = QLocale::languageToCode(locale.language());
  QFile file(QStringLiteral(":/sentences.json"));
  if (language == QLatin1String("en") || !file.open(QIODevice::ReadOnly)) return false;
  const QJsonObject all = QJsonDocument::fromJson(file.readAll()).object();
  for (auto one = all.begin(); one != all.end(); ++one) {
    const QString pattern = one->toObject().value(language).toString();
    if (!pattern.isEmpty()) patterns_.insert(one.key().toUtf8(), pattern);
  }
  return !patterns_.isEmpty();
}

QString Sentences::translate(const char* context, const char* id, const char*, int) const {
  return qstrcmp(context, "engine") == 0 ? patterns_.value(QByteArray(id)) : QString();
}

QString sentence(const Message& message) {
  const QString english = QString::fromStdString(message.text);
  if (message.id.empty()) return english;
  if (message.id == "figure") {
    bool is_whole = false;
    const qlonglong whole = english.toLongLong(&is_whole);
    return is_whole ? QLocale().toString(whole)
                    : QString(english).replace(QLatin1Char('.'), QLocale().decimalPoint());
  }
  if (message.id == "settings" && message.arguments.size() == 1)
    return QCoreApplication::translate("settings", message.arguments.front().text.c_str())
        .section(QStringLiteral(" ("), 0, 0);
  if (message.id == "clause" && message.arguments.size() == 1) {
    QString part = sentence(message.arguments.front());
    while (part.endsWith(QLatin1Char('.'))) part.chop(1);
    return part;
  }
  const QString pattern = QCoreApplication::translate("engine", message.id.c_str());
  return pattern == QLatin1String(message.id.c_str()) ? english
                                                      : filled(pattern, message.arguments);
}

QString name_text(Purpose purpose) { return sentence(word("purpose", name_of(purpose))); }
QString name_text(Piece piece) { return sentence(word("piece", name_of(piece))); }
QString name_text(Tensor tensor) { return sentence(word("tensor", name_of(tensor))); }

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

QString in_sentence(const QString& title, bool is_name) {
  const bool keeps = title.isEmpty() || is_name || QLocale().language() == QLocale::German;
  return keeps ? title : title.at(0).toLower() + title.mid(1);
}

}  // namespace parallelarium
