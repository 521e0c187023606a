// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a framework's launch line or configuration as a Setup.
#pragma once

#include <optional>

#include "app/sheets/recipes/paste_sheet.h"
#include "engine/plan/setup/setup.h"

class QComboBox;
class QPushButton;

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
  void nothing_read() override;
  const Setup& base() const { return base_; }
  void take(Setup setup);  // in place of what was read
  Reading reading() const;
  // Whether a text that leaves out the shape is of the base's model where it can be.
  virtual bool is_of_base() const { return false; }
  virtual QString consequence(const Setup&) const { return {}; }  // of using what was read

 private:
  // A known model with these layers, widths, heads and experts, and how the text's own differs from
  // it.
  struct Like {
    Model model;
    QString own;
  };
  std::optional<Like> like_of(const Setup& setup) const;
  void turn_like();
  void show_like();
  Setup base_;
  std::optional<Setup> read_;
  std::optional<Model> said_;  // the model as the text says it
  std::optional<Like> like_;   // none: it is a known model, or like none
  QString head_, notes_;       // before what was read, and what is said of the text
  QComboBox* framework_;
  QPushButton* as_like_;
};

}  // namespace parallelarium
