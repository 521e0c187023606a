// SPDX-License-Identifier: GPL-3.0-or-later
// What the views of the room Plan say of the plan that is selected in Search.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "app/state/plan/plan_search.h"
#include "app/views/shared/quantities.h"

class QPushButton;

namespace parallelarium {

// The search is the Session's own part, and is not changed through this.
const PlanSearch& search_in(const Session& session);
// The plan that is selected in Search; and the same where Compare and Roofline are about it.
std::optional<Setup> selected_plan(const Session& session);
std::optional<Setup> shown_plan(const Session& session);
// "Of the plan that is selected in Search: TP 8, PP 2 …", or of what is trained today; without a
// plan, of what is set in Explore. Of a plan of other settings it says that, too.
QString whose_text(const Session& session, const std::optional<Setup>& plan);
// "It is a plan of other settings: search again."
QString outdated_plan_text();
QString whose_text(const Session& session);  // of shown_plan()
// Five, for the strip: of the plan that is selected.
std::vector<Quantity> plan_quantities(const PlanSearch& search);
QString rates_text(const PlanAnswer& answer);  // "predicted", "lower bound at peak rates"
// A button that changes between the selected plan and what is set, and is there where both are.
QPushButton* make_whose_button(PlanSearch& search, QWidget* parent);
void refresh_whose(QPushButton& button, const PlanSearch& search);

}  // namespace parallelarium
