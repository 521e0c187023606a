// SPDX-License-Identifier: Apache-2.0
// Rows of torchtitan's table that use more than one name.
#pragma once

#include "engine/wire/frameworks/table.h"

namespace parallelarium::frameworks {

// Whether torchtitan has a model of this shape, with any length of sequence.
bool has_flavor(const Model& model);

// The schedule and how it cuts the layers. Source: torchtitan/distributed/pipeline_parallel.py.
FrameworkRow titan_pipeline();
// Micro-batches, which torchtitan counts in tokens.
FrameworkRow titan_tokens();

}  // namespace parallelarium::frameworks
