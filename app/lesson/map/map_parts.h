// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes and labels that the two files of the map share.
#pragma once

#include <QLabel>

#include "app/settings/controls.h"

namespace parallelarium {

inline constexpr int kMapSideWidth = 290, kSearchWidth = 150;

inline QLabel* wrapped_label(const char* role) {
  auto* label = new QLabel;
  label->setWordWrap(true);
  set_style_property(label, "role", role);
  return label;
}

// Text that others wrote: no letter of it is markup.
inline QLabel* plain_label(const char* role) {
  QLabel* label = wrapped_label(role);
  label->setTextFormat(Qt::PlainText);
  return label;
}

QString hours_text(int minutes);  // "45 minutes", "1 h 20 min"

}  // namespace parallelarium
