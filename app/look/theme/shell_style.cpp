// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme/shell_style.h"

#include <utility>

namespace parallelarium {

namespace {

constexpr char kShellSheet[] = R"(
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
#StripCell[ring="true"]:focus { border: 2px solid @line; border-radius: 4px; }
QLabel[role="figure"][soft="true"] { font-weight: normal; color: @muted; }
QLabel[role="figure"][compact="true"] { font-size: 13px; }
#ProductName { font-size: 14px; font-weight: bold; }
#Strong { font-weight: bold; }
#Tag { color: @warning; background: @warning_ground; border-radius: 4px; padding: 0 5px;
  font-size: 11px; }
QToolButton#Link { border: none; background: transparent; color: @muted; padding: 1px 2px;
  margin-left: -6px; min-height: 14px; }
QToolButton#Link[at="right"] { margin-left: 0; margin-right: -6px; }
QToolButton#Link:hover { color: @text; text-decoration: underline; }
QToolButton#Link[ring="true"]:focus { border: 1px solid @line; border-radius: 4px; padding: 0 1px; }
QToolButton#Link[at="tabs"] { margin-left: 0; color: @line; }
#CourseMap, #MapSide, #MapUnits { background: @surface; }
#GoOn { background: @soft; border: 1px solid @control_line; border-radius: 8px; }
#MapPlaylist { background: @soft; border: 1px solid @control_line; border-radius: 7px; }
#MapUnit { background: @window; border: 1px solid @hairline; border-radius: 7px; }
#Segments QToolButton { padding: 3px 7px; }
#Rooms QToolButton { padding: 4px 12px; font-weight: bold; }
#Rooms QToolButton[ring="true"]:focus { padding: 3px 11px; }
#Segments QToolButton[ring="true"]:focus { padding: 2px 6px; }
#LessonRule { background: @hairline; }
QToolButton#Lock { border: none; background: transparent; padding: 0; min-height: 16px; }
QToolButton#Lock[ring="true"]:focus { border: 1px solid @line; border-radius: 4px; }
QToolButton#Chip { padding: 2px 9px; min-height: 18px; border-radius: 13px; }
QToolButton#Chip[ring="true"]:focus { padding: 1px 8px; }
#Banner { background: @warning_ground; border-bottom: 1px solid @hairline; }
#Banner[kind="plain"] { background: @soft; }
#Banner QLabel { color: @warning; }
#Banner[kind="plain"] QLabel { color: @text; }
#OrderVerdict { border: 1px solid @hairline; border-radius: 6px; background: @surface; }
#OrderVerdict[tone="warning"] { border-color: @warning; background: @warning_ground; }
#OrderVerdict QLabel[role="warning"] { background: transparent; padding: 0; font-weight: bold; }
#OrderVerdict QLabel[role="good"] { font-weight: bold; }
#Rule { background: @hairline; }
#Formula { font-family: "DejaVu Sans Mono", monospace; font-size: 12px; }
#TabCorner { background: @window; }
#Sheet { background: @surface; }
#LessonIndex QListWidget { background: transparent; }
)";

}  // namespace

QString shell_style_sheet(const Theme& theme) {
  QString sheet = QString::fromLatin1(kShellSheet);
  const std::pair<const char*, QColor> names[] = {
      {"@warning_ground", theme.warning_surface},
      {"@control_line", theme.control_line},
      {"@hairline", theme.hairline},
      {"@surface", theme.surface},
      {"@window", theme.window},
      {"@warning", theme.warning},
      {"@muted", theme.muted},
      {"@line", theme.accent_line},
      {"@soft", theme.accent_soft},
      {"@text", theme.text},
  };
  for (const auto& [name, color] : names) sheet.replace(QLatin1String(name), color.name());
  return sheet;
}

}  // namespace parallelarium
