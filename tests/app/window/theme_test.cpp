// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme/theme.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QDirIterator>
#include <QFile>
#include <QFontMetricsF>
#include <QLineEdit>
#include <QPushButton>
#include <QRawFont>
#include <QRegularExpression>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>
#include <vector>

#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme_lab.h"

namespace parallelarium {
namespace {

struct Pair {
  Lab one, two;
  double difference;
};

// Rows 1, 4, 7, 10, 13, 17, 19, 24, 25, 29, 31, 33 and 34 of table 1 of Sharma, Wu, Dalal 2005.
TEST(Ciede2000, GivesThePublishedDifferences) {
  const Pair rows[] = {
      {{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
      {{50, -1.3802, -84.2814}, {50, 0, -82.7485}, 1.0000},
      {{50, 0, 0}, {50, -1, 2}, 2.3669},
      {{50, 2.4900, -0.0010}, {50, -2.4900, 0.0010}, 7.1792},
      {{50, -0.0010, 2.4900}, {50, 0.0009, -2.4900}, 4.8045},
      {{50, 2.5, 0}, {73, 25, -18}, 27.1492},
      {{50, 2.5, 0}, {56, -27, -3}, 31.9030},
      {{50, 2.5, 0}, {50, 3.2592, 0.3350}, 1.0000},
      {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
      {{22.7233, 20.0904, -46.6940}, {23.0331, 14.9730, -42.5619}, 2.0373},
      {{90.8027, -2.0831, 1.4410}, {91.1528, -1.6435, 0.0447}, 1.4441},
      {{6.7747, -0.2908, -2.4247}, {5.8714, -0.0985, -2.2286}, 0.6377},
      {{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082},
  };
  for (const Pair& row : rows) {
    EXPECT_NEAR(ciede2000(row.one, row.two), row.difference, 1e-4);
    EXPECT_NEAR(ciede2000(row.two, row.one), row.difference, 1e-4);
  }
}

TEST(Vision, LeavesGreyAloneAndMakesRedAndGreenAlike) {
  for (const Vision vision : {Vision::kProtan, Vision::kDeutan, Vision::kTritan}) {
    const QColor grey = seen_with(vision, QColor(128, 128, 128));
    EXPECT_LE(std::abs(grey.red() - grey.blue()), 1);
    EXPECT_LE(std::abs(grey.red() - 128), 1);
  }
  const QColor red("#AA6633"), green("#66883A");
  EXPECT_LT(color_difference(seen_with(Vision::kDeutan, red), seen_with(Vision::kDeutan, green)),
            color_difference(red, green) / 2);
}

TEST(Contrast, IsTwentyOneBetweenBlackAndWhite) {
  EXPECT_NEAR(contrast_ratio(Qt::black, Qt::white), 21, 1e-9);
  EXPECT_NEAR(contrast_ratio(QColor("#777777"), Qt::white), 4.48, 0.01);
}

// A ring marks where the keys are for those who walk by keyboard. It stays away after a click, also
// when another window was in front meanwhile.
class FocusLook : public testing::Test {
 protected:
  void SetUp() override {
    auto* column = new QVBoxLayout(&window);
    column->addWidget(&first);
    for (QAbstractButton* button :
         std::initializer_list<QAbstractButton*>{&plain, &primary, &check, &segment})
      column->addWidget(button);
    area.setFocusPolicy(Qt::StrongFocus);
    area.setMinimumHeight(40);
    ring_focus(area);
    column->addWidget(&area);
    primary.setProperty("primary", true);
    segment.setText(QStringLiteral("Part"));
    segment.setFocusPolicy(Qt::StrongFocus);
    segment.setProperty("segment", "first");
    segment.setCheckable(true);
    window.show();
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  }
  // What of `widget` shows that it has the focus: how it looks now against without it, at the same
  // place of the mouse.
  bool shows(QWidget& widget) {
    EXPECT_TRUE(widget.hasFocus());
    const QImage with = picture_of(widget);
    first.setFocus(Qt::OtherFocusReason);
    const QImage without = picture_of(widget);
    return with != without;
  }
  static QImage picture_of(QWidget& widget) {
    QApplication::processEvents();
    return widget.grab().toImage();
  }
  std::vector<QWidget*> all() { return {&plain, &primary, &check, &segment, &area}; }

  QWidget window;
  QLineEdit first{&window};
  QPushButton plain{QStringLiteral("Plain"), &window}, primary{QStringLiteral("Next"), &window};
  QToolButton segment{&window};
  QCheckBox check{QStringLiteral("Check"), &window};
  QWidget area{&window};
};

TEST_F(FocusLook, AClickShowsNoRing) {
  for (QWidget* widget : all()) {
    QTest::mouseClick(widget, Qt::LeftButton);
    if (widget == &area) area.setFocus(Qt::MouseFocusReason);  // who draws itself takes it so
    EXPECT_FALSE(shows(*widget)) << widget->metaObject()->className();
  }
}

TEST_F(FocusLook, TabAndBacktabShowTheRing) {
  first.setFocus(Qt::MouseFocusReason);
  for (QWidget* widget : all()) {
    while (!widget->hasFocus()) QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    EXPECT_TRUE(shows(*widget)) << widget->metaObject()->className();
  }
  area.setFocus(Qt::MouseFocusReason);
  QTest::keyClick(&area, Qt::Key_Tab, Qt::ShiftModifier);
  EXPECT_TRUE(shows(check));
}

TEST_F(FocusLook, AKeyAfterAClickShowsTheRingAndACtrlKeyAloneDoesNot) {
  for (QWidget* widget : all()) {
    QTest::mouseClick(widget, Qt::LeftButton);
    widget->setFocus(Qt::MouseFocusReason);
    QTest::keyClick(widget, Qt::Key_Control);
    EXPECT_FALSE(shows(*widget)) << widget->metaObject()->className();
    widget->setFocus(Qt::MouseFocusReason);
    QTest::keyClick(widget, Qt::Key_F12);
    EXPECT_TRUE(shows(*widget)) << widget->metaObject()->className();
  }
}

// The program moves the focus, as a lesson does to the button that leads on.
TEST_F(FocusLook, WhereTheProgramMovesTheFocusTheLastPressDecides) {
  QTest::mouseClick(&plain, Qt::LeftButton);
  primary.setFocus();
  EXPECT_FALSE(shows(primary));
  plain.setFocus();
  QTest::keyClick(&plain, Qt::Key_Space);
  primary.setFocus();
  EXPECT_TRUE(shows(primary));
}

TEST_F(FocusLook, ComesBackAsItWas) {
  for (const Qt::FocusReason back : {Qt::ActiveWindowFocusReason, Qt::PopupFocusReason})
    for (const bool by_key : {false, true})
      for (QWidget* widget : all()) {
        widget->setFocus(by_key ? Qt::TabFocusReason : Qt::MouseFocusReason);
        first.setFocus(back);
        widget->setFocus(back);
        EXPECT_EQ(shows(*widget), by_key) << widget->metaObject()->className();
      }
}

class EveryTheme : public testing::TestWithParam<bool> {
 protected:
  const Theme& theme() const { return GetParam() ? dark_theme() : light_theme(); }

  static void expect_apart(const std::vector<QColor>& family) {
    for (std::size_t a = 0; a < family.size(); ++a)
      for (std::size_t b = a + 1; b < family.size(); ++b)
        for (const Vision vision :
             {Vision::kNormal, Vision::kProtan, Vision::kDeutan, Vision::kTritan})
          EXPECT_GE(color_difference(seen_with(vision, family[a]), seen_with(vision, family[b])),
                    10)
              << family[a].name().toStdString() << " " << family[b].name().toStdString() << " "
              << static_cast<int>(vision);
  }
};

constexpr OpColor kOps[] = {OpColor::kForward, OpColor::kBackward, OpColor::kWeight,
                            OpColor::kCommunication, OpColor::kOptimizer};

TEST_P(EveryTheme, OperationsAreToldApart) {
  std::vector<QColor> family;
  for (const OpColor color : kOps) family.push_back(theme().solid(color));
  expect_apart(family);
}

TEST_P(EveryTheme, MemoryIsToldApart) {
  std::vector<QColor> family;
  for (int category = 0; category < kCategories; ++category)
    family.push_back(theme().memory(static_cast<Category>(category)));
  expect_apart(family);
}

TEST_P(EveryTheme, EightRanksAreToldApart) {
  std::vector<QColor> family;
  for (int rank = 0; rank < 8; ++rank) family.push_back(theme().rank(rank));
  expect_apart(family);
}

TEST_P(EveryTheme, TextCanBeReadOnEveryFill) {
  std::vector<QColor> fills{theme().surface, theme().accent, theme().muted, theme().mark};
  for (const OpColor color : kOps) {
    fills.push_back(theme().solid(color));
    fills.push_back(theme().tint(color));
  }
  for (int category = 0; category < kCategories; ++category)
    fills.push_back(theme().memory(static_cast<Category>(category)));
  for (int rank = 0; rank < 8; ++rank) fills.push_back(theme().rank(rank));
  for (const QColor& fill : fills)
    EXPECT_GE(contrast_ratio(theme().ink_on(fill), fill), 4.5) << fill.name().toStdString();
}

TEST_P(EveryTheme, TextCanBeReadOnEverySurface) {
  for (const QColor& surface : {theme().window, theme().surface, theme().accent_soft})
    for (const QColor& ink : {theme().text, theme().muted, theme().accent_line})
      EXPECT_GE(contrast_ratio(ink, surface), 4.5)
          << ink.name().toStdString() << " on " << surface.name().toStdString();
  EXPECT_GE(contrast_ratio(theme().warning, theme().warning_surface), 4.5);
  EXPECT_GE(contrast_ratio(theme().good, theme().surface), 4.5);
  EXPECT_GE(contrast_ratio(Qt::white, theme().accent), 4.5);
}

// A control that is marked as changed or has the focus, and the playhead, are seen without text.
TEST_P(EveryTheme, MarksStandOut) {
  EXPECT_GE(contrast_ratio(theme().accent_line, theme().surface), 3);
  EXPECT_GE(contrast_ratio(theme().mark, theme().surface), 3);
}

TEST_P(EveryTheme, SheetNamesNoUnknownColour) {
  EXPECT_FALSE(style_sheet_of(theme()).contains(QRegularExpression(QStringLiteral("@\\w"))));
}

INSTANTIATE_TEST_SUITE_P(LightAndDark, EveryTheme, testing::Bool());

TEST(Theme, IsTheOneOfItsPalette) {
  EXPECT_TRUE(theme_for(palette_of(dark_theme())).dark);
  EXPECT_FALSE(theme_for(palette_of(light_theme())).dark);
}

// What the style sheet leaves without a ground of its own stands on another's.
TEST_P(EveryTheme, IsThatOfAPaletteWithoutAGround) {
  QPalette palette = palette_of(theme());
  for (const QBrush& none : {QBrush(Qt::transparent), QBrush(Qt::NoBrush)}) {
    palette.setBrush(QPalette::Window, none);
    EXPECT_EQ(theme_for(palette).dark, theme().dark);
  }
}

TEST(Theme, DigitsAreTabular) {
  const QFontMetricsF metrics(light_theme().font(12));
  for (int digit = 1; digit < 10; ++digit)
    EXPECT_DOUBLE_EQ(metrics.horizontalAdvance(QString::number(digit)),
                     metrics.horizontalAdvance(QStringLiteral("0")));
}

TEST(Theme, FontsThatComeAlongHaveEverySignOfTheTexts) {
  const QString root = QStringLiteral(PARALLELARIUM_SOURCE_DIR);
  const QRawFont letters(root + QStringLiteral("/resources/fonts/NotoSans-Regular.ttf"), 12);
  const QRawFont signs(root + QStringLiteral("/resources/fonts/Symbols.ttf"), 12);
  ASSERT_TRUE(letters.isValid() && signs.isValid());
  const QRegularExpression escape(QStringLiteral("\\\\u([0-9a-fA-F]{4})"));
  int looked_at = 0;
  for (const char* folder : {"/app", "/engine", "/lessons", "/resources"}) {
    QDirIterator files(root + QLatin1String(folder),
                       {QStringLiteral("*.cpp"), QStringLiteral("*.h"), QStringLiteral("*.json"),
                        QStringLiteral("*.md"), QStringLiteral("*.ts")},
                       QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
      QFile file(files.next());
      if (files.fileName() == QLatin1String("README.md")) continue;  // the window does not show it
      ASSERT_TRUE(file.open(QIODevice::ReadOnly));
      QString text = QString::fromUtf8(file.readAll());
      for (auto all = escape.globalMatch(text); all.hasNext();)
        text += QChar(all.next().captured(1).toUShort(nullptr, 16));
      for (const QChar sign : std::as_const(text)) {
        if (sign.unicode() < 0xA0 || sign.category() == QChar::Other_Format) continue;
        ++looked_at;
        EXPECT_TRUE(letters.supportsCharacter(sign) || signs.supportsCharacter(sign))
            << file.fileName().toStdString() << ": " << QString(sign).toStdString();
      }
    }
  }
  EXPECT_GT(looked_at, 100);
}

TEST(ColorOf, SaysWhatABarIs) {
  Bar bar;
  bar.action = ActionKind::kForward;
  EXPECT_EQ(color_of(bar), OpColor::kForward);
  bar.action = ActionKind::kInputGrad;
  EXPECT_EQ(color_of(bar), OpColor::kBackward);
  bar.action = ActionKind::kWeightGrad;
  EXPECT_EQ(color_of(bar), OpColor::kWeight);
  bar.phase = Phase::kUpdate;
  EXPECT_EQ(color_of(bar), OpColor::kOptimizer);
  bar.kind = OpKind::kSend;
  EXPECT_EQ(color_of(bar), OpColor::kCommunication);
}

}  // namespace
}  // namespace parallelarium
