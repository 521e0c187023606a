// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "app/state/session.h"

namespace parallelarium {

// Goes to a part of the open lesson as a document does that was saved there: by the part's id, or
// by its number as in older documents.
inline void restore_step(Session& session, const nlohmann::json& step) {
  nlohmann::json state = session.locks().lesson_state();
  state["step"] = step;
  session.locks().set_lesson_state(state);
  Q_EMIT session.restored();
}

}  // namespace parallelarium
