// SPDX-License-Identifier: GPL-3.0-or-later
// What a screen reader is told of widgets that Qt does not describe: pictures, choices, texts.
#pragma once

#include <QAccessible>
#include <QString>
#include <functional>

class QTextDocument;
class QWidget;

namespace parallelarium {

// What Qt does not know of a widget. Its name and description are the widget's own accessible ones.
struct Heard {
  QAccessible::Role role = QAccessible::Client;
  std::function<QString()> text = {};  // asked for whenever it is read; none: it has no text
  bool whole = false;                  // its parts are not read one by one
};

// Once, as soon as there is an application: all that follows is heard from then on. Every list of
// choices has its label as its name then, and its choice as its text.
void install_spoken();

// Sets a widget's description, unless it is that already: a screen reader would say it once more.
void describe(QWidget& widget, const QString& description);

// To be called before the widget gets its accessible name.
void speak_as(QWidget& widget, Heard heard);

// The text that a screen reader reads of a widget; empty where it has none.
QString heard_text(QWidget& widget);

// A document in words: its pictures by their texts, its tables row by row under their heads.
QString spoken_text(const QTextDocument& document);

}  // namespace parallelarium
