// SPDX-License-Identifier: Apache-2.0
// The one table of a Setup's settings. A new setting needs a row here, its rule in validate.cpp and
// its use.
#pragma once

#include "engine/plan/settings/setting.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

using SetupSetting = Setting<Setup>;
const SettingTable<Setup>& setup_settings();
// The three parts of the table: what a step does, how it is run, and what fills other settings.
SettingTable<Setup> step_rows();
SettingTable<Setup> run_rows();
SettingTable<Setup> filling_rows();
// Clears stage_layers if the number of stages has changed.
void follow_stages(Setup& setup, const Setup& before);

}  // namespace parallelarium
