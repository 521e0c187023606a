// SPDX-License-Identifier: GPL-3.0-or-later
// The list of views, in the order of their tabs. To add one:
// 1. a folder app/views/<id> with a class that derives from View and describes itself in info();
// 2. its line in views.cpp;
// 3. its id in resources/views.json, which lessons and the command line read.
// Tab, menu, keys, strip, export, documents, completion and the tests of all states follow.
#pragma once

#include <vector>

#include "app/views/view.h"

namespace parallelarium {

const std::vector<ViewInfo>& views();
// Null: there is no view of that id.
const ViewInfo* find_view(const QString& id);
// Whether there is something to see in the room: Learn has the lessons.
bool has_views(Room room);
// What the window opens with.
const ViewInfo& first_view();
// The first view about that topic: first_view() where it is one.
const ViewInfo& view_about(const Topic& topic, Session& session);

}  // namespace parallelarium
