// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <nlohmann/json_fwd.hpp>

namespace parallelarium {

// Whether a run was the same as one rank, by the proof that the engine sent.
QString proof_text(const nlohmann::json& proof);

}  // namespace parallelarium
