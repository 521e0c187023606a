// SPDX-License-Identifier: GPL-3.0-or-later
// A Setup as a framework says it: the launch line or configuration, to copy or to save, and what
// the framework cannot say.
#pragma once

#include "app/sheets/sheet.h"
#include "engine/plan/setup/setup.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QVBoxLayout;

namespace parallelarium {

struct FrameworkText;

class RecipeSheet : public Sheet {
  Q_OBJECT

 public:
  // `setup`: nothing in it is `auto`. `whose`: what that is, in a sentence. `framework`: the one
  // that is shown first, by its name.
  RecipeSheet(Setup setup, const QString& whose, QWidget* parent = nullptr,
              const QString& framework = {});
  void save_to(const QString& path);  // what Save as … does with its answer

 private:
  void show_recipe();
  QString own_values(const std::string& framework, const FrameworkText& written) const;
  QString time_as_written(const std::string& framework, const FrameworkText& written) const;
  Setup setup_;
  QComboBox* framework_;
  QLabel *version_, *unsaid_, *saved_;
  QPlainTextEdit* text_;
  QPushButton *copy_, *save_;
};

// The column of a dialog, in a frame and below the dialog's title, so that both are there without a
// window manager, too.
QVBoxLayout* add_framed_column(QDialog& dialog);
// The frameworks by their titles, in the order of the engine's list; the data are their names.
QComboBox* make_framework_box(QWidget* parent);
// A field for texts of frameworks, in letters of equal width.
QPlainTextEdit* make_recipe_field(QWidget* parent);
// Those sentences, one in a line of its own.
QString sentences_text(const std::vector<Message>& sentences);

}  // namespace parallelarium
