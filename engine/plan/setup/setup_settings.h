// SPDX-License-Identifier: Apache-2.0
// The one table of what may be turned of a Setup. A new setting is a row here, its rule in
// validate.cpp and its use.
#pragma once

#include "engine/plan/settings/setting.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

using SetupSetting = Setting<Setup>;
const SettingTable<Setup>& setup_settings();
// Of its rows those of what a step does, and the last: how it is run, and what other settings fill.
SettingTable<Setup> step_rows();
SettingTable<Setup> run_rows();
SettingTable<Setup> filling_rows();
// Layers of stages that are no longer as many are nobody's.
void follow_stages(Setup& setup, const Setup& before);

}  // namespace parallelarium
