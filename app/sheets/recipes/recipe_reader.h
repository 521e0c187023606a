// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a framework's launch line or configuration as a Setup.
#pragma once

#include <optional>

#include "app/sheets/recipes/paste_sheet.h"
#include "engine/plan/setup/setup.h"

class QComboBox;

namespace parallelarium {

class RecipeReader : public PasteSheet {
  Q_OBJECT

 public:
  // `base`: what the text has no setting for. `use`: the word of the button that accepts.
  RecipeReader(Setup base, const QString& use, QWidget* parent = nullptr);
  // What was read; none where nothing can be. After accept() it is there.
  const std::optional<Setup>& setup() const { return read_; }

 protected:
  Reading read(const std::string& text) override;
  void nothing_read() override { read_.reset(); }
  const Setup& base() const { return base_; }
  void take(Setup setup) { read_ = std::move(setup); }  // in place of what was read
  static QString setup_text(const Setup& setup);

 private:
  Setup base_;
  std::optional<Setup> read_;
  QComboBox* framework_;
};

}  // namespace parallelarium
