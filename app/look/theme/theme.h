// SPDX-License-Identifier: GPL-3.0-or-later
// Colours, fonts and spacing of the window, light and dark, from one table. Views ask for meaning
// ("forward, predicted"), never for a colour code.
//
// Plain widgets get the look through the style sheet and these dynamic properties:
//   QPushButton, QToolButton  primary=true             the one filled button (Run, Commit)
//                             segment="first|middle|last"   parts of a segmented button, checkable
//                             quiet=true               no border until hovered
//   QLabel                    role="caps|muted|title|small|good|warning|figure"
//   QFrame, QWidget           surface=true             white surface
//                             edge="top|bottom|left|right"  a hairline on that side
//   any field                 changed=true             marked as different from the default
#pragma once

#include <QBrush>
#include <QColor>
#include <QFont>
#include <QPalette>
#include <QPen>
#include <QString>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"

class QApplication;

namespace parallelarium {

enum class OpColor { kForward, kBackward, kWeight, kCommunication, kOptimizer };

struct Theme {
  bool dark = false;
  QColor window, surface, hairline, grid, control_line, text, muted, accent, accent_soft, mark,
      warning, warning_surface, good, bubble_line, bubble_fill;
  QColor track;        // of sliders and progress
  QColor accent_line;  // the accent as a line or text on a surface

  QColor solid(OpColor color) const;        // observed bars
  QColor tint(OpColor color) const;         // predicted bars, with solid() as outline
  QColor ink_on(const QColor& fill) const;  // text colour with contrast of at least 4.5:1
  QColor memory(Category category) const;
  QColor rank(int number) const;     // stages, ranks and experts; repeats after the table's end
  QPen rank_line(int number) const;  // 1 px; where colours repeat, the dash differs
  QBrush bubble() const;             // grey hatching
  QFont font(int pixel_size, bool bold = false) const;  // Noto Sans
  QFont caps() const;                                   // 11 px small capitals for section heads
};

const Theme& light_theme();
const Theme& dark_theme();
// The theme that belongs to a palette (dark if its window colour is).
const Theme& theme_for(const QPalette& palette);
QPalette palette_of(const Theme& theme);
QString style_sheet_of(const Theme& theme);
// Loads the bundled font, sets Fusion, palette and style sheet.
void apply_theme(QApplication& application, bool dark);
OpColor color_of(const Bar& bar);

// CIEDE2000 difference; and a colour as seen with a colour deficiency (Machado et al. 2009,
// severity 1).
enum class Vision { kNormal, kProtan, kDeutan, kTritan };
double color_difference(const QColor& a, const QColor& b);
QColor seen_with(Vision vision, const QColor& color);
double contrast_ratio(const QColor& a, const QColor& b);

}  // namespace parallelarium
