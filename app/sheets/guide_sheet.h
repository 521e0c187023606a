// SPDX-License-Identifier: GPL-3.0-or-later
// Help > For teachers: the guide that stands beside the lessons.
#pragma once

#include "app/sheets/sheet.h"

namespace parallelarium {

class GuideSheet : public Sheet {
  Q_OBJECT

 public:
  explicit GuideSheet(QWidget* parent = nullptr);
};

}  // namespace parallelarium
