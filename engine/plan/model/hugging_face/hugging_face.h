// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace parallelarium {

// Whether `json` is a Hugging Face config.json, for import_hugging_face() (model.h), and not a file
// of this program.
bool is_hugging_face(const nlohmann::json& json);

}  // namespace parallelarium
