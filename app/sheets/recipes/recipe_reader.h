// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a framework's launch line or configuration, pasted or from a file, as a Setup.
#pragma once

#include <optional>

#include "app/sheets/sheet.h"
#include "engine/plan/setup/setup.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace parallelarium {

class RecipeReader : public Sheet {
  Q_OBJECT

 public:
  // `base`: what the text has no setting for. `use`: the word of the button that accepts.
  RecipeReader(Setup base, const QString& use, QWidget* parent = nullptr);
  void set_text(const QString& text);
  void open_file(const QString& path);
  // What was read; none where nothing can be. After accept() it is there.
  const std::optional<Setup>& setup() const { return read_; }

 private:
  void read();
  Setup base_;
  std::optional<Setup> read_;
  QComboBox* framework_;
  QPlainTextEdit* text_;
  QLabel *found_, *notes_;
  QPushButton* use_;
};

}  // namespace parallelarium
