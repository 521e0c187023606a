// SPDX-License-Identifier: Apache-2.0
// A config.json in one form, whatever its family names its keys.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/plan/model/hugging_face/hugging_face_families.h"
#include "engine/plan/result.h"

namespace parallelarium {

// A config.json in the names that Llama's has, with the family that it is read as.
struct CommonForm {
  nlohmann::json keys;
  Family family;
};

// Takes the text model of a model of several modalities, renames keys and fills in what the
// family's class assumes. The error says what this program cannot express. Notes say what was left
// out or assumed.
Result<CommonForm> common_form(const nlohmann::json& file, std::vector<Message>& notes);

}  // namespace parallelarium
