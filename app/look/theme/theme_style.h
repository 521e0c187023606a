// SPDX-License-Identifier: GPL-3.0-or-later
// Fusion with spin boxes and combo boxes drawn as hairline boxes: "−  +" beside each other, a thin
// chevron. Everything else that differs from Fusion stands in the style sheet.
#pragma once

#include <QProxyStyle>

namespace parallelarium {

class ThemeStyle : public QProxyStyle {
  Q_OBJECT

 public:
  ThemeStyle();
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                          QPainter* painter, const QWidget* widget) const override;
  // What a combo box has no room for ends in "…".
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                   const QWidget* widget) const override;
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                       const QWidget* widget) const override;
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                         const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;
};

}  // namespace parallelarium
