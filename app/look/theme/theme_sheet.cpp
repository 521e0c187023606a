// SPDX-License-Identifier: GPL-3.0-or-later
// The style sheet of plain widgets (buttons, segments, tabs, hairlines, labels by role) and of the
// window's own parts (strip cells, chips, banners). Combo boxes, spin boxes and line edits are
// drawn by ThemeStyle and must not be named here, because one rule would take their drawing away
// from it. A window gets no sheet of its own: QApplication::setStyle() would style each widget in
// it again for every parent that it has. A rule begins with the class of its widgets or with their
// name, since a rule for any class is tried on every widget there is; "surface" alone is for any.
#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"

namespace parallelarium {
namespace {

constexpr char kSheet[] = R"(
QMainWindow, QDialog { background: @window; }
*[surface="true"] { background: @surface; }
QFrame[edge="top"] { border: none; border-top: 1px solid @hairline; }

QPushButton, QToolButton { background: @surface; color: @text; border: 1px solid @control_line;
  border-radius: 6px; padding: 5px 11px; min-height: 18px; }
QPushButton, QToolButton { outline: none; }
QToolButton[quiet="true"] { background: transparent; border-color: transparent; }
QToolButton[segment="first"], QToolButton[segment="middle"], QToolButton[segment="last"] {
  border: 1px solid @control_line; padding: 3px 9px; border-radius: 0; background: @surface; }
QToolButton[segment="first"] { border-top-left-radius: 6px; border-bottom-left-radius: 6px; }
QToolButton[segment="middle"], QToolButton[segment="last"] { border-left: none; }
QToolButton[segment="last"] { border-top-right-radius: 6px; border-bottom-right-radius: 6px; }
QPushButton:hover, QToolButton:hover { background: @window; }
QPushButton:pressed, QToolButton:pressed { background: @grid; }
QPushButton:checked, QToolButton:checked { background: @accent_soft; border-color: @accent_line; }
QPushButton:disabled, QToolButton:disabled { color: @muted; background: @window;
  border-color: @hairline; }
QPushButton[ring="true"]:focus, QToolButton[ring="true"]:focus { border: 2px solid @accent_line; padding: 4px 10px; }
QPushButton[primary="true"] { background: @accent; color: #FFFFFF; border-color: @accent;
  font-weight: bold; }
QPushButton[primary="true"]:hover { background: @accent_hover; }
QPushButton[primary="true"]:disabled { background: @track; color: @muted; border-color: @track; }
QPushButton[primary="true"][ring="true"]:focus { border: 2px solid @focus_on_accent; }
QToolButton[quiet="true"]:hover { border-color: @control_line; }
QToolButton::menu-indicator, QPushButton::menu-indicator { image: none; width: 0; }

QToolButton[segment]:checked { background: @accent; color: #FFFFFF; border-color: @accent; }
QToolButton[segment]:checked:disabled { background: @track; color: @muted; border-color: @track; }
QToolButton[segment][ring="true"]:focus { border: 2px solid @accent_line; padding: 2px 8px; }
QToolButton[segment][ring="true"]:checked:focus { border: 2px solid @focus_on_accent; }

QTabWidget::pane { border: none; border-top: 1px solid @hairline; background: @surface; }
QTabBar { background: @window; qproperty-drawBase: 0; }
QTabBar::tab { color: @muted; background: transparent; padding: 8px 10px;
  border: 1px solid transparent; border-bottom: none; border-top-left-radius: 6px;
  border-top-right-radius: 6px; margin-right: 2px; }
QTabBar::tab:selected { color: @text; background: @surface; border-color: @hairline;
  font-weight: bold; }
QTabBar::tab:hover:!selected { color: @text; }
QTabBar::tab:focus { border: 2px solid @accent_line; }

QLabel[role="caps"] { color: @muted; font-size: 11px; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="small"] { color: @muted; font-size: 11px; }
QLabel[role="title"] { font-size: 17px; font-weight: bold; }
QLabel[role="figure"] { font-size: 16px; font-weight: bold; }
QLabel[role="good"] { color: @good; }
QLabel[role="strong"] { font-weight: bold; }
QLabel[role="warning"] { color: @warning; background: @warning_surface; border-radius: 4px;
  padding: 1px 5px; }

QToolTip { background: @surface; color: @text; border: 1px solid @control_line; padding: 5px 7px; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @control_line;
  selection-background-color: @accent_soft; selection-color: @text; }
QMenu { background: @surface; border: 1px solid @control_line; padding: 4px; }
QMenu::item { padding: 5px 22px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: @accent_soft; color: @text; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @hairline; margin: 4px 8px; }
QMenuBar { background: @surface; color: @text; }
QMenuBar::item { padding: 4px 10px; background: transparent; }
QMenuBar::item:selected { background: @accent_soft; }

QScrollArea { border: none; background: transparent; }
QScrollBar:vertical { width: 10px; background: transparent; margin: 0; }
QScrollBar:horizontal { height: 10px; background: transparent; margin: 0; }
QScrollBar::handle { background: @track; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @track; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: @accent_line; }
QSlider::handle:horizontal { width: 11px; height: 11px; margin: -5px 0; border-radius: 7px;
  background: @surface; border: 2px solid @accent_line; }
QSlider[ring="true"]::handle:horizontal:focus { background: @accent_line; }
QProgressBar { border: none; border-radius: 3px; background: @track; height: 6px;
  text-align: center; }
QProgressBar::chunk { background: @accent_line; border-radius: 3px; }

QTableView, QTreeView, QListView { background: @surface; color: @text; border: none;
  gridline-color: @grid; selection-background-color: @accent; selection-color: #FFFFFF;
  alternate-background-color: @window; }
QComboBoxPrivateContainer { background: @surface; border: 1px solid @control_line; }
QComboBoxListView { selection-background-color: @accent_soft; selection-color: @text; }
QHeaderView::section { background: @surface; color: @muted; border: none;
  border-bottom: 1px solid @hairline; padding: 5px 8px; }
QSplitter::handle { background: @hairline; }

#TopBar, #SetupPanel, #SetupContent, #Strip, #RightPanel, #SetupChips, #SelectionContent,
#SetupPopup, #Center { background: @surface; }
#TopBar, #SetupChips { border-bottom: 1px solid @hairline; }
#SetupPanel { border-right: 1px solid @hairline; }
#RightPanel { border-left: 1px solid @hairline; }
#RightPanel[presents="true"] * { font-size: 20px; }
#RightPanel[presents="true"] QLabel[role="title"] { font-size: 26px; }
#Strip { border-top: 1px solid @hairline; }
#SetupPopup { border: 1px solid @control_line; }
#StripCell { border: none; border-right: 1px solid @hairline; }
#StripCell[ring="true"]:focus { border: 2px solid @accent_line; border-radius: 4px; }
QLabel[role="figure"][soft="true"] { font-weight: normal; color: @muted; }
QLabel[role="figure"][compact="true"] { font-size: 13px; }
#ProductName { font-size: 14px; font-weight: bold; }
#Strong { font-weight: bold; }
#Tag { color: @warning; background: @warning_surface; border-radius: 4px; padding: 0 5px;
  font-size: 11px; }
QToolButton#Link { border: none; background: transparent; color: @muted; padding: 1px 2px;
  margin-left: -6px; min-height: 14px; }
QToolButton#Link[at="right"] { margin-left: 0; margin-right: -6px; }
QToolButton#Link:hover { color: @text; text-decoration: underline; }
QToolButton#Link[ring="true"]:focus { border: 1px solid @accent_line; border-radius: 4px; padding: 0 1px; }
QToolButton#Link[at="tabs"] { margin-left: 0; color: @accent_line; }
#CourseMap, #MapSide, #MapUnits { background: @surface; }
#GoOn { background: @accent_soft; border: 1px solid @control_line; border-radius: 8px; }
#MapPlaylist { background: @accent_soft; border: 1px solid @control_line; border-radius: 7px; }
#MapUnit { background: @window; border: 1px solid @hairline; border-radius: 7px; }
#Segments QToolButton { padding: 3px 7px; }
#Rooms QToolButton { padding: 4px 12px; font-weight: bold; }
#Rooms QToolButton[ring="true"]:focus { padding: 3px 11px; }
#Segments QToolButton[ring="true"]:focus { padding: 2px 6px; }
QToolButton#Lock { border: none; background: transparent; padding: 0; min-height: 16px; }
QToolButton#Lock[ring="true"]:focus { border: 1px solid @accent_line; border-radius: 4px; }
QToolButton#Chip { padding: 2px 9px; min-height: 18px; border-radius: 13px; }
QToolButton#Chip[ring="true"]:focus { padding: 1px 8px; }
#Banner { background: @warning_surface; border-bottom: 1px solid @hairline; }
#Banner[kind="plain"] { background: @accent_soft; }
#Banner QLabel { color: @warning; }
#Banner[kind="plain"] QLabel { color: @text; }
#OrderVerdict { border: 1px solid @hairline; border-radius: 6px; background: @surface; }
#OrderVerdict[tone="warning"] { border-color: @warning; background: @warning_surface; }
#OrderVerdict QLabel[role="warning"] { background: transparent; padding: 0; font-weight: bold; }
#OrderVerdict QLabel[role="good"] { font-weight: bold; }
#Formula { font-family: "DejaVu Sans Mono", monospace; font-size: 12px; }
#TabCorner { background: @window; }
#LessonIndex QListWidget { background: transparent; }
)";

}  // namespace

QString style_sheet_of(const Theme& theme) {
  // A name stands before those that it begins with.
  const std::pair<const char*, QColor> names[] = {
      {"@window", theme.window},
      {"@surface", theme.surface},
      {"@hairline", theme.hairline},
      {"@grid", theme.grid},
      {"@control_line", theme.control_line},
      {"@text", theme.text},
      {"@muted", theme.muted},
      {"@accent_line", theme.accent_line},
      {"@accent_soft", theme.accent_soft},
      {"@accent_hover", theme.accent.lighter(112)},
      {"@accent", theme.accent},
      {"@focus_on_accent", ring_color(theme, true)},
      {"@warning_surface", theme.warning_surface},
      {"@warning", theme.warning},
      {"@good", theme.good},
      {"@track", theme.track},
  };
  QString sheet = QString::fromLatin1(kSheet);
  for (const auto& [name, color] : names) sheet.replace(QLatin1String(name), color.name());
  return sheet;
}

}  // namespace parallelarium
