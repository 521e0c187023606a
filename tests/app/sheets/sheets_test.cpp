// SPDX-License-Identifier: GPL-3.0-or-later
// Enter in a dialog: it commits a field and presses no button that nobody has chosen.
#include <gtest/gtest.h>

#include <QAbstractSpinBox>
#include <QAccessible>
#include <QCheckBox>
#include <QComboBox>
#include <QKeySequenceEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTest>
#include <memory>

#include "app/export/export_dialog.h"
#include "app/lesson/lesson_index.h"
#include "app/look/spoken.h"
#include "app/settings/all_settings.h"
#include "app/sheets/cases/cases_sheet.h"
#include "app/sheets/doctor.h"
#include "app/sheets/shortcut_sheet.h"
#include "app/sheets/words_sheet.h"
#include "tests/app/window/texts/german.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class Sheets : public WindowFixture {
 protected:
  // Every button of the dialog counts its presses and does nothing else: some open a dialog of the
  // system, which would wait for ever.
  void count_presses(Sheet& sheet) {
    sheet.show();
    QApplication::processEvents();
    for (QPushButton* button : sheet.findChildren<QPushButton*>()) {
      button->disconnect();
      QObject::connect(button, &QPushButton::clicked, &sheet,
                       [this, button] { pressed << button; });
    }
  }
  static QList<QWidget*> fields(const Sheet& sheet) {
    QList<QWidget*> found;
    for (auto* box : sheet.findChildren<QAbstractSpinBox*>()) found << box;
    for (auto* box : sheet.findChildren<QComboBox*>()) found << box;
    for (auto* box : sheet.findChildren<QCheckBox*>()) found << box;
    for (auto* list : sheet.findChildren<QListWidget*>()) found << list;
    found.removeIf([](QWidget* field) { return !field->isVisible() || !field->isEnabled(); });
    return found;
  }
  QList<QPushButton*> pressed;
};

TEST_F(Sheets, EnterInAFieldPressesNoButton) {
  std::vector<std::unique_ptr<Sheet>> sheets;
  sheets.push_back(std::make_unique<AllSettings>(session()));
  sheets.push_back(std::make_unique<Doctor>(session().jobs().process()));
  sheets.push_back(std::make_unique<WordsSheet>());
  sheets.push_back(
      std::make_unique<CasesSheet>(std::vector<Case>{*find_case("korthikanti-2022-table-4")}));
  sheets.push_back(std::make_unique<ShortcutSheet>(
      std::vector<ShortcutSection>{{QStringLiteral("Anywhere"), window->actions()}},
      QList<QAction*>{action(QStringLiteral("Words"))}));
  for (const auto& sheet : sheets) {
    SCOPED_TRACE(sheet->windowTitle().toStdString());
    count_presses(*sheet);
    for (const QPushButton* button : sheet->findChildren<QPushButton*>())
      EXPECT_FALSE(button->isDefault()) << button->text().toStdString();
    for (QWidget* field : fields(*sheet)) {
      field->setFocus();
      QTest::keyClick(field, Qt::Key_Return);
      EXPECT_TRUE(pressed.isEmpty()) << field->accessibleName().toStdString() << " presses "
                                     << pressed.front()->text().toStdString();
      pressed.clear();
    }
    QTest::keyClick(sheet.get(), Qt::Key_Return);
    EXPECT_TRUE(pressed.isEmpty());
    EXPECT_TRUE(sheet->isVisible());
  }
}

TEST_F(Sheets, EnterInAllSettingsCommitsWhatWasTyped) {
  AllSettings settings(session());
  count_presses(settings);
  for (auto* box : settings.findChildren<StepBox*>()) {
    if (box->accessibleName() != QLatin1String("Sequence")) continue;
    auto* line = box->findChild<QLineEdit*>();
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("64"));
    QTest::keyClick(line, Qt::Key_Return);
  }
  session().wait_for_prediction();
  EXPECT_EQ(session().setup().model.sequence, 64);
  EXPECT_TRUE(pressed.isEmpty());
}

TEST_F(Sheets, AFieldForAKeySaysItsKeyAndEscapeLeavesIt) {
  ShortcutSheet sheet({{QStringLiteral("Anywhere"), window->actions()}}, {});
  sheet.show();
  QApplication::processEvents();
  const auto fields = sheet.findChildren<QKeySequenceEdit*>();
  ASSERT_FALSE(fields.isEmpty());
  for (QKeySequenceEdit* field : fields) {
    EXPECT_EQ(heard_text(*field), field->keySequence().toString(QKeySequence::NativeText));
    QAccessibleInterface* said = QAccessible::queryAccessibleInterface(field);
    EXPECT_NE(said->role(), QAccessible::Client) << field->accessibleName().toStdString();
  }
  const QKeySequence before = fields.front()->keySequence();
  fields.front()->setFocus();
  QTest::keyClick(fields.front(), Qt::Key_Escape);
  EXPECT_FALSE(sheet.isVisible());
  EXPECT_EQ(fields.front()->keySequence(), before);
}

TEST_F(Sheets, NoTwoPartsOfTheExportShareALetter) {
  const auto look = [&](const char* language) {
    ExportDialog dialog(false, true, ExportKind::kPng, window->view(), {}, window.get());
    QStringList texts, taken;
    for (const auto* label : dialog.findChildren<QLabel*>()) texts << label->text();
    for (const auto* button : dialog.findChildren<QAbstractButton*>()) texts << button->text();
    for (const QString& text : texts) {
      const QString letter = QKeySequence::mnemonic(text).toString();
      if (letter.isEmpty()) continue;
      EXPECT_FALSE(taken.contains(letter)) << language << ": " << text.toStdString();
      taken << letter;
    }
    EXPECT_GE(taken.size(), 5) << language;
  };
  look("English");
  const German german;
  look("German");
}

TEST_F(Sheets, EnterPressesTheButtonThatHasTheFocusAndTheOneThatIsTheDefault) {
  AllSettings settings(session());
  count_presses(settings);
  for (QPushButton* button : settings.findChildren<QPushButton*>()) {
    pressed.clear();
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Return);
    EXPECT_EQ(pressed, QList<QPushButton*>{button}) << button->text().toStdString();
  }
  ExportDialog picture(false, true, ExportKind::kPng, window->view(), {}, window.get());
  LessonIndex lessons(window->lesson().player(), window.get());
  for (Sheet* sheet : std::initializer_list<Sheet*>{&picture, &lessons}) {
    count_presses(*sheet);
    pressed.clear();
    QWidget* field = fields(*sheet).front();
    field->setFocus();
    QTest::keyClick(sheet, Qt::Key_Return);
    ASSERT_EQ(pressed.size(), 1);
    EXPECT_TRUE(pressed.front()->isDefault()) << pressed.front()->text().toStdString();
  }
}

}  // namespace
}  // namespace parallelarium
