// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/plan/model/hugging_face/hugging_face_config.h"
#include "engine/plan/model/hugging_face/hugging_face_families.h"
#include "engine/plan/model/model.h"

namespace parallelarium {

// Says which parameters of the library's model count_parameters() leaves out or has too many, and
// how many they are: published number = counted + left out - too many.
void note_beyond(HuggingFaceConfig& config, const Family& family, const Model& model);

}  // namespace parallelarium
