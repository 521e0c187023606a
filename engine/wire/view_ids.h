// SPDX-License-Identifier: Apache-2.0
// The ids of the window's views, which are all that the engine knows of them. Lessons name them as
// `tab`, the command line as `--view`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parallelarium {

// "mesh", "collectives", ...: those of resources/views.json, in the order of the window's tabs.
const std::vector<std::string>& view_ids();

// An id, or one with a part of that view: "memory/holders".
bool is_view_id(std::string_view id);
// The view in such a name, and its part, or empty.
std::string view_of(std::string_view id);
std::string part_of_view(std::string_view id);

// "mesh, collectives or pipeline": for help and sentences.
std::string view_ids_text();
// "mesh/axes, mesh/nodes or layer/head": all parts, for help.
std::string view_parts_text();

}  // namespace parallelarium
