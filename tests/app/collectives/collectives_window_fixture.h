// SPDX-License-Identifier: GPL-3.0-or-later
// A real window for tests, on its Collectives view.
#pragma once

#include <gtest/gtest.h>

#include <QString>

#include "app/shell/window.h"
#include "app/state/collective/collective_session.h"
#include "app/views/collectives/collectives_view.h"

namespace parallelarium {

class CollectivesFixture : public testing::Test {
 protected:
  void SetUp() override {
    window.set_asks(false);
    window.session().playback().set_playing(false);
    window.resize(1440, 900);
    window.show();
    window.show_view(QStringLiteral("collectives"));
  }
  CollectiveSession& collectives() { return window.session().collectives(); }
  // By accessible name; null where there is none.
  template <class Widget>
  Widget* control(const char* name) {
    for (auto* widget : window.view_of<CollectivesView>().findChildren<Widget*>())
      if (widget->accessibleName() == QLatin1String(name)) return widget;
    return nullptr;
  }
  Window window;
};

}  // namespace parallelarium
