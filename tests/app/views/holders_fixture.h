// SPDX-License-Identifier: GPL-3.0-or-later
// Who holds what of a Setup, in a Memory view of its own.
#pragma once

#include "app/views/memory/holders/holders_pane.h"
#include "app/views/memory/memory_view.h"
#include "tests/app/views/memory_fixture.h"

namespace parallelarium {

class HoldersFixture : public testing::Test {
 protected:
  void show(const PlanSetup& setup, QSize size = QSize(872, 690)) {
    session.restore(setup, {}, std::nullopt);
    session.wait_for_prediction();
    session.playback().set_playing(false);
    session.playback().set_playhead(Nanoseconds(0));
    view.resize(size);
    view.show_pane(MemoryView::Pane::kHolders);
    view.show();
    view.wait();
    pane = view.findChild<HoldersPane*>();
    ASSERT_TRUE(pane && pane->isVisible());
  }
  Session session;
  MemoryView view{session};
  HoldersPane* pane = nullptr;
};

}  // namespace parallelarium
