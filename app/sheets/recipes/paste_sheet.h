// SPDX-License-Identifier: GPL-3.0-or-later
// A sheet for text of other programs, pasted or from a file: says as one types what was read.
#pragma once

#include "app/sheets/sheet.h"

class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QVBoxLayout;

namespace parallelarium {

class PasteSheet : public Sheet {
  Q_OBJECT

 public:
  void set_text(const QString& text);
  QString text() const;
  void open_file(const QString& path);

 protected:
  // `use`: the word of the button that accepts.
  struct Words {
    QString title, field, placeholder, use;
  };
  explicit PasteSheet(const Words& words, QWidget* parent);
  struct Reading {
    QString found, notes;
    bool usable = false;  // else the button that accepts rests
    bool wrong = false;
  };
  // Of a text that is not empty.
  virtual Reading read(const std::string& text) = 0;
  virtual void nothing_read() {}  // the text is empty again
  void read_again();
  void show_reading(const Reading& reading);
  QHBoxLayout* head() { return head_; }         // before the button that opens a file
  QVBoxLayout* under_text() { return under_; }  // above what was read

 private:
  QHBoxLayout* head_;
  QVBoxLayout* under_;
  QPlainTextEdit* text_;
  QLabel *found_, *notes_;
  QPushButton* use_;
};

}  // namespace parallelarium
