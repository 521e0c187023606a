// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme_style.h"

namespace parallelarium {
namespace {

struct Pair {
  QRgb light, dark;
};

QColor pick(Pair pair, bool dark) { return QColor::fromRgb(dark ? pair.dark : pair.light); }

// Operations, by OpColor: solid, then tint. Tints are what predicted bars are filled with.
constexpr std::array<Pair, 5> kSolid = {{{0xFF4477AA, 0xFF4F83C4},
                                         {0xFF44AA99, 0xFF62C2B4},
                                         {0xFFDDCC77, 0xFFE1CE89},
                                         {0xFFBB5566, 0xFFE0707F},
                                         {0xFF663333, 0xFF9A5C46}}};
constexpr std::array<Pair, 5> kTint = {{{0xFFD5E1EE, 0xFF26374B},
                                        {0xFFD3ECE7, 0xFF25423F},
                                        {0xFFF6F1DA, 0xFF443F2B},
                                        {0xFFF3DCE0, 0xFF462D35},
                                        {0xFFE6DADA, 0xFF3A2A26}}};
// Memory, by Category.
constexpr std::array<Pair, kCategories> kMemory = {{{0xFF004488, 0xFF2F70DA},
                                                    {0xFF88CCEE, 0xFF8CC8F0},
                                                    {0xFF997700, 0xFFB3950B},
                                                    {0xFFEEDD88, 0xFFF3EC99},
                                                    {0xFF661100, 0xFFA55548}}};
// Ranks, stages and experts, by number.
constexpr std::array<Pair, 8> kRank = {{{0xFF332288, 0xFF7E60E0},
                                        {0xFF117733, 0xFF2F9443},
                                        {0xFF999933, 0xFFD2D96B},
                                        {0xFFAA4499, 0xFFE08FCB},
                                        {0xFF661F40, 0xFFF13989},
                                        {0xFF13491A, 0xFFD0F0D8},
                                        {0xFFBD91C7, 0xFFEDD3F2},
                                        {0xFF747474, 0xFF6E7A73}}};

// Surfaces, lines and text.
struct Neutral {
  QColor Theme::*member;
  Pair color;
};
const std::array<Neutral, 17> kNeutrals = {{
    {&Theme::window, {0xFFF4F6F8, 0xFF12171D}},
    {&Theme::surface, {0xFFFFFFFF, 0xFF1A2129}},
    {&Theme::hairline, {0xFFDDE3E9, 0xFF2E3843}},
    {&Theme::grid, {0xFFEDF0F3, 0xFF262F38}},
    {&Theme::control_line, {0xFFCDD5DD, 0xFF3D4955}},
    {&Theme::text, {0xFF1B2430, 0xFFE7ECF1}},
    {&Theme::muted, {0xFF5B6875, 0xFF9BA8B5}},
    {&Theme::accent, {0xFF22577A, 0xFF2F7299}},
    {&Theme::accent_soft, {0xFFEEF4F8, 0xFF21323F}},
    {&Theme::mark, {0xFFC2410C, 0xFFF2793D}},
    {&Theme::warning, {0xFF7A4B00, 0xFFF0BE6E}},
    {&Theme::warning_surface, {0xFFFFF4E5, 0xFF3A2E1A}},
    {&Theme::good, {0xFF1F7A4D, 0xFF5DC192}},
    {&Theme::bubble_line, {0xFFD5DCE3, 0xFF333E49}},
    {&Theme::bubble_fill, {0xFFF4F6F8, 0xFF1F2730}},
    {&Theme::track, {0xFFDDE3E9, 0xFF36414C}},
    {&Theme::accent_line, {0xFF22577A, 0xFF7CB8DA}},
}};

Theme make_theme(bool dark) {
  Theme theme;
  theme.dark = dark;
  for (const Neutral& neutral : kNeutrals) theme.*neutral.member = pick(neutral.color, dark);
  return theme;
}

QString load_family() {
  QString family;
  for (const char* file : {":/fonts/NotoSans-Regular.ttf", ":/fonts/NotoSans-Bold.ttf"}) {
    const int id = QFontDatabase::addApplicationFont(file);
    if (id >= 0 && family.isEmpty()) family = QFontDatabase::applicationFontFamilies(id).value(0);
  }
  return family.isEmpty() ? QStringLiteral("Noto Sans") : family;
}

QString load_symbols() {
  const int id = QFontDatabase::addApplicationFont(QStringLiteral(":/fonts/Symbols.ttf"));
  return QFontDatabase::applicationFontFamilies(id).value(0);
}

// Noto Sans, and for the signs that it lacks a font that comes along too: a computer without any
// other font shows the same.
const QStringList& font_families() {
  static const QStringList families = {load_family(), load_symbols()};
  return families;
}

}  // namespace

QColor Theme::solid(OpColor color) const { return pick(kSolid[static_cast<int>(color)], dark); }

QColor Theme::tint(OpColor color) const { return pick(kTint[static_cast<int>(color)], dark); }

QColor Theme::ink_on(const QColor& fill) const {
  // White reads best on the saturated fills, although black would often have more contrast.
  const QColor white(Qt::white), night(0x0B, 0x16, 0x1E);
  if (contrast_ratio(white, fill) >= 4.5) return white;
  return contrast_ratio(night, fill) >= 4.5 ? night : QColor(Qt::black);
}

QColor Theme::memory(Category category) const {
  return pick(kMemory[static_cast<int>(category)], dark);
}

QColor Theme::rank(int number) const {
  return pick(kRank[static_cast<std::size_t>(number < 0 ? 0 : number) % kRank.size()], dark);
}

QPen Theme::rank_line(int number) const {
  constexpr std::array kDashes = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
  const std::size_t round = static_cast<std::size_t>(std::max(0, number)) / kRank.size();
  return QPen(rank(number), 1, kDashes[round % kDashes.size()]);
}

QBrush Theme::bubble() const { return QBrush(bubble_line, Qt::BDiagPattern); }

QFont Theme::font(int pixel_size, bool bold) const {
  // Copies of one font are equal by their pointers: a frame asks for some thousands of them.
  thread_local std::map<std::pair<int, bool>, QFont> kept;
  const auto [own, is_new] = kept.try_emplace({pixel_size, bold}, font_families());
  QFont& font = own->second;
  if (!is_new) return font;
  font.setPixelSize(pixel_size);
  font.setBold(bold);
  // Fractional advances: the same text width on screen, in a file and at every scale.
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

QFont Theme::caps() const {
  QFont caps = font(11);
  caps.setLetterSpacing(QFont::AbsoluteSpacing, 0.66);
  caps.setCapitalization(QFont::AllUppercase);
  return caps;
}

const Theme& light_theme() {
  static const Theme theme = make_theme(false);
  return theme;
}

const Theme& dark_theme() {
  static const Theme theme = make_theme(true);
  return theme;
}

const Theme& theme_for(const QPalette& palette) {
  // A widget that the style sheet lets its ground shine through has no colour of its own.
  const QBrush ground = palette.brush(QPalette::Window);
  const bool has_ground = ground.style() != Qt::NoBrush && ground.color().alpha() > 0;
  const bool dark = has_ground ? ground.color().lightness() < 128
                               : palette.color(QPalette::WindowText).lightness() > 128;
  return dark ? dark_theme() : light_theme();
}

QPalette palette_of(const Theme& theme) {
  QPalette palette;
  palette.setColor(QPalette::Window, theme.window);
  palette.setColor(QPalette::WindowText, theme.text);
  palette.setColor(QPalette::Base, theme.surface);
  palette.setColor(QPalette::AlternateBase, theme.window);
  palette.setColor(QPalette::Text, theme.text);
  palette.setColor(QPalette::Button, theme.surface);
  palette.setColor(QPalette::ButtonText, theme.text);
  palette.setColor(QPalette::BrightText, Qt::white);
  palette.setColor(QPalette::PlaceholderText, theme.muted);
  palette.setColor(QPalette::ToolTipBase, theme.surface);
  palette.setColor(QPalette::ToolTipText, theme.text);
  palette.setColor(QPalette::Highlight, theme.accent);
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, theme.accent_line);
  palette.setColor(QPalette::LinkVisited, theme.accent_line);
  palette.setColor(QPalette::Light, theme.surface);
  palette.setColor(QPalette::Midlight, theme.grid);
  palette.setColor(QPalette::Mid, theme.control_line);
  palette.setColor(QPalette::Dark, theme.control_line);
  palette.setColor(QPalette::Shadow, theme.dark ? QColor(Qt::black) : theme.control_line);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, theme.muted);
  palette.setColor(QPalette::Disabled, QPalette::Highlight, theme.control_line);
  return palette;
}

