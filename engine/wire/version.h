// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parallelarium {

// Of the whole product; a test holds it equal to the build's.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace parallelarium
