// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for format, scale and colours of an export, then for the file.
#pragma once

#include "app/export/export.h"
#include "app/sheets/sheet.h"

class QComboBox;
class QCheckBox;

namespace parallelarium {

class ExportDialog : public Sheet {
  Q_OBJECT

 public:
  // `view`: whose figures are exported. `zoomed`: the visible time can be exported alone. `whose`:
  // what the file is of, in a sentence, or empty where that is plain.
  ExportDialog(bool dark, bool zoomed, ExportKind kind, const View& view, const QString& whose,
               QWidget* parent = nullptr);
  ExportOptions options() const;
  // ".png" and so on.
  static QString ending_of(ExportKind kind);

 private:
  QComboBox *format_, *scale_, *colours_;
  QCheckBox* range_;
};

}  // namespace parallelarium
