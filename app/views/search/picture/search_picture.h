// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of the Session's search as it stands.
#pragma once

#include "app/state/plan/plan_search.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/view.h"

namespace parallelarium {

// `opened`: the class whose reasons are listed; -1: none.
SearchPicture picture_of(const PlanSearch& search, int opened);
// For an export. `search` must outlive it.
ViewPicture exported_search(const PlanSearch& search, const PictureStyle& style, int opened);

}  // namespace parallelarium
