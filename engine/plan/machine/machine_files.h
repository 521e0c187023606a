// SPDX-License-Identifier: Apache-2.0
// The files of machines: those of resources/machines, and those that calibrations write on this
// computer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/machine/presets.h"
#include "engine/plan/result.h"

namespace parallelarium {

std::string machine_of_file(const EmbeddedFile& file);  // machines/NAME.json
// The preset's keys, together with those that it does not change of the file that it is `based_on`.
Result<nlohmann::json> preset_json(const EmbeddedFile& file);

// $XDG_DATA_HOME/parallelarium/FILE, or below ~/.local/share; empty if there is no home.
std::string kept_path(const std::string& file);
// Writes atomically, and makes the directory. Errors: "machine-home", "machine-save".
Result<void> keep(const std::string& path, const nlohmann::json& json);
// Reads a file that is there. The error says why it cannot be used; the caller puts it into a
// sentence.
Result<nlohmann::json> read_kept(const std::string& path);

}  // namespace parallelarium
