// SPDX-License-Identifier: GPL-3.0-or-later
// The window with the Compare view in front.
#pragma once

#include "app/views/compare/compare_view.h"
#include "tests/app/plan/plan_views_fixture.h"

namespace parallelarium {

class CompareFixture : public PlanViewFixture {
 protected:
  void SetUp() override {
    PlanViewFixture::SetUp();
    show("compare");
  }
  CompareView& view() { return window->view_of<CompareView>(); }
  const ComparedEntries& comparison() { return view().comparison(); }
};

}  // namespace parallelarium
