// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the room Plan's views about the plan that is selected in Search.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "app/state/plan/plan_search.h"
#include "app/views/shared/quantities/quantities.h"

class QPushButton;

namespace parallelarium {

// The search is a part of the Session; this only reads it.
const PlanSearch& search_in(const Session& session);
// The plan that is selected in Search; and the same, but only if Compare and Roofline are about it.
std::optional<Setup> selected_plan(const Session& session);
std::optional<Setup> shown_plan(const Session& session);
// "Of the plan that is selected in Search: TP 8, PP 2 …", or of what is trained today; without a
// plan, of what is set in Explore. If the plan is for other settings, it says that too.
QString whose_text(const Session& session, const std::optional<Setup>& plan);
// "It is a plan of other settings: search again."
QString outdated_plan_text();
QString whose_text(const Session& session);  // of shown_plan()
// The five quantities of the selected plan, for the strip.
std::vector<Quantity> plan_quantities(const PlanSearch& search);
QString rates_text(const PlanAnswer& answer);  // "predicted", "lower bound at peak rates"
// A button that switches between the selected plan and the present Setup. It is visible if both
// exist.
QPushButton* make_whose_button(PlanSearch& search, QWidget* parent);
void refresh_whose(QPushButton& button, const PlanSearch& search);

}  // namespace parallelarium
