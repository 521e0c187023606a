// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace parallelarium {

// All settings of a Setup in a table: option, key in files, values, default, help.
std::string settings_text();

}  // namespace parallelarium
