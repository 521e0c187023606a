// SPDX-License-Identifier: GPL-3.0-or-later
// "All settings …": controls that set what they say.
#include "app/settings/all_settings.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <set>

#include "app/settings/controls.h"
#include "app/settings/setup_fields.h"
#include "app/state/collective/collective_plan.h"
#include "engine/collectives/algorithm_names.h"

namespace parallelarium {
namespace {

class AllSettingsDialog : public testing::Test {
 protected:
  AllSettingsDialog() {
    parallelarium::Setup setup = default_setup();
    setup.mesh.pp = 1;
    setup.mesh.dp = 4;
    setup.zero = 3;
    setup.microbatches = 2;
    session.history().change(setup, QStringLiteral("DP 4"));
    session.wait_for_prediction();
  }
  QComboBox* algorithm_of(CollectiveKind kind) {
    const QString name = QStringLiteral("Algorithm of ") + title_of(kind).toLower();
    for (auto* box : dialog.findChildren<QComboBox*>())
      if (box->accessibleName() == name) return box;
    return nullptr;
  }
  void choose(CollectiveKind kind, const char* algorithm) {
    QComboBox* box = algorithm_of(kind);
    const int index = box->findData(QLatin1String(algorithm));
    ASSERT_GE(index, 0);
    box->setCurrentIndex(index);
    Q_EMIT box->activated(index);
    session.wait_for_prediction();
  }
  // Collectives of this kind that the predicted step still has as a whole.
  int whole(CollectiveKind kind) {
    int count = 0;
    for (const Op& op : session.subject().prediction()->program.ranks.front().ops)
      count += op.kind == OpKind::kCollective && op.collective == kind;
    return count;
  }
  Session session;
  AllSettings dialog{session};
};

TEST_F(AllSettingsDialog, OffersTheAlgorithmsThatThereAreForEveryCollectiveOfAStep) {
  for (const CollectiveKind kind : kTrainingCollectives) {
    const QComboBox* box = algorithm_of(kind);
    ASSERT_NE(box, nullptr);
    QStringList offered, exist{QString()};
    for (int at = 0; at < box->count(); ++at) offered << box->itemData(at).toString();
    for (const AlgorithmInfo& info : collective_algorithms())
      if (info.kind == kind) exist << QString::fromStdString(info.name);
    EXPECT_EQ(offered, exist);
    EXPECT_EQ(box->currentData().toString(), QString());
  }
}

TEST_F(AllSettingsDialog, AWheelOverAListScrollsThePageAndChoosesNothing) {
  dialog.show();
  QComboBox* box = algorithm_of(CollectiveKind::kReduceScatter);
  const parallelarium::Setup before = session.setup();
  for (const int turn : {-120, 120}) {
    QWheelEvent wheel(QPointF(5, 5), box->mapToGlobal(QPointF(5, 5)), {}, QPoint(0, turn),
                      Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(box, &wheel);
  }
  EXPECT_EQ(box->currentIndex(), 0);
  EXPECT_EQ(session.setup(), before);
}

TEST_F(AllSettingsDialog, AChosenAlgorithmTakesThePlaceOfTheCollective) {
  ASSERT_GT(whole(CollectiveKind::kAllGather), 0);
  ASSERT_GT(whole(CollectiveKind::kReduceScatter), 0);
  choose(CollectiveKind::kAllGather, "bruck");
  EXPECT_EQ(session.setup().collectives, "all_gather=bruck");
  EXPECT_EQ(whole(CollectiveKind::kAllGather), 0);
  EXPECT_GT(whole(CollectiveKind::kReduceScatter), 0);
  choose(CollectiveKind::kReduceScatter, "ring");
  EXPECT_EQ(whole(CollectiveKind::kReduceScatter), 0);
  EXPECT_EQ(algorithm_of(CollectiveKind::kAllGather)->currentData(), QStringLiteral("bruck"));
  session.history().stack().undo();
  EXPECT_EQ(algorithm_of(CollectiveKind::kReduceScatter)->currentData().toString(), QString());
  choose(CollectiveKind::kAllGather, "");
  EXPECT_EQ(session.setup().collectives, "direct");
}

TEST_F(AllSettingsDialog, SaysWhyAnAlgorithmDoesNotWorkWithSoManyRanks) {
  parallelarium::Setup setup = session.setup();
  setup.mesh.dp = 3;
  session.history().change(setup, QStringLiteral("DP 3"));
  choose(CollectiveKind::kAllGather, "recursive-doubling");
  ASSERT_FALSE(session.problems().empty());
  EXPECT_EQ(session.problems().front().field, "collectives");
  bool told = false;
  for (const auto* label : dialog.findChildren<QLabel*>())
    told = told || label->text() == QString::fromStdString(session.problems().front().text);
  EXPECT_TRUE(told);
}

TEST_F(AllSettingsDialog, ResetTakesTheAlgorithmsBack) {
  choose(CollectiveKind::kAllGather, "ring");
  const auto heads = dialog.findChildren<SectionHead*>();
  for (SectionHead* head : heads) Q_EMIT head->reset_requested();
  EXPECT_EQ(session.setup().collectives, "direct");
}

// The panel and this sheet have a place for every setting of the table, this sheet those of its
// sections.
TEST_F(AllSettingsDialog, HasEverySettingOfItsSections) {
  std::set<QString> names;
  for (const auto* box : dialog.findChildren<QWidget*>()) names.insert(box->accessibleName());
  for (const Section section : {Section::kMoreModel, Section::kMoreParallelism, Section::kExperts})
    for (const std::string& option : options_of(section))
      EXPECT_TRUE(names.count(setting_words(setting_of(option).label))) << option;
  for (const char* option : {"mlp", "norm", "order", "stage-layers"})
    EXPECT_NE(setting_of(option).section, Section::kNowhere) << option;
}

TEST_F(AllSettingsDialog, TurnsTheShapeOfLayersAndTheirSplit) {
  for (auto* box : dialog.findChildren<QComboBox*>()) {
    if (box->accessibleName() != QLatin1String("MLP")) continue;
    Q_EMIT box->activated(box->findData(QStringLiteral("swiglu")));
  }
  EXPECT_EQ(session.setup().model.mlp, Mlp::kSwiglu);
  EXPECT_EQ(session.history().stack().undoText(), QStringLiteral("MLP swiglu"));
  parallelarium::Setup setup = session.setup();
  setup.mesh.dp = 1;
  setup.mesh.pp = 4;
  session.history().change(setup, QStringLiteral("PP 4"));
  for (auto* box : dialog.findChildren<StepBox*>())
    if (box->accessibleName() == QLatin1String("Stage layers"))
      Q_EMIT box->committed(QStringLiteral("3,2,2,1"));
  EXPECT_EQ(session.setup().stage_layers, (std::vector<int>{3, 2, 2, 1}));
}

TEST_F(AllSettingsDialog, NeverScrollsSidewaysAndResetHasRoom) {
  parallelarium::Setup changed = session.setup();
  for (const char* option : {"zero-prefetch", "steps", "seed"}) {
    const QString next = next_valid(changed, option, 1);
    ASSERT_TRUE(set_field(changed, option, next.toStdString()).ok()) << option;
  }
  changed.model.mlp = Mlp::kSwiglu;
  session.history().change(changed, QStringLiteral("several"));
  dialog.resize(100, 300);
  dialog.show();
  QApplication::processEvents();
  auto* area = dialog.findChild<QScrollArea*>();
  ASSERT_GT(area->verticalScrollBar()->maximum(), 0) << "there is a bar beside the rows";
  EXPECT_EQ(area->horizontalScrollBar()->maximum(), 0);
  int resets = 0;
  for (QWidget* one : area->widget()->findChildren<QWidget*>()) {
    if (!one->isVisible()) continue;
    const int right = one->mapTo(area->widget(), QPoint(one->width(), 0)).x();
    EXPECT_LE(right, area->viewport()->width()) << one->metaObject()->className();
    if (const auto* button = qobject_cast<QToolButton*>(one)) {
      ++resets;
      EXPECT_GE(button->width(), button->sizeHint().width());
    }
  }
  EXPECT_GT(resets, 0);
}

TEST_F(AllSettingsDialog, OpensOnItsFirstField) {
  dialog.show();
  ASSERT_NE(dialog.focusWidget(), nullptr);
  EXPECT_TRUE(dialog.findChild<QScrollArea*>()->widget()->isAncestorOf(dialog.focusWidget()));
}

TEST_F(AllSettingsDialog, ALetterLeadsToARowThatIsThenInSight) {
  dialog.resize(460, 300);
  dialog.show();
  dialog.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&dialog));
  auto* area = dialog.findChild<QScrollArea*>();
  int below = 0;
  for (const auto* label : area->widget()->findChildren<QLabel*>()) {
    const QKeySequence letter = QKeySequence::mnemonic(label->text());
    if (!label->buddy() || !label->buddy()->isEnabled() || letter.isEmpty()) continue;
    if (qobject_cast<const QAbstractButton*>(label->buddy())) continue;  // its letter presses it
    area->verticalScrollBar()->setValue(0);
    QTest::keyClick(&dialog, letter[0].key(), Qt::AltModifier);
    ASSERT_EQ(QApplication::focusWidget(), label->buddy()) << label->text().toStdString();
    const QRect place(label->buddy()->mapTo(area->viewport(), QPoint(0, 0)),
                      label->buddy()->size());
    EXPECT_TRUE(area->viewport()->rect().contains(place)) << label->text().toStdString();
    below += area->verticalScrollBar()->value() > 0;
  }
  EXPECT_GT(below, 3);
}

TEST_F(AllSettingsDialog, CallsASettingAsItsRowDoes) {
  for (auto* box : dialog.findChildren<StepBox*>())
    if (box->accessibleName().startsWith(QLatin1String("ZeRO 3 prefetch")))
      Q_EMIT box->committed(QStringLiteral("x"));
  QStringList said;
  for (const auto* label : dialog.findChildren<QLabel*>()) said << label->text();
  EXPECT_TRUE(said.contains(QStringLiteral("ZeRO 3 prefetch cannot be “x”; it must be a number.")))
      << said.join('\n').toStdString();
}

// A list of GPUs is typed; what is no list is refused in a sentence and changes nothing.
TEST_F(AllSettingsDialog, TheGpusThatRanksMayUseAreTyped) {
  StepBox* gpus = nullptr;
  for (auto* box : dialog.findChildren<StepBox*>())
    if (box->accessibleName().startsWith(QLatin1String("GPUs"))) gpus = box;
  ASSERT_NE(gpus, nullptr);
  Q_EMIT gpus->committed(QStringLiteral("0,2"));
  EXPECT_EQ(session.setup().run.devices, "0,2");
  Q_EMIT gpus->committed(QStringLiteral("2,2"));
  bool told = false;
  for (const auto* label : dialog.findChildren<QLabel*>())
    told = told || label->text().contains(QLatin1String("is no list of GPUs"));
  EXPECT_TRUE(told);
  Q_EMIT gpus->committed(QStringLiteral("all"));
  EXPECT_EQ(session.setup().run.devices, "all");
  EXPECT_TRUE(session.problems().empty());
}

}  // namespace
}  // namespace parallelarium
