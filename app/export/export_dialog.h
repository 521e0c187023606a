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
  // `view`: whose picture and figures are exported.
  ExportDialog(bool dark, bool zoomed, ExportKind kind, QWidget* parent = nullptr,
               ViewKind view = ViewKind::kPipeline);
  ExportOptions options() const;
  // ".png" and so on.
  static QString ending_of(ExportKind kind);

 private:
  QComboBox *format_, *scale_, *colours_;
  QCheckBox* range_;
};

}  // namespace parallelarium
