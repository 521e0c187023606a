// SPDX-License-Identifier: Apache-2.0
// What probes of a run saw: as text, as JSON and as files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/run/train/probe/probe_identity.h"
#include "engine/run/train/run.h"

namespace parallelarium {

// Each probe once. Error: of the first that cannot be read.
Result<std::vector<Probe>> parse_probes(const std::vector<std::string>& texts);

// Whether write_probes() could begin, which makes the folder: tried before what takes long.
Result<void> can_write_probes(const std::string& folder);
// Writes one .npz for each of `probes` into the folder, which it makes if it is not there. Returns
// their paths in the same order, empty ones for a `folder` that is empty. Error: what could not be
// written.
Result<std::vector<std::string>> write_probes(const std::string& folder,
                                              const std::vector<ProbedRank>& probes);

// A table for each probe, then what collectives beside them established. `files` as write_probes()
// returned them, or none.
std::string probes_text(const RunResult& result, const std::vector<ProbedIdentity>& identities,
                        const std::vector<std::string>& files);
// Puts "probe_bytes", "probes" and "identities" into the answer of `run`.
void add_probes(nlohmann::json& json, const RunResult& result,
                const std::vector<ProbedIdentity>& identities,
                const std::vector<std::string>& files);
// Puts "cells" {rows, columns, means} into the tensors of "probes", for pictures.
void add_cells(nlohmann::json& json, const RunResult& result);

}  // namespace parallelarium
