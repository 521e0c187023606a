// SPDX-License-Identifier: GPL-3.0-or-later
// The window with the Search view in front.
#pragma once

#include <QComboBox>
#include <QPushButton>

#include "app/state/plan/plan_search.h"
#include "app/views/search/search_view.h"
#include "tests/app/plan/plan_views_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {

inline constexpr int kSearchMs = 60'000;

class SearchFixture : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
    window->show_room(Room::kPlan);
  }
  PlanSearch& search() { return PlanSearch::of(session()); }
  SearchView& view() { return window->view_of<SearchView>(); }
  QPushButton* button(const QString& text) {
    for (auto* button : window->findChildren<QPushButton*>())
      if (button->text() == text && button->isVisible()) return button;
    ADD_FAILURE() << "no button " << text.toStdString();
    return nullptr;
  }
  QComboBox* choice(const QString& name) {
    for (auto* box : window->findChildren<QComboBox*>())
      if (box->accessibleName() == name && box->isVisible()) return box;
    ADD_FAILURE() << "no choice " << name.toStdString();
    return nullptr;
  }
  PlanWish small_wish() { return plan_wish("gpt2-124m", "2"); }
  void search_for(const PlanWish& wish) {
    search().set_wish(wish);
    QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
    EXPECT_TRUE(search().searching());
    ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
    QApplication::processEvents();
  }
};

}  // namespace parallelarium
