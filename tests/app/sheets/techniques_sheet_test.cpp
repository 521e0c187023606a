// SPDX-License-Identifier: GPL-3.0-or-later
// The sheet of techniques: its cells are what the engine says, refused rows say why, and a row
// opens as its Setup.
#include "app/sheets/techniques_sheet.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>

#include "app/look/figures.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class TechniqueRows : public WindowFixture {
 protected:
  static parallelarium::Setup asked(int replicas) {
    parallelarium::Setup setup = new_setup();
    setup.mesh = Mesh();
    EXPECT_TRUE(set_fields(setup, {{"model", "llama3-8b"},
                                   {"machine", "dgx-h100"},
                                   {"dp", std::to_string(replicas)},
                                   {"microbatches", "4"}})
                    .ok());
    return setup;
  }
  static QPushButton* open_button(const TechniquesSheet& sheet) {
    for (QPushButton* button : sheet.findChildren<QPushButton*>())
      if (button->text().contains(QLatin1String("setup"))) return button;
    return nullptr;
  }
};

TEST_F(TechniqueRows, AreWhatTheEngineSays) {
  const auto setup = asked(4);
  const Machine machine = *find_machine("dgx-h100");
  TechniquesSheet sheet(setup, machine);
  sheet.show();
  const Techniques told = *techniques_of(setup, machine, 4);
  auto* table = sheet.findChild<QTableWidget*>();
  ASSERT_EQ(table->rowCount(), int(told.rows.size()));
  for (int row = 0; row < table->rowCount(); ++row) {
    const Technique& of = told.rows[std::size_t(row)];
    EXPECT_EQ(table->item(row, 0)->text().toStdString(), of.title.text);
    const QString seconds = of.figures ? seconds_text(of.figures->seconds) : QStringLiteral("–");
    EXPECT_EQ(table->item(row, 3)->text(), seconds) << of.title.text;
    if (of.figures) {
      EXPECT_EQ(table->item(row, 1)->text().contains(QLatin1String("too much")), !of.figures->fits);
    }
  }
  std::optional<parallelarium::Setup> opened;
  QObject::connect(&sheet, &TechniquesSheet::setup_chosen,
                   [&](const parallelarium::Setup& chosen) { opened = chosen; });
  table->setCurrentCell(2, 0);
  open_button(sheet)->click();
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->mesh.tp, 4);
  EXPECT_EQ(opened->global_batch(), setup.global_batch());
  table->setCurrentCell(6, 0);  // no experts
  EXPECT_FALSE(open_button(sheet)->isEnabled());
  bool says_why = false;
  for (const QLabel* label : sheet.findChildren<QLabel*>())
    says_why = says_why || label->text().contains(QLatin1String("needs a model with experts"));
  EXPECT_TRUE(says_why);
}

TEST_F(TechniqueRows, BeginWithTheDevicesOfANodeAndTakeOthers) {
  TechniquesSheet sheet(asked(1), *find_machine("dgx-h100"));
  auto* devices = sheet.findChild<QSpinBox*>();
  EXPECT_EQ(devices->value(), 8);
  devices->setValue(2);
  ASSERT_TRUE(sheet.techniques());
  EXPECT_EQ(sheet.techniques()->ranks, 2);
  EXPECT_TRUE(sheet.techniques()->rows.front().figures);
}

}  // namespace
}  // namespace parallelarium
