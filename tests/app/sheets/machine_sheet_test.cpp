// SPDX-License-Identifier: GPL-3.0-or-later
// "Change devices …": what is typed makes a Machine of one's own, and goes back alone.
#include "app/settings/machine_sheet.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <cstdlib>

#include "app/settings/controls.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

class ChangeDevices : public testing::Test {
 protected:
  ChangeDevices() { choose("dgx-h100"); }
  void choose(const char* machine) {
    parallelarium::Setup setup = session.history().setup();
    setup.machine = machine;
    session.history().change(setup, QStringLiteral("machine"));
    session.wait_for_prediction();
  }
  StepBox* box(const char* name) {
    for (auto* each : sheet.findChildren<StepBox*>())
      if (each->accessibleName() == QLatin1String(name)) return each;
    return nullptr;
  }
  void type(const char* name, const char* text) {
    Q_EMIT box(name)->committed(QLatin1String(text));
    session.wait_for_prediction();
  }
  QToolButton* reset_beside(const char* name) {
    for (auto* button : sheet.findChildren<QToolButton*>())
      if (button->text() == QStringLiteral("reset") && button->isVisibleTo(&sheet) &&
          std::abs(button->geometry().center().y() - box(name)->geometry().center().y()) <= 1)
        return button;
    return nullptr;
  }
  bool says(const QString& text) {
    for (const auto* label : sheet.findChildren<QLabel*>())
      if (label->isVisibleTo(&sheet) && label->text().contains(text)) return true;
    return false;
  }
  Session session;
  MachineSheet sheet{session};
};

TEST_F(ChangeDevices, MakesAMachineOfOnesOwnThatIsPredictedWith) {
  const Machine preset = session.machine();
  type("Links in a node: Rate, one way", "150");
  EXPECT_TRUE(session.setup().machine.is_changed());
  EXPECT_EQ(session.machine().intra_node.bytes_per_second.value, 150e9);
  EXPECT_EQ(session.machine().intra_node.latency_seconds, preset.intra_node.latency_seconds);
  EXPECT_EQ(session.machine().intra_node.sustained, preset.intra_node.sustained);
  type("Nodes: Devices per node", "4");
  EXPECT_EQ(session.machine().devices_per_node, 4);
  EXPECT_TRUE(says(QStringLiteral("changed here")));
  EXPECT_TRUE(box("Nodes: Devices per node")->property("changed").toBool());
  EXPECT_FALSE(box("Memory of a device: Size")->property("changed").toBool());
  session.history().stack().undo();
  EXPECT_EQ(session.machine().devices_per_node, preset.devices_per_node);
}

TEST_F(ChangeDevices, ChangesWhatNodesShareOfTheNetwork) {
  sheet.show();
  EXPECT_TRUE(says(QStringLiteral("one for each device")));
  EXPECT_EQ(box("Network between nodes: Network cards of a node")->text(), QStringLiteral("8"));
  type("Network between nodes: Network cards of a node", "4");
  type("Network between nodes: Nodes of a leaf group", "384");
  type("Network between nodes: Oversubscription above it", "7");
  EXPECT_EQ(session.machine().nics_per_node.value, 4);
  EXPECT_EQ(session.machine().nodes_per_leaf.value, 384);
  EXPECT_EQ(session.machine().oversubscription.value, 7);
  EXPECT_TRUE(box("Network between nodes: Nodes of a leaf group")->property("changed").toBool());
  auto* switches = [&]() -> Segments* {
    for (auto* each : sheet.findChildren<Segments*>())
      if (each->accessibleName() ==
          QStringLiteral("Network between nodes: Switches add up (SHARP)"))
        return each;
    return nullptr;
  }();
  ASSERT_NE(switches, nullptr);
  EXPECT_EQ(switches->value(), QStringLiteral("0"));
  Q_EMIT switches->chosen(QStringLiteral("1"));
  session.wait_for_prediction();
  EXPECT_TRUE(session.machine().in_network_reduction);
  EXPECT_EQ(switches->value(), QStringLiteral("1"));
  EXPECT_TRUE(switches->property("changed").toBool());
  const parallelarium::Setup before = session.setup();
  for (const char* wrong : {"2.5", "0"}) {
    type("Network between nodes: Network cards of a node", wrong);
    EXPECT_EQ(session.setup(), before) << wrong;
    EXPECT_TRUE(says(QStringLiteral("must be a whole number from 1"))) << wrong;
  }
  type("Network between nodes: Oversubscription above it", "0.5");
  EXPECT_TRUE(says(QStringLiteral("must be from 1 to 100")));
  QToolButton* reset = reset_beside("Network between nodes: Network cards of a node");
  ASSERT_NE(reset, nullptr);
  reset->click();
  session.wait_for_prediction();
  EXPECT_EQ(session.machine().nics(), 8);
  EXPECT_EQ(session.machine().nodes_per_leaf.value, 384);
}

TEST_F(ChangeDevices, NamesTheNetworkInGerman) {
  const German german;
  const MachineSheet own(session);
  QStringList texts;
  for (const auto* label : own.findChildren<QLabel*>()) texts << label->text();
  for (const char* text :
       {"Rate einer Karte, je Richtung", "Netzwerkkarten eines Knotens", "eine für jedes Gerät",
        "Knoten einer Blattgruppe", "Überbuchung darüber", "Switches addieren (SHARP)"})
    EXPECT_TRUE(texts.contains(QString::fromUtf8(text))) << text;
}

TEST_F(ChangeDevices, GoesBackFigureByFigure) {
  sheet.show();
  type("Memory of a device: Size", "40");
  EXPECT_EQ(session.machine().memory_bytes.value, 40e9);
  QToolButton* reset = reset_beside("Memory of a device: Size");
  ASSERT_NE(reset, nullptr);
  reset->click();
  session.wait_for_prediction();
  EXPECT_FALSE(session.setup().machine.is_changed());
  EXPECT_EQ(session.machine().memory_bytes, find_machine("dgx-h100")->memory_bytes);
}

TEST_F(ChangeDevices, SaysWhyAFigureCannotBe) {
  const parallelarium::Setup before = session.setup();
  type("Memory of a device: Size", "a lot");
  EXPECT_TRUE(says(QStringLiteral("“a lot” is not a number.")));
  type("Memory of a device: Size", "-3");
  EXPECT_EQ(session.setup(), before);
  EXPECT_TRUE(says(QStringLiteral("memory_bytes")));
}

TEST_F(ChangeDevices, LeavesThisComputerAlone) {
  choose("local");
  for (const auto* each : sheet.findChildren<StepBox*>()) EXPECT_FALSE(each->isEnabled());
  EXPECT_TRUE(says(QStringLiteral("are measured")));
}

}  // namespace
}  // namespace parallelarium
