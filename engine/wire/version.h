// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parallelarium {

// The version of the whole product; a test compares it with the build's.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace parallelarium
