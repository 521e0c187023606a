// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/history.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace parallelarium {
namespace {

struct HistoryTest : testing::Test {
  parallelarium::Setup with_microbatches(int microbatches) const {
    parallelarium::Setup setup = history.setup();
    setup.microbatches = microbatches;
    return setup;
  }
  History history;
  QSignalSpy changed{&history, &History::changed};
  QSignalSpy base_changed{&history, &History::base_changed};
};

TEST_F(HistoryTest, AChangeIsOneStepThatCanBeUndone) {
  const parallelarium::Setup before = history.setup();
  history.change(with_microbatches(6), QStringLiteral("Micro-batches 6"));
  EXPECT_EQ(history.setup().microbatches, 6);
  EXPECT_EQ(history.stack().undoText(), QStringLiteral("Micro-batches 6"));
  history.change(history.setup(), QStringLiteral("nothing"));
  EXPECT_EQ(history.stack().count(), 1);
  EXPECT_EQ(changed.count(), 1);
  history.stack().undo();
  EXPECT_EQ(history.setup(), before);
  history.stack().redo();
  EXPECT_EQ(history.setup().microbatches, 6);
  EXPECT_EQ(changed.count(), 3);
}

TEST_F(HistoryTest, RepeatsOfOneFieldMergeAndThoseOfAnotherDoNot) {
  const parallelarium::Setup before = history.setup();
  history.change(with_microbatches(6), QStringLiteral("6"));
  history.change(with_microbatches(7), QStringLiteral("7"));
  EXPECT_EQ(history.stack().count(), 1);
  parallelarium::Setup other = history.setup();
  other.chunks += 1;
  history.change(other, QStringLiteral("chunks"));
  EXPECT_EQ(history.stack().count(), 2);
  history.stack().undo();
  history.stack().undo();
  EXPECT_EQ(history.setup(), before);
}

TEST_F(HistoryTest, TheBaseTellsOnlyWhenItChanges) {
  history.set_base(with_microbatches(6));
  history.set_base(with_microbatches(6));
  EXPECT_EQ(base_changed.count(), 1);
  EXPECT_EQ(changed.count(), 0);
  history.restart(with_microbatches(9));
  EXPECT_EQ(history.base(), new_setup());
  EXPECT_EQ(history.setup().microbatches, 9);
  EXPECT_EQ(changed.count() + base_changed.count(), 1) << "whoever starts afresh tells of all";
}

}  // namespace
}  // namespace parallelarium
