// SPDX-License-Identifier: Apache-2.0
// The files of machines: those of resources/machines, and what calibrations keep of this computer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/machine/presets.h"
#include "engine/plan/result.h"

namespace parallelarium {

std::string machine_of_file(const EmbeddedFile& file);  // machines/NAME.json
// With what it does not change of the file that it names as `based_on`.
Result<nlohmann::json> preset_json(const EmbeddedFile& file);

// $XDG_DATA_HOME/parallelarium/FILE, or below ~/.local/share; empty where there is no home.
std::string kept_path(const std::string& file);
// Written atomically; the directory is made. Errors: "machine-home", "machine-save".
Result<void> keep(const std::string& path, const nlohmann::json& json);
// Reads a file that is there. Error: why it cannot be used, for the sentence of the caller.
Result<nlohmann::json> read_kept(const std::string& path);

}  // namespace parallelarium
