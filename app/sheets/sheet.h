// SPDX-License-Identifier: GPL-3.0-or-later
// The base of every dialog of ours: Enter in a field commits that field and presses no button.
#pragma once

#include <QDialog>

class QVBoxLayout;

namespace parallelarium {

// Qt makes the first button of a dialog its default as soon as the dialog is shown, so that Enter
// in any field presses it. Here Enter presses a button only where that button has the focus, or was
// made the default by setDefault(true).
class Sheet : public QDialog {
  Q_OBJECT

 public:
  using QDialog::QDialog;
  void setVisible(bool visible) override;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  // A column at the end of `outer` that scrolls up and down alone.
  QVBoxLayout* add_scrolled_column(QVBoxLayout* outer);
  // What the dialog is about, in a sentence; nothing where that is empty.
  QLabel* add_whose(QVBoxLayout* column, const QString& whose);
};

}  // namespace parallelarium
