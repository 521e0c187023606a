// SPDX-License-Identifier: GPL-3.0-or-later
// What real ranks did with the order that is edited, as the editor draws it.
#pragma once

#include <optional>

#include "app/state/session.h"
#include "app/views/pipeline/editor/editor_paint.h"

namespace parallelarium {

// Of the run that belongs to what is set; none where there is no such run, or its Program has not
// these ranks. `unit`: seconds of a forward in the picture.
std::optional<EditorRun> editor_run(const Session& session, const Order& draft, double unit);

// "F3, measured: 0.82 ms, from 2.1 to 3 forwards".
QString run_action_words(const EditorPicture& picture, Spot spot);
// "It ends after 16.4 forwards."
QString run_length_words(const EditorPicture& picture);

}  // namespace parallelarium
