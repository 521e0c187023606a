// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme/theme_style.h"

#include <QPainter>
#include <QStyleOption>
#include <QWidget>

#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"

namespace parallelarium {
namespace {

constexpr int kButton = 20;   // width of "−" and of "+"
constexpr int kChevron = 24;  // width of a combo box's arrow
constexpr int kHeight = 30;

void draw_box(QPainter* painter, const QStyleOption& option, const Theme& theme, bool changed) {
  const bool enabled = option.state & QStyle::State_Enabled;
  const bool focused = enabled && (option.state & QStyle::State_HasFocus);
  painter->setRenderHint(QPainter::Antialiasing);
  const bool marked = focused || (changed && enabled);
  painter->setPen(QPen(marked ? theme.accent_line : theme.control_line, focused ? 2 : 1));
  painter->setBrush(enabled ? theme.surface : theme.window);
  const qreal inset = focused ? 1 : 0.5;
  painter->drawRoundedRect(QRectF(option.rect).adjusted(inset, inset, -inset, -inset), 6, 6);
}

void draw_sign(QPainter* painter, const QRect& rect, bool plus, const QColor& color) {
  const QPointF center = QRectF(rect).center();
  painter->setPen(QPen(color, 1.3));
  painter->drawLine(center - QPointF(3.5, 0), center + QPointF(3.5, 0));
  if (plus) painter->drawLine(center - QPointF(0, 3.5), center + QPointF(0, 3.5));
}

// A hairline box, filled with the accent where it is checked: Fusion's own is black on the dark
// theme.
void draw_check(QPainter* painter, const QStyleOption& option, const QWidget* widget) {
  const Theme& theme = theme_for(option.palette);
  const bool enabled = option.state & QStyle::State_Enabled;
  const bool focused = enabled && widget && shows_focus(*widget);
  const bool on = option.state & QStyle::State_On;
  const QRectF box = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(on || focused ? theme.accent_line : theme.muted, focused ? 2 : 1));
  painter->setBrush(on && enabled ? theme.accent : enabled ? theme.surface : theme.window);
  painter->drawRoundedRect(box, 3, 3);
  if (on) {
    const QPointF middle = box.center();
    painter->setPen(QPen(enabled ? theme.ink_on(theme.accent) : theme.muted, 1.6));
    painter->setBrush(Qt::NoBrush);
    painter->drawPolyline(QPolygonF{middle + QPointF(-3.2, 0.2), middle + QPointF(-0.8, 2.6),
                                    middle + QPointF(3.2, -2.4)});
  }
  painter->restore();
}

bool is_changed(const QWidget* widget) { return widget && widget->property("changed").toBool(); }

}  // namespace

ThemeStyle::ThemeStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void ThemeStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                    QPainter* painter, const QWidget* widget) const {
  const Theme& theme = theme_for(option->palette);
  const bool enabled = option->state & State_Enabled;
  if (control == CC_SpinBox) {
    if (const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option)) {
      painter->save();
      draw_box(painter, *option, theme, is_changed(widget));
      const auto color = [&](bool can) {
        return enabled && can ? theme.muted : theme.control_line;
      };
      if (spin->buttonSymbols != QAbstractSpinBox::NoButtons) {
        draw_sign(painter, subControlRect(control, option, SC_SpinBoxDown, widget), false,
                  color(spin->stepEnabled & QAbstractSpinBox::StepDownEnabled));
        draw_sign(painter, subControlRect(control, option, SC_SpinBoxUp, widget), true,
                  color(spin->stepEnabled & QAbstractSpinBox::StepUpEnabled));
      }
      painter->restore();
      return;
    }
  }
  if (control == CC_ComboBox) {
    painter->save();
    draw_box(painter, *option, theme, is_changed(widget));
    const QPointF center =
        QRectF(subControlRect(control, option, SC_ComboBoxArrow, widget)).center();
    painter->setPen(QPen(enabled ? theme.muted : theme.control_line, 1.5, Qt::SolidLine,
                         Qt::RoundCap, Qt::RoundJoin));
    painter->drawPolyline(QPolygonF{center + QPointF(-3.5, -1.5), center + QPointF(0, 2),
                                    center + QPointF(3.5, -1.5)});
    painter->restore();
    return;
  }
  QProxyStyle::drawComplexControl(control, option, painter, widget);
}

void ThemeStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                             const QWidget* widget) const {
  const auto* box = qstyleoption_cast<const QStyleOptionComboBox*>(option);
  if (element == CE_ComboBoxLabel && box && !box->editable) {
    QStyleOptionComboBox fitting(*box);
    const int room = subControlRect(CC_ComboBox, box, SC_ComboBoxEditField, widget).width() - 2;
    fitting.currentText = box->fontMetrics.elidedText(box->currentText, Qt::ElideRight, room);
    return QProxyStyle::drawControl(element, &fitting, painter, widget);
  }
  QProxyStyle::drawControl(element, option, painter, widget);
}

void ThemeStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                               QPainter* painter, const QWidget* widget) const {
  // The box is drawn whole by drawComplexControl; a line edit inside it needs no frame of its own.
  if (element == PE_PanelLineEdit && widget && widget->parentWidget() &&
      (widget->parentWidget()->inherits("QAbstractSpinBox") ||
       widget->parentWidget()->inherits("QComboBox")))
    return;
  if (element == PE_IndicatorCheckBox) return draw_check(painter, *option, widget);
  if (element == PE_PanelLineEdit) {
    painter->save();
    draw_box(painter, *option, theme_for(option->palette), is_changed(widget));
    painter->restore();
    return;
  }
  QProxyStyle::drawPrimitive(element, option, painter, widget);
}

QRect ThemeStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option,
                                 SubControl part, const QWidget* widget) const {
  const QRect box = option->rect;
  if (control == CC_SpinBox) {
    const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
    const bool buttons = !spin || spin->buttonSymbols != QAbstractSpinBox::NoButtons;
    const int both = buttons ? 2 * kButton + 4 : 4;
    QRect rect = box;
    switch (part) {
      case SC_SpinBoxFrame:
        return box;
      case SC_SpinBoxEditField:
        rect = box.adjusted(6, 1, -both, -1);
        break;
      case SC_SpinBoxDown:
        rect = buttons ? QRect(box.right() - both + 1, box.top(), kButton, box.height()) : QRect();
        break;
      case SC_SpinBoxUp:
        rect = buttons ? QRect(box.right() - both + 1 + kButton, box.top(), kButton, box.height())
                       : QRect();
        break;
      default:
        return QProxyStyle::subControlRect(control, option, part, widget);
    }
    return visualRect(option->direction, box, rect);
  }
  if (control == CC_ComboBox) {
    if (part == SC_ComboBoxArrow)
      return visualRect(option->direction, box,
                        QRect(box.right() - kChevron, box.top(), kChevron, box.height()));
    if (part == SC_ComboBoxEditField)
      return visualRect(option->direction, box, box.adjusted(8, 1, -kChevron, -1));
    if (part == SC_ComboBoxFrame) return box;
  }
  return QProxyStyle::subControlRect(control, option, part, widget);
}

QSize ThemeStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                                   const QWidget* widget) const {
  if (type == CT_SpinBox) {
    const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
    const bool buttons = !spin || spin->buttonSymbols != QAbstractSpinBox::NoButtons;
    return QSize(size.width() + (buttons ? 2 * kButton : 0) + 14, kHeight);
  }
  if (type == CT_ComboBox)
    return QSize(size.width() + kChevron + 12, qMax(kHeight, size.height() + 8));
  if (type == CT_LineEdit) return QSize(size.width() + 8, kHeight);
  return QProxyStyle::sizeFromContents(type, option, size, widget);
}

int ThemeStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                          QStyleHintReturn* data) const {
  if (hint == SH_ComboBox_Popup) return 0;                    // a list below the box, not over it
  if (hint == SH_DialogButtonBox_ButtonsHaveIcons) return 0;  // words suffice
  if (hint == SH_ToolTip_WakeUpDelay) return 300;
  return QProxyStyle::styleHint(hint, option, widget, data);
}

}  // namespace parallelarium
