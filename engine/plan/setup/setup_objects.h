// SPDX-License-Identifier: Apache-2.0
// How a Setup holds settings that have a form of their own: a name, or an object.
#pragma once

#include <string>

#include "engine/plan/settings/setting.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// A preset's name, or its shape.
Value<Setup> model_value();
// A preset's name, or {"based_on": name, changed keys}.
Value<Setup> machine_value();
Result<nlohmann::json> machine_from_file(const std::string& path);
// A schedule's name, or {"name": ..., "order": [lines]}.
Value<Setup> schedule_value();
Result<nlohmann::json> schedule_from_file(const std::string& path);
// A recipe's name, "auto", or four numbers of bytes.
Value<Setup> precision_value();
// A word, or several between commas: "selective,norms".
Value<Setup> recompute_value();
const SettingTable<Precision>& precision_settings();

}  // namespace parallelarium