void apply_theme(QApplication& application, bool dark) {
  follow_focus(application);
  const Theme& theme = dark ? dark_theme() : light_theme();
  if (application.styleSheet() == style_sheet_of(theme)) return;
  // The application owns it. Only to exchange the sheet would be faster, but Qt 6.4 then polishes
  // widgets that are gone.
  application.setStyle(new ThemeStyle);
  application.setPalette(palette_of(theme));
  application.setFont(theme.font(13));
  application.setStyleSheet(style_sheet_of(theme));
}

OpColor color_of(const Bar& bar) {
  if (bar.kind != OpKind::kCompute) return OpColor::kCommunication;
  if (bar.piece == Piece::kCombine) return OpColor::kCommunication;
  if (bar.phase == Phase::kUpdate) return OpColor::kOptimizer;
  if (bar.piece != Piece::kStage) {  // of a whole backward the parts have their own colours
    if (bar.phase == Phase::kWeightGrad) return OpColor::kWeight;
    return bar.phase == Phase::kInputGrad ? OpColor::kBackward : OpColor::kForward;
  }
  switch (bar.action) {
    case ActionKind::kForward:
      return OpColor::kForward;
    case ActionKind::kWeightGrad:
      return OpColor::kWeight;
    case ActionKind::kBackward:
    case ActionKind::kInputGrad:
      break;
  }
  return OpColor::kBackward;
}

}  // namespace parallelarium
